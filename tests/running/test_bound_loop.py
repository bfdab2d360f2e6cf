"""The native loop of a small model whose calls a grammar binds: it copies what was said, and is not asked too much."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot import ScriptedModel
from surefoot.errors import ToolError
from surefoot.models.types import Binding, Capabilities, Message, ToolCall
from surefoot.running.copying import Copying
from surefoot.running.loop import MAX_CALLS, PROBE_CALLS, run_loop
from surefoot.running.loop_types import LoopGoal
from surefoot.tools.kits import notes, tasks

from .support import Shelf, new_session, open_journal, plain_tool

SMALL = Capabilities(tools=True, grammar=True, context_length=8_192, encoding="own", local=True)
SAID = "Call Rosa on Friday"


@pytest.fixture
async def journal(tmp_path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()
    opened.database.close()


def goal(**more: Any) -> LoopGoal:
    more.setdefault("said", (SAID,))
    return LoopGoal((Message("system", "You help."), Message("user", SAID)), **more)


def put(name: str, id_: str = "") -> ToolCall:
    return ToolCall(id_ or f"put {name}", "put", {"name": name, "value": "1"})


async def test_dates_are_copied_from_the_request_in_one_row(journal):
    """Bound like a plan's dates; a row of words may not be put together from several."""
    model = ScriptedModel("ok", capabilities=SMALL)
    session = await new_session(journal, [tasks.add_task])
    await run_loop(session, model, goal())
    assert model.requests[0].bindings == {"addTask": {"due": Binding(spans=(SAID,), rows=1)}}


@pytest.mark.parametrize("able", [Capabilities(tools=True), SMALL])
async def test_nothing_is_bound_without_a_grammar_or_without_words(journal, able):
    """A hosted model is free, and so is a loop of a program that says nothing of its words."""
    model = ScriptedModel("ok", capabilities=able)
    session = await new_session(journal, [tasks.add_task])
    await run_loop(session, model, goal(said=() if able.grammar else (SAID,)))
    assert model.requests[0].bindings == {}


async def test_what_results_show_may_be_copied_and_what_failures_say_may_not(journal):
    """A date of a row that was found is a date; an example in an error is none."""

    def look(q: str = "") -> dict[str, str]:
        if q == "bad":
            raise ToolError("Write it like 2026-05-03.")
        return {"title": "Dentist", "start": "2026-12-04T10:00"}

    model = ScriptedModel(
        [ToolCall("a", "look", {"q": "good"}), ToolCall("b", "look", {"q": "bad"})], "ok", capabilities=SMALL
    )
    session = await new_session(journal, [plain_tool("look", look), tasks.add_task])
    await run_loop(session, model, goal())
    assert model.requests[1].bindings["addTask"]["due"].spans == (SAID, "2026-12-04T10:00")


async def test_names_are_bound_once_a_call_named_what_is_not_there(journal):
    """Before that a call may name what another of the same message makes; lists that are empty bind nothing."""
    asked = []

    async def names() -> dict[str, dict[str, list[str]]]:
        asked.append(1)
        return {"tagNote": {"note": ["Lisbon food"]}, "deleteNote": {"note": []}}

    wrong = ToolCall("t", "tagNote", {"note": "Lisbon notes", "tag": "travel"})
    model = ScriptedModel([wrong], "ok", capabilities=SMALL)
    session = await new_session(journal, [notes.tag_note, notes.delete_note])
    await run_loop(session, model, goal(names=names))
    first, second = (request.bindings for request in model.requests)
    assert "note" not in first["tagNote"]
    assert second["tagNote"]["note"] == Binding(texts=("Lisbon food",))
    assert "deleteNote" not in second
    assert asked == [1]


async def test_names_are_not_asked_for_where_nothing_is_bound():
    """No grammar, no question."""

    async def names() -> dict[str, Any]:
        raise AssertionError("asked")

    await Copying((), names).learn([])
    await Copying(("x",), names).learn([])


async def test_behind_writes_that_were_done_one_call_is_enough_to_see_whether_it_goes_on(journal):
    """And a new one opens the next round again."""
    shelf = Shelf()
    model = ScriptedModel([put("a"), put("b")], [put("c")], [put("d")], "All put.", capabilities=SMALL)
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert [request.max_calls for request in model.requests] == [MAX_CALLS, *[PROBE_CALLS] * 3]
    assert shelf.made == [(name, "1") for name in "abcd"]
    assert (report.reply, report.said) == ("All put.", True)


async def test_a_lookup_or_a_failure_leaves_room_for_all_calls(journal):
    """They are what further calls are made from."""
    shelf = Shelf()
    look = plain_tool("look", lambda q="": "seen")
    model = ScriptedModel(
        [put("a"), ToolCall("l", "look", {})], [ToolCall("x", "put", {})], "ok", capabilities=SMALL
    )
    session = await new_session(journal, [shelf.tool(), look])
    await run_loop(session, model, goal())
    assert [request.max_calls for request in model.requests] == [MAX_CALLS] * 3


async def test_a_small_model_that_asks_only_for_what_is_done_is_ready(journal):
    """It has no other way to say so: the answer is left to the caller, and nothing is missing."""
    shelf = Shelf()
    model = ScriptedModel([put("a")], [put("a", "again")], capabilities=SMALL)
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert (report.reply, report.stopped_by, report.said, report.error) == ("", "", False, None)
    assert shelf.made == [("a", "1")]
    model.assert_done()


async def test_a_hosted_model_is_told_and_goes_on(journal):
    """One repetition is a slip."""
    shelf = Shelf()
    model = ScriptedModel([put("a")], [put("a", "again")], "Done.", capabilities=Capabilities(tools=True))
    session = await new_session(journal, [shelf.tool()])
    report = await run_loop(session, model, goal())
    assert (report.reply, shelf.made) == ("Done.", [("a", "1")])
    assert [request.max_calls for request in model.requests] == [MAX_CALLS] * 3
