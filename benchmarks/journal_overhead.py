"""What the journal adds to a tool call, against the least that two durable transactions can cost.

The floor is the two transactions of a call (the intent; then the result) in raw sqlite3 on one thread: the same
pragmas, the same tables and indexes, the same columns and bytes, prebuilt text, no checks. Beside it runs
`SqlJournal.intend` and `finish` as the executor calls them from an event loop: two hops to the writer thread and back,
the lease and state checks, the JSON, the events.

Both take turns in one process, so that they see the same disk and the same load:

    python benchmarks/journal_overhead.py [--calls 2000] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from surefoot.events import EventType
from surefoot.journal import MemoryJournal, SqlJournal
from surefoot.journal.rows import CALL_COLUMNS, CALL_RESULT, EVENT_COLUMNS, call_result, call_values
from surefoot.journal.types import Call, CallStatus, Finished, Run
from surefoot.storage import Database, Prepared, sqlite
from surefoot.storage.database import BUSY_SECONDS
from surefoot.tools.types import Effect

RUN = "0123456789abcdef"
ARGUMENTS = {"title": "Buy a present for Anna", "due": "2026-05-02"}
RESULT = {"id": "3f2a9c1b7d20", "title": "Buy a present for Anna", "due": "2026-05-02", "status": "open"}
IMAGE = [{**RESULT, "version": 1, "actor": "agent:surefoot"}]
ROUND = 20
"""Calls of one side before the other has its turn: a run's worth, and short enough that load changes hit both."""

AT = "2026-11-30T18:30:00.000000Z"


def a_call(number: int, prefix: str) -> Call:
    """The call before it is made."""
    key = f"{prefix}.{number}"
    return Call(RUN, key, number, f"{number:012x}", "addTask", ARGUMENTS, Effect.WRITE, undo_version=1)


def intended(call: Call) -> dict[str, Any]:
    """Data of its first event."""
    return {
        "call": call.id,
        "ordinal": call.ordinal,
        "step": 1,
        "tool": call.tool,
        "arguments": call.arguments,
    }


def done(call: Call) -> dict[str, Any]:
    """Data of its second event."""
    return {
        "call": call.id,
        "tool": call.tool,
        "result": RESULT,
        "ms": 1.0,
        "undoable": True,
        "merged_into": None,
    }


class Floor:
    """The two transactions, by hand."""

    def __init__(self, path: Path) -> None:
        with Database(path):
            pass  # the same schema
        self.connection = sqlite3.connect(path, isolation_level=None)
        for pragma in sqlite.pragmas(BUSY_SECONDS, read_only=False):
            self.connection.execute(pragma)
        self.connection.execute(
            "INSERT INTO runs VALUES (1, ?, '', 'ask', 'running', '', '{}', ?, ?, '', 0, '', NULL, '', '', 1, ?)",
            (RUN, AT, AT, AT),
        )
        names = ", ".join(f'"{name}"' for name in CALL_COLUMNS)
        self.insert = f"INSERT INTO calls ({names}) VALUES ({', '.join('?' * len(CALL_COLUMNS))})"
        sets = ", ".join(f'"{name}" = ?' for name in CALL_RESULT)
        self.update = f"UPDATE calls SET {sets} WHERE run = ? AND key = ?"
        self.event = f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES (?, ?, ?, ?, ?)"
        self.seq = 0

    def prepare(self, number: int) -> tuple[tuple[Any, ...], tuple[Any, ...], str, str]:
        """The texts of one call, built before the clock runs."""
        call = a_call(number, "floor")
        first = {**call_values(call), "started_at": AT, "before": "[]"}
        end = call.with_(status=CallStatus.DONE, result=RESULT, before=[], after=IMAGE)
        last = {**call_result(end), "started_at": AT, "finished_at": AT}
        return (
            tuple(first[name] for name in CALL_COLUMNS),
            (*(last[name] for name in CALL_RESULT), RUN, call.key),
            json.dumps(intended(call), sort_keys=True),
            json.dumps(done(call), sort_keys=True),
        )

    def call(self, prepared: tuple[tuple[Any, ...], tuple[Any, ...], str, str]) -> None:
        """Two transactions."""
        insert, update, first_event, last_event = prepared
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        execute(self.insert, insert)
        execute(self.event, (RUN, self.seq + 1, "call.intended", first_event, AT))
        execute("COMMIT")
        execute("BEGIN IMMEDIATE")
        execute(self.update, update)
        execute(self.event, (RUN, self.seq + 2, "call.done", last_event, AT))
        execute("COMMIT")
        self.seq += 2


async def journal_call(journal: SqlJournal | MemoryJournal, call: Call, fence: int) -> None:
    """The same through the journal, as the executor does it for a kit's tool."""
    call = await journal.intend(
        call, lambda _tx: [], [(EventType.CALL_INTENDED, intended(call))], fence=fence
    )
    end = call.with_(status=CallStatus.DONE, result=RESULT, after=IMAGE)
    await journal.finish(call, lambda _tx: Finished(end, [(EventType.CALL_DONE, done(end))]), fence=fence)


async def journal_visit(journal: SqlJournal | MemoryJournal, call: Call, fence: int) -> None:
    """The same two transactions in one visit to the writer thread."""

    def body(_tx: object, intended_call: Call) -> Finished:
        end = intended_call.with_(status=CallStatus.DONE, result=RESULT, after=IMAGE)
        return Finished(end, [(EventType.CALL_DONE, done(end))])

    await journal.perform(
        call, lambda _tx: [], [(EventType.CALL_INTENDED, intended(call))], body, fence=fence
    )


async def hop(database: Database) -> None:
    """Two visits to the writer thread, each an empty transaction."""
    await database.write(_nothing)
    await database.write(_nothing)


def _nothing(tx: object) -> None:
    del tx


class Clock:
    """Times of each side, in microseconds."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def add(self, name: str, started: float) -> None:
        """One call took from `started` until now."""
        self.times.setdefault(name, []).append((time.perf_counter() - started) * 1e6)

    def median(self, name: str) -> float:
        """In the middle."""
        return statistics.median(self.times[name])


async def measure(calls: int, folder: Path) -> dict[str, float]:
    """Medians in microseconds a call, and the ratio to the floor."""
    floor = Floor(folder / "floor.db")
    database = Database(folder / "journal.db")
    journal, memory = SqlJournal(database), MemoryJournal()
    fence = (await journal.create_run(Run(RUN, "benchmark"))).fence
    await memory.create_run(Run(RUN, "benchmark"))
    clock = Clock()
    for first in range(1, calls + 1, ROUND):
        numbers = range(first, first + ROUND)
        for prepared in [floor.prepare(number) for number in numbers]:
            started = time.perf_counter()
            floor.call(prepared)
            clock.add("floor", started)
        for name, action in _sides(journal, memory, database, fence).items():
            for number in numbers:
                call = a_call(number, name)
                started = time.perf_counter()
                await action(call)
                clock.add(name, started)
    await journal.close()
    database.close()
    floor.connection.close()
    figures = {name: round(clock.median(name), 1) for name in clock.times}
    ratios = {
        f"{name}_ratio": round(clock.median(name) / clock.median("floor"), 2)
        for name in ("journal", "perform")
    }
    return {**figures, **ratios}


def _sides(
    journal: SqlJournal, memory: MemoryJournal, database: Database, fence: int
) -> dict[str, Callable[[Call], Any]]:
    return {
        "journal": lambda call: journal_call(journal, call, fence),
        "perform": lambda call: journal_visit(journal, call, fence),
        "memory": lambda call: journal_call(memory, call, fence),
        "hops": lambda _call: hop(database),
    }


def statements(calls: int, folder: Path) -> dict[str, float]:
    """One insert of an event three ways, inside one transaction: what `Prepared` saves."""
    from surefoot.journal import tables
    from surefoot.journal.statements import EVENT_INSERT

    clock = Clock()
    with Database(folder / "statements.db") as database:
        asyncio.run(SqlJournal(database).create_run(Run(RUN, "benchmark")))

        def work(tx: Connection) -> None:
            raw = sqlite.driver(tx)
            core = tables.events.insert()
            sql = "INSERT INTO events (run, seq, type, data, at) VALUES (?, ?, ?, ?, ?)"
            for number in range(1, calls + 1):
                values: dict[str, Any] = {
                    "run": RUN,
                    "seq": 3 * number,
                    "type": "notice",
                    "data": "{}",
                    "at": AT,
                }
                started = time.perf_counter()
                EVENT_INSERT.run(tx, **values)
                clock.add("prepared", started)
                values["seq"] += 1
                started = time.perf_counter()
                tx.execute(core, values)
                clock.add("core", started)
                values["seq"] += 1
                started = time.perf_counter()
                raw.execute(sql, tuple(values.values()))
                clock.add("raw", started)

        database.write_sync(work)
    assert isinstance(EVENT_INSERT, Prepared)
    return {f"insert_{name}": round(clock.median(name), 1) for name in clock.times}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=2000, help="calls of each side")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(given.calls, Path(folder))) | statements(given.calls, Path(folder))
    if given.json:
        print(json.dumps(figures))
        return
    print(f"floor, two raw sqlite3 transactions   {figures['floor']:8.1f} us a call")
    print(
        f"SqlJournal intend + finish            {figures['journal']:8.1f}    {figures['journal_ratio']:.2f}x the floor"
    )
    print(
        f"SqlJournal perform, one visit         {figures['perform']:8.1f}    {figures['perform_ratio']:.2f}x the floor"
    )
    print(f"two visits with empty transactions    {figures['hops']:8.1f}")
    print(f"MemoryJournal intend + finish         {figures['memory']:8.1f}")
    print(
        f"one insert: raw {figures['insert_raw']}, prepared {figures['insert_prepared']}, core {figures['insert_core']}"
    )


if __name__ == "__main__":
    main()
