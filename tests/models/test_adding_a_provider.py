"""The page about adding a provider is true: its code runs as it stands, against a server on loopback."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from models.servers import LoopbackServer, as_json, ndjson
from surefoot.errors import (
    AddressRefusedError,
    ContentFilterError,
    EmptyReplyError,
    MalformedCallError,
    OutputCutError,
    ProviderCapabilityError,
    ProviderQuotaError,
)
from surefoot.models import open_model, registry, routes
from surefoot.models.types import Message, Request, ToolCall, ToolSpec, Usage
from surefoot.settings import Settings, load_settings, settings_file

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-provider.md").read_text(encoding="utf-8")
HI = Request((Message("user", "hello"),), (ToolSpec("tool.name"),))
END = {"end": "stop", "tokens": [12, 0, 3], "cost": 0.5}


def blocks(language: str) -> list[str]:
    """The fenced blocks of this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/models/small", as_json({"can_call": True, "context": 4096}))
        running.on("/models/mute", as_json({"can_call": False, "context": 4096}))
        yield running


@pytest.fixture
async def acme(server, monkeypatch):
    """A model of the page's provider, from the page's file and the page's line."""
    code, line = blocks("python")
    module = ModuleType("acme")
    exec(compile(code, "adding-a-provider.md", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "acme", module)
    monkeypatch.setattr(registry, "PROVIDERS", dict(registry.PROVIDERS))
    exec(line, {"PROVIDERS": registry.PROVIDERS})
    opened = []

    async def make(model: str = "small") -> Any:
        monkeypatch.setattr(module.open_acme, "__defaults__", (server.url,))
        opened.append(await open_model(f"acme:{model}", Settings()))
        return opened[-1]

    yield make
    for model in opened:
        await model.close()


def test_the_example_has_thirty_lines():
    """The whole file, imports included, and one line."""
    code, line = blocks("python")
    assert len([one for one in code.splitlines() if one.strip()]) <= 30
    assert len(line.splitlines()) == 1


async def test_the_example_answers_streams_and_calls(server, acme):
    """Text in pieces, a call with our name and a made id, usage with its cost."""
    call = {"name": "tool_name", "args": {"n": 1}}
    server.on("/answer", ndjson({"text": "Hel"}, {"text": "lo"}, END), ndjson({"calls": [call]}, END))
    model = await acme()
    assert model.name == "acme:small"
    pieces = [piece async for piece in model.stream(HI)]
    assert [piece.text for piece in pieces] == ["Hel", "lo", ""]
    assert pieces[-1].completion.usage.cost == 0.5
    answer = await model.complete(HI)
    assert answer.tool_calls == (ToolCall(answer.tool_calls[0].id, "tool.name", {"n": 1}),)
    assert (answer.usage.prompt_tokens, answer.usage.output_tokens) == (12, 3)
    assert answer.usage + Usage() == answer.usage
    (first, _) = server.bodies("/answer")
    assert first["tools"][0]["function"]["name"] == "tool_name"


async def test_the_example_has_what_every_provider_has(server, acme):
    """Strictness before any call, typed endings, retries and a policy of addresses, without a line for them."""
    with pytest.raises(ProviderCapabilityError):
        await (await acme("mute")).complete(HI)
    assert server.bodies("/answer") == []
    server.on(
        "/answer",
        ndjson({"calls": [{"name": "tool_name", "args": '{"n": '}]}, END),
        ndjson({"calls": [{"name": "tool_name", "args": {}}]}, {**END, "end": "length"}),
        ndjson(END),
        as_json({"error": {"message": "empty", "code": "insufficient_quota"}}, 429),
        as_json({"error": {"message": "flagged by moderation"}}, 400),
    )
    model = await acme()
    for kind in (MalformedCallError, OutputCutError, EmptyReplyError, ProviderQuotaError, ContentFilterError):
        with pytest.raises(kind):
            await model.complete(HI)
    with pytest.raises(AddressRefusedError):
        model._client._policy.check("https://elsewhere.example.com/")


def test_the_tables_of_the_page_are_routes():
    """The first is a table of the settings file, the second a row of the data file."""
    own, row = blocks("toml")
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(own, encoding="utf-8")
    route = routes.find_route("mygateway", load_settings())
    assert route is not None
    assert (route.base_url, route.key_name) == ("https://gateway.example.com/v1", "MYGATEWAY_KEY")
    ((name, fields),) = tomllib.loads(row).items()
    assert routes._row(name, fields).shown == "Example Host at https://api.host.example.com/v1"
