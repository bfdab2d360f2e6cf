"""Tasks with the flows that a careful author writes for them, shown to a small model as earlier turns.

The two that are most like a task stand between the guide and the task, the most like last, which is followed most
closely. Without them a small model writes the guide's own example again, whatever the task is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from surefoot.flows.facts import FactNames
from surefoot.planning._data import table
from surefoot.planning.nearest import Nearness

NEAREST: Final = 2
"""Examples for a task. Each costs about 200 tokens of reading, 4 s on two cores."""


@dataclass(frozen=True, slots=True)
class FlowExample:
    """A task as the planner asks for it, and the answer as JSON text."""

    goal: str
    facts: FactNames
    surfaces: frozenset[str]
    flow: str


def nearest_examples(goal: str, surfaces: frozenset[str], count: int = NEAREST) -> tuple[FlowExample, ...]:
    """The examples that are most like a task, on a surface that it has; the most like last."""
    pool = flow_examples()
    among = [at for at, one in enumerate(pool) if one.surfaces & surfaces]
    return tuple(pool[at] for at in reversed(_nearness().best(goal, count, among)))


@lru_cache(maxsize=1)
def flow_examples() -> tuple[FlowExample, ...]:
    """All of `prompts/flow_examples.toml`."""
    return tuple(
        FlowExample(
            item["goal"],
            FactNames(tuple(item["shared"]), tuple(item["secret"])),
            frozenset(item["surfaces"]),
            item["flow"],
        )
        for item in table("prompts/flow_examples")["example"]
    )


@lru_cache(maxsize=1)
def _nearness() -> Nearness:
    return Nearness([one.goal for one in flow_examples()])
