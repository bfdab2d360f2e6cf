"""What is true of SQLite only: pragmas, how a transaction begins, what durable means, how it fails, how it searches."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.errors import MisuseError, StorageError
from surefoot.storage.failures import (
    DAMAGED,
    DISK,
    FULL,
    LOCKED,
    READ_ONLY,
    TOO_BIG,
    UNREACHABLE,
    Sentence,
    failure,
)
from surefoot.storage.place import Look

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

T = TypeVar("T")

WAL_PAGES = 1000
"""Pages in the log before it is copied into the database: SQLite's own default, named so that the benchmark's floor
uses the same."""


def pragmas(busy_seconds: float, *, read_only: bool) -> list[str]:
    """What every connection sets. NORMAL in WAL never damages the file; a power loss may take back the last commits."""
    return [
        f"PRAGMA busy_timeout={int(busy_seconds * 1000)}",
        *([] if read_only else ["PRAGMA journal_mode=WAL"]),
        "PRAGMA synchronous=NORMAL",
        "PRAGMA foreign_keys=ON",
        f"PRAGMA wal_autocheckpoint={WAL_PAGES}",
        "PRAGMA temp_store=MEMORY",
        *(["PRAGMA query_only=ON"] if read_only else []),
    ]


def writer_engine(path: Path, busy_seconds: float) -> Engine:
    """For the writer's one connection, which `transact` uses."""
    from sqlalchemy.pool import NullPool

    return _engine(path, pragmas(busy_seconds, read_only=False), "", poolclass=NullPool)


def reader_engine(path: Path, busy_seconds: float) -> Engine:
    """A connection for each reader; a transaction of it sees one state of the database."""
    from sqlalchemy.pool import QueuePool

    statements = pragmas(busy_seconds, read_only=True)
    return _engine(path, statements, "BEGIN", poolclass=QueuePool, pool_size=4, max_overflow=-1)


def migration_engine(path: Path, busy_seconds: float) -> Engine:
    """One connection for a migration: tables that refer to others may be rebuilt, so foreign keys rest."""
    from sqlalchemy.pool import NullPool

    statements = [*pragmas(busy_seconds, read_only=False), "PRAGMA foreign_keys=OFF"]
    return _engine(path, statements, "BEGIN IMMEDIATE", poolclass=NullPool)


def _engine(path: Path, statements: list[str], begin: str, **pool: Any) -> Engine:
    from sqlalchemy import URL, create_engine, event

    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"check_same_thread": False}, **pool
    )

    def prepare(driver: Any, _record: object) -> None:
        # The driver starts no transactions by itself: its own are deferred, and fail half-way when two processes write.
        driver.isolation_level = None
        for statement in statements:
            driver.execute(statement)

    def start(connection: Connection) -> None:
        driver(connection).execute(begin)

    event.listen(engine, "connect", prepare)
    if begin:
        event.listen(engine, "begin", start)
    return engine


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def transact(connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
    """Run `fn` in one transaction of the writer's connection; `durable`: its commit waits for the disk.

    SQLAlchemy is told of neither begin nor commit: for its part a transaction is always open, which costs nothing, and
    these two statements are most of what is left of a small write.
    """
    raw = driver(connection)
    if durable:
        raw.execute("PRAGMA synchronous=FULL")
    try:
        raw.execute("BEGIN IMMEDIATE")
        value = fn(connection)
        _commit(raw)
    except BaseException:
        if raw.in_transaction:  # SQLite rolls some failures (a full disk) back by itself
            raw.execute("ROLLBACK")
        raise
    finally:
        if connection.in_nested_transaction():
            connection.rollback()  # a savepoint that the function left open ends with its transaction
        if durable:
            raw.execute("PRAGMA synchronous=NORMAL")
    return value


def _commit(raw: Any) -> None:
    if not raw.in_transaction:
        raise MisuseError("The function ended its own transaction.", "It must neither commit nor roll back.")
    raw.execute("COMMIT")


class SqlitePlace:
    """A file (`place.Place`).

    Args:
        path: absolute.
        busy_seconds: how long a write waits for another process.
    """

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self.name = str(path)
        self.busy_seconds = busy_seconds

    def make_ready(self) -> None:
        """A new file is for its owner's eyes: it holds what the person said and did."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))

    def reader_engine(self) -> Engine:
        """See `reader_engine`."""
        return reader_engine(self.path, self.busy_seconds)

    def writer_engine(self) -> Engine:
        """See `writer_engine`."""
        return writer_engine(self.path, self.busy_seconds)

    def migration_engine(self) -> Engine:
        """See `migration_engine`."""
        return migration_engine(self.path, self.busy_seconds)

    @contextmanager
    def migration_lock(self, seconds: float) -> Iterator[None]:
        """A lock file beside it."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(f"{self.path}.lock", timeout=seconds):
                yield
        except Timeout as error:
            raise failure(LOCKED, self.path, "another process is migrating it") from error

    def look(self, readers: Engine) -> Look:
        """What is there; an empty file is not even opened."""
        if self.path.stat().st_size == 0 and not self.path.with_name(f"{self.path.name}-wal").exists():
            return Look((), "")
        with readers.connect() as connection:
            tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = tuple(row[0] for row in tables)
            row = None
            if "alembic_version" in names:
                row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").fetchone()
        return Look(names, str(row[0] or "") if row else "")

    def check_migrated(self, connection: Connection) -> None:
        """Foreign keys rested while tables were rebuilt, so they are looked at before the commit."""
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchone()
        if broken is not None:
            raise failure(DAMAGED, self.path, f"rows of {broken[0]!r} refer to nothing")

    def transact(self, connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
        """See `transact`."""
        return transact(connection, fn, durable=durable)

    def told(self, error: BaseException) -> StorageError | None:
        """See `storage_error`."""
        return storage_error(error, self.path)

    def wrote_in_a_read(self, error: BaseException) -> bool:
        """That is neither disk nor folder, but the function that was given."""
        driver = getattr(error, "orig", error)
        return getattr(driver, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY


# --- how it fails --------------------------------------------------------------------------------------------

SENTENCES: dict[int, Sentence] = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: UNREACHABLE,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_IOERR: DISK,
    sqlite3.SQLITE_NOLFS: DISK,
    sqlite3.SQLITE_TOOBIG: TOO_BIG,
}
"""By SQLite's primary result code. Every other code (a constraint, wrong SQL) is the caller's own error."""

_PRIMARY = 0xFF
"""The low byte of an extended result code is the primary one (https://sqlite.org/rescode.html)."""


LACKS = ("no such table", "no such column", "malformed database schema")
"""What SQLite says where a table is not as the schema's version promises (https://sqlite.org/rescode.html#error)."""

ROOM = 64 * 1024
"""Bytes: the shared memory beside the log takes 32 kB, a small transaction as much."""


def storage_error(error: BaseException, path: Path) -> StorageError | None:
    """The error that says what the disk or database did; None when it is no failure that SQLite reports."""
    driver = getattr(error, "orig", error)
    if not isinstance(driver, sqlite3.Error):
        return None
    sentence = SENTENCES.get((getattr(driver, "sqlite_errorcode", None) or 0) & _PRIMARY)
    if sentence is None and str(driver).startswith(LACKS):
        sentence = DAMAGED  # its schema is the newest, or it would not have been opened
    if sentence is DISK and _no_room(path):
        sentence = FULL
    return None if sentence is None else failure(sentence, path, str(driver))


def _no_room(path: Path) -> bool:
    """The disk is full, which SQLite calls an I/O error where it is the shared memory of its log that cannot grow."""
    try:
        return shutil.disk_usage(path.parent).free < ROOM
    except OSError:
        return False


# --- how it searches -----------------------------------------------------------------------------------------

FTS_TABLE = "memories_fts"
"""The index of the memories' words, made by the migration and kept by triggers."""

HITS = """
SELECT memories_fts.rowid
FROM memories_fts JOIN memories ON memories.number = memories_fts.rowid
WHERE memories_fts MATCH :question AND NOT memories.undone
ORDER BY bm25(memories_fts), memories.number DESC
LIMIT :most
"""
"""Numbers of the memories that hold a word of the question, the best first."""


def question(asked: Iterable[tuple[str, bool]]) -> str:
    """The question as the index reads it: words, and whether each also finds longer ones.

    Words have only letters and digits, and stand in quotes: nothing in a question is ever FTS syntax.
    """
    return " OR ".join(f'"{word}"*' if prefix else f'"{word}"' for word, prefix in asked)
