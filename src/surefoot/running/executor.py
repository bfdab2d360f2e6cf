"""The one path of every tool call, whoever asks for it.

resolve the name -> coerce and validate the arguments -> merge equal calls -> policy -> reserve budget
-> journal the intent with the before-image -> call -> journal the result with the after-image -> events
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection
from surefoot.tools.arguments import prepare

from surefoot import redaction
from surefoot.errors import StorageError, SurefootError, ToolError
from surefoot.events import EventType
from surefoot.journal.types import Body, Call, CallStatus, EventList, Finished
from surefoot.running import invoke, policy
from surefoot.running.session import Session
from surefoot.running.takeup import may_start_again
from surefoot.tools.types import Context, Effect, Tool

T = TypeVar("T")

SETTLED = frozenset({CallStatus.DONE, CallStatus.FAILED, CallStatus.REFUSED, CallStatus.DECLINED})


@dataclass(frozen=True, slots=True)
class CallRequest:
    """What is to be called.

    `key` is the place in the run, the same again on resume. Equal writes of one `scope` (a plan, or one message of a
    model) are done once. `arguments` are as they came: they are coerced and validated here.
    """

    key: str
    tool: str
    arguments: Any
    step: int = 0
    scope: str = "plan"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call."""

    call: Call

    @property
    def ok(self) -> bool:
        """It was done."""
        return self.call.status is CallStatus.DONE

    @property
    def waiting(self) -> bool:
        """A person must agree first."""
        return self.call.status is CallStatus.WAITING

    def as_data(self) -> dict[str, Any]:
        """What a model is told: `{"success": true, "result": ...}` or `{"success": false, "message": ...}`."""
        if self.ok:
            return {"success": True, "result": self.call.result}
        error = self.call.error or {"message": f"{self.call.tool}: {self.call.status}"}
        return {
            "success": False,
            "message": f"{error['message']} {error.get('next_move', '')}".strip(),
            **({"code": error["code"]} if "code" in error else {}),
        }


class Executor:
    """Executes the calls of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._reads: dict[str, Call] = {}
        self._writes: dict[tuple[str, str], asyncio.Future[Call]] = {}

    async def call(self, request: CallRequest) -> Outcome:
        """Take one call the whole way. A failure is an outcome, never an exception.

        Raises:
            StorageError: the journal cannot be written; nothing was called without its intent written first.
            asyncio.CancelledError: after the true outcome was journaled.
        """
        return await self.session.steps.run(
            request.key, lambda: self._recall(request), lambda: self._perform(request)
        )

    async def _recall(self, request: CallRequest) -> Outcome | None:
        known = self.session.known_calls.get(request.key)
        if known is None or known.status not in SETTLED:
            return None
        self._remember(known, request.scope)
        return Outcome(known)

    async def _perform(self, request: CallRequest) -> Outcome:
        known = self.session.known_calls.get(request.key)
        try:
            tool = self.session.catalogue.resolve(request.tool)
            arguments, notices = prepare(tool, request.arguments)
        except SurefootError as error:
            return await self._refuse(self._new_call(request, None, request.arguments), error)
        if notices:
            await self.session.tell(*[(EventType.NOTICE, {"text": text}) for text in notices])
        call = self._new_call(request, tool, arguments)
        if known is not None:
            return await self._take_up(request, tool, known, call)
        merged = await self._merge(request, tool, call)
        return merged or await self._decide(request, tool, call)

    # --- calls that an earlier part of the run left behind ---------------------------------------------------

    async def _take_up(self, request: CallRequest, tool: Tool, known: Call, call: Call) -> Outcome:
        call = call.with_(ordinal=known.ordinal, id=known.id)
        same = (known.tool, known.arguments) == (call.tool, call.arguments)
        if known.status is CallStatus.WAITING and same:
            return Outcome(known)
        if known.status is CallStatus.APPROVED and same:
            return await self._start(request, tool, call)
        if known.status in {CallStatus.WAITING, CallStatus.APPROVED}:
            return await self._decide(request, tool, call)
        if not await may_start_again(self.session, tool, known):
            return Outcome(await self._leave_unknown(known))
        return await self._start(request, tool, call)

    async def _leave_unknown(self, known: Call) -> Call:
        if known.status is CallStatus.UNKNOWN:
            return known
        call = known.with_(status=CallStatus.UNKNOWN, error=unknown_outcome(known.tool).to_dict())
        events: EventList = [(EventType.CALL_UNKNOWN, {"call": call.id, "tool": call.tool})]
        return await self._write(call, events)

    # --- equal calls -----------------------------------------------------------------------------------------

    async def _merge(self, request: CallRequest, tool: Tool, call: Call) -> Outcome | None:
        """An equal read with no write since, or an equal write of the same plan or message, is not made again."""
        same = _same(tool, call.arguments)
        if tool.effect is Effect.READ:
            earlier = self._reads.get(same)
        else:
            pending = self._writes.get((request.scope, same))
            earlier = await asyncio.shield(pending) if pending else None
        if earlier is None or earlier.status is not CallStatus.DONE:
            return None
        call = call.with_(status=CallStatus.DONE, result=earlier.result, undo_version=0)
        events: EventList = [(EventType.CALL_DONE, _done(call, merged_into=earlier.ordinal))]
        if tool.effect is not Effect.READ:
            text = f"{tool.name} was asked for twice with the same arguments; it was done once."
            events = [*events, (EventType.NOTICE, {"text": text})]
        return Outcome(await self._write(call, events))

    async def _write(self, call: Call, events: EventList) -> Call:
        """Write a call that does not start now; one taken up again is already there."""
        journal, fence = self.session.journal, self.session.run.fence
        call = await (
            journal.set_call(call, events) if call.ordinal else journal.add_call(call, events, fence=fence)
        )
        self.session.told(events)
        return call

    def _remember(self, call: Call, scope: str) -> None:
        if call.status is not CallStatus.DONE:
            return
        same = f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}"
        if call.effect is Effect.READ:
            self._reads[same] = call
            return
        self._reads.clear()
        settled: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        settled.set_result(call)
        self._writes[scope, same] = settled

    # --- policy and budget -----------------------------------------------------------------------------------

    async def _decide(self, request: CallRequest, tool: Tool, call: Call) -> Outcome:
        decision = policy.decide(tool, self.session.policy)
        if decision == "deny":
            return await self._refuse(call, policy.denied(tool))
        if decision == "confirm":
            return await self._wait(call)
        return await self._start(request, tool, call)

    async def _wait(self, call: Call) -> Outcome:
        call = call.with_(status=CallStatus.WAITING)
        events: EventList = [(EventType.APPROVAL_NEEDED, _start_of(call))]
        return Outcome(await self._write(call, events))

    async def _refuse(self, call: Call, error: SurefootError) -> Outcome:
        call = call.with_(status=CallStatus.REFUSED, error=error.to_dict())
        events: EventList = [(EventType.CALL_REFUSED, {**_start_of(call), "error": call.error})]
        return Outcome(await self._write(call, events))

    # --- intent, call, result --------------------------------------------------------------------------------

    async def _start(self, request: CallRequest, tool: Tool, call: Call) -> Outcome:
        try:
            self.session.budget.reserve_call(tool)
        except SurefootError as error:
            return await self._refuse(call, error)
        if tool.effect is Effect.READ:
            call = await self._run(tool, call)
            self._remember(call, request.scope)
            return Outcome(call)
        self._reads.clear()
        pending: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        self._writes[request.scope, _same(tool, call.arguments)] = pending
        try:
            call = await self._run(tool, call)
        finally:
            self._reads.clear()
            if not pending.done():
                pending.set_result(call)
        return Outcome(call)

    async def _run(self, tool: Tool, call: Call) -> Call:
        ctx = self.session.tool_context(call.key)
        if tool.where == "writer":
            return await self._run_on_writer(tool, ctx, call)
        try:
            before = await invoke.capture(tool, ctx, call.arguments)
        except SurefootError as error:
            return (await self._refuse(call, error)).call
        call = await self._intend(tool, call, _always(before))
        return await self._run_outside(tool, ctx, call)

    async def _intend(self, tool: Tool, call: Call, before: Body[Any]) -> Call:
        call = call.with_(started_at=datetime.now(UTC))
        events: EventList = [(EventType.CALL_INTENDED, _start_of(call))]
        call = await self.session.journal.intend(
            call,
            before if tool.undo else None,
            events,
            fence=self.session.run.fence,
            durable=tool.effect is Effect.EXTERNAL,
        )
        self.session.told(events)
        return call

    async def _run_on_writer(self, tool: Tool, ctx: Context, call: Call) -> Call:
        """A kit's body, its result and its images commit together."""
        undo = tool.undo

        def image(tx: Connection | None) -> Any:  # noqa: ANN401 - JSON
            return undo.capture(replace(ctx, tx=tx), call.arguments) if undo else None

        def body(tx: Connection | None) -> Finished:
            before = image(tx)
            result = tool.invoke(replace(ctx, tx=tx), call.arguments)
            return self._finished(tool, call.with_(before=before), result, image(tx))

        try:
            call = await self._intend(tool, call, image)
        except ToolError as error:
            return (await self._refuse(call, error)).call
        try:
            return await self._commit(call, body)
        except (asyncio.CancelledError, StorageError):
            raise
        except Exception as error:  # noqa: BLE001 - a tool's failure is data, whatever it raises
            return await self._failed(tool, call, error)

    async def _commit(self, call: Call, body: Body[Finished]) -> Call:
        """A transaction goes to its end even when the run is cancelled meanwhile; what is written next waits for it."""
        call = await self.session.journal.finish(call, body, fence=self.session.run.fence)
        self.session.told(_one_event())
        return call

    async def _run_outside(self, tool: Tool, ctx: Context, call: Call) -> Call:
        call = await self._outside(tool, ctx, call)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # what happened stands in the journal now
        return call

    async def _outside(self, tool: Tool, ctx: Context, call: Call) -> Call:
        try:
            result = await invoke.invoke(tool, ctx, call.arguments)
            after = await invoke.capture(tool, ctx, call.arguments)
            finished = self._finished(tool, call, result, after)
        except asyncio.CancelledError:
            await self._interrupted(tool, call)
            raise
        except invoke.StillRunningError:
            return await self._unknown(call)
        except Exception as error:  # noqa: BLE001 - a tool's failure is data, whatever it raises
            return await self._failed(tool, call, error)
        return await self._commit(call, _always(finished))

    def _finished(self, tool: Tool, call: Call, result: Any, after: Any) -> Finished:  # noqa: ANN401
        call = call.with_(
            status=CallStatus.DONE, result=as_json(result), after=after, finished_at=datetime.now(UTC)
        )
        if tool.undo and _holds_secret(call.before, after):
            # An image is set back as it was, so it cannot be masked; and a secret is not kept in clear.
            call = call.with_(before=None, after=None, undo_version=0)
        return Finished(call, [(EventType.CALL_DONE, _done(call))])

    async def _failed(self, tool: Tool, call: Call, error: Exception) -> Call:
        told = error if isinstance(error, SurefootError) else ToolError(f"{tool.name} failed: {error!r}.")
        call = call.with_(status=CallStatus.FAILED, error=told.to_dict(), finished_at=datetime.now(UTC))
        if tool.undo and tool.where != "writer":
            call = await self._maybe_half_done(tool, call)
        data = {"call": call.id, "tool": call.tool, "error": call.error}
        return await self._end(call, (EventType.CALL_FAILED, data))

    async def _maybe_half_done(self, tool: Tool, call: Call) -> Call:
        """A write outside the database that failed may have changed something: keep the image, so undo can see it."""
        after = await invoke.capture(tool, self.session.tool_context(call.key), call.arguments)
        return call if after == call.before else call.with_(after=after, status=CallStatus.UNKNOWN)

    async def _interrupted(self, tool: Tool, call: Call) -> None:
        if await may_start_again(self.session, tool, call):
            data = {"call": call.id, "tool": call.tool}
            ended = call.with_(status=CallStatus.INTERRUPTED, finished_at=datetime.now(UTC))
            await self._end(ended, (EventType.CALL_INTERRUPTED, data))
        else:
            await self._unknown(call)

    async def _unknown(self, call: Call) -> Call:
        error = unknown_outcome(call.tool).to_dict()
        call = call.with_(status=CallStatus.UNKNOWN, error=error, finished_at=datetime.now(UTC))
        return await self._end(call, (EventType.CALL_UNKNOWN, {"call": call.id, "tool": call.tool}))

    async def _end(self, call: Call, event: tuple[EventType, dict[str, Any]]) -> Call:
        return await self._commit(call, _always(Finished(call, [event])))

    def _new_call(self, request: CallRequest, tool: Tool | None, arguments: Any) -> Call:  # noqa: ANN401
        run = self.session.run
        return Call(
            run=run.id,
            key=request.key,
            ordinal=0,
            id=self.session.tool_context(request.key).new_id(),
            tool=tool.name if tool else request.tool,
            arguments=arguments if isinstance(arguments, dict) else {"": as_json(arguments)},
            effect=tool.effect if tool else Effect.EXTERNAL,
            actor=run.actor,
            step=request.step,
            undo_version=tool.undo.version if tool and tool.undo else 0,
        )


def unknown_outcome(tool: str) -> ToolError:
    """What is said of a call that may or may not have had its effect."""
    return ToolError(
        f"Whether {tool} took effect is not known: it was interrupted while it ran.",
        "Look at what it should have changed; it is not repeated by itself.",
    )


def as_json(value: Any) -> Any:  # noqa: ANN401 - anything in, JSON out
    """A tool's result as JSON: what it is not able to say in JSON is said as text."""
    if value is None or type(value) in {str, int, bool}:
        return value
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        from pydantic_core import to_json

        return json.loads(to_json(value, fallback=str, inf_nan_mode="strings"))


def _always(value: T) -> Callable[[Connection | None], T]:
    """A body that needs no transaction."""

    def body(tx: Connection | None) -> T:
        del tx
        return value

    return body


def _same(tool: Tool, arguments: dict[str, Any]) -> str:
    return f"{tool.name} {json.dumps(arguments, sort_keys=True)}"


def _start_of(call: Call) -> dict[str, Any]:
    return {
        "call": call.id,
        "tool": call.tool,
        "step": call.step,
        "arguments": call.arguments,
        "effect": str(call.effect),
    }


def _done(call: Call, merged_into: int | None = None) -> dict[str, Any]:
    took = 0.0
    if call.started_at and call.finished_at:
        took = (call.finished_at - call.started_at).total_seconds()
    data = {
        "call": call.id,
        "ordinal": call.ordinal,
        "step": call.step,
        "tool": call.tool,
        "result": call.result,
        "ms": round(took * 1000, 1),
        "undoable": call.undoable,
    }
    return data if merged_into is None else {**data, "merged_into": merged_into}


def _one_event() -> EventList:
    return [(EventType.NOTICE, {})]


def _holds_secret(*images: Any) -> bool:  # noqa: ANN401
    return any(redaction.redact_json(image) != image for image in images)
