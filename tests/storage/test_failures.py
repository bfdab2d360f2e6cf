"""A failing disk or database ends in a StorageError that says what to do, and the next write works again."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from surefoot.errors import StorageError, error_from_dict
from surefoot.storage import Database
from surefoot.storage.failures import failure, translated
from surefoot.storage.sqlite import SENTENCES, SqlitePlace, storage_error

BIG = "x" * 100_000


def _make(tx):
    tx.exec_driver_sql("CREATE TABLE IF NOT EXISTS things (text TEXT)")


def _fill(tx):
    for _ in range(50):
        tx.exec_driver_sql("INSERT INTO things VALUES (?)", (BIG,))


def _count(tx):
    return tx.exec_driver_sql("SELECT count(*) FROM things").scalar()


def _small(tx):
    tx.exec_driver_sql("INSERT INTO things VALUES ('small')")


async def test_a_full_database_is_reported_and_recovers(tmp_path):
    """No room: StorageError with reason `full`, nothing of the transaction stands, the next small write works."""
    with Database(tmp_path / "kept.db") as database:
        await database.write(_make)
        pages = await database.write(lambda tx: tx.exec_driver_sql("PRAGMA page_count").scalar())
        await database.write(lambda tx: tx.exec_driver_sql(f"PRAGMA max_page_count={pages + 20}").scalar())
        with pytest.raises(StorageError, match="full") as raised:
            await database.write(_fill)
        assert raised.value.details["reason"] == "full"
        assert raised.value.next_move
        assert await database.read(_count) == 0
        await database.write(_small)
        assert await database.read(_count) == 1


def test_a_full_database_is_reported_at_a_prepared_statement_too(tmp_path):
    """Statements that go straight to the driver fail in the same words."""
    from surefoot.storage import memories

    with Database(tmp_path / "kept.db") as database:
        pages = database.write_sync(lambda tx: tx.exec_driver_sql("PRAGMA page_count").scalar())
        database.write_sync(lambda tx: tx.exec_driver_sql(f"PRAGMA max_page_count={pages + 5}").scalar())
        row = memories.MemoryRow("a", "fact", BIG, "", "2026-11-30T18:30:00.000000Z", undone=False)
        with pytest.raises(StorageError, match="full"):
            database.write_sync(lambda tx: memories.add(tx, row))
        assert database.read_sync(lambda tx: memories.get(tx, "a")) is None


def _in_child(path: Path, body: str, **how: object) -> str:
    script = "import sys, resource\nfrom surefoot.storage import Database\nfrom surefoot.errors import StorageError\n"
    script += textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **how,  # type: ignore[call-overload]
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_limit_on_file_size_is_reported_and_recovers(tmp_path):
    """The system refuses to let the file grow, in a real process: an error, no crash, and later all is well."""
    said = _in_child(
        tmp_path / "kept.db",
        """
        with Database(sys.argv[1]) as database:
            database.write_sync(lambda tx: tx.exec_driver_sql("CREATE TABLE things (text TEXT)"))
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
            try:
                database.write_sync(
                    lambda tx: [tx.exec_driver_sql("INSERT INTO things VALUES (?)", ("x" * 100_000,)) for _ in range(50)]
                )
            except StorageError as error:
                print(error.details["reason"])
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            database.write_sync(lambda tx: tx.exec_driver_sql("INSERT INTO things VALUES ('small')"))
            print(database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM things").scalar()))
        """,
    )
    assert said.split() == ["disk", "1"]
    assert _whole(tmp_path / "kept.db")


@pytest.mark.skipif(not Path("/dev/shm").is_dir() or os.geteuid() != 0, reason="mounting needs root")
def test_a_disk_without_space_is_reported_and_recovers(tmp_path):
    """A real file system of 1 MB runs full; after something is deleted the same object writes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with Database(disk / "kept.db") as database:
            database.write_sync(_make)
            ballast = disk / "ballast"
            ballast.write_bytes(b"x" * 300_000)
            with pytest.raises(StorageError, match="full"):
                database.write_sync(_fill)
            ballast.unlink()
            database.write_sync(_small)
            assert database.read_sync(_count) == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_locked_database_is_reported_and_recovers(tmp_path):
    """Another program that holds the write lock is named as the cause; when it lets go, writing goes on."""
    path = tmp_path / "kept.db"
    with Database(path, busy_seconds=0.05) as database:
        database.write_sync(_make)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked") as raised:
            database.write_sync(_small)
        assert raised.value.details["reason"] == "locked"
        assert database.read_sync(_count) == 0  # readers do not care
        other.execute("ROLLBACK")
        other.close()
        database.write_sync(_small)
        assert database.read_sync(_count) == 1


def test_a_locked_database_is_waited_for(tmp_path):
    """Within the wait, the other program's lock only delays."""
    import threading

    path = tmp_path / "kept.db"
    with Database(path) as database:
        database.write_sync(_make)
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        ending = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
        ending.start()
        database.write_sync(_small)
        ending.join()
        other.close()
        assert database.read_sync(_count) == 1


@pytest.mark.parametrize(
    "content", [b"this is no database at all" * 100, b"\x00" * 4096, b"SQLite format 3\x00" + b"?" * 4080]
)
def test_what_is_no_database_is_named(tmp_path, content):
    """A file of something else is left as it is, and the error names it."""
    path = tmp_path / "kept.db"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"kept\.db") as raised:
        Database(path)
    assert raised.value.details["reason"] == "damaged"
    assert path.read_bytes() == content


def test_a_damaged_database_is_reported(tmp_path):
    """Pages overwritten behind its back: the read or write that meets them says `damaged`."""
    path = tmp_path / "kept.db"
    with Database(path) as database:
        database.write_sync(_make)
        database.write_sync(_fill)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size - size // 2))
    with Database(path) as database, pytest.raises(StorageError) as raised:
        database.read_sync(lambda tx: tx.exec_driver_sql("SELECT sum(length(text)) FROM things").scalar())
    assert raised.value.details["reason"] == "damaged"


def test_another_programs_database_is_refused(tmp_path):
    """A SQLite file with other tables is not migrated over."""
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE customers (name)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="customers"):
        Database(path)
    assert path.read_bytes() == before


@pytest.fixture
def public_folder():
    """A folder that every user can reach; the tests' own ones only their owner can."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_is_named(public_folder):
    """As an ordinary user: a database that may only be read, and a new one in a folder of somebody else's."""
    path = public_folder / "kept.db"
    with Database(path) as database:
        database.write_sync(_make)
    path.chmod(0o444)
    public_folder.chmod(0o555)
    said = _in_child(
        path,
        """
        import os, tempfile
        with tempfile.TemporaryDirectory() as other, Database(other + "/x.db") as database:
            database.write_sync(lambda tx: None)  # everything is imported: the other user may not read the code
        if os.geteuid() == 0:
            os.setegid(65534)
            os.seteuid(65534)
        for path in (sys.argv[1], sys.argv[1] + ".new"):
            try:
                with Database(path) as database:
                    database.write_sync(lambda tx: tx.exec_driver_sql("INSERT INTO things VALUES (1)"))
            except StorageError as error:
                print(error.details["reason"], bool(error.next_move), path in error.message)
        """,
    )
    public_folder.chmod(0o755)
    lines = [line.split() for line in said.splitlines()]
    assert len(lines) == 2
    for reason, next_move, named in lines:
        assert reason in {"read_only", "cannot_open"}
        assert (next_move, named) == ("True", "True")


def test_a_folder_that_is_a_file_is_named(tmp_path):
    """The path leads through a file."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="kept"):
        Database(tmp_path / "file" / "kept.db")


def test_a_file_that_is_a_folder_is_named(tmp_path):
    """The path is a folder."""
    with pytest.raises(StorageError, match="cannot be opened"):
        Database(tmp_path)


def test_only_failures_of_disk_and_database_are_translated(tmp_path):
    """Constraints, wrong SQL and every other exception stay what they are."""
    for code in (sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE):
        error = sqlite3.OperationalError("x")
        error.sqlite_errorcode = code
        assert storage_error(error, tmp_path) is None
    assert storage_error(ValueError("x"), tmp_path) is None
    assert storage_error(sqlite3.ProgrammingError("no code"), tmp_path) is None
    with pytest.raises(ValueError, match="own"), translated(SqlitePlace(tmp_path, 1)):
        raise ValueError("own")


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_every_failure_says_what_to_do(tmp_path, code):
    """Each code, extended ones included, has a message with the path and a next move, and survives pickling and JSON."""
    error = sqlite3.OperationalError("said by the driver")
    error.sqlite_errorcode = code | (3 << 8)
    told = storage_error(error, tmp_path)
    assert told is not None
    assert str(tmp_path) in told.message
    assert told.next_move
    assert told.details["said"] == "said by the driver"
    for copy in (pickle.loads(pickle.dumps(told)), error_from_dict(told.to_dict())):
        assert (type(copy), str(copy), copy.details) == (StorageError, str(told), told.details)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "no"), "read_only"),
        (OSError(30, "read-only"), "read_only"),
        (OSError(28, "no space"), "full"),
        (OSError(5, "input/output"), "disk"),
    ],
)
def test_errors_of_the_system_at_opening_are_translated(tmp_path, error, reason):
    """No permission, no space and a broken disk come from the system as OSError."""
    with pytest.raises(StorageError) as raised, translated(SqlitePlace(tmp_path, 1)):
        raise error
    assert raised.value.details["reason"] == reason
    assert storage_error(error, tmp_path) is None
    assert failure(SENTENCES[sqlite3.SQLITE_FULL], tmp_path).details["said"] == ""


def _whole(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()


@pytest.mark.parametrize(("free", "reason"), [(0, "full"), (10_000, "full"), (10**9, "disk")])
def test_an_io_error_on_a_full_disk_is_told_as_a_full_disk(tmp_path, monkeypatch, free, reason):
    """SQLite says I/O error when the memory of its log cannot grow; the person must know that room is missing."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": free})())
    told = storage_error(error, tmp_path / "kept.db")
    assert told is not None
    assert told.details["reason"] == reason


def test_an_io_error_in_a_folder_that_is_gone_is_the_disk(tmp_path):
    """Nothing can be asked of it."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    told = storage_error(error, tmp_path / "gone" / "kept.db")
    assert told is not None
    assert told.details["reason"] == "disk"
