"""One database: one writer thread, readers with their own connections, migrated when it is opened."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from surefoot.errors import MisuseError
from surefoot.storage.failures import translated
from surefoot.storage.place import place_of
from surefoot.storage.writer import Writer

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from sqlalchemy import Connection, Engine

    from surefoot.storage.place import Place

T = TypeVar("T")
U = TypeVar("U")

BUSY_SECONDS = 10.0
"""How long a write waits for another process. Transactions here take milliseconds: longer means a program that holds
the database open for itself, and the person should hear of it."""

READER_THREADS = 4
"""Threads for `read`: more than a small machine has cores brings nothing; with one, a long search blocks a page."""


class Database:
    """A database, opened and brought to the newest schema.

    Args:
        url_or_path: a file of SQLite, as a path or `sqlite:///` and a path (the folder is made; a new file is readable
            by its owner only), or a PostgreSQL database, as `postgresql://user:password@host:5432/database` (the
            extra `postgres`).
        busy_seconds: how long a write waits for another process before `StorageError`.

    Every function gets a SQLAlchemy connection and runs in one transaction of it; it must neither commit nor roll back.
    What it raises reaches the caller unchanged, after the roll-back. On PostgreSQL, where other processes write at the
    same time, a function whose transaction met theirs is run again from its start, so it must do nothing outside the
    transaction that may not happen twice. Any number of event loops and threads may use one object.

    Raises:
        StorageError: it cannot be opened, is damaged, or was written by a newer version.
        MisuseError: it names another kind of database.
    """

    def __init__(self, url_or_path: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        from surefoot.storage.upgrade import bring_up_to_date

        self._place = place = place_of(url_or_path, busy_seconds)
        self._threads: ThreadPoolExecutor | None = None
        with translated(place):
            place.make_ready()
            self._readers = place.reader_engine()
            try:
                bring_up_to_date(place, self._readers)
            except BaseException:
                self._readers.dispose()
                raise
        self._writer = Writer(_connector(place.writer_engine(), place))
        self._close = weakref.finalize(self, _shut_down, self._writer, self._readers)

    async def write(
        self,
        fn: Callable[[Connection], T],
        *,
        durable: bool = False,
        committed: Callable[[], None] | None = None,
    ) -> T:
        """Run `fn(connection)` on the writer thread in one transaction; its result, once it is committed.

        `durable` waits until it is on the disk, so that not even a power loss takes it back. The function sees the
        caller's context variables. A caller that is cancelled stops waiting; the transaction goes on to its own end.
        `committed` is called on the writer thread after the commit, before anything else is written.

        Raises:
            StorageError: the disk or the database failed; nothing was written.
        """

        def work(connection: Connection) -> T:
            value = self._transact(connection, fn, durable=durable)
            if committed is not None:
                committed()
            return value

        return await self._writer.run(work)

    async def write_twice(
        self,
        first: Callable[[Connection], T],
        second: Callable[[Connection, T], U],
        *,
        durable: bool = False,
    ) -> U:
        """Run `first`, then `second` with its result, in a transaction each; one visit to the writer thread.

        When `second` raises, `first` stays written. `durable` is about `first`.
        """

        def work(connection: Connection) -> U:
            value = self._transact(connection, first, durable=durable)
            return self._transact(connection, lambda tx: second(tx, value), durable=False)

        return await self._writer.run(work)

    def write_sync(self, fn: Callable[[Connection], T], *, durable: bool = False) -> T:
        """The same as `write` for a caller without an event loop. Not from inside another transaction (MisuseError)."""
        return self._writer.run_sync(lambda connection: self._transact(connection, fn, durable=durable))

    async def read(self, fn: Callable[[Connection], T]) -> T:
        """Run `fn(connection)` on a reader's thread: one snapshot, writing refused. Sees all committed writes."""
        self._check_open()
        context = copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool(), context.run, self.read_sync, fn)

    def read_sync(self, fn: Callable[[Connection], T]) -> T:
        """The same on the calling thread."""
        self._check_open()
        try:
            with self._readers.connect() as connection, connection.begin():
                return fn(connection)
        except Exception as error:
            if self._place.wrote_in_a_read(error):
                raise MisuseError("A read cannot write.", "Use write.") from error
            self._raise_told(error)
            raise

    def close(self) -> None:
        """Finish what is queued and let go of the file. Calling it again does nothing."""
        if self._threads is not None:
            self._threads.shutdown(wait=True)
        self._close()

    @property
    def name(self) -> str:
        """What a person knows it by: a path, or a URL without its password."""
        return self._place.name

    @property
    def path(self) -> Path | None:
        """Its file; None where it is none."""
        return self._place.path

    @property
    def closed(self) -> bool:
        """It was closed."""
        return not self._close.alive

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _transact(self, connection: Connection, fn: Callable[[Connection], T], *, durable: bool) -> T:
        try:
            return self._place.transact(connection, fn, durable=durable)
        except Exception as error:
            self._raise_told(error)
            raise

    def _raise_told(self, error: Exception) -> None:
        told = self._place.told(error)
        if told is not None:
            raise told from error

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="surefoot-reader")
        return self._threads

    def _check_open(self) -> None:
        if self.closed:
            raise MisuseError("The database is closed.", "Open it again: Database(path).")


def _connector(engine: Engine, place: Place) -> Callable[[], Connection]:
    def connect() -> Connection:
        with translated(place):
            return engine.connect()

    return connect


def _shut_down(writer: Writer, readers: Engine) -> None:
    writer.close()
    readers.dispose()
