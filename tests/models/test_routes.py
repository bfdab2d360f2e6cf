"""Routes of OpenAI's chat form: the built-in ones, the person's own, and what their servers say of a model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from models.openai_wire import CHAT, HI, call, delta, tools
from models.servers import LoopbackServer, as_json, sse
from surefoot.errors import (
    AddressRefusedError,
    ContextLengthError,
    ProviderAuthError,
    ProviderCapabilityError,
    SettingsError,
)
from surefoot.models import open_model
from surefoot.models.listings import Prices, read_amount, read_prices
from surefoot.models.registry import PROVIDERS
from surefoot.models.routes import built_in, find_route, key_names, model_behind, names, open_route
from surefoot.models.types import Message, Request, Usage
from surefoot.settings import Settings, load_settings, settings_file

KEYS = {
    name: f"sk-{name}-0123456789" for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "TINYHUMANS_API_KEY")
}
OK = sse(delta(content="Hi"), delta("stop"))

# The example of OpenRouter's documentation of its list of models, with the fields that are read here.
GPT_4 = {
    "id": "openai/gpt-4",
    "canonical_slug": "openai/gpt-4",
    "name": "GPT-4",
    "created": 1692901234,
    "context_length": 8192,
    "pricing": {"prompt": "0.00003", "completion": "0.00006", "request": "0", "image": "0"},
    "supported_parameters": ["temperature", "top_p", "max_tokens", "tools", "tool_choice", "logprobs"],
}
# The example of OpenRouter's page on usage accounting.
ACCOUNTED = {
    "completion_tokens": 2,
    "completion_tokens_details": {"reasoning_tokens": 0},
    "cost": 0.95,
    "cost_details": {"upstream_inference_cost": 19},
    "prompt_tokens": 194,
    "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100, "audio_tokens": 0},
    "total_tokens": 196,
}
# The example of LM Studio's documentation of its first own list; `capabilities` and `loaded_context_length` came later.
LM_STUDIO = {
    "object": "list",
    "data": [
        {
            "id": "meta-llama-3.1-8b-instruct",
            "object": "model",
            "type": "llm",
            "publisher": "lmstudio-community",
            "arch": "llama",
            "compatibility_type": "gguf",
            "quantization": "Q4_K_M",
            "state": "not-loaded",
            "max_context_length": 131072,
        }
    ],
}
NOT_THERE = as_json({"error": "Unexpected endpoint or method. (GET /api/v0/models)"})


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        yield running


@pytest.fixture
async def behind(server):
    """A model behind a built-in route whose server stands on loopback for this test."""
    opened = []

    def make(name, model="gpt-test", **settings):
        path = built_in()[name].base_url.partition("//")[2].partition("/")[2]
        route = replace(built_in()[name], base_url=f"{server.url}/{path}")
        opened.append(model_behind(route, model, Settings(**settings)))
        return opened[-1]

    yield make
    for model in opened:
        await model.close()


def write_file(text):
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text)
    return load_settings()


def listing(*entries):
    return as_json({"object": "list", "data": list(entries)})


# --- the built-in routes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "base_url", "key_name"),
    [
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("tinyhumans", "https://api.tinyhumans.ai/openai/v1", "TINYHUMANS_API_KEY"),
        ("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
        ("lmstudio", "http://127.0.0.1:1234/v1", "LM_API_TOKEN"),
        ("llamacpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY"),
    ],
)
async def test_each_route_has_its_own_address_and_key_and_reaches_nothing_else(
    monkeypatch, name, base_url, key_name
):
    """Rule "each route's own base URL": exactly that host and port, under the name of the route."""
    for key, value in KEYS.items():
        monkeypatch.setenv(key, value)
    model = await open_model(f"{name}:org/model", Settings())
    assert model.name == f"{name}:org/model"
    assert (model._route.base_url, model._route.key_name) == (base_url, key_name)
    policy = model._client._policy
    policy.check(f"{base_url}/models")
    for other in ("https://example.com/v1", base_url.replace("//", "//evil-"), "http://127.0.0.1:9/v1"):
        with pytest.raises(AddressRefusedError, match="is not the configured endpoint"):
            policy.check(other)


def test_every_route_is_a_row_of_data():
    """All that a new one needs is a table: the names of the page are the names that are known."""
    assert set(built_in()) == set(names(Settings())) == {
        "openai", "openrouter", "tinyhumans", "vllm", "lmstudio", "llamacpp",
    }  # fmt: skip
    assert not set(built_in()) & set(PROVIDERS)
    assert {route.name for route in built_in().values() if not route.local} == {
        "openai",
        "openrouter",
        "tinyhumans",
    }


@pytest.mark.parametrize("name", ["openai", "openrouter", "tinyhumans"])
async def test_a_hosted_route_needs_its_key(name):
    """It is missed when the model is opened; the message has the name and the three places, no value."""
    with pytest.raises(ProviderAuthError) as caught:
        open_route(name, "m", Settings())
    assert f"none named {built_in()[name].key_name}" in caught.value.message
    assert "keyring set" in caught.value.next_move


@pytest.mark.parametrize("name", ["vllm", "lmstudio", "llamacpp"])
async def test_a_route_on_this_machine_needs_none_and_sends_one_that_is_there(
    server, behind, monkeypatch, name
):
    """A key of that name is sent, its absence is no error; loopback counts as local."""
    server.on("/v1/models", listing({"id": "gpt-test"}))
    server.on(CHAT, OK)
    plain = behind(name, local_timeout_sec=44)
    await plain.complete(HI)
    assert plain._default_seconds == 44
    assert (await plain.capabilities()).local is True
    assert all("authorization" not in seen.headers for seen in server.seen)
    monkeypatch.setenv(built_in()[name].key_name, "local-key-123456")
    await behind(name).complete(HI)
    assert server.seen[-1].headers["authorization"] == "Bearer local-key-123456"


@pytest.mark.parametrize("name", list(built_in()))
async def test_only_tiny_humans_gets_the_name_of_the_sdk(server, behind, name):
    """Rule "x-sdk-name on the Tiny Humans route": there and nowhere else, with every request."""
    path = behind(name)._prefix
    root = built_in()[name].base_url.partition("//")[2].partition("/")[2].removesuffix("v1").rstrip("/")
    base = f"/{root}{path}" if root else path
    server.on(f"{base}/models", listing({"id": "gpt-test"}))
    server.on(f"{base}/chat/completions", OK)
    assert (await behind(name).complete(HI)).text == "Hi"
    sent = {seen.headers.get("x-sdk-name") for seen in server.seen}
    assert sent == ({"surefoot"} if name == "tinyhumans" else {None})


async def test_a_key_is_sent_and_stays_out_of_sight(server, behind, monkeypatch):
    """Behind a route as elsewhere: in the header, in no error and no attribute."""
    monkeypatch.setenv("OPENROUTER_API_KEY", KEYS["OPENROUTER_API_KEY"])
    server.on("/api/v1/models", as_json({"error": {"message": f"bad key {KEYS['OPENROUTER_API_KEY']}"}}, 401))
    model = behind("openrouter")
    with pytest.raises(ProviderAuthError) as caught:
        await model.complete(HI)
    assert server.seen[0].headers["authorization"] == f"Bearer {KEYS['OPENROUTER_API_KEY']}"
    shown = json.dumps(caught.value.to_dict()) + repr(vars(model)) + repr(vars(model._client))
    assert "0123456789" not in shown


async def test_openai_url_moves_the_openai_route(server, monkeypatch):
    """The setting that was there before the routes keeps its meaning, with its own key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEYS["OPENAI_API_KEY"])
    monkeypatch.setenv("MINE", "another-key-99887766")
    server.on("/v1/models", listing())
    server.on(CHAT, OK)
    model = open_route("openai", "m", Settings(openai_url=f"{server.url}/v1/", openai_key_name="MINE"))
    await model.complete(HI)
    assert {seen.headers["authorization"] for seen in server.seen} == {"Bearer another-key-99887766"}
    await model.close()


async def test_offline_refuses_every_hosted_route(monkeypatch):
    """`offline` holds for routes; nothing is resolved."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    for name in ("openai", "openrouter", "tinyhumans"):
        model = open_route(name, "m", Settings(offline=True))
        with pytest.raises(AddressRefusedError, match="`offline` is set"):
            await model.complete(HI)


# --- routes of one's own -----------------------------------------------------------------------------------------


async def test_a_route_from_the_settings_file(server, monkeypatch):
    """`routes.mygateway` makes `mygateway:some-model`: its address, its key by name, its headers."""
    monkeypatch.setenv("GATEWAY", "gateway-key-12345678")
    settings = write_file(
        f'[routes.mygateway]\nbase_url = "{server.url}/llm/v1/"\nkey_name = "GATEWAY"\n'
        'headers = { x-team = "blue" }\n'
    )
    server.on("/llm/v1/models", listing({"id": "some-model", "max_model_len": 4096}))
    server.on("/llm/v1/chat/completions", OK)
    model = await open_model("mygateway:some-model", settings)
    assert (await model.complete(HI)).text == "Hi"
    assert model.name == "mygateway:some-model"
    assert (await model.capabilities()).context_length == 4096
    assert {seen.headers["x-team"] for seen in server.seen} == {"blue"}
    assert {seen.headers["authorization"] for seen in server.seen} == {"Bearer gateway-key-12345678"}
    assert "GATEWAY" in key_names(settings)
    assert names(settings)[-1] == "mygateway"
    await model.close()


async def test_a_route_without_a_key_sends_none(server):
    """A gateway that wants none gets none, whatever keys are around."""
    settings = write_file(f'[routes.plain]\nbase_url = "{server.url}"')
    server.on("/models", listing())
    server.on("/chat/completions", OK)
    model = await open_model("plain:m", settings)
    await model.complete(HI)
    assert all("authorization" not in seen.headers for seen in server.seen)
    await model.close()


def test_a_hosted_route_of_ones_own_needs_the_key_it_names():
    """Named and not there is an error, not a request without a key."""
    settings = write_file('[routes.mine]\nbase_url = "https://llm.example.com/v1"\nkey_name = "MINE_KEY"')
    with pytest.raises(
        ProviderAuthError, match=r"mine at https://llm\.example\.com/v1 needs a key.*MINE_KEY"
    ):
        open_route("mine", "m", settings)


@pytest.mark.parametrize("name", ["SUREFOOT_ROUTES", "SUREFOOT_ROUTES__EVIL__BASE_URL", "surefoot_routes"])
def test_the_environment_adds_no_route(monkeypatch, name):
    """Rule "custom ones from the settings file only": a variable that names one is an error that says where it goes."""
    monkeypatch.setenv(name, '{"evil": {"base_url": "https://evil.example.com"}}')
    with pytest.raises(SettingsError, match="'routes' is set by the environment") as caught:
        load_settings()
    assert str(settings_file()) in caught.value.next_move


def test_neither_does_a_program():
    """The file is the only place, also for code."""
    with pytest.raises(SettingsError, match="'routes' is set by the program"):
        load_settings(routes={"evil": {"base_url": "https://evil.example.com"}})


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('base_url = "https://ann:hunter22@llm.example.com/v1"', "user name or password"),
        ('base_url = "ftp://llm.example.com"', "looks like"),
        ('base_url = "llm.example.com/v1"', "looks like"),
        ('base_url = "https://llm.example.com/v1?key=hunter22"', "looks like"),
        ('base_url = "https://llm.example.com"\nheaders = { Authorization = "Bearer hunter22" }', "key_name"),
        ('base_url = "https://llm.example.com"\nheaders = { x-api-key = "hunter22" }', "key_name"),
        ('base_url = "https://llm.example.com"\nheaders = { Cookie = "hunter22" }', "key_name"),
        ('base_url = "https://llm.example.com"\nheaders = { "x a" = "b" }', "no header"),
        ('base_url = "https://llm.example.com"\nheaders = { x-a = "b\\nc: d" }', "no header"),
        (
            'base_url = "https://llm.example.com"\napi_key = "hunter22"',
            "a key itself never stands in the file",
        ),
        ('key_name = "X"', "Field required"),
    ],
)
def test_a_table_that_cannot_be_used_is_named_without_what_may_be_secret(table, said):
    """The place and the way out are told, and no part of a password."""
    with pytest.raises(SettingsError) as caught:
        write_file(f"[routes.mine]\n{table}")
    assert "routes.mine" in caught.value.message
    assert said in str(caught.value)
    assert "hunter22" not in str(caught.value.to_dict())


@pytest.mark.parametrize("name", ["Mine", "my gateway", "1st", '"a:b"'])
def test_a_name_that_no_model_could_have_is_refused(name):
    """A model is `name:model`, so a name is one plain word."""
    quoted = name if name.startswith('"') or " " not in name else f'"{name}"'
    with pytest.raises(SettingsError, match="no name of a route"):
        write_file(f'[routes.{quoted}]\nbase_url = "https://llm.example.com"')


@pytest.mark.parametrize("name", ["openai", "openrouter", "tinyhumans"])
async def test_a_hosted_route_cannot_be_moved(name):
    """A table of that name would send its key elsewhere."""
    settings = write_file(f'[routes.{name}]\nbase_url = "https://evil.example.com/v1"')
    with pytest.raises(SettingsError, match=f"routes.{name}"):
        await open_model(f"{name}:m", settings)


def test_a_name_of_another_provider_is_taken():
    """`routes.ollama` and its like are told, and not silently never used."""
    settings = write_file('[routes.ollama]\nbase_url = "https://llm.example.com/v1"')
    with pytest.raises(SettingsError, match="a provider that is there already"):
        find_route("ollama", settings)


async def test_a_local_route_may_listen_elsewhere(server):
    """Another port keeps what is known of the route: here the key's name."""
    settings = write_file(f'[routes.vllm]\nbase_url = "{server.url}/v1"\nheaders = {{ x-a = "b" }}')
    route = find_route("vllm", settings)
    assert (route.base_url, route.key_name, dict(route.headers)) == (
        f"{server.url}/v1",
        "VLLM_API_KEY",
        {"x-a": "b"},
    )
    assert route.shown == f"vLLM at {server.url}/v1"


def test_a_route_that_is_not_there_lists_what_is():
    """The error names the ways out."""
    with pytest.raises(SettingsError, match=r"no route 'nope'.*openrouter.*routes\.nope"):
        open_route("nope", "m", Settings())


# --- what a model can do -----------------------------------------------------------------------------------------


async def test_openrouter_says_what_a_model_takes(server, behind):
    """Tools, log-probabilities, context; bound by a schema only where its list says `structured_outputs`."""
    bound = {**GPT_4, "id": "b", "supported_parameters": ["structured_outputs", "response_format"]}
    server.on("/api/v1/models", listing(GPT_4, bound))
    found = await behind("openrouter", "openai/gpt-4").capabilities()
    assert (found.tools, found.logprobs, found.json_schema, found.context_length) == (True, True, False, 8192)
    found = await behind("openrouter", "b").capabilities()
    assert (found.tools, found.logprobs, found.json_schema) == (False, False, True)


async def test_a_variant_has_what_its_model_has(server, behind):
    """`:nitro` and its like are not listed; `:free` is, with its own entry."""
    free = {**GPT_4, "id": "openai/gpt-4:free", "context_length": 4096}
    server.on("/api/v1/models", listing(GPT_4, free))
    lengths = [
        (await behind("openrouter", f"openai/gpt-4{ending}").capabilities()).context_length
        for ending in ("", ":nitro", ":free")
    ]
    assert lengths == [8192, 8192, 4096]


async def test_openrouter_gets_what_it_takes(server, behind):
    """Cost is asked for; bound questions go only to hosts that hold to it; what the model does not take is left out."""
    server.on("/api/v1/models", listing({**GPT_4, "supported_parameters": ["tools", "max_tokens"]}))
    server.on("/api/v1/chat/completions", OK)
    model = behind("openrouter", "openai/gpt-4")
    await model.complete(HI)
    await model.complete(tools(max_calls=1))
    plain, bound = server.bodies("/api/v1/chat/completions")
    assert plain["usage"] == {"include": True}
    assert "provider" not in plain
    assert bound["provider"] == {"require_parameters": True}
    assert not {"temperature", "parallel_tool_calls"} & (plain.keys() | bound.keys())
    assert plain["max_tokens"] == 512


async def test_other_routes_send_no_field_of_openrouters(server, behind):
    """Each server gets its own form."""
    server.on("/v1/models", listing({"id": "gpt-test"}))
    server.on(CHAT, OK)
    await behind("vllm").complete(tools())
    assert not {"usage", "provider"} & server.bodies(CHAT)[0].keys()


async def test_vllm_says_its_context(server, behind):
    """`max_model_len` of its list; a prompt that cannot fit is refused with the numbers before any call."""
    server.on("/v1/models", listing({"id": "gpt-test", "owned_by": "vllm", "max_model_len": 2048}))
    model = behind("vllm")
    assert (await model.capabilities()).context_length == 2048
    with pytest.raises(ContextLengthError, match="2048"):
        await model.complete(Request((Message("user", "some words " * 4000),)))
    assert server.bodies(CHAT) == []


async def test_vllm_without_a_tool_parser_says_so(server, behind):
    """Its list does not tell; its refusal is the capability error."""
    server.on("/v1/models", listing({"id": "gpt-test", "owned_by": "vllm"}))
    words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    server.on(
        CHAT, as_json({"object": "error", "message": words, "type": "BadRequestError", "code": 400}, 400)
    )
    with pytest.raises(ProviderCapabilityError, match="enable-auto-tool-choice"):
        await behind("vllm").complete(tools())


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, (True, 131072, "llama")),
        ({"capabilities": ["tool_use"]}, (True, 131072, "llama")),
        ({"capabilities": []}, (False, 131072, "llama")),
        ({"capabilities": None, "loaded_context_length": 4096}, (False, 4096, "llama")),
        ({"arch": None, "max_context_length": None}, (True, 0, "")),
    ],
)
async def test_lm_studio_says_more_in_its_own_list(server, behind, more, expected):
    """The context it was loaded with, and tools where the version says so; an old version is taken at its word."""
    server.on("/v1/models", listing({"id": "meta-llama-3.1-8b-instruct"}))
    server.on("/api/v0/models", listing({**LM_STUDIO["data"][0], **more}))
    found = await behind("lmstudio", "meta-llama-3.1-8b-instruct").capabilities()
    assert (found.tools, found.context_length, found.family) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"capabilities": {"trained_for_tool_use": True}, "loaded_instances": []}, (True, 131072)),
        (
            {
                "capabilities": {"vision": True, "trained_for_tool_use": False},
                "loaded_instances": [{"id": "a", "config": {"context_length": 4096}}],
            },
            (False, 4096),
        ),
        ({"capabilities": {}, "loaded_instances": [None, {"config": None}]}, (False, 131072)),
    ],
)
@pytest.mark.parametrize("first", [NOT_THERE, as_json({"error": "gone"}, 404)])
async def test_the_second_form_of_lm_studios_list(server, behind, entry, expected, first):
    """Where the first is not there, with a 404 or with the 200 that LM Studio answers to every unknown path."""
    server.on("/v1/models", listing({"id": "google/gemma-3-4b"}))
    server.on("/api/v0/models", first)
    whole = {
        "key": "google/gemma-3-4b",
        "type": "llm",
        "architecture": "gemma3",
        "max_context_length": 131072,
        **entry,
    }
    server.on("/api/v1/models", as_json({"models": [None, whole]}))
    found = await behind("lmstudio", "google/gemma-3-4b").capabilities()
    assert (found.tools, found.context_length, found.family) == (*expected, "gemma3")


async def test_lm_studio_without_a_list_of_its_own(server, behind):
    """Neither path: what the form defines holds. A model that its list does not know: the same."""
    server.on("/v1/models", listing({"id": "gpt-test"}))
    server.on("/api/v0/models", NOT_THERE)
    server.on("/api/v1/models", NOT_THERE)
    assert (await behind("lmstudio").capabilities()).tools is True
    server._answers["/api/v0/models"].clear()
    server.on("/api/v0/models", as_json(LM_STUDIO))
    assert (await behind("lmstudio").capabilities()).context_length == 0


@pytest.mark.parametrize(
    ("props", "expected"),
    [
        ({"chat_template_caps": {"supports_tools": True}}, (True, 0)),
        ({"chat_template_caps": {"supports_tools": False}}, (False, 0)),
        ({"chat_template_caps": {}, "default_generation_settings": {"n_ctx": 4096}}, (True, 4096)),
        ({"chat_template_caps": None, "default_generation_settings": {"n_ctx": None}}, (True, 0)),
        ([], (True, 0)),
    ],
)
async def test_llama_cpp_says_what_its_chat_template_can(server, behind, props, expected):
    """Tools where the template shows them to the model; an older server that does not say is taken at its word."""
    server.on("/v1/models", listing({"id": "/models/q.gguf", "owned_by": "llamacpp"}))
    server.on("/props", as_json(props))
    found = await behind("llamacpp").capabilities()
    assert (found.tools, found.context_length) == expected
    assert found.grammar is True


@pytest.mark.parametrize("name", ["openrouter", "lmstudio", "llamacpp"])
async def test_tools_on_a_model_without_them_are_refused_before_any_call(server, behind, name):
    """Rule "provider-strict": what the server says of the model is believed, and nothing is sent."""
    server.on("/api/v1/models", listing({**GPT_4, "id": "gpt-test", "supported_parameters": ["max_tokens"]}))
    server.on("/v1/models", listing({"id": "gpt-test", "owned_by": name}))
    server.on("/api/v0/models", listing({"id": "gpt-test", "capabilities": []}))
    server.on("/props", as_json({"chat_template_caps": {"supports_tools": False}}))
    with pytest.raises(ProviderCapabilityError, match=f"{name}:gpt-test does not support tool calls"):
        await behind(name).complete(tools())
    assert not [seen for seen in server.seen if seen.method == "POST"]


# --- cost --------------------------------------------------------------------------------------------------------


def usage_chunk(usage):
    return {"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": usage}


@pytest.mark.parametrize(
    ("usage", "pricing", "cost"),
    [
        (ACCOUNTED, GPT_4["pricing"], 0.95),  # what the provider says wins over its prices
        ({**ACCOUNTED, "cost": None}, GPT_4["pricing"], 194 * 0.00003 + 2 * 0.00006),
        ({**ACCOUNTED, "cost": "0.5"}, GPT_4["pricing"], 0.5),
        ({**ACCOUNTED, "cost": 0}, GPT_4["pricing"], 0.0),  # said to be nothing: known
        ({**ACCOUNTED, "cost": -1}, GPT_4["pricing"], 194 * 0.00003 + 2 * 0.00006),
        ({**ACCOUNTED, "cost": True}, None, None),
        ({**ACCOUNTED, "cost": "NaN"}, None, None),
        (
            {"prompt_tokens": 10, "completion_tokens": 1},
            {"prompt": "0", "completion": "0"},
            0.0,
        ),  # free: known
        ({"prompt_tokens": 10, "completion_tokens": 1}, {"prompt": "-1", "completion": "-1"}, None),
        ({"prompt_tokens": 10, "completion_tokens": 1}, {"prompt": "0.1"}, None),
        ({"prompt_tokens": 10, "completion_tokens": 1}, None, None),
        (None, GPT_4["pricing"], None),  # nothing was counted, so nothing is known
    ],
)
async def test_what_a_call_cost(server, behind, usage, pricing, cost):
    """As the provider says it, else by its prices, else unknown: None, and never 0."""
    server.on("/api/v1/models", listing({**GPT_4, "pricing": pricing}))
    chunks = [usage_chunk(usage)] if usage else []
    server.on("/api/v1/chat/completions", sse(delta(content="Hi"), delta("stop"), *chunks))
    found = (await behind("openrouter", "openai/gpt-4").complete(HI)).usage.cost
    assert found == (None if cost is None else pytest.approx(cost))


async def test_a_server_without_prices_leaves_the_cost_unknown(server, behind):
    """A local one too: nobody said that it costs nothing."""
    server.on("/v1/models", listing({"id": "gpt-test"}))
    server.on(
        CHAT,
        sse(delta(content="Hi"), delta("stop"), usage_chunk({"prompt_tokens": 5, "completion_tokens": 1})),
    )
    assert (await behind("vllm").complete(HI)).usage.cost is None


async def test_a_call_with_tools_has_its_cost(server, behind):
    """A calling answer is paid for like any other."""
    server.on("/api/v1/models", listing(GPT_4))
    answer = sse(call("{}", call_id="c", name="get_weather"), delta("tool_calls"), usage_chunk(ACCOUNTED))
    server.on("/api/v1/chat/completions", answer)
    assert (await behind("openrouter", "openai/gpt-4").complete(tools())).usage.cost == 0.95


def test_cached_tokens_have_a_price_of_their_own():
    """Read from the cache: its price where one is listed, else that of the prompt; and a price for each question."""
    listed = {"prompt": "0.01", "completion": "0.1", "input_cache_read": "0.001", "request": "5"}
    usage = Usage(prompt_tokens=100, cached_tokens=90, output_tokens=2)
    assert read_prices(listed).cost(usage) == pytest.approx(10 * 0.01 + 90 * 0.001 + 2 * 0.1 + 5)
    assert Prices(0.01, 0.1, 0.01).cost(usage) == pytest.approx(1.2)
    assert Prices(0.01, 0.1, 0.0).cost(Usage(10, 90, 0)) == 0  # more cached than read is a slip, not a refund


@pytest.mark.parametrize("value", [None, True, "", "free", "inf", "-0.1", -1, [], {}, "1e999"])
def test_what_is_no_amount_is_unknown(value):
    """Never 0."""
    assert read_amount(value) is None


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ((None, None), None),
        ((0.25, None), 0.25),
        ((None, 0.25), 0.25),
        ((0.25, 0.5), 0.75),
        ((0.0, None), 0.0),
        ((), None),
    ],
)
def test_a_sum_of_usages_holds_what_is_known(parts, total):
    """Unknown and known make what is known; unknown alone stays unknown; nothing at all is unknown."""
    assert sum((Usage(1, cost=cost) for cost in parts), start=Usage()).cost == total


def test_usage_survives_the_journal():
    """With its cost, without it, and from a journal that was written before there was one."""
    for usage in (Usage(1, 2, 3, 4.0, 0.5), Usage(1, 2, 3, 4.0), Usage(cost=0.0)):
        assert Usage(**json.loads(json.dumps(usage.to_dict()))) == usage
    old = {"prompt_tokens": 1, "cached_tokens": 0, "output_tokens": 1, "seconds": 0.1}
    assert Usage(**old).cost is None
