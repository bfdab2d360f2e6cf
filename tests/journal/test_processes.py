"""Several processes and one journal, on each kind of database: leases, fences, counters, cancelling."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap

import pytest

from surefoot.errors import StateError
from surefoot.events import EventType
from surefoot.journal import SqlJournal
from surefoot.journal.types import Call, CallStatus, Finished, Run, RunStatus
from surefoot.storage import Database
from surefoot.tools.types import Effect

RUN = "0123456789abcdef"


@pytest.fixture
async def journal(place, clock):
    with Database(place) as database:
        opened = SqlJournal(database, clock)
        yield opened
        await opened.close()


def _child(path, body, **how):
    script = (
        "import asyncio, sys\nfrom surefoot.storage import Database\nfrom surefoot.journal import SqlJournal\n"
        "from surefoot.journal.owner import current_owner\nfrom surefoot.errors import StateError\n"
        "from surefoot.journal.types import *\nfrom surefoot.tools.types import Effect\n"
        "async def main(journal):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\n"
        "with Database(sys.argv[1]) as database:\n    asyncio.run(main(SqlJournal(database)))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        **how,
    )


async def _join(child):
    said, _ = await asyncio.to_thread(child.communicate, timeout=60)
    assert child.returncode == 0
    return said.strip()


async def test_two_processes_claim_and_one_gets_it(journal, place):
    """Claims are atomic across processes: of several that start together exactly one holds the run."""
    await journal.create_run(Run(RUN, "g"))
    body = f"""
    sys.stdin.readline()
    try:
        run = await journal.claim({RUN!r}, current_owner())
        print(run.owner)
        sys.stdout.flush()
        sys.stdin.readline()
    except StateError as error:
        print("refused")
        sys.stdout.flush()
        sys.stdin.readline()
    """
    children = [_child(place, body) for _ in range(4)]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [(await asyncio.to_thread(child.stdout.readline)).strip() for child in children]
    assert sorted(one == "refused" for one in said) == [False, True, True, True]
    assert (await journal.run(RUN)).owner == next(one for one in said if one != "refused")
    for child in children:
        child.stdin.write("end\n")
        child.stdin.flush()
    for child in children:
        await _join(child)


async def test_a_killed_process_is_known_at_once(journal, place):
    """No expiry to wait for: its run is interrupted, its call shown so, and another takes it up."""
    await journal.create_run(Run(RUN, "g"))
    body = f"""
    run = await journal.claim({RUN!r}, current_owner())
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    await journal.intend(Call(run.id, "step.1", 0, "c", "addNote", {{}}, Effect.WRITE), None, fence=run.fence)
    print("ready", flush=True)
    sys.stdin.readline()
    """
    child = _child(place, body)
    assert (await asyncio.to_thread(child.stdout.readline)).strip() == "ready"
    assert await journal.release_dead() == []
    child.kill()
    await asyncio.to_thread(child.communicate)
    assert [run.id for run in await journal.release_dead()] == [RUN]
    assert [call.status for call in await journal.calls(RUN)] == [CallStatus.INTERRUPTED]


async def test_another_process_follows_the_events(journal, place):
    """A reader elsewhere sees every event once, in order, while this process writes."""
    await journal.create_run(Run(RUN, "g"))
    body = f"""
    last, seen = 0, []
    while last < 120:
        for event in await journal.events({RUN!r}, after=last):
            seen.append(event.seq)
            last = event.seq
    print(seen == list(range(1, 121)))
    """
    child = _child(place, body)
    for number in range(40):
        call = Call(RUN, f"step.{number}", 0, "c", "addNote", {}, Effect.WRITE)
        call = await journal.intend(call, None, [(EventType.CALL_INTENDED, {}), (EventType.NOTICE, {})])
        end = call.with_(status=CallStatus.DONE)
        await journal.finish(call, lambda _, end=end: Finished(end, [(EventType.CALL_DONE, {})]))
    assert await _join(child) == "True"


async def test_two_processes_write_to_one_run(journal, place):
    """Counters stay whole when events come from two sides (a run that works, a person who cancels)."""
    await journal.create_run(Run(RUN, "g"))
    body = f"""
    from surefoot.events import EventType
    for number in range(50):
        await journal.append({RUN!r}, [(EventType.NOTICE, {{"text": "theirs"}})])
    """
    child = _child(place, body)
    for _ in range(50):
        await journal.append(RUN, [(EventType.NOTICE, {"text": "mine"})])
    await _join(child)
    events = await journal.events(RUN)
    assert [one.seq for one in events] == list(range(1, 101))
    assert sum(one.data["text"] == "mine" for one in events) == 50


async def test_a_cancel_from_elsewhere_stops_the_next_call(journal, place):
    """Without the lease, `cancel` in another process is final: the worker's next intent is refused."""
    run = await journal.create_run(Run(RUN, "g"))
    run = await journal.claim(RUN, "host/1/x")
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    body = f"""
    run = await journal.run({RUN!r})
    await journal.set_run(run.with_(status=RunStatus.CANCELLED, fence=0))
    """
    await _join(_child(place, body))
    with pytest.raises(StateError, match="cancelled"):
        await journal.intend(Call(RUN, "k", 0, "c", "t", {}, Effect.READ), None, fence=run.fence)


async def test_a_worker_that_was_only_paused_writes_nothing(journal, place):
    """Its lease was taken over by another process: every write that names its old fence is refused there."""
    run = await journal.create_run(Run(RUN, "g"))
    run = await journal.claim(RUN, "elsewhere/1/x")
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    call = await journal.intend(Call(RUN, "k", 0, "c", "t", {}, Effect.WRITE), None, fence=run.fence)
    body = f"""
    from datetime import timedelta
    from surefoot.journal import codec
    journal._clock = lambda: codec.now() + timedelta(days=400)
    run = await journal.claim({RUN!r}, current_owner())
    print(run.fence)
    """
    assert await _join(_child(place, body)) != str(run.fence)
    with pytest.raises(StateError, match="taken over"):
        await journal.finish(call.with_(status=CallStatus.DONE), None, fence=run.fence)
    with pytest.raises(StateError, match="taken over"):
        await journal.intend(Call(RUN, "l", 0, "c", "t", {}, Effect.WRITE), None, fence=run.fence)
    with pytest.raises(StateError, match="taken over"):
        await journal.set_run(run.with_(status=RunStatus.DONE))


async def test_two_processes_release_the_dead_at_once(journal, place):
    """Each abandoned run is interrupted once, by one of them."""
    names = [f"{number:016x}" for number in range(20)]
    for name in names:
        run = await journal.claim((await journal.create_run(Run(name, "g"))).id, "elsewhere/1/x")
        await journal.set_run(run.with_(status=RunStatus.RUNNING))
    body = """
    from datetime import timedelta
    from surefoot.journal import codec
    journal._clock = lambda: codec.now() + timedelta(days=400)
    print("ready", flush=True)
    sys.stdin.readline()
    print(*[run.id for run in await journal.release_dead()])
    """
    children = [_child(place, body) for _ in range(3)]
    for child in children:
        assert (await asyncio.to_thread(child.stdout.readline)).strip() == "ready"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [name for child in children for name in (await _join(child)).split()]
    assert sorted(said) == names
    for name in names:
        assert [event.data["status"] for event in await journal.events(name)] == ["interrupted"]


async def test_many_processes_write_at_once_and_nothing_is_lost(journal, place):
    """Calls of one run from several sides: ordinals and events without a gap, and every row a body wrote."""
    await journal.create_run(Run(RUN, "g"))
    await journal.transact(lambda tx: tx.exec_driver_sql("CREATE TABLE counter (n INTEGER)"))
    await journal.transact(lambda tx: tx.exec_driver_sql("INSERT INTO counter VALUES (0)"))
    body = f"""
    from surefoot.events import EventType
    from sqlalchemy import text
    def counted(tx, call):
        # Read, then written: lost where two did it at once and nobody noticed.
        n = tx.exec_driver_sql("SELECT n FROM counter").scalar()
        tx.execute(text("UPDATE counter SET n = :n"), {{"n": n + 1}})
        return Finished(call.with_(status=CallStatus.DONE), [(EventType.CALL_DONE, {{}})])
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(25):
        key = f"{{current_owner()}}.{{number}}"
        call = Call({RUN!r}, key, 0, "c", "t", {{}}, Effect.WRITE)
        await journal.perform(call, None, [(EventType.CALL_INTENDED, {{}})], counted)
    """
    children = [_child(place, body) for _ in range(3)]
    for child in children:
        assert (await asyncio.to_thread(child.stdout.readline)).strip() == "ready"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        await _join(child)
    calls = await journal.calls(RUN)
    assert [call.ordinal for call in calls] == list(range(1, 76))
    assert {call.status for call in calls} == {CallStatus.DONE}
    assert [event.seq for event in await journal.events(RUN)] == list(range(1, 151))
    assert await journal.transact(lambda tx: tx.exec_driver_sql("SELECT n FROM counter").scalar()) == 75
