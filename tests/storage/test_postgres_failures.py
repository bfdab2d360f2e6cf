"""What a server says becomes a StorageError with the next move; the password is in none of it."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import traceback

import psycopg
import pytest
from sqlalchemy import make_url

from postgres_server import ESCAPED, PASSWORD
from surefoot.errors import StorageError, error_from_dict
from surefoot.storage import Database
from surefoot.storage.postgres_failures import (
    CLASSES,
    SENTENCES,
    met_another,
    passwords_of,
    said_by,
    storage_error,
)


def _refused(url, **how):
    with pytest.raises(StorageError) as raised:
        Database(url, **how)
    error = raised.value
    shown = json.dumps(error.to_dict()) + repr(error) + "".join(traceback.format_exception(error))
    for secret in (PASSWORD, ESCAPED, "wr0ng-pass"):
        assert secret not in shown
    assert error.next_move
    return error.details["reason"]


def test_a_wrong_password(postgres_url):
    """Named as such, and neither the right nor the wrong one is shown."""
    assert _refused(postgres_url.replace(ESCAPED, "wr0ng-pass")) == "auth"


def test_a_user_who_is_not_there(postgres_url):
    """A server does not tell this from a wrong password."""
    assert _refused(postgres_url.replace("//me:", "//nobody-here:")) == "auth"


def test_a_database_that_is_not_there(postgres_server):
    """The next move is to make it."""
    assert _refused(postgres_server.url("nowhere")) == "no_database"


def test_a_server_that_is_not_there():
    """Nobody listens at the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert _refused(f"postgresql://me:{ESCAPED}@127.0.0.1:{port}/db") == "cannot_open"


def test_a_server_that_does_not_answer():
    """It takes the connection and says nothing: the wait ends."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://me:{ESCAPED}@127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=2"
        assert _refused(url) == "cannot_open"


def test_a_server_that_takes_no_more_connections(postgres_server, new_postgres_url):
    """A limit of the database or of the server, in the server's own words."""
    name = new_postgres_url.rpartition("/")[2]
    postgres_server.run("DROP ROLE IF EXISTS plain")
    postgres_server.run(f"CREATE ROLE plain LOGIN PASSWORD '{PASSWORD}'")
    postgres_server.run(f"ALTER DATABASE {name} CONNECTION LIMIT 0")
    assert _refused(new_postgres_url.replace("//me:", "//plain:")) == "too_many_connections"


def test_a_user_without_permission(postgres_server, new_postgres_url):
    """A schema that only its owner may write to."""
    postgres_server.run("DROP ROLE IF EXISTS plain")
    postgres_server.run(f"CREATE ROLE plain LOGIN PASSWORD '{PASSWORD}'")
    assert _refused(new_postgres_url.replace("//me:", "//plain:")) == "forbidden"


def test_no_schema_to_write_to(new_postgres_url):
    """A search path that leads nowhere."""
    assert _refused(f"{new_postgres_url}?options=-csearch_path%3Dnowhere") == "forbidden"


def test_a_database_that_is_read_only(postgres_server, postgres_url):
    """A standby, or set so: opened and read, and a write says why it cannot be."""
    postgres_server.run(
        f"ALTER DATABASE {postgres_url.rpartition('/')[2]} SET default_transaction_read_only = on"
    )
    with Database(postgres_url) as database:
        assert database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM runs").scalar()) == 0
        with pytest.raises(StorageError, match="no writes") as raised:
            database.write_sync(lambda tx: tx.exec_driver_sql("DELETE FROM notes"))
        assert raised.value.details["reason"] == "read_only"


def test_an_encoding_that_lacks_scripts(postgres_server):
    """Refused before anything is made."""
    postgres_server.run("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    assert _refused(postgres_server.url("ascii")) == "encoding"
    assert postgres_server.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", "ascii") == [
        (0,)
    ]
    postgres_server.drop("ascii")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_disk_without_space(postgres_server, postgres_url, tmp_path_factory):
    """A real file system of 1 MB runs full; after something is deleted the same object writes on."""
    disk = postgres_server.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0777", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        (disk / "space").mkdir()
        (disk / "space").chmod(0o777)
        os.chown(disk / "space", postgres_server.folder.stat().st_uid, postgres_server.folder.stat().st_gid)
        postgres_server.run(f"CREATE TABLESPACE small LOCATION '{disk / 'space'}'")
        with Database(postgres_url) as database:
            database.write_sync(
                lambda tx: tx.exec_driver_sql("CREATE TABLE big (t text STORAGE plain) TABLESPACE small")
            )
            filled = "INSERT INTO big SELECT repeat('x', 4000) FROM generate_series(1, 1000)"
            with pytest.raises(StorageError, match="full") as raised:
                database.write_sync(lambda tx: tx.exec_driver_sql(filled))
            assert raised.value.details["reason"] == "full"
            database.write_sync(lambda tx: tx.exec_driver_sql("TRUNCATE big"))
            database.write_sync(lambda tx: tx.exec_driver_sql("INSERT INTO big VALUES ('small')"))
            assert database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM big").scalar()) == 1
            database.write_sync(lambda tx: tx.exec_driver_sql("DROP TABLE big"))
        postgres_server.run("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", disk], check=True)


def _error(state):
    class Raised(psycopg.Error):
        """An error as the driver raises it."""

        sqlstate = state

    Raised.__module__ = "psycopg.errors"
    return Raised("said by the server of me:hidden-here")


@pytest.mark.parametrize(
    "state", [*sorted(SENTENCES), *(f"{one}000" for one in sorted(CLASSES)), "53200", "XX002"]
)
def test_every_failure_says_what_to_do(state):
    """Each state has a message with the database's name and a next move, and survives pickling and JSON."""
    told = storage_error(_error(state), "postgresql://me@host/db", ["hidden-here"])
    assert told is not None
    assert "postgresql://me@host/db" in told.message
    assert told.next_move
    assert "hidden" not in str(told.details)
    for copy in (pickle.loads(pickle.dumps(told)), error_from_dict(told.to_dict())):
        assert (type(copy), str(copy), copy.details) == (StorageError, str(told), told.details)


@pytest.mark.parametrize("state", ["23505", "42601", "22003", "22P02", "0A000"])
def test_errors_of_the_function_are_its_own(state):
    """Constraints, wrong SQL and every other exception stay what they are."""
    assert storage_error(_error(state), "x", []) is None
    assert storage_error(psycopg.ProgrammingError("no state"), "x", []) is None
    assert storage_error(psycopg.DataError("no state"), "x", []) is None
    assert storage_error(ValueError("x"), "x", []) is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("FATAL:  sorry, too many clients already", "too_many_connections"),
        (
            "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
            "too_many_connections",
        ),
        ('FATAL:  password authentication failed for user "me"', "auth"),
        ("fe_sendauth: no password supplied", "auth"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "me", database "db"', "auth"),
        ('FATAL:  database "db" does not exist', "no_database"),
        ("FATAL:  the database system is starting up", "stopped"),
        ("server closed the connection unexpectedly", "connection_lost"),
        ("Connection refused\n\tIs the server running on that host?", "cannot_open"),
        ("FATAL: Passwort-Authentifizierung fehlgeschlagen", "cannot_open"),
    ],
)
def test_what_is_said_while_connecting(said, reason):
    """There is no state then, only words; a server of another language is told as unreachable, with its words."""
    told = storage_error(psycopg.OperationalError(f"connection failed: {said}"), "x", [])
    assert told is not None
    assert told.details["reason"] == reason
    assert told.details["said"].endswith(said)


def test_every_form_of_a_password_is_masked():
    """As it is, and as a URL escapes it; in the query too."""
    url = make_url(f"postgresql://me:{ESCAPED}@host/db?password=second%20one")
    said = said_by(psycopg.Error(f"a {PASSWORD} b {ESCAPED} c second one d second+one"), passwords_of(url))
    assert said == "a [secret] b [secret] c [secret] d [secret]"
    assert passwords_of(make_url("postgresql://host/db")) == ()


def test_meeting_another_is_found_behind_other_errors():
    """By cause and by context."""

    def wraps():
        try:
            raise _error("40P01")
        except psycopg.Error:
            raise KeyError("on the way") from None

    with pytest.raises(KeyError) as raised:
        wraps()
    assert met_another(raised.value)
    assert met_another(_error("40001"))
    assert not met_another(_error("23505"))
