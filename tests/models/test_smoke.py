"""Real providers, where there is a key or a running server; each skips with its reason otherwise.

`isolated` takes keys out of the environment of every test, and the guard leaves only loopback: both are lifted here, for
the one provider that a test asks. One short question and one call of an echo tool: a fraction of a cent.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from models.openai_wire import CHAT, MODELS, USAGE, call, delta
from models.servers import LoopbackServer, as_json, client_for, sse
from network_guard import allow_network
from surefoot.models import open_model
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.types import REQUIRED, LanguageModel, Message, Request, ToolSpec
from surefoot.settings import Settings

ENVIRONMENT = dict(os.environ)
"""As it was before the tests took the person's out of it."""

ECHO = ToolSpec(
    "say.echo",
    "Says back what it is given, exactly.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
WORD = "heliotrope"


@dataclass(frozen=True)
class Provider:
    """A provider, the variable with its key, and a small model of it; `SMOKE_<NAME>_MODEL` names another."""

    name: str
    key_name: str
    model: str


HOSTED = [
    Provider("openai", "OPENAI_API_KEY", "gpt-5-nano"),
    Provider("openrouter", "OPENROUTER_API_KEY", "openai/gpt-oss-20b"),
    Provider("tinyhumans", "TINYHUMANS_API_KEY", "chat-v1"),
    Provider("gemini", "GEMINI_API_KEY", "gemini-2.5-flash"),
]


def _chosen(name: str, model: str) -> str:
    return ENVIRONMENT.get(f"SMOKE_{name.upper()}_MODEL", model)


@pytest.fixture(params=HOSTED, ids=lambda provider: provider.name)
async def hosted(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[LanguageModel]:
    provider: Provider = request.param
    key = ENVIRONMENT.get(provider.key_name, "")
    if not key:
        pytest.skip(f"no key: set {provider.key_name} to ask {provider.name}")
    monkeypatch.setenv(provider.key_name, key)
    with allow_network():
        model = await open_model(f"{provider.name}:{_chosen(provider.name, provider.model)}", Settings())
        yield model
        await model.close()


@pytest.fixture
async def ollama(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LanguageModel]:
    url = ENVIRONMENT.get("SUREFOOT_OLLAMA_URL", "http://127.0.0.1:11434")
    try:
        listed = httpx.get(f"{url}/api/tags", timeout=2, trust_env=False).json()["models"]
    except (httpx.HTTPError, ValueError, KeyError):
        pytest.skip(f"no Ollama answers at {url}")
    if not listed:
        pytest.skip(f"the Ollama at {url} has no model: ollama pull qwen3:4b")
    model = await open_model(f"ollama:{_chosen('ollama', listed[0]['name'])}", Settings(ollama_url=url))
    yield model
    await model.close()


async def _greets(model: LanguageModel) -> None:
    request = Request((Message("user", f"Answer with this one word: {WORD}"),), max_tokens=2000, timeout=120)
    pieces = [piece async for piece in model.stream(request)]
    completion = pieces[-1].completion
    assert completion is not None
    assert WORD in completion.text.lower()
    assert completion.usage.prompt_tokens > 0
    assert completion.usage.cost is None or completion.usage.cost >= 0


async def _calls(model: LanguageModel) -> None:
    if not (await model.capabilities()).tools:
        pytest.skip(f"{model.name} takes no tools; set SMOKE_..._MODEL to one that does")
    question = Message("user", f"Call the tool with the text {WORD}.")
    asked = Request((question,), (ECHO,), tool_choice=REQUIRED, max_tokens=2000, timeout=120)
    made = (await model.complete(asked)).tool_calls[0]
    assert made.name == ECHO.name
    assert WORD in made.arguments["text"].lower()
    turn = (question, Message("assistant", tool_calls=(made,)), Message("tool", WORD, tool_call_id=made.id))
    told = await model.complete(Request(turn, (ECHO,), max_tokens=2000, timeout=120))
    assert told.text or told.tool_calls


@pytest.mark.parametrize("check", [_greets, _calls], ids=["streams", "calls a tool"])
async def test_a_hosted_provider(hosted: LanguageModel, check):
    """Asked for real: an answer in pieces with its usage; a call of the echo tool whose result goes back."""
    await check(hosted)


@pytest.mark.parametrize("check", [_greets, _calls], ids=["streams", "calls a tool"])
async def test_a_running_ollama(ollama: LanguageModel, check):
    """The same of the Ollama on this machine."""
    await check(ollama)


@pytest.mark.parametrize("check", [_greets, _calls], ids=["streams", "calls a tool"])
async def test_what_is_asked_of_them_can_be_answered(check):
    """The questions themselves are tried on a loopback server, so that they are no dead text where no key is."""
    answers = {
        _greets: [sse(delta(content=f"{WORD}."), delta("stop"), USAGE)],
        _calls: [
            sse(call(f'{{"text": "{WORD}"}}', call_id="c", name="say_echo"), delta("tool_calls")),
            sse(delta(content="Done."), delta("stop")),
        ],
    }
    with LoopbackServer().running() as server:
        server.on("/v1/models", as_json(MODELS))
        server.on(CHAT, *answers[check])
        model = OpenAICompatibleModel("gpt-test", client_for(server))
        await check(model)
        await model.close()
