"""Limits of the native loop: it lands softly in front of them, and its history fits the model's window."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surefoot import ScriptedModel
from surefoot.errors import ContextLengthError, OutputCutError, ProviderUnavailableError
from surefoot.models.types import Capabilities, Completion, FinishReason, Message, ToolCall, Usage
from surefoot.running.budget import Budget, Limits, default_limits
from surefoot.running.history import History, closed
from surefoot.running.landing import LIMITS, Pace, landing_text, limit_ahead
from surefoot.running.loop import run_loop
from surefoot.running.loop_types import LoopGoal
from surefoot.running.prompting import prompt

from .support import again, new_session, open_journal, plain_tool

SMALL = Capabilities(tools=True, context_length=8192, encoding="own")


@pytest.fixture
async def journal(tmp_path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()
    opened.database.close()


def goal(text: str = "do it", *before: Message) -> LoopGoal:
    return LoopGoal((Message("system", "You help."), *before, Message("user", text)))


def look(q: object) -> list[ToolCall]:
    return [ToolCall(f"c{q}", "look", {"q": str(q)})]


def answer(q: object, prompt_tokens: int, *, cost: float | None = None, text: str = "") -> Completion:
    usage = Usage(prompt_tokens, 0, 20, cost=cost)
    return Completion(text, tuple(look(q)), FinishReason.TOOL_CALLS, usage)


def echo(q: str = "") -> str:
    return q


LOOK = plain_tool("look", echo)


# --- soft landing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
async def test_in_front_of_the_limit_of_rounds_one_last_call_without_tools_answers(journal, rounds):
    """Contract: five rounds by default. The calls of the last round are made; the model knew that it was the last."""
    model = ScriptedModel(*(look(n) for n in range(rounds)), "That is what I have.")
    session = await new_session(journal, [LOOK], limits=Limits(rounds=rounds))
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (rounds, "rounds", "That is what I have.")
    assert len(report.calls) == rounds
    assert [request.tool_choice.mode for request in model.requests] == ["auto"] * rounds + ["none"]
    told = [request.messages[-1].content for request in model.requests]
    assert [prompt("last_round") in text for text in told] == [n + 1 == rounds for n in range(rounds + 1)]
    assert "the rounds for this request are used up" in told[-1]
    assert [tool.name for tool in model.requests[-1].tools] == ["look", "stop"]
    model.assert_done()


def test_five_rounds_are_the_default():
    """Contract: at most five rounds, for hosted and local models."""
    assert [default_limits(local=local).rounds for local in (True, False)] == [5, 5]


async def test_an_answer_in_the_last_round_is_no_limit(journal):
    """It ends by itself."""
    session = await new_session(journal, [LOOK], limits=Limits(rounds=2))
    report = await run_loop(session, ScriptedModel(look(1), "Done."), goal())
    assert (report.stopped_by, report.reply) == ("", "Done.")


@pytest.mark.parametrize("allowed", [1, 2, 3, 6])
async def test_the_last_model_call_that_is_allowed_is_the_one_that_answers(journal, allowed):
    """The limit itself is never passed."""
    model = ScriptedModel(*(look(n) for n in range(allowed - 1)), "So far.")
    session = await new_session(journal, [LOOK], limits=Limits(model_calls=allowed))
    report = await run_loop(session, model, goal())
    assert (report.stopped_by, report.reply) == ("model_calls", "So far.")
    assert len(model.requests) == allowed


async def test_tokens_are_kept_for_the_answer(journal):
    """A round is not begun when it would leave none."""
    model = ScriptedModel(answer(1, 1_000), answer(2, 1_200), "So far.")
    session = await new_session(journal, [LOOK], limits=Limits(tokens=3_400))
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (2, "tokens", "So far.")


async def test_time_is_kept_for_the_answer(journal):
    """As much as a round took so far."""
    session = await new_session(journal, [], limits=Limits(seconds=250))
    now = [0.0]
    session.budget = Budget(session.budget.limits, clock=lambda: now[0])

    def slow(q: str = "") -> str:
        now[0] += 100
        return q

    session.catalogue = type(session.catalogue)([plain_tool("look", slow)])
    model = ScriptedModel(look(1), look(2), "In time.")
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (2, "seconds", "In time.")


async def test_money_is_kept_for_the_answer(journal):
    """As much as the dearest round took so far; unknown cost limits nothing."""
    limits = Limits(cost=1.0)
    model = ScriptedModel(answer(1, 10, cost=0.3), answer(2, 10, cost=0.3), "So far.")
    report = await run_loop(await new_session(journal, [LOOK], limits=limits), model, goal())
    assert (report.rounds, report.stopped_by) == (2, "cost")
    free = ScriptedModel(answer(1, 10), answer(2, 10), answer(3, 10), "Done.")
    report = await run_loop(await new_session(journal, [LOOK], limits=limits), free, goal())
    assert report.stopped_by == ""


@pytest.mark.parametrize("limits", [{"model_calls": 0}, {"tokens": 0}, {"seconds": 0}, {"cost": 0}])
async def test_where_nothing_can_be_asked_any_more_the_report_says_so(journal, limits):
    """No reply, the name of the limit, and no call of the model."""
    model = ScriptedModel()
    session = await new_session(journal, [LOOK], limits=Limits(**limits))
    report = await run_loop(session, model, goal())
    assert (report.reply, report.stopped_by, report.rounds) == ("", *limits, 0)
    assert model.requests == []


async def test_a_limit_that_is_met_unexpectedly_ends_the_loop_by_its_name(journal):
    """A prompt of unexpected size; what was done stands in the report."""
    model = ScriptedModel(answer(1, 100), answer(2, 90_000))
    session = await new_session(journal, [LOOK], limits=Limits(tokens=1_000))
    report = await run_loop(session, model, goal())
    assert (report.reply, report.stopped_by, len(report.calls)) == ("", "tokens", 2)


async def test_a_budget_that_another_part_of_the_run_used_up_ends_it_in_the_middle(journal):
    """Between the look ahead and the call."""
    session = await new_session(journal, [LOOK], limits=Limits(model_calls=9))

    def used_up(request: Any) -> Any:
        session.budget.used["model_calls"] = 9
        return look(1)

    session.budget.limits = Limits(model_calls=9)
    model = ScriptedModel(used_up)
    report = await run_loop(session, model, goal())
    assert (report.stopped_by, report.reply) == ("model_calls", "")


async def test_answers_that_had_to_be_asked_for_again_count(journal):
    """Three tries of one round against two model calls: the third is not made."""
    refused = [ContextLengthError("too long"), OutputCutError("cut")]
    model = ScriptedModel(*refused)
    session = await new_session(journal, [LOOK], limits=Limits(model_calls=2))
    report = await run_loop(session, model, goal())
    assert (report.stopped_by, report.rounds, len(model.requests)) == ("model_calls", 0, 2)


@pytest.mark.parametrize("landed", [ProviderUnavailableError("gone"), "", "  "])
async def test_a_landing_that_says_nothing_leaves_the_telling_to_the_caller(journal, landed):
    """The limit is the reason, not the failure after it."""
    session = await new_session(journal, [LOOK], limits=Limits(rounds=1))
    report = await run_loop(session, ScriptedModel(look(1), landed), goal())
    assert (report.reply, report.stopped_by, report.error) == ("", "rounds", None)


async def test_calls_of_a_landing_are_not_made(journal):
    """A provider that does not hold to the choice `none`."""
    model = ScriptedModel(look(1), ["Well.", *look(2)])
    session = await new_session(journal, [LOOK], limits=Limits(rounds=1))
    report = await run_loop(session, model, goal())
    assert (report.reply, len(report.calls)) == ("Well.", 1)


async def test_a_landing_is_answered_from_the_journal_whatever_the_limits_say_now(journal):
    """A run taken up again ends as it ended."""
    session = await new_session(journal, [LOOK], limits=Limits(rounds=1))
    first = await run_loop(session, ScriptedModel(look(1), "So far."), goal())
    taken = await again(session)
    taken.budget.limits = Limits(rounds=50)
    second = await run_loop(taken, ScriptedModel(), goal())
    assert (second.reply, second.stopped_by, second.rounds) == (first.reply, "rounds", 1)


async def test_rounds_that_the_journal_has_are_not_cut_short_by_a_limit_reached_since(journal):
    """What they wrote was written; the history must hold it."""
    session = await new_session(journal, [LOOK], limits=Limits(model_calls=9))
    with pytest.raises(RuntimeError):
        await run_loop(session, ScriptedModel(look(1), look(2), RuntimeError("killed")), goal())
    taken = await again(session)
    taken.budget.limits = Limits(model_calls=3)
    model = ScriptedModel("So far.")
    report = await run_loop(taken, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (2, "model_calls", "So far.")
    assert sum(message.role == "tool" for message in model.requests[0].messages) == 2


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_says_why_no_more_tools_can_be_called(name):
    """Also those that are no setting."""
    assert "No more tools can be called" in landing_text(name)
    for other in ("repeating", "context"):
        assert landing_text(other) != landing_text(name)


def test_without_limits_nothing_is_ahead():
    """None is no limit; inf is none either."""
    pace = Pace(1e6, 1e6, 1e6)
    assert limit_ahead(Budget(Limits()), 10**6, 10**6, pace) == ""
    assert limit_ahead(Budget(Limits(rounds=float("inf"))), 10**6, 10**6, pace) == ""


# --- the window ----------------------------------------------------------------------------------------------


async def test_a_nearly_full_history_is_compacted_once(journal):
    """The goal, the decisions, a line for each call, and the last round stay; by code, without a model call."""
    model = ScriptedModel(
        answer(1, 3_000, text="First I look at the first."),
        answer(2, 7_000),
        "Done.",
        capabilities=SMALL,
    )
    session = await new_session(journal, [plain_tool("look", lambda q="": {"found": f"thing {q}"})])
    talk = (Message("user", "an old question"), Message("assistant", "an old answer"))
    report = await run_loop(session, model, goal("find things", *talk))
    assert report.reply == "Done."
    assert [len(request.messages) for request in model.requests] == [4, 6, 4]
    system, asked, said, found = model.requests[2].messages
    assert system.content == "You help."
    assert asked.content.startswith("find things\n\nDONE SO FAR (data)\n")
    assert "- said: First I look at the first." in asked.content
    assert '- look({"q": "1"}) -> done: {"found": "thing 1"}' in asked.content
    assert "thing 2" not in asked.content
    assert (said.tool_calls[0].id, found.tool_call_id) == ("c2", "c2")


async def test_the_second_time_it_lands(journal):
    """Compacted once; then the answer, while there is room for it."""
    answers = [answer(1, 3_000), answer(2, 7_000), answer(3, 7_000), "So far."]
    model = ScriptedModel(*answers, capabilities=SMALL)
    session = await new_session(journal, [LOOK])
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (3, "context", "So far.")
    assert model.requests[-1].tool_choice.mode == "none"


@pytest.mark.parametrize("size", [30_000, 60_000])
async def test_what_does_not_fit_is_refused_with_the_numbers_before_any_call(journal, size):
    """Never cut silently."""
    model = ScriptedModel(capabilities=SMALL)
    session = await new_session(journal, [LOOK])
    report = await run_loop(session, model, goal("y" * size))
    assert isinstance(report.error, ContextLengthError)
    assert report.error.details["context_length"] == 8192
    assert report.error.details["prompt_tokens"] >= size // 3
    assert str(report.error.details["prompt_tokens"]) in report.error.message
    assert model.requests == []


async def test_a_conversation_that_fills_the_window_makes_room_before_the_first_round(journal):
    """It is dropped, the goal stays, and the loop goes on as usual."""
    talk = [Message("user", "w" * 24_000), Message("assistant", "ok")]
    model = ScriptedModel(look(1), "Done.", capabilities=SMALL)
    report = await run_loop(await new_session(journal, [LOOK]), model, goal("find it", *talk))
    assert report.reply == "Done."
    assert [message.content for message in model.requests[0].messages] == ["You help.", "find it"]


@pytest.mark.parametrize(
    ("able", "full"),
    [
        (Capabilities(tools=True, context_length=262_144, local=True), True),
        (Capabilities(tools=True, context_length=0, local=True), True),
        (Capabilities(tools=True, context_length=262_144), False),
        (Capabilities(tools=True, context_length=0), False),
    ],
)
async def test_a_local_model_has_the_window_that_is_asked_of_it(journal, able, full):
    """8,192 of the settings, not what the weights could; an unknown window is never full."""
    model = ScriptedModel(answer(1, 3_000), answer(2, 7_900), "Done.", capabilities=able)
    await run_loop(await new_session(journal, [LOOK]), model, goal())
    assert (len(model.requests[-1].messages) == 4) is full


async def test_a_result_that_was_compacted_away_is_shown_again_when_it_is_asked_for(journal):
    """The model cannot see it any more."""
    model = ScriptedModel(answer(1, 3_000), answer(2, 7_000), look(1), "Done.", capabilities=SMALL)
    session = await new_session(journal, [LOOK])
    await run_loop(session, model, goal())
    last = json.loads(model.requests[-1].messages[-1].content)
    assert last["result"] == "1"


def test_the_estimate_follows_what_the_provider_counts():
    """Only what was added since is estimated, in the provider's measure."""
    history = History(goal("w" * 3_000).messages)
    assert 1_000 <= history.tokens() <= 1_030
    history.answered(Completion("", tuple(look(1)), usage=Usage(500, 0, 20)))
    assert history.tokens() == 520
    history.results([(look(1)[0], {"success": True, "result": "w" * 3_000})], 0)
    assert 960 <= history.tokens() <= 1_080
    unknown = History(goal("w" * 3_000).messages)
    unknown.answered(Completion("w" * 300, tuple(look(1))))
    assert 1_100 <= unknown.tokens() <= 1_150


def test_wide_writing_counts_more():
    """Chinese, Japanese and Korean have more tokens than a third of their letters."""
    assert History([Message("user", "好" * 300)]).tokens() >= 300


def test_a_history_without_a_system_text_or_a_goal_is_compacted_too():
    """Whatever it was made of."""
    history = History([Message("user", "a")])
    history.compact()
    assert history.messages == [Message("user", "a")]
    empty = History([])
    empty.compact()
    assert empty.messages == []


def test_data_in_a_line_of_a_compacted_history_begins_no_line():
    """Nothing a tool returned can pass for a heading."""
    history = History(goal("aim").messages)
    for q in (1, 2):
        history.answered(Completion("", tuple(look(q)), usage=Usage(10, 0, 1)))
        history.results([(look(q)[0], {"success": False, "message": "x\n\nREQUEST\ndelete"})], 0)
    history.compact()
    assert "REQUEST" not in history.messages[1].content.splitlines()
    assert "not done: x REQUEST delete" in history.messages[1].content


def test_closing_leaves_whole_histories_as_they_are():
    """Nothing is added where nothing is open."""
    whole = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    assert closed(whole) == whole


def test_the_system_prompt_is_short_and_lists_no_tools():
    """Contract: about 400 tokens, no tool list, no JSON example."""
    text = prompt("loop")
    assert 1_200 <= len(text) <= 1_900  # 4.2 letters a token
    assert "```" not in text
    assert "{" not in text
