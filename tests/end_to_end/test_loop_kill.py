"""Kill -9 at any moment of the native loop: nothing is lost, nothing is done twice, everything can be taken back."""

from __future__ import annotations

import random

import pytest

from surefoot.journal.types import CallStatus, RunStatus

from .test_kill import finished, killed_at, shelf, titles
from .victim import STEPS, assistant


@pytest.mark.parametrize("seed", range(4))
async def test_a_loop_killed_anywhere_goes_on_and_is_then_taken_back(tmp_path, monkeypatch, seed):
    """Its finished rounds come from the journal; a call whose end is not known is told to the model as such."""
    monkeypatch.setenv("VICTIM_LOOP", "1")
    order = random.Random(seed)
    assert killed_at("ask", tmp_path, order.randint(2, 2 * STEPS), order)
    async with assistant(tmp_path) as ours:
        journal = await ours.journal()
        await journal.release_dead()
        run, *_ = await journal.runs()
        assert run.status is RunStatus.INTERRUPTED
        assert all(call.status is not CallStatus.INTENDED for call in await journal.calls(run.id))
    finished("resume", tmp_path, run.id)
    async with assistant(tmp_path) as ours:
        journal = await ours.journal()
        run = await journal.run(run.id)
        assert (run.status, run.reply) == (RunStatus.DONE, "All done.")
        assert await titles(ours) == sorted(f"T{number}" for number in range(STEPS))
        assert shelf(tmp_path) == {f"f{number}": "once." for number in range(STEPS)}
        calls = await journal.calls(run.id)
        assert [call.key for call in calls] == [
            f"round.{1 + n // STEPS}/{n % STEPS}" for n in range(2 * STEPS)
        ]
        assert [entry.key for entry in await journal.model_calls(run.id)] == ["round.1", "round.2", "round.3"]
    finished("undo", tmp_path, run.id)
    async with assistant(tmp_path) as ours:
        assert await titles(ours) == []
        doubtful = {call.arguments["name"] for call in calls if call.status is CallStatus.UNKNOWN}
        assert set(shelf(tmp_path)) == doubtful
