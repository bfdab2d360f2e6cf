"""Missions of the contract in the native loop: a scripted model, real kits, a real journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot import Assistant, ScriptedModel, load_settings
from surefoot.events import EventType
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.models.types import Request, ToolCall
from surefoot.tools.kits import notes

NOTES = [
    f"Lisbon {what}" for what in ("flights", "food", "hotel", "museums", "tram", "fado", "beach", "visa")
]


def mission(model: ScriptedModel, folder: Path, **settings: Any) -> Assistant:
    chosen = load_settings(data_dir=folder, zone="UTC", language="en", planner_enabled=False, **settings)
    return Assistant(model=model, kits=("notes",), settings=chosen)


def results_of(request: Request) -> list[Any]:
    return [json.loads(message.content) for message in request.messages if message.role == "tool"]


def tag_each(request: Request) -> list[ToolCall]:
    """What a model does with the list it got: one call for each note, by the ids it was shown."""
    listed = results_of(request)[-1]["result"]["notes"]
    return [
        ToolCall(f"tag-{number}", "tagNote", {"note": note["id"], "tag": "holiday"})
        for number, note in enumerate(listed)
    ]


async def rows(ours: Assistant) -> dict[str, list[str]]:
    journal = await ours.journal()
    return {row["title"]: row["tags"] for row in await journal.transact(notes.list_rows)}


@pytest.fixture
async def written(tmp_path):
    """Eight notes to be tagged, and one that is not meant."""
    calls = [ToolCall(f"n{n}", "addNote", {"title": title}) for n, title in enumerate([*NOTES, "Bike"])]
    async with mission(ScriptedModel(calls, "Written."), tmp_path) as ours:
        result = await ours.ask("write down nine notes")
        assert (result.reply, result.undoable) == ("Written.", 9)
    return tmp_path


async def test_every_note_of_a_list_is_tagged_and_untagged_again(written):
    """Look, then one call for each in one message, then the answer: three model calls whatever the number."""
    model = ScriptedModel(
        [ToolCall("l", "listNotes", {"search": "Lisbon"})],
        tag_each,
        "All eight notes about Lisbon are tagged.",
    )
    async with mission(model, written) as ours:
        before = await rows(ours)
        handle = ours.ask("tag every note about Lisbon with holiday")
        events = [event async for event in handle]
        result = await handle
        assert (result.status, result.exit_code, result.model_calls) == (RunStatus.DONE, 0, 3)
        assert result.reply == "All eight notes about Lisbon are tagged."
        assert await rows(ours) == {**{title: ["holiday"] for title in NOTES}, "Bike": []}
        assert [call.tool for call in result.calls] == ["listNotes", *["tagNote"] * 8]
        assert {call.status for call in result.calls} == {CallStatus.DONE}
        answered = [m for m in model.requests[-1].messages if m.role == "tool"]
        assert [m.tool_call_id for m in answered] == ["l", *(f"tag-{n}" for n in range(8))]
        assert "".join(e.data["text"] for e in events if e.type is EventType.TOKEN) == result.reply
        preview = await ours.undo(result, preview=True)
        assert len(preview.items) == 8
        assert (await ours.undo(result)).taken_back == 8
        assert await rows(ours) == before
        await ours.redo(result)
        assert (await rows(ours))["Lisbon visa"] == ["holiday"]
    model.assert_done()


async def test_the_kits_own_limit_lets_a_long_list_through_and_the_writes_limit_ends_it_softly(written):
    """Six of eight, the model says so, and what was done is undone as one."""
    model = ScriptedModel(
        [ToolCall("l", "listNotes", {"search": "Lisbon"})], tag_each, "Six are tagged, two are left."
    )
    async with mission(model, written, limits={"writes": 6}) as ours:
        result = await ours.ask("tag every note about Lisbon with holiday")
        assert sum(tags == ["holiday"] for tags in (await rows(ours)).values()) == 6
        refused = [data for data in results_of(model.requests[-1]) if not data["success"]]
        assert len(refused) == 2
        assert all("limit of 6 writes" in data["message"] for data in refused)
        assert (result.reply, result.exit_code) == ("Six are tagged, two are left.", 4)
        assert (await ours.undo(result)).taken_back == 6


async def test_a_model_that_loses_its_place_tags_nothing_twice(written):
    """It lists again and tags again; the second time it is told, and nothing is changed."""
    listing = [ToolCall("l", "listNotes", {"search": "Lisbon"})]
    model = ScriptedModel(listing, tag_each, listing, tag_each, "All are tagged.")
    async with mission(model, written) as ours:
        result = await ours.ask("tag every note about Lisbon with holiday")
        assert sum(call.tool == "tagNote" for call in result.calls) == 8
        told = results_of(model.requests[-1])[-8:]
        assert all("in round 2, and it was not done again" in data["message"] for data in told)
        assert result.exit_code == 0


async def test_a_tool_error_is_read_and_mended(written):
    """A name that fits several notes is refused with the choices; the model takes one."""
    model = ScriptedModel(
        [ToolCall("a", "tagNote", {"note": "Lisbon", "tag": "x"})],
        [ToolCall("b", "tagNote", {"note": "Lisbon visa", "tag": "x"})],
        "The visa note is tagged.",
    )
    async with mission(model, written) as ours:
        result = await ours.ask("tag the visa note x")
        assert results_of(model.requests[1])[0]["success"] is False
        assert (await rows(ours))["Lisbon visa"] == ["x"]
        assert result.exit_code == 0
