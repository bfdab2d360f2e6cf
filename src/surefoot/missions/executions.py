"""Executions as rows: one runner for each mission, what an execution came to, what an agent used today."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from surefoot.errors import BudgetExceededError, NotFoundError, StateError
from surefoot.journal.codec import clean, dump, dump_optional, time_text, time_text_optional
from surefoot.missions.cadence import first_moment, zone_of
from surefoot.missions.rows import AGENTS, EXECUTIONS, MISSIONS, execution_of, feedback_on
from surefoot.missions.types import ENDED, Agent, Execution, Mission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Select

    from surefoot.tools.types import Actor

_C = EXECUTIONS.c
OVER = tuple(ENDED)
HALTING = ("paused", "archived")
"""States of a mission in which what runs must stop."""
_CHANGING = frozenset(
    {"status", "phase", "summary", "calls", "rounds", "error", "ended_at", "tokens", "cost"}
)


@dataclass(frozen=True, slots=True)
class Used:
    """What an agent's executions used in one local day."""

    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Begun:
    """An execution that may go on. `new` is False for an occurrence that was begun before."""

    execution: Execution
    mission: Mission
    agent: Agent | None
    used: Used
    new: bool = True


def begin_execution(
    tx: Connection,
    mission_id: str,
    *,
    occurrence: str,
    run: str,
    actor: Actor,
    owner: str,
    now: datetime,
    zone: str,
) -> Begun:
    """Take a mission for one execution: from here on nobody else runs it until this one has ended.

    An occurrence that was begun before is given back as it is: asked twice, it is executed once. One that was begun
    without an owner waits in a queue, and is taken by the first who has one.

    Args:
        tx: the open transaction; mission and agent are locked in it.
        mission_id: full id.
        occurrence: its key.
        run: id of the run that will do it.
        actor: who starts it.
        owner: the process that will do it (`journal.owner`); empty: it waits in a queue.
        now: this moment.
        zone: whose days the agent's daily limits count in.

    Raises:
        NotFoundError: there is no such mission.
        StateError: mission or agent are not active, or as many executions as allowed have not ended.
        BudgetExceededError: the agent's day is used up.
    """
    mission = MISSIONS.get(tx, mission_id, lock=True)
    agent = AGENTS.get(tx, mission.agent, lock=True) if mission.agent else None
    used = used_on_day(tx, agent.id, now, zone) if agent else Used()
    before = _first(tx, select(EXECUTIONS).where(_C.mission == mission_id, _C.occurrence == occurrence))
    if before is not None:
        return Begun(before, mission, agent, used, new=_taken(tx, before, owner))
    _check_may_begin(tx, mission)
    if agent is not None:
        _check_agent(tx, agent, used)
    number = tx.execute(select(func.max(_C.number)).where(_C.mission == mission_id)).scalar() or 0
    tx.execute(
        insert(EXECUTIONS).values(
            id=run, mission=mission_id, agent=mission.agent, occurrence=occurrence, number=int(number) + 1,
            status="queued", phase="queued", summary="", calls="[]", rounds=0, error=None, owner=owner,
            started_at=time_text(now), ended_at=None, tokens=0, cost=0.0, version=1, actor=str(actor),
        )
    )  # fmt: skip
    return Begun(get(tx, run), mission, agent, used)


def _taken(tx: Connection, execution: Execution, owner: str) -> bool:
    """It waited in a queue, and is this owner's now."""
    waiting = (_C.id == execution.id, _C.status == "queued", _C.owner == "")
    return bool(owner) and tx.execute(update(EXECUTIONS).where(*waiting).values(owner=owner)).rowcount == 1


def _check_may_begin(tx: Connection, mission: Mission) -> None:
    if mission.state != "active":
        raise StateError(
            f"The mission {mission.title!r} is {mission.state}.",
            f"surefoot missions resume {mission.id}",
            state=mission.state,
        )
    running = _first(tx, select(EXECUTIONS).where(_C.mission == mission.id, _C.status.not_in(OVER)))
    if running is not None:
        raise StateError(
            f"Execution {running.number} of the mission {mission.title!r} has not ended: it is {running.status}.",
            f"See surefoot show {running.id[:8]}; surefoot cancel {running.id[:8]} ends it.",
            run=running.id,
            reason="running",
        )


def _check_agent(tx: Connection, agent: Agent, used: Used) -> None:
    if agent.state != "active":
        raise StateError(
            f"The agent {agent.name!r} is {agent.state}.",
            f"surefoot agents resume {agent.id}",
            state=agent.state,
        )
    running = open_of_agent(tx, agent.id)
    if len(running) >= agent.concurrency:
        raise StateError(
            f"The agent {agent.name!r} runs {len(running)} of {agent.concurrency} executions at once.",
            "Wait for one to end, or raise its concurrency.",
            runs=[one.id for one in running],
            reason="concurrency",
        )
    for name, allowed, taken in (
        ("daily_tokens", agent.daily_tokens, used.tokens),
        ("daily_cost", agent.daily_cost, used.cost),
    ):
        if allowed is not None and taken >= allowed:
            raise BudgetExceededError(
                f"The agent {agent.name!r} has used {taken:g} of {allowed:g} ({name}) today.",
                f"Go on tomorrow, or raise it: surefoot agents edit {agent.id}.",
                limit=name,
                allowed=allowed,
                used=taken,
            )


def end_execution(tx: Connection, execution_id: str, *, actor: Actor, **changes: Any) -> Execution:
    """Write what an execution came to, or where it stands by now.

    Args:
        tx: the open transaction.
        execution_id: the run's id.
        actor: who says so.
        changes: `status, phase, summary, calls, rounds, error, ended_at, tokens, cost`.

    Raises:
        NotFoundError: there is no such execution.
        StateError: it has ended with another status: what is cancelled stays cancelled.
    """
    old = get(tx, execution_id, lock=True)
    status = changes.get("status", old.status)
    if old.ended and status != old.status:
        raise StateError(
            f"Execution {execution_id} is {old.status}: it cannot become {status}.",
            "Run the mission again.",
            status=old.status,
        )
    values = _values(changes)
    written = update(EXECUTIONS).where(_C.id == execution_id)
    tx.execute(written.values(**values, version=old.version + 1, actor=str(actor)))
    return get(tx, execution_id)


def _values(changes: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - _CHANGING)
    if unknown:
        raise TypeError(f"an execution's {unknown[0]} does not change")
    written = {name: changes[name] for name in changes}
    if "calls" in written:
        written["calls"] = dump(list(written["calls"]))
    if "error" in written:
        written["error"] = dump_optional(written["error"])
    if "ended_at" in written:
        written["ended_at"] = time_text_optional(written["ended_at"])
    if "summary" in written:
        written["summary"] = clean(written["summary"])
    return written


# --- reading ---------------------------------------------------------------------------------------------------


def get(tx: Connection, execution_id: str, *, lock: bool = False) -> Execution:
    """By the run's full id, with its feedback; NotFoundError."""
    statement = select(EXECUTIONS).where(_C.id == execution_id)
    found = _first(tx, statement.with_for_update() if lock else statement)
    if found is None:
        raise _missing(execution_id)
    return found


def of_mission(tx: Connection, mission_id: str, reference: str) -> Execution:
    """One of a mission's executions, by its number, its run's id or a beginning of that; NotFoundError."""
    wanted = reference.strip().lower()
    every = last_executions(tx, mission_id, limit=None)
    found = [one for one in every if wanted in {one.id, str(one.number)}]
    found = found or [one for one in every if len(wanted) >= 4 and one.id.startswith(wanted)]  # noqa: PLR2004 - as runs
    if len(found) != 1:
        raise _missing(reference)
    return found[0]


def last_executions(tx: Connection, mission_id: str, limit: int | None = 20) -> list[Execution]:
    """The last of a mission, the newest first, with their feedback."""
    found = select(EXECUTIONS).where(_C.mission == mission_id).order_by(_C.number.desc())
    return _all(tx, found if limit is None else found.limit(limit))


def open_executions(tx: Connection) -> list[tuple[Execution, str]]:
    """All that have not ended, each with the process that began it."""
    found = list(
        tx.execute(select(EXECUTIONS).where(_C.status.not_in(OVER)).order_by(_C.started_at)).mappings()
    )
    return [(execution_of(dict(row)), str(row["owner"])) for row in found]


def open_of_agent(tx: Connection, agent_id: str) -> list[Execution]:
    """An agent's executions that have not ended, the oldest first."""
    return _all(
        tx, select(EXECUTIONS).where(_C.agent == agent_id, _C.status.not_in(OVER)).order_by(_C.started_at)
    )


def used_on_day(tx: Connection, agent_id: str, now: datetime, zone: str) -> Used:
    """What an agent's executions used that were begun on the local day of `now`."""
    local = zone_of(zone)
    start = first_moment(datetime.combine(now.astimezone(local).date(), time()), local)
    total = select(func.sum(_C.tokens), func.sum(_C.cost))
    row = tx.execute(total.where(_C.agent == agent_id, _C.started_at >= time_text(start))).first()
    return Used(int(row[0] or 0), float(row[1] or 0.0)) if row else Used()


def is_halted(tx: Connection, execution_id: str) -> str:
    """Why an execution must go no further: its agent or its mission was paused or deleted. Empty: it may."""
    row = tx.execute(select(_C.mission, _C.agent).where(_C.id == execution_id)).first()
    if row is None:
        return ""
    mission = MISSIONS.get(tx, row[0], gone=True)
    if mission.deleted or mission.state in HALTING:
        return f"The mission {mission.title!r} is {'deleted' if mission.deleted else mission.state}."
    if row[1]:
        agent = AGENTS.get(tx, row[1], gone=True)
        if agent.deleted or agent.state != "active":
            return f"The agent {agent.name!r} is {'deleted' if agent.deleted else agent.state}."
    return ""


def _first(tx: Connection, statement: Select[Any]) -> Execution | None:
    return next(iter(_all(tx, statement.limit(1))), None)


def _all(tx: Connection, statement: Select[Any]) -> list[Execution]:
    rows = [dict(row) for row in tx.execute(statement).mappings()]
    said = {mission: feedback_on(tx, mission) for mission in {row["mission"] for row in rows}}
    return [execution_of(row, said[row["mission"]]) for row in rows]


def _missing(reference: str) -> NotFoundError:
    return NotFoundError(
        f"There is no execution {reference!r}.", "surefoot missions show MISSION lists them.", name=reference
    )
