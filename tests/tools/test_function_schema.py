"""One definition makes schema and call: each tool's schema goes out in every provider's form and comes back the same.

A schema is checked against the published shapes, and a call made from it goes the whole way: our arguments, the
provider's wire, our arguments again, the tool's own reading of them.
"""

from __future__ import annotations

import json
import string
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import openai_wire as openai
from models.servers import LoopbackServer, as_json, client_for, ndjson, sse
from surefoot import tool
from surefoot.models.names import ToolNames
from surefoot.models.ollama import OllamaModel
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.outgoing import tool_json
from surefoot.models.types import REQUIRED, LanguageModel, Message, Request, ToolSpec
from surefoot.tools import Catalogue, Tool, kits, prepare

OPENAI_TOOL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["type", "function"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                "description": {"type": "string", "maxLength": 1024},
                "parameters": {
                    "type": "object",
                    "required": ["type", "properties"],
                    "properties": {
                        "type": {"const": "object"},
                        "properties": {"type": "object", "maxProperties": 100},
                        "required": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                    },
                },
                "strict": {"type": ["boolean", "null"]},
            },
        },
    },
}
"""`ChatCompletionTool` with its `FunctionObject` and `FunctionParameters`, as OpenAI's OpenAPI description publishes them
(github.com/openai/openai-openapi; the pattern is its sentence "a-z, A-Z, 0-9, underscores and dashes, at most 64"). The
object at the top and the sizes are from its guides to function calling and structured outputs."""

OLLAMA_TOOL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["type", "function"],
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name", "description", "parameters"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "description": {"type": "string"},
                "parameters": {
                    "type": "object",
                    "required": ["type", "properties"],
                    "properties": {
                        "type": {"const": "object"},
                        "required": {"type": "array", "items": {"type": "string"}},
                        "properties": {
                            "type": "object",
                            "additionalProperties": {"$ref": "#/$defs/property"},
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "property": {
            "type": "object",
            "properties": {
                "type": {"type": ["string", "array"], "items": {"type": "string"}},
                "description": {"type": "string"},
                "enum": {"type": "array"},
                "anyOf": {"type": "array", "items": {"$ref": "#/$defs/property"}},
                "properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/property"}},
            },
        }
    },
}
"""What Ollama's server decodes a tool into: `Tool`, `ToolFunction`, `ToolFunctionParameters` and `ToolProperty` of its
api/types.go (github.com/ollama/ollama). A field of another type there fails the whole request."""


@tool(effect="read")
def everything(
    text: str,
    number: float = 1.5,
    count: int | None = None,
    flag: bool = False,
    many: list[str] | None = None,
    pairs: list[dict[str, int]] | None = None,
    title: str = "",
    type: str = "",  # noqa: A002 - names that are keywords of JSON Schema
) -> str:
    """Takes every kind of value, with "quotes" and ünïcode in its description."""
    return f"{text}{number}{count}{flag}{many}{pairs}{title}{type}"


TOOLS = [*kits.builtin(), everything]
NAMES = [one.name for one in TOOLS]


def spec(one: Tool) -> ToolSpec:
    return next(iter(Catalogue([one]).specs()))


# --- the published shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", TOOLS, ids=NAMES)
@pytest.mark.parametrize("shape", [OPENAI_TOOL, OLLAMA_TOOL], ids=["openai", "ollama"])
def test_each_tool_has_the_published_shape(one: Tool, shape: dict[str, Any]):
    """Rule "validates against the published function-schema shape": of each provider, and as JSON Schema itself."""
    sent = tool_json(spec(one), ToolNames([one.name]))
    jsonschema.Draft202012Validator(shape).validate(sent)
    jsonschema.Draft202012Validator.check_schema(sent["function"]["parameters"])


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "function", "function": {"name": "a.b", "parameters": {"type": "object", "properties": {}}}},
        {
            "type": "function",
            "function": {"name": "x" * 65, "parameters": {"type": "object", "properties": {}}},
        },
        {"type": "function", "function": {"name": "a", "parameters": {"type": "array", "properties": {}}}},
        {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "a", "effect": "read"}},
        {"name": "a"},
    ],
)
def test_the_shape_refuses_what_is_none(broken: dict[str, Any]):
    """The check above can fail."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(OPENAI_TOOL).validate(broken)


@pytest.mark.parametrize(
    "parameters", [{}, {"type": "object"}, {"type": "object", "additionalProperties": True}]
)
def test_a_tool_that_declares_no_properties_says_so(parameters: dict[str, Any]):
    """OpenAI refuses an object without `properties`, and tools from elsewhere have them; ours stays as it was."""
    given = ToolSpec("ping", "", parameters)
    sent = tool_json(given, ToolNames(["ping"]))
    jsonschema.Draft202012Validator(OPENAI_TOOL).validate(sent)
    assert sent["function"]["parameters"]["properties"] == {}
    assert "properties" not in given.parameters


def test_every_name_is_allowed_as_it_is():
    """Built-in tools need no mapping: what the model reads is what the journal says."""
    names = ToolNames(NAMES)
    assert [names.outward(name) for name in NAMES] == NAMES


# --- there and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", TOOLS, ids=NAMES)
def test_a_schema_that_went_out_reads_back_the_same(one: Tool):
    """Through JSON, as a catalogue of function schemas is read: name, description and parameters."""
    wire = json.loads(json.dumps(tool_json(spec(one), ToolNames([one.name]))))
    (back,) = Catalogue.from_function_schemas([wire])
    assert (back.name, back.description, back.parameters) == (one.name, one.description, one.parameters)
    assert spec(back) == spec(one)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer().running() as running:
        running.on("/v1/models", as_json(openai.MODELS))
        running.on("/api/show", as_json({"capabilities": ["completion", "tools"]}))
        yield running


@pytest.fixture(params=["openai", "ollama"])
async def model(request: pytest.FixtureRequest, server: LoopbackServer) -> AsyncIterator[LanguageModel]:
    kind = OpenAICompatibleModel if request.param == "openai" else OllamaModel
    opened = kind("gpt-test", client_for(server))
    yield opened
    await opened.close()


def answers_with(server: LoopbackServer, name: str, arguments: dict[str, Any]) -> None:
    """Both servers call this tool."""
    text = json.dumps(arguments, ensure_ascii=False)
    server.on(openai.CHAT, sse(openai.call(text, call_id="c", name=name), openai.delta("tool_calls")))
    call = {"function": {"name": name, "arguments": arguments}}
    server.on(
        "/api/chat", ndjson({"message": {"content": "", "tool_calls": [call]}, "done": False}, {"done": True})
    )


def filled(schema: dict[str, Any], *, optional: bool) -> Any:
    """A value that fits: of an object the required properties, or all of them."""
    if "enum" in schema:
        return schema["enum"][-1]
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], optional=optional)
    kind = schema.get("type")
    if kind == "object":
        wanted = schema.get("properties", {}) if optional else schema.get("required", ())
        return {name: filled(schema["properties"][name], optional=optional) for name in wanted}
    if kind == "array":
        return [filled(schema.get("items", {}), optional=optional)]
    return {"string": 'a "b" \\ ü\n', "integer": 3, "number": 0.5, "boolean": True}.get(str(kind), "x")


@pytest.mark.parametrize("optional", [False, True], ids=["required", "all"])
@pytest.mark.parametrize("one", TOOLS, ids=NAMES)
async def test_a_call_made_from_the_schema_goes_the_whole_way(
    server: LoopbackServer, model: LanguageModel, one: Tool, optional: bool
):
    """Rule "one definition makes schema and call": what fits the schema that was sent is what the tool reads."""
    arguments = filled(one.parameters, optional=optional)
    answers_with(server, one.name, arguments)
    request = Request((Message("user", "go"),), (spec(one),), tool_choice=REQUIRED)
    (call,) = (await model.complete(request)).tool_calls
    (sent,) = server.bodies(openai.CHAT if "openai" in model.name else "/api/chat")
    assert sent["tools"] == [tool_json(spec(one), ToolNames([one.name]))]
    assert (call.name, call.arguments) == (one.name, arguments)
    jsonschema.validate(call.arguments, sent["tools"][0]["function"]["parameters"])
    read, notices = prepare(one, call.arguments)
    assert read == arguments
    assert notices == []


async def test_the_whole_catalogue_in_one_request(server: LoopbackServer, model: LanguageModel):
    """All tools at once, in their order, each once."""
    answers_with(server, NAMES[-1], {"text": "x"})
    specs = tuple(Catalogue(TOOLS).specs())
    await model.complete(Request((Message("user", "go"),), specs, tool_choice=REQUIRED))
    (sent,) = server.bodies(openai.CHAT if "openai" in model.name else "/api/chat")
    assert [one["function"]["name"] for one in sent["tools"]] == NAMES


NAME = st.text(string.ascii_letters + string.digits + "._-/ üß日", min_size=1, max_size=80)
LEAF = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": ["string", "null"]},
        {"enum": ["a", "b"]},
        {"type": "boolean"},
    ]
)
SCHEMA = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=5), inner, max_size=3).map(
            lambda properties: {"type": "object", "properties": properties}
        ),
    ),
    max_leaves=5,
)
PARAMETERS = st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=8), SCHEMA, max_size=4).map(
    lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAME, PARAMETERS, min_size=1, max_size=5))
def test_any_tools_have_the_published_shape_and_come_back(made: dict[str, dict[str, Any]]):
    """Of the person's own, whatever they are called: allowed names, none two onto one, schemas unchanged."""
    specs = [ToolSpec(name, "Does it.", parameters) for name, parameters in made.items()]
    names = ToolNames(made)
    wire = json.loads(json.dumps([tool_json(one, names) for one in specs]))
    validator = jsonschema.Draft202012Validator(OPENAI_TOOL)
    for sent, one in zip(wire, specs, strict=True):
        validator.validate(sent)
        assert names.inward(sent["function"]["name"]) == one.name
        assert sent["function"]["parameters"] == one.parameters
    assert len({sent["function"]["name"] for sent in wire}) == len(specs)
