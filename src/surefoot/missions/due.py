"""What would run when: the occurrences of several missions, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice

from surefoot.missions.cadence import MOST, Occurrence, occurrences
from surefoot.missions.types import Agent, Mission


@dataclass(frozen=True, slots=True)
class Due:
    """One mission at one of its occurrences."""

    mission: Mission
    occurrence: Occurrence


def upcoming(
    missions: Iterable[Mission],
    agents: Mapping[str, Agent],
    after: datetime,
    until: datetime,
    *,
    most: int = MOST,
) -> list[Due]:
    """What is due with `after < moment <= until`, the first `most`, by time and then by the mission's id.

    Args:
        missions: those that are not active are left out.
        agents: by id; missions of a paused one are left out.
        after: aware.
        until: aware.
        most: how many at the most.
    """
    lines = [
        [Due(mission, one) for one in occurrences(mission.cadence, mission.zone, after, until, most=most)]
        for mission in missions
        if mission.state == "active" and not mission.deleted and _works(agents.get(mission.agent))
    ]
    return list(islice(merge(*lines, key=lambda due: (due.occurrence.moment, due.mission.id)), most))


def _works(agent: Agent | None) -> bool:
    return agent is None or (agent.state == "active" and not agent.deleted)
