"""Standing goals: an agent runs a mission when its cadence says so, and each execution is a run like any other."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.missions.cadence import Cadence, Occurrence, next_occurrence, occurrences
    from surefoot.missions.execution import execute
    from surefoot.missions.types import Agent, Execution, Feedback, Mission

__all__ = [
    "Agent",
    "Cadence",
    "Execution",
    "Feedback",
    "Mission",
    "Occurrence",
    "execute",
    "next_occurrence",
    "occurrences",
]

_HOMES = {
    "Agent": "types",
    "Cadence": "cadence",
    "Execution": "types",
    "Feedback": "types",
    "Mission": "types",
    "Occurrence": "cadence",
    "execute": "execution",
    "next_occurrence": "cadence",
    "occurrences": "cadence",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
