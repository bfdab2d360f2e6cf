"""Kill -9 at any moment: the journal opens, is whole, and tells the truth."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest
from sqlalchemy import text

from surefoot.journal import SqlJournal
from surefoot.journal.owner import current_owner
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.storage import Database

KILLS = {"sqlite": 30, "postgresql": 10}
"""The file is what a kill could damage; a server keeps its own."""
SEED = 20261130

WORKER = """
import asyncio, itertools, sys
from sqlalchemy import text
from surefoot.events import EventType
from surefoot.journal import SqlJournal
from surefoot.journal.owner import current_owner
from surefoot.journal.types import Call, CallStatus, Finished, Run, RunStatus
from surefoot.storage import Database
from surefoot.tools.types import Effect

EFFECTS = [Effect.WRITE, Effect.READ, Effect.EXTERNAL]

def written(call):
    def body(tx):
        tx.execute(text("INSERT INTO effects VALUES (:run, :key)"), {"run": call.run, "key": call.key})
        end = call.with_(status=CallStatus.DONE, result=call.key)
        return Finished(end, [(EventType.CALL_DONE, {"call": call.id})])
    return body

async def main(journal, run_id):
    run = await journal.create_run(Run(run_id, "work"), [(EventType.RUN_CREATED, {})])
    run = await journal.claim(run_id, current_owner())
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING), [(EventType.RUN_STATUS, {})])
    print("ready", flush=True)
    for number in itertools.count():
        effect = EFFECTS[number % 3]
        call = Call(run_id, f"step.{number}", 0, f"c{number}", "work", {"n": number}, effect)
        intended = [(EventType.CALL_INTENDED, {"call": call.id})]
        if number % 2:
            await journal.perform(call, None, intended, lambda tx, made: written(made)(tx), fence=run.fence)
            continue
        call = await journal.intend(call, None, intended, fence=run.fence, durable=effect is Effect.EXTERNAL)
        await journal.finish(call, written(call), fence=run.fence)

with Database(sys.argv[1]) as database:
    asyncio.run(main(SqlJournal(database), sys.argv[2]))
"""


@pytest.fixture
def path(place):
    with Database(place) as database:
        database.write_sync(
            lambda tx: tx.exec_driver_sql("CREATE TABLE effects (run TEXT, key TEXT, PRIMARY KEY (run, key))")
        )
    return place


async def _look(path, run_id):
    """What the next process finds: every consistency that a resume relies on."""
    with Database(path) as database:
        journal = SqlJournal(database)
        if database.path is not None:
            check = database.read_sync(lambda tx: tx.exec_driver_sql("PRAGMA integrity_check").scalar())
            assert check == "ok"
            broken = database.read_sync(lambda tx: tx.exec_driver_sql("PRAGMA foreign_key_check").fetchall())
            assert broken == []
        assert [run.id for run in await journal.release_dead()] == [run_id]
        run = await journal.run(run_id)
        assert (run.status, run.owner) == (RunStatus.INTERRUPTED, "")
        calls = await journal.calls(run_id)
        assert [call.ordinal for call in calls] == list(range(1, len(calls) + 1))
        # One call after another: all but the last have ended, and the last is told as what is known of it.
        assert all(call.status is CallStatus.DONE for call in calls[:-1])
        if calls and calls[-1].status is not CallStatus.DONE:
            expected = CallStatus.UNKNOWN if calls[-1].effect == "external" else CallStatus.INTERRUPTED
            assert calls[-1].status is expected
        effects = database.read_sync(
            lambda tx: set(
                tx.execute(text("SELECT key FROM effects WHERE run = :run"), {"run": run_id}).scalars()
            )
        )
        assert effects == {call.key for call in calls if call.status is CallStatus.DONE}
        events = await journal.events(run_id)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        kinds = [str(event.type) for event in events]
        assert kinds.count("call.intended") == len(calls)
        assert kinds.count("call.done") == len(effects)
        assert (await journal.claim(run_id, current_owner())).fence > run.fence
        await journal.set_run((await journal.run(run_id)).with_(status=RunStatus.CANCELLED))
        await journal.close()
    return len(effects)


async def test_killed_at_any_moment(path):
    """Process after process is killed while they write; each time the journal opens, is whole, and no result lacks its row."""
    chance = random.Random(SEED)
    done, kills = 0, KILLS["postgresql" if "://" in str(path) else "sqlite"]
    for number in range(kills):
        run_id = f"{number:016x}"
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), run_id], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert worker.stdout.readline() == b"ready\n"
        time.sleep(chance.random() * 0.05)
        worker.send_signal(signal.SIGKILL)
        _, said = worker.communicate()
        assert (worker.returncode, said) == (-signal.SIGKILL, b"")
        done += await _look(path, run_id)
    assert done > kills  # they did work before they died
    with Database(path) as database:
        assert (
            database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM effects").scalar()) == done
        )


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_killed_while_the_database_is_made(new_place, delay):
    """A first start that dies half-way leaves nothing that a second start cannot finish."""
    script = "import sys; from surefoot.storage import Database; print(1, flush=True); Database(sys.argv[1]).close()"
    worker = subprocess.Popen([sys.executable, "-c", script, new_place], stdout=subprocess.PIPE)
    worker.stdout.readline()
    time.sleep(delay)
    worker.kill()
    worker.communicate()
    with Database(new_place) as database:
        assert database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM runs").scalar()) == 0
        if database.path is not None:
            assert (
                database.read_sync(lambda tx: tx.exec_driver_sql("PRAGMA integrity_check").scalar()) == "ok"
            )
