"""What every side of the comparison with peers shares: the task, and the process that does it when it is told to.

The task is one run of N rounds: the model asks for one call of `addTask` with arguments of its own, the tool answers
at once, the model reads the result and goes on; after the last call it answers in words. Each framework stands in a
process and an environment of its own and takes part with one file, `on_<name>.py`. This one is imported by all of
them, so it needs nothing but Python.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

GOAL = "Put everything on my list."
"""What the person asks for."""

SYSTEM = "You keep a list of tasks. Use the tools, then answer in one sentence."

DONE = "Everything is on your list."
"""The model's last answer."""

NAME = "addTask"

DESCRIPTION = "Add a task."

DUE = "2026-05-02"

PARAMETERS = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "due": {"type": "string"}},
    "required": ["title", "due"],
    "additionalProperties": False,
}

Side = Callable[[int], Awaitable[float]]
"""Makes one run of that many calls; seconds it took, what stands around it (an agent, an empty file) left out."""


class Task:
    """The tool, and how often it was called: a side that drops calls must not look fast."""

    calls = 0

    @classmethod
    def add(cls, title: str, due: str) -> dict[str, Any]:
        """What the tool does: as good as nothing, so that what is around it is measured."""
        cls.calls += 1
        return {"id": f"3f2a9c1b{cls.calls % 10_000:04}", "title": title, "due": due, "status": "open"}


def arguments(number: int) -> dict[str, str]:
    """Of the call in that round, counted from 0: no two are equal, so that none is answered from a memory."""
    return {"title": f"Buy a present for guest {number}", "due": DUE}


class Clock:
    """Times one run: `with Clock() as clock: ...`, then `clock.seconds`."""

    def __enter__(self) -> Self:
        gc.collect()  # what earlier runs left behind is not this one's
        self._start = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._start


def serve(sides: Mapping[str, Side], packages: tuple[str, ...] = ()) -> None:
    """Answer orders on standard input, `{"side": ..., "rounds": ...}`, one a line, until it ends.

    The first line told is `{"sides": [...], "versions": {...}}`; then `{"us": microseconds a call}` for each order, or
    `{"error": ...}`. The folder for files of this process is the first argument.
    """
    out = sys.stdout
    sys.stdout = sys.stderr  # what a framework prints is not an answer
    asyncio.run(_serve(sides, out, {name: version(name) for name in packages}))


async def _serve(sides: Mapping[str, Side], out: Any, versions: dict[str, str]) -> None:
    print(json.dumps({"sides": list(sides), "versions": versions}), file=out, flush=True)
    for (
        line
    ) in sys.stdin:  # blocks the event loop between runs: nothing of ours may run while another side is timed
        order = json.loads(line)
        print(json.dumps(await _obey(sides[order["side"]], order["rounds"])), file=out, flush=True)


async def _obey(side: Side, rounds: int) -> dict[str, Any]:
    Task.calls = 0
    try:
        seconds = await side(rounds)
    except Exception as error:  # noqa: BLE001 - whatever a framework raises is told, and the others go on
        return {"error": f"{type(error).__name__}: {error}"}
    if Task.calls != rounds:
        return {"error": f"it made {Task.calls} of {rounds} calls"}
    return {"us": seconds / rounds * 1e6}


def folder() -> Path:
    """For files of this process."""
    return Path(sys.argv[1])
