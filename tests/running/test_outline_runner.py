"""Running an outline."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import StorageError
from surefoot.events import EventType
from surefoot.planning.parse import parse_outline
from surefoot.planning.vocabulary import vocabulary
from surefoot.running import outline_runner
from surefoot.running.budget import Limits
from surefoot.running.outline_runner import HAND_OVER, OutlineRunner, segments, side_by_side
from surefoot.tools.types import Effect

from .support import Shelf, again, new_session, open_journal, plain_tool


@pytest.fixture
async def journal(tmp_path: Path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


def outline(session: Any, *lines: str) -> Any:
    return parse_outline("\n".join(lines), vocabulary(session.catalogue), 20)


async def never(number: int, step: Any, results: Any) -> None:
    """A resolver that cannot say."""


async def test_concrete_steps_run_without_a_model_and_report_in_the_plans_order(journal):
    """The resolver is never asked."""
    session = await new_session(
        journal, [plain_tool("a", lambda q="": f"a{q}"), plain_tool("b", lambda q="": f"b{q}")]
    )

    async def unasked(*args: Any) -> Any:
        raise AssertionError("a model was asked")

    report = await OutlineRunner(session, outline(session, "b q='1'", "a q='2'", "reply()"), unasked).run()
    assert report.done
    assert [step.result for step in report.steps] == ["b1", "a2"]
    started = [e for e in await journal.events(session.run.id) if e.type is EventType.STEP_STARTED]
    assert [event.data["step"] for event in started] == [1, 2]


async def test_reads_between_two_writes_run_side_by_side_and_writes_keep_their_order(journal):
    """All reads of a segment are under way at once; no write starts before the reads ahead of it ended."""
    log: list[str] = []
    gate = asyncio.Event()

    async def look(q: str = "") -> str:
        log.append(f"+{q}")
        if sum(entry in {"+1", "+2", "+3"} for entry in log) == 3:
            gate.set()
        await asyncio.wait_for(gate.wait(), 5)
        log.append(f"-{q}")
        return q

    def write(q: str = "") -> str:
        log.append(f"w{q}")
        return q

    tools = [
        plain_tool("look", look, where="loop"),
        plain_tool("write", write, Effect.EXTERNAL),
    ]
    session = await new_session(journal, tools, policy={"write": "auto"})
    steps = outline(
        session, "look q='1'", "look q='2'", "look q='3'", "write q='4'", "write q='5'", "look q='6'"
    )
    assert segments(session, steps) == [[1, 2, 3], [4], [5], [6]]
    report = await OutlineRunner(session, steps, never).run()
    assert report.done
    assert set(log[:3]) == {"+1", "+2", "+3"}
    assert log[6:] == ["w4", "w5", "+6", "-6"]


async def test_at_most_ten_reads_at_once(journal, monkeypatch):
    """More wait for a place."""
    assert outline_runner.SIDE_BY_SIDE == 10
    monkeypatch.setattr(outline_runner, "SIDE_BY_SIDE", 2)
    now, most = 0, 0

    async def look(q: str = "") -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1

    session = await new_session(journal, [plain_tool("look", look, where="loop")])
    await OutlineRunner(session, outline(session, *(f"look q='{n}'" for n in range(5))), never).run()
    assert most == 2


async def test_a_step_waits_for_the_steps_it_names_and_gets_their_results(journal):
    """Also within one segment, and a placeholder that fills the value keeps its type."""
    session = await new_session(
        journal, [plain_tool("find", lambda q="": {"title": "X"}), plain_tool("show", lambda q="": q)]
    )
    asked: list[Any] = []

    async def resolve(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        asked.append((number, dict(results)))
        return [{"q": results[1]["title"]}]

    steps = outline(session, "find q='a'", "show q='<title from step 1>'")
    report = await OutlineRunner(session, steps, resolve).run()
    assert report.steps[1].result == "X"
    assert asked == [(2, {1: {"title": "X"}})]


async def test_memory_is_step_zero(journal):
    """What was remembered fills placeholders like any result."""
    session = await new_session(journal, [plain_tool("show", lambda q="": q)])

    async def resolve(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        return [{"q": results[0]}]

    steps = outline(session, "show q='<name from step 0>'")
    runner = OutlineRunner(session, steps, resolve)
    report = await runner.run({0: "Anna"})
    assert [step.result for step in report.steps if step.outcomes] == ["Anna"]


@pytest.mark.parametrize("effect", [Effect.READ, Effect.EXTERNAL])
@pytest.mark.parametrize("count", [0, 1, 3])
async def test_a_fanned_out_step_makes_one_call_for_each_item(journal, effect, count):
    """None, one or several; the results are a list, each call has its place."""
    made: list[str] = []

    def tag(q: str = "") -> str:
        made.append(q)
        return q

    session = await new_session(
        journal, [plain_tool("list", lambda q="": []), plain_tool("tag", tag, effect)], policy={"tag": "auto"}
    )

    async def resolve(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        return [{"q": str(n)} for n in range(count)]

    steps = outline(session, "list q='x'", "tag q='<each id from step 1>'")
    report = await OutlineRunner(session, steps, resolve).run()
    assert sorted(made) == [str(n) for n in range(count)]
    keys = [call.key for call in await journal.calls(session.run.id)][1:]
    assert keys == (["step.2"] if count == 1 else [f"step.2/{n}" for n in range(count)])
    assert report.done


async def test_a_prose_step_hands_the_rest_over_and_counts_as_not_done(journal):
    """What stands before it is done, what stands behind it is not."""
    session = await new_session(journal, [plain_tool("a", lambda q="": q)])
    steps = outline(session, "a q='1'", "think about it", "a q='2'")
    report = await OutlineRunner(session, steps, never).run()
    assert (report.done, report.handed_over) == (False, 2)
    assert [(step.number, step.reason) for step in report.steps] == [(1, ""), (2, HAND_OVER)]
    assert EventType.STEP_UNRESOLVED in [event.type for event in await journal.events(session.run.id)]


async def test_a_failed_step_takes_only_those_with_it_that_need_it(journal):
    """Independent steps go on; the dependent one says which step it lacked."""

    def broken(q: str = "") -> None:
        raise ValueError(q)

    session = await new_session(journal, [plain_tool("bad", broken), plain_tool("good", lambda q="": q)])
    steps = outline(session, "bad q='1'", "good q='<it from step 1>'", "good q='3'")
    report = await OutlineRunner(session, steps, never).run()
    assert not report.done
    assert report.steps[0].outcomes[0].as_data()["code"] == "tool_failed"
    assert report.steps[1].reason == "it needs step 1, which was not done"
    assert report.steps[2].done
    assert report.handed_over == 0


async def test_a_call_that_waits_stops_the_run_in_front_of_it(journal):
    """Nothing behind it starts, in a fan-out neither."""
    sent: list[str] = []
    session = await new_session(
        journal,
        [
            plain_tool("mail", lambda q="": sent.append(q), Effect.EXTERNAL),
            plain_tool("a", lambda q="": sent.append("a")),
        ],
    )
    steps = outline(session, "mail q='1'", "a q='2'")
    report = await OutlineRunner(session, steps, never).run()
    assert report.waiting
    assert sent == []
    assert len(report.steps) == 1

    async def two(number: int, step: Any, results: Any) -> list[dict[str, Any]]:
        return [{"q": "1"}, {"q": "2"}]

    fanned = await new_session(journal, list(session.catalogue))
    steps = outline(fanned, "a q='0'", "mail q='<each id from step 1>'")
    assert (await OutlineRunner(fanned, steps, two).run()).waiting
    assert [call.key for call in await journal.calls(fanned.run.id)] == ["step.1", "step.2/0"]


async def test_a_resumed_outline_does_nothing_twice(journal):
    """Every step that was done is answered from the journal."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()], limits=Limits(writes=2))
    lines = ["put name='a' value='1'", "put name='b' value='2'"]
    await OutlineRunner(session, outline(session, *lines), never).run()
    taken = await again(session)
    report = await OutlineRunner(taken, outline(taken, *lines), never).run()
    assert report.done
    assert len(shelf.made) == 2


async def test_a_journal_that_fails_ends_the_run_with_its_own_error(journal):
    """Not with a group of exceptions; what ran beside it has ended."""
    ended: list[str] = []

    async def fail() -> None:
        raise StorageError("disk full")

    async def beside() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("beside")

    with pytest.raises(StorageError):
        await side_by_side([beside(), fail()])
    assert ended == ["beside"]
    assert await side_by_side([]) == []
