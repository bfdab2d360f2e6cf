"""Rule "never printed, never journaled": a key is planted, the server says it back, and every sink is searched for it."""

from __future__ import annotations

import base64
import json
import logging
import pickle
import traceback
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cli.support import called, environment, plan, run, said
from models.servers import Answer, LoopbackServer, as_json, sse
from surefoot import Assistant
from surefoot.errors import ProviderError, SurefootError
from surefoot.models import open_model
from surefoot.models.types import Message, Request
from surefoot.redaction import RedactingFormatter
from surefoot.settings import load_settings, settings_file

KEY = "planted/key+4f9c2e71b8"
"""With signs that URLs and JSON write differently."""
NAME = "GATEWAY_LOGIN"
"""Nothing in it says that it holds a secret: the table that names it does."""
CHAT = "/v1/chat/completions"
WRITTEN = tuple(
    {KEY, quote(KEY, safe=""), json.dumps(KEY)[1:-1], base64.b64encode(KEY.encode()).decode().rstrip("=")}
)
"""The key as it may be written in a sink."""

ECHOES = {
    "as text": [called(plan(("addNote", {"title": f"my {KEY}"}))), said("your key is plan", KEY[4:], ".")],
    "refused": [
        as_json({"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}, 401)
    ],
    "rejected": [as_json({"error": {"message": f"header 'Bearer {KEY}' is odd", "param": f"x{KEY}"}}, 400)],
    "spent": [as_json({"error": {"message": f"{KEY} has no credit", "code": "insufficient_quota"}}, 429)],
    "a page": [Answer(400, [f"<html>{KEY}</html>".encode()], {"content-type": "text/html"})],
    "in the stream": [sse({"error": {"code": 400, "message": f"no {KEY}"}})],
    "no JSON": [sse(f'{{"choices": "{KEY}')],
    "a broken call": [called(plan(("addNote", {"title": KEY})))],
    "a redirect": [Answer(302, [b""], {"location": f"http://127.0.0.1:1/{KEY}"})],
}


@pytest.fixture(params=["variable"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A gateway that a table of the settings file leads to; its key is in the environment or in a key file."""
    folder = settings_file().parent
    (folder / "keys").mkdir(parents=True)
    if request.param == "variable":
        monkeypatch.setenv(NAME, KEY)
    else:
        path = folder / "keys" / NAME
        path.write_text(KEY)
        path.chmod(0o600)
    with LoopbackServer().running() as running:
        settings_file().write_text(
            f'model = "gateway:test"\n[routes.gateway]\nbase_url = "{running.url}/v1"\nkey_name = "{NAME}"\n'
        )
        running.on("/v1/models", as_json({"data": [{"id": "test"}]}))
        yield running


@pytest.fixture
def log() -> Iterator[StringIO]:
    """Everything that any library logs, at the lowest level, written by our formatter."""
    text, root = StringIO(), logging.getLogger()
    handler = logging.StreamHandler(text)
    handler.setFormatter(RedactingFormatter("%(name)s %(message)s"))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield text
    root.setLevel(level)
    root.removeHandler(handler)


def assert_absent(sink: str, content: bytes | str) -> None:
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    for form in WRITTEN:
        assert form not in text, f"{sink} holds the key"


def files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder but the key file itself."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "keys"
    }


@pytest.mark.parametrize(
    ("server", "echo"), [("variable", "as text"), ("file", "refused")], indirect=["server"]
)
def test_a_run_of_the_real_command_leaves_it_nowhere(server: LoopbackServer, isolated: Path, echo: str):
    """Streams, records, and the bytes of every file, of runs that end well and badly."""
    server.on(CHAT, *ECHOES[echo])
    env = environment(None)
    asked = run(["ask", "--debug", f"note that my login is {KEY}, please"], env)
    assert {seen.headers.get("authorization") for seen in server.seen} == {f"Bearer {KEY}"}
    outputs = [
        asked,
        run(["show", "last", "--json"], env),
        run(["show", "last"], env),
        run(["runs", "--json"], env),
    ]
    assert json.loads(outputs[1].stdout)["events"]
    for done in outputs:
        assert_absent("stdout", done.stdout)
        assert_absent("stderr", done.stderr)
    kept = files(isolated)
    assert any(name.endswith("surefoot.db") for name in kept)
    for name, content in kept.items():
        assert_absent(name, content)
    for seen in server.seen:  # nor does a prompt carry it
        assert_absent("a prompt", json.dumps(seen.body, ensure_ascii=False))


@pytest.mark.parametrize("echo", list(ECHOES))
async def test_an_error_and_the_log_hold_it_nowhere(server: LoopbackServer, log: StringIO, echo: str):
    """Whatever the server says back: the error, its chain, what is logged at any level, what can be looked at."""
    server.on(CHAT, *ECHOES[echo])
    model = await open_model("gateway:test", load_settings())
    try:
        await model.complete(Request((Message("user", "hello"),), timeout=3))
    except ProviderError as error:
        logging.getLogger("surefoot").exception("It failed.")
        assert_absent("the error", json.dumps(error.to_dict(), ensure_ascii=False))
        assert_absent("the error's text", "".join(traceback.format_exception(error, chain=False)))
        assert_absent("the pickled error", pickle.dumps(error))
    assert server.bodies(CHAT)
    assert "/v1/chat/completions" in log.getvalue()
    assert_absent("the log", log.getvalue())
    assert_absent("the model", repr(vars(model)) + repr(model))
    await model.close()


@pytest.mark.parametrize("server", ["variable", "file"], indirect=True)
@pytest.mark.parametrize(
    "echo", [echo for echo in ECHOES if echo != "no JSON"]
)  # that one is tried again for long
async def test_events_and_results_hold_it_nowhere(server: LoopbackServer, echo: str):
    """What a listener is told while the run goes on, and what it comes to."""
    server.on(CHAT, *ECHOES[echo])
    async with Assistant() as assistant:
        handle = assistant.ask(f"note that my login is {KEY}, please")
        told = []
        try:
            told = [event.to_dict() async for event in handle]
            result = await handle
        except SurefootError as error:
            assert_absent("the error", json.dumps(error.to_dict(), ensure_ascii=False))
            return
        assert told
        assert_absent("the events", json.dumps(told, ensure_ascii=False))
        assert_absent("the result", json.dumps(result.to_dict(), ensure_ascii=False))
        journal = await assistant.journal()
        kept = [call.completion for call in await journal.model_calls(result.id)]
        assert_absent("the model calls", json.dumps(kept, ensure_ascii=False))
