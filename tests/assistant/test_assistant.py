"""One request the whole way, with a scripted model and the real kits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from surefoot import Actor, Effect, MemoryJournal, ScriptedModel, redaction, tool
from surefoot.assistant import RunHandle
from surefoot.assistant.answer import RESULT_CHARS
from surefoot.errors import (
    BudgetExceededError,
    MisuseError,
    NotFoundError,
    ProviderUnavailableError,
    StateError,
    StorageError,
)
from surefoot.events import EventType
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.models.types import Capabilities, Completion, Usage

from .support import assistant, plan, titles

NO_TOOLS = Capabilities(json_schema=True, encoding="schema", context_length=8192)

BIRTHDAY = plan(
    ("addNote", {"title": "Anna's birthday", "text": "3 May"}),
    ("addTask", {"title": "Buy a present for Anna", "due": "2 May"}),
    ("listTasks", {"until": "3 May"}),
)


async def test_n_concrete_steps_cost_two_model_calls():
    """Plan and reply, whatever the number of steps; each step's result stands in the reply's prompt."""
    model = ScriptedModel(BIRTHDAY, "Noted, and the present is due on Saturday.")
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May: note it, and what else is due?")
        assert (result.status, result.exit_code, result.model_calls) == (RunStatus.DONE, 0, 2)
        assert result.reply == "Noted, and the present is due on Saturday."
        assert [call.tool for call in result.calls] == ["addNote", "addTask", "listTasks"]
        assert [call.status for call in result.calls] == [CallStatus.DONE] * 3
        assert await titles(ours, "tasks") == ["Buy a present for Anna"]
        told = model.requests[1].messages[-1].content
        assert "Buy a present for Anna" in told
        assert "2026-05-02" in told or "2 May 2026" in told
        assert result.undoable == 2
    model.assert_done()


async def test_the_way_back_notes_and_tasks_are_as_before():
    """Undo, undo again, redo: each says what it did."""
    model = ScriptedModel(BIRTHDAY, "Done.")
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        preview = await ours.undo(result, preview=True)
        assert preview.taken_back == 2
        assert preview.run is None
        assert await titles(ours, "notes") == ["Anna's birthday"]
        report = await ours.undo("last")
        assert (report.taken_back, report.complete) == (2, True)
        assert await titles(ours, "notes") == []
        assert await titles(ours, "tasks") == []
        assert (await ours.undo(result.id[:8])).taken_back == 0
        redone = await ours.redo(result)
        assert redone.taken_back == 2
        assert await titles(ours, "tasks") == ["Buy a present for Anna"]
        with pytest.raises(StateError, match="Nothing of run"):
            await ours.redo(result)
        one = await ours.undo(result, call=1)
        assert [item.call.tool for item in one.items] == ["addNote"]
        assert await titles(ours, "tasks") == ["Buy a present for Anna"]


async def test_events_come_live_in_order_and_end():
    """Everything that is stored, and the tokens of the reply in front of it."""
    model = ScriptedModel(BIRTHDAY, "All is noted.")
    async with assistant(model) as ours:
        handle = ours.ask("Anna's birthday is on 3 May")
        seen = [event async for event in handle]
        result = await handle
    types = [event.type for event in seen]
    assert types[0] is EventType.RUN_CREATED
    assert types[-1] is EventType.RUN_STATUS
    assert types.index(EventType.PLAN_MADE) < types.index(EventType.CALL_INTENDED)
    tokens = [event.data["text"] for event in seen if event.type is EventType.TOKEN]
    assert "".join(tokens) == "All is noted."
    assert types.index(EventType.TOKEN) < types.index(EventType.REPLY)
    stored = [event.seq for event in seen if event.type is not EventType.TOKEN]
    assert stored == list(range(1, len(stored) + 1))
    assert result.to_dict()["reply"] == "All is noted."


# --- memory --------------------------------------------------------------------------------------------------


async def test_memory_is_looked_up_only_when_the_plan_asks_for_it():
    """What was said before comes into the reply, labelled as data; without the directive nothing is read."""
    model = ScriptedModel(
        plan(("rememberFact", {"fact": "Anna is allergic to nuts"})),
        "I will remember that.",
        plan(("searchMemory", {"topic": "Anna food allergies"})),
        "Anna is allergic to nuts.",
        "Hello there.",
        "Hello!",
    )
    async with assistant(model) as ours:
        await ours.ask("Remember that Anna is allergic to nuts")
        ours.dialogue = "another"
        result = await ours.ask("What can Anna not eat?")
        events = await (await ours.journal()).events(result.id)
        (read,) = [event for event in events if event.type is EventType.MEMORY_READ]
        assert read.data["topic"] == "Anna food allergies"
        assert "Anna is allergic to nuts" in model.requests[3].messages[-1].content
        assert "REMEMBERED (data)" in model.requests[3].messages[-1].content
        plain = await ours.ask("Tell me hello please")
        events = await (await ours.journal()).events(plain.id)
        assert EventType.MEMORY_READ not in [event.type for event in events]


async def test_long_memories_are_digested_and_short_ones_are_not():
    """One more model call, only where it saves more than it costs; a digest that fails is cut instead."""
    long = "Tea facts. " + "Anna likes tea from Assam and cups of blue china. " * 40
    for answer, wanted in (
        ("Anna likes Assam.", "Anna likes Assam."),
        ("none", ""),
        (ProviderUnavailableError(), "Tea facts"),
    ):
        model = ScriptedModel(plan(("searchMemory", {"topic": "tea"})), answer, "Tea.")
        async with assistant(model, dialogue=f"d{wanted}") as ours:
            journal = await ours.journal()
            for number in range(4):
                await journal.add_memory(_diary(f"{wanted[:3]}{number}", long))
            await ours.ask("What tea does Anna like?")
        prompt = model.requests[2].messages[-1].content
        assert wanted in prompt
        assert ("REMEMBERED" in prompt) is bool(wanted)
        assert len(prompt) < 2_500


def _diary(name: str, text: str) -> Any:
    from surefoot.journal.types import Memory

    return Memory(f"memory-{name}", "diary", text, "")


async def test_a_follow_up_gets_the_dialogue():
    """The planner and the reply see what was said; another dialogue does not."""
    model = ScriptedModel(plan(), always="Yes.")
    model = ScriptedModel("He is Harry Styles.", "It is Harry Styles.", "No tool.", "As It Was.", always="?")
    async with assistant(model) as ours:
        await ours.ask("Who sings Watermelon Sugar?")
        await ours.ask("What are his best songs?")
        for request in model.requests[2:4]:
            said = " ".join(message.content for message in request.messages)
            assert "Watermelon Sugar" in said
            assert "Harry Styles" in said
        ours.dialogue = "fresh"
        await ours.ask("What are his best songs?")
        assert "Harry" not in " ".join(message.content for message in model.requests[4].messages)


# --- fail open -----------------------------------------------------------------------------------------------


async def test_a_reply_only_plan_is_a_decision_and_not_a_failure():
    """No tool, no memory, no complaint."""
    model = ScriptedModel("There is nothing to call.", "You are welcome.")
    async with assistant(model) as ours:
        result = await ours.ask("Thanks a lot for that")
        assert (result.exit_code, result.calls, result.reply) == (0, (), "You are welcome.")
        assert "NOT DONE" not in model.requests[1].messages[-1].content


@pytest.mark.parametrize("failure", [ProviderUnavailableError("down"), "", RuntimeError("odd")])
async def test_a_planner_that_fails_does_not_stop_the_turn(failure):
    """Memory is searched as without a planner; a model without tool calls calls none, and says that it was not done."""
    model = ScriptedModel(failure, "I could not do that.", capabilities=NO_TOOLS)
    async with assistant(model) as ours:
        result = await ours.ask("Note that Anna likes tea")
        assert (result.status, result.exit_code) == (RunStatus.DONE, 1)
        assert "could not be planned" in model.requests[-1].messages[-1].content
        events = [event.type for event in await (await ours.journal()).events(result.id)]
        assert EventType.MEMORY_READ in events
        assert result.calls == ()


async def test_planning_off_is_said_and_short_noise_is_just_answered():
    """Two ways of having no plan that must stay apart."""
    model = ScriptedModel("I cannot.", always="Hi!", capabilities=NO_TOOLS)
    async with assistant(model, settings={"planner_enabled": False}) as ours:
        off = await ours.ask("Note that Anna likes tea")
        assert off.run.incomplete
        assert "switched off" in model.requests[0].messages[-1].content
    model = ScriptedModel("Hi!")
    async with assistant(model) as ours:
        short = await ours.ask("hi")
        assert (short.exit_code, short.reply, short.model_calls) == (0, "Hi!", 1)


async def test_vague_steps_are_not_guessed():
    """A step such as "get the weather" names no tool: nothing is called, and that is said."""
    able = Capabilities(encoding="text", context_length=8192)
    model = ScriptedModel("1. look at the tasks\n2. Reply to the user", "I could not.", capabilities=able)
    async with assistant(model) as ours:
        result = await ours.ask("what is due?")
        assert result.calls == ()
        assert result.run.incomplete
        assert "look at the tasks" in model.requests[1].messages[-1].content


async def test_a_prose_step_says_so_plainly_and_keeps_what_was_done():
    """The rest of the turn is handed over; where the model has no tool calls, it is told as not done."""
    able = Capabilities(encoding="text", context_length=8192)
    model = ScriptedModel(
        "addTask title='Milk'\nfigure out the best shop\naddTask title='Bread'\nreply()",
        "Half.",
        capabilities=able,
    )
    async with assistant(model) as ours:
        result = await ours.ask("milk and bread from the best shop")
        assert await titles(ours, "tasks") == ["Milk"]
        assert result.exit_code == 1
        told = model.requests[1].messages[-1].content
        assert "figure out the best shop" in told
        assert "Bread" in told.split("NOT DONE")[1]


async def test_placeholders_and_fan_out_are_filled_by_code():
    """Tag every note of a list: still two model calls."""
    model = ScriptedModel(
        plan(
            ("addNote", {"title": "Lisbon flights"}),
            ("addNote", {"title": "Lisbon food"}),
            ("addNote", {"title": "Bike"}),
        ),
        "ok",
        plan(
            ("listNotes", {"search": "Lisbon"}),
            ("tagNote", {"note": "<each note id from step 1>", "tag": "holiday"}),
        ),
        "Tagged two.",
    )
    async with assistant(model) as ours:
        await ours.ask("three notes please")
        result = await ours.ask("tag every note about Lisbon with holiday")
        assert [call.tool for call in result.calls] == ["listNotes", "tagNote", "tagNote"]
        assert result.model_calls == 2
        report = await ours.undo(result)
        assert report.taken_back == 2


# --- failures of the model -----------------------------------------------------------------------------------


async def test_a_reply_that_fails_after_work_was_done_is_said_in_code():
    """What was done is done, and told; nothing is lost."""
    model = ScriptedModel(BIRTHDAY, ProviderUnavailableError("gone"))
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        assert (result.status, result.exit_code) == (RunStatus.DONE, 1)
        assert "Buy a present for Anna" in result.reply


async def test_no_answer_at_all_fails_the_run_with_the_providers_code():
    """Exit code of the provider; the run is final and says why."""
    model = ScriptedModel("nothing", ProviderUnavailableError("gone"))
    async with assistant(model) as ours:
        result = await ours.ask("hello to you")
        assert (result.status, result.exit_code) == (RunStatus.FAILED, 3)
        assert isinstance(result.error, ProviderUnavailableError)


async def test_a_model_slower_than_its_time_is_a_failure_of_the_plan_and_of_the_answer():
    """A local model gets its own time."""
    model = ScriptedModel(
        always="late", delay=5, capabilities=Capabilities(tools=True, encoding="own", local=True)
    )
    async with assistant(model, settings={"local_timeout_sec": 0.05}) as ours:
        result = await ours.ask("Note that Anna likes tea")
        assert result.error is not None
        assert result.error.code == "timeout"


# --- limits --------------------------------------------------------------------------------------------------


async def test_a_limit_of_calls_refuses_the_rest_and_says_which_limit():
    """The run goes on to its answer; stopped_by names the limit."""
    model = ScriptedModel(plan(*(("addTask", {"title": f"T{n}"}) for n in range(4))), "Two of four.")
    async with assistant(model, settings={"limits": {"writes": 2}}) as ours:
        result = await ours.ask("four tasks please")
        assert await titles(ours, "tasks") == ["T0", "T1"]
        assert (result.run.stopped_by, result.exit_code) == ("writes", 4)
        assert "limit of 2 writes" in model.requests[1].messages[-1].content


async def test_a_limit_of_model_calls_ends_with_what_was_done_told_in_code():
    """No model may say it any more, so code does."""
    model = ScriptedModel(BIRTHDAY)
    async with assistant(model, settings={"limits": {"model_calls": 1}}) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        assert (result.status, result.run.stopped_by, result.exit_code) == (RunStatus.DONE, "model_calls", 4)
        assert "Buy a present for Anna" in result.reply
        assert "limit of 1 model calls" in result.reply


async def test_a_local_model_gets_the_local_limits():
    """They are laid over by the settings."""
    able = Capabilities(tools=True, encoding="own", local=True)
    usage = Usage(40_000, 0, 10)
    model = ScriptedModel(BIRTHDAY, capabilities=able, usage=usage)
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        assert result.run.stopped_by == "tokens"
    assert BudgetExceededError.code == "budget"


# --- approval ------------------------------------------------------------------------------------------------

sent: list[str] = []


@tool(effect="external")
def send_mail(to: str) -> str:
    """Send a mail."""
    sent.append(to)
    return f"sent to {to}"


async def test_an_external_call_waits_then_goes_on_after_approval_without_planning_again():
    """Persisted, then asked; the rest of the plan runs after it."""
    sent.clear()
    model = ScriptedModel(plan(("send_mail", {"to": "sam"}), ("addTask", {"title": "Wait for Sam"})))
    async with assistant(model, send_mail) as ours:
        result = await ours.ask("mail sam and remind me")
        assert (result.status, result.exit_code) == (RunStatus.NEEDS_APPROVAL, 5)
        (waiting,) = result.waiting
        assert waiting.arguments == {"to": "sam"}
        assert sent == []
        with pytest.raises(StateError, match="waits for you"):
            await ours.resume(result.id)
        model.add("Sent.")
        done = await (await ours.approve(result.id, waiting.id))
        assert (done.status, done.reply, sent) == (RunStatus.DONE, "Sent.", ["sam"])
        assert await titles(ours, "tasks") == ["Wait for Sam"]
        assert done.model_calls == 2
        with pytest.raises(StateError, match="no waiting call"):
            await ours.approve(result.id, waiting.id)
        report = await ours.undo(done)
        assert [str(item.verdict) for item in report.items] == ["take_back", "impossible"]
    model.assert_done()


async def test_the_handle_of_a_run_takes_the_decision():
    """`await run.approve(call_id)` and `decline`, once it rests; a handle of nobody cannot."""
    sent.clear()
    model = ScriptedModel(plan(("send_mail", {"to": "a"}), ("send_mail", {"to": "b"})), "One of two.")
    async with assistant(model, send_mail) as ours:
        run = ours.ask("mail a and b")
        first = (await run).waiting[0]
        second = await run.approve(first.id)
        assert (await second).waiting[0].arguments == {"to": "b"}
        done = await (await second.decline())
        assert (done.status, sent, done.run.incomplete) == (RunStatus.DONE, ["a"], True)
        with pytest.raises(StateError, match="no waiting call"):
            await run.approve("999")

        async def result(handle: RunHandle) -> Any:
            return done

        with pytest.raises(MisuseError, match="no assistant"):
            await RunHandle(result).approve()


async def test_a_declined_call_is_told_and_the_rest_goes_on():
    """No is an answer."""
    sent.clear()
    model = ScriptedModel(plan(("send_mail", {"to": "sam"}), ("addTask", {"title": "T"})), "Not sent.")
    async with assistant(model, send_mail) as ours:
        result = await ours.ask("mail sam and remind me")
        done = await (await ours.decline(result.id))
        assert (done.status, sent, done.run.incomplete) == (RunStatus.DONE, [], True)
        assert "declined" in model.requests[1].messages[-1].content


async def test_a_cancelled_run_never_goes_on():
    """It keeps what was done and can be undone."""
    model = ScriptedModel(plan(("addTask", {"title": "T"}), ("send_mail", {"to": "sam"})))
    async with assistant(model, send_mail) as ours:
        result = await ours.ask("remind me and mail sam")
        run = await ours.cancel(result.id)
        assert run.status is RunStatus.CANCELLED
        for attempt in (ours.resume(result.id), ours.resume(result.id)):
            with pytest.raises(StateError, match="cancelled"):
                await attempt
        with pytest.raises(StateError, match="cancelled already"):
            await ours.cancel(result.id)
        assert (await ours.undo(result)).taken_back == 1


# --- cancelling and resuming ---------------------------------------------------------------------------------


async def test_cancelling_a_run_in_work_ends_it_as_cancelled():
    """The call that was open is closed as what it is known to be."""
    started = asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        """Take long."""
        started.set()
        await asyncio.sleep(30)
        return "never"

    model = ScriptedModel(plan(("addTask", {"title": "T"}), ("slow", {})))
    async with assistant(model, slow) as ours:
        handle = ours.ask("a task and something slow")
        await started.wait()
        assert await handle.cancel() is None
        journal = await ours.journal()
        run = await journal.run(await handle.id())
        assert run.status is RunStatus.CANCELLED
        statuses = [call.status for call in await journal.calls(run.id)]
        assert statuses == [CallStatus.DONE, CallStatus.INTERRUPTED]


async def test_a_run_left_by_a_dead_process_goes_on_where_it_was():
    """No plan again, no write again; only the answer is asked for."""

    class DeathError(BaseException):
        """The process ends here."""

    model = ScriptedModel(BIRTHDAY, DeathError())
    async with assistant(model) as ours:
        handle = ours.ask("Anna's birthday is on 3 May")
        with pytest.raises(DeathError):
            await handle
        run_id = await handle.id()
        await _as_left_by_the_dead(ours, run_id)
        model.add("All done.")
        resumed = await ours.resume(run_id)
        assert (resumed.status, resumed.reply, resumed.run.incomplete) == (RunStatus.DONE, "All done.", False)
        assert await titles(ours, "tasks") == ["Buy a present for Anna"]
        assert len(model.requests) == 3
        with pytest.raises(StateError, match="nothing to go on with"):
            await ours.resume(run_id)


async def _as_left_by_the_dead(ours: Any, run: str) -> None:
    """The row as a killed process leaves it: running, with an owner that is not there any more."""
    from sqlalchemy import text

    journal = await ours.journal()
    owner = journal_owner_of_nobody()
    await journal.transact(
        lambda tx: tx.execute(
            text("UPDATE runs SET status = 'running', owner = :owner, reply = '' WHERE id = :run"),
            {"owner": owner, "run": run},
        )
    )


def journal_owner_of_nobody() -> str:
    from surefoot.journal.owner import current_owner

    host, _, _ = current_owner().partition("/")
    return f"{host}/999999999/never"


async def test_a_fault_of_our_own_is_not_left_running():
    """The run says that it failed, and the fault is raised for whoever can mend it."""

    class OddError(Exception):
        """Not one of ours."""

    model = ScriptedModel("nothing", OddError("bug"))
    async with assistant(model) as ours:
        handle = ours.ask("hello to you")
        with pytest.raises(OddError):
            await handle
        run = await (await ours.journal()).run(await handle.id())
        assert run.status is RunStatus.FAILED
        assert run.error is not None
        assert "OddError" in run.error["message"]


async def test_an_undo_that_was_interrupted_is_finished_by_running_it_again():
    """By undo, or by resuming its own run."""
    model = ScriptedModel(BIRTHDAY, "Done.")
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        report = await ours.undo(result)
        assert report.run is not None
        await _as_left_by_the_dead(ours, report.run.id)
        again = await ours.resume(report.run.id)
        assert again.status is RunStatus.DONE
        assert await titles(ours, "tasks") == []
        assert (await ours.redo(result)).taken_back == 2


async def test_an_undo_whose_journal_fails_says_so_and_is_not_called_done(monkeypatch):
    """Storage trouble is the caller's to see."""
    model = ScriptedModel(BIRTHDAY, "Done.")
    async with assistant(model) as ours:
        result = await ours.ask("Anna's birthday is on 3 May")
        journal = await ours.journal()

        async def full(*args: Any, **kwargs: Any) -> None:
            raise StorageError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(journal, "perform", full)
            with pytest.raises(StorageError):
                await ours.undo(result)
        assert (await ours.undo(result)).taken_back == 2


# --- what it works with --------------------------------------------------------------------------------------


async def test_unknown_runs_are_named():
    """For every verb."""
    async with assistant(ScriptedModel()) as ours:
        for attempt in (ours.undo("beef"), ours.cancel("beef"), ours.approve("beef")):
            with pytest.raises(NotFoundError, match="beef"):
                await attempt
        with pytest.raises(NotFoundError):
            await ours.resume("beef")
        handle = ours.resume("beef")
        with pytest.raises(NotFoundError):
            async for _ in handle:
                pass
        with pytest.raises(NotFoundError):
            await ours.undo("last")


async def test_it_runs_on_a_memory_journal_with_tools_of_ones_own():
    """Nothing is written anywhere."""

    @tool(effect="read")
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    journal = MemoryJournal()
    model = ScriptedModel(plan(("add", {"a": 2, "b": 3})), "5")
    ours = assistant(model, add, kits=(), journal=journal, actor=Actor("mission", "m1"))
    result = await ours.ask("what is two and three?")
    assert result.calls[0].result == 5
    assert str(result.calls[0].actor) == "mission:m1"
    await ours.close()
    assert (await journal.run(result.id)).reply == "5"
    assert not model.closed


async def test_the_language_is_the_settings_then_the_locales(monkeypatch):
    """Two letters, English where nothing is known."""
    ours = assistant(ScriptedModel(), settings={})
    assert ours.language == "en"
    ours.settings = ours.settings.model_copy(update={"language": ""})
    for given, wanted in (("de_DE", "de"), (None, "en"), ("C", "en")):
        monkeypatch.setattr("locale.getlocale", lambda given=given: (given, "UTF-8"))
        assert ours.language == wanted


async def test_the_planner_may_be_another_model(monkeypatch):
    """planner_model plans, the model answers; both are closed when the assistant opened them."""
    chat, planner = (
        ScriptedModel("Hello.", name="scripted:chat"),
        ScriptedModel("nothing to do", name="scripted:plan"),
    )
    opened = {"scripted:chat": chat, "scripted:plan": planner}

    async def open_model(name: str, settings: Any) -> Any:
        return opened[name]

    monkeypatch.setattr("surefoot.models.registry.open_model", open_model)
    monkeypatch.setattr("surefoot.models.open_model", open_model, raising=False)
    async with assistant("scripted:chat", settings={"planner_model": "scripted:plan"}) as ours:
        await ours.ask("hello to you")
    assert len(planner.requests) == len(chat.requests) == 1
    assert planner.closed
    assert chat.closed


def test_completion_and_effect_are_public():
    """What an own model or tool needs."""
    assert Completion("x").text == "x"
    assert Effect.READ == "read"


# --- what grows, and what is cut ---------------------------------------------------------------------------------


async def test_a_text_pasted_once_does_not_fill_every_prompt_after_it():
    """What was said is read again up to a length, by the planner and by the reply."""
    model = ScriptedModel(always="ok")
    async with assistant(model) as ours:
        await ours.ask("Read this: " + "long " * 30_000)
        model.requests.clear()
        for number in range(8):
            await ours.ask(f"And now to number {number}")
    sizes = [sum(len(message.content) for message in request.messages) for request in model.requests]
    assert max(sizes) < 20_000


@pytest.mark.parametrize("seen", range(-1, 20, 4))
async def test_a_secret_at_a_cut_is_masked_whole(seen):
    """Results are masked before they are cut for the prompt: half of a secret is known to no mask."""
    secret = "planted-0123456789"

    @tool(effect="read")
    def look_up() -> str:
        """Look it up."""
        return "x" * (RESULT_CHARS - seen) + secret + "y" * 100

    model = ScriptedModel(plan(("look_up", {})), "Found.")
    with redaction.secrets(secret):
        async with assistant(model, look_up) as ours:
            await ours.ask("look it up please")
    said = model.requests[-1].messages[-1].content
    assert "xxx" in said
    assert "xp" not in said
