"""The one path of every tool call, whoever asks for it.

resolve the name -> coerce and validate the arguments -> merge equal calls -> policy -> reserve budget
-> journal the intent with the before-image -> call -> journal the result with the after-image -> events
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from sqlalchemy import Connection

from surefoot.errors import OutcomeUnknownError, SurefootError
from surefoot.events import EventType
from surefoot.journal.types import Body, Call, CallStatus, EventList, Finished
from surefoot.running import invoke, policy, records
from surefoot.running.equal import EqualCalls
from surefoot.running.session import Session
from surefoot.running.takeup import may_start_again
from surefoot.tools.arguments import prepare
from surefoot.tools.types import Context, Effect, Tool, new_id

ONE_EVENT: EventList = [(EventType.NOTICE, {})]
"""For counting an event that is told elsewhere."""

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


class _Noted:
    """What a tool raises inside a transaction is told apart from what the journal raises around it."""

    __slots__ = ("raised",)

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.raised = error


class Executor:
    """Executes the calls of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._equal = EqualCalls()

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
        self._equal.recall(known, request.scope)
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
        merged = await self._merge(request, call)
        return merged or await self._decide(request, tool, call)

    # --- calls that an earlier part of the run left behind ---------------------------------------------------

    async def _take_up(self, request: CallRequest, tool: Tool, known: Call, call: Call) -> Outcome:
        call = call.with_(ordinal=known.ordinal, id=known.id)
        same = (known.tool, known.arguments) == (call.tool, call.arguments)
        if known.status is CallStatus.WAITING and same:
            return Outcome(known)
        if known.status in {CallStatus.WAITING, CallStatus.APPROVED} and not same:
            return await self._decide(request, tool, call)
        if known.status is not CallStatus.APPROVED and not await may_start_again(self.session, tool, known):
            return Outcome(await self._leave_unknown(known))
        if (
            policy.decide(tool, self.session.policy) == "deny"
        ):  # said since; it wins over an earlier agreement
            return await self._refuse(call, policy.denied(tool))
        return await self._start(request, tool, call, counted=known.started_at is not None)

    async def _leave_unknown(self, known: Call) -> Call:
        if known.status is CallStatus.UNKNOWN:
            return known
        call = known.with_(status=CallStatus.UNKNOWN, error=records.unknown_outcome(known.tool).to_dict())
        events: EventList = [(EventType.CALL_UNKNOWN, {"call": call.id, "tool": call.tool})]
        return await self._write(call, events)

    # --- equal calls -----------------------------------------------------------------------------------------

    async def _merge(self, request: CallRequest, call: Call) -> Outcome | None:
        earlier = await self._equal.earlier(call, request.scope)
        if earlier is None:
            return None
        call = call.with_(status=CallStatus.DONE, result=earlier.result, undo_version=0)
        events: EventList = [(EventType.CALL_DONE, records.done_data(call, merged_into=earlier.ordinal))]
        if call.effect is not Effect.READ:
            text = f"{call.tool} was asked for twice with the same arguments; it was done once."
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
        events: EventList = [(EventType.APPROVAL_NEEDED, records.start_data(call))]
        return Outcome(await self._write(call, events))

    async def _refuse(self, call: Call, error: SurefootError) -> Outcome:
        call = call.with_(status=CallStatus.REFUSED, error=error.to_dict())
        events: EventList = [(EventType.CALL_REFUSED, {**records.start_data(call), "error": call.error})]
        return Outcome(await self._write(call, events))

    # --- intent, call, result --------------------------------------------------------------------------------

    async def _start(self, request: CallRequest, tool: Tool, call: Call, *, counted: bool = False) -> Outcome:
        """`counted`: it was begun before and its place in the budget is taken already."""
        try:
            if not counted:
                self.session.budget.reserve_call(tool)
        except SurefootError as error:
            return await self._refuse(call, error)
        pending = self._equal.begin(call, request.scope)
        try:
            call = await self._run(tool, call)
        finally:
            self._equal.end(pending, call)
        return Outcome(call)

    async def _run(self, tool: Tool, call: Call) -> Call:
        ctx = self.session.tool_context(call.key)
        if tool.where == "writer":
            return await self._run_on_writer(tool, ctx, call)
        try:
            before = await invoke.capture(tool, ctx, call.arguments)
        except Exception as error:  # noqa: BLE001 - a tool's failure is data, whatever it raises
            return (await self._refuse(call, records.as_tool_error(tool, error))).call
        call = await self._intend(tool, call, records.always(before))
        return await self._run_outside(tool, ctx, call)

    async def _intend(self, tool: Tool, call: Call, before: Body[Any]) -> Call:
        events = records.begun(call)
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
        """A kit's body, its result and its images commit together, right behind the intent."""
        undo = tool.undo
        intended: list[Call] = []
        noted = _Noted()

        def image(tx: Connection | None) -> Any:
            with noted:
                return undo.capture(ctx.within(tx), call.arguments) if undo else None

        def body(tx: Connection | None, started: Call) -> Finished:
            intended.append(started)
            inside = ctx.within(tx)
            with noted:
                before = undo.capture(inside, call.arguments) if undo else None
                result = tool.invoke(inside, call.arguments)
                after = undo.capture(inside, call.arguments) if undo else None
                return self._finished(tool, started, before, result, after)

        events = records.begun(call)
        try:
            call = await self.session.journal.perform(
                call,
                image if undo else None,
                events,
                body,
                fence=self.session.run.fence,
                durable=tool.effect is Effect.EXTERNAL,
            )
        except Exception as error:
            if error is not noted.raised:  # the journal's own: a failing disk, a lease that is over
                raise
            if not intended:  # what it is about could not be looked at, so it never started
                return (await self._refuse(call, records.as_tool_error(tool, error))).call
            self.session.told(events)
            return await self._failed(tool, intended[0], error)
        self.session.told([*events, *events])
        return call

    async def _commit(self, call: Call, body: Body[Finished]) -> Call:
        """A transaction goes to its end even when the run is cancelled meanwhile; what is written next waits for it."""
        call = await self.session.journal.finish(call, body, fence=self.session.run.fence)
        self.session.told(ONE_EVENT)
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
            finished = self._finished(tool, call, call.before, result, after)
        except asyncio.CancelledError:
            await self._interrupted(tool, call)
            raise
        except invoke.StillRunningError:
            return await self._unknown(call)
        except (invoke.TooSlowError, OutcomeUnknownError) as error:
            stopped_outside = tool.effect is Effect.EXTERNAL  # it may have been sent before its answer came
            return await (self._unknown(call) if stopped_outside else self._failed(tool, call, error))
        except Exception as error:  # noqa: BLE001 - a tool's failure is data, whatever it raises
            return await self._failed(tool, call, error)
        return await self._commit(call, records.always(finished))

    def _finished(self, tool: Tool, call: Call, before: Any, result: Any, after: Any) -> Finished:
        version = call.undo_version
        if tool.undo and records.holds_secret(before, after):
            # An image is set back as it was, so it cannot be masked; and a secret is not kept in clear.
            before, after, version = None, None, 0
        call = call.with_(
            status=CallStatus.DONE,
            before=before,
            result=records.as_json(result),
            after=after,
            undo_version=version,
            finished_at=datetime.now(UTC),
        )
        return Finished(call, [(EventType.CALL_DONE, records.done_data(call))])

    async def _failed(self, tool: Tool, call: Call, error: Exception) -> Call:
        told = records.as_tool_error(tool, error).to_dict()
        call = call.with_(status=CallStatus.FAILED, error=told, finished_at=datetime.now(UTC))
        if tool.undo and tool.where != "writer":
            call = await self._maybe_half_done(tool, call)
        data = {"call": call.id, "tool": call.tool, "step": call.step, "error": call.error}
        return await self._end(call, (EventType.CALL_FAILED, data))

    async def _maybe_half_done(self, tool: Tool, call: Call) -> Call:
        """A write outside the database that failed may have changed something: keep the image, so undo can see it."""
        try:
            after = await invoke.capture(tool, self.session.tool_context(call.key), call.arguments)
        except Exception:  # noqa: BLE001 - it cannot be looked at, so nothing is known
            return call.with_(status=CallStatus.UNKNOWN)
        return call if after == call.before else call.with_(after=after, status=CallStatus.UNKNOWN)

    async def _interrupted(self, tool: Tool, call: Call) -> None:
        if await may_start_again(self.session, tool, call):
            data = {"call": call.id, "tool": call.tool}
            ended = call.with_(status=CallStatus.INTERRUPTED, finished_at=datetime.now(UTC))
            await self._end(ended, (EventType.CALL_INTERRUPTED, data))
        else:
            await self._unknown(call)

    async def _unknown(self, call: Call) -> Call:
        error = records.unknown_outcome(call.tool).to_dict()
        call = call.with_(status=CallStatus.UNKNOWN, error=error, finished_at=datetime.now(UTC))
        return await self._end(call, (EventType.CALL_UNKNOWN, {"call": call.id, "tool": call.tool}))

    async def _end(self, call: Call, event: tuple[EventType, dict[str, Any]]) -> Call:
        return await self._commit(call, records.always(Finished(call, [event])))

    def _new_call(self, request: CallRequest, tool: Tool | None, arguments: Any) -> Call:
        run = self.session.run
        return Call(
            run=run.id,
            key=request.key,
            ordinal=0,
            id=new_id(run.id, request.key),
            tool=tool.name if tool else request.tool,
            arguments=arguments if isinstance(arguments, dict) else {"": records.as_json(arguments)},
            effect=tool.effect if tool else Effect.EXTERNAL,
            actor=run.actor,
            step=request.step,
            undo_version=tool.undo.version if tool and tool.undo else 0,
        )
