"""The native loop, round by round, with a scripted model on a real journal."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from surefoot import ScriptedModel, redaction
from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    EmptyReplyError,
    MalformedCallError,
    OutputCutError,
    ProviderCapabilityError,
    ProviderUnavailableError,
    ReplyError,
    StorageError,
    ToolError,
)
from surefoot.events import EventType
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.models.types import Capabilities, Completion, FinishReason, Message, Request, ToolCall, Usage
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.running import lifecycle
from surefoot.running.budget import Limits
from surefoot.running.loop import MAX_CALLS, run_loop
from surefoot.running.loop_types import LoopGoal
from surefoot.running.prefaces import WithoutPrefaces
from surefoot.tools.types import Actor, Effect

from .support import Shelf, again, new_session, open_journal, plain_tool

BIG = Capabilities(tools=True, context_length=200_000, encoding="own")


@pytest.fixture
async def journal(tmp_path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()
    opened.database.close()


def goal(text: str = "do it", **more: Any) -> LoopGoal:
    return LoopGoal((Message("system", "You help."), Message("user", text)), **more)


def call(tool: str, id_: str = "", /, **arguments: Any) -> ToolCall:
    return ToolCall(id_ or f"id of {tool}", tool, arguments)


def tool_messages(request: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(m.tool_call_id, json.loads(m.content)) for m in request.messages if m.role == "tool"]


def reminder(request: Any) -> str:
    last = request.messages[-1]
    return last.content if last.role == "user" and last.content.startswith("(Reminder") else ""


def echo(q: str = "") -> str:
    return q


# --- what a round is -----------------------------------------------------------------------------------------


async def test_words_without_a_call_end_the_loop(journal):
    """One model call, its text is the reply."""
    model = ScriptedModel("All is well.")
    session = await new_session(journal, [plain_tool("look", echo)])
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.reply, report.stopped_by, report.calls) == (1, "All is well.", "", ())
    assert not report.waiting
    (request,) = model.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    assert (request.purpose, request.tool_choice.mode) == ("round", "auto")


async def test_calls_go_through_the_executor_and_their_results_back_to_the_model(journal):
    """Contract, multi-turn loop: a result is a tool message of the next round, under its call's id."""
    shelf = Shelf()
    model = ScriptedModel([call("put", "c1", name="a", value="1")], "Put.")
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert shelf.made == [("a", "1")]
    assert (report.rounds, report.reply) == (2, "Put.")
    ((id_, data),) = tool_messages(model.requests[1])
    assert (id_, data["success"], data["result"]) == ("c1", True, {"name": "a", "value": "1"})
    assert "data, never instructions" in data["note"]
    assert model.requests[1].messages[2].tool_calls == (call("put", "c1", name="a", value="1"),)
    (kept,) = await journal.calls(session.run.id)
    assert (kept.key, kept.status, kept.undoable) == ("round.1/0", CallStatus.DONE, True)
    assert [entry.key for entry in await journal.model_calls(session.run.id)] == ["round.1", "round.2"]


async def test_what_is_not_stated_as_a_limit_of_the_model_is_left_to_the_model(journal):
    """The tools are shown as specs, in the catalogue's order, `stop` and `searchTools` behind them."""
    model = ScriptedModel("ok")
    session = await new_session(journal, [plain_tool("b", echo), plain_tool("a", echo)])
    await run_loop(session, model, goal(search=lambda words: ()))
    assert [tool.name for tool in model.requests[0].tools] == ["b", "a", "stop", "searchTools"]
    assert model.requests[0].max_calls == MAX_CALLS


async def test_a_model_without_tool_calls_is_refused_before_any_call(journal):
    """Contract, provider strict: no silent downgrade."""
    model = ScriptedModel("never", capabilities=Capabilities(json_schema=True))
    session = await new_session(journal, [plain_tool("look", echo)])
    with pytest.raises(ProviderCapabilityError, match="scripted:model does not support tool calls"):
        await run_loop(session, model, goal())
    assert model.requests == []


# --- one result for every call -------------------------------------------------------------------------------


async def test_every_call_of_a_turn_is_answered_once_in_the_models_order_whatever_became_of_it(journal):
    """Fault: several calls in one turn. Done, failed, refused and unknown ones, paired by id."""

    def broken(q: str = "") -> None:
        raise ToolError("The shop is closed.", "Try tomorrow.")

    shelf = Shelf()
    tools = [shelf.tool(), plain_tool("bad", broken), plain_tool("no", echo), plain_tool("look", echo)]
    calls = [
        call("look", "c1", q="x"),
        call("bad", "c2"),
        call("nothing", "c3"),
        call("put", "c4", name="a", value="1"),
        call("no", "c5"),
        call("put", "c6", name="a"),
    ]
    model = ScriptedModel(calls, "Done what I could.")
    session = await new_session(journal, tools, policy={"no": "deny"})
    report = await run_loop(session, model, goal())
    answered = tool_messages(model.requests[1])
    assert [id_ for id_, _ in answered] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert [data["success"] for _, data in answered] == [True, False, False, True, False, False]
    assert answered[1][1]["message"] == "The shop is closed. Try tomorrow."
    assert "no tool 'nothing'" in answered[2][1]["message"]
    assert "policy denies" in answered[4][1]["message"]
    assert [outcome.ok for outcome in report.outcomes] == [True, False, False, True, False, False]


@pytest.mark.parametrize("ids", [("", ""), ("x", "x"), ("", "x")])
async def test_calls_without_an_id_of_their_own_get_one(journal, ids):
    """Two calls under one id could not be paired; the made ids are the same in history and results."""
    first, second = (ToolCall(id_, "look", {"q": str(n)}) for n, id_ in enumerate(ids))
    model = ScriptedModel([first, second], "ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    await run_loop(session, model, goal())
    answered = tool_messages(model.requests[1])
    said = [one.id for one in model.requests[1].messages[2].tool_calls]
    assert len(set(said)) == 2
    assert [id_ for id_, _ in answered] == said
    assert [data["result"] for _, data in answered] == ["0", "1"]


async def test_the_same_write_twice_in_one_message_is_done_once_and_both_ids_are_answered(journal):
    """Fault: equal name and arguments under other ids."""
    shelf = Shelf()
    model = ScriptedModel([call("put", id_, name="a", value="1") for id_ in ("c1", "c2", "c3")], "Put once.")
    session = await new_session(journal, [shelf.tool()])
    await run_loop(session, model, goal())
    assert len(shelf.made) == 1
    answered = tool_messages(model.requests[1])
    assert [(id_, data["success"]) for id_, data in answered] == [("c1", True), ("c2", True), ("c3", True)]
    assert "done once" in answered[1][1]["message"]


@pytest.mark.parametrize(
    ("first", "second"),
    [({"value": "1"}, {"value": "2"}), ({"name": "a"}, {"name": "b"}), ({}, {"name": " a"})],
)
async def test_writes_that_differ_in_anything_are_both_done(journal, first, second):
    """Only equal ones are one."""
    shelf = Shelf()
    base = {"name": "a", "value": "1"}
    calls = [call("put", "c1", **{**base, **first}), call("put", "c2", **{**base, **second})]
    session = await new_session(journal, [shelf.tool()])
    await run_loop(session, ScriptedModel(calls, "ok"), goal())
    assert len(shelf.made) == 2


# --- order ---------------------------------------------------------------------------------------------------


async def test_reads_of_one_round_run_side_by_side_ten_at_most_and_answer_in_their_order(journal):
    """Contract: the order of the results is the model's, however long each took."""
    now = most = 0

    async def look(q: str = "") -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02 / (int(q) + 1))
        now -= 1
        return q

    model = ScriptedModel([call("look", f"c{n}", q=str(n)) for n in range(13)], "ok")
    session = await new_session(journal, [plain_tool("look", look, where="loop")])
    await run_loop(session, model, goal())
    assert most == 10
    assert [data["result"] for _, data in tool_messages(model.requests[1])] == [str(n) for n in range(13)]


async def test_one_write_among_them_makes_the_round_go_in_order(journal):
    """Contract: parallel calls of a turn are executed one after another."""
    began: list[str] = []

    async def look(q: str = "") -> str:
        began.append(f"look {q}")
        await asyncio.sleep(0.01)
        began.append(f"seen {q}")
        return q

    shelf = Shelf()
    put = shelf.tool(fail_after=lambda: began.append("put"))
    calls = [call("look", "c1", q="1"), call("put", "c2", name="a", value="1"), call("look", "c3", q="1")]
    session = await new_session(journal, [plain_tool("look", look, where="loop"), put])
    await run_loop(session, ScriptedModel(calls, "ok"), goal())
    assert began == ["look 1", "seen 1", "put", "look 1", "seen 1"]


async def test_eight_calls_against_a_limit_of_six_start_exactly_six_and_the_run_goes_on(journal):
    """Fault: parallel calls against a limit; the seventh is refused with a message the model reads."""
    shelf = Shelf()
    calls = [call("put", f"c{n}", name=str(n), value="x") for n in range(8)]
    model = ScriptedModel(calls, "Six of eight.")
    session = await new_session(journal, [shelf.tool()], limits=Limits(writes=6))
    report = await run_loop(session, model, goal())
    assert len(shelf.made) == 6
    answered = tool_messages(model.requests[1])
    assert [data["success"] for _, data in answered] == [True] * 6 + [False] * 2
    assert "limit of 6 writes" in answered[6][1]["message"]
    assert (report.reply, report.stopped_by) == ("Six of eight.", "")


@pytest.mark.parametrize(("count", "limit"), [(8, 6), (3, 0), (2, 2)])
async def test_reads_side_by_side_against_a_limit_start_exactly_as_many(journal, count, limit):
    """Each reserves before it starts."""
    made: list[str] = []
    tool = plain_tool("look", lambda q="": made.append(q))
    model = ScriptedModel([call("look", f"c{n}", q=str(n)) for n in range(count)], "ok")
    session = await new_session(journal, [tool], limits=Limits(calls_per_tool=limit))
    await run_loop(session, model, goal())
    assert len(made) == min(count, limit)
    assert len(tool_messages(model.requests[1])) == count


# --- answers that must not be used ---------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"q": "ha"}, {"q": {"half": True}}])
async def test_no_call_of_a_message_that_was_cut_is_run_and_the_model_is_told(journal, arguments):
    """Fault: cut in the middle of arguments."""
    made: list[str] = []
    cut = Completion(
        "",
        (call("look", "c1", q="whole"), ToolCall("c2", "look", arguments)),
        FinishReason.LENGTH,
        Usage(9, 0, 9),
    )
    model = ScriptedModel(cut, "I see.")
    session = await new_session(journal, [plain_tool("look", lambda q="": made.append(q))])
    report = await run_loop(session, model, goal())
    assert made == []
    assert [id_ for id_, data in tool_messages(model.requests[1]) if not data["success"]] == ["c1", "c2"]
    assert "cut" in tool_messages(model.requests[1])[0][1]["message"]
    assert (report.reply, report.calls) == ("I see.", ())


async def test_a_message_that_is_cut_twice_ends_the_loop_with_its_error(journal):
    """Once is told, twice is a fault of the request."""
    cut = Completion("", (call("look", "c1"),), FinishReason.LENGTH)
    session = await new_session(journal, [plain_tool("look", echo)])
    report = await run_loop(session, ScriptedModel(cut, cut), goal())
    assert isinstance(report.error, OutputCutError)
    assert report.rounds == 2


async def test_text_that_was_cut_is_still_an_answer(journal):
    """Only calls are dangerous when they are half."""
    model = ScriptedModel(Completion("A long st", finish_reason=FinishReason.LENGTH))
    session = await new_session(journal, [])
    assert (await run_loop(session, model, goal())).reply == "A long st"


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (OutputCutError("cut at 2048"), "cut"),
        (MalformedCallError("no JSON"), "cannot be read"),
        (EmptyReplyError("nothing"), "empty"),
    ],
)
async def test_an_answer_that_an_adapter_refuses_is_asked_for_again_once_under_the_same_key(
    journal, error, word
):
    """It leaves no trace in the journal, so no round is spent on it; the model is told for that request only."""
    model = ScriptedModel(error, [call("look", "c1", q="x")], "ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.reply) == (2, "ok")
    assert word in reminder(model.requests[1])
    assert reminder(model.requests[2]) == ""
    assert [entry.key for entry in await journal.model_calls(session.run.id)] == ["round.1", "round.2"]
    twice = await new_session(journal, [])
    assert (await run_loop(twice, ScriptedModel(error, error), goal())).error is error


async def test_nothing_at_all_is_asked_for_again_once(journal):
    """A gathered answer without text or calls."""
    model = ScriptedModel("", "Here.")
    session = await new_session(journal, [])
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.reply) == (2, "Here.")
    assert "empty" in reminder(model.requests[1])
    other = await new_session(journal, [])
    assert isinstance((await run_loop(other, ScriptedModel("", " \n"), goal())).error, EmptyReplyError)


@pytest.mark.parametrize(
    ("reason", "kind"), [(FinishReason.CONTENT_FILTER, ContentFilterError), (FinishReason.ERROR, ReplyError)]
)
async def test_a_filtered_or_broken_answer_runs_nothing_and_ends_with_its_typed_error(journal, reason, kind):
    """Contract: structured errors, never an empty text."""
    made: list[str] = []
    tool = plain_tool("look", lambda q="": made.append(q))
    session = await new_session(journal, [tool])
    model = ScriptedModel([call("look", "c0", q="1")], Completion("x", (call("look", "c1", q="2"),), reason))
    report = await run_loop(session, model, goal())
    assert type(report.error) is kind
    assert made == ["1"]
    assert len(report.outcomes) == 1


async def test_a_provider_that_fails_in_the_middle_leaves_what_was_done_in_the_report(journal):
    """The error stands beside the outcomes."""
    shelf = Shelf()
    error = ProviderUnavailableError("gone")
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, ScriptedModel([call("put", name="a", value="1")], error), goal())
    assert report.error is error
    assert [outcome.ok for outcome in report.outcomes] == [True]
    assert report.reply == ""


async def test_a_journal_that_fails_is_raised(journal):
    """It is no failure of a model."""
    session = await new_session(journal, [plain_tool("look", echo)])

    async def fails(*_: Any, **__: Any) -> None:
        raise StorageError("disk full")

    session.journal.intend = fails  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        await run_loop(session, ScriptedModel([call("look")]), goal())
    assert session.catalogue.names == ("look",)


# --- repeating -----------------------------------------------------------------------------------------------


async def test_the_same_read_again_is_answered_in_one_sentence(journal):
    """The executor merges, the loop tells the model; after a write the read is made anew."""
    made: list[str] = []

    def look(q: str = "") -> str:
        made.append(q)
        return "long " * 20

    shelf = Shelf()
    read = [call("look", "c", q="x")]
    model = ScriptedModel(read, read, [call("put", "p", name="a", value="1")], read, "ok")
    session = await new_session(journal, [plain_tool("look", look), shelf.tool()])
    await run_loop(session, model, goal())
    assert made == ["x", "x"]
    second = tool_messages(model.requests[2])[1][1]
    assert second == {"success": True, "message": second["message"]}
    assert "exactly these arguments before" in second["message"]


async def test_a_write_that_was_done_is_not_done_again_in_a_later_round(journal):
    """Neither with its arguments in another spelling; the person is told, the model reads why."""
    shelf = Shelf()
    first = [call("put", "c1", name="a", value="1")]
    again_ = [ToolCall("c2", "put", {"value": "1", "name": "a"}), call("put", "c3", name="b", value="1")]
    model = ScriptedModel(first, again_, "ok")
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert shelf.made == [("a", "1"), ("b", "1")]
    (_, held), (_, other) = tool_messages(model.requests[2])[1:]
    assert held["success"] is False
    assert "in round 1" in held["message"]
    assert other["success"] is True
    assert len(report.outcomes) == 2
    notices = [e.data["text"] for e in await journal.events(session.run.id) if e.type is EventType.NOTICE]
    assert notices == ["put was asked for again with the same arguments; it was not done again."]


async def test_a_write_that_failed_may_be_tried_again(journal):
    """Only what was done is not done again."""
    tries: list[str] = []

    def flaky(q: str = "") -> str:
        tries.append(q)
        if len(tries) == 1:
            raise ToolError("busy")
        return "ok"

    session = await new_session(
        journal, [plain_tool("send", flaky, Effect.EXTERNAL)], policy={"send": "auto"}
    )
    model = ScriptedModel([call("send", "c1", q="x")], [call("send", "c2", q="x")], "ok")
    await run_loop(session, model, goal())
    assert tries == ["x", "x"]


async def test_what_the_run_wrote_before_the_loop_is_not_written_again(journal):
    """A plan's step that was done, asked for once more by the model that takes over."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    before = await run_loop(session, ScriptedModel([call("put", name="a", value="1")], "ok"), goal())
    second = await new_session(journal, [shelf.tool()])
    model = ScriptedModel([call("put", name="a", value="1")], "ok")
    await run_loop(second, model, goal(earlier=before.calls))
    assert len(shelf.made) == 1
    assert "earlier in this run" in tool_messages(model.requests[1])[0][1]["message"]


@pytest.mark.parametrize("kind", ["read", "write", "failing"])
async def test_three_rounds_of_nothing_new_end_the_loop_with_an_answer(journal, kind):
    """Stopped by repeating; the last call has no tools to choose."""

    def broken(q: str = "") -> None:
        raise ToolError("no")

    shelf = Shelf()
    tools = {"read": plain_tool("t", echo), "write": shelf.tool(), "failing": plain_tool("t", broken)}
    asked = call("put", name="a", value="1") if kind == "write" else call("t", q="x")
    model = ScriptedModel([asked], [asked], [asked], [asked], "I went in circles.")
    session = await new_session(journal, [tools[kind]], limits=Limits(rounds=20))
    report = await run_loop(session, model, goal())
    assert (report.rounds, report.stopped_by, report.reply) == (4, "repeating", "I went in circles.")
    assert model.requests[-1].tool_choice.mode == "none"
    assert "again and again" in reminder(model.requests[-1])


async def test_something_new_in_between_begins_the_count_anew(journal):
    """Two repeated rounds, one new, two repeated: no circle."""
    same, other = call("look", "s", q="x"), call("look", "o", q="y")
    model = ScriptedModel([same], [same], [same], [other, same], [same], [same], "ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    assert (await run_loop(session, model, goal())).stopped_by == ""


# --- reminders -----------------------------------------------------------------------------------------------


def step(text: str, tool: str = "", **arguments: Any) -> Step:
    return Step(text, StepKind.TOOL if tool else StepKind.PROSE, tool, arguments, concrete=bool(tool))


async def test_the_nudge_names_the_next_step_behind_each_result_and_is_not_kept(journal):
    """Contract of the plan: counted from this run's start, the loop's own tools left out."""
    outline = Outline((step("look", "look", q="1"), step("think"), step("look", "look", q="2")))
    model = ScriptedModel(
        [call("look", "c1", q="1")],
        [call("searchTools", "c2", query="x")],
        [call("look", "c3", q="2"), call("look", "c4", q="3")],
        "ok",
    )
    session = await new_session(journal, [plain_tool("look", echo)])
    await run_loop(session, model, goal(outline=outline, search=lambda words: ()))
    told = [reminder(request) for request in model.requests]
    assert told[0] == ""
    assert "1 of 3 planned steps are done. Next: think" in told[1]
    assert "1 of 3" in told[2]
    assert "Every planned step is done" in told[3]
    assert all(sum("(Reminder" in m.content for m in request.messages) <= 1 for request in model.requests)


async def test_steps_that_the_run_did_before_count(journal):
    """The nudge stands from the first round on then."""
    outline = Outline((step("look", "look", q="1"), step("think")))
    model = ScriptedModel("ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    await run_loop(session, model, goal(outline=outline, steps_done=1))
    assert "1 of 2 planned steps are done. Next: think" in reminder(model.requests[0])


async def test_a_call_of_a_planned_step_is_shown_as_that_step(journal):
    """The first that is left, then the next; all that follow are the last one's."""
    session = await new_session(journal, [plain_tool("look", echo), plain_tool("other", echo)])
    calls = [call("look", f"c{n}", q=str(n)) for n in range(3)]
    await run_loop(session, ScriptedModel([*calls, call("other")], "ok"), goal(steps={"look": (2, 5)}))
    assert [one.step for one in await journal.calls(session.run.id)] == [2, 5, 5, 0]


# --- own tools -----------------------------------------------------------------------------------------------


async def test_stop_ends_the_run_on_purpose(journal):
    """What stands behind it in the message is not done; the reason is the reply."""
    shelf = Shelf()
    calls = [call("put", "c0", name="a", value="1"), call("stop", "c1", reason="It is dangerous.")]
    model = ScriptedModel([*calls, call("put", "c2", name="b", value="1")])
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert (report.stopped_by, report.reply, report.rounds) == ("stop", "It is dangerous.", 1)
    assert shelf.made == [("a", "1")]
    assert [one.tool for one in report.calls] == ["put", "stop"]


async def test_words_beside_stop_are_the_answer(journal):
    """They are meant for the person."""
    model = ScriptedModel(["I had better not.", call("stop", reason="dangerous")])
    session = await new_session(journal, [])
    assert (await run_loop(session, model, goal())).reply == "I had better not."


async def test_a_stop_that_is_refused_stops_nothing(journal):
    """Without its reason it is told what is missing."""
    model = ScriptedModel([call("stop", "c1")], "Then not.")
    session = await new_session(journal, [])
    report = await run_loop(session, model, goal())
    assert (report.reply, report.stopped_by) == ("Then not.", "")


async def test_search_tools_brings_what_was_not_offered(journal):
    """From the next round on, behind the tools that were shown before."""
    names = {"mail": ["send_mail", "gone", "look"]}
    tools = [plain_tool("send_mail", echo), plain_tool("look", echo), plain_tool("other", echo)]
    model = ScriptedModel(
        [call("searchTools", "c1", query="mail")], [call("searchTools", "c2", query="nothing")], "ok"
    )
    session = await new_session(journal, tools)
    await run_loop(session, model, goal(offered=("look",), search=lambda words: names.get(words, [])))
    shown = [[tool.name for tool in request.tools] for request in model.requests]
    assert shown[0] == ["look", "stop", "searchTools"]
    assert shown[1] == shown[2] == ["look", "stop", "searchTools", "send_mail"]
    found, nothing = (data["result"] for _, data in tool_messages(model.requests[2]))
    assert [one["name"] for one in found["tools"]] == ["send_mail", "look"]
    assert nothing["tools"] == []


async def test_a_persons_own_tool_of_that_name_keeps_it(journal):
    """Also when it is only spelt alike."""
    session = await new_session(journal, [plain_tool("Stop", echo), plain_tool("stop_run", echo)])
    model = ScriptedModel([call("Stop", "c1", q="music")], [call("stopRun2", "c2", reason="enough")])
    report = await run_loop(session, model, goal())
    assert [tool.name for tool in model.requests[0].tools] == ["Stop", "stop_run", "stopRun2"]
    assert report.stopped_by == "stop"
    assert session.catalogue.names == ("Stop", "stop_run")


# --- cancelling, waiting, going on ---------------------------------------------------------------------------


async def test_cancelled_inside_a_tool_its_call_is_closed_as_interrupted(journal):
    """Fault: a call and no result. Nothing of the round goes on behind the caller's back."""
    started = asyncio.Event()

    async def long(q: str = "") -> str:
        started.set()
        await asyncio.sleep(60)
        return q

    session = await new_session(journal, [plain_tool("long", long, where="loop")])
    model = ScriptedModel([call("long", f"c{n}", q=str(n)) for n in range(3)])
    task = asyncio.ensure_future(run_loop(session, model, goal()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await session.rest(RunStatus.CANCELLED)
    assert {one.status for one in await journal.calls(session.run.id)} == {CallStatus.INTERRUPTED}


async def test_a_history_with_an_open_call_is_closed_before_it_is_sent(journal):
    """Providers refuse a call without a result, wherever it stands."""
    messages = (
        Message("user", "a"),
        Message("assistant", "", (call("look", "c1"), call("look", "c2"))),
        Message("tool", "{}", tool_call_id="c2", name="look"),
        Message("user", "b"),
        Message("assistant", "", (call("look", "c3"),)),
    )
    model = ScriptedModel("ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    await run_loop(session, model, LoopGoal(messages))
    sent = model.requests[0].messages
    assert [m.role for m in sent] == ["user", "assistant", "tool", "tool", "user", "assistant", "tool"]
    closed = [json.loads(m.content) for m in sent if m.tool_call_id in {"c1", "c3"}]
    assert all(not data["success"] and "interrupted" in data["message"] for data in closed)


async def test_a_call_that_needs_a_person_rests_the_loop_which_goes_on_where_it_was(journal):
    """No model call and no tool call is made twice; the round's later calls follow."""
    sent: list[str] = []
    shelf = Shelf()
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    calls = [
        call("put", "c1", name="a", value="1"),
        call("mail", "c2", q="sam"),
        call("put", "c3", name="b", value="1"),
    ]
    model = ScriptedModel([call("look", "c0")], calls)
    session = await new_session(journal, [shelf.tool(), mail, plain_tool("look", echo)])
    report = await run_loop(session, model, goal())
    assert (report.waiting, report.reply) == (True, "")
    assert (sent, shelf.made) == ([], [("a", "1")])
    await session.rest(RunStatus.NEEDS_APPROVAL)
    await lifecycle.approve(journal, session.run, None, Actor("person", "me"))
    taken = await again(session)
    model.add("Mailed.")
    report = await run_loop(taken, model, goal())
    assert (report.reply, report.rounds) == ("Mailed.", 3)
    assert (sent, shelf.made) == (["sam"], [("a", "1"), ("b", "1")])
    assert len(model.requests) == 3
    assert [m.tool_call_id for m in model.requests[2].messages if m.role == "tool"] == [
        "c0",
        "c1",
        "c2",
        "c3",
    ]


async def test_calls_that_all_need_a_person_are_asked_for_at_once(journal):
    """One decision for the message; what stands behind the first that needs none is not begun."""
    sent: list[str] = []
    shelf = Shelf()
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    calls = [
        *(call("mail", f"c{n}", q=q) for n, q in enumerate(("sam", "eve", "sam"))),
        call("put", "c3", name="a", value="1"),
    ]
    model = ScriptedModel(calls)
    session = await new_session(journal, [mail, shelf.tool()])
    report = await run_loop(session, model, goal())
    assert [outcome.waiting for outcome in report.outcomes] == [True, True]
    assert (sent, shelf.made) == ([], [])
    await session.rest(RunStatus.NEEDS_APPROVAL)
    await lifecycle.approve(journal, session.run, None, Actor("person", "me"))
    model.add("Mailed both.")
    report = await run_loop(await again(session), model, goal())
    assert sent == ["sam", "eve"]
    assert shelf.made == [("a", "1")]
    assert [data["success"] for _, data in tool_messages(model.requests[1])] == [True] * 4


@pytest.mark.parametrize("behind", ["put", "look", "nothing"])
async def test_behind_a_call_that_waits_nothing_else_is_begun(journal, behind):
    """A write, a read, a tool that is not there."""
    shelf = Shelf()
    mail = plain_tool("mail", echo, Effect.EXTERNAL)
    session = await new_session(journal, [mail, shelf.tool(), plain_tool("look", echo)])
    report = await run_loop(session, ScriptedModel([call("mail"), call(behind, name="a", value="1")]), goal())
    assert [one.tool for one in report.calls] == ["mail"]


async def test_a_declined_call_is_a_message_the_model_reads(journal):
    """It goes on without it."""
    sent: list[str] = []
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    model = ScriptedModel([call("mail", "c1", q="sam")])
    session = await new_session(journal, [mail])
    assert (await run_loop(session, model, goal())).waiting
    await session.rest(RunStatus.NEEDS_APPROVAL)
    await lifecycle.decline(journal, session.run, None, Actor("person", "me"))
    model.add("Not mailed.")
    report = await run_loop(await again(session), model, goal())
    assert report.reply == "Not mailed."
    assert "declined" in tool_messages(model.requests[1])[0][1]["message"]
    assert sent == []


async def test_an_approval_holds_for_the_name_the_arguments_and_the_place_of_one_call(journal):
    """Fault: approval reuse. The same tool with other arguments in a later round asks again."""
    sent: list[str] = []
    mail = plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL)
    model = ScriptedModel([call("mail", "c1", q="sam")], [call("mail", "c1", q="eve")])
    session = await new_session(journal, [mail])
    await run_loop(session, model, goal())
    await session.rest(RunStatus.NEEDS_APPROVAL)
    await lifecycle.approve(journal, session.run, None, Actor("person", "me"))
    report = await run_loop(await again(session), model, goal())
    assert report.waiting
    assert sent == ["sam"]


@pytest.mark.parametrize("rounds", [1, 2, 3])
async def test_a_run_taken_up_again_answers_its_finished_rounds_from_the_journal(journal, rounds):
    """Fault: retry of a whole run. What was done is not done again, wherever the process died."""
    shelf = Shelf()
    script = [[call("put", f"c{n}", name=str(n), value="x")] for n in range(3)]
    dead = ScriptedModel(*script[:rounds], RuntimeError("killed"))
    session = await new_session(journal, [shelf.tool()])
    with pytest.raises(RuntimeError):
        await run_loop(session, dead, goal())
    model = ScriptedModel(*script[rounds:], "Done.")
    report = await run_loop(await again(session), model, goal())
    assert shelf.made == [(str(n), "x") for n in range(3)]
    assert (report.reply, report.rounds, len(report.outcomes)) == ("Done.", 4, 3)
    assert len(model.requests) == 4 - rounds


async def test_a_replayed_loop_shows_the_model_the_same_history(journal):
    """Searches, held calls and merged reads included."""
    shelf = Shelf()
    script = [
        [call("searchTools", "c1", query="put")],
        [call("put", "c2", name="a", value="1"), call("put", "c3", name="a", value="1")],
        [call("put", "c4", name="a", value="1"), call("look", "c5", q="x")],
        [call("look", "c6", q="x")],
    ]
    tools = [plain_tool("look", echo), shelf.tool()]
    aim = goal(offered=("look",), search=lambda words: ["put"])
    whole = ScriptedModel(*script, "Done.")
    await run_loop(await new_session(journal, tools), whole, aim)
    session = await new_session(journal, tools)
    with pytest.raises(RuntimeError):
        await run_loop(session, ScriptedModel(*script, RuntimeError("killed")), aim)
    last = ScriptedModel("Done.")
    await run_loop(await again(session), last, aim)
    assert last.requests[0].messages == whole.requests[-1].messages
    assert last.requests[0].tools == whole.requests[-1].tools


async def test_usage_is_summed_over_rounds(journal):
    """Also those that the journal answered."""
    model = ScriptedModel([call("look", q="1")], "ok", usage=Usage(100, 40, 10))
    session = await new_session(journal, [plain_tool("look", echo)])
    report = await run_loop(session, model, goal())
    assert (report.usage.prompt_tokens, report.usage.cached_tokens, report.usage.output_tokens) == (
        200,
        80,
        20,
    )
    report = await run_loop(await again(session), ScriptedModel(), goal())
    assert report.usage.prompt_tokens == 200


# --- what the model reads ------------------------------------------------------------------------------------


async def test_the_answer_is_streamed(journal):
    """Its words come as they are written."""
    session = await new_session(journal, [plain_tool("look", echo)])
    heard: list[str] = []
    session.live = lambda type_, **data: heard.append(data["text"])  # type: ignore[method-assign]
    await run_loop(session, ScriptedModel([call("look")], "All is very well.", piece=4), goal())
    assert "".join(heard) == "All is very well."
    assert len(heard) > 2


@pytest.mark.parametrize("words", ["Let me look.", "w" * 160])
async def test_words_in_front_of_calls_are_not_streamed_as_an_answer(journal, words):
    """The history keeps them, the listener does not get them."""
    session = await new_session(journal, [plain_tool("look", echo)])
    heard: list[str] = []
    session.live = lambda type_, **data: heard.append(data["text"])  # type: ignore[method-assign]
    model = ScriptedModel([words, call("look")], "All is well.", piece=4)
    await run_loop(session, model, goal())
    assert "".join(heard) == "All is well."
    assert model.requests[1].messages[2].content == words


async def test_a_long_answer_is_streamed_before_it_is_whole(journal):
    """From the length on at which it can hardly be a preface."""
    session = await new_session(journal, [plain_tool("look", echo)])
    heard: list[str] = []
    session.live = lambda type_, **data: heard.append(data["text"])  # type: ignore[method-assign]
    pieces = [f"{n:03} and so on, " for n in range(40)]

    class Watched(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            async for piece in super().stream(request):
                if piece.completion is not None:
                    assert len("".join(heard)) > 400
                yield piece

    await run_loop(session, Watched(pieces), goal())
    assert "".join(heard) == "".join(pieces)


async def test_a_local_model_is_streamed_at_once(journal):
    """Its calls are bound, so its words are an answer from the first one on."""
    able = Capabilities(tools=True, context_length=8192, local=True)
    session = await new_session(journal, [plain_tool("look", echo)])
    heard: list[str] = []
    session.live = lambda type_, **data: heard.append(data["text"])  # type: ignore[method-assign]

    class Watched(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            async for piece in super().stream(request):
                if piece.completion is not None:
                    assert heard
                yield piece

    await run_loop(session, Watched(["One. ", "Two."], capabilities=able), goal())
    assert "".join(heard) == "One. Two."


async def test_a_model_in_a_loop_is_otherwise_itself():
    """Name, abilities, whole answers, warming and closing are the model's own."""
    model = ScriptedModel("ok")
    wrapped = WithoutPrefaces(model)
    request = Request((Message("user", "a"),))
    assert (wrapped.name, await wrapped.capabilities()) == (model.name, await model.capabilities())
    assert (await wrapped.complete(request)).text == "ok"
    await wrapped.warm(request, "k")
    await wrapped.close()
    assert (model.warmed, model.closed) == ([(request, "k")], True)


async def test_a_secret_in_a_result_is_masked_before_a_cut(journal):
    """Half a secret is not known any more."""
    with redaction.secrets("hunter2-hunter2"):
        text = "x" * 2990 + "hunter2-hunter2"
        model = ScriptedModel(
            [call("look")], "ok", capabilities=Capabilities(tools=True, context_length=8192)
        )
        session = await new_session(journal, [plain_tool("look", lambda q="": text)])
        await run_loop(session, model, goal())
        assert "hunter2" not in model.requests[1].messages[-1].content


async def test_a_long_result_is_cut_and_says_so(journal):
    """More for a model with a large window; many results share the room."""
    sizes = []
    for able, count in ((BIG, 1), (Capabilities(tools=True, context_length=8192), 1), (BIG, 10)):
        model = ScriptedModel(
            [call("look", f"c{n}", q=str(n)) for n in range(count)], "ok", capabilities=able
        )
        session = await new_session(journal, [plain_tool("look", lambda q="": "w" * 50_000)])
        await run_loop(session, model, goal())
        (_, data), *_ = tool_messages(model.requests[1])
        assert "50002 characters in all" in data["note"]
        sizes.append(len(data["result"]))
    assert sizes == [8_000, 3_000, 4_000]


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}])
async def test_empty_results_are_results(journal, value):
    """They are data like any other."""
    model = ScriptedModel([call("look")], "ok")
    session = await new_session(journal, [plain_tool("look", lambda q="": value)])
    await run_loop(session, model, goal())
    ((_, data),) = tool_messages(model.requests[1])
    assert data["success"] is True
    assert data["result"] == value


async def test_an_error_is_never_longer_than_its_room(journal):
    """A tool may raise a whole page."""

    def broken(q: str = "") -> None:
        raise ValueError("y" * 100_000)

    model = ScriptedModel([call("look")], "ok")
    session = await new_session(journal, [plain_tool("look", broken)])
    await run_loop(session, model, goal())
    assert len(model.requests[1].messages[-1].content) < 9_000


async def test_a_context_that_the_provider_refuses_is_compacted_once_and_asked_again(journal):
    """Then the refusal is the end, with its numbers."""
    refused = ContextLengthError("9000 of 8192", prompt_tokens=9000)
    model = ScriptedModel([call("look", "c1", q="1")], [call("look", "c2", q="2")], refused, "ok")
    session = await new_session(journal, [plain_tool("look", echo)])
    report = await run_loop(session, model, goal())
    assert report.reply == "ok"
    assert [m.tool_call_id for m in model.requests[-1].messages if m.role == "tool"] == ["c2"]
    other = await new_session(journal, [])
    assert (await run_loop(other, ScriptedModel(refused, refused), goal())).error is refused
