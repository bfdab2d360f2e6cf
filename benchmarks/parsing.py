"""What it costs to read one step of a plan, and to see that it needs no model.

The floor is the least that reading a call can cost in Python: `json.loads` of the same call as JSON, and one look-up
of its tool. All sides take turns in one process, so that they see the same load. The goal is 100 microseconds each.

    python benchmarks/parsing.py [--steps 20000] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Capabilities
from surefoot.planning.outline import Step
from surefoot.planning.parse import parse_outline, parse_step
from surefoot.planning.resolver import StepResolver
from surefoot.planning.vocabulary import vocabulary
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue

GOAL_MICROSECONDS = 100.0
ROUND = 50
"""Steps a side takes before it is the other's turn."""


def _tool(name: str, *required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {key: {"type": "string"} for key in (*required, *optional)}
    return {
        "name": name,
        "parameters": {"type": "object", "properties": properties, "required": list(required)},
    }


CATALOGUE = Catalogue.from_function_schemas(
    [
        _tool("addNote", "title", optional=("text", "tags")),
        _tool("listNotes", optional=("search", "tag")),
        _tool("tagNote", "note", "tag"),
        _tool("addTask", "title", optional=("due",)),
        _tool("listTasks", optional=("since", "until", "status")),
        _tool("getWeather", "place", optional=("day",)),
        _tool("webSearch", "query"),
        *(_tool(f"otherTool{number}", "value") for number in range(20)),
    ]
)
LINES = [
    "webSearch query='what's new in Bob's shop'",
    'addTask(title="Buy a present for Anna", due="2 May")',
    "2. getWeather place='St. Ives' day='tomorrow'",
    "listTasks(until='3 May')",
    "tagNote(note='a1', tag='anna')",
]


async def measure(steps: int) -> dict[str, Any]:
    """Median microseconds a step for each side, and the ratio to the floor."""
    known = vocabulary(CATALOGUE)
    parsed = [parse_outline(line, CATALOGUE).steps[0] for line in LINES]
    texts = [json.dumps({"name": step.tool, "arguments": step.arguments}) for step in parsed]
    resolver = StepResolver(ScriptedModel(capabilities=Capabilities()), Settings(), CATALOGUE)
    times: dict[str, list[float]] = {"floor": [], "parse": [], "fast path": []}
    for turn in range(max(1, steps // ROUND)):
        which = turn % len(LINES)
        times["floor"].append(_timed(partial(_floor, texts[which])))
        times["parse"].append(_timed(partial(parse_step, LINES[which], known)))
        times["fast path"].append(await _timed_path(resolver, parsed[which]))
    medians = {side: statistics.median(values) for side, values in times.items()}
    return {
        "steps": steps,
        "microseconds": {side: round(value, 2) for side, value in medians.items()},
        "times_the_floor": {side: round(value / medians["floor"], 1) for side, value in medians.items()},
        "goal_microseconds": GOAL_MICROSECONDS,
        "reached": all(value < GOAL_MICROSECONDS for value in medians.values()),
    }


def _floor(text: str) -> bool:
    return json.loads(text)["name"] in CATALOGUE


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(ROUND):
        work()
    return (time.perf_counter() - start) / ROUND * 1e6


async def _timed_path(resolver: StepResolver, step: Step) -> float:
    start = time.perf_counter()
    for _ in range(ROUND):
        await resolver.resolve(step, {})
    return (time.perf_counter() - start) / ROUND * 1e6


def main() -> int:
    """Measure and print; exit 1 when the goal is missed."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--steps", type=int, default=20_000)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    found = asyncio.run(measure(given.steps))
    if given.json:
        print(json.dumps(found))
        return 0 if found["reached"] else 1
    for side, value in found["microseconds"].items():
        print(f"{side:<10} {value:8.2f} µs a step   {found['times_the_floor'][side]:6.1f}x the floor")
    print(f"goal: under {GOAL_MICROSECONDS:.0f} µs each, {'reached' if found['reached'] else 'missed'}")
    return 0 if found["reached"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
