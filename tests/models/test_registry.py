"""From names to models, and the model nobody named."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import surefoot.models
from models.servers import LoopbackServer, as_json, free_port
from surefoot import ScriptedModel
from surefoot.errors import ModelFileError, ModelNotFoundError, NoModelError, ProviderAuthError
from surefoot.models import default_model, open_model, planner_model, registry
from surefoot.models.ollama import OllamaModel
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.settings import Settings


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        yield running


@pytest.fixture
def nobody():
    """Settings where no Ollama answers."""
    return Settings(ollama_url=f"http://127.0.0.1:{free_port()}")


@pytest.fixture
def no_local(monkeypatch):
    monkeypatch.setattr(registry, "local_ready", lambda settings: False)


async def test_a_model_is_named_by_provider_and_model(nobody):
    """The model's own name may have colons and slashes."""
    ollama = await open_model("ollama:qwen3:4b", nobody)
    assert isinstance(ollama, OllamaModel)
    assert ollama.name == "ollama:qwen3:4b"
    openai = await open_model(" openai:org/model ", Settings(openai_url="http://127.0.0.1:1/v1"))
    assert isinstance(openai, OpenAICompatibleModel)
    assert openai.name == "openai:org/model"


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("olama:qwen3:4b", "ollama:qwen3:4b"),
        ("Ollama:qwen3", "ollama:qwen3"),
        ("openia:x", "openai:x"),
        ("open-router:x", "openrouter:x"),
        ("lm-studio:x", "lmstudio:x"),
        ("locl:x", "local:x"),
        ("qwen3:4b", "ollama:qwen3:4b"),
        ("qwen3", "ollama:qwen3"),
    ],
)
async def test_an_unknown_provider_names_the_nearest(nobody, name, suggestion):
    """The message has a whole name that can be typed, and the providers there are."""
    with pytest.raises(ModelNotFoundError) as caught:
        await open_model(name, nobody)
    assert f"Did you mean {suggestion!r}?" in caught.value.next_move
    for provider in [
        *registry.PROVIDERS,
        "openai",
        "openrouter",
        "tinyhumans",
        "vllm",
        "lmstudio",
        "llamacpp",
    ]:
        assert f"{provider}:" in caught.value.next_move
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", ["ollama", "ollama:", "openai", "vllm:"])
async def test_a_provider_without_a_model(nobody, name):
    """Half a name says how the whole one is written."""
    with pytest.raises(ModelNotFoundError, match="and no model"):
        await open_model(name, nobody)


async def test_what_a_provider_misses_is_said(nobody):
    """A hosted provider's key is missed when the model is opened, and named."""
    with pytest.raises(
        ProviderAuthError, match="OpenRouter needs a key, and there is none named OPENROUTER_API_KEY"
    ):
        await open_model("openrouter:org/model", nobody)


async def test_a_provider_is_one_file_and_one_line(nobody, monkeypatch):
    """What the table names is imported when it is used; its function may be async."""
    module = ModuleType("provider_for_tests")

    async def open_it(model, settings):
        return ScriptedModel(name=f"new:{model}")

    module.open_it = open_it
    monkeypatch.setitem(sys.modules, "provider_for_tests", module)
    monkeypatch.setitem(registry.PROVIDERS, "new", "provider_for_tests:open_it")
    assert (await open_model("new:thing", nobody)).name == "new:thing"


async def test_the_configured_model_comes_first(server):
    """A running Ollama is not even asked."""
    model = await default_model(Settings(model="ollama:mine", ollama_url=server.url))
    assert model.name == "ollama:mine"
    assert server.seen == []


async def test_else_a_running_ollamas_first_model_with_tools(server):
    """The first that supports tools."""
    server.on("/api/tags", as_json({"models": [{"name": "plain"}, {"name": "able:4b"}]}))
    server.on(
        "/api/show",
        as_json({"capabilities": ["completion"]}),
        as_json({"capabilities": ["completion", "tools"]}),
    )
    assert (await default_model(Settings(ollama_url=server.url))).name == "ollama:able:4b"


async def test_else_the_embedded_model(nobody, monkeypatch):
    """When it is installed and its weights are there."""
    module = ModuleType("local_for_tests")
    module.open_local = lambda model, settings: ScriptedModel(name=f"local:{model}")
    monkeypatch.setitem(sys.modules, "local_for_tests", module)
    monkeypatch.setitem(registry.PROVIDERS, "local", "local_for_tests:open_local")
    monkeypatch.setattr(registry, "local_ready", lambda settings: True)
    assert (await default_model(nobody)).name == f"local:{registry.EMBEDDED}"


@pytest.mark.parametrize(
    ("extra", "here", "ready"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_the_embedded_model_is_ready_with_its_extra_and_its_weights(monkeypatch, nobody, extra, here, ready):
    """Both are needed; neither is loaded to find out."""

    def require(name, settings):
        if not here:
            raise ModelFileError(f"{name} is not here")
        return Path("model.gguf")

    module = ModuleType("weights_for_tests")
    module.require = require
    monkeypatch.setattr(surefoot.models, "weights", module, raising=False)
    monkeypatch.setattr(registry, "find_spec", lambda name: object() if extra else None)
    assert registry.local_ready(nobody) is ready


@pytest.mark.parametrize("running", ["nobody", "without models", "broken"])
async def test_else_an_error_with_the_three_ways_out(server, nobody, no_local, running):
    """Pull the embedded one, start Ollama, or set the setting."""
    settings = nobody if running == "nobody" else Settings(ollama_url=server.url)
    server.on("/api/tags", as_json({"models": []} if running == "without models" else {"error": "x"}, 200))
    with pytest.raises(NoModelError) as caught:
        await default_model(settings)
    for way in ("surefoot models pull", "ollama pull", "SUREFOOT_MODEL"):
        assert way in caught.value.next_move
    assert settings.ollama_url in caught.value.message
    assert caught.value.exit_code == 3


async def test_the_planner_follows_the_chat_model_unless_it_is_set():
    """decisions.md, 25: `planner_model` overrides, else the planner is the model that chats."""
    chat = ScriptedModel(name="ollama:chat")
    assert await planner_model(Settings(), chat) is chat
    assert await planner_model(Settings(planner_model="ollama:chat"), chat) is chat
    assert (await planner_model(Settings(planner_model="ollama:planner"), chat)).name == "ollama:planner"


def test_the_public_names_of_the_room_load_when_used():
    """Each is there, the list is sorted and whole, and an unknown name is an attribute error."""
    assert surefoot.models.__all__ == sorted(surefoot.models.__all__)
    assert set(surefoot.models.__all__) <= set(dir(surefoot.models))
    for name in surefoot.models.__all__:
        assert getattr(surefoot.models, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = surefoot.models.Nothing
