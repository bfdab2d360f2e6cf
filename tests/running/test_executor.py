"""The one path of a call."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from surefoot import redaction
from surefoot.errors import StorageError, ToolError
from surefoot.events import EventType
from surefoot.journal import SqlJournal
from surefoot.journal.types import CallStatus
from surefoot.running import invoke
from surefoot.running.budget import Limits
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.records import as_json
from surefoot.storage import Database
from surefoot.tools.types import Context, Effect, Undo

from .support import Shelf, again, new_session, plain_tool


@pytest.fixture
async def journal(place: str):
    with Database(place) as database:
        opened = SqlJournal(database)
        yield opened
        await opened.close()


async def types_of(session: Any) -> list[EventType]:
    return [event.type for event in await session.journal.events(session.run.id)]


# --- the ordinary way ----------------------------------------------------------------------------------------


async def test_a_read_is_intended_then_done_with_its_result(journal):
    """Both halves stand in the journal, in this order."""
    session = await new_session(journal, [plain_tool("look", lambda q="": {"found": q})])
    outcome = await Executor(session).call(CallRequest("step.1", "look", {"q": "x"}, 1))
    assert outcome.ok
    assert outcome.as_data() == {"success": True, "result": {"found": "x"}}
    (call,) = await journal.calls(session.run.id)
    assert (call.key, call.ordinal, call.step, call.status) == ("step.1", 1, 1, CallStatus.DONE)
    assert await types_of(session) == [EventType.CALL_INTENDED, EventType.CALL_DONE]


@pytest.mark.parametrize("where", ["thread", "loop"])
async def test_a_write_keeps_both_images(journal, where):
    """What it touched, before and after."""
    shelf = Shelf(where)
    session = await new_session(journal, [shelf.tool()])
    outcome = await Executor(session).call(CallRequest("step.1", "put", {"name": "a", "value": "1"}))
    assert outcome.ok
    call = await journal.call(session.run.id, "step.1")
    assert (call.before, call.after, call.undo_version) == ({"value": None}, {"value": "1"}, 1)
    assert call.undoable


async def test_a_kits_write_and_its_result_commit_together(journal):
    """The body runs in the transaction that writes the result; when it fails, nothing of it stays."""
    from sqlalchemy import text

    def body(ctx: Context, q: str = "") -> dict[str, str]:
        ctx.open_tx.execute(text("INSERT INTO shelf VALUES (:q)"), {"q": q})
        if q == "bad":
            raise ToolError("no such thing")
        return {"q": q}

    def rows(ctx: Context, arguments: dict[str, Any]) -> Any:
        return [row[0] for row in ctx.open_tx.execute(text("SELECT q FROM shelf"))]

    tool = plain_tool(
        "keep", body, Effect.WRITE, undo=Undo(rows, lambda *_: None), where="writer", wants_context=True
    )
    await journal.transact(lambda tx: tx.execute(text("CREATE TABLE shelf (q TEXT)")))
    session = await new_session(journal, [tool])
    executor = Executor(session)
    good = await executor.call(CallRequest("step.1", "keep", {"q": "good"}))
    bad = await executor.call(CallRequest("step.2", "keep", {"q": "bad"}))
    assert (good.ok, bad.call.status) == (True, CallStatus.FAILED)
    assert bad.as_data() == {"success": False, "message": "no such thing", "code": "tool_failed"}
    assert await journal.transact(lambda tx: [r[0] for r in tx.execute(text("SELECT q FROM shelf"))]) == [
        "good"
    ]
    assert (good.call.before, good.call.after) == ([], ["good"])


async def test_a_capture_that_says_no_means_that_the_call_never_started(journal):
    """That there is no note of that name comes before the intent, on either side of the database."""

    def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
        raise ToolError("There is no such thing.")

    tools = [
        plain_tool(name, lambda q="": None, Effect.WRITE, undo=Undo(capture, capture), where=where)
        for name, where in (("inside", "writer"), ("outside", "thread"))
    ]
    session = await new_session(journal, tools)
    executor = Executor(session)
    for name in ("inside", "outside"):
        outcome = await executor.call(CallRequest(name, name, {}))
        assert outcome.call.status is CallStatus.REFUSED
        assert outcome.as_data()["message"] == "There is no such thing."


# --- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("loko", {}, "not_found"),
        ("look", [], "arguments"),
        ("look", 5, "arguments"),
        ("look", {"q": {"deep": 1}}, "arguments"),
        ("forbidden", {}, "denied"),
    ],
)
async def test_what_cannot_run_is_refused_with_a_code_and_never_starts(journal, tool, arguments, code):
    """Unknown names, arguments that do not fit, and what the policy denies."""
    made = []
    tools = [plain_tool(name, lambda q="": made.append(q)) for name in ("look", "forbidden")]
    session = await new_session(journal, tools, policy={"forbidden": "deny"})
    outcome = await Executor(session).call(CallRequest("step.1", tool, arguments))
    assert outcome.call.status is CallStatus.REFUSED
    assert outcome.as_data()["code"] == code
    assert made == []
    assert await types_of(session) == [EventType.CALL_REFUSED]


async def test_policy_is_asked_even_when_the_arguments_are_empty(journal):
    """Empty arguments are no way around the policy."""
    for empty in ("", None, {}):
        session = await new_session(journal, [plain_tool("pay", lambda q="": 1, Effect.EXTERNAL)])
        assert (await Executor(session).call(CallRequest("k", "pay", empty))).waiting


@pytest.mark.parametrize("limit", [0, 1, 6])
async def test_parallel_calls_against_a_limit(journal, limit):
    """8 calls at once against a limit: exactly as many start, the others are refused, the run goes on."""
    started = []
    tool = plain_tool("mail", lambda q="": started.append(q), Effect.EXTERNAL)
    session = await new_session(journal, [tool], limits=Limits(external=limit), policy={"mail": "auto"})
    executor = Executor(session)
    calls = (executor.call(CallRequest(f"k.{n}", "mail", {"q": str(n)})) for n in range(8))
    outcomes = await asyncio.gather(*calls)
    assert len(started) == limit
    assert sum(outcome.ok for outcome in outcomes) == limit
    refused = [outcome for outcome in outcomes if not outcome.ok]
    assert all(outcome.as_data()["code"] == "budget" for outcome in refused)


async def test_unknown_arguments_are_dropped_with_a_notice(journal):
    """The person reads what was left out."""
    session = await new_session(journal, [plain_tool("look", lambda q="": q)])
    outcome = await Executor(session).call(CallRequest("k", "look", {"q": "x", "z": 1}))
    assert outcome.call.arguments == {"q": "x"}
    assert EventType.NOTICE in await types_of(session)


# --- equal calls ---------------------------------------------------------------------------------------------


async def test_an_equal_read_is_answered_from_the_earlier_one_until_something_is_written(journal):
    """A read after a write looks again."""
    looks = []
    shelf = Shelf()
    session = await new_session(journal, [plain_tool("look", lambda q="": looks.append(q)), shelf.tool()])
    executor = Executor(session)
    for key in ("a", "b"):
        await executor.call(CallRequest(key, "look", {"q": "x"}))
    assert len(looks) == 1
    await executor.call(CallRequest("c", "put", {"name": "n", "value": "v"}))
    await executor.call(CallRequest("d", "look", {"q": "x"}))
    assert len(looks) == 2
    await executor.call(CallRequest("e", "look", {"q": "y"}))
    assert len(looks) == 3


async def test_the_same_write_twice_in_one_message_is_done_once_and_both_are_answered(journal):
    """Equal name and arguments under two ids; another message may write it again."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    executor = Executor(session)
    same = {"name": "n", "value": "v"}
    first, second = await asyncio.gather(
        executor.call(CallRequest("a", "put", same, scope="m1")),
        executor.call(CallRequest("b", "put", dict(reversed(same.items())), scope="m1")),
    )
    assert first.ok
    assert second.ok
    assert first.call.id != second.call.id
    assert second.call.result == first.call.result
    assert not second.call.undoable
    assert shelf.made == [("n", "v")]
    assert EventType.NOTICE in await types_of(session)
    await executor.call(CallRequest("c", "put", same, scope="m2"))
    assert len(shelf.made) == 2


async def test_an_equal_write_that_failed_is_tried_again(journal):
    """Only what was done is not done again."""
    answers = [ToolError("busy"), None]

    def mail(q: str = "") -> str:
        answer = answers.pop(0)
        if answer:
            raise answer
        return "sent"

    session = await new_session(journal, [plain_tool("mail", mail, Effect.EXTERNAL)], policy={"mail": "auto"})
    executor = Executor(session)
    assert not (await executor.call(CallRequest("a", "mail", {}))).ok
    assert (await executor.call(CallRequest("b", "mail", {}))).ok


# --- approval ------------------------------------------------------------------------------------------------


async def test_an_external_call_waits_and_runs_once_it_is_approved(journal):
    """Persisted first; the approval starts exactly that call."""
    sent = []
    session = await new_session(journal, [plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)])
    outcome = await Executor(session).call(CallRequest("step.1", "mail", {"q": "hi"}))
    assert outcome.waiting
    assert sent == []
    waiting = await Executor(await again(session)).call(CallRequest("step.1", "mail", {"q": "hi"}))
    assert waiting.waiting
    await journal.set_call(outcome.call.with_(status=CallStatus.APPROVED))
    done = await Executor(await again(session)).call(CallRequest("step.1", "mail", {"q": "hi"}))
    assert done.ok
    assert sent == ["hi"]
    assert (done.call.id, done.call.ordinal) == (outcome.call.id, outcome.call.ordinal)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("mail", {"q": "other"}), ("mail", {}), ("post", {"q": "hi"})]
)
async def test_an_approval_binds_to_name_arguments_and_id(journal, tool, arguments):
    """The same place with another tool or other arguments must be asked for again."""
    sent = []
    tools = [plain_tool(name, lambda q="": sent.append(q), Effect.EXTERNAL) for name in ("mail", "post")]
    session = await new_session(journal, tools)
    outcome = await Executor(session).call(CallRequest("step.1", "mail", {"q": "hi"}))
    await journal.set_call(outcome.call.with_(status=CallStatus.APPROVED))
    changed = await Executor(await again(session)).call(CallRequest("step.1", tool, arguments))
    assert changed.waiting
    assert sent == []


async def test_a_declined_call_stays_declined(journal):
    """The run goes on and is told."""
    session = await new_session(journal, [plain_tool("mail", lambda q="": 1, Effect.EXTERNAL)])
    outcome = await Executor(session).call(CallRequest("step.1", "mail", {}))
    error = {"code": "declined", "message": "The person declined."}
    await journal.set_call(outcome.call.with_(status=CallStatus.DECLINED, error=error))
    told = await Executor(await again(session)).call(CallRequest("step.1", "mail", {}))
    assert told.as_data() == {"success": False, "message": "The person declined.", "code": "declined"}


# --- resuming ------------------------------------------------------------------------------------------------


async def test_a_retry_of_a_whole_run_does_not_do_again_what_was_done(journal):
    """Step 1 wrote, step 2 failed; run again: step 1 is answered from the journal."""
    shelf = Shelf()
    looks = []
    session = await new_session(journal, [shelf.tool(), plain_tool("look", lambda q="": looks.append(q))])
    request = CallRequest("step.1", "put", {"name": "n", "value": "v"})
    first = await Executor(session).call(request)
    await Executor(session).call(CallRequest("step.2", "look", {}))
    taken = await again(session)
    executor = Executor(taken)
    repeated = await executor.call(request)
    assert repeated.call.result == first.call.result
    assert (await executor.call(CallRequest("step.2", "look", {}))).ok
    assert len(shelf.made) == 1
    assert len(looks) == 1
    merged = await executor.call(CallRequest("step.3", "put", {"name": "n", "value": "v"}))
    assert merged.ok
    assert len(shelf.made) == 1
    assert taken.budget.used["writes"] == 1


@pytest.mark.parametrize("status", [CallStatus.INTERRUPTED, CallStatus.UNKNOWN])
@pytest.mark.parametrize(
    ("now", "again_made", "ends"), [(None, 1, "done"), ("v", 0, "unknown"), ("w", 0, "unknown")]
)
async def test_a_write_outside_the_database_is_told_apart_by_its_image(
    journal, status, now, again_made, ends
):
    """As it was before: made again. Anything else: nobody can tell, so it is not repeated."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    request = CallRequest("step.1", "put", {"name": "n", "value": "v"})
    outcome = await Executor(session).call(request)
    call = outcome.call.with_(status=status, after=None)
    taken = await again(session)
    taken.known_calls["step.1"] = call
    await _force_status(journal, call)
    shelf.made.clear()
    shelf.values = {} if now is None else {"n": now}
    resumed = await Executor(taken).call(request)
    assert len(shelf.made) == again_made
    assert str(resumed.call.status) == ends


async def _force_status(journal: Any, call: Any) -> None:
    """What a killed process leaves; the rules of the journal would not let a living one write it."""
    from sqlalchemy import text

    await journal.transact(
        lambda tx: tx.execute(
            text("UPDATE calls SET status = :status WHERE run = :run AND key = :key"),
            {"status": str(call.status), "run": call.run, "key": call.key},
        )
    )


async def test_an_external_call_of_unknown_outcome_is_shown_and_never_repeated(journal):
    """Nobody pays twice."""
    sent = []
    session = await new_session(
        journal, [plain_tool("pay", lambda q="": sent.append(q), Effect.EXTERNAL)], policy={"pay": "auto"}
    )
    outcome = await Executor(session).call(CallRequest("step.1", "pay", {"q": "1"}))
    call = outcome.call.with_(status=CallStatus.INTENDED)
    await _force_status(journal, call)
    taken = await again(session)
    for _ in range(2):
        resumed = await Executor(taken).call(CallRequest("step.1", "pay", {"q": "1"}))
        assert resumed.call.status is CallStatus.UNKNOWN
        assert "not known" in resumed.as_data()["message"]
        taken = await again(session)
    assert sent == ["1"]


# --- cancelling ----------------------------------------------------------------------------------------------


async def cancelled(session: Any, tool: str, started: threading.Event | asyncio.Event) -> Any:
    task = asyncio.ensure_future(Executor(session).call(CallRequest("step.1", tool, {})))
    while not started.is_set():
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await session.journal.transact(lambda tx: None)  # whatever is written next waits for what is under way
    return await session.journal.call(session.run.id, "step.1")


async def test_cancelled_inside_a_thread_the_true_outcome_is_journaled(journal):
    """The thread cannot be stopped, so it is waited for: done is done."""
    started = threading.Event()

    def slow(q: str = "") -> str:
        started.set()
        time.sleep(0.05)
        return "there"

    session = await new_session(journal, [plain_tool("slow", slow)])
    call = await cancelled(session, "slow", started)
    assert (call.status, call.result) == (CallStatus.DONE, "there")


async def test_a_thread_that_does_not_end_is_unknown_never_interrupted(journal, monkeypatch):
    """It may still do its work after we stopped looking."""
    monkeypatch.setattr(invoke, "GRACE_SEC", 0.02)
    started, release = threading.Event(), threading.Event()

    def slow(q: str = "") -> None:
        started.set()
        release.wait(5)
        raise ValueError("nobody reads this")

    session = await new_session(journal, [plain_tool("slow", slow, Effect.EXTERNAL)], policy={"slow": "auto"})
    call = await cancelled(session, "slow", started)
    release.set()
    assert call.status is CallStatus.UNKNOWN


@pytest.mark.parametrize(
    ("effect", "status"), [(Effect.READ, CallStatus.INTERRUPTED), (Effect.EXTERNAL, CallStatus.UNKNOWN)]
)
async def test_cancelled_inside_an_async_tool_the_open_call_is_closed(journal, effect, status):
    """A read is interrupted; what an external one did, nobody knows."""
    started = asyncio.Event()

    async def slow(q: str = "") -> None:
        started.set()
        await asyncio.sleep(10)

    session = await new_session(
        journal, [plain_tool("slow", slow, effect, where="loop")], policy={"slow": "auto"}
    )
    call = await cancelled(session, "slow", started)
    assert call.status is status


async def test_cancelled_while_a_kit_writes_the_transaction_goes_to_its_end(journal):
    """Its outcome is the truth, whatever the caller waits for."""
    started = threading.Event()

    def body(q: str = "") -> str:
        started.set()
        time.sleep(0.05)
        return "kept"

    session = await new_session(journal, [plain_tool("keep", body, where="writer")])
    call = await cancelled(session, "keep", started)
    assert (call.status, call.result) == (CallStatus.DONE, "kept")


@pytest.mark.parametrize("where", ["loop", "thread"])
async def test_a_tool_without_an_end_is_given_up(journal, where):
    """An async one has failed; a thread goes on, so its outcome is unknown."""
    release = threading.Event()

    async def on_loop(q: str = "") -> None:
        await asyncio.sleep(10)

    def in_thread(q: str = "") -> None:
        release.wait(5)

    fn = on_loop if where == "loop" else in_thread
    session = await new_session(journal, [plain_tool("slow", fn, where=where, timeout=0.02)])
    outcome = await Executor(session).call(CallRequest("step.1", "slow", {}))
    release.set()
    assert outcome.call.status is (CallStatus.FAILED if where == "loop" else CallStatus.UNKNOWN)


# --- failures ------------------------------------------------------------------------------------------------


async def test_any_exception_of_a_tool_is_data(journal):
    """The run goes on; the message names what happened."""

    def broken(q: str = "") -> None:
        raise KeyError("missing")

    session = await new_session(journal, [plain_tool("broken", broken)])
    outcome = await Executor(session).call(CallRequest("step.1", "broken", {}))
    assert outcome.as_data() == {
        "success": False,
        "message": "broken failed: KeyError('missing').",
        "code": "tool_failed",
    }


async def test_a_write_outside_that_failed_half_way_is_unknown_and_can_be_looked_at(journal):
    """It changed something before it failed: the images show it."""

    def explode() -> None:
        raise OSError("disk full")

    shelf = Shelf()
    session = await new_session(journal, [shelf.tool(fail_after=explode)])
    outcome = await Executor(session).call(CallRequest("step.1", "put", {"name": "n", "value": "v"}))
    assert outcome.call.status is CallStatus.UNKNOWN
    assert (outcome.call.before, outcome.call.after) == ({"value": None}, {"value": "v"})
    assert "disk full" in outcome.as_data()["message"]


async def test_nothing_is_called_when_its_intent_cannot_be_written(journal):
    """A journal that fails ends the run; there is no call without a trace."""
    made = []
    session = await new_session(journal, [plain_tool("look", lambda q="": made.append(q))])

    async def full(*args: Any, **kwargs: Any) -> None:
        raise StorageError("disk full")

    session.journal.intend = full
    with pytest.raises(StorageError):
        await Executor(session).call(CallRequest("step.1", "look", {}))
    assert made == []


async def test_a_secret_in_an_image_makes_the_call_final_rather_than_restored_as_a_mask(journal):
    """An image is set back as it was or not at all."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    with redaction.secrets("hunter2-hunter2"):
        outcome = await Executor(session).call(
            CallRequest("step.1", "put", {"name": "n", "value": "hunter2-hunter2"})
        )
    assert outcome.ok
    assert not outcome.call.undoable
    stored = await journal.call(session.run.id, "step.1")
    assert "hunter2" not in str(stored)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, None),
        (0, 0),
        (False, False),
        ("", ""),
        ({1: 2}, {"1": 2}),
        ({"a": {1}}, {"a": [1]}),
        (float("nan"), "NaN"),
        (Path("x"), "x"),
        (object, "<class 'object'>"),
    ],
)
def test_any_result_becomes_json(value, wanted):
    """What JSON cannot say is said as text; falsy values stay themselves."""
    assert as_json(value) == wanted
    assert type(as_json(value)) is type(wanted)
