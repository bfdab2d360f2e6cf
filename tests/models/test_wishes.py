"""What a request wishes for and a server may not have: any JSON object, an effort of reasoning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.openai_wire import CHAT, HI, MODELS, WEATHER, delta
from models.servers import LoopbackServer, as_json, client_for, ndjson, sse
from surefoot.errors import ProviderRequestError
from surefoot.models.gemini_wire import config_of, names_for
from surefoot.models.ollama import OllamaModel
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.routes import built_in
from surefoot.models.types import Request

OK = sse(delta(content="{}"), delta("stop"))
OBJECT = replace(HI, json_object=True)
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/v1/models", as_json(MODELS))
        yield running


@pytest.fixture
async def behind(server):
    """Makes models behind a hosted route whose server stands here; they are closed at the end."""
    opened = []

    def make(name="openai", at=server):
        opened.append(OpenAICompatibleModel("gpt-test", client_for(at), route=built_in()[name]))
        return opened[-1]

    yield make
    for model in opened:
        await model.close()


def refusing(field):
    return as_json(
        {"error": {"message": f"Unknown parameter: '{field}'.", "param": field, "type": "invalid"}}, 400
    )


async def test_any_json_object_is_asked_for(server, behind):
    """In the form that OpenAI defined."""
    server.on(CHAT, OK)
    await behind().complete(OBJECT)
    assert server.bodies(CHAT)[0]["response_format"] == {"type": "json_object"}


async def test_nothing_is_asked_for_unless_it_is_wished(server, behind):
    """Neither a format nor an effort."""
    server.on(CHAT, OK)
    await behind().complete(HI)
    assert not {"response_format", "reasoning", "reasoning_effort"} & server.bodies(CHAT)[0].keys()


@pytest.mark.parametrize("more", [{"json_schema": SCHEMA}, {"tools": (WEATHER,)}, {"choices": ("a", "b")}])
async def test_what_binds_more_wins(server, behind, more):
    """A schema is no wish."""
    server.on(CHAT, sse(delta(content='{"answer": "a"}'), delta("stop")))
    await behind().complete(replace(OBJECT, **more))
    assert server.bodies(CHAT)[0].get("response_format") != {"type": "json_object"}


async def test_a_server_that_refuses_the_format_is_asked_without_it_from_then_on(server, behind):
    """It was a wish; the answer is read with care anyway."""
    server.on(CHAT, refusing("response_format"), OK)
    model = behind()
    await model.complete(OBJECT)
    await model.complete(OBJECT)
    assert ["response_format" in body for body in server.bodies(CHAT)] == [True, False, False]
    await model.complete(replace(HI, json_schema=SCHEMA))
    assert server.bodies(CHAT)[-1]["response_format"]["type"] == "json_schema"


async def test_a_refused_schema_is_never_left_out(server, behind):
    """What binds is not downgraded in silence."""
    server.on(CHAT, refusing("response_format"))
    with pytest.raises(ProviderRequestError):
        await behind().complete(replace(OBJECT, json_schema=SCHEMA))
    assert len(server.bodies(CHAT)) == 1


@pytest.mark.parametrize(
    ("route", "fields"),
    [
        ("openrouter", {"reasoning": {"effort": "low"}}),
        ("openai", {"reasoning_effort": "low"}),
        ("tinyhumans", {"reasoning_effort": "low"}),
        ("vllm", {"reasoning_effort": "low"}),
    ],
)
async def test_the_effort_travels_as_the_route_wants_it(server, behind, route, fields):
    """OpenRouter has a form of its own for all its models; the others have OpenAI's field."""
    server.on(CHAT, OK)
    await behind(route).complete(replace(HI, effort="low"))
    body = server.bodies(CHAT)[0]
    assert {key: body[key] for key in fields} == fields


@pytest.mark.parametrize(("route", "field"), [("openrouter", "reasoning"), ("openai", "reasoning_effort")])
async def test_a_model_that_does_not_reason_is_asked_without(server, behind, route, field):
    """After its refusal, from then on."""
    server.on(CHAT, refusing(field), OK)
    model = behind(route)
    await model.complete(replace(HI, effort="low"))
    assert [field in body for body in server.bodies(CHAT)] == [True, False]


async def test_what_a_list_says_a_model_does_not_take_is_never_sent(server, behind):
    """OpenRouter's `supported_parameters`."""
    with LoopbackServer().running() as listing:
        listing.on(
            "/v1/models", as_json({"data": [{"id": "gpt-test", "supported_parameters": ["max_tokens"]}]})
        )
        listing.on(CHAT, OK)
        await behind("openrouter", listing).complete(replace(OBJECT, effort="low"))
        assert not {"response_format", "reasoning", "temperature"} & listing.bodies(CHAT)[0].keys()


async def test_ollama_has_a_format_for_it():
    """`json`, where no schema is given."""
    with LoopbackServer().running() as ollama:
        ollama.on("/api/show", as_json({"capabilities": ["completion", "tools"], "model_info": {}}))
        done = {
            "model": "m",
            "message": {"role": "assistant", "content": "{}"},
            "done": True,
            "done_reason": "stop",
        }
        ollama.on("/api/chat", ndjson(done))
        model = OllamaModel("m", client_for(ollama))
        for request in (OBJECT, replace(OBJECT, json_schema=SCHEMA), HI):
            await model.complete(request)
        await model.close()
        assert [body.get("format") for body in ollama.bodies("/api/chat")] == ["json", SCHEMA, None]


@pytest.mark.parametrize(
    ("request_", "mime"),
    [(OBJECT, "application/json"), (HI, None), (replace(OBJECT, tools=(WEATHER,)), None)],
)
def test_gemini_has_a_type_for_it(request_: Request, mime):
    """Not beside tools, which it refuses."""
    config = config_of(request_, names_for(request_))
    assert config.get("responseMimeType") == mime
    assert "responseSchema" not in config
