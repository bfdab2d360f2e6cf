"""What holds for every text and every value: parsing never fails, and formatting then parsing changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import UnreadableInputError
from surefoot.models.types import ToolSpec
from surefoot.planning import placeholders, queries
from surefoot.planning.formats import format_outline, format_step
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.parse import MAX_CALL, parse_outline, parse_step
from surefoot.planning.values import fits, typed

TEXT = st.text(max_size=30) | st.sampled_from(
    [
        "what's new",
        'he said "hi"',
        "a, b) and (c",
        "</think>",
        "<b>x</b>",
        "<x from step 1>",
        "```",
        "\\",
        "\\n",
        "'",
        '"',
        "‘’",
        "«»",
        "null",
        "5",
        "[1]",
        "x\ny",
        "\x85\u2028",
        "query='x'",
        "- 1. (2) ",
        "<tool_call>",
        "{}",
        "、，",
        "１．",
        "a=b",
        "True",
        " ",
    ]
)
NAMES = st.sampled_from(["webSearch", "f", "f2", "a-b__c.d", "a-b__c", "answer", "stop"])

# A schema together with a strategy for the values it allows.
SCALARS = [
    ({"type": "string"}, TEXT),
    ({"type": "integer"}, st.integers()),
    ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False) | st.integers()),
    ({"type": "boolean"}, st.booleans()),
    ({"type": ["string", "null"]}, TEXT | st.none()),
    ({"type": ["integer", "string"]}, TEXT | st.integers()),
    ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, st.booleans() | st.none()),
    ({"enum": ["a", "B c", "d'e", 5, None]}, st.sampled_from(["a", "B c", "d'e", 5, None])),
    ({}, TEXT | st.integers() | st.booleans() | st.none() | st.lists(TEXT, max_size=2)),
]


@st.composite
def schema_and_value(draw: st.DrawFn, depth: int = 2) -> tuple[dict[str, Any], Any]:
    kind = draw(st.sampled_from(["scalar", "array", "object"] if depth else ["scalar"]))
    if kind == "scalar":
        schema, values = draw(st.sampled_from(SCALARS))
        return schema, draw(values)
    if kind == "array":
        schema, _ = draw(schema_and_value(depth - 1))
        items = [draw(st.sampled_from(SCALARS)) for _ in range(draw(st.integers(0, 3)))]
        if not items:
            return {"type": "array", "items": schema}, []
        schema, values = items[0]
        return {"type": "array", "items": schema}, [draw(values) for _ in items]
    members = draw(st.dictionaries(TEXT, schema_and_value(depth - 1), max_size=3))
    properties = {key: schema for key, (schema, _) in members.items()}
    return {"type": "object", "properties": properties}, {key: value for key, (_, value) in members.items()}


@st.composite
def tool_and_arguments(draw: st.DrawFn) -> tuple[ToolSpec, dict[str, Any]]:
    members = draw(
        st.dictionaries(TEXT | st.sampled_from(["query", "a b", "x-y"]), schema_and_value(), max_size=4)
    )
    properties = {key: schema for key, (schema, _) in members.items()}
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(draw(NAMES), "", parameters), {key: value for key, (_, value) in members.items()}


@given(tool_and_arguments(), st.sampled_from(["call", "keyword"]))
@settings(max_examples=300, deadline=None)
def test_format_then_parse_is_the_identity_for_every_value_a_schema_allows(drawn, spelling):
    """Whatever a schema allows comes back as the same values of the same types, in both spellings."""
    tool, arguments = drawn
    step = Step("", StepKind.TOOL, tool.name, arguments)
    text = format_step(Step("", StepKind.TOOL, tool.name, arguments, concrete=True), spelling)
    if len(text) > MAX_CALL:
        return
    outline = parse_outline(text, [tool, ToolSpec("other")])
    assert len(outline.steps) == 1
    found = outline.steps[0]
    assert (found.kind, found.tool) == (step.kind, step.tool)
    assert json.dumps(found.arguments) == json.dumps(arguments)
    stands_for_something, astray = placeholders.find(arguments, 1)
    assert found.concrete == (not stands_for_something and not astray)


@given(st.lists(tool_and_arguments(), min_size=1, max_size=5, unique_by=lambda drawn: drawn[0].name))
@settings(max_examples=100, deadline=None)
def test_format_then_parse_is_the_identity_for_outlines(drawn):
    """A whole outline comes back with the same calls in the same order, and formats to the same text again."""
    tools = [tool for tool, _ in drawn]
    outline = Outline(
        tuple(Step("", StepKind.TOOL, tool.name, arguments, concrete=True) for tool, arguments in drawn)
    )
    text = format_outline(outline)
    if max(len(line) for line in text.split("\n")) > MAX_CALL:
        return
    found = parse_outline(text, tools)
    assert json.dumps([(step.tool, step.arguments) for step in found.steps]) == json.dumps(
        [(step.tool, step.arguments) for step in outline.steps]
    )
    assert format_outline(found) == text


FRAGMENTS = st.sampled_from(
    [
        "webSearch",
        "query=",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "‘",
        "’",
        "“",
        "«",
        "」",
        ",",
        "、",
        ":",
        "=",
        "\n",
        " ",
        "<x from step 1>",
        "<think>",
        "</think>",
        "```",
        "```json\n",
        "1. ",
        "- [ ] ",
        "①",
        "\\",
        "\\u12",
        "None",
        "5",
        "3.5",
        "reply()",
        "Reply to the user.",
        "searchMemory ",
        '{"name": "f", "arguments": ',
        "<tool_call>",
        "**",
        "`",
        "\x00",
        "\ud7ff",
        "é",
        "日本",
        "\r\n",
        "f",
        "other",
    ]
)
ANY = st.text(max_size=200) | st.lists(FRAGMENTS | st.text(max_size=5), max_size=40).map("".join)
TOOLS = [
    ToolSpec(
        "webSearch",
        "",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    ),
    ToolSpec(
        "f",
        "",
        {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}, "y": {}}},
    ),
    ToolSpec("other"),
]


@given(ANY)
@settings(max_examples=500, deadline=None)
def test_any_text_parses_without_an_exception(text):
    """Any text gives an outline that keeps the limits, survives JSON and answers every question."""
    outline = parse_outline(text, TOOLS)
    assert len(queries.tool_steps(outline)) <= 5
    assert Outline.from_list(json.loads(json.dumps(outline.to_list()))) == outline
    for step in outline.steps:
        assert step.kind is StepKind.TOOL or not step.tool
        assert not (step.concrete and step.placeholders)
        assert len(step.text) <= (200 if step.kind in {StepKind.PROSE, StepKind.REPLY} else MAX_CALL)
    stripped = queries.strip_memory(outline)
    assert queries.strip_memory(stripped) == stripped
    assert queries.is_empty(outline) + queries.is_reply_only(outline) < 2
    assert queries.format_plan_block(outline) == "" or queries.format_plan_block(outline).startswith(
        "ACTION PLAN:"
    )
    queries.progress_nudge(outline, 1)
    assert parse_step(text, TOOLS).text == parse_step(text, TOOLS).text


@given(st.text(alphabet="(['\"<{a=\\", min_size=MAX_CALL, max_size=MAX_CALL + 50))
@settings(max_examples=20, deadline=None)
def test_long_calls_are_refused_with_a_reason(text):
    """The only refusal is that of a call too long to be one step."""
    line = f"f(y={text}"
    assert len(line) > MAX_CALL
    with pytest.raises(UnreadableInputError) as refused:
        parse_outline(line, TOOLS)
    assert refused.value.details["reason"] == "step_too_long"


@given(
    ANY,
    st.dictionaries(
        st.sampled_from(["<x from step 1>", "<y, from step 2>"]), st.none() | TEXT | st.integers()
    ),
)
@settings(max_examples=200, deadline=None)
def test_filling_changes_only_placeholders(text, found):
    """A text without the given placeholders stays as it is, and the value that is filled is never changed itself."""
    value = {"a": [text, {"b": text}], "c": 5}
    before = json.dumps(value)
    filled = placeholders.fill(value, found)
    assert json.dumps(value) == before
    if not any(mark in text for mark in found):
        assert filled == value


@given(schema_and_value())
@settings(max_examples=200, deadline=None)
def test_typing_leaves_fitting_values_alone(drawn):
    """A value that its schema allows is not changed by typing it."""
    schema, value = drawn
    assert fits(value, schema, schema)
    assert json.dumps(typed(value, schema, schema)) == json.dumps(value)
