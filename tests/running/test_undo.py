"""Undo by images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from surefoot.errors import InverseMissingError, NotFoundError, StateError, ToolError
from surefoot.journal import SqlJournal
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.undo import (
    Undoer,
    UndoReport,
    Verdict,
    base_tool,
    calls_to_undo,
    check_may_undo,
    undo_catalogue,
)
from surefoot.storage import Database
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Effect

from .support import Shelf, new_session, plain_tool

WHERE = ["thread", "loop"]


@pytest.fixture
async def journal(place: str):
    with Database(place) as database:
        opened = SqlJournal(database)
        yield opened
        await opened.close()


async def put(session: Any, *pairs: tuple[str, str]) -> None:
    executor = Executor(session)
    for number, (name, value) in enumerate(pairs):
        key = f"step.{len(session.known_calls)}.{number}"
        request = CallRequest(key, "put", {"name": name, "value": value}, scope=key)
        assert (await executor.call(request)).ok


async def undo(session: Any, *, force: bool = False, kind: str = "undo", catalogue: Any = None) -> tuple:
    """Undo the run of this session in a run of its own; the items and that run's session."""
    own = await new_session(session.journal, [], goal=kind)
    own.catalogue = undo_catalogue(catalogue or session.catalogue)
    own.budget = Budget(NO_LIMITS)
    own.run = own.run.with_(kind=kind)
    calls = calls_to_undo(await session.journal.calls(session.run.id))
    return await Undoer(own, force=force).run(calls), own


@pytest.mark.parametrize("where", WHERE)
async def test_changes_are_taken_back_newest_first(journal, where):
    """Two changes of one thing need the right order."""
    shelf = Shelf(where)
    shelf.values = {"a": "0"}
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"), ("a", "2"), ("b", "1"))
    items, _ = await undo(session)
    assert [item.verdict for item in items] == [Verdict.TAKE_BACK] * 3
    assert [item.call.ordinal for item in items] == [3, 2, 1]
    assert shelf.values == {"a": "0"}


@pytest.mark.parametrize("where", WHERE)
async def test_undo_again_changes_nothing(journal, where):
    """What is as it was before is already done."""
    shelf = Shelf(where)
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"))
    await undo(session)
    items, _ = await undo(session)
    assert [item.verdict for item in items] == [Verdict.ALREADY]
    assert shelf.values == {}


@pytest.mark.parametrize("force", [False, True])
async def test_a_later_edit_is_a_conflict_left_alone_unless_forced(journal, force):
    """Agent writes v2, a person v3, undo: v3 stays."""
    shelf = Shelf()
    shelf.values = {"a": "v1"}
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "v2"), ("b", "1"))
    shelf.values["a"] = "v3"
    items, _ = await undo(session, force=force)
    assert items[0].verdict is Verdict.TAKE_BACK
    assert items[1].verdict is (Verdict.TAKE_BACK if force else Verdict.CONFLICT)
    assert shelf.values == {"a": "v1" if force else "v3"}
    assert UndoReport(session.run, items).complete is force


async def test_undo_sets_a_state_and_never_toggles(journal):
    """Agent completes, a person reopens, undo: still open."""
    shelf = Shelf()
    shelf.values = {"task": "open"}
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("task", "done"))
    shelf.values["task"] = "open"
    items, _ = await undo(session)
    assert items[0].verdict is Verdict.ALREADY
    assert shelf.values == {"task": "open"}


@pytest.mark.parametrize("where", WHERE)
async def test_an_undo_can_be_taken_back_and_that_again(journal, where):
    """Redo, and undo of the redo; the original call says whether it stands."""
    shelf = Shelf(where)
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"), ("a", "2"))
    _, first = await undo(session)
    assert shelf.values == {}
    assert all(call.undone_by == first.run.id for call in await journal.calls(session.run.id))
    items, second = await undo(first, kind="redo", catalogue=session.catalogue)
    assert [item.verdict for item in items] == [Verdict.TAKE_BACK] * 2
    assert shelf.values == {"a": "2"}
    assert [call.undone_by for call in await journal.calls(session.run.id)] == ["", ""]
    await undo(second, catalogue=session.catalogue)
    assert shelf.values == {}


@pytest.mark.parametrize("where", WHERE)
async def test_an_undo_interrupted_anywhere_and_run_again_ends_the_same(journal, where):
    """However many were taken back before it died."""
    for done in range(4):
        shelf = Shelf(where)
        shelf.values = {"a": "0"}
        session = await new_session(journal, [shelf.tool()])
        await put(session, ("a", "1"), ("b", "1"), ("a", "2"))
        own = await new_session(journal, [], goal="undo")
        own.catalogue = undo_catalogue(session.catalogue)
        calls = calls_to_undo(await journal.calls(session.run.id))
        await Undoer(own).run(calls[:done])
        items, _ = await undo(session)
        assert shelf.values == {"a": "0"}
        assert UndoReport(session.run, items).complete


async def test_the_undos_of_an_interrupted_undo_are_redone_together(journal):
    """Two undo runs each took one call back; both calls are the first of their run."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"), ("b", "1"))
    undos = []
    for calls in [[call] for call in calls_to_undo(await journal.calls(session.run.id))]:
        own = await new_session(journal, [], goal="undo")
        own.catalogue = undo_catalogue(session.catalogue)
        await Undoer(own).run(calls)
        undos += await journal.calls(own.run.id)
    assert shelf.values == {}
    redo = await new_session(journal, [], goal="redo")
    redo.catalogue = undo_catalogue(session.catalogue)
    items = await Undoer(redo).run(calls_to_undo(undos))
    assert [item.verdict for item in items] == [Verdict.TAKE_BACK] * 2
    assert shelf.values == {"a": "1", "b": "1"}


async def test_a_preview_changes_nothing_and_sees_what_the_undo_will_do(journal):
    """Of two calls on one thing the older is judged as after the newer's undo."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"), ("a", "2"), ("b", "1"))
    shelf.values["b"] = "mine"
    before = dict(shelf.values)
    calls = calls_to_undo(await journal.calls(session.run.id))
    items = await Undoer(session).preview(calls)
    assert [item.verdict for item in items] == [Verdict.CONFLICT, Verdict.TAKE_BACK, Verdict.TAKE_BACK]
    assert shelf.values == before
    assert UndoReport(session.run, items).taken_back == 2


async def test_what_cannot_be_taken_back_is_said_plainly(journal):
    """External calls, tools that are gone, and undos that mean something else now."""
    shelf = Shelf()
    mail = plain_tool("mail", lambda q="": "sent", Effect.EXTERNAL)
    session = await new_session(journal, [shelf.tool(), mail], policy={"mail": "auto"})
    await put(session, ("a", "1"))
    await Executor(session).call(CallRequest("m", "mail", {}))
    for catalogue, reason in (
        (Catalogue([mail]), "not here any more"),
        (Catalogue([_other_version(shelf), mail]), "version 1 of its undo; it has version 2"),
    ):
        session.catalogue = catalogue
        calls = calls_to_undo(await journal.calls(session.run.id))
        preview = await Undoer(session).preview(calls)
        items, _ = await undo(session)
        for found in (preview, items):
            assert [item.verdict for item in found] == [Verdict.IMPOSSIBLE] * 2
            assert "cannot be taken back" in found[0].reason
            assert reason in found[1].reason
    assert shelf.values == {"a": "1"}
    assert not UndoReport(session.run, items).complete


def _other_version(shelf: Shelf) -> Any:
    tool = shelf.tool()
    assert tool.undo is not None
    return replace(tool, undo=replace(tool.undo, version=2))


async def test_a_write_interrupted_by_a_crash_is_judged_by_its_before_image(journal):
    """Without an after-image, only "as it was before" is known."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"))
    (call,) = await journal.calls(session.run.id)
    crashed = call.with_(status=CallStatus.INTERRUPTED, after=None)
    undoer = Undoer(session)
    assert (await undoer.preview([crashed]))[0].verdict is Verdict.CONFLICT
    shelf.values.clear()
    assert (await undoer.preview([crashed]))[0].verdict is Verdict.ALREADY


async def test_reads_refusals_and_merged_calls_are_nothing_to_undo(journal):
    """Only what changed something is looked at."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool(), plain_tool("look", lambda q="": 1)])
    executor = Executor(session)
    await executor.call(CallRequest("1", "look", {}))
    await executor.call(CallRequest("2", "nope", {}))
    for key in ("3", "4"):
        await executor.call(CallRequest(key, "put", {"name": "a", "value": "1"}))
    assert [call.key for call in calls_to_undo(await journal.calls(session.run.id))] == ["3"]


async def test_one_call_can_be_taken_back_by_its_number(journal):
    """An unknown number is named together with those there are."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"), ("b", "1"))
    calls = await journal.calls(session.run.id)
    assert [call.ordinal for call in calls_to_undo(calls, 1)] == [1]
    with pytest.raises(NotFoundError, match="no call 7") as caught:
        calls_to_undo(calls, 7)
    assert "1, 2" in caught.value.next_move


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.PLANNING, RunStatus.QUEUED])
async def test_a_run_in_work_is_not_undone_under_its_feet(journal, status):
    """Cancel it first."""
    session = await new_session(journal, [])
    with pytest.raises(StateError, match="worked on"):
        check_may_undo(session.run.with_(status=status))
    check_may_undo(session.run.with_(status=RunStatus.INTERRUPTED))


async def test_a_tool_that_lost_its_undo_is_refused(journal):
    """The name alone is not enough."""
    shelf = Shelf()
    session = await new_session(journal, [shelf.tool()])
    await put(session, ("a", "1"))
    (call,) = await journal.calls(session.run.id)
    with pytest.raises(InverseMissingError):
        base_tool(Catalogue([replace(shelf.tool(), undo=None, effect=Effect.EXTERNAL)]), call)


async def test_a_failing_restore_is_reported_and_the_rest_goes_on(journal):
    """One broken inverse does not keep the others from being taken back."""
    shelf = Shelf()
    tool = shelf.tool()
    assert tool.undo is not None
    good = tool.undo.restore

    def restore(ctx: Any, arguments: dict[str, Any], image: Any) -> None:
        if arguments["name"] == "b":
            raise ToolError("the disk is gone")
        good(ctx, arguments, image)

    session = await new_session(journal, [replace(tool, undo=replace(tool.undo, restore=restore))])
    await put(session, ("a", "1"), ("b", "1"))
    items, _ = await undo(session)
    assert [item.verdict for item in items] == [Verdict.IMPOSSIBLE, Verdict.TAKE_BACK]
    assert "disk is gone" in items[0].reason
    assert items[0].to_dict()["verdict"] == "impossible"
