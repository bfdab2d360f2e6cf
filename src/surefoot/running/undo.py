"""Take the calls of a run back, newest first, by comparing images.

For each call: the state equals the after-image -> take it back; it equals the before-image -> already done; anything
else -> a conflict, left alone unless forced. An undo is a run of its own through the same executor, so it is journaled,
can be interrupted and run again, and can be undone (redo).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection

from surefoot.errors import InverseMissingError, NotFoundError, StateError, SurefootError, ToolError
from surefoot.events import EventType
from surefoot.journal.types import ACTIVE, Call, CallStatus, Run
from surefoot.running import invoke
from surefoot.running.executor import CallRequest, Executor, Outcome
from surefoot.running.session import Session
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Context, Effect, Tool, Undo

PREFIX = "undo:"


class Verdict(StrEnum):
    """What an undo would do, or did, with a call."""

    TAKE_BACK = "take_back"
    ALREADY = "already"
    CONFLICT = "conflict"
    IMPOSSIBLE = "impossible"  # it had an effect that nothing takes back


@dataclass(frozen=True, slots=True)
class UndoItem:
    """One call of the run, and what becomes of it. `reason` is a sentence where it is not simply taken back."""

    call: Call
    verdict: Verdict
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The item as JSON."""
        return {
            "call": self.call.ordinal,
            "tool": self.call.tool,
            "arguments": self.call.arguments,
            "verdict": str(self.verdict),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo did, or in a preview would do. `run` is the undo's own run, None in a preview."""

    target: Run
    items: tuple[UndoItem, ...]
    run: Run | None = None

    @property
    def taken_back(self) -> int:
        """How many calls were taken back (in a preview: would be)."""
        return sum(item.verdict is Verdict.TAKE_BACK for item in self.items)

    @property
    def complete(self) -> bool:
        """Nothing is left that should have been taken back."""
        return all(item.verdict in {Verdict.TAKE_BACK, Verdict.ALREADY} for item in self.items)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "target": self.target.id,
            "run": self.run.id if self.run else None,
            "taken_back": self.taken_back,
            "complete": self.complete,
            "items": [item.to_dict() for item in self.items],
        }


def check_may_undo(target: Run) -> None:
    """A run that somebody works on is not undone under their feet."""
    if target.status in ACTIVE:
        raise StateError(
            f"Run {target.id} is {target.status}: it is being worked on.",
            f"Cancel it first: surefoot cancel {target.id[:8]}.",
            run=target.id,
            status=str(target.status),
        )


def calls_to_undo(calls: Sequence[Call], only: int | None = None) -> list[Call]:
    """The calls an undo has to look at, newest first; NotFoundError for a number that is no call of the run."""
    if only is not None and only not in {call.ordinal for call in calls}:
        numbers = ", ".join(str(call.ordinal) for call in calls) or "none"
        raise NotFoundError(f"The run has no call {only}.", f"Its calls are: {numbers}.", call=only)
    chosen = [call for call in calls if only is None or call.ordinal == only]
    return sorted((call for call in chosen if _had_effect(call)), key=_when, reverse=True)


def _had_effect(call: Call) -> bool:
    changed = call.status in {CallStatus.DONE, CallStatus.UNKNOWN, CallStatus.INTERRUPTED}
    return changed and call.effect is not Effect.READ and call.started_at is not None


def _when(call: Call) -> tuple[str, int]:
    """By the end, not the start: of two that ran side by side, what was written last is taken back first."""
    ended = call.finished_at or call.started_at
    return (ended.isoformat() if ended else "", call.ordinal)


class Undoer:
    """Takes calls of one run back, in the session of the undo run (or of none, for a preview)."""

    def __init__(self, session: Session, *, force: bool = False) -> None:
        self.session = session
        self.force = force

    async def preview(self, calls: Sequence[Call]) -> tuple[UndoItem, ...]:
        """What would become of each call, newest first, with the older judged as after the newer's undo."""
        inside: list[tuple[Tool, Call]] = []
        items: dict[str, UndoItem] = {}
        assumed: list[tuple[Any, Any]] = []
        for call in calls:
            try:
                tool = base_tool(self.session.catalogue, call)
                if tool.where == "writer":
                    inside.append((tool, call))
                else:
                    items[call.key] = await self._judge_outside(tool, call, assumed)
            except Exception as error:  # noqa: BLE001 - a tool that cannot look is said, and the others go on
                items[call.key] = UndoItem(call, Verdict.IMPOSSIBLE, _reason(call, error))
        items |= await self._judge_inside(inside)
        return tuple(items[call.key] for call in calls)

    async def run(self, calls: Sequence[Call]) -> tuple[UndoItem, ...]:
        """Take the calls back in this order; each through the executor, under a key of its own."""
        executor = Executor(self.session)
        return tuple([await self._take_back(executor, call) for call in calls])

    # --- judging ---------------------------------------------------------------------------------------------

    async def _judge_inside(self, inside: list[tuple[Tool, Call]]) -> dict[str, UndoItem]:
        """Really take them back, in a transaction that is rolled back: exact, whatever they share."""
        items: dict[str, UndoItem] = {}

        def attempt(tx: Connection | None) -> None:
            for tool, call in inside:
                try:
                    items[call.key] = self._attempt(tool, call, tx)
                except Exception as error:  # noqa: BLE001 - as above
                    items[call.key] = UndoItem(call, Verdict.IMPOSSIBLE, _reason(call, error))
            raise _NotReallyError

        if inside:
            with contextlib.suppress(_NotReallyError):
                await self.session.journal.transact(attempt)
        return items

    def _attempt(self, tool: Tool, call: Call, tx: Connection | None) -> UndoItem:
        _, ctx, arguments = self._at(call)
        undo = _undo_of(tool)
        ctx = replace(ctx, tx=tx)
        item = self._verdict(call, undo.capture(ctx, arguments))
        if item.verdict is Verdict.TAKE_BACK:
            undo.restore(ctx, arguments, call.before)
        return item

    async def _judge_outside(self, tool: Tool, call: Call, assumed: list[tuple[Any, Any]]) -> UndoItem:
        _, ctx, arguments = self._at(call)
        now = await invoke.capture(tool, ctx, arguments)
        for after, before in assumed:
            now = before if now == after else now
        item = self._verdict(call, now)
        if item.verdict is Verdict.TAKE_BACK:
            assumed.append((call.after, call.before))
        return item

    def _at(self, call: Call) -> tuple[str, Context, dict[str, Any]]:
        """The run, context and arguments that the images of this call belong to."""
        run, key, arguments = origin(call)
        return run, replace(self.session.tool_context(key), run=run, call=key), arguments

    def _verdict(self, call: Call, now: Any) -> UndoItem:
        if now == call.before:
            return UndoItem(call, Verdict.ALREADY, "It is as it was before.")
        if call.after is not None and now == call.after:
            return UndoItem(call, Verdict.TAKE_BACK)
        if call.undone_by:
            return UndoItem(call, Verdict.ALREADY, "It was taken back before.")
        if self.force:
            return UndoItem(call, Verdict.TAKE_BACK, "It was changed since; forced.")
        return UndoItem(call, Verdict.CONFLICT, "It was changed since, so it is left alone.")

    # --- taking back -----------------------------------------------------------------------------------------

    async def _take_back(self, executor: Executor, call: Call) -> UndoItem:
        try:
            base_tool(self.session.catalogue, call)
        except SurefootError as error:
            return await self._conflict(call, Verdict.IMPOSSIBLE, str(error))
        if call.undone_by:
            # The mark is written after the state: with it, whatever is there now is not this call's doing any more,
            # unless a redo died before it could take the mark away.
            (item,) = await self.preview([call])
            if item.verdict is Verdict.ALREADY:
                return item
        run, key, original = origin(call)
        arguments = {
            "run": run,
            "key": key,
            "arguments": original,
            "image": call.before,
            "expected": call.after,
            "force": self.force,
        }
        request = CallRequest(
            f"undo.{call.run}.{call.ordinal}", PREFIX + _bare(call.tool), arguments, step=call.ordinal
        )
        return await self._settle(call, await executor.call(request))

    async def _settle(self, call: Call, outcome: Outcome) -> UndoItem:
        if not outcome.ok:
            error = outcome.call.error or {}
            verdict = Verdict.CONFLICT if error.get("details", {}).get("conflict") else Verdict.IMPOSSIBLE
            return await self._conflict(call, verdict, str(error.get("message", "")))
        done = Verdict(outcome.call.result["verdict"])
        event = (EventType.CALL_UNDONE, {"call": call.id, "by": self.session.run.id})
        await self.session.journal.set_call(call.with_(undone_by=self.session.run.id), [event])
        await self._mark_original(call)
        return UndoItem(call, done, "It is as it was before." if done is Verdict.ALREADY else "")

    async def _mark_original(self, call: Call) -> None:
        """When an undo is taken back, the call that it took back stands again."""
        if not call.tool.startswith(PREFIX):
            return
        run, key, _ = origin(call)
        original = await self.session.journal.call(run, key)
        if original is not None:
            undone_by = "" if self.session.run.kind == "redo" else self.session.run.id
            await self.session.journal.set_call(original.with_(undone_by=undone_by))

    async def _conflict(self, call: Call, verdict: Verdict, reason: str) -> UndoItem:
        data = {"call": call.id, "tool": call.tool, "reason": reason}
        await self.session.tell((EventType.CONFLICT, data))
        return UndoItem(call, verdict, reason)


def undo_catalogue(catalogue: Catalogue) -> Catalogue:
    """The tools of an undo run: one `undo:<tool>` for each tool that can be taken back."""
    return Catalogue([*catalogue, *(_undo_tool(tool) for tool in catalogue if tool.undo is not None)])


def base_tool(catalogue: Catalogue, call: Call) -> Tool:
    """The tool whose undo takes this call back.

    Raises:
        ToolError: the call is of a kind that nothing takes back.
        InverseMissingError: the tool is gone, or its undo means something else now. Never guessed.
    """
    if call.undo_version == 0:
        raise ToolError(f"{call.tool} cannot be taken back: its effect is {call.effect}.")
    name = _bare(call.tool)
    tool = catalogue.get(name) if name in catalogue else None
    if tool is None or tool.undo is None:
        raise InverseMissingError(
            f"The tool {name} that made this call is not here any more.",
            "Connect it again, then undo.",
            tool=name,
        )
    if tool.undo.version != call.undo_version:
        raise InverseMissingError(
            f"{name} was called under version {call.undo_version} of its undo; it has version {tool.undo.version} now.",
            "Use the version of the tool that made the call.",
            tool=name,
        )
    return tool


def origin(call: Call) -> tuple[str, str, dict[str, Any]]:
    """Run, key and arguments of the call that the images belong to: an undo's call names the one it took back."""
    if call.tool.startswith(PREFIX):
        return call.arguments["run"], call.arguments["key"], call.arguments["arguments"]
    return call.run, call.key, call.arguments


def _bare(name: str) -> str:
    return name.removeprefix(PREFIX)


def _undo_of(tool: Tool) -> Undo:
    if tool.undo is None:
        raise InverseMissingError(f"{tool.name} has no undo.", tool=tool.name)
    return tool.undo


def _reason(call: Call, error: Exception) -> str:
    return str(error) if isinstance(error, SurefootError) else f"{_bare(call.tool)} failed: {error!r}."


class _NotReallyError(Exception):
    """Rolls a preview's transaction back."""


def _undo_tool(tool: Tool) -> Tool:
    undo = _undo_of(tool)

    def original(ctx: Context, arguments: dict[str, Any]) -> tuple[Context, dict[str, Any]]:
        return replace(ctx, run=arguments["run"], call=arguments["key"]), arguments["arguments"]

    def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
        return undo.capture(*original(ctx, arguments))

    def restore(ctx: Context, arguments: dict[str, Any], image: Any) -> Any:
        return undo.restore(*original(ctx, arguments), image)

    def take_back(ctx: Context, **arguments: Any) -> dict[str, Any]:
        """The comparison is made again here, where nothing can come between it and the writing."""
        if _differs(capture(ctx, arguments), arguments):
            restore(ctx, arguments, arguments["image"])
            return {"verdict": str(Verdict.TAKE_BACK)}
        return {"verdict": str(Verdict.ALREADY)}

    async def take_back_async(ctx: Context, **arguments: Any) -> dict[str, Any]:
        """The same for a tool that runs on the event loop."""
        if _differs(await _value(capture(ctx, arguments)), arguments):
            await _value(restore(ctx, arguments, arguments["image"]))
            return {"verdict": str(Verdict.TAKE_BACK)}
        return {"verdict": str(Verdict.ALREADY)}

    return Tool(
        name=PREFIX + tool.name,
        description=f"Take a call of {tool.name} back.",
        parameters={"type": "object", "properties": {}},
        effect=Effect.WRITE,
        fn=take_back_async if tool.where == "loop" else take_back,
        kit=tool.kit,
        undo=Undo(capture, restore, undo.version),
        where=tool.where,
        wants_context=True,
        timeout=tool.timeout,
    )


def _differs(now: Any, arguments: dict[str, Any]) -> bool:
    """False: it is as it was before. ToolError: it was changed since and nobody forces it."""
    if now == arguments["image"]:
        return False
    if now != arguments["expected"] and not arguments["force"]:
        raise ToolError("It was changed since, so it is left alone.", conflict=True)
    return True


async def _value(found: Any) -> Any:
    return await found if inspect.isawaitable(found) else found
