"""For any schema: the grammar is one, in our reading and in llama.cpp's, and all its sentences fit the schema."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from models.gbnf import Grammar
from models.tiny import tiny_model
from surefoot.errors import OutputCutError
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.grammar import calls_grammar, lines_grammar, schema_grammar
from surefoot.models.local import LocalModel
from surefoot.models.types import REQUIRED, Message, Request, ToolSpec

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


def ranged(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    low = st.integers(-50, 50)
    return st.builds(
        lambda at, wide: {"type": kind, "minimum": at, "maximum": at + wide}, low, st.integers(0, 60)
    )


SIMPLE = st.one_of(
    st.sampled_from(
        [
            {},
            {"type": "boolean"},
            {"type": "null"},
            {"type": "number"},
            {"type": "integer"},
            {"type": "string"},
        ]
    ),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 4),
        st.integers(0, 9),
    ),
    st.sampled_from([{"type": "integer", "minimum": 0}, {"type": "integer", "exclusiveMinimum": 0}]),
    ranged("integer"),
    st.lists(VALUES, min_size=1, max_size=4).map(lambda values: {"enum": values}),
    VALUES.map(lambda value: {"const": value}),
    st.just({"type": ["string", "null"]}),
)


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def made(properties: dict[str, Any], must: list[bool]) -> dict[str, Any]:
        required = [key for key, wanted in zip(properties, must, strict=False) if wanted]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    return st.builds(
        made, st.dictionaries(NAMES, inner, max_size=4), st.lists(st.booleans(), min_size=4, max_size=4)
    )


def arrays(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def made(items: dict[str, Any], low: int, more: int) -> dict[str, Any]:
        return {"type": "array", "items": items, "minItems": low, "maxItems": low + more}

    return st.builds(made, inner, st.integers(0, 3), st.integers(0, 3))


SCHEMAS = st.recursive(
    SIMPLE,
    lambda inner: (
        objects(inner)
        | arrays(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts})
    ),
    max_leaves=8,
)
TOOLS = st.lists(
    st.builds(lambda name, parameters: ToolSpec(name, "", parameters), NAMES, objects(SCHEMAS)),
    min_size=1,
    max_size=4,
    unique_by=lambda tool: tool.name,
)


@settings(deadline=None, max_examples=60)
@given(SCHEMAS, st.randoms(use_true_random=False))
def test_every_sentence_of_a_schema_fits_it(schema: dict[str, Any], rng: random.Random) -> None:
    """What the grammar can write is JSON that the schema accepts."""
    grammar = Grammar.parse(schema_grammar(schema))
    assert grammar.used() <= set(grammar.rules)
    for _ in range(5):
        sentence = grammar.sentence(rng)
        jsonschema.validate(json.loads(sentence), schema)


@settings(deadline=None, max_examples=60)
@given(TOOLS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_every_sentence_of_tools_is_read_back_as_allowed_calls(
    tools: list[ToolSpec], most: int, rng: random.Random
) -> None:
    """The family's own reader finds at most as many calls as allowed, each of a known tool with arguments that fit."""
    grammar = Grammar.parse(calls_grammar(tools, form=FAMILY.form, choice=REQUIRED, max_calls=most))
    schemas = {tool.name: tool.parameters for tool in tools}
    reading = FAMILY.read(grammar.sentence(rng))
    assert 1 <= len(reading.calls) <= most
    for call in reading.calls:
        jsonschema.validate(call.arguments, schemas[call.name])


@settings(deadline=None, max_examples=60)
@given(TOOLS, st.randoms(use_true_random=False))
def test_call_lines_name_their_tools(tools: list[ToolSpec], rng: random.Random) -> None:
    """Every sentence of call lines begins with a known name, or is the reply."""
    sentence = Grammar.parse(lines_grammar(tools, placeholders=True)).sentence(rng)
    assert sentence.endswith("reply()")
    assert sentence == "reply()" or any(sentence.startswith(tool.name + "(") for tool in tools)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    opened = tiny_model(tmp_path_factory.mktemp("tiny"))
    yield opened
    asyncio.run(opened.close())


@settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(TOOLS, st.booleans())
def test_llama_cpp_reads_the_grammar_and_keeps_to_it(
    model: LocalModel, tools: list[ToolSpec], holders: bool
) -> None:
    """The real sampler takes any such grammar, and a model that knows nothing still writes allowed calls."""
    request = Request(
        (Message("user", "go"),),
        tools=tuple(tools),
        tool_choice=REQUIRED,
        placeholders=holders,
        temperature=1.0,
        max_tokens=400,
    )
    try:
        completion = asyncio.run(model.complete(request))
    except OutputCutError:
        return  # a random model rarely finds an end to a text
    assert completion.tool_calls
    for call in completion.tool_calls:
        schema = next(tool.parameters for tool in tools if tool.name == call.name)
        # A model of noise writes half signs; the sampler counts one where the decoder makes up to four of it, so such a
        # text may seem longer than its limit.
        whole = "\ufffd" not in json.dumps(call.arguments, ensure_ascii=False)
        if not holders and whole:
            jsonschema.validate(call.arguments, schema)
