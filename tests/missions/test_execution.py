"""An execution is a run on the mission's terms, and its row tells what the run came to."""

from __future__ import annotations

import asyncio

import pytest

from surefoot import ScriptedModel, tool
from surefoot.errors import (
    BudgetExceededError,
    InputError,
    MisuseError,
    ProviderAuthError,
    StateError,
    StorageError,
)
from surefoot.events import EventType
from surefoot.journal import MemoryJournal
from surefoot.journal.types import RunStatus
from surefoot.missions import execute, executions, store
from surefoot.missions.execution import settle, start
from surefoot.models.types import Capabilities, Usage
from surefoot.running import lifecycle
from surefoot.running.steps import JournalSteps
from surefoot.storage import Database

from .support import ME, NOW, agent, assistant, call, mission, titles, write

TEXT_ONLY = Capabilities(encoding="text", context_length=100_000)
sent: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_sent():
    sent.clear()


@tool(effect="external")
def send_mail(to: str) -> str:
    """Send a mail."""
    sent.append(to)
    return f"sent to {to}"


def milk(*more):
    return ScriptedModel([call("addTask", title="Milk")], "Milk is on the list.", *more)


async def test_a_mission_is_carried_out_and_taken_back():
    """A run of kind `mission`, in the mission's name; undoing the run undoes the execution."""
    async with assistant(milk()) as ours:
        made = await mission(ours)
        done = await execute(ours, made, actor=ME)
        assert (done.status, done.phase, done.number, done.rounds) == ("done", "done", 1, 2)
        assert done.summary == "Milk is on the list."
        assert [(one["tool"], one["arguments"], one["status"]) for one in done.calls] == [
            ("addTask", {"title": "Milk"}, "done")
        ]
        assert done.tokens > 0
        assert done.ended_at is not None
        run = await (await ours.journal()).run(done.id)
        assert (run.kind, str(run.actor), run.goal) == ("mission", f"mission:{made.id}", made.goal)
        assert run.context["mission"] == made.id
        assert await titles(ours) == ["Milk"]
        assert (await ours.undo("last")).taken_back == 1
        assert await titles(ours) == []
        assert (await ours.redo(done.id)).taken_back == 1
        assert await titles(ours) == ["Milk"]


async def test_the_model_is_told_the_mission_and_no_plan_is_made():
    """System text, inputs and the request; the native loop at once; only the mission's kits."""
    model = ScriptedModel("Nothing to do.")
    async with assistant(model) as ours:
        owner = await agent(ours, name="Ada", persona="Brief and exact.")
        made = await mission(
            ours, agent=owner.id, concept="For the weekend.", inputs={"shop": "the corner one"}
        )
        await execute(ours, made)
    (request,) = model.requests
    assert request.purpose == "round"
    system, user = request.messages[0], request.messages[-1]
    assert system.content.startswith("You carry out one execution")
    assert "Brief and exact." in system.content
    assert "For the weekend." in system.content
    assert user.content.endswith(f"REQUEST\n{made.goal}")
    assert "INPUTS (data)\n- shop: the corner one" in user.content
    names = {spec.name for spec in request.tools}
    assert {"addTask", "listTasks"} <= names
    assert "addNote" not in names


async def test_the_next_execution_knows_the_last_ones():
    """Their answers, what they did, what the person took back and what the person said."""
    model = milk("Nothing new.")
    async with assistant(model) as ours:
        made = await mission(ours)
        first = await execute(ours, made)
        await ours.undo(first.id)
        await write(
            ours,
            lambda tx: store.add_feedback(
                tx, made.id, "Oat milk, please", actor=ME, now=NOW, execution=first.id
            ),
        )
        second = await execute(ours, made)
    told = model.requests[-1].messages[-1].content
    assert "1. 2026-04-27 07:00 UTC, done: Milk is on the list." in told
    assert "addTask(title=Milk); the person took it back" in told
    assert "- of execution 1: Oat milk, please" in told
    assert second.number == 2


async def test_an_occurrence_is_executed_once():
    """Asked twice, nothing is started the second time."""
    model = milk()
    async with assistant(model) as ours:
        made = await mission(ours)
        first = await execute(ours, made.id, occurrence="2026-04-27")
        again = await execute(ours, made.id, occurrence="2026-04-27")
        assert (again.id, again.status) == (first.id, "done")
    model.assert_done()
    assert len(model.requests) == 2


# --- policy and limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "policy", "status"),
    [
        ({}, {"addTask": "deny"}, "refused"),
        ({}, {"tasks": "deny"}, "refused"),
        ({}, {"write": "deny"}, "refused"),
        ({}, {"addtask": "deny"}, "refused"),
        ({"policy": {"tasks": "auto"}}, {"write": "deny"}, "refused"),
        ({"policy": {"addTask": "deny"}}, {}, "refused"),
        ({"policy": {"addTask": "deny"}}, {"write": "auto"}, "refused"),
        ({"policy": {"addTask": "deny"}}, {"addTask": "auto"}, "done"),
        ({"policy": {"write": "deny"}}, {"tasks": "auto"}, "done"),
        ({"policy": {"write": "confirm"}}, {"addTask": "auto"}, "done"),
        ({"policy": {"addNote": "deny"}}, {"notes": "deny"}, "done"),
    ],
)
async def test_the_agents_policy_is_over_the_settings(settings, policy, status):
    """By tool, kit, effect; what a person denied by name, an agent allows by name only."""
    async with assistant(milk(), settings=settings) as ours:
        owner = await agent(ours, policy=policy)
        done = await execute(ours, await mission(ours, agent=owner.id))
        assert [one["status"] for one in done.calls] == [status]
        assert await titles(ours) == (["Milk"] if status == "done" else [])


async def test_a_missions_limits_hold_for_each_execution():
    """The call above the limit is refused, and the model reads it."""
    model = ScriptedModel([call("addTask", title="Milk"), call("addTask", title="Bread")], "One of two.")
    async with assistant(model, settings={"limits": {"writes": 5}}) as ours:
        done = await execute(ours, await mission(ours, limits={"writes": 1}))
        assert [one["status"] for one in done.calls] == ["done", "refused"]
        assert await titles(ours) == ["Milk"]


@pytest.mark.parametrize(
    ("fields", "usage", "limit"),
    [
        ({"daily_tokens": 5_000}, Usage(2_600, 0, 10), "tokens"),
        ({"daily_cost": 1.0}, Usage(1, 0, 1, cost=0.6), "cost"),
    ],
)
async def test_an_agents_day_is_a_limit_of_its_runs(fields, usage, limit):
    """The run stops before it, what was used counts, and the next execution of that day is refused."""
    model = ScriptedModel(
        [call("addTask", title="Milk")],
        [call("addTask", title="Bread")],
        "Milk and bread.",
        always="Done.",
        usage=usage,
    )
    async with assistant(model) as ours:
        owner = await agent(ours, **fields)
        made = await mission(ours, agent=owner.id)
        done = await execute(ours, made)
        run = await (await ours.journal()).run(done.id)
        assert run.stopped_by == limit
        with pytest.raises(BudgetExceededError) as caught:
            await execute(ours, made)
        assert caught.value.details["limit"] == f"daily_{limit}"
        assert caught.value.exit_code == 4
        assert len(await write(ours, lambda tx: executions.last_executions(tx, made.id))) == 1


async def test_memory_off_looks_nothing_up_and_keeps_no_diary():
    """And on, both: the diary of one execution is found by the next request."""
    for memory in (False, True):
        model = ScriptedModel("The zebra is striped.")
        async with assistant(model) as ours:
            owner = await agent(ours, name=f"Ada {memory}", memory=memory)
            done = await execute(
                ours, await mission(ours, title=f"Zoo {memory}", goal="Watch the zebra", agent=owner.id)
            )
            journal = await ours.journal()
            assert done.status == "done"
            assert bool(await journal.search_memories("zebra")) is memory
            read = [event for event in await journal.events(done.id) if event.type is EventType.MEMORY_READ]
            assert bool(read) is memory


# --- people ------------------------------------------------------------------------------------------------------


async def test_an_external_call_waits_and_whoever_approves_it_the_row_knows():
    """The run rests; approval goes through the assistant as for any run; then the execution has ended."""
    model = ScriptedModel([call("send_mail", to="anna")], "Sent.")
    async with assistant(model, send_mail) as ours:
        made = await mission(ours, kits=())
        waits = await execute(ours, made)
        assert (waits.status, waits.phase, waits.ended_at) == ("needs_approval", "wait", None)
        assert sent == []
        with pytest.raises(StateError, match="has not ended"):
            await execute(ours, made)
        await (await ours.approve(waits.id))
        assert sent == ["anna"]
        (changed,) = await settle(await ours.journal())
        assert (changed.id, changed.status, changed.summary) == (waits.id, "done", "Sent.")
        assert await settle(await ours.journal()) == []


async def test_a_resumed_run_has_the_same_terms():
    """Another assistant, with other settings, takes it up: tools, policy and system text are those of before."""
    model = ScriptedModel([call("send_mail", to="anna")], [call("addTask", title="Milk")], "Done.")
    async with assistant(model, send_mail) as ours:
        owner = await agent(ours, policy={"addTask": "deny", "send_mail": "confirm"})
        waits = await execute(ours, await mission(ours, kits=(), agent=owner.id))
    async with assistant(model, send_mail) as other:
        result = await (await other.approve(waits.id))
        assert [str(one.status) for one in result.calls] == ["done", "refused"]
        assert model.requests[-1].messages[0].content.startswith("You carry out one execution")


async def test_what_is_cancelled_stays_cancelled():
    """Cancelled by a person while it waits: no later look makes it anything else."""
    model = ScriptedModel([call("send_mail", to="anna")], always="Fine.")
    async with assistant(model, send_mail) as ours:
        made = await mission(ours, kits=())
        waits = await execute(ours, made)
        await ours.cancel(waits.id)
        (changed,) = await settle(await ours.journal())
        assert (changed.status, sent) == ("cancelled", [])
        with pytest.raises(StateError):
            await write(ours, lambda tx: executions.end_execution(tx, waits.id, actor=ME, status="done"))
        assert (await execute(ours, made)).status == "done"


async def test_a_caller_that_is_cancelled_cancels_its_execution():
    """And the row says so before the caller goes."""
    model = ScriptedModel(always="Never.", delay=30)
    async with assistant(model) as ours:
        made = await mission(ours)
        work = asyncio.ensure_future(execute(ours, made))
        while not model.requests:
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        (one,) = await write(ours, lambda tx: executions.last_executions(tx, made.id))
        assert (one.status, one.phase) == ("cancelled", "work")


@pytest.mark.parametrize("what", ["mission", "agent"])
async def test_pausing_stops_a_run_at_its_next_call(what):
    """What was done stays and can be undone; nothing more is asked or called."""
    async with assistant(ScriptedModel()) as ours:
        owner = await agent(ours)
        made = await mission(ours, agent=owner.id)

        async def pause(_request):
            if what == "agent":
                await write(ours, lambda tx: store.pause_agent(tx, owner.id, actor=ME, now=NOW))
            else:
                await write(ours, lambda tx: store.pause(tx, made.id, actor=ME, now=NOW))
            return [call("addTask", title="Bread")]

        (await ours.model()).add([call("addTask", title="Milk")], pause)
        done = await execute(ours, made)
        assert (done.status, [one["tool"] for one in done.calls if one["status"] == "done"]) == (
            "cancelled",
            ["addTask"],
        )
        assert await titles(ours) == ["Milk"]
        events = await (await ours.journal()).events(done.id)
        assert any(
            "paused" in event.data.get("text", "") for event in events if event.type is EventType.NOTICE
        )
        assert (await ours.undo(done.id)).taken_back == 1
        with pytest.raises(StateError, match="paused"):
            await execute(ours, made)


# --- failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "fields", "phase", "code"),
    [
        (ScriptedModel(ProviderAuthError("The key was refused.", "Set it.")), {}, "work", "auth"),
        (ScriptedModel(ProviderAuthError("The key was refused.", "Set it."), ProviderAuthError("Again.", ""), capabilities=TEXT_ONLY), {"goal": "add a task named milk"}, "answer", "auth"),
        (ScriptedModel(), {"kits": ("flying",)}, "prepare", "input"),
    ],
)  # fmt: skip
async def test_a_failure_names_its_phase(model, fields, phase, code):
    """In the row, and in the run's own error."""
    async with assistant(model) as ours:
        failed = await execute(ours, await mission(ours, **fields))
        assert (failed.status, failed.phase) == ("failed", phase)
        assert failed.error is not None
        assert (failed.error["phase"], failed.error["code"]) == (phase, code)
        run = await (await ours.journal()).run(failed.id)
        assert run.error == failed.error


async def test_a_model_without_tool_calls_plans_instead():
    """An outline, run and answered; the inputs stand where planner and answer read them."""
    model = ScriptedModel("1. addTask title='Milk'\n2. reply", "Milk is on the list.", capabilities=TEXT_ONLY)
    async with assistant(model) as ours:
        done = await execute(ours, await mission(ours, goal="put Milk on my list", inputs={"shop": "corner"}))
        assert (done.status, done.rounds, done.summary) == ("done", 0, "Milk is on the list.")
        assert await titles(ours) == ["Milk"]
    assert [request.purpose for request in model.requests] == ["plan", "reply"]
    assert any("shop: corner" in message.content for message in model.requests[0].messages)


async def test_an_execution_whose_process_died_before_its_run_has_failed():
    """It blocks its mission no longer, and says what happened."""
    async with assistant(milk()) as ours:
        made = await mission(ours)
        lost = {"occurrence": "x", "run": "feedfeedfeedfeed", "actor": ME, "now": NOW, "zone": "UTC"}
        owner = "an-other-host/1/2"
        await write(ours, lambda tx: executions.begin_execution(tx, made.id, owner=owner, **lost))
        done = await execute(ours, made)
        assert done.status == "done"
        before = await write(ours, lambda tx: executions.get(tx, "feedfeedfeedfeed"))
        assert (before.status, before.phase) == ("failed", "prepare")


async def test_an_execution_that_waits_in_a_queue_is_left_alone():
    """No process has taken it: nobody may say that it failed."""
    async with assistant(ScriptedModel()) as ours:
        made = await mission(ours)
        queued = {
            "occurrence": "x",
            "run": "feedfeedfeedfeed",
            "actor": ME,
            "owner": "",
            "now": NOW,
            "zone": "UTC",
        }
        await write(ours, lambda tx: executions.begin_execution(tx, made.id, **queued))
        assert await settle(await ours.journal()) == []
        with pytest.raises(StateError, match="queued"):
            await execute(ours, made)


async def test_an_execution_of_a_queue_is_taken_once():
    """By the first who can do it, under the run's id that it was given; a second one gets nothing to do."""
    model = milk()
    async with assistant(model) as ours:
        made = await mission(ours)
        queued = {
            "occurrence": "x",
            "run": "feedfeedfeedfeed",
            "actor": ME,
            "owner": "",
            "now": NOW,
            "zone": "UTC",
        }
        again = {**queued, "run": "another"}
        first = await write(ours, lambda tx: executions.begin_execution(tx, made.id, **queued))
        assert not (await write(ours, lambda tx: executions.begin_execution(tx, made.id, **again))).new
        one, other = await asyncio.gather(*(start(ours, made, occurrence="x") for _ in range(2)))
        assert {one.execution.id, other.execution.id} == {first.execution.id}
        handles = [handle for handle in (one.handle, other.handle) if handle is not None]
        assert [(await handle).status for handle in handles] == [RunStatus.DONE]


async def test_every_call_of_an_execution_is_a_step():
    """Whoever hands in steps sees each model call and each tool call once, and again when the run is resumed."""

    class Kept(JournalSteps):
        def __init__(self):
            self.keys = []

        async def run(self, key, recall, work):
            self.keys.append(key)
            return await super().run(key, recall, work)

    kept, again = Kept(), Kept()
    model = ScriptedModel([call("send_mail", to="anna")], "Sent.")
    async with assistant(model, send_mail) as ours:
        owner = await agent(ours, memory=False)
        waits = await execute(ours, await mission(ours, kits=(), agent=owner.id), steps=kept)
        assert kept.keys == ["round.1", "round.1/0"]
        await lifecycle.approve(await ours.journal(), await (await ours.journal()).run(waits.id), None, ME)
        assert (await ours.resume(waits.id, steps=again)).status is RunStatus.DONE
        assert again.keys == ["round.1", "round.1/0", "round.2"]
        assert sent == ["anna"]


async def test_an_execution_that_cannot_be_started_has_failed():
    """What goes wrong between the row and the run is written into the row."""
    async with assistant(ScriptedModel()) as ours:
        made = await mission(ours)

        def broken(*_args, **_more):
            raise InputError("The terms cannot be used.", "Mend them.")

        ours.work = broken
        with pytest.raises(InputError):
            await start(ours, made)
        (one,) = await write(ours, lambda tx: executions.last_executions(tx, made.id))
        assert (one.status, one.phase, one.error["code"]) == ("failed", "prepare", "input")


async def test_missions_need_a_database(tmp_path):
    """A journal in memory alone has no place for them; one with a database serves."""
    async with assistant(ScriptedModel(), journal=MemoryJournal(), kits=()) as ours:
        with pytest.raises(MisuseError, match="database"):
            await execute(ours, "m1")
    with Database(tmp_path / "rows.db") as database:
        async with assistant(milk(), journal=MemoryJournal(database)) as ours:
            done = await execute(ours, await mission(ours))
            assert (done.status, done.summary) == ("done", "Milk is on the list.")


async def test_an_interrupted_execution_goes_on_where_it_was(monkeypatch):
    """The disk failed in the middle: the row says so, what is done is not done again, and the row follows."""
    model = ScriptedModel([call("addTask", title="Milk")], "Milk is on the list.", "Milk is on the list.")
    async with assistant(model) as ours:
        made = await mission(ours)
        journal = await ours.journal()

        async def full(*_args, **_more):
            raise StorageError("The disk is full.", "Free some space.")

        with monkeypatch.context() as patch:
            patch.setattr(journal, "end_turn", full)
            with pytest.raises(StorageError):
                await execute(ours, made)
        (one,) = await write(ours, lambda tx: executions.last_executions(tx, made.id))
        assert (one.status, one.phase) == ("interrupted", "work")
        with pytest.raises(StateError, match="interrupted"):
            await execute(ours, made)
        assert (await ours.resume(one.id)).status is RunStatus.DONE
        (changed,) = await settle(journal)
        assert (changed.status, changed.summary) == ("done", "Milk is on the list.")
        assert await titles(ours) == ["Milk"]
