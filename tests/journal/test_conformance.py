"""What every journal does: runs, leases, calls, events, dialogues, memories."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy

from surefoot import redaction
from surefoot.errors import AmbiguousError, MisuseError, NotFoundError, StateError
from surefoot.events import LIVE_ONLY, EventType
from surefoot.journal.lease import LEASE_SECONDS
from surefoot.journal.owner import current_owner
from surefoot.journal.types import (
    ACTIVE,
    FINAL,
    Call,
    CallStatus,
    Finished,
    Memory,
    ModelCall,
    Run,
    RunStatus,
)
from surefoot.tools.types import Actor, Effect

RUN = "0123456789abcdef"
ELSEWHERE = "other-host:1/77/start"


def new_run(run_id=RUN, **given):
    return Run(run_id, "do it", **given)


def a_call(key="step.1", run=RUN, **given):
    given = {"tool": "addNote", "arguments": {"title": "x"}, "effect": Effect.WRITE, **given}
    return Call(run=run, key=key, ordinal=0, id=f"id-{key}", **given)


def note(text):
    return (EventType.NOTICE, {"text": text})


async def texts(journal, run=RUN):
    return [event.data.get("text") for event in await journal.events(run)]


async def running(journal, run_id=RUN, owner=""):
    run = await journal.create_run(new_run(run_id))
    if owner:
        run = await journal.claim(run_id, owner)
    return await journal.set_run(run.with_(status=RunStatus.RUNNING))


# --- runs ----------------------------------------------------------------------------------------------------


async def test_a_run_is_kept_whole(journal):
    """Every field of a run comes back as it was given."""
    run = new_run(
        kind="undo",
        actor=Actor("mission", "Täglich: früh"),
        context={
            "now": "2026-11-30T18:30:00+01:00",
            "dialogue": "d",
            "deep": [{"b": None, "a": [1, 2.5, True]}],
        },
        parent="fedcba9876543210",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=5))),
    )
    made = await journal.create_run(run)
    kept = await journal.run(RUN)
    assert kept == made
    assert kept.with_(updated_at=None) == run.with_(updated_at=None)
    assert kept.updated_at is not None
    done = made.with_(
        status=RunStatus.DONE,
        reply="fertig ✓",
        incomplete=True,
        stopped_by="rounds",
        error={"code": "x", "message": "y"},
    )
    written = await journal.set_run(done)
    assert await journal.run(RUN) == written
    assert written.with_(updated_at=None) == done.with_(updated_at=None)
    assert written.updated_at > made.updated_at


async def test_the_journal_gives_a_run_its_times(journal):
    """A run without times gets them, aware and in UTC."""
    run = await journal.create_run(new_run())
    assert run.created_at == run.updated_at
    assert run.created_at.utcoffset() == timedelta(0)


async def test_an_id_is_given_once(journal):
    """A second run of the same id is refused and leaves the first as it is."""
    await journal.create_run(new_run())
    with pytest.raises(StateError, match=RUN):
        await journal.create_run(new_run(kind="undo"))
    assert (await journal.run(RUN)).kind == "ask"


async def test_only_results_of_a_run_change(journal):
    """Goal, kind, actor, parent and lease are not written by `set_run`."""
    run = await journal.create_run(new_run())
    other = run.with_(
        goal="other", kind="undo", parent="p", owner="me", actor=Actor("person", "p"), reply="r"
    )
    written = await journal.set_run(other)
    assert written == await journal.run(RUN)
    assert written.with_(updated_at=None) == run.with_(reply="r", updated_at=None)


async def test_what_is_not_there_is_not_found(journal):
    """Unknown runs are named, in whatever is asked or written of them."""
    call = a_call()
    for asked in (
        journal.run("nobody"),
        journal.short_id("nobody"),
        journal.set_run(new_run("nobody")),
        journal.claim("nobody", "me"),
        journal.append("nobody", [note("x")]),
        journal.intend(call, None),
        journal.add_call(call),
        journal.set_call(call),
        journal.finish(call, None),
        journal.add_model_call(ModelCall("nobody", "plan", "plan", "m", {})),
    ):
        with pytest.raises(NotFoundError, match=f"nobody|{RUN}"):
            await asked
    assert (
        await journal.calls("nobody")
        == await journal.events("nobody")
        == await journal.model_calls("nobody")
        == []
    )
    assert await journal.call("nobody", "x") is None
    assert await journal.model_call("nobody", "x") is None


async def test_runs_are_listed_newest_first(journal):
    """By when they were written, limited, and by kind or parent; an empty parent is a value, not a wildcard."""
    old = datetime(2020, 1, 1, tzinfo=UTC)
    await journal.create_run(new_run("a" * 16))
    await journal.create_run(new_run("b" * 16, kind="undo", parent="a" * 16))
    await journal.create_run(new_run("c" * 16, created_at=old))

    async def ids(**by):
        return "".join(run.id[0] for run in await journal.runs(**by))

    assert await ids() == "cba"
    assert await ids(limit=2) == "cb"
    assert await ids(limit=0) == ""
    assert await ids(kind="undo") == "b"
    assert await ids(kind="redo") == ""
    assert await ids(parent="a" * 16) == "b"
    assert await ids(parent="") == "ca"
    assert await ids(kind="ask", parent="a" * 16) == ""


async def test_a_run_is_found_by_a_short_text(journal):
    """Full id, unique prefix of at least 4, or `last`; spaces and capitals do not matter."""
    with pytest.raises(NotFoundError, match="no run yet"):
        await journal.find_run("last")
    await journal.create_run(new_run("abcd111111111111"))
    await journal.create_run(new_run("abcd222222222222"))
    await journal.create_run(new_run("ffff000000000000"))
    assert (await journal.find_run("abcd111111111111")).id == "abcd111111111111"
    assert (await journal.find_run(" ABCD2 ")).id == "abcd222222222222"
    assert (await journal.find_run("ffff")).id == "ffff000000000000"
    assert (await journal.find_run("Last")).id == "ffff000000000000"
    with pytest.raises(AmbiguousError) as raised:
        await journal.find_run("abcd")
    assert sorted(raised.value.details["candidates"]) == ["abcd111111111111", "abcd222222222222"]


@pytest.mark.parametrize(
    "text", ["", "abc", "fff", "abce", "last run", "%", "____", "abcd%", "ff'f", "fffg", "ffff0000000000001"]
)
async def test_a_text_that_fits_no_run_is_not_found(journal, text):
    """Too short, unknown, or no id at all: never a run by chance, never a pattern."""
    await journal.create_run(new_run("ffff000000000000"))
    await journal.create_run(new_run("abcd111111111111"))
    with pytest.raises(NotFoundError):
        await journal.find_run(text)


async def test_the_short_id_is_the_shortest_unique_prefix(journal):
    """At least 4 characters, and one more than what any other run shares."""
    await journal.create_run(new_run("abcd111111111111"))
    assert await journal.short_id("abcd111111111111") == "abcd"
    await journal.create_run(new_run("abcd122222222222"))
    await journal.create_run(new_run("abce000000000000"))
    await journal.create_run(new_run("0000000000000000"))
    assert await journal.short_id("abcd111111111111") == "abcd11"
    assert await journal.short_id("abcd122222222222") == "abcd12"
    assert await journal.short_id("abce000000000000") == "abce"
    for run in await journal.runs():
        assert (await journal.find_run(await journal.short_id(run.id))).id == run.id


async def test_a_final_status_never_changes(journal):
    """Done, failed and cancelled stay; above all, cancelled never becomes done. Its fields may still be written."""
    for number, final in enumerate(sorted(FINAL)):
        run = await running(journal, f"{number}" * 16)
        await journal.set_run(run.with_(status=final))
        for status in RunStatus:
            if status is not final:
                with pytest.raises(StateError, match=str(final)):
                    await journal.set_run(run.with_(status=status), [note("never")])
        late = await journal.set_run(run.with_(status=final, reply="late"))
        assert (late.status, late.reply) == (final, "late")
        assert await texts(journal, run.id) == []


async def test_a_run_moves_only_where_it_may(journal):
    """A run that never began does not wait for a person; the error lists what is possible."""
    run = await journal.create_run(new_run())
    with pytest.raises(StateError, match="planning") as raised:
        await journal.set_run(run.with_(status=RunStatus.NEEDS_APPROVAL))
    assert raised.value.details == {"run": RUN, "status": "queued", "wanted": "needs_approval"}
    assert (await journal.run(RUN)).status is RunStatus.QUEUED


# --- leases --------------------------------------------------------------------------------------------------


async def test_claiming_raises_the_fence(journal):
    """Each lease has a greater number, also for the same owner."""
    await journal.create_run(new_run())
    me = current_owner()
    first = await journal.claim(RUN, me)
    second = await journal.claim(RUN, me)
    assert (first.owner, first.fence, second.fence) == (me, 1, 2)
    assert await journal.run(RUN) == second


async def test_a_run_may_be_made_with_its_owner(journal):
    """Who creates a run for itself holds it from the start."""
    run = await journal.create_run(new_run(owner=ELSEWHERE))
    assert (run.owner, run.fence) == (ELSEWHERE, 1)
    with pytest.raises(StateError, match="other-host"):
        await journal.claim(RUN, current_owner())


async def test_a_living_owner_keeps_its_run(journal):
    """This very process lives; nobody else takes its run."""
    await journal.create_run(new_run())
    held = await journal.claim(RUN, current_owner())
    with pytest.raises(StateError, match="being worked on"):
        await journal.claim(RUN, ELSEWHERE)
    assert await journal.run(RUN) == held
    assert await journal.release_dead() == []


@pytest.mark.parametrize("final", sorted(FINAL))
async def test_a_run_that_ended_is_not_claimed(journal, final):
    """There is nothing left to do in it."""
    run = await journal.create_run(new_run())
    await journal.set_run(run.with_(status=final))
    with pytest.raises(StateError, match=str(final)):
        await journal.claim(RUN, current_owner())


async def test_a_run_at_rest_is_held_by_nobody(journal):
    """Waiting for a person gives the lease back; the fence stays, so late writes still fit."""
    await journal.create_run(new_run())
    run = await journal.claim(RUN, current_owner())
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    assert run.owner == current_owner()
    resting = await journal.set_run(run.with_(status=RunStatus.NEEDS_APPROVAL))
    assert (resting.owner, resting.fence) == ("", 1)
    taken = await journal.claim(RUN, ELSEWHERE)
    assert (taken.owner, taken.fence, taken.status) == (ELSEWHERE, 2, RunStatus.NEEDS_APPROVAL)


async def test_an_older_fence_writes_nothing(journal):
    """A worker that was only paused is stopped at each of its writes, before any body runs."""
    await journal.create_run(new_run())
    old = await journal.claim(RUN, current_owner())
    old = await journal.set_run(old.with_(status=RunStatus.RUNNING))
    call = await journal.intend(a_call(), None, fence=old.fence)
    new = await journal.claim(RUN, current_owner())
    ran = []

    def body(tx):
        ran.append(tx)
        return Finished(call)

    for write in (
        journal.set_run(old.with_(reply="late")),
        journal.intend(a_call("step.2"), ran.append, [note("late")], fence=old.fence),
        journal.finish(call, body, fence=old.fence),
        journal.perform(a_call("step.3"), None, (), lambda tx, _: body(tx), fence=old.fence),
        journal.add_call(a_call("step.2"), [note("late")], fence=old.fence),
        journal.add_model_call(ModelCall(RUN, "plan", "plan", "m", {}), [note("late")], fence=old.fence),
    ):
        with pytest.raises(StateError, match="taken over"):
            await write
    assert ran == []
    assert await journal.calls(RUN) == [call]
    assert await texts(journal) == []
    assert await journal.model_calls(RUN) == []
    await journal.finish(call, None, fence=new.fence)


async def dead_owner():
    """An owner of this host whose process has ended."""
    script = "from surefoot.journal.owner import current_owner; print(current_owner())"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
    said, _ = await child.communicate()
    return said.decode().strip()


async def test_the_runs_of_a_dead_process_are_interrupted(journal):
    """At once on this host; open calls are closed by what is known of them, and all of it is told in events."""
    dead = await dead_owner()
    run = await running(journal, owner=dead)
    for key, effect in (("r", Effect.READ), ("w", Effect.WRITE), ("x", Effect.EXTERNAL)):
        await journal.intend(a_call(key, effect=effect, tool=f"tool-{key}"), None, fence=run.fence)
    done = await journal.intend(a_call("d"), None, fence=run.fence)
    await journal.finish(done.with_(status=CallStatus.DONE, result=1), None, fence=run.fence)
    await journal.add_call(a_call("a", status=CallStatus.WAITING), fence=run.fence)
    released = await journal.release_dead()
    assert [(one.id, one.status, one.owner, one.fence) for one in released] == [
        (RUN, RunStatus.INTERRUPTED, "", run.fence + 1)
    ]
    assert await journal.run(RUN) == released[0]
    calls = await journal.calls(RUN)
    assert {call.key: str(call.status) for call in calls} == {
        "r": "interrupted", "w": "interrupted", "x": "unknown", "d": "done", "a": "waiting",
    }  # fmt: skip
    assert all(call.finished_at for call in calls if call.key in "rwx")
    assert [(event.type, event.data) for event in await journal.events(RUN)] == [
        (EventType.RUN_STATUS, {"status": "interrupted"}),
        (EventType.CALL_INTERRUPTED, {"call": "id-r", "tool": "tool-r"}),
        (EventType.CALL_INTERRUPTED, {"call": "id-w", "tool": "tool-w"}),
        (EventType.CALL_UNKNOWN, {"call": "id-x", "tool": "tool-x"}),
    ]
    assert await journal.release_dead() == []
    with pytest.raises(StateError, match="taken over"):
        await journal.finish(calls[0], None, fence=run.fence)


async def test_claiming_from_a_dead_process_closes_its_calls(journal):
    """Who claims without `release_dead` sees the same truth."""
    run = await running(journal, owner=await dead_owner())
    await journal.intend(a_call(effect=Effect.EXTERNAL), None, fence=run.fence)
    taken = await journal.claim(RUN, current_owner())
    assert (taken.status, taken.owner) == (RunStatus.INTERRUPTED, current_owner())
    assert taken.fence > run.fence
    assert [call.status for call in await journal.calls(RUN)] == [CallStatus.UNKNOWN]
    assert [event.type for event in await journal.events(RUN)] == [
        EventType.RUN_STATUS,
        EventType.CALL_UNKNOWN,
    ]


async def test_an_owner_on_another_host_is_gone_when_it_gives_no_sign(journal, clock):
    """It cannot be looked at from here: its lease ends by time."""
    await running(journal, owner=ELSEWHERE)
    clock.forward(LEASE_SECONDS - 1)
    assert await journal.release_dead() == []
    with pytest.raises(StateError):
        await journal.claim(RUN, current_owner())
    clock.forward(2)
    assert [run.id for run in await journal.release_dead()] == [RUN]


async def test_only_active_runs_are_released(journal, clock):
    """Runs at rest, ended ones, and runs that nobody took are left alone."""
    await running(journal, "a" * 16)
    resting = await running(journal, "b" * 16, owner=ELSEWHERE)
    await journal.set_run(resting.with_(status=RunStatus.NEEDS_INPUT))
    ended = await running(journal, "c" * 16, owner=ELSEWHERE)
    await journal.set_run(ended.with_(status=RunStatus.DONE))
    clock.forward(LEASE_SECONDS * 10)
    assert await journal.release_dead() == []


@pytest.mark.parametrize("status", sorted(ACTIVE))
async def test_every_active_status_can_be_interrupted(journal, clock, status):
    """Queued, planning, running: whoever held it is gone."""
    await journal.create_run(new_run())
    run = await journal.claim(RUN, ELSEWHERE)
    await journal.set_run(run.with_(status=status))
    clock.forward(LEASE_SECONDS + 1)
    assert [one.status for one in await journal.release_dead()] == [RunStatus.INTERRUPTED]


async def test_many_claim_and_one_gets_it(journal):
    """Claims that come together leave one owner."""
    await journal.create_run(new_run())
    me = current_owner()
    _, pid, start = me.split("/")
    owners = [f"elsewhere-{number}/{pid}/{start}" for number in range(8)]
    results = await asyncio.gather(*[journal.claim(RUN, owner) for owner in owners], return_exceptions=True)
    won = [one for one in results if isinstance(one, Run)]
    assert len(won) == 1
    assert all(isinstance(one, (Run, StateError)) for one in results)
    assert (await journal.run(RUN)).owner == won[0].owner


# --- calls ---------------------------------------------------------------------------------------------------


async def test_a_call_is_kept_whole(journal):
    """Intent and result: every field comes back as it was given."""
    await journal.create_run(new_run())
    call = a_call(
        step=3,
        actor=Actor("person", "me"),
        undo_version=2,
        arguments={"b": 1, "a": {"z": [None, True, 1.5, "ü"]}},
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    intended = await journal.intend(call, lambda tx: {"rows": []})
    assert intended == call.with_(ordinal=1, before={"rows": []})
    assert await journal.calls(RUN) == [intended]
    end = intended.with_(
        status=CallStatus.DONE,
        after={"rows": [1]},
        result={"id": "x"},
        finished_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert await journal.finish(intended, lambda tx: Finished(end)) == end
    assert await journal.call(RUN, "step.1") == end
    assert end.undoable
    undone = await journal.set_call(end.with_(undone_by="f" * 16), [note("undone")])
    assert await journal.call(RUN, "step.1") == undone
    assert not undone.undoable
    assert await journal.call(RUN, "step.2") is None


@pytest.mark.parametrize(
    "value", [0, False, "", [], {}, None, "null", "0", [None], {"": 0}, 1e300, -0.5, 10**30]
)
async def test_falsy_and_odd_results_stay_what_they_are(journal, value):
    """0, False, "", [] and None are five different results."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(arguments={"v": value}), lambda tx: value)
    await journal.finish(call.with_(status=CallStatus.DONE, result=value, after=value), None)
    kept = await journal.call(RUN, "step.1")
    for found in (kept.arguments["v"], kept.before, kept.after, kept.result):
        assert (type(found), found) == (type(value), value)


async def test_the_journal_counts_calls(journal):
    """Ordinals count from 1 in each run, and stand in the events that must name them."""
    await journal.create_run(new_run())
    await journal.create_run(new_run("f" * 16))
    first = await journal.intend(
        a_call("b"), None, [(EventType.CALL_INTENDED, {"call": "b"}), note("with it")]
    )
    second = await journal.add_call(
        a_call("a", status=CallStatus.WAITING), [(EventType.APPROVAL_NEEDED, {"call": "a"})]
    )
    other = await journal.intend(a_call("b", run="f" * 16), None)
    assert (first.ordinal, second.ordinal, other.ordinal) == (1, 2, 1)
    assert [call.key for call in await journal.calls(RUN)] == ["b", "a"]
    assert [event.data for event in await journal.events(RUN)] == [
        {"call": "b", "ordinal": 1},
        {"text": "with it"},
        {"call": "a", "ordinal": 2},
    ]


async def test_calls_made_together_get_different_ordinals(journal):
    """However many are intended at once, nobody shares a number."""
    await journal.create_run(new_run())
    calls = await asyncio.gather(
        *[journal.intend(a_call(f"step.{n}"), None, [note(str(n))]) for n in range(20)]
    )
    assert sorted(call.ordinal for call in calls) == list(range(1, 21))
    assert [event.seq for event in await journal.events(RUN)] == list(range(1, 21))


async def test_a_body_that_raises_writes_nothing(journal):
    """The very exception reaches the caller, and the call is still only intended."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(), None)
    own = ValueError("stop")

    def body(tx):
        raise own

    with pytest.raises(ValueError, match="stop") as raised:
        await journal.finish(call, body)
    assert raised.value is own
    assert await journal.calls(RUN) == [call]
    assert await journal.events(RUN) == []
    with pytest.raises(ValueError, match="stop"):
        await journal.intend(a_call("step.2"), body)
    assert await journal.calls(RUN) == [call]
    failed = await journal.finish(call.with_(status=CallStatus.FAILED, error={"code": "x"}), None)
    assert await journal.calls(RUN) == [failed]


async def test_perform_is_intent_and_result(journal):
    """One visit, two entries; when the body raises, the intent stays and can be closed."""
    await journal.create_run(new_run())
    seen = []

    def body(tx, intended):
        seen.append(intended)
        end = intended.with_(status=CallStatus.DONE, result="r")
        return Finished(end, [(EventType.CALL_DONE, {"call": end.id})])

    call = await journal.perform(
        a_call(), lambda tx: "before", [(EventType.CALL_INTENDED, {"call": "id-step.1"})], body, durable=True
    )
    assert (call.status, call.ordinal, call.before, call.result) == (CallStatus.DONE, 1, "before", "r")
    assert await journal.call(RUN, "step.1") == call
    assert (seen[0].status, seen[0].before, seen[0].ordinal) == (CallStatus.INTENDED, "before", 1)
    assert [event.type for event in await journal.events(RUN)] == [
        EventType.CALL_INTENDED,
        EventType.CALL_DONE,
    ]

    def fails(tx, intended):
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await journal.perform(a_call("step.2"), None, [note("intended")], fails)
    left = await journal.call(RUN, "step.2")
    assert left.status is CallStatus.INTENDED
    await journal.finish(left.with_(status=CallStatus.FAILED), None)
    assert (await journal.call(RUN, "step.2")).status is CallStatus.FAILED


async def test_a_done_call_is_not_made_again(journal):
    """Retry of a whole run: the key of a done call is refused before any body runs."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(), None)
    done = await journal.finish(call.with_(status=CallStatus.DONE, result=1), None)
    ran = []

    def body(*given):
        ran.append(given)

    for again in (
        journal.intend(a_call(), body, [note("again")]),
        journal.finish(call, body),
        journal.perform(a_call(), body, [note("again")], body),
        journal.add_call(a_call(status=CallStatus.REFUSED), [note("again")]),
        journal.set_call(done.with_(status=CallStatus.UNKNOWN), [note("again")]),
    ):
        with pytest.raises(StateError, match="done"):
            await again
    assert ran == []
    assert await journal.calls(RUN) == [done]
    assert await journal.events(RUN) == []


async def test_an_interrupted_call_is_taken_up_under_its_number(journal):
    """On resume the same key keeps its ordinal; what is asked for may differ, the count does not."""
    await journal.create_run(new_run())
    first = await journal.intend(a_call(), None)
    await journal.set_call(first.with_(status=CallStatus.INTERRUPTED))
    await journal.intend(a_call("step.2"), None)
    again = await journal.intend(
        a_call(arguments={"title": "y"}), lambda tx: "now", [(EventType.CALL_INTENDED, {"call": "again"})]
    )
    assert (again.ordinal, again.status, again.arguments, again.before) == (
        1, CallStatus.INTENDED, {"title": "y"}, "now",
    )  # fmt: skip
    assert await journal.call(RUN, "step.1") == again
    assert (await journal.events(RUN))[-1].data == {"call": "again", "ordinal": 1}


@pytest.mark.parametrize("status", [CallStatus.INTENDED, CallStatus.UNKNOWN])
async def test_an_external_call_that_may_have_happened_is_never_repeated(journal, status):
    """A payment whose end nobody knows stays that way; a new call is needed."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(effect=Effect.EXTERNAL), None, durable=True)
    if status is CallStatus.UNKNOWN:
        call = await journal.set_call(call.with_(status=status))
    with pytest.raises(StateError, match="may have had its effect"):
        await journal.intend(a_call(effect=Effect.EXTERNAL), None)
    assert await journal.calls(RUN) == [call]
    await journal.set_call(call.with_(status=CallStatus.DONE))  # it was found out


@pytest.mark.parametrize(
    "way", [[CallStatus.APPROVED, CallStatus.INTENDED, CallStatus.DONE], [CallStatus.DECLINED]]
)
async def test_a_waiting_call_is_approved_or_declined(journal, way):
    """The way of an approval; what is declined stays declined."""
    await journal.create_run(new_run())
    call = await journal.add_call(a_call(effect=Effect.EXTERNAL, status=CallStatus.WAITING))
    for status in way:
        if status is CallStatus.INTENDED:
            call = await journal.intend(call, None)
        else:
            call = await journal.set_call(call.with_(status=status))
        assert (await journal.call(RUN, "step.1")).status is status
    with pytest.raises(StateError):
        await journal.intend(call, None)
    with pytest.raises(StateError):
        await journal.finish(call, None)


@pytest.mark.parametrize("final", sorted(FINAL))
async def test_a_run_that_ended_makes_no_more_calls(journal, final):
    """Cancelled from elsewhere, the run stops at the next call; what was on its way still tells its outcome."""
    run = await running(journal)
    open_call = await journal.intend(a_call(), None)
    await journal.set_run(run.with_(status=final))
    ran = []
    for write in (
        journal.intend(a_call("step.2"), ran.append),
        journal.add_call(a_call("step.2", status=CallStatus.WAITING)),
        journal.perform(a_call("step.2"), ran.append, (), lambda tx, call: ran.append(call)),
    ):
        with pytest.raises(StateError, match=str(final)):
            await write
    assert ran == []
    await journal.finish(open_call.with_(status=CallStatus.DONE), None)
    await journal.append(RUN, [note("the end")])
    assert (await journal.call(RUN, "step.1")).status is CallStatus.DONE


async def test_a_call_ends_only_after_its_intent(journal):
    """Results of a call that was never written are refused."""
    await journal.create_run(new_run())
    for write in (journal.finish(a_call(), None), journal.set_call(a_call())):
        with pytest.raises(NotFoundError, match=r"step\.1"):
            await write


async def test_the_result_does_not_change_what_was_asked_for(journal):
    """Tool, arguments, effect and ordinal of an intent stay, whatever a body returns."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(), None)
    other = call.with_(tool="other", arguments={}, effect=Effect.READ, ordinal=9, status=CallStatus.DONE)
    assert (await journal.finish(call, lambda tx: Finished(other))).ordinal == 1
    kept = await journal.call(RUN, "step.1")
    assert (kept.tool, kept.arguments, kept.effect, kept.ordinal) == (
        "addNote",
        {"title": "x"},
        Effect.WRITE,
        1,
    )


# --- model calls, events -------------------------------------------------------------------------------------


async def test_model_calls_are_kept_in_order(journal):
    """Each key is answered once; a second answer is refused and leaves no event."""
    await journal.create_run(new_run())
    first = ModelCall(RUN, "reply", "reply", "m:1", {"text": "hi", "usage": {"prompt_tokens": 5}})
    second = ModelCall(RUN, "plan", "plan", "m:2", {"text": ""}, datetime(2026, 1, 1, tzinfo=UTC))
    await journal.add_model_call(first, [(EventType.MODEL_CALLED, {"purpose": "reply"})])
    await journal.add_model_call(second)
    kept = await journal.model_calls(RUN)
    assert [one.key for one in kept] == ["reply", "plan"]
    assert kept[0].at is not None
    assert (kept[0].completion, kept[1]) == (first.completion, second)
    assert await journal.model_call(RUN, "plan") == second
    assert await journal.model_call(RUN, "none") is None
    with pytest.raises(StateError, match="answered"):
        await journal.add_model_call(first, [note("again")])
    assert len(await journal.events(RUN)) == 1


async def test_events_count_from_one_and_can_be_followed(journal):
    """Seq counts within the run; `after` gives what is newer; times do not run back."""
    await journal.create_run(new_run(), [(EventType.RUN_CREATED, {"goal": "g"})])
    await journal.create_run(new_run("f" * 16), [note("other")])
    await journal.append(RUN, [note("1"), note("2")])
    await journal.append(RUN, [])
    run = await journal.run(RUN)
    await journal.set_run(
        run.with_(status=RunStatus.PLANNING), [(EventType.RUN_STATUS, {"status": "planning"})]
    )
    events = await journal.events(RUN)
    assert [(event.run, event.seq) for event in events] == [(RUN, seq) for seq in (1, 2, 3, 4)]
    assert [event.seq for event in await journal.events(RUN, after=2)] == [3, 4]
    assert await journal.events(RUN, after=4) == await journal.events(RUN, after=99) == []
    assert len(await journal.events(RUN, after=-5)) == 4
    assert sorted(event.at for event in events) == [event.at for event in events]


@pytest.mark.parametrize("type_", sorted(LIVE_ONLY))
async def test_live_events_are_never_kept(journal, type_):
    """They are refused wherever events are taken, with the whole write."""
    await journal.create_run(new_run())
    live = [note("first"), (type_, {"text": "x"})]
    call = await journal.intend(a_call(), None)
    for write in (
        journal.append(RUN, live),
        journal.create_run(new_run("f" * 16), live),
        journal.set_run(new_run(status=RunStatus.PLANNING), live),
        journal.intend(a_call("step.2"), None, live),
        journal.add_call(a_call("step.2"), live),
        journal.finish(call, lambda tx: Finished(call, live)),
        journal.set_call(call.with_(status=CallStatus.FAILED), live),
        journal.add_model_call(ModelCall(RUN, "plan", "plan", "m", {}), live),
    ):
        with pytest.raises(MisuseError, match=str(type_)):
            await write
    assert await journal.events(RUN) == []
    assert await journal.calls(RUN) == [call]
    assert [run.id for run in await journal.runs()] == [RUN]
    assert (await journal.run(RUN)).status is RunStatus.QUEUED


# --- texts ---------------------------------------------------------------------------------------------------


async def test_secrets_do_not_reach_the_journal(journal):
    """Each way in masks what is registered: as it is, inside JSON, in keys, and URL-encoded."""
    secret = "p@ss wörd"
    with redaction.secrets(secret):
        await journal.create_run(
            new_run(context={secret: secret}).with_(goal=f"use {secret}"), [note(secret)]
        )
        call = a_call(arguments={"password": secret, "url": "https://x.y/?q=p%40ss%20w%C3%B6rd"})
        call = await journal.intend(
            call, lambda tx: [secret], [(EventType.CALL_INTENDED, {"arguments": {"p": secret}})]
        )
        end = call.with_(status=CallStatus.DONE, result=secret, after={secret: 1}, error={"message": secret})
        await journal.finish(call, lambda tx: Finished(end, [(EventType.CALL_DONE, {"result": secret})]))
        await journal.add_model_call(ModelCall(RUN, "plan", "plan", "m", {"text": secret}))
        await journal.add_messages("d", RUN, [{"role": "user", "content": secret}])
        await journal.add_memory(Memory("m", "fact", f"the code is {secret}"))
        run = await journal.run(RUN)
        await journal.set_run(run.with_(reply=secret, stopped_by=secret, error={"message": secret}))
    kept = repr(
        [
            await journal.run(RUN),
            await journal.events(RUN),
            await journal.calls(RUN),
            await journal.model_calls(RUN),
            await journal.messages("d"),
            await journal.search_memories("code"),
        ]
    )
    assert kept.count(redaction.MASK) >= 16
    for form in redaction.forms(secret):
        assert form not in kept


@pytest.mark.parametrize(
    "text", ["\ud83d", "a\x00b", "\u2028\n\t", "🎂", "e\u0301", "\\u0041", "''\";--", "\x7f\x01"]
)
async def test_any_text_is_kept(journal, text):
    """Half a surrogate pair, NUL, separators and quotes break nothing. In JSON they come back as they were."""
    await journal.create_run(new_run().with_(goal=text), [note(text)])
    await journal.intend(a_call(arguments={text: [text]}), lambda tx: text)
    await journal.add_messages("d", RUN, [{"content": text}])
    await journal.add_memory(Memory("m", "fact", f"remember {text}"))
    kept = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    assert (await journal.run(RUN)).goal == kept
    call = await journal.call(RUN, "step.1")
    assert (call.arguments, call.before) == ({text: [text]}, text)
    assert await texts(journal) == [text]
    assert await journal.messages("d") == [{"content": text}]
    assert len(await journal.search_memories("remember")) == 1


async def test_numbers_that_json_lacks_are_kept_by_name(journal):
    """Other readers of the journal would stumble over them."""
    await journal.create_run(new_run())
    await journal.append(RUN, [(EventType.NOTICE, {"v": [math.nan, math.inf, -math.inf, 1.5]})])
    assert (await journal.events(RUN))[0].data == {"v": ["NaN", "Infinity", "-Infinity", 1.5]}


async def test_what_is_no_json_is_refused(journal):
    """An object, bytes, mixed keys or a list that holds itself: the developer hears of it, nothing is written."""
    await journal.create_run(new_run())
    round_trip: list[object] = []
    round_trip.append(round_trip)
    for value in (object(), b"bytes", {1, 2}, {"a": 1, 2: 3}, round_trip, datetime.now(UTC)):
        for known in ((), ("a registered secret",)):  # what is masked on the way must not pass for JSON
            with redaction.secrets(*known), pytest.raises(MisuseError, match="JSON"):
                await journal.append(RUN, [note("first"), (EventType.NOTICE, {"v": value})])
    assert await journal.events(RUN) == []


# --- dialogues, memories -------------------------------------------------------------------------------------


async def test_a_dialogue_gives_its_last_messages(journal):
    """Oldest first, the last of them, each dialogue by itself; the one written last is known."""
    assert await journal.last_dialogue() == ""
    assert await journal.messages("d") == []
    said = [{"role": "user", "content": str(n)} for n in range(5)]
    await journal.add_messages("d", RUN, said[:3])
    await journal.add_messages("other", "", [{"role": "user", "content": "x"}])
    assert await journal.last_dialogue() == "other"
    await journal.add_messages("d", RUN, said[3:])
    await journal.add_messages("d", RUN, [])
    assert await journal.messages("d") == said
    assert await journal.messages("d", limit=2) == said[-2:]
    assert await journal.messages("d", limit=0) == []
    assert await journal.last_dialogue() == "d"


async def test_a_memory_is_kept_whole(journal):
    """Every field comes back; an id is given once; a time is given where there is none."""
    memory = Memory("m1", "fact", "Anna likes tea", RUN, datetime(2026, 1, 1, tzinfo=UTC))
    await journal.add_memory(memory)
    assert await journal.search_memories("tea") == [memory]
    with pytest.raises(StateError, match="m1"):
        await journal.add_memory(memory)
    await journal.add_memory(Memory("m2", "fact", "coffee"))
    assert (await journal.search_memories("coffee"))[0].at is not None


async def test_memories_of_a_run_are_marked(journal):
    """What an undone run remembered is not found, until it is redone."""
    await journal.add_memory(Memory("a", "fact", "tea from run one", "one"))
    await journal.add_memory(Memory("b", "fact", "tea from run two", "two"))
    await journal.add_memory(Memory("c", "fact", "tea taken back", "one", undone=True))
    await journal.mark_memories("one", undone=True)
    assert [one.id for one in await journal.search_memories("tea")] == ["b"]
    await journal.mark_memories("one", undone=False)
    assert sorted(one.id for one in await journal.search_memories("tea")) == ["a", "b", "c"]
    await journal.mark_memories("none", undone=True)


LANGUAGES = {
    "English": ("Anna's birthday is on 3 May", "birthday", "when is her Birthday?"),
    "German": ("Annas Geburtstagsfeier ist in München", "geburtstag", "Was ist in Munchen?"),
    "Chinese": ("我妹妹喜欢喝绿茶", "绿茶", "她喜欢什么茶?"),
    "Japanese": ("妹は緑茶が好きです。プレゼントはマグカップ", "緑茶", "ﾌﾟﾚｾﾞﾝﾄは何?"),
    "Korean": ("동생은 녹차를 좋아해요", "녹차", "녹차가 어디에 있어요?"),
    "Thai": ("น้องสาวชอบชาเขียว", "ชาเขียว", "ชอบชาอะไร"),
    "Russian": ("Сестра любит зелёный чай", "зеленый", "какой чай?"),
    "Hindi": ("बहन को हरी चाय पसंद है", "चाय", "कौन सी चाय?"),
    "Arabic": ("أختي تحب الشاي الأخضر", "الشاي", "أين الشاي؟"),
}


async def _remember_all(journal):
    for language, (text, _, _) in LANGUAGES.items():
        await journal.add_memory(Memory(language, "fact", text))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_memories_are_found_in_many_languages(journal, language):
    """A word of two characters in scripts without spaces included, and among memories in the others."""
    await _remember_all(journal)
    _, word, question = LANGUAGES[language]
    assert [one.id for one in await journal.search_memories(word)] == [language]
    assert (await journal.search_memories(question))[0].id == language


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "tea OR",
        "AND",
        "NOT tea",
        "tea*",
        "(tea",
        "NEAR(tea 2)",
        "words:tea",
        "-tea",
        "^tea",
        "te'a",
        "tea\x00",
        "{tea}",
    ],
)
async def test_a_question_is_never_syntax(journal, question):
    """Operators and quotes of the index's language are words or nothing."""
    await journal.add_memory(Memory("a", "fact", "green tea or not"))
    await journal.add_memory(Memory("b", "fact", "coffee"))
    expected = [] if question in {'"', "AND", "te'a"} else ["a"]
    assert [one.id for one in await journal.search_memories(question)] == expected


@pytest.mark.parametrize("question", ["", "   ", "?!", "🎂", "\ud800"])
async def test_a_question_without_words_finds_nothing(journal, question):
    """Nothing to look for is no error."""
    await journal.add_memory(Memory("a", "fact", "🎂 tea"))
    assert await journal.search_memories(question) == []


async def test_memories_are_ranked(journal):
    """More and rarer words first; among equals facts before diary, then the newest."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for number, (id_, kind, text) in enumerate(
        [
            ("old diary", "diary", "we had tea"),
            ("fact", "fact", "we had tea"),
            ("new diary", "diary", "we had tea"),
            ("both", "diary", "tea with Anna in the garden, and a long talk about many other things"),
            ("anna", "diary", "Anna called"),
        ]
    ):
        await journal.add_memory(Memory(id_, kind, text, at=at + timedelta(days=number)))
    found = [one.id for one in await journal.search_memories("tea Anna")]
    assert found == ["both", "anna", "fact", "new diary", "old diary"]
    assert [one.id for one in await journal.search_memories("tea Anna", limit=2)] == found[:2]
    assert await journal.search_memories("tea", limit=0) == []


async def test_a_turn_ends_at_once(journal):
    """Status, answer, messages and diary stand together."""
    run = await running(journal)
    run = run.with_(status=RunStatus.DONE, reply="hello")
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    diary = Memory("turn", "diary", "hi hello", RUN)
    ended = await journal.end_turn(run, [note("end")], dialogue="d", messages=messages, diary=diary)
    assert ended == await journal.run(RUN)
    assert (ended.status, ended.reply, ended.owner) == (RunStatus.DONE, "hello", "")
    assert await journal.messages("d") == messages
    assert [one.id for one in await journal.search_memories("hello")] == ["turn"]
    assert await texts(journal) == ["end"]


async def test_a_turn_without_a_dialogue_leaves_no_message(journal):
    """A single question belongs to no dialogue; its diary entry is kept."""
    run = await running(journal)
    await journal.end_turn(
        run.with_(status=RunStatus.NEEDS_INPUT),
        (),
        dialogue="",
        messages=[{"content": "x"}],
        diary=Memory("t", "diary", "hi"),
    )
    assert await journal.last_dialogue() == ""
    assert len(await journal.search_memories("hi")) == 1


async def test_a_turn_that_may_not_end_leaves_nothing(journal):
    """A refused status, an older fence or a diary entry that is there: none of the turn is written."""
    await journal.create_run(new_run())
    run = await journal.claim(RUN, current_owner())
    run = await journal.set_run(run.with_(status=RunStatus.RUNNING))
    await journal.add_memory(Memory("there", "diary", "before"))
    turn = {"dialogue": "d", "messages": [{"content": "x"}]}
    for bad, diary in (
        (run.with_(status=RunStatus.QUEUED), "new"),
        (run.with_(status=RunStatus.DONE, fence=99), "new"),
        (run.with_(status=RunStatus.DONE), "there"),
    ):
        with pytest.raises(StateError):
            await journal.end_turn(bad, [note("end")], **turn, diary=Memory(diary, "diary", "never"))
    assert (await journal.run(RUN)).status is RunStatus.RUNNING
    assert await journal.last_dialogue() == ""
    assert await journal.search_memories("never") == []
    assert await texts(journal) == []


# --- transactions --------------------------------------------------------------------------------------------


async def test_other_work_runs_in_a_transaction(journal):
    """`transact` hands the open transaction over where there is a database, and passes errors on."""

    def look(tx):
        return None if tx is None else tx.exec_driver_sql("SELECT 1").scalar()

    assert await journal.transact(look) == (None if getattr(journal, "database", None) is None else 1)

    def fails(tx):
        raise ValueError("own")

    with pytest.raises(ValueError, match="own"):
        await journal.transact(fails)


async def test_effect_and_result_commit_together(journal):
    """What a body writes to the database stands exactly when its result does; without a database it gets None."""
    if getattr(journal, "database", None) is None:
        await journal.create_run(new_run())
        call = await journal.intend(a_call(), lambda tx: [tx is None])
        assert call.before == [True]
        return
    await journal.transact(lambda tx: tx.exec_driver_sql("CREATE TABLE effects (key TEXT)"))
    await journal.create_run(new_run())

    def body(call, *, fails):
        def run(tx):
            tx.execute(sqlalchemy.text("INSERT INTO effects VALUES (:key)"), {"key": call.key})
            if fails:
                raise ValueError("stop")
            return Finished(call.with_(status=CallStatus.DONE))

        return run

    good, bad = [await journal.intend(a_call(key), None) for key in ("good", "bad")]
    await journal.finish(good, body(good, fails=False))
    with pytest.raises(ValueError, match="stop"):
        await journal.finish(bad, body(bad, fails=True))
    stands = await journal.transact(lambda tx: tx.exec_driver_sql("SELECT key FROM effects").scalars().all())
    assert stands == ["good"]
    assert {call.key: str(call.status) for call in await journal.calls(RUN)} == {
        "good": "done",
        "bad": "intended",
    }


async def test_a_cancelled_caller_finds_the_true_outcome(journal):
    """Whether or not the caller waits, effect and entry stand or fall together."""
    await journal.create_run(new_run())
    call = await journal.intend(a_call(), None)
    task = asyncio.ensure_future(
        journal.finish(call, lambda tx: Finished(call.with_(status=CallStatus.DONE)))
    )
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await journal.append(RUN, [note("after")])
    assert (await journal.call(RUN, "step.1")).status is CallStatus.DONE
