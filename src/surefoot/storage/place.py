"""Which database is meant, and what differs from one kind to the other: one protocol, a form of it for each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from surefoot.errors import MisuseError

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

    from surefoot.errors import StorageError

T = TypeVar("T")


class Look(NamedTuple):
    """What stands in a database before anything is done to it."""

    tables: tuple[str, ...]
    version: str
    """The schema version it says it has; empty where its table of versions has no row."""


class Place(Protocol):
    """Where a database is, and how its kind opens, commits and fails."""

    @property
    def name(self) -> str:
        """What a person knows it by: a path, or a URL without its password."""
        ...

    @property
    def path(self) -> Path | None:
        """Its file, where it is one."""
        ...

    def make_ready(self) -> None:
        """Before the first connection."""
        ...

    def reader_engine(self) -> Engine:
        """A connection for each reader: a transaction of it sees one state and cannot write."""
        ...

    def writer_engine(self) -> Engine:
        """For the writer's one connection, which `transact` uses."""
        ...

    def migration_engine(self) -> Engine:
        """For one migration, in one transaction."""
        ...

    def migration_lock(self, seconds: float) -> AbstractContextManager[None]:
        """Held by one process at a time; StorageError when another holds it for longer."""
        ...

    def look(self, readers: Engine) -> Look:
        """What is there; changes nothing."""
        ...

    def check_migrated(self, connection: Connection) -> None:
        """StorageError when a migration, not yet committed, has left rows that refer to nothing."""
        ...

    def transact(self, connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
        """Run `fn` in one transaction of the writer's connection; `durable`: its commit waits for the disk."""
        ...

    def told(self, error: BaseException) -> StorageError | None:
        """What the database said, as an error that names the next move; None when it is the caller's own."""
        ...

    def wrote_in_a_read(self, error: BaseException) -> bool:
        """A reader's connection refused to write."""
        ...


def place_of(url_or_path: str | Path, busy_seconds: float) -> Place:
    """The place that a path or a URL names.

    Raises:
        MisuseError: it names another kind of database, or none.
    """
    text = str(url_or_path)
    if "://" not in text:
        return _file(Path(text), busy_seconds)
    url = _parsed(text)
    kind = url.get_backend_name()
    if kind == "postgresql":
        from surefoot.storage.postgres import PostgresPlace

        return PostgresPlace(url, busy_seconds)
    if kind != "sqlite":
        raise MisuseError(
            f"{url.render_as_string(hide_password=True)} is neither a SQLite nor a PostgreSQL database.",
            "Give a path, sqlite:///path, or postgresql://user:password@host/database.",
        )
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise MisuseError(
            f"{text} names no file.", "Give a file's path, or use MemoryJournal where nothing is to be kept."
        )
    return _file(Path(url.database), busy_seconds)


def _file(path: Path, busy_seconds: float) -> Place:
    from surefoot.storage.sqlite import SqlitePlace

    return SqlitePlace(path.expanduser().absolute(), busy_seconds)


def _parsed(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if text.startswith("postgres://"):  # as libpq and many hosts write it
        text = text.replace("postgres://", "postgresql://", 1)
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        # The text itself stays out of it, and out of the chain: it may hold a password in a place nobody expects.
        raise MisuseError(
            "The database's URL cannot be read.",
            "Write it as postgresql://user:password@host:5432/database; special characters of a password as %xx.",
        ) from None
