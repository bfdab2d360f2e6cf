"""The one thread that writes: one connection, one queue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

from surefoot.errors import MisuseError

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
Deliver = Callable[[Any, BaseException | None], None]
Work = Callable[["Connection"], T]


class _Job:
    """Work for the connection, in the context of who asked, and where its outcome goes."""

    __slots__ = ("context", "deliver", "work")

    def __init__(self, work: Work[Any], deliver: Deliver) -> None:
        self.work = work
        self.deliver = deliver
        self.context: Context = copy_context()


class Writer:
    """Does work on one connection, piece after piece, on its own thread.

    Args:
        connect: opens the connection; called on the thread, again at the next job when it failed.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._connection: Connection | None = None
        self._closed = False

    async def run(self, work: Work[T]) -> T:
        """Do it for a coroutine. When the waiting coroutine is cancelled the work goes on to its end."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def deliver(value: Any, error: BaseException | None) -> None:
            try:
                loop.call_soon_threadsafe(_settle, future, value, error)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more

        self._submit(_Job(work, deliver))
        return await future

    def run_sync(self, work: Work[T]) -> T:
        """Do it for a thread, which waits for it."""
        if threading.current_thread() is self._thread:
            raise MisuseError(
                "A transaction cannot be started inside a transaction of the same database.",
                "Use the open transaction that the function was given.",
            )
        box: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._submit(_Job(work, lambda value, error: box.put((value, error))))
        value, error = box.get()
        if error is not None:
            raise error
        return cast("T", value)

    def close(self) -> None:
        """Finish what is queued, close the connection, end the thread. Calling it again does nothing."""
        with self._lock:
            thread = self._thread
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _submit(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                raise MisuseError("The database is closed.", "Open it again: Database(path).")
            self._queue.put(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="surefoot-writer", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            self._do(job)
            del job  # do not hold its results until the next one comes
        if self._connection is not None:
            self._connection.close()

    def _do(self, job: _Job) -> None:
        value, error = None, None
        try:
            if self._connection is None:
                self._connection = self._connect()
            value = job.context.run(job.work, self._connection)
        except BaseException as raised:  # noqa: BLE001 - whatever it is belongs to the caller, and the thread lives on
            error = raised
        job.deliver(value, error)


def _settle(future: asyncio.Future[T], value: T, error: BaseException | None) -> None:
    if future.done():
        return  # cancelled while the transaction ran; its outcome stands in the database
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):
        future.set_exception(
            RuntimeError(f"the function raised {error!r}")
        )  # a future takes no StopIteration
    else:
        future.set_exception(error)
