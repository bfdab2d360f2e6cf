"""The commands on a PostgreSQL database."""

from __future__ import annotations

import pytest

from postgres_server import ESCAPED, PASSWORD
from surefoot import load_settings

from .support import BIRTHDAY


@pytest.fixture
def on_postgres(cli, monkeypatch, new_postgres_url):
    """The setting stands in the environment; the database has nothing in it yet."""
    monkeypatch.setenv("SUREFOOT_DATABASE_URL", new_postgres_url)
    cli.answers(BIRTHDAY, "I noted it.", always="Hm.")
    return cli


def titles(cli, kind):
    return [row["title"] for row in cli(kind, "list", "--json").json]


def test_a_request_is_carried_out_shown_and_taken_back(on_postgres):
    """Everything is in that database, and no file of our own is made."""
    assert on_postgres("ask", "note Anna's birthday").code == 0
    assert titles(on_postgres, "notes") == ["Anna's birthday"]
    assert "Buy a present" in on_postgres("show", "last").out
    assert on_postgres("undo").code == 0
    assert titles(on_postgres, "notes") == titles(on_postgres, "tasks") == []
    assert on_postgres("redo").code == 0
    assert titles(on_postgres, "notes") == ["Anna's birthday"]
    assert not (load_settings().data_dir / "surefoot.db").exists()


def test_a_secret_fact_is_kept_there(on_postgres, monkeypatch):
    """Encrypted bytes come back as they were."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("Berlin\n"))
    assert on_postgres("facts", "set", "home town").code == 0
    assert "home town" in on_postgres("facts", "list").out


def _database(cli):
    return next(one for one in cli("doctor", "--json").json["checks"] if one["name"] == "database")


def test_doctor_shows_which_database_is_used(on_postgres):
    """Before it is made, without making it; and after; never the password."""
    found = _database(on_postgres)
    assert found["level"] == "ok"
    assert "not made yet" in found["text"]
    assert "postgresql://me@127.0.0.1" in found["text"]
    on_postgres("runs")
    assert "version" in _database(on_postgres)["text"]
    for ran in (on_postgres("doctor"), on_postgres("doctor", "--json")):
        assert PASSWORD not in ran.out + ran.err
        assert ESCAPED not in ran.out + ran.err


def test_doctor_says_what_is_wrong_with_it(cli, monkeypatch):
    """Nobody listens there."""
    monkeypatch.setenv("SUREFOOT_DATABASE_URL", "postgresql://me:hidden-here@127.0.0.1:1/db")
    found = _database(cli)
    assert found["level"] == "problem"
    assert "hidden" not in str(found)
    ran = cli("runs")
    assert ran.code == 1
    assert "cannot be reached" in ran.err
    assert "hidden" not in ran.err + ran.out
