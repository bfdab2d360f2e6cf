"""A request in the command line: followed as it runs, asked about where a person must agree, summed up."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from surefoot.cli.failures import Interrupted, show
from surefoot.cli.live import Renderer, summary_lines
from surefoot.cli.sentences import in_order, value_words
from surefoot.cli.session import Cli, interruptible
from surefoot.cli.shown import folded, visible

if TYPE_CHECKING:
    from surefoot.assistant import Assistant, RunHandle, RunResult
    from surefoot.journal.types import Call

Answer = Literal["yes", "no", "later"]


class Asking:
    """Carries runs from their start to their end, with everything a person sees and is asked on the way."""

    def __init__(
        self, cli: Cli, assistant: Assistant, *, as_json: bool = False, print_json: bool = True
    ) -> None:
        self._cli = cli
        self._out = cli.out
        self._texts = cli.texts
        self._assistant = assistant
        self._as_json = as_json
        self._print_json = print_json
        self._renderer = Renderer(cli.out, assistant.catalogue, answer=not as_json)
        self._start = time.monotonic()

    async def ask(self, text: str) -> int:
        """Run a request; the exit code."""
        return await self.carry(self._assistant.ask(text))

    async def go_on(self, run: str) -> int:
        """Go on with a run that was approved or interrupted; the exit code."""
        return await self.carry(self._assistant.resume(run))

    async def carry(self, handle: RunHandle) -> int:
        """Follow a run that was started to its end, with everything a person is asked; the exit code."""
        result = await self._follow(handle)
        while result.waiting and self._out.can_ask() and not self._as_json:
            if not await self._decided(result):
                break
            result = await self._follow(self._assistant.resume(result.id))
        return await self._told(result)

    # --- following -------------------------------------------------------------------------------------------

    async def _follow(self, handle: RunHandle) -> RunResult:
        self._renderer.begin()
        try:
            result = await interruptible(self._to_its_end(handle))
        except Interrupted:
            await self._tell_stopped(handle)
            raise Interrupted(told=True) from None
        finally:
            self._renderer.stop()
        return result

    async def _to_its_end(self, handle: RunHandle) -> RunResult:
        try:
            async for event in handle:
                self._renderer.show(event)
            result = await handle
        except asyncio.CancelledError:
            self._renderer.stop()
            self._out.wait_for(self._texts("status.stopping"))
            await handle.cancel()
            raise
        self._renderer.finish(result)
        return result

    async def _tell_stopped(self, handle: RunHandle) -> None:
        """What a stopped run leaves behind, and the way back."""
        try:
            run = await handle.id()
        except asyncio.CancelledError:
            self._out.warn(f"  {self._texts('ask.stopped_unchanged')}")
            return
        journal = await self._assistant.journal()
        calls = await journal.calls(run)
        undoable = sum(call.undoable for call in calls)
        changed = any(call.started_at and call.effect != "read" for call in calls)
        words = self._texts("ask.stopped" if changed else "ask.stopped_unchanged")
        if undoable:
            words += " " + self._texts.count("summary.undo", undoable, run=await journal.short_id(run)) + "."
        self._out.warn(f"  {words}")

    # --- a person's agreement --------------------------------------------------------------------------------

    async def _decided(self, result: RunResult) -> bool:
        """Ask for each waiting call and write the answers down; False when the person leaves it for later."""
        from surefoot.assistant.assistant import PERSON
        from surefoot.running import lifecycle

        journal = await self._assistant.journal()
        for call in result.waiting:
            try:
                answer = self._answer(call)
            except KeyboardInterrupt:
                self._out.warn("")
                await self._told(result)
                raise Interrupted(told=True) from None
            if answer == "later":
                self._out.warn("")
                return False
            decide = lifecycle.approve if answer == "yes" else lifecycle.decline
            await decide(journal, result.run, call.id, PERSON)
        return True

    def _answer(self, call: Call) -> Answer:
        """Show the call, and read the answer; Enter alone means no, the end of the input that nobody decides now."""
        try:
            with _keyboard():  # from before the question is seen: an early Ctrl-C answers it, too
                self._show_call(call)
                given = input()
        except EOFError:
            return "later"
        except UnicodeDecodeError:
            return "no"
        return "yes" if given.strip().casefold() in self._texts("approve.yes_words").split() else "no"

    def _show_call(self, call: Call) -> None:
        """Exactly what would be done: the tool, its effect, every argument whole."""
        out = self._out
        out.warn("")
        out.warn([("  ", ""), (self._texts("approve.title", tool=visible(call.tool)), "bold")])
        out.warn(f"    {self._texts('approve.effect')}: {self._texts(f'effect_long.{call.effect}')}")
        self._show_arguments(call)
        out.wait_for("")
        out.err.write(f"  {self._texts('approve.question')} ")

    def _show_arguments(self, call: Call) -> None:
        for name, value in in_order(self._assistant.catalogue, call.tool, call.arguments).items():
            for line in argument_lines(visible(str(name)), value_words(value), self._out.err.width):
                self._out.warn(line)

    # --- the end ---------------------------------------------------------------------------------------------

    async def _told(self, result: RunResult) -> int:
        journal = await self._assistant.journal()
        short = await journal.short_id(result.id)
        if self._as_json and self._print_json:
            self._out.json({**result.to_dict(), "short": short})
        if result.error is not None and result.status == "failed":
            show(self._out, result.error.code, result.error.message, result.error.next_move)
        elif result.waiting:
            self._tell_waiting(result, short)
        elif result.run.stopped_by:
            self._out.warn(f"  {self._texts('ask.limit', limit=result.run.stopped_by, run=short)}")
        self._out.note("")
        for line in summary_lines(self._out, result, short, time.monotonic() - self._start):
            self._out.note(line)
        return result.exit_code

    def _tell_waiting(self, result: RunResult, short: str) -> None:
        self._out.warn("")
        for call in result.waiting:
            self._out.warn(f"  {self._texts('approve.waiting', tool=visible(call.tool))}")
            self._show_arguments(call)
        self._out.warn(f"  {self._texts('approve.later', run=short)}")


def argument_lines(name: str, value: str, width: int) -> list[str]:
    """An argument, whole, folded under itself where it is long."""
    before = f"    {name}: "
    if not width:
        return [before + value]
    lines = folded(value, max(width - len(before), 20))
    return [before + lines[0], *(" " * len(before) + line for line in lines[1:])]


@contextlib.contextmanager
def _keyboard() -> Iterator[None]:
    """While a person types, Ctrl-C is theirs: `input` ends with KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    _forget_what_was_typed()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _forget_what_was_typed() -> None:
    """Keys that were pressed before the question was seen are no answer to it."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError, AttributeError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
