"""Ours: `run_loop` over the journal in memory and the one on disk, and the floor of what a disk costs.

A run is timed from its first entry in the journal to its last: it is created, works and ends. Its tool writes, so every
call is checked, counted, and committed twice (intent, result); each model call is a commit more.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from functools import cache
from typing import Any

from worker import DESCRIPTION, DONE, GOAL, NAME, PARAMETERS, SYSTEM, Clock, Task, arguments, folder, serve

from surefoot.journal import MemoryJournal, SqlJournal
from surefoot.journal.types import Journal, RunStatus
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Message, ToolCall, Usage
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.loop import run_loop
from surefoot.running.loop_types import LoopGoal
from surefoot.running.session import Session
from surefoot.settings import load_settings
from surefoot.storage import Database, sqlite
from surefoot.storage.database import BUSY_SECONDS
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor, Effect, Tool

USAGE = Usage(prompt_tokens=200, output_tokens=20)
"""Given, so that the scripted model does not count the tokens of the whole history for each answer."""

SETTINGS = load_settings()


async def add_task(title: str, due: str) -> dict[str, Any]:
    """The tool as a coroutine: it needs no thread."""
    return Task.add(title, due)


CATALOGUE = Catalogue([Tool(NAME, DESCRIPTION, PARAMETERS, Effect.WRITE, add_task, where="loop")])


def model(rounds: int) -> ScriptedModel:
    """One call in each answer, then words."""
    calls = [ToolCall(f"c{number}", NAME, arguments(number)) for number in range(rounds)]
    return ScriptedModel(*calls, DONE, usage=USAGE)


async def run(journal: Journal, rounds: int) -> float:
    """A whole run."""
    script = model(rounds)
    goal = LoopGoal((Message("system", SYSTEM), Message("user", GOAL)))
    with Clock() as clock:
        new = lifecycle.new_run(
            GOAL, kind="ask", actor=Actor(), now=datetime.now(UTC), zone="UTC", language="en", owner=""
        )
        started = await journal.create_run(new.with_(status=RunStatus.RUNNING))
        session = Session(started, journal, CATALOGUE, SETTINGS, Budget(NO_LIMITS))
        report = await run_loop(session, script, goal)
        await session.rest(RunStatus.DONE, reply=report.reply)
    assert (report.reply, len(report.calls), all(one.ok for one in report.outcomes)) == (DONE, rounds, True)
    return clock.seconds


async def memory(rounds: int) -> float:
    """Nothing is kept."""
    return await run(MemoryJournal(), rounds)


@cache
def kept() -> SqlJournal:
    """The journal of this process, on disk: a program opens one, and its runs come after one another."""
    return SqlJournal(Database(folder() / "journal.db"))


async def durable(rounds: int) -> float:
    """Everything is committed to a file, in WAL mode with synchronous=NORMAL, like all durable sides."""
    return await run(kept(), rounds)


@cache
def floor() -> sqlite3.Connection:
    """A file with the same pragmas, and nothing in between."""
    connection = sqlite3.connect(folder() / "floor.db", isolation_level=None)
    for pragma in sqlite.pragmas(BUSY_SECONDS, read_only=False):
        connection.execute(pragma)
    connection.execute("CREATE TABLE calls (id INTEGER PRIMARY KEY, arguments TEXT, result TEXT)")
    return connection


async def commits(rounds: int) -> float:
    """Two commits a call in raw sqlite3, one row each: nobody who writes the intent before the call can do less."""
    execute = floor().execute
    with Clock() as clock:
        for number in range(rounds):
            given = arguments(number)
            execute("BEGIN IMMEDIATE")
            new = execute("INSERT INTO calls (arguments) VALUES (?)", (json.dumps(given),)).lastrowid
            execute("COMMIT")
            result = Task.add(**given)
            execute("BEGIN IMMEDIATE")
            execute("UPDATE calls SET result = ? WHERE id = ?", (json.dumps(result), new))
            execute("COMMIT")
    return clock.seconds


if __name__ == "__main__":
    serve({"memory": memory, "durable": durable, "commits": commits}, ("surefoot",))
