"""A whole run on Gemini's wire: planned, run, answered and journaled; the key is in none of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.gemini_wire import ASK, CARD, CARD_PATH, KEY, NAME, answer, call, chunk, reason, refusal
from models.servers import LoopbackServer, as_json
from surefoot import Assistant
from surefoot.errors import SurefootError
from surefoot.settings import load_settings, settings_file

REQUEST = "Note that the milk is in the fridge, please"
SIGNED = "YSBzaWduYXR1cmU="
ENDINGS = {
    "told by the model": [
        answer(
            chunk(call("addNote", {"title": "Milk", "text": f"fridge {KEY}"}, "c1", SIGNED), finish="STOP")
        ),
        answer(chunk({"text": f"Noted, and your key is {KEY}."}, finish="STOP")),
    ],
    "told by a refusal": [
        refusal(
            400, "INVALID_ARGUMENT", f"API key not valid: {KEY}", {**reason("API_KEY_INVALID"), "key": KEY}
        )
    ],
}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    with LoopbackServer().running() as running:
        settings_file().write_text(
            f'model = "gemini:{NAME}"\ngemini_url = "{running.url}"\nlanguage = "en"\n'
        )
        running.on(CARD_PATH, as_json(CARD))
        yield running


@pytest.mark.parametrize("ending", list(ENDINGS))
async def test_a_run_leaves_the_key_nowhere(server, isolated: Path, ending):
    """Rule: keys are never journaled: events, result, model calls, and the bytes of every file."""
    server.on(ASK, *ENDINGS[ending])
    sinks = []
    async with Assistant() as assistant:
        handle = assistant.ask(REQUEST)
        try:
            sinks += [json.dumps(event.to_dict()) async for event in handle]
            result = await handle
        except SurefootError as error:
            sinks.append(json.dumps(error.to_dict()))
        else:
            journal = await assistant.journal()
            calls = [one.completion for one in await journal.model_calls(result.id)]
            sinks += [json.dumps(result.to_dict()), json.dumps(calls)]
            done = [one.tool for one in await journal.calls(result.id)]
            assert (SIGNED in sinks[-1], done) == ((True, ["addNote"]) if "model" in ending else (False, []))
    kept = [path for path in isolated.rglob("*") if path.is_file()]
    assert any(path.name.startswith("surefoot.db") for path in kept)
    assert {one.headers["x-goog-api-key"] for one in server.seen} == {KEY}
    for text in sinks:
        assert KEY not in text
    for path in kept:
        assert KEY.encode() not in path.read_bytes(), path
    for one in server.seen:
        assert KEY not in json.dumps(one.body)


async def test_the_loop_runs_on_gemini_s_wire(server):
    """Rule: parallel calls of a round come back together, with the signature that came with them."""
    calls = (call("listNotes", {}, "a", SIGNED), call("listTasks", {"status": "open"}, "b"))
    server.on(
        ASK,
        answer(chunk(*calls, finish="STOP")),
        answer(chunk(call("addNote", {"title": "Empty"}, "c", SIGNED), finish="STOP")),
        answer(chunk({"text": "There was nothing."}, finish="STOP")),
    )
    async with Assistant(settings=load_settings(planner_enabled=False)) as assistant:
        result = await assistant.ask("Look through my notes and tasks, and note what is there")
        journal = await assistant.journal()
        done = [one.tool for one in await journal.calls(result.id)]
    assert done == ["listNotes", "listTasks", "addNote"]
    assert result.reply == "There was nothing."
    second, third = (body["contents"] for body in server.bodies(ASK)[1:3])
    called, results = second[-2:]
    assert [part["functionCall"]["id"] for part in called["parts"]] == ["a", "b"]
    assert [part.get("thoughtSignature") for part in called["parts"]] == [SIGNED, None]
    assert [part["functionResponse"]["id"] for part in results["parts"]] == ["a", "b"]
    assert third[: len(second)] == second
