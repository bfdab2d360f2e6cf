"""A server as a program of its own, spoken to over its standard streams.

Not the SDK's own transport: that one buffers a line without end, tells nobody the process, and leaves alone what a
server started and left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.tools.mcp.lines import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

LEAVE_SEC = 2.0
"""Seconds a server has to leave by itself once its input is closed, and again after SIGTERM (the protocol's order)."""

LOOK_SEC = 0.25
"""How often the process is looked at: one whose children hold its output open dies without the output's end."""

KEPT_TROUBLE = 2_000
"""Characters kept of its standard error: the end of a traceback."""

_log = logging.getLogger("surefoot.mcp")


class StdioLine:
    """A started program.

    Args:
        command: the program and its arguments.
        env: its whole environment.
        folder: where it starts; made where it is missing, for its owner only.
    """

    keeps_open = True

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self._command = list(command)
        self._env = dict(env)
        self._folder = folder
        self._process: Process | None = None
        self._said = ""
        self._ended = False

    def alive(self) -> bool:
        """The program runs, and its output is open."""
        return not self._ended and self._process is not None and _runs(self._process)

    def trouble(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._said.strip()

    @asynccontextmanager
    async def opened(self, ended: Callable[[], None]) -> AsyncIterator[TransportStreams]:
        """Start it; at the end it and everything that it started is gone.

        Raises:
            OSError: it cannot be started.
        """
        import anyio

        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        process = self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._env,
            cwd=self._folder,
            start_new_session=True,  # a group of its own: no Ctrl-C of ours reaches it, and it can be ended whole
            limit=MAX_MESSAGE_BYTES,
        )
        to_session, read = anyio.create_memory_object_stream[Any](0)
        write, from_session = anyio.create_memory_object_stream[Any](0)

        def over() -> None:
            if not self._ended:
                self._ended = True
                to_session.close()
                ended()

        tasks = [
            asyncio.ensure_future(work)
            for work in (
                self._until_over(_receive(process, to_session), over),
                self._until_over(_send(process, from_session), over),
                self._until_over(_exited(process), over),
                self._listen(process),
            )
        ]
        try:
            yield read, write
        finally:
            self._ended = True
            try:
                await _finished(asyncio.ensure_future(_stop(process)))
            finally:
                for task in tasks:
                    task.cancel()
                for stream in (to_session, read, write, from_session):
                    stream.close()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_over(self, work: Coroutine[Any, Any, None], over: Callable[[], None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever breaks a pipe, the server is gone for us
            _log.debug("The line to an MCP server broke: %r", error)
        over()

    async def _listen(self, process: Process) -> None:
        """Its standard error goes neither to our output nor to the terminal: its end is kept for messages."""
        assert process.stderr is not None  # noqa: S101 - opened as a pipe above
        while piece := await process.stderr.read(65_536):
            self._said = (self._said + piece.decode("utf-8", "replace"))[-KEPT_TROUBLE:]


async def _receive(process: Process, to_session: MemoryObjectSendStream[Any]) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None  # noqa: S101 - opened as a pipe above
    while line := await process.stdout.readline():  # ValueError: a line over the limit
        try:
            message = jsonrpc_message_adapter.validate_json(line.strip(), by_name=False)
        except ValueError:
            _log.debug("An MCP server wrote a line that is no message.")  # chatter on the wrong stream
            continue
        await to_session.send(SessionMessage(message))


async def _send(process: Process, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None  # noqa: S101 - opened as a pipe above
    async for message in from_session:
        text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        process.stdin.write(text.encode() + b"\n")
        await process.stdin.drain()


async def _exited(process: Process) -> None:
    while _runs(process):  # noqa: ASYNC110 - a death sets no event before the output has ended too
        await asyncio.sleep(LOOK_SEC)
    await asyncio.sleep(LOOK_SEC)  # what it wrote last is still read


def _runs(process: Process) -> bool:
    """Asked of the system: the event loop hears of a death only later."""
    if process.returncode is not None:
        return False
    if not hasattr(os, "waitid"):
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # it is over, and somebody has taken note of it
        return False


async def _finished(work: asyncio.Future[None]) -> None:
    """Wait for it to its end, even where the waiting is cancelled: else a program would be left behind."""
    cancelled = False
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled = True
    work.result()
    if cancelled:
        raise asyncio.CancelledError


async def _stop(process: Process) -> None:
    """Close its input, wait; then end the group, politely and then not."""
    assert process.stdin is not None  # noqa: S101 - opened as a pipe above
    process.stdin.close()
    if await _gone(lambda: not _runs(process)) and not _group_lives(process):
        return await _let_go(process)
    for how in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        _signal(process, how)
        if await _gone(lambda: not _group_lives(process)):
            break
    return await _let_go(process)


async def _let_go(process: Process) -> None:
    """Reap it and close the pipes that a child outside the group may still hold."""
    transport = process._transport  # type: ignore[attr-defined]  # noqa: SLF001 - nothing public closes the pipes
    transport.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_SEC):
            await process.wait()


async def _gone(over: Callable[[], bool]) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_SEC):
            while not over():  # noqa: ASYNC110 - nobody tells when the last of a group is gone
                await asyncio.sleep(0.01)
            return True
    return False


def _group_lives(process: Process) -> bool:
    if not hasattr(os, "killpg"):
        return _runs(process)
    if _runs(process):
        return True
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal(process: Process, how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, how)
        else:
            process.terminate()
