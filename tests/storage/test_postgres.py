"""What only PostgreSQL does: other writers at the same moment, connections that are lost, columns that sort."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import count

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select, update

from surefoot import redaction
from surefoot.errors import MisuseError, StorageError
from surefoot.storage import Database, metadata
from surefoot.storage.postgres import PostgresPlace

things = Table(
    "things", MetaData(), Column("number", Integer, primary_key=True), Column("text", Text, unique=True)
)


@pytest.fixture
def database(postgres_url):
    with Database(postgres_url, busy_seconds=5) as opened:
        opened.write_sync(things.create)
        opened.write_sync(lambda tx: tx.execute(insert(things), [{"text": "a"}, {"text": "b"}]))
        yield opened


def _texts(tx):
    return list(tx.execute(select(things.c.text).order_by(things.c.number)).scalars())


def _set(number, value):
    return lambda tx: tx.execute(update(things).where(things.c.number == number).values(text=value))


# --- others write at the same moment -------------------------------------------------------------------------


def test_a_transaction_that_met_another_is_run_again_from_its_start(database, postgres_url):
    """It read what the other one changed: its second run sees the change, and is the only one that counts."""
    runs = count(1)
    with Database(postgres_url) as other:

        def grow(tx):
            seen = _texts(tx)[0]
            number = next(runs)
            if number == 1:
                other.write_sync(_set(1, "theirs"))
            tx.execute(update(things).where(things.c.number == 1).values(text=f"{seen}+{number}"))
            return number

        assert database.write_sync(grow) == 2
    assert database.read_sync(_texts) == ["theirs+2", "b"]


def test_two_that_read_what_the_other_writes_do_not_both_commit(database, postgres_url):
    """Neither changed a row that the other changed, and yet one after the other they would have read otherwise."""
    runs = count(1)
    with Database(postgres_url) as other:

        def mine(tx):
            seen = _texts(tx)[1]
            if next(runs) == 1:
                other.write_sync(lambda their: _set(2, _texts(their)[0] + "!")(their))
            _set(1, seen + "?")(tx)

        database.write_sync(mine)
    assert database.read_sync(_texts) == ["a!?", "a!"]
    assert next(runs) == 3


def test_a_wrapped_refusal_is_a_refusal(database, postgres_url):
    """A function that puts its own error around the database's is run again too."""
    runs = count(1)
    with Database(postgres_url) as other:

        def mine(tx):
            _texts(tx)
            number = next(runs)
            if number == 1:
                other.write_sync(_set(1, "theirs"))
            try:
                _set(1, f"mine {number}")(tx)
            except Exception as error:
                raise ValueError("the tool failed") from error
            return number

        assert database.write_sync(mine) == 2


def test_running_again_has_an_end(postgres_url):
    """When others are first each time, the waiting ends with an error that says so, and nothing was written."""
    with Database(postgres_url, busy_seconds=0.2) as database, Database(postgres_url) as other:
        database.write_sync(things.create)
        database.write_sync(lambda tx: tx.execute(insert(things).values(text="a")))
        runs = count(1)

        def always_late(tx):
            _texts(tx)
            other.write_sync(_set(1, f"theirs {next(runs)}"))
            _set(1, "mine")(tx)

        with pytest.raises(StorageError, match="each time") as raised:
            database.write_sync(always_late)
        assert raised.value.details["reason"] == "busy"
        assert next(runs) > 2
        assert database.read_sync(_texts)[0].startswith("theirs")
        database.write_sync(_set(1, "mine"))


def test_a_deadlock_is_solved(database, postgres_url):
    """Two lock two rows in opposite order: the database ends one, which is run again."""
    both = threading.Barrier(2)
    with Database(postgres_url) as other:

        def crosswise(first, second):
            runs = count(1)

            def work(tx):
                tx.exec_driver_sql("SET LOCAL deadlock_timeout = '20ms'")
                tx.execute(select(things).where(things.c.number == first).with_for_update())
                if next(runs) == 1:
                    both.wait(10)
                tx.execute(select(things).where(things.c.number == second).with_for_update())
                _set(first, f"by {first}")(tx)

            return work

        thread = threading.Thread(target=other.write_sync, args=(crosswise(2, 1),))
        thread.start()
        database.write_sync(crosswise(1, 2))
        thread.join()
    assert database.read_sync(_texts) == ["by 1", "by 2"]


def test_a_row_that_is_held_too_long_is_named(postgres_url, postgres_server):
    """A session left open in a console: the wait ends with `locked`, and after it all is well."""
    with Database(postgres_url, busy_seconds=0.1) as database:
        database.write_sync(things.create)
        database.write_sync(lambda tx: tx.execute(insert(things).values(text="a")))
        with postgres_server.connect(database.name.rpartition("/")[2]) as console, console.transaction():
            console.execute("UPDATE things SET text = 'held'")
            with pytest.raises(StorageError, match="holds") as raised:
                database.write_sync(_set(1, "mine"))
        assert raised.value.details["reason"] == "locked"
        database.write_sync(_set(1, "mine"))
        assert database.read_sync(_texts) == ["mine"]


# --- connections that are lost -------------------------------------------------------------------------------


def _end_me(tx):
    tx.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")


def test_a_connection_lost_in_a_transaction(database):
    """Nothing of it stands, the error says so, and the next transaction has a new connection."""

    def dies(tx):
        _set(1, "half")(tx)
        _end_me(tx)

    with pytest.raises(StorageError, match="ended the connection") as raised:
        database.write_sync(dies)
    assert raised.value.details["reason"] == "stopped"
    assert "not committed" in raised.value.next_move or "not written" in raised.value.next_move
    assert database.read_sync(_texts) == ["a", "b"]
    database.write_sync(_set(1, "next"))
    assert database.read_sync(_texts) == ["next", "b"]


def test_a_connection_lost_in_a_read(database):
    """The next read has another one."""
    with pytest.raises(StorageError):
        database.read_sync(_end_me)
    assert database.read_sync(_texts) == ["a", "b"]


def test_a_connection_lost_while_it_committed_is_of_unknown_outcome(database):
    """The server dies between COMMIT and its answer: the error says that nobody knows, and what to look at."""
    die = "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$"
    function = f"CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS {die}"
    trigger = (
        "CREATE CONSTRAINT TRIGGER dies AFTER UPDATE ON things DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW WHEN (new.text = 'deadly') EXECUTE FUNCTION die()"
    )
    database.write_sync(lambda tx: [tx.exec_driver_sql(one) for one in (function, trigger)])
    with pytest.raises(StorageError, match="nobody knows") as raised:
        database.write_sync(_set(1, "deadly"))
    assert raised.value.details["reason"] == "outcome_unknown"
    assert raised.value.next_move
    database.write_sync(_set(1, "next"))
    assert database.read_sync(_texts) == ["next", "b"]


def test_a_server_that_restarts_between_two_transactions_is_not_noticed(database, postgres_server):
    """Idle connections are opened anew, the writer's and the readers'."""
    assert database.read_sync(_texts) == ["a", "b"]
    postgres_server.stop()
    with pytest.raises(StorageError) as raised:
        database.write_sync(_set(1, "never"))
    assert raised.value.details["reason"] in {"cannot_open", "stopped", "connection_lost"}
    with pytest.raises(StorageError):
        database.read_sync(_texts)
    postgres_server.start()
    database.write_sync(_set(1, "next"))
    assert database.read_sync(_texts) == ["next", "b"]
    postgres_server.stop()
    postgres_server.start()
    assert database.read_sync(_texts) == ["next", "b"]
    database.write_sync(_set(2, "later"))
    assert database.read_sync(_texts) == ["next", "later"]


# --- functions in transactions -------------------------------------------------------------------------------


def test_going_on_after_a_failed_statement_is_refused(database):
    """The database would turn the commit into a roll-back without a word."""

    def swallows(tx):
        _set(1, "x")(tx)
        with pytest.raises(Exception, match="duplicate"):
            tx.execute(insert(things).values(text="b"))

    with pytest.raises(MisuseError, match="went on"):
        database.write_sync(swallows)
    assert database.read_sync(_texts) == ["a", "b"]


def test_a_nul_character_is_refused_with_a_sentence(database):
    """PostgreSQL keeps none; a statement of SQLAlchemy and a prepared one say the same."""
    from surefoot.storage import memories

    row = memories.MemoryRow("m", "fact", "a\0b", "", "2026", undone=False)
    for work in (_set(1, "a\0b"), lambda tx: memories.add(tx, row)):
        with pytest.raises(StorageError, match="NUL") as raised:
            database.write_sync(work)
        assert raised.value.details["reason"] == "nul"
    assert database.read_sync(_texts) == ["a", "b"]


def test_a_value_that_is_too_long_for_its_column_is_named(database):
    """SQLite would take it."""
    from surefoot.storage import memories

    row = memories.MemoryRow("m" * 65, "fact", "text", "", "2026", undone=False)
    with pytest.raises(StorageError, match="too large") as raised:
        database.write_sync(lambda tx: memories.add(tx, row))
    assert raised.value.details["reason"] == "too_big"


def test_durable_keeps_what_the_server_asks_for(postgres_server, postgres_url):
    """A server that waits for its standbys is not told to wait for its own disk only."""
    name = postgres_url.rpartition("/")[2]
    postgres_server.run(f"ALTER DATABASE {name} SET synchronous_commit = remote_apply")
    with Database(postgres_url) as database:
        ask = "SHOW synchronous_commit"
        assert (
            database.write_sync(lambda tx: tx.exec_driver_sql(ask).scalar(), durable=True) == "remote_apply"
        )
        assert database.write_sync(lambda tx: tx.exec_driver_sql(ask).scalar()) == "off"


# --- the schema ----------------------------------------------------------------------------------------------


def test_every_column_of_text_sorts_by_code_points(database):
    """As SQLite does, whatever the database's own collation is; index and ORDER BY alike."""
    found = database.read_sync(
        lambda tx: tx.exec_driver_sql(
            "SELECT table_name, column_name, collation_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND data_type IN ('text', 'character varying') "
            "AND table_name <> 'alembic_version'"
        ).fetchall()
    )
    assert {row[2] for row in found} == {"C"}
    assert len(found) > 50


def test_the_migrations_make_exactly_the_tables_of_the_code(database):
    """Here as on SQLite: columns, types, keys and indexes."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    import surefoot.flows.vault
    import surefoot.journal.tables
    import surefoot.missions.tables
    import surefoot.tools.kits.tables  # noqa: F401 - importing registers

    def ours(_object, name, _kind, _reflected, _compared):
        return name not in {"things", "ix_memories_lexemes"}

    differences = database.read_sync(
        lambda tx: compare_metadata(
            MigrationContext.configure(tx, opts={"compare_type": True, "include_object": ours}), metadata
        )
    )
    assert differences == []


# --- what names it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_what_names_a_database(postgres_url, scheme):
    """Both spellings, a driver in it or not; shown without password and query."""
    url = postgres_url.replace("postgresql", scheme, 1) + "?application_name=mine&connect_timeout=3"
    with Database(url) as database:
        assert database.path is None
        assert database.name == f"postgresql://me@{postgres_url.rpartition('@')[2]}"
        assert database.read_sync(lambda tx: tx.exec_driver_sql("SHOW application_name").scalar()) == "mine"
        assert redaction.redact("it is pa/ss word%1") == f"it is {redaction.MASK}"


@pytest.mark.parametrize("password", ["short", "surefoot-db", "me-and-me"])
def test_a_password_that_is_a_word_is_not_masked_everywhere(password):
    """It would destroy what people write; errors of the database mask it all the same."""
    from sqlalchemy import make_url

    place = PostgresPlace(make_url(f"postgresql://me-and-me:{password}@host/surefoot-db"), 1)
    place.make_ready()
    assert redaction.redact(f"the word {password}") == f"the word {password}"
    assert password not in place.name.replace("surefoot-db", "").replace("me-and-me@", "")


@pytest.mark.parametrize(
    "url", ["postgresql://me:se cret@host:port/db", "postgresql://[me:secret/db", "://secret"]
)
def test_a_url_that_cannot_be_read_is_not_shown(url):
    """A password may stand anywhere in it."""
    with pytest.raises((MisuseError, StorageError)) as raised:
        Database(url)
    assert "cret" not in str(raised.value)
    assert raised.value.next_move


def test_without_the_driver_the_extra_is_named(monkeypatch):
    """No traceback of an import."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MisuseError, match="driver") as raised:
        Database("postgresql://me:hidden-here@127.0.0.1/db")
    assert "surefoot[postgres]" in raised.value.next_move
    assert "hidden" not in str(raised.value)


def test_sqlite_needs_no_driver_of_postgresql(tmp_path):
    """A person without the extra never meets it."""
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from surefoot.storage import Database, memories\n"
        "with Database(sys.argv[1]) as database:\n"
        "    print(database.read_sync(lambda tx: memories.search(tx, 'tea', 5)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "x.db")], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
