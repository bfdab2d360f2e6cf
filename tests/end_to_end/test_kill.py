"""Kill -9 at any moment: nothing is lost, nothing is done twice, everything can still be taken back."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import StateError
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.tools.kits import tasks

from .victim import STEPS, assistant

VICTIM = Path(__file__).parent / "victim.py"


def start(what: str, folder: Path, run: str = "last") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(VICTIM), what, str(folder), run],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_at(what: str, folder: Path, places: int, order: random.Random, run: str = "last") -> bool:
    """Kill it a moment after it has told that many places; True when that was before its end."""
    process = start(what, folder, run)
    assert process.stdout is not None
    for _ in range(places):
        process.stdout.readline()
    time.sleep(order.uniform(0.0, 0.02))
    os.kill(process.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode in {0, -signal.SIGKILL}, errors
    return process.returncode != 0


def finished(what: str, folder: Path, run: str = "last") -> None:
    done = subprocess.run(
        [sys.executable, str(VICTIM), what, str(folder), run],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def shelf(folder: Path) -> dict[str, str]:
    """What was written outside the database: "once." for each time."""
    return {path.name: path.read_text() for path in (folder / "shelf").iterdir()}


async def titles(ours: Any) -> list[str]:
    journal = await ours.journal()
    return sorted(row["title"] for row in await journal.transact(tasks.list_rows))


@pytest.mark.parametrize("seed", range(6))
async def test_a_run_killed_anywhere_goes_on_and_is_then_taken_back_through_another_kill(tmp_path, seed):
    """Killed while it runs, killed while it resumes, finished; killed while it is undone, finished."""
    order = random.Random(seed)
    assert killed_at("ask", tmp_path, order.randint(2, 2 * STEPS), order)
    async with assistant(tmp_path) as ours:
        journal = await ours.journal()
        await journal.release_dead()
        runs = await journal.runs()
        if not runs:  # killed before the first write: nothing was asked as far as anybody knows
            assert await titles(ours) == []
            return
        run = runs[0]
        assert run.status in {RunStatus.INTERRUPTED, RunStatus.DONE}
        assert all(call.status is not CallStatus.INTENDED for call in await journal.calls(run.id))
    if run.status is RunStatus.INTERRUPTED:
        killed_at("resume", tmp_path, order.randint(1, 3), order, run.id)
        async with assistant(tmp_path) as ours:
            await (await ours.journal()).release_dead()
            unfinished = (await (await ours.journal()).run(run.id)).status is RunStatus.INTERRUPTED
        if unfinished:
            finished("resume", tmp_path, run.id)
    async with assistant(tmp_path) as ours:
        journal = await ours.journal()
        assert (await journal.run(run.id)).status is RunStatus.DONE
        assert await titles(ours) == sorted(f"T{number}" for number in range(STEPS))
        calls = await journal.calls(run.id)
        assert len(calls) == 2 * STEPS
        doubtful = [call for call in calls if call.status is CallStatus.UNKNOWN]
        assert all(call.tool == "put" for call in doubtful)
        assert shelf(tmp_path) == {f"f{number}": "once." for number in range(STEPS)}
    killed_at("undo", tmp_path, order.randint(1, 4), order, run.id)
    finished("undo", tmp_path, run.id)
    async with assistant(tmp_path) as ours:
        assert await titles(ours) == []
        assert set(shelf(tmp_path)) == {call.arguments["name"] for call in doubtful}


async def test_two_processes_at_once_share_one_journal(tmp_path):
    """Both runs end, each with its own rows; none waits for ever."""
    processes = [start("ask", tmp_path) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    async with assistant(tmp_path) as ours:
        runs = await (await ours.journal()).runs()
        assert [run.status for run in runs] == [RunStatus.DONE] * 2
        assert len(await titles(ours)) == 2 * STEPS


async def test_a_run_in_work_cannot_be_resumed_or_undone_by_another_process(tmp_path, monkeypatch):
    """The lease of a living owner holds: here it stays in a tool, outside any transaction."""
    monkeypatch.setenv("VICTIM_STAYS", "30")
    process = start("ask", tmp_path)
    assert process.stdout is not None
    try:
        monkeypatch.setenv("VICTIM_STAYS", "0")
        async with assistant(tmp_path) as ours:
            journal = await ours.journal()
            async with asyncio.timeout(30):
                run = await _in_a_tool(journal)
            with pytest.raises(StateError, match="worked on"):
                await ours.resume(run.id)
            with pytest.raises(StateError, match="worked on"):
                await ours.undo(run.id)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


async def _in_a_tool(journal: Any) -> Any:
    """The only run, once it has begun the call that stays."""
    while True:
        for run in await journal.runs():
            if any(call.tool == "put" for call in await journal.calls(run.id)):
                return run
        await asyncio.sleep(0.01)
