"""What the executor adds to a tool call, against a bare function call and against the floor.

The floor is the two transactions that a journaled call needs (intent, result) in raw sqlite3 with the same pragmas and
the same rows. The executor's figure holds everything: name, coercion and validation of the arguments, policy, budget,
both images, both transactions, events. All sides take turns in one process:

    python benchmarks/executor_overhead.py [--calls 2000] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from journal_overhead import ARGUMENTS, IMAGE, RESULT, ROUND, Floor
from surefoot.journal import MemoryJournal, SqlJournal
from surefoot.journal.types import Journal, RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.session import Session
from surefoot.settings import load_settings
from surefoot.storage import Database
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor, Context, Effect, Tool, Undo

GOAL = 5.0
"""Times the floor that a journaled call may cost."""

PARAMETERS = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "due": {"type": "string"}},
    "required": ["title"],
}


def add_task(title: str, due: str = "") -> dict[str, Any]:
    """A tool that does nothing, so that only what is around it is measured."""
    del title, due
    return RESULT


def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
    """An image of a usual size."""
    del ctx, arguments
    return IMAGE


def restore(ctx: Context, arguments: dict[str, Any], image: Any) -> None:
    """Never called here."""
    del ctx, arguments, image


TOOL = Tool(
    "addTask", "Add a task.", PARAMETERS, Effect.WRITE, add_task, undo=Undo(capture, restore), where="writer"
)


async def executor(journal: Journal) -> Executor:
    """An executor on a run of its own."""
    run = lifecycle.new_run(
        "benchmark", kind="ask", actor=Actor(), now=datetime.now(UTC), zone="UTC", language="en", owner=""
    )
    run = await journal.create_run(run.with_(status=RunStatus.RUNNING))
    session = Session(run, journal, Catalogue([TOOL]), load_settings(), Budget(NO_LIMITS))
    return Executor(session)


async def timed(work: Callable[[int], Awaitable[Any]], first: int) -> float:
    """Microseconds a call, over one round."""
    start = time.perf_counter()
    for number in range(first, first + ROUND):
        await work(number)
    return (time.perf_counter() - start) / ROUND * 1e6


async def measure(calls: int) -> dict[str, float]:
    """Medians, microseconds a call."""
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(Path(folder) / "floor.db")
        database = Database(Path(folder) / "journal.db")
        on_disk, in_memory = await executor(SqlJournal(database)), await executor(MemoryJournal())

        async def bare(number: int) -> None:
            del number
            add_task(**ARGUMENTS)

        async def raw(number: int) -> None:
            floor.call(prepared[number % ROUND])

        async def journaled(number: int) -> None:
            key = f"step.{number}"
            assert (await on_disk.call(CallRequest(key, "addTask", ARGUMENTS, scope=key))).ok

        async def remembered(number: int) -> None:
            key = f"step.{number}"
            assert (await in_memory.call(CallRequest(key, "addTask", ARGUMENTS, scope=key))).ok

        sides = {"bare": bare, "floor": raw, "journaled": journaled, "memory": remembered}
        found: dict[str, list[float]] = {name: [] for name in sides}
        for first in range(0, calls, ROUND):
            prepared = [floor.prepare(number) for number in range(first, first + ROUND)]
            for name, work in sides.items():
                found[name].append(await timed(work, first))
        await on_disk.session.journal.close()
        database.close()
    warm = {name: values[len(values) // 10 :] for name, values in found.items()}
    return {name: statistics.median(values) for name, values in warm.items()}


def main() -> int:
    """Print the figures; exit 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(measure(options.calls))
    ratio = found["journaled"] / found["floor"]
    if options.json:
        print(json.dumps({**found, "ratio": ratio, "goal": GOAL}))
    else:
        print(f"bare function call                   {found['bare']:8.2f} us")
        print(f"floor, two raw sqlite3 transactions  {found['floor']:8.1f} us")
        print(f"executor, SQLite journal             {found['journaled']:8.1f} us   {ratio:.2f}x the floor")
        print(f"executor, MemoryJournal              {found['memory']:8.1f} us")
        print(f"goal: under {GOAL:g}x: {'reached' if ratio < GOAL else 'missed'}")
    return 0 if ratio < GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
