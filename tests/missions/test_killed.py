"""Kill -9 in the middle of an execution: its row says so, it goes on where it was, and its mission runs again."""

from __future__ import annotations

import os
import subprocess
import sys

from surefoot import ScriptedModel
from surefoot.journal.types import RunStatus
from surefoot.missions import execute, executions
from surefoot.missions.execution import settle

from .support import ME, assistant, mission, titles, write

VICTIM = """
import asyncio, os, signal, sys
from surefoot import Assistant, ScriptedModel, ToolCall
from surefoot.missions import execute

async def die(_request):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    model = ScriptedModel(ToolCall("c1", "addTask", {"title": "Milk"}), die)
    async with Assistant(model=model, kits=("notes", "tasks", "memory")) as ours:
        await execute(ours, sys.argv[1])

asyncio.run(main())
"""


async def test_a_killed_execution_goes_on_where_it_was():
    """What it wrote is not written twice; until it has ended nobody else runs the mission."""
    model = ScriptedModel("Milk is on the list.", "Nothing to do.")
    async with assistant(model) as ours:
        made = await mission(ours)
        killed = subprocess.run([sys.executable, "-c", VICTIM, made.id], env=dict(os.environ), check=False)
        assert killed.returncode == -9
        journal = await ours.journal()
        (changed,) = await settle(journal)
        assert (changed.status, changed.phase, changed.ended_at) == ("interrupted", "work", None)
        assert [call["status"] for call in changed.calls] == ["done"]
        assert (await ours.resume(changed.id)).status is RunStatus.DONE
        await settle(journal)
        done = await write(ours, lambda tx: executions.get(tx, changed.id))
        assert (done.status, done.summary) == ("done", "Milk is on the list.")
        assert await titles(ours) == ["Milk"]
        assert (await execute(ours, made, actor=ME)).number == 2
        assert (await ours.undo(done.id)).taken_back == 1
        assert await titles(ours) == []
    model.assert_done()
