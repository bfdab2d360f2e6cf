"""The OpenAI-compatible adapter: requests, what servers differ in, opening; against a loopback server."""

from __future__ import annotations

import json

import pytest

from models.openai_wire import CHAT, HI, MODELS, NOTE, WEATHER, call, delta, tools
from models.servers import LoopbackServer, as_json, client_for, sse
from surefoot.errors import (
    AddressRefusedError,
    ContextLengthError,
    ModelNotFoundError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderRequestError,
    ProviderUnavailableError,
)
from surefoot.models.openai_compatible import OpenAICompatibleModel, is_strict
from surefoot.models.routes import open_route
from surefoot.models.types import (
    NONE,
    REQUIRED,
    LanguageModel,
    Message,
    Request,
    ToolCall,
    ToolChoice,
)
from surefoot.redaction import redact
from surefoot.settings import Settings

PREFIX = Request((Message("system", "Be brief."),))


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/v1/models", as_json(MODELS))
        yield running


@pytest.fixture
async def model(server):
    opened = OpenAICompatibleModel("gpt-test", client_for(server))
    yield opened
    await opened.close()


# --- the request ---------------------------------------------------------------------------------------------


async def test_the_request_in_the_published_form(server, model):
    """Messages, limits, a stream with its usage; nothing that was not asked for."""
    server.on(CHAT, sse(delta(content="Hi"), delta("stop")))
    await model.complete(Request(HI.messages, max_tokens=9, temperature=0.2, stop=("END",)))
    assert server.bodies(CHAT) == [
        {
            "model": "gpt-test",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.2,
            "max_tokens": 9,
            "stop": ["END"],
        }
    ]


async def test_calls_and_results_of_the_history(server, model):
    """Arguments go out as JSON text, every result names its call, missing ids are made."""
    server.on(CHAT, sse(delta(content="ok"), delta("stop")))
    history = (
        Message("user", "go"),
        Message(
            "assistant",
            tool_calls=(ToolCall("c1", NOTE.name, {"t": "ü"}), ToolCall("", WEATHER.name, '{"city":"X"}')),
        ),
        Message("tool", "sunny", name=WEATHER.name),
        Message("tool", "done", tool_call_id="c1"),
        Message("assistant", "Both done.", (ToolCall("c3", WEATHER.name),)),
    )
    await model.complete(Request(history, (WEATHER, NOTE)))
    _, assistant, weather, note, third = server.bodies(CHAT)[0]["messages"]
    assert assistant["content"] is None
    assert assistant["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "notes_add", "arguments": '{"t": "ü"}'},
    }
    assert json.loads(assistant["tool_calls"][1]["function"]["arguments"]) == {"city": "X"}
    assert weather == {"role": "tool", "tool_call_id": assistant["tool_calls"][1]["id"], "content": "sunny"}
    assert note["tool_call_id"] == "c1"
    assert third["content"] == "Both done."


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, {}),
        ({"tool_choice": REQUIRED}, {"tool_choice": "required"}),
        ({"tool_choice": NONE}, {"tool_choice": "none"}),
        (
            {"tool_choice": ToolChoice("required", "notes.add")},
            {"tool_choice": {"type": "function", "function": {"name": "notes_add"}}},
        ),
        ({"max_calls": 1}, {"parallel_tool_calls": False}),
        ({"max_calls": 3}, {}),
    ],
)
async def test_tool_choice(server, model, options, fields):
    """Auto is left out, the others are sent as they are defined; the tools stay in the prompt."""
    server.on(CHAT, sse(call("{}", call_id="c", name="get_weather"), delta("tool_calls")))
    await model.complete(tools(**options))
    body = server.bodies(CHAT)[0]
    assert {key: body[key] for key in ("tool_choice", "parallel_tool_calls") if key in body} == fields
    assert [tool["function"]["name"] for tool in body["tools"]] == ["get_weather", "notes_add"]


async def test_only_narrows_the_tools(server, model):
    """Tools that may not be called are not sent."""
    server.on(CHAT, sse(delta(content="ok"), delta("stop")))
    await model.complete(tools(only=("notes.add",)))
    assert [tool["function"]["name"] for tool in server.bodies(CHAT)[0]["tools"]] == ["notes_add"]


async def test_a_schema_is_strict_where_it_can_be(server, model):
    """A closed schema is bound strictly; an open one as far as the server does."""
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    server.on(CHAT, sse(delta(content='{"a": "x"}'), delta("stop")))
    await model.complete(Request(HI.messages, json_schema=closed))
    await model.complete(Request(HI.messages, json_schema={"type": "object"}))
    await model.complete(Request(HI.messages, json_schema={"type": "string"}))
    forms = [body["response_format"] for body in server.bodies(CHAT)]
    assert forms[0] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": closed, "strict": True},
    }
    assert "strict" not in forms[1]["json_schema"]
    assert forms[2]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {}}}]}, False),
        ({"type": "array", "items": {"type": ["string", "null"]}}, True),
    ],
)
def test_which_schemas_are_strict(schema, strict):
    """Every object closed, every property required, also inside."""
    assert is_strict(schema) is strict


async def test_a_choice(server, model):
    """One of the texts, as an object outside and as text inside."""
    server.on(CHAT, sse(delta(content='{"answer": "yes"}'), delta("stop")))
    answer = await model.complete(Request(HI.messages, choices=("yes", "no")))
    assert answer.text == "yes"
    assert server.bodies(CHAT)[0]["response_format"]["json_schema"]["strict"] is True


# --- servers differ ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "field", "instead"),
    [
        ({"error": {"message": "Unknown field", "param": "stream_options"}}, "stream_options", {}),
        (
            {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]},
            "stream_options",
            {},
        ),
        (
            {
                "error": {
                    "message": "'max_tokens' is not supported. Use 'max_completion_tokens'.",
                    "param": "max_tokens",
                }
            },
            "max_tokens",
            {"max_completion_tokens": 512},
        ),
        ({"error": {"message": "Unsupported value: 'temperature' does not support 0"}}, "temperature", {}),
    ],
)
async def test_an_optional_field_that_is_refused_is_left_out_from_then_on(
    server, model, refusal, field, instead
):
    """The server is asked again at once, and never again with that field."""
    server.on(CHAT, as_json(refusal, 400), sse(delta(content="Hi"), delta("stop")))
    for _ in range(2):
        assert (await model.complete(HI)).text == "Hi"
    first, second, third = server.bodies(CHAT)
    assert field in first
    assert field not in second
    assert field not in third
    assert instead.items() <= second.items()


async def test_several_refused_fields_and_then_a_real_refusal(server, model):
    """Each optional field is given up once; what is refused then is refused."""
    server.on(
        CHAT,
        as_json({"error": {"message": "no stream_options"}}, 400),
        as_json({"error": {"message": "no temperature"}}, 400),
        as_json({"error": {"message": "no temperature, really"}}, 400),
    )
    with pytest.raises(ProviderRequestError, match="really"):
        await model.complete(HI)
    assert len(server.bodies(CHAT)) == 3


async def test_a_refusal_inside_a_stream_that_was_begun_is_final(server, model):
    """A piece is out, so nothing is asked again."""
    server.on(CHAT, sse(delta(content="Hi"), {"error": {"code": 400, "message": "temperature"}}))
    stream = model.stream(HI)
    assert [(await anext(stream)).text] == ["Hi"]
    with pytest.raises(ProviderRequestError):
        await anext(stream)
    assert len(server.bodies(CHAT)) == 1


async def test_a_model_that_is_not_there_lists_what_is(server, model):
    """The same help as with other providers."""
    server.on(
        CHAT,
        as_json({"error": {"message": "The model `gpt-9` does not exist", "code": "model_not_found"}}, 404),
    )
    with pytest.raises(ModelNotFoundError, match=r'has no model "gpt-test"\. It has: gpt-test\.'):
        await model.complete(HI)


async def test_a_missing_model_on_a_server_that_lists_nothing(server, model):
    """Without a list the server's own words are kept."""
    await model.capabilities()
    server._answers["/v1/models"].clear()
    server.on(CHAT, as_json({"error": {"message": "no such model: gpt-test"}}, 404))
    with pytest.raises(ModelNotFoundError, match="no such model"):
        await model.complete(HI)
    server.on("/v1/models", as_json({"data": []}))
    with pytest.raises(ModelNotFoundError, match="It lists no models"):
        await model.complete(HI)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, (True, True, 0, "schema")),
        ({"max_model_len": 32768}, (True, True, 32768, "schema")),
        (
            {"context_length": 200000, "supported_parameters": ["tools", "structured_outputs"]},
            (True, True, 200000, "schema"),
        ),
        ({"context_length": 8192, "supported_parameters": ["temperature"]}, (False, False, 8192, "text")),
        (
            {"context_length": 8192, "supported_parameters": ["tools", "response_format"]},
            (True, False, 8192, "text"),
        ),
        ({"context_length": True, "max_model_len": 0}, (True, True, 0, "schema")),
    ],
)
async def test_capabilities_come_from_the_model_list(server, model, entry, expected):
    """OpenRouter's parameters, vLLM's length; where nothing is said the form itself holds."""
    server._answers["/v1/models"].clear()
    server.on("/v1/models", as_json({"data": [{"id": "other"}, {"id": "gpt-test", **entry}]}))
    found = await model.capabilities()
    assert (found.tools, found.json_schema, found.context_length, found.encoding) == expected
    assert found.grammar is False
    assert isinstance(model, LanguageModel)
    assert await model.models() == ["other", "gpt-test"]


async def test_a_model_that_takes_no_tools_is_refused_before_any_call(server, model):
    """Provider-strict, from what the list says."""
    server._answers["/v1/models"].clear()
    server.on("/v1/models", as_json({"data": [{"id": "gpt-test", "supported_parameters": []}]}))
    with pytest.raises(ProviderCapabilityError):
        await model.complete(tools())
    assert server.bodies(CHAT) == []


@pytest.mark.parametrize(
    "listed", [as_json({"error": "nothing here"}, 404), as_json("odd"), as_json({"data": "odd"})]
)
async def test_a_server_without_a_list_is_taken_at_its_word(server, model, listed):
    """Many gateways have no list; the form they speak defines what they take."""
    server._answers["/v1/models"].clear()
    server.on("/v1/models", listed)
    assert (await model.capabilities()).tools is True


async def test_a_refused_key_shows_when_asking_what_there_is(server, model):
    """The key is the person's to mend, before any question is sent."""
    server._answers["/v1/models"].clear()
    server.on("/v1/models", as_json({"error": {"message": "Incorrect API key"}}, 401))
    with pytest.raises(ProviderAuthError):
        await model.complete(HI)
    assert server.bodies(CHAT) == []


async def test_a_key_that_may_ask_and_not_list(server, model):
    """A restricted key is a good key: without the list the form itself holds."""
    server._answers["/v1/models"].clear()
    server.on(
        "/v1/models",
        as_json(
            {"error": {"message": "You have insufficient permissions. Missing scopes: api.model.read"}}, 403
        ),
    )
    server.on(CHAT, sse(delta(content="Hi"), delta("stop")))
    assert (await model.complete(HI)).text == "Hi"


async def test_llama_cpp_server_takes_grammars_and_says_its_context(server, model):
    """Its list says llamacpp, its properties the context it runs with; the model's name there may be any."""
    server._answers["/v1/models"].clear()
    server.on(
        "/v1/models",
        as_json({"data": [{"id": "/models/q.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]}),
    )
    server.on("/props", as_json({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}))
    server.on(CHAT, sse(delta(content="a"), delta("stop")))
    found = await model.capabilities()
    assert (found.grammar, found.context_length) == (True, 4096)
    await model.complete(Request(HI.messages, grammar='root ::= "a"'))
    assert server.bodies(CHAT)[0]["grammar"] == 'root ::= "a"'
    with pytest.raises(ContextLengthError, match="4096"):
        await model.complete(Request((Message("user", "some words " * 4000),)))


@pytest.mark.parametrize("props", [as_json({"error": "not here"}, 404), as_json({}), as_json([])])
async def test_llama_cpp_server_that_hides_its_properties(server, model, props):
    """An unknown context is 0, and refuses nothing."""
    server._answers["/v1/models"].clear()
    server.on("/v1/models", as_json({"data": [{"id": "gpt-test", "owned_by": "llamacpp"}]}))
    server.on("/props", props)
    assert (await model.capabilities()).context_length == 0


async def test_warming_asks_nothing(server, model):
    """A hosted model would charge for it."""
    await model.warm(PREFIX, "key")
    assert server.seen == []


# --- opening -------------------------------------------------------------------------------------------------


async def test_opening_sends_the_key_and_keeps_it_out_of_sight(server, monkeypatch):
    """The key named in the settings is sent, and masked wherever it comes back."""
    monkeypatch.setenv("MY_KEY", "sk-open-5566778899")
    model = open_route(
        "openai", "gpt-test", Settings(openai_url=f"{server.url}/v1/", openai_key_name="MY_KEY")
    )
    server.on(CHAT, as_json({"error": {"message": "Incorrect API key provided: sk-open-5566778899"}}, 401))
    with pytest.raises(ProviderAuthError) as caught:
        await model.complete(HI)
    await model.close()
    assert {seen.headers["authorization"] for seen in server.seen} == {"Bearer sk-open-5566778899"}
    assert "5566778899" not in json.dumps(caught.value.to_dict())
    assert "5566778899" not in repr(vars(model)) + repr(vars(model._client))
    assert redact("sk-open-5566778899") == "[secret]"


async def test_a_server_on_this_machine_needs_no_key(server):
    """Without a key none is sent; loopback counts as local; a base URL without /v1 is taken as it is."""
    server.on("/chat/completions", sse(delta(content="Hi"), delta("stop")))
    model = open_route("openai", "gpt-test", Settings(openai_url=server.url, local_timeout_sec=55))
    assert (await model.complete(HI)).text == "Hi"
    assert (await model.capabilities()).local is True
    assert model._default_seconds == 55
    assert all("authorization" not in seen.headers for seen in server.seen)
    await model.close()


def test_a_hosted_server_needs_its_key():
    """It is missed when the model is opened, not when the first question is lost."""
    with pytest.raises(ProviderAuthError, match="none named OPENAI_API_KEY"):
        open_route("openai", "gpt-test", Settings(openai_url="https://api.example.com/v1"))


async def test_offline_refuses_a_hosted_server(monkeypatch):
    """`offline` holds for models too."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-offline-1234")
    model = open_route("openai", "gpt-test", Settings(openai_url="http://8.8.8.8:8000/v1", offline=True))
    with pytest.raises(AddressRefusedError, match="`offline` is set"):
        await model.complete(HI)


async def test_it_is_unavailable_when_nobody_listens(server):
    """The person hears which server."""
    from models.servers import free_port

    model = open_route("openai", "gpt-test", Settings(openai_url=f"http://127.0.0.1:{free_port()}/v1"))
    with pytest.raises(
        ProviderUnavailableError, match=r"The server at http://127\.0\.0\.1:\d+/v1 cannot be reached"
    ):
        await model.complete(HI)
