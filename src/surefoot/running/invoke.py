"""Run a tool's function where it belongs, within its time, and know the truth when it is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from surefoot.errors import ToolError
from surefoot.tools.types import Context, Tool

GRACE_SEC = 5.0
"""Seconds a cancelled call may take to end by itself: longer would hold up Ctrl-C, shorter leave more unknown."""

DEFAULT_TIMEOUT_SEC = 60.0
"""For tools that name none: a tool without an end would hold the run for ever."""


class StillRunningError(Exception):
    """The call was cancelled and its thread did not end within the grace: its outcome is unknown."""


class TooSlowError(ToolError):
    """An async tool was stopped at the end of its time, somewhere in its work."""


async def capture(tool: Tool, ctx: Context, arguments: dict[str, Any]) -> Any:
    """The image of what the call touches, for tools that run outside the writer thread; None without an undo."""
    if tool.undo is None:
        return None
    if tool.where == "thread":
        return await asyncio.to_thread(tool.undo.capture, ctx, arguments)
    value = tool.undo.capture(ctx, arguments)
    return await value if inspect.isawaitable(value) else value


async def invoke(tool: Tool, ctx: Context, arguments: dict[str, Any]) -> Any:
    """The tool's result, for tools that run outside the writer thread.

    Raises:
        TooSlowError: it took longer than its time, and was stopped.
        StillRunningError: it was cancelled, and its thread goes on.
        asyncio.CancelledError: it was cancelled, and has ended.
    """
    seconds = DEFAULT_TIMEOUT_SEC if tool.timeout is None else tool.timeout
    if tool.where == "loop":
        return await _on_loop(tool, lambda: tool.invoke(ctx, arguments), seconds)
    return await _in_thread(tool, lambda: tool.invoke(ctx, arguments), seconds)


async def _on_loop(tool: Tool, start: Callable[[], Awaitable[Any]], seconds: float) -> Any:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await start()
    except TimeoutError as error:
        if not limit.expired():  # the tool's own
            raise
        raise _too_slow(tool, seconds) from error


async def _in_thread(tool: Tool, start: Callable[[], Any], seconds: float) -> Any:
    work = asyncio.ensure_future(asyncio.to_thread(start))
    try:
        done, _ = await asyncio.wait({work}, timeout=seconds)
    except asyncio.CancelledError:
        return await _wait_out(work)
    if not done:
        work.add_done_callback(_forget)
        raise StillRunningError(f"{tool.name} did not end within {seconds:g} s")
    return work.result()


async def _wait_out(work: asyncio.Future[Any]) -> Any:
    """A thread cannot be stopped: wait for it, so that what it did is known. A second cancellation ends the waiting."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait({work}, timeout=GRACE_SEC)
    if not work.done():
        work.add_done_callback(_forget)
        raise StillRunningError
    return work.result()


def _forget(work: asyncio.Future[Any]) -> None:
    """Nobody waits any more; do not let the event loop complain about an error nobody reads."""
    if not work.cancelled():
        work.exception()


def _too_slow(tool: Tool, seconds: float) -> TooSlowError:
    return TooSlowError(f"{tool.name} took longer than {seconds:g} s.", "Try again later.", seconds=seconds)
