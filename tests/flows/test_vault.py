"""Facts at rest: encrypted, bound to their name and kind, and an error with a way out where they cannot be read."""

from __future__ import annotations

import sqlite3

import pytest

from surefoot.errors import FactError, NotFoundError, SettingsError, StorageError, VaultError
from surefoot.flows import vault
from surefoot.flows.vault import list_facts, load_facts, remove_fact, set_fact
from surefoot.models.keys import own_key
from surefoot.redaction import MASK, redact
from surefoot.storage import Database

CARD = "4111111111111111"


@pytest.fixture
def database(tmp_path):
    with Database(tmp_path / "kept.db") as opened:
        yield opened


@pytest.fixture
def key_file(isolated):
    return isolated / "config" / "keys" / vault.KEY_NAME


def change(database, statement, *values):
    """What another program does to the file."""
    with sqlite3.connect(database.path) as connection:
        connection.execute(statement, values)
    connection.close()


def rows(database):
    connection = sqlite3.connect(database.path)
    try:
        return connection.execute("SELECT * FROM facts ORDER BY name").fetchall()
    finally:
        connection.close()


def test_a_fact_is_kept_and_loaded(database):
    """With its kind; in a new process the value is the same, and a secret one is masked at once."""
    stored = set_fact(database, "email", "anna@example.org")
    assert (stored.name, stored.kind, stored.secret, stored.cause) == ("email", "shared", False, "")
    set_fact(database, "Passwort", 'pa%&"\\ß漢')
    with Database(database.path) as again:
        facts = load_facts(again)
    assert facts.value("email") == "anna@example.org"
    assert facts.value("Passwort") == 'pa%&"\\ß漢'
    assert facts.names.secret == ("Passwort",)
    assert redact('pa%&"\\ß漢') == MASK


@pytest.mark.parametrize(
    ("name", "value", "secret", "kind", "cause"),
    [
        ("nickname", "Bo", True, "secret", "asked"),
        ("card number", "x", False, "secret", "name"),
        ("card number", CARD, True, "secret", "name"),
        ("number", CARD, False, "secret", "value"),
        ("number", "12", False, "shared", ""),
    ],
)
def test_why_it_is_secret_is_told(database, name, value, secret, kind, cause):
    """By its name, its value, or because it was asked for."""
    stored = set_fact(database, name, value, secret=secret)
    assert (stored.kind, stored.cause) == (kind, cause)
    assert stored.to_dict() == {"name": name, "kind": kind, "updated_at": stored.updated_at}
    assert load_facts(database, [name]).names.is_secret(name) is (kind == "secret")


def test_setting_again_replaces_and_keeps_a_secret_secret(database):
    """What was made a secret becomes shared only by being removed first."""
    set_fact(database, "nickname", "Bo", secret=True)
    again = set_fact(database, "nickname", "Anna")
    assert (again.kind, again.cause) == ("secret", "before")
    assert load_facts(database, ["nickname"]).value("nickname") == "Anna"
    remove_fact(database, "nickname")
    assert set_fact(database, "nickname", "Cy").kind == "shared"
    assert [fact.name for fact in list_facts(database)] == ["nickname"]


def test_no_value_is_in_the_files(database, isolated):
    """The database, its log and the key file hold no value; equal values differ; the key is in no database file."""
    set_fact(database, "email", "anna@example.org")
    set_fact(database, "second", "anna@example.org")
    key = own_key(vault.KEY_NAME).reveal()
    for path in [*database.path.parent.iterdir(), *isolated.rglob("*")]:
        if path.is_file():
            assert b"anna@example.org" not in path.read_bytes()
    for path in database.path.parent.iterdir():
        assert key not in path.read_bytes()
    first, second = rows(database)
    assert first[2] != second[2]
    assert first[3] != second[3]


def test_listing_and_removing_need_no_key(database, key_file):
    """A person who lost the key can still see what is kept and forget it."""
    set_fact(database, "email", "anna@example.org")
    key_file.unlink()
    assert [(fact.name, fact.kind) for fact in list_facts(database)] == [("email", "shared")]
    remove_fact(database, "email")
    assert list_facts(database) == []
    assert not key_file.exists()


@pytest.mark.parametrize(
    "work", [lambda db: remove_fact(db, "emial"), lambda db: load_facts(db, ["email", "emial"])]
)
def test_a_name_that_is_not_kept_is_an_error_with_the_nearest(database, work):
    """Nothing is loaded or removed by a slip."""
    set_fact(database, "email", "anna@example.org")
    with pytest.raises(NotFoundError, match="'emial'") as caught:
        work(database)
    assert "'email'" in caught.value.next_move
    remove_fact(database, "email")
    with pytest.raises(NotFoundError) as caught:
        work(database)
    assert "facts list" in caught.value.next_move


def test_nothing_kept_is_nothing_loaded(database, key_file):
    """And no key is made for it."""
    assert len(load_facts(database)) == 0
    assert not key_file.exists()


@pytest.mark.parametrize(
    ("name", "value"), [("a${b}", "x"), ("email", ""), ("email", "x" * (vault.MAX_VALUE + 1))]
)
def test_what_is_no_fact_is_not_kept(database, name, value):
    """The rules of facts, and a limit on length; the value is not in the error."""
    with pytest.raises(FactError) as caught:
        set_fact(database, name, value)
    assert "xxx" not in str(caught.value.to_dict())
    assert list_facts(database) == []


def test_a_lost_key_is_told_with_the_way_out_and_loses_nothing(database, key_file):
    """The rows stay; with the key back they are read again; without it the fact is set anew."""
    set_fact(database, "email", "anna@example.org")
    set_fact(database, "first name", "Anna")
    kept = key_file.read_bytes()
    before = rows(database)
    key_file.unlink()
    with pytest.raises(VaultError, match="'email', 'first name'") as caught:
        load_facts(database)
    assert caught.value.details == {"reason": "key", "names": ["email", "first name"]}
    assert str(key_file) in caught.value.message
    assert "surefoot facts set email" in caught.value.next_move
    assert caught.value.exit_code == 1
    assert rows(database) == before
    set_fact(database, "first name", "Bo")  # with a new key
    with pytest.raises(VaultError, match="'email' was"):
        load_facts(database)
    assert load_facts(database, ["first name"]).value("first name") == "Bo"
    key_file.write_bytes(kept)
    assert load_facts(database, ["email"]).value("email") == "anna@example.org"


def test_a_damaged_key_is_told(database, key_file):
    """A file that holds no key of the right length; it is not overwritten."""
    set_fact(database, "email", "anna@example.org")
    key_file.write_text("c2hvcnQ=")
    for work in (lambda: load_facts(database), lambda: set_fact(database, "city", "Bonn")):
        with pytest.raises(SettingsError, match="damaged") as caught:
            work()
        assert "backup" in caught.value.next_move
    assert key_file.read_text() == "c2hvcnQ="


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET kind = 'shared' WHERE name = 'Kennwort'",
        "UPDATE facts SET kind = 'secret' WHERE name = 'email'",
        "UPDATE facts SET ciphertext = substr(ciphertext, 2) WHERE name = 'email'",
        "UPDATE facts SET ciphertext = x'00' WHERE name = 'email'",
        "UPDATE facts SET nonce = x'00' WHERE name = 'email'",
        "UPDATE facts SET nonce = zeroblob(12) WHERE name = 'email'",
        "UPDATE facts SET name = 'mail' WHERE name = 'email'",
        "UPDATE facts SET (ciphertext, nonce) = (SELECT ciphertext, nonce FROM facts WHERE name = 'Kennwort') WHERE name = 'email'",
    ],
)
def test_a_row_that_was_changed_is_refused(database, statement):
    """A swapped, renamed or damaged row, and a secret turned shared: name and kind are bound to the value."""
    set_fact(database, "email", "anna@example.org")
    set_fact(database, "Kennwort", "geheim99")
    set_fact(database, "city", "Bonn")
    change(database, statement)
    before = rows(database)
    with pytest.raises(VaultError, match="damaged or was changed") as caught:
        load_facts(database)
    assert caught.value.details["reason"] == "damaged"
    assert len(caught.value.details["names"]) == 1
    assert rows(database) == before
    assert "geheim99" not in str(caught.value.to_dict())
    assert load_facts(database, ["city"]).value("city") == "Bonn"
    bad = caught.value.details["names"][0]
    set_fact(database, bad, "new")
    assert load_facts(database).value(bad) == "new"


def test_an_older_surefoot_refuses_the_database_whole(database):
    """A database of a newer version is not opened, so no fact is lost by writing over it."""
    set_fact(database, "email", "anna@example.org")
    change(database, "UPDATE alembic_version SET version_num = '9999'")
    before = rows(database)
    with pytest.raises(StorageError, match="9999"):
        Database(database.path)
    assert rows(database) == before


def test_a_database_from_before_facts_gets_the_table(tmp_path):
    """The migration adds it and leaves the rest."""
    path = tmp_path / "old.db"
    with Database(path) as made:
        later = ("facts", "executions", "feedback", "missions", "agents")
        for table in later:
            change(made, f"DROP TABLE IF EXISTS {table}")
        change(made, "UPDATE alembic_version SET version_num = '0004'")
    with Database(path) as opened:
        assert list_facts(opened) == []
        assert set_fact(opened, "email", "anna@example.org").kind == "shared"
