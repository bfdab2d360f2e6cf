"""What is written of a call is what is known of it, whatever came between."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import StateError, StorageError, ToolError
from surefoot.events import EventType
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.models.types import Completion, Usage
from surefoot.planning.parse import parse_outline
from surefoot.planning.vocabulary import vocabulary
from surefoot.running import invoke, lifecycle, outline_runner
from surefoot.running.budget import Limits, worked_seconds
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.outline_runner import OutlineRunner
from surefoot.running.undo import Undoer, Verdict, calls_to_undo
from surefoot.tools.types import Actor, Context, Effect, Undo

from .support import Shelf, again, new_session, open_journal, plain_tool

PERSON = Actor("person", "me")


@pytest.fixture
async def journal(tmp_path: Path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


async def started(event: threading.Event | asyncio.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.002)


# --- answers that come late ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["intended", "unknown", "interrupted", "done", "failed", "refused"])
@pytest.mark.parametrize("answer", [lifecycle.approve, lifecycle.decline])
async def test_an_answer_to_a_call_that_has_started_is_refused(journal, status, answer, monkeypatch):
    """Two people answer at once: the second, who still saw it waiting, cannot make it look as if it had not begun."""
    sent: list[str] = []
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    session = await new_session(journal, [mail])
    waiting = (await Executor(session).call(CallRequest("step.1", "mail", {"q": "hi"}))).call
    await lifecycle.approve(journal, session.run, None, PERSON)
    await _as(journal, waiting, status)

    async def as_it_was(run: str) -> list[Any]:
        return [waiting]

    monkeypatch.setattr(journal, "calls", as_it_was)
    with pytest.raises(StateError):
        await answer(journal, session.run, None, PERSON)
    monkeypatch.undo()
    assert str((await journal.call(session.run.id, "step.1")).status) == status


async def _as(journal: Any, call: Any, status: str) -> None:
    from sqlalchemy import text

    await journal.transact(
        lambda tx: tx.execute(
            text("UPDATE calls SET status = :status, started_at = :at WHERE run = :run AND key = :key"),
            {"status": status, "at": "2026-04-27T09:00:00+00:00", "run": call.run, "key": call.key},
        )
    )


async def test_a_policy_that_denies_since_wins_over_an_earlier_agreement(journal):
    """Approved yesterday, denied in the settings today: it does not run."""
    sent: list[str] = []
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    session = await new_session(journal, [mail])
    await Executor(session).call(CallRequest("step.1", "mail", {"q": "hi"}))
    await lifecycle.approve(journal, session.run, 1, PERSON)
    taken = await again(session)
    taken.policy = {"mail": "deny"}
    outcome = await Executor(taken).call(CallRequest("step.1", "mail", {"q": "hi"}))
    assert (outcome.call.status, outcome.as_data()["code"], sent) == (CallStatus.REFUSED, "denied", [])


# --- cancelled in between ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "status"), [(Effect.READ, CallStatus.INTERRUPTED), (Effect.EXTERNAL, CallStatus.UNKNOWN)]
)
async def test_cancelled_while_its_intent_is_written_a_call_is_closed_when_the_run_rests(
    journal, effect, status
):
    """No run that has ended holds a call that is still "intended"."""
    holding, release = threading.Event(), threading.Event()

    def hold(tx: Any) -> None:
        holding.set()
        release.wait(5)

    made: list[str] = []
    tool = plain_tool("look", lambda q="": made.append(q), effect)
    session = await new_session(journal, [tool], policy={"look": "auto"})
    blocker = asyncio.ensure_future(journal.transact(hold))
    await started(holding)
    call = asyncio.ensure_future(Executor(session).call(CallRequest("step.1", "look", {})))
    await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    resting = asyncio.ensure_future(session.rest(RunStatus.CANCELLED))
    release.set()
    await asyncio.gather(blocker, resting)
    assert made == []
    assert (await journal.call(session.run.id, "step.1")).status is status
    last = (await journal.events(session.run.id))[-1]
    assert last.data == {"status": "cancelled"}


async def test_a_kit_that_fails_behind_a_cancelled_caller_is_closed_too(journal):
    """The intent stays, the body's transaction is rolled back, and nobody waits to write that it failed."""
    begun = threading.Event()

    def body(q: str = "") -> None:
        begun.set()
        time.sleep(0.05)
        raise ToolError("no")

    session = await new_session(journal, [plain_tool("keep", body, where="writer")])
    call = asyncio.ensure_future(Executor(session).call(CallRequest("step.1", "keep", {})))
    await started(begun)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await session.rest(RunStatus.CANCELLED)
    assert (await journal.call(session.run.id, "step.1")).status is CallStatus.INTERRUPTED


async def test_a_thread_is_unknown_also_when_the_waiting_for_it_is_cancelled(journal):
    """Ctrl-C twice: the thread goes on, so what it touches being as before says nothing."""
    begun, release = threading.Event(), threading.Event()
    shelf = Shelf()

    def hold() -> None:
        begun.set()
        release.wait(5)

    tool = shelf.tool(fail_after=hold)
    slow = replace(tool, fn=lambda name, value: (hold(), shelf.values.update({name: value})))
    session = await new_session(journal, [slow])
    call = asyncio.ensure_future(
        Executor(session).call(CallRequest("step.1", "put", {"name": "a", "value": "1"}))
    )
    await started(begun)
    call.cancel()
    await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert shelf.values == {}
    assert (await journal.call(session.run.id, "step.1")).status is CallStatus.UNKNOWN
    release.set()


@pytest.mark.parametrize("failure", [None, ToolError("no")])
async def test_what_settles_is_known_and_the_cancellation_comes_after_it(failure):
    """Also when it is cancelled twice, and when the work fails."""
    seen: list[str] = []

    async def write() -> str:
        await asyncio.sleep(0.03)
        if failure:
            raise failure
        return "written"

    async def worker() -> None:
        try:
            seen.append(await lifecycle.settled(write()))
        except ToolError:
            seen.append("failed")
        await asyncio.sleep(0)
        seen.append("went on")

    task = asyncio.ensure_future(worker())
    for _ in range(2):
        await asyncio.sleep(0.005)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["failed" if failure else "written"]
    await worker()
    assert seen[-1] == "went on"


def test_a_run_is_worked_on_by_one_task_of_a_process():
    """The lease names the process and cannot tell two tasks apart."""
    with (
        lifecycle.working_on("r1"),
        lifecycle.working_on("r2"),
        pytest.raises(StateError, match="r1 is being worked on"),
        lifecycle.working_on("r1"),
    ):
        raise AssertionError
    with lifecycle.working_on("r1"):
        pass


# --- tools that fail in odd ways -----------------------------------------------------------------------------


async def test_an_external_call_stopped_at_the_end_of_its_time_is_unknown(journal):
    """It may have been sent; "failed" would have it sent again."""

    async def send(q: str = "") -> None:
        await asyncio.sleep(10)

    tool = plain_tool("mail", send, Effect.EXTERNAL, where="loop", timeout=0.02)
    session = await new_session(journal, [tool], policy={"mail": "auto"})
    outcome = await Executor(session).call(CallRequest("step.1", "mail", {}))
    assert outcome.call.status is CallStatus.UNKNOWN
    again_ = await Executor(await again(session)).call(CallRequest("step.1", "mail", {}))
    assert again_.call.status is CallStatus.UNKNOWN


async def test_a_time_out_of_the_tools_own_is_told_as_that(journal):
    """Not as the limit of its time."""

    async def look(q: str = "") -> None:
        raise TimeoutError("the server is slow")

    session = await new_session(journal, [plain_tool("look", look, where="loop")])
    outcome = await Executor(session).call(CallRequest("step.1", "look", {}))
    assert "the server is slow" in outcome.as_data()["message"]


@pytest.mark.parametrize("where", ["thread", "loop", "writer"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_capture_that_breaks_is_data_as_well(journal, where, when):
    """Whatever it raises; before the call nothing starts, after it nobody knows."""
    shelf = Shelf("loop" if where == "loop" else "thread")
    tool = shelf.tool()
    assert tool.undo is not None
    good = tool.undo.capture
    asked: list[int] = []

    def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
        asked.append(1)
        if when == "before" or shelf.made:
            raise OSError("the disk is odd")
        return good(ctx, arguments) if where != "loop" else {"value": None}

    undo = Undo(capture, tool.undo.restore)
    session = await new_session(journal, [replace(tool, where=where, undo=undo)])
    outcome = await Executor(session).call(CallRequest("step.1", "put", {"name": "a", "value": "1"}))
    if when == "before":
        assert (outcome.call.status, shelf.made) == (CallStatus.REFUSED, [])
    else:
        assert outcome.call.status is (CallStatus.FAILED if where == "writer" else CallStatus.UNKNOWN)
    assert "the disk is odd" in outcome.as_data()["message"]


@pytest.mark.parametrize("error", [StateError("it is closed"), StorageError("my own disk")])
async def test_what_a_kit_raises_is_data_even_when_it_looks_like_the_journals(journal, error):
    """The run goes on; only what the journal itself raises ends it."""

    def body(q: str = "") -> None:
        raise error

    session = await new_session(journal, [plain_tool("keep", body, where="writer")])
    outcome = await Executor(session).call(CallRequest("step.1", "keep", {}))
    assert (outcome.call.status, outcome.as_data()["code"]) == (CallStatus.FAILED, error.code)


async def test_a_lease_that_is_over_ends_the_work(journal):
    """Another process took the run: nothing of ours is written or called any more."""
    made: list[str] = []
    tools = [
        plain_tool("inside", lambda q="": made.append(q), where="writer"),
        plain_tool("look", lambda q="": made.append(q)),
    ]
    session = await new_session(journal, tools)
    await journal.claim(session.run.id, session.run.owner or "host/1/1")
    for name in ("inside", "look"):
        with pytest.raises(StateError, match="taken over"):
            await Executor(session).call(CallRequest(name, name, {}))
    assert made == []


async def test_an_undo_that_cannot_look_says_so_and_the_others_are_judged(journal):
    """Preview and undo alike."""
    shelf = Shelf()
    tool = shelf.tool()
    assert tool.undo is not None
    good = tool.undo.capture

    def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
        if broken and arguments["name"] == "b":
            raise OSError("unreadable")
        return good(ctx, arguments)

    for where in ("thread", "writer"):
        broken = False
        shelf.values.clear()
        session = await new_session(
            journal, [replace(tool, where=where, undo=replace(tool.undo, capture=capture))]
        )
        for name in ("a", "b"):
            await Executor(session).call(CallRequest(name, "put", {"name": name, "value": "1"}))
        broken = True
        items = await Undoer(session).preview(calls_to_undo(await journal.calls(session.run.id)))
        assert [item.verdict for item in items] == [Verdict.IMPOSSIBLE, Verdict.TAKE_BACK]
        assert "unreadable" in items[0].reason


# --- equal calls ---------------------------------------------------------------------------------------------


async def test_a_read_that_a_write_ran_beside_does_not_answer_a_later_one(journal):
    """It may have seen the state before."""
    looks: list[int] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def look(q: str = "") -> int:
        looks.append(1)
        begun.set()
        await go_on.wait()
        return len(looks)

    shelf = Shelf()
    session = await new_session(journal, [plain_tool("look", look, where="loop"), shelf.tool()])
    executor = Executor(session)
    first = asyncio.ensure_future(executor.call(CallRequest("1", "look", {})))
    await begun.wait()
    await executor.call(CallRequest("2", "put", {"name": "a", "value": "1"}))
    go_on.set()
    await first
    assert (await executor.call(CallRequest("3", "look", {}))).call.result == 2


async def test_of_three_equal_writes_at_once_one_more_is_made_when_the_first_fails(journal):
    """Those that waited for it do not both go ahead."""
    made: list[int] = []

    def mail(q: str = "") -> str:
        made.append(1)
        if len(made) == 1:
            raise ToolError("busy")
        time.sleep(0.02)
        return "sent"

    session = await new_session(journal, [plain_tool("mail", mail, Effect.EXTERNAL)], policy={"mail": "auto"})
    executor = Executor(session)
    calls = [executor.call(CallRequest(str(n), "mail", {"q": "x"})) for n in range(4)]
    outcomes = await asyncio.gather(*calls)
    assert [outcome.ok for outcome in outcomes] == [False, True, True, True]
    assert len(made) == 2


# --- budgets of a run taken up again -------------------------------------------------------------------------


async def test_a_call_that_is_made_again_takes_its_place_in_the_budget_once(journal):
    """Interrupted in its only write, a run can still finish it."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()], limits=Limits(writes=1))
    request = CallRequest("step.1", "put", {"name": "n", "value": "v"})
    call = (await Executor(session).call(request)).call
    await _as(journal, call, "interrupted")
    shelf.values.clear()
    taken = await again(session)
    assert (await Executor(taken).call(request)).ok
    assert taken.budget.used["writes"] == 1
    refused = await Executor(taken).call(CallRequest("step.2", "put", {"name": "m", "value": "v"}))
    assert refused.as_data()["code"] == "budget"


async def test_seconds_of_earlier_parts_count_and_pauses_do_not(journal):
    """Side by side counts once."""
    from datetime import UTC, datetime, timedelta

    from surefoot.journal.types import ModelCall

    start = datetime(2026, 4, 27, 9, 0, tzinfo=UTC)
    session = await new_session(journal, [plain_tool("look", lambda q="": q)], limits=Limits(seconds=25))
    call = (await Executor(session).call(CallRequest("step.1", "look", {}))).call

    def at(begin: float, end: float) -> Any:
        return call.with_(
            started_at=start + timedelta(seconds=begin), finished_at=start + timedelta(seconds=end)
        )

    model_call = ModelCall(
        session.run.id,
        "plan",
        "plan",
        "m",
        Completion(usage=Usage(1, 0, 1, 5.0)).to_dict(),
        start + timedelta(seconds=105),
    )
    calls = [at(0, 10), at(2, 8), at(5, 12), call.with_(started_at=None, finished_at=None), at(1000, 1003)]
    assert worked_seconds(calls, [model_call]) == pytest.approx(12 + 5 + 3)
    assert worked_seconds([], []) == 0
    await journal.add_model_call(
        replace(model_call, completion=Completion(usage=Usage(1, 0, 1, 30.0)).to_dict())
    )
    taken = await again(session)
    assert taken.budget.seconds >= 30
    outcome = await Executor(taken).call(CallRequest("step.2", "look", {"q": "x"}))
    assert "25 seconds" in outcome.as_data()["message"]


# --- fan-out -------------------------------------------------------------------------------------------------


async def test_the_calls_of_a_fanned_out_read_count_against_ten_at_once(journal, monkeypatch):
    """One step with many items is no way around the limit."""
    monkeypatch.setattr(outline_runner, "SIDE_BY_SIDE", 2)
    now, most = 0, 0

    async def look(q: str = "") -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return q

    async def resolve(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        return [{"q": str(n)} for n in range(6)]

    tools = [plain_tool("list", lambda q="": []), plain_tool("look", look, where="loop")]
    session = await new_session(journal, tools)
    steps = parse_outline("list q='x'\nlook q='<each id from step 1>'", vocabulary(session.catalogue), 20)
    report = await OutlineRunner(session, steps, resolve).run()
    assert report.steps[1].result == [str(n) for n in range(6)]
    assert most == 2


async def test_equal_calls_of_a_fan_out_are_merged_and_told(journal):
    """Two items that come to the same call are one call."""
    shelf = Shelf()

    async def resolve(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        return [{"name": name, "value": "1"} for name in ("a", "b", "a")]

    session = await new_session(journal, [plain_tool("list", lambda q="": []), shelf.tool()])
    lines = "list q='x'\nput name='<each name from step 1>' value='1'"
    report = await OutlineRunner(
        session, parse_outline(lines, vocabulary(session.catalogue), 20), resolve
    ).run()
    assert report.done
    assert shelf.made == [("a", "1"), ("b", "1")]
    notices = [e for e in await journal.events(session.run.id) if e.type is EventType.NOTICE]
    assert len(notices) == 1
    assert invoke.GRACE_SEC > 0


# --- did it happen? ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "where", "status", "now", "again_"),
    [
        (Effect.READ, "thread", "unknown", "1", True),
        (Effect.EXTERNAL, "thread", "interrupted", "0", False),
        (Effect.WRITE, "writer", "interrupted", "1", True),
        (Effect.WRITE, "writer", "done", "0", False),
        (Effect.WRITE, "thread", "interrupted", "0", True),
        (Effect.WRITE, "thread", "interrupted", "1", False),
        (Effect.WRITE, "thread", "unreadable", "0", False),
        (Effect.WRITE, "thread", "other version", "0", False),
    ],
)
async def test_what_may_be_started_again(journal, effect, where, status, now, again_):
    """Known not to have had its effect, or to have none; never what nobody knows."""
    from surefoot.journal.types import Call
    from surefoot.running.takeup import may_start_again

    shelf = Shelf()
    shelf.values = {"a": now}
    tool = shelf.tool()
    assert tool.undo is not None
    undo = tool.undo
    if status == "unreadable":

        def unreadable(ctx: Context, arguments: dict[str, Any]) -> Any:
            raise OSError("unreadable")

        undo = replace(undo, capture=unreadable)
    if status == "other version":
        undo = replace(undo, version=2)
    tool = replace(tool, effect=effect, where=where, undo=undo if effect is Effect.WRITE else None)
    session = await new_session(journal, [tool])
    left = CallStatus(status) if status in list(CallStatus) else CallStatus.INTERRUPTED
    call = Call(
        "r", "k", 1, "i", "put", {"name": "a"}, effect, status=left, undo_version=1, before={"value": "0"}
    )
    assert await may_start_again(session, tool, call) is again_
