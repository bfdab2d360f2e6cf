"""One writer thread, readers beside it, transactions whole or not at all."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import shutil
import subprocess
import sys
import threading

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from surefoot.errors import MisuseError
from surefoot.storage import Database, metadata
from surefoot.storage.database import BUSY_SECONDS

# Not on the shared MetaData: other tests compare that with the migrations.
things = Table(
    "things", MetaData(), Column("number", Integer, primary_key=True), Column("text", Text, unique=True)
)


@pytest.fixture
def database(place):
    with Database(place) as opened:
        opened.write_sync(things.create)
        yield opened


def _add(text):
    return lambda tx: tx.execute(insert(things).values(text=text))


def _texts(tx):
    return [row.text for row in tx.execute(select(things.c.text).order_by(things.c.number))]


async def test_what_is_written_is_read(database):
    """A read sees every committed write."""
    await database.write(_add("one"))
    database.write_sync(_add("two"))
    assert await database.read(_texts) == database.read_sync(_texts) == ["one", "two"]


async def test_the_value_of_the_function_is_handed_back(database):
    """`write` and `read` give what the function returned."""
    assert await database.write(lambda _: 7) == database.write_sync(lambda _: 7) == 7
    assert await database.read(lambda _: 7) == database.read_sync(lambda _: 7) == 7


class _OwnError(Exception):
    """An error of the caller's."""


async def test_what_the_function_raises_takes_everything_back(database):
    """After an exception nothing of the transaction stands, and the caller gets the very exception."""
    own = _OwnError("stop")

    def half(tx):
        tx.execute(insert(things).values(text="half"))
        raise own

    with pytest.raises(_OwnError) as raised:
        await database.write(half)
    assert raised.value is own
    with pytest.raises(_OwnError):
        database.write_sync(half)
    assert await database.read(_texts) == []
    await database.write(_add("whole"))
    assert await database.read(_texts) == ["whole"]


async def test_an_error_of_the_schema_is_the_callers(database):
    """A violated constraint or wrong SQL is no failure of the disk: it comes through as SQLAlchemy raised it."""
    from sqlalchemy.exc import DBAPIError, IntegrityError

    await database.write(_add("once"))
    with pytest.raises(IntegrityError):
        await database.write(_add("once"))
    with pytest.raises(DBAPIError, match="syntax"):
        await database.write(lambda tx: tx.exec_driver_sql("SELECT FROM WHERE"))
    with pytest.raises(DBAPIError, match="syntax"):
        await database.read(lambda tx: tx.exec_driver_sql("SELECT FROM WHERE"))


@pytest.mark.parametrize("kind", [StopIteration, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_any_exception_reaches_the_waiting_caller(database, kind):
    """Exceptions that threads and futures treat in their own ways do not leave the caller waiting."""

    def bad(_):
        raise kind("odd")

    with pytest.raises((kind, RuntimeError)):
        database.write_sync(bad)
    assert database.write_sync(lambda _: "alive") == "alive"


async def test_stop_iteration_does_not_hang_a_coroutine(database):
    """A future takes no StopIteration, so it arrives as a RuntimeError that names it."""

    def bad(_):
        raise StopIteration("odd")

    with pytest.raises(RuntimeError, match="odd"):
        await asyncio.wait_for(database.write(bad), 10)


async def test_writes_run_one_after_another_on_one_thread(database):
    """However many ask, from whatever loop or thread, one thread writes, and never two functions at once."""
    seen, inside = set(), threading.Lock()

    def work(_):
        assert inside.acquire(blocking=False)
        seen.add(threading.get_ident())
        inside.release()

    def from_own_loop():
        async def many():
            await asyncio.gather(*[database.write(work) for _ in range(20)])

        asyncio.run(many())

    loops = [threading.Thread(target=from_own_loop) for _ in range(3)]
    threads = [threading.Thread(target=database.write_sync, args=(work,)) for _ in range(3)]
    for thread in loops + threads:
        thread.start()
    await asyncio.gather(*[database.write(work) for _ in range(20)])
    for thread in loops + threads:
        await asyncio.to_thread(thread.join)
    assert len(seen) == 1
    assert threading.get_ident() not in seen


async def test_a_cancelled_caller_leaves_the_transaction_alone(database):
    """Who stops waiting does not stop the transaction; its true outcome stands, and the writer goes on."""
    started, go = threading.Event(), threading.Event()

    def slow(tx):
        started.set()
        assert go.wait(10)
        tx.execute(insert(things).values(text="slow"))

    waiting = asyncio.ensure_future(database.write(slow))
    queued = asyncio.ensure_future(database.write(_add("queued")))
    await asyncio.to_thread(started.wait, 10)
    waiting.cancel()
    queued.cancel()
    await asyncio.sleep(0)
    go.set()
    await database.write(_add("after"))
    assert waiting.cancelled()
    assert queued.cancelled()
    assert await database.read(_texts) == ["slow", "queued", "after"]


def test_a_loop_that_is_gone_leaves_the_writer_alive(database):
    """A loop that was closed while its transaction ran gets no answer, and harms nobody."""
    started, go = threading.Event(), threading.Event()

    def slow(tx):
        started.set()
        assert go.wait(10)
        tx.execute(insert(things).values(text="slow"))

    async def leave():
        task = asyncio.ensure_future(database.write(slow))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()

    asyncio.run(leave())
    go.set()
    database.write_sync(_add("after"))
    assert database.read_sync(_texts) == ["slow", "after"]


async def test_a_function_sees_the_callers_context(database):
    """Context variables (the secrets to mask among them) are the caller's, on both kinds of thread."""
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    assert await database.write(lambda _: variable.get()) == "mine"
    assert database.write_sync(lambda _: variable.get()) == "mine"
    assert await database.read(lambda _: variable.get()) == "mine"


async def test_a_read_sees_one_state(database):
    """What is written while a reader reads does not show in that reader's transaction."""

    def twice(tx):
        before = _texts(tx)
        database.write_sync(_add("between"))
        return before, _texts(tx)

    assert database.read_sync(twice) == ([], [])
    assert database.read_sync(_texts) == ["between"]


async def test_a_reader_cannot_write(database):
    """A write in a read is refused by the database, not by good manners, and called what it is."""
    with pytest.raises(MisuseError, match="read cannot write"):
        await database.read(_add("no"))
    assert await database.read(_texts) == []


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "x"), OSError(28, "no space"), PermissionError(13, "no")]
)
async def test_errors_of_other_files_are_the_callers(database, error):
    """A function that fails at a file of its own is no failure of the database."""

    def fails(_):
        raise error

    for run in (database.write_sync, database.read_sync):
        with pytest.raises(type(error), match="Errno") as raised:
            run(fails)
        assert raised.value is error


def test_a_transaction_inside_a_transaction_is_refused(database):
    """It would wait for itself: the caller is told so at once."""
    with pytest.raises(MisuseError, match="inside a transaction"):
        database.write_sync(lambda _: database.write_sync(_add("inner")))


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_a_function_may_not_end_its_transaction(database, ending):
    """What runs in a transaction that somebody else opened leaves its end to him."""

    def ends(tx):
        tx.execute(insert(things).values(text="x"))
        getattr(tx, ending)()

    with pytest.raises(MisuseError, match="ended its own transaction"):
        database.write_sync(ends)
    database.write_sync(_add("next"))
    assert "next" in database.read_sync(_texts)


def test_a_savepoint_left_open_does_not_reach_the_next_transaction(database):
    """A function that forgets its savepoint keeps what it wrote, and the next one starts clean."""

    def forgets(tx):
        tx.begin_nested()
        tx.execute(insert(things).values(text="kept"))

    database.write_sync(forgets)

    def fails(tx):
        with tx.begin_nested():
            tx.execute(insert(things).values(text="kept"))

    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError):
        database.write_sync(fails)

    def goes_on_after_its_savepoint(tx):
        with pytest.raises(IntegrityError), tx.begin_nested():
            tx.execute(insert(things).values(text="kept"))
        tx.execute(insert(things).values(text="more"))

    database.write_sync(goes_on_after_its_savepoint)
    assert database.read_sync(_texts) == ["kept", "more"]


async def test_durable_commits_wait_for_the_disk(database):
    """A durable transaction waits for the disk, every other does not, also after a failure.

    SQLite: synchronous is FULL (2) or NORMAL (1); PostgreSQL: synchronous_commit is on or off.
    """
    ask, usual, durable = {
        True: ("PRAGMA synchronous", 1, 2),
        False: ("SHOW synchronous_commit", "off", "on"),
    }[database.path is not None]

    def level(tx):
        return tx.exec_driver_sql(ask).scalar()

    def fails(tx):
        assert level(tx) == durable
        raise _OwnError

    assert await database.write(level) == usual
    assert await database.write(level, durable=True) == durable
    assert database.write_sync(level, durable=True) == durable
    with pytest.raises(_OwnError):
        await database.write(fails, durable=True)
    assert await database.write(level) == usual


def test_the_pragmas_are_in_force(migrated, tmp_path):
    """WAL, foreign keys and the wait for others hold on writer and readers."""

    def look(tx):
        names = ("journal_mode", "foreign_keys", "busy_timeout")
        return [tx.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    expected = ["wal", 1, int(BUSY_SECONDS * 1000)]
    with Database(shutil.copy(migrated, tmp_path / "kept.db")) as database:
        assert database.write_sync(look) == expected
        assert database.read_sync(look) == expected


async def test_two_transactions_in_one_visit(database):
    """`write_twice` gives the first result to the second; when the second fails the first stays."""

    def first(tx):
        tx.execute(insert(things).values(text="first"))
        return 5

    assert await database.write_twice(first, lambda _, five: five + 1) == 6

    def fails(tx, _):
        tx.execute(insert(things).values(text="never"))
        raise _OwnError

    def other(tx):
        tx.execute(insert(things).values(text="other"))

    with pytest.raises(_OwnError):
        await database.write_twice(other, fails, durable=True)
    assert await database.read(_texts) == ["first", "other"]


async def test_committed_is_called_after_the_commit_only(database):
    """The hook finds the rows committed, and is not called for a transaction that failed."""
    seen = []
    await database.write(_add("one"), committed=lambda: seen.append(database.read_sync(_texts)))

    def fails(_):
        raise _OwnError

    with pytest.raises(_OwnError):
        await database.write(fails, committed=lambda: seen.append("never"))
    assert seen == [["one"]]


async def test_closing_finishes_what_is_queued_and_is_idempotent(place):
    """What was handed over before `close` is written; after it nothing is taken."""
    database = Database(place)
    await database.write(things.create)
    last = asyncio.ensure_future(database.write(_add("last")))
    await asyncio.sleep(0)
    assert await database.read(_texts) in ([], ["last"])
    assert not database.closed
    database.close()
    database.close()
    assert database.closed
    await last
    for refused in (database.write_sync, database.read_sync):
        with pytest.raises(MisuseError, match="closed"):
            refused(_texts)
    for refused in (database.write, database.read):
        with pytest.raises(MisuseError, match="closed"):
            await refused(_texts)
    with Database(place) as again:
        assert again.read_sync(_texts) == ["last"]


def test_a_database_that_was_never_used_can_be_closed(place):
    """No thread was started: there is nothing to wait for."""
    Database(place).close()


def test_closing_from_a_transaction_does_not_wait_for_itself(place):
    """The writer's own thread can ask for the end."""
    database = Database(place)
    database.write_sync(lambda _: database.close())
    assert database.closed


def test_a_forgotten_database_lets_go_of_its_thread(place):
    """Without `close`, the thread ends with the object."""
    others = set(threading.enumerate())
    database = Database(place)
    database.write_sync(things.create)
    (writer,) = [one for one in set(threading.enumerate()) - others if one.name == "surefoot-writer"]
    del database
    gc.collect()
    writer.join(10)
    assert not writer.is_alive()


def test_a_program_that_forgets_to_close_still_ends(place):
    """What was written is there, and the process does not hang at its end."""
    script = (
        "import sys; from surefoot.storage import Database\n"
        "database = Database(sys.argv[1])\n"
        "database.write_sync(lambda tx: tx.exec_driver_sql('CREATE TABLE t (x INTEGER)'))\n"
    )
    path = place
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(path)], timeout=60, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    with Database(path) as database:
        assert database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM t").scalar()) == 0


@pytest.mark.parametrize("form", ["path", "text", "url"])
def test_what_names_a_database(tmp_path, form):
    """A path, its text and a URL name the same file; folders are made."""
    path = tmp_path / "deep er" / "100%" / "kept.db"
    given = {"path": path, "text": str(path), "url": f"sqlite:///{path}".replace("%", "%25")}[form]
    with Database(given) as database:
        assert database.path == path
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("mysql://me:hidden@host/db", "mysql"),
        ("sqlite://", "no file"),
        ("sqlite:///:memory:", "no file"),
        ("sqlite:///file:x?mode=memory&uri=true", "no file"),
    ],
)
def test_what_is_no_file_of_sqlite_is_refused(url, word):
    """Other databases, and databases without a file, are named in the error, without the password."""
    with pytest.raises(MisuseError, match=word) as raised:
        Database(url)
    assert "hidden" not in str(raised.value)


def test_the_room_is_lazy_and_names_what_it_lacks():
    """An unknown name is an AttributeError; the known ones are there."""
    import surefoot.storage as room

    assert room.metadata is metadata
    assert sorted(room.__all__) == room.__all__
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = room.nothing_such


async def test_a_second_process_reads_while_this_one_writes(place):
    """A reader elsewhere sees growing, whole states and never waits for the writer."""
    path = place
    script = (
        "import sys; from surefoot.storage import Database\n"
        "with Database(sys.argv[1]) as database:\n"
        "    seen = []\n"
        "    while not seen or seen[-1] < 200:\n"
        "        seen.append(database.read_sync(lambda tx: tx.exec_driver_sql('SELECT count(*) FROM things').scalar()))\n"
        "print(sorted(seen) == seen, all(one % 2 == 0 for one in seen))\n"
    )
    with Database(path) as database:
        await database.write(things.create)
        reader = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )

        def pair(number):
            def both(tx):
                tx.execute(insert(things).values(text=f"a{number}"))
                tx.execute(insert(things).values(text=f"b{number}"))

            return both

        for number in range(100):
            await database.write(pair(number))
        said, _ = await asyncio.to_thread(reader.communicate, timeout=60)
    assert said.split() == ["True", "True"]
