"""The rules of the planner's contract that live in the assistant, one test each, named in its docstring."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot import ScriptedModel, tool
from surefoot.assistant.router import FEW
from surefoot.errors import NoModelError, ProviderUnavailableError
from surefoot.events import EventType
from surefoot.journal.types import Memory, RunStatus
from surefoot.models.types import Capabilities

from .support import assistant, plan, titles

TEXT = Capabilities(encoding="text", context_length=8192)


async def types_of(ours: Any, run: str) -> list[EventType]:
    return [event.type for event in await (await ours.journal()).events(run)]


def prompt_of(model: ScriptedModel, number: int) -> str:
    return "\n".join(message.content for message in model.requests[number].messages)


# --- when the planner runs -----------------------------------------------------------------------------------


async def test_the_planner_runs_behind_the_dialogue_and_the_router_and_before_memory():
    """When the planner runs: dialogue context and narrowed tools are there, memory content is not."""
    model = ScriptedModel(
        "Nothing.", "Rome is lovely.", plan(("searchMemory", {"topic": "Rome"})), "You liked Rome."
    )
    async with assistant(model) as ours:
        await (await ours.journal()).add_memory(Memory("m1", "fact", "The Rome hotel was the Bellavista", ""))
        await ours.ask("Is Rome nice in spring?")
        result = await ours.ask("which hotel did I like there?")
        planned = prompt_of(model, 2)
        assert "Rome is lovely." in planned
        assert "Bellavista" not in planned
        assert "Bellavista" in prompt_of(model, 3)
        told = await types_of(ours, result.id)
        assert told.index(EventType.PLAN_MADE) < told.index(EventType.MEMORY_READ)


async def test_the_planner_may_call_what_the_router_chose_and_reads_one_stable_prompt():
    """When the planner runs: narrowed by the router (the binding, not the prompt, which keeps its cached prefix)."""

    @tool(effect="read", kit="zoo")
    def zebra_stripes(count: int) -> int:
        """Count the stripes of a zebra."""
        return count

    model = ScriptedModel("Nothing.", "ok", "Nothing.", "ok")
    async with assistant(model, zebra_stripes) as ours:
        assert len(ours.catalogue) > FEW
        await ours.ask("add a task about milk")
        await ours.ask("how many zebra stripes are seven?")
    first, second = model.requests[0], model.requests[2]
    assert first.only is not None
    assert second.only is not None
    assert "zebra_stripes" not in first.only
    assert "zebra_stripes" in second.only
    assert first.messages[0] == second.messages[0]


@pytest.mark.parametrize(
    ("query", "planned"),
    [
        ("hi", False),
        ("ok!", False),
        ("  a  ", False),
        ("note", True),
        ("好", False),
        ("你好", True),
        ("メモ", True),
    ],
)
async def test_short_noise_is_answered_without_a_plan(query, planned):
    """When the planner runs: only from the least number of characters on, two in Chinese, Japanese and Korean."""
    model = ScriptedModel(always="Hello.")
    async with assistant(model) as ours:
        result = await ours.ask(query)
        assert [request.purpose for request in model.requests] == (
            ["plan", "reply"] if planned else ["reply"]
        )
        assert result.reply == "Hello."


async def test_a_planner_that_is_switched_off_is_not_asked():
    """When the planner runs: only when `planner_enabled`."""
    model = ScriptedModel(always="Hello.")
    async with assistant(model, settings={"planner_enabled": False}) as ours:
        await ours.ask("what is on my list?")
    assert "plan" not in {request.purpose for request in model.requests}


async def test_without_any_model_the_run_fails_with_the_ways_out(monkeypatch):
    """When the planner runs: only when a model can be had; else it is said, and nothing hangs."""

    async def none(settings: Any) -> Any:
        raise NoModelError("There is no language model.", "Pull one.")

    monkeypatch.setattr("surefoot.models.default_model", none, raising=False)
    async with assistant(None) as ours:  # type: ignore[arg-type]
        result = await ours.ask("what is on my list?")
    assert (result.status, result.exit_code) == (RunStatus.FAILED, 3)
    assert result.error is not None
    assert result.error.code == "no_model"


# --- engine integration --------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [True, False])
async def test_memory_is_gated_by_the_plan(asked):
    """Engine integration, requires_memory: without the directive there is no lookup and no digest."""
    long = "Tea facts. " + "Anna likes tea from Assam. " * 40
    calls = [("searchMemory", {"topic": "tea"})] if asked else []
    model = ScriptedModel(
        plan(*calls, ("listTasks", {})), *(["Anna likes Assam."] if asked else []), "Answer."
    )
    async with assistant(model) as ours:
        for number in range(4):
            await (await ours.journal()).add_memory(Memory(f"m{number}", "diary", long, ""))
        result = await ours.ask("what tea does Anna like, and my tasks?")
        assert (EventType.MEMORY_READ in await types_of(ours, result.id)) is asked
    assert ("digest" in [request.purpose for request in model.requests]) is asked


async def test_the_topic_of_the_directive_is_what_is_looked_for():
    """Engine integration, memory_topic: the directive's topic anchors the search, not the raw request."""
    model = ScriptedModel(plan(("searchMemory", {"topic": "shellfish allergy"})), "No shrimps.")
    async with assistant(model) as ours:
        await (await ours.journal()).add_memory(Memory("m1", "fact", "Sam has a shellfish allergy", ""))
        await (await ours.journal()).add_memory(Memory("m2", "fact", "dinner was cooked on Monday", ""))
        await ours.ask("what must I not cook for dinner?")
    assert "shellfish" in prompt_of(model, 1).split("REMEMBERED (data)")[1]
    assert "cooked on Monday" not in prompt_of(model, 1)


async def test_tools_that_the_plan_names_are_added_to_the_routers_choice():
    """Engine integration, tool_names_in_plan: united with the router's list, never in its place."""

    @tool(effect="read", kit="zoo")
    def zebra_stripes(count: int) -> int:
        """Count the stripes of a zebra."""
        return count

    model = ScriptedModel("zebra_stripes count=7\nlistTasks\nreply()", "Seven.", capabilities=TEXT)
    async with assistant(model, zebra_stripes) as ours:
        result = await ours.ask("my tasks, and that other thing")
    assert (result.calls[0].tool, result.calls[0].result) == ("zebra_stripes", 7)
    assert {call.tool for call in result.calls} == {"zebra_stripes", "listTasks"}


async def test_vague_steps_skip_direct_execution_altogether():
    """Engine integration, plan_has_unresolved_tool_steps: no resolver guesses arguments for "get the weather"."""
    model = ScriptedModel("get the weather\nReply to the user.", "I cannot.", capabilities=TEXT)
    async with assistant(model) as ours:
        result = await ours.ask("how is the weather?")
    assert [request.purpose for request in model.requests] == ["plan", "reply"]
    assert result.calls == ()
    assert result.run.incomplete


async def test_downstream_sees_a_plan_without_the_directive_and_its_numbers_follow():
    """Engine integration, strip_memory_directives: step 2 of the plan is step 1 of what runs."""
    model = ScriptedModel(
        plan(
            ("searchMemory", {"topic": "lists"}),
            ("addNote", {"title": "Lists"}),
            ("tagNote", {"note": "<note id from step 2>", "tag": "home"}),
        ),
        "Tagged.",
    )
    async with assistant(model) as ours:
        result = await ours.ask("write a note called Lists and tag it home")
        assert [call.key for call in result.calls] == ["step.1", "step.2"]
        assert all(call.status == "done" for call in result.calls)
    assert "searchMemory" not in prompt_of(model, 1)


async def test_concrete_steps_run_without_the_chat_model_which_then_phrases_the_answer():
    """Engine integration, direct execution: N steps, two model calls; the chat model writes the reply from results."""
    model = ScriptedModel(plan(*(("addTask", {"title": f"T{n}"}) for n in range(4))), "Four tasks.")
    async with assistant(model) as ours:
        result = await ours.ask("four tasks please")
        assert result.model_calls == 2
        assert result.reply == "Four tasks."
        assert await titles(ours, "tasks") == ["T0", "T1", "T2", "T3"]
    assert "RESULTS (data)" in prompt_of(model, 1)


async def test_a_reply_only_plan_and_no_plan_stay_apart():
    """Parsing and hygiene: only the empty list means "failed"; a decision skips memory, a failure searches it."""
    for answer, failed in (("Nothing to call.", False), ("", True)):
        model = ScriptedModel(answer, "Hello.")
        async with assistant(model) as ours:
            result = await ours.ask("how are you today?")
            assert (EventType.MEMORY_READ in await types_of(ours, result.id)) is failed
        assert [request.purpose for request in model.requests] == ["plan", "round" if failed else "reply"]


# --- fail-open -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("", "empty"), (ProviderUnavailableError("down"), "unavailable"), (RuntimeError("odd"), "error")],
)
async def test_a_planner_that_fails_gives_no_plan_and_the_turn_goes_on(answer, reason):
    """Fail-open: an empty answer or an exception of the planner is the empty plan, with its reason in the journal."""
    model = ScriptedModel(answer, "An answer.")
    async with assistant(model) as ours:
        result = await ours.ask("what is on my list?")
        (made,) = [e for e in await (await ours.journal()).events(result.id) if e.type is EventType.PLAN_MADE]
        assert (made.data["steps"], made.data["failed"]) == ([], reason)
        assert result.reply == "An answer."


async def test_a_planner_that_is_too_slow_gives_no_plan():
    """Fail-open: a time-out of the planner is the empty plan."""

    async def slow(request: Any) -> str:
        import asyncio

        if request.purpose == "plan":
            await asyncio.sleep(5)
        return "An answer."

    model = ScriptedModel(always=slow)
    async with assistant(model, settings={"planner_timeout_sec": 0.05}) as ours:
        result = await ours.ask("what is on my list?")
        assert result.reply == "An answer."
        assert result.run.context["no_plan"].endswith("(timeout)")


@pytest.mark.parametrize("answer", ['{"name": "tagNote", "argum', "null", ProviderUnavailableError("down")])
async def test_a_step_that_does_not_resolve_goes_to_the_chat_model(answer):
    """Fail-open: invalid JSON (or null, or no answer) in the step resolver leaves the rest of the turn to the answer."""
    text = "listNotes search='x'\ntagNote note='<the best one from step 1>' tag='good'\nreply()"
    model = ScriptedModel(text, answer, "I found none to tag.", capabilities=TEXT)
    async with assistant(model) as ours:
        result = await ours.ask("tag the best note about x as good")
        assert [call.tool for call in result.calls] == ["listNotes"]
        assert (result.status, result.run.incomplete) == (RunStatus.DONE, True)
    assert "tagNote" in model.requests[2].messages[-1].content.split("NOT DONE")[1]


async def test_no_plan_never_worsens_what_would_be_without_a_planner():
    """Fail-open: memory is read and the request answered, exactly as with the planner switched off."""
    prompts = []
    for settings, answers in (({"planner_enabled": False}, []), ({}, [""])):
        model = ScriptedModel(*answers, "Anna likes tea.")
        async with assistant(model, settings=settings) as ours:
            await (await ours.journal()).add_memory(
                Memory(f"m{len(prompts)}", "fact", "Anna likes green tea", "")
            )
            ours.dialogue = f"d{len(prompts)}"
            result = await ours.ask("what tea does Anna like?")
            assert result.reply == "Anna likes tea."
        prompts.append(model.requests[-1].messages[-1].content.split("NOT DONE")[0])
        assert "green tea" in prompts[-1]
    assert prompts[0].splitlines()[:3] == prompts[1].splitlines()[:3]


# --- non-goals -----------------------------------------------------------------------------------------------


async def test_every_utterance_gets_its_own_plan_and_none_is_made_again_in_the_middle():
    """Non-goals: no plan is kept across turns, and none is remade when a step fails."""
    model = ScriptedModel(
        plan(("completeTask", {"task": "none such"})), "There is none.", plan(("listTasks", {})), "Nothing."
    )
    async with assistant(model) as ours:
        first = await ours.ask("tick off none such")
        await ours.ask("tick off none such")
        assert first.run.incomplete
    assert [request.purpose for request in model.requests] == ["plan", "reply", "plan", "reply"]
