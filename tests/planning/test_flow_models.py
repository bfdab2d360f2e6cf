"""Which models serve flows, where they are asked, and how: settings, routes, and requests on the wire."""

from __future__ import annotations

import json

import pytest

from models.openai_wire import CHAT, delta
from models.servers import Clock, LoopbackServer, as_json, client_for, free_port, sse
from surefoot.errors import (
    AddressRefusedError,
    ModelNotFoundError,
    PlanFailedError,
    PlannerNotConfiguredError,
    ProviderAuthError,
    SettingsError,
)
from surefoot.flows import FactNames
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.routes import built_in
from surefoot.models.types import Message, Request
from surefoot.planning.flow_models import (
    EFFORT,
    PLANNER,
    configuration,
    flow_model,
    output_model,
    rescue_model,
)
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.settings import Settings, load_settings, settings_file
from surefoot.settings_tables import RescueRoute

KEY = "sk-or-0123456789abcdef"
FLOW = {"app": "browser", "steps": [{"browse": "https://a.example"}, "open the page of today"]}
TEXT = json.dumps(FLOW)
LUNA = "openrouter:openai/gpt-6-luna"


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch):
    """None runs here."""
    monkeypatch.setenv("SUREFOOT_OLLAMA_URL", f"http://127.0.0.1:{free_port()}")


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)


def from_file(text):
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text)
    return load_settings()


# --- the planner's model -----------------------------------------------------------------------------------------


async def test_openrouters_model_is_the_default_where_its_key_is(key):
    """Rule "an optional model (anthropic/claude-sonnet-5, when unset)" over OpenRouter."""
    model, note = await flow_model(Settings())
    assert model.name == PLANNER == "openrouter:anthropic/claude-sonnet-5"
    assert note is None
    await model.close()


async def test_the_setting_wins(key):
    """Over the key that is there."""
    model, note = await flow_model(Settings(flow_model="openai:gpt-x", openai_url="http://127.0.0.1:9/v1"))
    assert (model.name, note) == ("openai:gpt-x", None)
    await model.close()


@pytest.mark.parametrize("offline", [True, False])
async def test_without_a_key_the_model_that_answers_plans_with_a_note(offline, monkeypatch):
    """A small model plans worse, and the person should know; `offline` never chooses a hosted one by itself."""
    if offline:
        monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    model, note = await flow_model(Settings(model="ollama:qwen3:4b", offline=offline))
    assert model.name == "ollama:qwen3:4b"
    assert note is not None
    assert note.code == "default_model"
    assert "ollama:qwen3:4b" in note.text
    await model.close()


@pytest.mark.parametrize("name", ["none", "None", " none "])
async def test_none_means_that_nothing_plans(name, key):
    """Rule PLANNER_NOT_CONFIGURED: planning was asked for and there is no planner."""
    with pytest.raises(PlannerNotConfiguredError, match="flow_model") as caught:
        await flow_model(Settings(flow_model=name))
    assert caught.value.code == "PLANNER_NOT_CONFIGURED"
    assert caught.value.exit_code == 3
    assert "surefoot flow guide" in caught.value.next_move
    assert "flow check" in caught.value.next_move


async def test_no_model_at_all_is_the_same():
    """With the reason of the registry."""
    with pytest.raises(PlannerNotConfiguredError, match="There is no language model"):
        await flow_model(Settings())


@pytest.mark.parametrize(
    ("name", "error"),
    [("openai:gpt-x", ProviderAuthError), ("nowhere:m", ModelNotFoundError), ("gpt", ModelNotFoundError)],
)
async def test_a_model_that_was_named_and_cannot_be_had_says_so(name, error):
    """It is not replaced in silence."""
    with pytest.raises(error):
        await flow_model(Settings(flow_model=name))


# --- rescue and output -------------------------------------------------------------------------------------------


async def test_rescue_and_output_have_a_model_of_their_own(key):
    """Rule "rescue_model" and "output_model": openai/gpt-6-luna unless set."""
    for opened in (rescue_model, output_model):
        model = await opened(Settings())
        assert model.name == LUNA
        await model.close()
    other = await output_model(Settings(flow_output_model="openrouter:other/model"))
    assert other.name == "openrouter:other/model"
    await other.close()


@pytest.mark.parametrize("name", ["none", ""])
async def test_they_may_be_none(name):
    """Then nothing rescues or shapes."""
    assert await rescue_model(Settings(flow_rescue_model=name)) is None
    assert await output_model(Settings(flow_output_model=name)) is None


async def test_without_their_key_they_cannot_be_opened():
    """It is missed when they are needed."""
    for opened in (rescue_model, output_model):
        with pytest.raises(ProviderAuthError, match="OPENROUTER_API_KEY"):
            await opened(Settings())


# --- the rescue route --------------------------------------------------------------------------------------------

OWN = """
[flow_rescue_route]
provider = "tinyhumans"
base_url = "https://api.tinyhumans.ai/openai/v1/"
key_name = "RESCUE_KEY"
headers = { x-sdk-name = "rescuer" }
"""


async def test_a_rescue_route_is_complete_and_inherits_nothing(key, monkeypatch):
    """Rule "rescue_route, a complete ModelRoute of the rescuer's own that inherits nothing from the planner's"."""
    monkeypatch.setenv("TINYHUMANS_API_KEY", "th-of-the-planner-0123")
    settings = from_file(OWN)
    with pytest.raises(ProviderAuthError, match="RESCUE_KEY"):
        await rescue_model(settings)
    monkeypatch.setenv("RESCUE_KEY", "th-of-the-rescuer-0123")
    model = await rescue_model(settings)
    assert model.name == "tinyhumans:openai/gpt-6-luna"
    assert model._client._headers() == {
        "authorization": "Bearer th-of-the-rescuer-0123",
        "x-sdk-name": "rescuer",
    }
    model._client._policy.check("https://api.tinyhumans.ai/openai/v1/models")
    with pytest.raises(AddressRefusedError):
        model._client._policy.check("https://openrouter.ai/api/v1/models")
    await model.close()
    planner, _ = await flow_model(settings)
    assert planner._client._headers() == {"authorization": f"Bearer {KEY}"}
    await planner.close()


async def test_the_headers_of_a_persons_own_route_are_not_inherited():
    """Only what the rescue route's table has is sent."""
    settings = from_file(
        '[routes.mine]\nbase_url = "http://127.0.0.1:9/v1"\nkey_name = "MINE"\nheaders = { x-team = "a" }\n'
        '[flow_rescue_route]\nprovider = "mine"\n'
    )
    model = await rescue_model(settings)
    assert model._client._headers() == {}
    await model.close()


@pytest.mark.parametrize(
    ("table", "key_of", "words"),
    [
        ('provider = "nowhere"\nkey_name = "K"', "provider", "There is no route 'nowhere'"),
        ('provider = "ollama"\nkey_name = "K"', "provider", "There is no route 'ollama'"),
        (
            'provider = "openrouter"\nbase_url = "https://evil.example/v1"\nkey_name = "K"',
            "base_url",
            "evil.example",
        ),
        (
            'provider = "openrouter"\nbase_url = "http://openrouter.ai/api/v1"\nkey_name = "K"',
            "base_url",
            "openrouter",
        ),
        ('provider = "openrouter"', "key_name", "needs a key"),
        ('provider = "openrouter"\nkey_name = "K"\nheaders = { X-SDK-Name = "x" }', "headers", "tinyhumans"),
    ],
)
async def test_a_rescue_route_may_go_to_allowed_places_only(table, key_of, words):
    """Rule "endpoint_url may only repeat the selected route's base URL"; "x-sdk-name on the Tiny Humans route only"."""
    settings = from_file(f"[flow_rescue_route]\n{table}\n")
    with pytest.raises(SettingsError) as caught:
        await rescue_model(settings)
    assert words in str(caught.value)
    assert caught.value.details["key"] == f"flow_rescue_route.{key_of}"
    assert words in (await configuration(settings))["rescue"].wrong


@pytest.mark.parametrize(
    "table",
    [
        'provider = "openrouter"\napi_key = "sk-x"',
        'key_name = "K"',
        'provider = "a"\nheaders = { authorization = "x" }',
    ],
)
def test_a_rescue_route_that_cannot_be_read_is_refused(table):
    """A key never stands in the file, the provider always does."""
    with pytest.raises(SettingsError) as caught:
        from_file(f"[flow_rescue_route]\n{table}\n")
    assert "flow_rescue_route" in caught.value.details["key"]
    assert "sk-x" not in str(caught.value)


def test_a_rescue_route_counts_in_the_file_only(monkeypatch):
    """Where a prompt goes is not for a variable to say."""
    monkeypatch.setenv("SUREFOOT_FLOW_RESCUE_ROUTE", '{"provider": "openrouter", "key_name": "K"}')
    with pytest.raises(SettingsError, match="counts in the settings file only"):
        load_settings()


def test_the_keys_of_all_tables_are_masked_from_the_start():
    """The rescue route's, too."""
    settings = Settings.model_construct(
        openai_key_name="A", routes={}, flow_rescue_route=RescueRoute(provider="openrouter", key_name="B")
    )
    assert settings.key_names == ("A", "B")


# --- what is in force --------------------------------------------------------------------------------------------


async def test_configuration_says_route_model_and_address_of_all_three(key):
    """Rule "each reports its route and model through configuration()"."""
    found = await configuration(Settings())
    assert list(found) == ["planner", "rescue", "output"]
    shown = {role: one.to_dict() for role, one in found.items()}
    assert shown["planner"] == {
        "model": PLANNER,
        "route": "openrouter",
        "base_url": "https://openrouter.ai/api/v1",
        "key_name": "OPENROUTER_API_KEY",
        "key_found": True,
        "reasoning_effort": None,
        "note": None,
        "wrong": None,
    }
    assert shown["rescue"]["model"] == shown["output"]["model"] == LUNA
    assert shown["rescue"]["reasoning_effort"] == shown["output"]["reasoning_effort"] == EFFORT == "low"
    assert KEY not in json.dumps(shown)


async def test_configuration_says_what_is_missing():
    """A key, a planner; it raises nothing and calls nothing."""
    found = await configuration(Settings(flow_output_model="none", flow_model="openai:gpt-x"))
    assert found["planner"].key_found is False
    assert (
        found["planner"].wrong
        == found["planner"].wrong.replace("None", "")
        == "There is no key named OPENAI_API_KEY."
    )
    assert "OPENROUTER_API_KEY" in found["rescue"].wrong
    assert found["output"].wrong == "`flow_output_model` is `none`."
    assert "flow_model" in (await configuration(Settings(flow_model="none")))["planner"].wrong
    assert "no language model" in (await configuration(Settings()))["planner"].wrong


@pytest.mark.parametrize(
    ("name", "route", "address", "key_name"),
    [
        ("ollama:qwen3:4b", "ollama", "http://127.0.0.1:1", ""),
        ("local:qwen2.5-coder-1.5b", "local", "", ""),
        ("gemini:gemini-2.5-flash", "gemini", "https://generativelanguage.googleapis.com", "GOOGLE_API_KEY"),
        ("vllm:m", "vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
    ],
)
async def test_configuration_of_every_kind_of_provider(monkeypatch, name, route, address, key_name):
    """Embedded, Ollama, Gemini, a server here: none of them lacks anything."""
    monkeypatch.setenv("GOOGLE_API_KEY", "g-0123456789")
    found = (await configuration(Settings(flow_model=name, ollama_url="http://127.0.0.1:1")))["planner"]
    assert (found.model, found.route, found.base_url, found.key_name) == (name, route, address, key_name)
    assert found.wrong == ""


async def test_configuration_of_what_cannot_be(monkeypatch):
    """An unknown provider, Gemini without a key."""
    found = await configuration(Settings(flow_model="gemini:g", flow_rescue_model="nowhere:m"))
    assert found["planner"].wrong == "There is no key named GEMINI_API_KEY."
    assert found["rescue"].wrong == "There is no provider 'nowhere'."


async def test_configuration_tells_that_the_model_that_answers_plans():
    """With the note of the choice."""
    found = (await configuration(Settings(model="ollama:qwen3:4b")))["planner"]
    assert found.model == "ollama:qwen3:4b"
    assert "No other" in found.note or "no other" in found.note


async def test_configuration_follows_the_rescue_route(monkeypatch):
    """Its own address and key."""
    monkeypatch.setenv("RESCUE_KEY", "th-of-the-rescuer-0123")
    found = (await configuration(from_file(OWN)))["rescue"]
    assert found.model == "tinyhumans:openai/gpt-6-luna"
    assert (found.base_url, found.key_name) == (built_in()["tinyhumans"].base_url, "RESCUE_KEY")


# --- on the wire -------------------------------------------------------------------------------------------------


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/v1/models", as_json({"data": [{"id": "anthropic/claude-sonnet-5", "object": "model"}]}))
        yield running


@pytest.fixture
async def hosted(server):
    """Makes models behind a hosted route whose server stands here; they are closed at the end."""
    opened = []

    def make(clock=None, route="openrouter"):
        row = built_in()[route]
        client = client_for(server, clock, headers=lambda: {**row.headers, "authorization": f"Bearer {KEY}"})
        opened.append(OpenAICompatibleModel("anthropic/claude-sonnet-5", client, route=row))
        return opened[-1]

    yield make
    for model in opened:
        await model.close()


OK = sse(delta(content=TEXT[:9]), delta(content=TEXT[9:40]), delta(content=TEXT[40:]), delta("stop"))


async def test_a_plan_over_the_wire(server, hosted):
    """Rules: JSON object format, temperature 0.2, streamed and gathered into one reply."""
    server.on(CHAT, OK)
    plan = await FlowPlanner(hosted()).plan("Look", FactNames())
    assert plan.flow.to_json() == FLOW
    (body,) = server.bodies(CHAT)
    assert body["response_format"] == {"type": "json_object"}
    assert body["temperature"] == 0.2
    assert body["stream"] is True
    assert body["model"] == "anthropic/claude-sonnet-5"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize("route", ["openrouter", "tinyhumans", "openai"])
async def test_the_sdk_name_goes_to_tiny_humans_only(server, hosted, route):
    """Rule "sdk_name becomes an x-sdk-name header on the Tiny Humans route only"."""
    server.on(CHAT, OK)
    await FlowPlanner(hosted(route=route)).plan("Look", FactNames())
    sent = {seen.headers.get("x-sdk-name") for seen in server.seen}
    assert sent == ({"surefoot"} if route == "tinyhumans" else {None})


@pytest.mark.parametrize(
    "passing",
    [
        as_json({"error": {"message": "bad gateway"}}, 502),
        as_json({"error": {"message": "no answer in time"}}, 504),
        as_json({"error": {"message": "slow down"}}, 429),
        sse(delta(content=TEXT[:20]), done=False, drop=True),
    ],
    ids=["502", "504", "429", "dropped"],
)
async def test_a_passing_failure_is_tried_four_times_1_2_and_4_seconds_apart(server, hosted, passing):
    """Rule "a call that fails in passing is tried up to 4 times, 1, 2, then 4 seconds apart"; it is one call."""
    clock = Clock()
    server.on(CHAT, passing, passing, passing, OK)
    plan = await FlowPlanner(hosted(clock)).plan("Look", FactNames())
    assert clock.slept == [1, 2, 4]
    assert plan.use.calls == 1
    assert len(plan.attempts) == 1


async def test_four_failures_end_it(server, hosted):
    """One 502 does not end a task at its plan; four do."""
    clock = Clock()
    server.on(CHAT, as_json({"error": {"message": "bad gateway"}}, 502))
    with pytest.raises(PlanFailedError) as caught:
        await FlowPlanner(hosted(clock)).plan("Look", FactNames())
    assert clock.slept == [1, 2, 4]
    assert len(server.bodies(CHAT)) == 4
    assert caught.value.details["reason"] == "unavailable"


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (401, "invalid key", "auth"),
        (403, "key not allowed", "auth"),
        (400, "messages: invalid", "bad_request"),
        (402, "insufficient credits", "quota"),
    ],
)
async def test_a_refused_key_or_request_is_not_tried_again(server, hosted, status, message, reason):
    """Rule "a refused key or a rejected request is not tried again"; nor is a spent account."""
    clock = Clock()
    server.on(CHAT, as_json({"error": {"message": message}}, status))
    with pytest.raises(PlanFailedError) as caught:
        await FlowPlanner(hosted(clock)).plan("Look", FactNames())
    assert clock.slept == []
    assert len(server.bodies(CHAT)) == 1
    assert caught.value.details["reason"] == reason
    assert KEY not in json.dumps(caught.value.to_dict())


async def test_the_rescue_models_effort_goes_out_over_openrouter(server, hosted):
    """Rule "reasoning models given a little room to think before they answer"."""
    server.on(CHAT, OK)
    await hosted().complete(Request((Message("user", "x"),), effort=EFFORT))
    assert server.bodies(CHAT)[0]["reasoning"] == {"effort": "low"}
