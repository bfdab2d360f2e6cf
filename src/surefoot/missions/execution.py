"""One execution of a mission: a run like any other, on the mission's terms, and what it came to in the mission's row.

The journal is the record of what was done; an execution's row says which mission and occurrence it was for, and is
brought up to date from the journal. So it does not matter who takes a run up again, approves or cancels it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.assistant.brief import KIND, Brief
from surefoot.errors import MisuseError, NotFoundError, StateError, SurefootError
from surefoot.events import EventType
from surefoot.journal.lease import holder_lives
from surefoot.journal.owner import current_owner
from surefoot.journal.types import FINAL, Call, Journal, ModelCall, Run, RunStatus
from surefoot.missions import executions, store
from surefoot.missions.executions import Begun
from surefoot.missions.prompt import LAST, data_parts, system_prompt
from surefoot.missions.types import Agent, Execution, Mission, Phase
from surefoot.models.types import Usage
from surefoot.running.steps import JournalSteps, Steps
from surefoot.tools.types import Actor

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.assistant import Assistant, RunHandle

T = TypeVar("T")

SUREFOOT = Actor("agent", "surefoot")
"""Who writes what an execution came to."""

BY_HAND = "by hand "
"""Begins the occurrence key of an execution that a person started."""

ARGUMENT_CHARS = 200
"""Of one argument in an execution's row; the journal has it whole."""

_PHASES: Mapping[RunStatus, Phase] = {
    RunStatus.QUEUED: "queued",
    RunStatus.PLANNING: "plan",
    RunStatus.RUNNING: "work",
    RunStatus.DONE: "done",
}


@dataclass(frozen=True, slots=True)
class Started:
    """An execution in work. `handle` is None for an occurrence that was begun before: nothing was started."""

    execution: Execution
    handle: RunHandle | None


async def execute(
    assistant: Assistant,
    mission: Mission | str,
    *,
    occurrence: str = "",
    actor: Actor = SUREFOOT,
    steps: Steps | None = None,
) -> Execution:
    """Run a mission once, to its end or to a call that waits for a person.

    What it changes is taken back by `assistant.undo(execution.id)`; one that waits goes on by `assistant.approve`.

    Args:
        assistant: with its model, journal and tools.
        mission: the mission, or its full id.
        occurrence: key of the occurrence it is for; one that was begun before is not run again. Empty: by hand.
        actor: who starts it.
        steps: what its model and tool calls go through; None: the journal alone.

    Returns:
        The execution as it stands; `failed` names the phase, `cancelled` when its mission or agent was paused.

    Raises:
        StateError: mission or agent are not active, or an execution has not ended.
        BudgetExceededError: the agent's day is used up.
        StorageError: the database cannot be written.
        asyncio.CancelledError: the caller was cancelled; the execution is cancelled with it.
    """
    started = await start(assistant, mission, occurrence=occurrence, actor=actor, steps=steps)
    if started.handle is None:
        return started.execution
    journal = await assistant.journal()
    try:
        await started.handle
    except asyncio.CancelledError:
        await asyncio.shield(_ended(journal, started))
        caller = asyncio.current_task()
        if caller is not None and caller.cancelling():
            raise
    finally:
        await asyncio.shield(settle(journal))
    return await journal.transact(lambda tx: executions.get(open_tx(tx), started.execution.id))


async def _ended(journal: Journal, started: Started) -> None:
    if started.handle is not None:
        await started.handle.cancel()
    await settle(journal)


async def start(
    assistant: Assistant,
    mission: Mission | str,
    *,
    occurrence: str = "",
    actor: Actor = SUREFOOT,
    steps: Steps | None = None,
) -> Started:
    """The same without waiting: follow the handle, then call `settle`. Raises like `execute`."""
    mission_id = mission if isinstance(mission, str) else mission.id
    journal = await assistant.journal()
    await settle(journal)
    new, now = secrets.token_hex(8), assistant.now()

    def begin(tx: Connection | None) -> tuple[Begun, list[Execution]]:
        begun = executions.begin_execution(
            open_tx(tx),
            mission_id,
            occurrence=occurrence or f"{BY_HAND}{new}",
            run=new,
            actor=actor,
            owner=current_owner(),
            now=now,
            zone=assistant.settings.zone_name,
        )
        before = executions.last_executions(open_tx(tx), mission_id, LAST + 1)
        whole = replace(begun, mission=store.get(open_tx(tx), mission_id))
        return whole, [one for one in before if one.id != begun.execution.id][:LAST]

    begun, before = await journal.transact(begin)
    if not begun.new:
        return Started(begun.execution, None)
    run = begun.execution.id
    try:
        recent = [await _as_it_is_now(journal, one) for one in before]
        handle = assistant.work(
            brief_for(begun, recent),
            run=run,
            steps=HaltingSteps(journal, run, steps),
            actor=Actor("mission", mission_id),
        )
    except SurefootError as error:
        await _never_ran(journal, run, error)
        raise
    return Started(begun.execution, handle)


def brief_for(begun: Begun, recent: Sequence[Execution]) -> Brief:
    """The terms of an execution: what it is told, what it may call and use."""
    mission, agent = begun.mission, begun.agent
    return Brief(
        mission.goal,
        title=mission.title,
        system=system_prompt(mission, agent),
        data=data_parts(mission, recent),
        kits=mission.kits,
        policy=dict(agent.policy) if agent else {},
        limits=dict(mission.limits),
        caps=_left(agent, begun) if agent else {},
        memory=agent.memory if agent else True,
        zone=mission.zone,
        tags={KIND: mission.id, "execution": begun.execution.number},
    )


def _left(agent: Agent, begun: Begun) -> dict[str, float]:
    """What is left of the agent's day, as limits of this run."""
    found: dict[str, float] = {}
    if agent.daily_tokens is not None:
        found["tokens"] = agent.daily_tokens - begun.used.tokens
    if agent.daily_cost is not None:
        found["cost"] = agent.daily_cost - begun.used.cost
    return found


class HaltingSteps:
    """A run goes no further than the call it is at when its mission or agent is paused.

    Args:
        journal: where missions and agents are looked up.
        run: id of the run.
        inner: what the steps go through otherwise; None: the journal alone.
    """

    def __init__(self, journal: Journal, run: str, inner: Steps | None = None) -> None:
        self._journal = journal
        self._run = run
        self._inner = inner or JournalSteps()

    async def run(
        self, key: str, recall: Callable[[], Awaitable[T | None]], work: Callable[[], Awaitable[T]]
    ) -> T:
        """See `Steps.run`. asyncio.CancelledError where the run must stop: what was done stays, and can be undone."""

        async def unless_halted() -> T:
            why = await self._journal.transact(lambda tx: executions.is_halted(open_tx(tx), self._run))
            if why:
                await self._journal.append(self._run, [(EventType.NOTICE, {"text": why})])
                raise asyncio.CancelledError(why)
            return await work()

        return await self._inner.run(key, recall, unless_halted)


# --- what it came to -----------------------------------------------------------------------------------------


async def settle(journal: Journal) -> list[Execution]:
    """Bring every execution that has not ended up to date with its run; those that changed.

    One whose process ended before there was a run has failed in phase `prepare`.
    """
    await journal.release_dead()
    changed = []
    for execution, owner in await journal.transact(lambda tx: executions.open_executions(open_tx(tx))):
        changes = await _changes(journal, execution, owner)
        if changes and any(getattr(execution, name) != value for name, value in changes.items()):
            with contextlib.suppress(StateError):  # somebody else saw its end first
                changed.append(await _write(journal, execution.id, changes))
    return changed


async def _write(journal: Journal, execution_id: str, changes: dict[str, Any]) -> Execution:
    return await journal.transact(
        lambda tx: executions.end_execution(open_tx(tx), execution_id, actor=SUREFOOT, **changes)
    )


async def _changes(journal: Journal, execution: Execution, owner: str) -> dict[str, Any]:
    try:
        run = await journal.run(execution.id)
    except NotFoundError:
        now = datetime.now(UTC)
        if not owner or holder_lives(owner, execution.started_at, now):
            return {}
        return _failed(
            SurefootError("The process that began it ended before there was a run.", "Run it again."), now
        )
    return outcome(run, await journal.calls(run.id), await journal.model_calls(run.id))


def outcome(run: Run, calls: Sequence[Call], model_calls: Sequence[ModelCall]) -> dict[str, Any]:
    """What a run came to so far, as fields of its execution."""
    usages = [Usage(**entry.completion["usage"]) for entry in model_calls]
    return {
        "status": str(run.status),
        "phase": phase_of(run),
        "summary": run.reply,
        "calls": tuple(short_call(call) for call in calls),
        "rounds": sum(entry.purpose == "round" for entry in model_calls),
        "error": run.error,
        "ended_at": run.updated_at if run.status in FINAL else None,
        "tokens": sum(usage.prompt_tokens + usage.output_tokens for usage in usages),
        "cost": sum(usage.cost or 0.0 for usage in usages),
    }


def phase_of(run: Run) -> Phase:
    """Where a run stands, or failed."""
    if run.error is not None:
        phase: Phase = run.error.get("phase", "work")
        return phase
    if run.status in _PHASES:
        return _PHASES[run.status]
    if run.status in {RunStatus.INTERRUPTED, RunStatus.CANCELLED}:
        return "work" if "outline" in run.context else "plan"
    return "wait"


def short_call(call: Call) -> dict[str, Any]:
    """A call as an execution's row keeps it."""
    arguments = {name: _short(value) for name, value in call.arguments.items()}
    return {
        "call": call.ordinal,
        "tool": call.tool,
        "arguments": arguments,
        "status": str(call.status),
        "undone": bool(call.undone_by),
    }


def _short(value: Any) -> Any:
    import json

    from surefoot import redaction

    text = redaction.redact(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    )
    return value if len(text) <= ARGUMENT_CHARS else f"{text[:ARGUMENT_CHARS]}…"


async def _as_it_is_now(journal: Journal, execution: Execution) -> Execution:
    """With its calls as they stand: a person may have taken some back since."""
    calls = await journal.calls(execution.id)
    return replace(execution, calls=tuple(short_call(call) for call in calls)) if calls else execution


async def _never_ran(journal: Journal, execution_id: str, error: SurefootError) -> None:
    await _write(journal, execution_id, _failed(error, datetime.now(UTC)))


def _failed(error: SurefootError, now: datetime) -> dict[str, Any]:
    told = {**error.to_dict(), "phase": "prepare"}
    return {"status": "failed", "phase": "prepare", "error": told, "ended_at": now}


def open_tx(tx: Connection | None) -> Connection:
    """The open transaction; MisuseError where the journal has no database behind it."""
    if tx is None:
        raise MisuseError(
            "Missions are kept in the journal's database, and the journal given has none.",
            "Give it one: MemoryJournal(Database(path)).",
        )
    return tx
