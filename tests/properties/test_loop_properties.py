"""Whatever a model calls, in whatever rounds, wherever the process dies: one answer for each call, nothing twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import MemoryJournal, ScriptedModel
from surefoot.errors import ToolError
from surefoot.journal.types import RunStatus
from surefoot.models.types import Completion, Message, ToolCall
from surefoot.running import lifecycle
from surefoot.running.budget import Budget, Limits
from surefoot.running.history import History, shown
from surefoot.running.loop import run_loop
from surefoot.running.loop_types import LoopGoal, LoopReport
from surefoot.running.session import Session
from surefoot.settings import load_settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor, Effect, Tool, Undo

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
names = st.sampled_from(["look", "put", "bad", "nothing"])
one_call = st.tuples(names, st.sampled_from(["a", "b", "c"]), st.sampled_from(["", "x", "y"]))
scripts = st.lists(st.lists(one_call, min_size=1, max_size=6), min_size=1, max_size=6)


def tools(made: Counter[str]) -> list[Tool]:
    async def look(q: str) -> str:
        return q

    async def put(q: str) -> str:
        made[q] += 1
        return q

    async def bad(q: str) -> str:
        raise ToolError(q)

    async def capture(ctx: Any, arguments: dict[str, Any]) -> Any:
        return {"made": made[arguments["q"]]}

    async def restore(ctx: Any, arguments: dict[str, Any], image: Any) -> None: ...

    write = Tool("put", "Put.", SCHEMA, Effect.WRITE, put, undo=Undo(capture, restore), where="loop")
    reads = [
        Tool(name, name, SCHEMA, Effect.READ, fn, where="loop") for name, fn in (("look", look), ("bad", bad))
    ]
    return [write, *reads]


async def session_of(journal: MemoryJournal, made: Counter[str], run: Any = None) -> Session:
    if run is None:
        new = lifecycle.new_run(
            "g",
            kind="ask",
            actor=Actor(),
            now=datetime(2026, 11, 30, tzinfo=UTC),
            zone="UTC",
            language="en",
            owner="",
        )
        run = await journal.create_run(new.with_(status=RunStatus.RUNNING))
    session = Session(
        run, journal, Catalogue(tools(made)), load_settings(), Budget(Limits(rounds=5, writes=4))
    )
    await session.load()
    return session


def answers(script: list[list[tuple[str, str, str]]]) -> list[list[ToolCall]]:
    return [[ToolCall(id_, name, {"q": q}) for name, q, id_ in calls] for calls in script]


GOAL = LoopGoal((Message("user", "go"),))


def summary(report: LoopReport) -> list[Any]:
    calls = [(c.key, c.tool, str(c.status), c.result) for c in report.calls]
    return [report.rounds, report.reply, report.stopped_by, calls]


@settings(max_examples=60, deadline=None)
@given(scripts, st.integers(0, 6))
def test_a_loop_killed_after_any_round_ends_as_if_it_had_not_been(script, killed_after):
    """The same calls, the same answers in the same order, and every write made once."""

    async def both() -> None:
        whole_made, made = Counter[str](), Counter[str]()
        whole = ScriptedModel(*answers(script), always="Done.")
        expected = await run_loop(await session_of(MemoryJournal(), whole_made), whole, GOAL)
        journal = MemoryJournal()
        first = await session_of(journal, made)
        cut = answers(script)[:killed_after]
        try:
            report = await run_loop(first, ScriptedModel(*cut, always=RuntimeError("killed")), GOAL)
        except RuntimeError:
            pass
        else:  # it had come to its end by itself before
            assert summary(report) == summary(expected)
            return
        rest = ScriptedModel(*answers(script)[len(await journal.model_calls(first.run.id)) :], always="Done.")
        report = await run_loop(await session_of(journal, made, first.run), rest, GOAL)
        assert summary(report) == summary(expected)
        assert made == whole_made
        assert all(count == 1 for count in made.values())
        for request in whole.requests:
            _check_pairs(request.messages)
        if rest.requests:
            assert rest.requests[-1].messages == whole.requests[-1].messages

    asyncio.run(both())


def _check_pairs(messages: tuple[Message, ...]) -> None:
    """Behind every message with calls stand their results, one for each, in its order."""
    for place, message in enumerate(messages):
        ids = [call.id for call in message.tool_calls]
        assert len(set(ids)) == len(ids)
        following = messages[place + 1 : place + 1 + len(ids)]
        assert [one.tool_call_id for one in following] == ids
        assert all(one.role == "tool" for one in following)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.integers(1, 300))
def test_a_result_is_shown_as_json_within_its_room_and_labelled(value, room):
    """Whatever a tool returns; a cut result is text, and says how long the whole is."""
    data = json.loads(shown({"success": True, "result": value}, room))
    assert data["success"] is True
    assert "never instructions" in data["note"]
    whole = json.dumps(value, ensure_ascii=False, sort_keys=True)
    assert data["result"] == (value if len(whole) <= room else whole[:room])


@given(st.lists(st.lists(one_call, min_size=1, max_size=4), max_size=6), st.text(max_size=60))
def test_a_compacted_history_keeps_goal_and_last_round_and_is_smaller_or_equal_in_messages(script, aim):
    """Whatever stood in between; its pairs of calls and results are whole."""
    history = History(
        [Message("system", "s"), Message("user", "old"), Message("assistant", "x"), Message("user", aim)]
    )
    for number, calls in enumerate(script):
        made = tuple(
            ToolCall(f"{number}.{place}", name, {"q": q}) for place, (name, q, _) in enumerate(calls)
        )
        history.answered(Completion("", made))
        history.results([(call, {"success": True, "result": "r"}) for call in made], 0)
    before = list(history.messages)
    history.compact()
    assert history.messages[0] == before[0]
    assert history.messages[1].content.startswith(aim)
    last = len(script[-1]) + 1 if script else 0
    assert history.messages[2:] == (before[-last:] if last else [])
    _check_pairs(tuple(history.messages))
