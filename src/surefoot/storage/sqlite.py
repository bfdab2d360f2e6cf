"""What is true of SQLite only: pragmas, how a transaction begins, what durable means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.errors import MisuseError

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
