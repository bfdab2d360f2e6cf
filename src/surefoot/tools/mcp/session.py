"""An open session: one task owns it, calls go to it through a queue.

The SDK's session belongs to the task that opened it and does not survive its server. So each opened session is one
`Connection`; when it has ended, the next one is another.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from surefoot.tools.mcp.lines import MAYBE_SENT, NOT_SENT, Line

if TYPE_CHECKING:
    import mcp
    from mcp_types import CallToolResult, Tool

T = TypeVar("T")

CLOSE_SEC = 15.0
"""Seconds for closing: longer than a program that ignores everything is given."""

MAX_PAGES = 50
"""Pages of a list of tools; a server that always names one more would be asked for ever."""


class NotSentError(Exception):
    """The request has not reached the server: it may be sent again, whatever it does."""


class LostError(Exception):
    """The line broke while the request was under way: what became of it is not known."""


class NotOpenedError(Exception):
    """The server did not come up; the message says why."""


@dataclass(eq=False)
class _Job:
    work: Callable[[mcp.Client], Awaitable[Any]]
    result: asyncio.Future[Any]
    task: asyncio.Task[None] | None = None


@dataclass(eq=False)
class Connection:
    """One session with one server, from its opening to its end. `changed` is called when the server's tools did."""

    line: Line
    changed: Callable[[], None]
    watched: bool = False
    """The server tells when its tools change, and is heard."""
    _queue: asyncio.Queue[_Job | None] = field(default_factory=asyncio.Queue)
    _jobs: set[_Job] = field(default_factory=set)
    _owner: asyncio.Task[None] | None = None
    _ready: asyncio.Future[None] | None = None
    _over: bool = False

    @property
    def alive(self) -> bool:
        """It may be used, as far as can be told without asking."""
        return not self._over and self.line.alive()

    async def open(self, seconds: float) -> None:
        """Start the owner and wait until the session stands.

        Raises:
            NotOpenedError: it does not, within this time.
        """
        self._ready = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(self._ready))
        try:
            async with asyncio.timeout(seconds):
                await self._ready
        except TimeoutError as error:
            await self.close()
            raise NotOpenedError(f"it did not answer within {seconds:g} s{self._trouble()}") from error
        except asyncio.CancelledError:
            await self.close()
            raise
        except Exception as error:
            await self.close()
            raise NotOpenedError(f"{reason(error)}{self._trouble()}") from error

    def _trouble(self) -> str:
        said = " ".join(self.line.trouble().split())[-300:]
        return f"; it wrote: {said}" if said else ""

    async def close(self) -> None:
        """End the session and the server's program; again: nothing happens."""
        self._over = True
        owner, ready = self._owner, self._ready
        if owner is None or ready is None:
            return
        self._queue.put_nowait(None)
        if not ready.done() or ready.cancelled():
            owner.cancel()  # it is still opening, and would not look into the queue
        await asyncio.wait({owner}, timeout=CLOSE_SEC)
        owner.cancel()

    async def do(self, work: Callable[[mcp.Client], Awaitable[T]]) -> T:
        """Have the owner do this with the session. Cancelled, it tells the server and leaves the session usable.

        Raises:
            NotSentError: nothing was sent.
            LostError: the line broke meanwhile.
            MCPError: the server's own answer.
        """
        if not self.alive:
            raise NotSentError("the session is over")
        job = _Job(work, asyncio.get_running_loop().create_future())
        self._jobs.add(job)
        self._queue.put_nowait(job)
        try:
            return await job.result  # type: ignore[no-any-return]  # what `work` gives
        finally:
            self._jobs.discard(job)
            if job.task is not None:
                job.task.cancel()

    # --- the owner -------------------------------------------------------------------------------------------

    async def _own(self, ready: asyncio.Future[None]) -> None:
        try:
            async with self._client() as client, asyncio.TaskGroup() as group:
                listening = group.create_task(self._watch(client))
                if not ready.done():
                    ready.set_result(None)
                await self._serve(client, group)
                listening.cancel()
        except Exception as error:  # noqa: BLE001 - whatever ends a session is told to who waits for it
            if not ready.done():
                ready.set_exception(error)
        finally:
            self._ended()
            ready.cancel()

    def _client(self) -> mcp.Client:
        import mcp

        from surefoot.tools.mcp.screening import screened
        from surefoot.tools.mcp.sdk import quiet

        quiet()
        # No cache: what a list says is kept here. No callbacks: a server may ask us for nothing.
        line = screened(self.line.opened(self._ended))
        return mcp.Client(line, cache=None, message_handler=self._told, client_info=_us())

    async def _serve(self, client: mcp.Client, group: asyncio.TaskGroup) -> None:
        while (job := await self._queue.get()) is not None:
            if not job.result.done():
                job.task = group.create_task(_work(job, client))
        for job in list(self._jobs):
            if job.task is not None:
                job.task.cancel()

    def _ended(self) -> None:
        """Nothing goes through any more; who waits in the queue is told, who waits for an answer is told by it."""
        self._over = True
        self.watched = False
        self._queue.put_nowait(None)
        for job in list(self._jobs):
            if not job.result.done() and (job.task is None or job.task.done()):
                job.result.set_exception(NotSentError("the session ended"))

    # --- changes ---------------------------------------------------------------------------------------------

    async def _told(self, message: Any) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self.changed()

    async def _watch(self, client: mcp.Client) -> None:
        """Hear of changes: servers of the newer protocol tell them on a stream that is asked for."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError

        tools = client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            self.watched = True  # it says that they never change
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                self.watched = True
                self.changed()  # what changed before it was listened to
                async for _ in changes:
                    self.changed()
        except ListenNotSupportedError:
            self.watched = (
                self.line.keeps_open
            )  # the older one tells it unasked, where there is a line to do so
            return
        except (MCPError, SubscriptionLost):
            pass
        self.watched = False


async def _work(job: _Job, client: mcp.Client) -> None:
    try:
        result = await job.work(client)
    except asyncio.CancelledError:
        if not job.result.done():
            job.result.set_exception(LostError("the session ended"))
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to who asked
        if not job.result.done():
            job.result.set_exception(error)
    else:
        if not job.result.done():
            job.result.set_result(result)


async def list_tools(connection: Connection, limit: int) -> list[Tool]:
    """What the server offers, at most `limit` and one more (which says that there are more)."""

    async def every_page(client: mcp.Client) -> list[Tool]:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > limit:
                break
        return found

    return await _translated(connection, every_page)


async def call_tool(connection: Connection, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call it once. The result is not checked against the server's own schema of it: it is data either way.

    Raises:
        NotSentError: the server never got it.
        LostError: the answer was lost, or cannot be read: what it did is not known.
        MCPError: the server refused.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import HEADER_MISMATCH, CallToolRequest, CallToolRequestParams, CallToolResult

    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=dict(arguments)))

    async def send(client: mcp.Client) -> CallToolResult:
        try:
            return await client.session.send_request(request, CallToolResult)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
            await client.list_tools()  # which arguments are wanted as headers too stands in the list
            return await client.session.send_request(request, CallToolResult)
        except ValidationError as error:
            raise LostError("its answer is no result of a tool") from error

    return await _translated(connection, send)


async def _translated(connection: Connection, work: Callable[[mcp.Client], Awaitable[T]]) -> T:
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

    try:
        return await connection.do(work)
    except MCPError as error:
        if error.code == NOT_SENT:
            raise NotSentError(error.message) from error
        lost = {MAYBE_SENT} if connection.line.keeps_open else {MAYBE_SENT, CONNECTION_CLOSED, PARSE_ERROR}
        if error.code in lost or (error.code == CONNECTION_CLOSED and not connection.alive):
            raise LostError(error.message) from error
        raise


def reason(error: BaseException) -> str:
    """Why, in a few words: the first cause inside the groups that the SDK's tasks make of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):  # whose own text repeats what the server wrote
        return "its answer is not as the protocol says"
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename!r} is not there to be started"
    return str(error).strip() or type(error).__name__


def _us() -> Any:
    from importlib.metadata import PackageNotFoundError, version

    from mcp_types import Implementation

    known = "0"
    with contextlib.suppress(PackageNotFoundError):
        known = version("surefoot")
    return Implementation(name="surefoot", version=known)
