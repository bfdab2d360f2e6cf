"""Missions, agents and feedback: reads and writes as functions of an open transaction.

Every write names its actor and grows the version. What is deleted keeps its row, as a tombstone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from surefoot.errors import InputError, StateError
from surefoot.journal.codec import clean, time_text
from surefoot.missions.executions import of_mission, open_of_agent
from surefoot.missions.rows import AGENTS, FEEDBACK, MISSIONS, feedback_on, new_id
from surefoot.missions.types import Agent, Feedback, Mission, MissionState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from surefoot.tools.types import Actor

KEPT = frozenset({"id", "version", "deleted", "feedback", "state"})
"""Fields that no edit sets: each has a function of its own."""

FROM: Mapping[MissionState, frozenset[str]] = {
    "paused": frozenset({"active"}),
    "active": frozenset({"paused", "done", "archived"}),
    "done": frozenset({"active", "paused"}),
    "archived": frozenset({"active", "paused", "done"}),
}
"""For each state of a mission, those it can come from."""

# --- missions ------------------------------------------------------------------------------------------------


def create(tx: Connection, mission: Mission, *, actor: Actor, now: datetime) -> Mission:
    """Write a new mission; an agent that it names must be there.

    Raises:
        StateError: its id or its title is taken.
        NotFoundError: there is no such agent.
    """
    if mission.agent:
        AGENTS.get(tx, mission.agent)
    return MISSIONS.create(tx, mission, actor, now)


def get(tx: Connection, mission_id: str) -> Mission:
    """By full id, with its feedback; NotFoundError."""
    return _with_feedback(tx, MISSIONS.get(tx, mission_id))


def find(tx: Connection, reference: str) -> Mission:
    """By title, id or a unique beginning of either, with its feedback.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: several fit.
    """
    return _with_feedback(tx, MISSIONS.find(tx, reference))


def listed(tx: Connection, *, archived: bool = False) -> list[Mission]:
    """All that are not deleted, the oldest first; archived ones only when asked for. Without their feedback."""
    return [one for one in MISSIONS.living(tx) if archived or one.state != "archived"]


def update(
    tx: Connection,
    mission_id: str,
    *,
    actor: Actor,
    now: datetime,
    version: int | None = None,
    **changes: Any,
) -> Mission:
    """Change fields of a mission.

    Args:
        tx: the open transaction.
        mission_id: full id.
        actor: who changes it.
        now: when.
        version: the one the change was made from; None: whatever there is.
        changes: fields with their new values.

    Raises:
        StateError: it was changed since that version, or the title is taken.
        InputError: a value cannot be used, or a field is not for editing.
        NotFoundError: there is no such mission, or no such agent.
    """
    _check_changes(changes, Mission)
    if changes.get("agent"):
        AGENTS.get(tx, str(changes["agent"]))
    return _with_feedback(tx, MISSIONS.change(tx, mission_id, changes, actor, now, version))


def pause(
    tx: Connection, mission_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Mission:
    """It starts nothing until it is resumed; StateError unless it is active."""
    return _move(tx, mission_id, "paused", actor, now, version)


def resume(
    tx: Connection, mission_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Mission:
    """It is active again, from whatever state; StateError when it is active."""
    return _move(tx, mission_id, "active", actor, now, version)


def complete(
    tx: Connection, mission_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Mission:
    """Its goal is reached: it starts nothing any more; StateError unless it is active or paused."""
    return _move(tx, mission_id, "done", actor, now, version)


def archive(
    tx: Connection, mission_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Mission:
    """It is put away, out of lists, and starts nothing; StateError when it is archived."""
    return _move(tx, mission_id, "archived", actor, now, version)


def delete(
    tx: Connection, mission_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Mission:
    """It is gone for people; its row stays as a tombstone, its executions and their runs as they are."""
    return MISSIONS.change(tx, mission_id, {"deleted": True}, actor, now, version)


def _move(
    tx: Connection, mission_id: str, state: MissionState, actor: Actor, now: datetime, version: int | None
) -> Mission:
    mission = MISSIONS.get(tx, mission_id, lock=True)
    if mission.state not in FROM[state]:
        raise StateError(
            f"The mission {mission.title!r} is {mission.state}: it cannot become {state}.",
            f"It becomes {state} from: {', '.join(sorted(FROM[state]))}.",
            state=mission.state,
        )
    return _with_feedback(tx, MISSIONS.change(tx, mission_id, {"state": state}, actor, now, version))


# --- agents --------------------------------------------------------------------------------------------------


def create_agent(tx: Connection, agent: Agent, *, actor: Actor, now: datetime) -> Agent:
    """Write a new agent; StateError when its id or its name is taken."""
    return AGENTS.create(tx, agent, actor, now)


def get_agent(tx: Connection, agent_id: str) -> Agent:
    """By full id; NotFoundError."""
    return AGENTS.get(tx, agent_id)


def find_agent(tx: Connection, reference: str) -> Agent:
    """By name, id or a unique beginning of either; NotFoundError, AmbiguousError."""
    return AGENTS.find(tx, reference)


def listed_agents(tx: Connection) -> list[Agent]:
    """All that are not deleted, the oldest first."""
    return AGENTS.living(tx)


def update_agent(
    tx: Connection, agent_id: str, *, actor: Actor, now: datetime, version: int | None = None, **changes: Any
) -> Agent:
    """Change fields of an agent; raises like `update`."""
    _check_changes(changes, Agent)
    return AGENTS.change(tx, agent_id, changes, actor, now, version)


def pause_agent(
    tx: Connection, agent_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> tuple[Agent, tuple[str, ...]]:
    """It starts nothing until it is resumed.

    Returns:
        The agent, and the ids of its runs that have not ended: whoever pauses it cancels them.
    """
    agent = AGENTS.get(tx, agent_id, lock=True)
    if agent.state != "paused":
        agent = AGENTS.change(tx, agent_id, {"state": "paused"}, actor, now, version)
    return agent, tuple(one.id for one in open_of_agent(tx, agent_id))


def resume_agent(
    tx: Connection, agent_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Agent:
    """It starts executions again; StateError unless it is paused."""
    agent = AGENTS.get(tx, agent_id, lock=True)
    if agent.state != "paused":
        raise StateError(
            f"The agent {agent.name!r} is active.", "There is nothing to resume.", state=agent.state
        )
    return AGENTS.change(tx, agent_id, {"state": "active"}, actor, now, version)


def delete_agent(
    tx: Connection, agent_id: str, *, actor: Actor, now: datetime, version: int | None = None
) -> Agent:
    """It is gone for people, its row stays; StateError while missions are its own."""
    owned = [mission.title for mission in MISSIONS.living(tx) if mission.agent == agent_id]
    if owned:
        raise StateError(
            f"The agent has {len(owned)} missions, {owned[0]!r} among them.",
            "Delete them, or give them to another agent, first.",
            missions=owned,
        )
    return AGENTS.change(tx, agent_id, {"deleted": True}, actor, now, version)


def _check_changes(changes: Mapping[str, Any], kind: type[Any]) -> None:
    allowed = [name for name in kind.__dataclass_fields__ if name not in KEPT]
    for name in changes:
        if name not in allowed:
            raise InputError(
                f"{name!r} of a {kind.__name__.lower()} cannot be edited.",
                f"These can: {', '.join(allowed)}.",
                value=name,
            )


# --- feedback --------------------------------------------------------------------------------------------------


def add_feedback(
    tx: Connection, mission_id: str, text: str, *, actor: Actor, now: datetime, execution: str = ""
) -> Feedback:
    """Keep what a person said of a mission, or of one execution of it.

    Raises:
        InputError: the text is empty or too long.
        NotFoundError: there is no such mission, or the execution is not one of it.
    """
    MISSIONS.get(tx, mission_id, lock=True)
    if execution:
        of_mission(tx, mission_id, execution)
    said = Feedback(new_id(), mission_id, clean(text.strip()), execution, str(actor), now)
    values = {"id": said.id, "mission": said.mission, "execution": execution, "text": said.text}
    tx.execute(insert(FEEDBACK).values(**values, actor=said.actor, version=1, at=time_text(now)))
    return said


def _with_feedback(tx: Connection, mission: Mission) -> Mission:
    return replace(mission, feedback=feedback_on(tx, mission.id))
