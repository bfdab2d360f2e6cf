"""Gemini's form holds for any schema, any names and any history."""

from __future__ import annotations

import json

from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from surefoot.models.gemini_schema import names_of, schema_form
from surefoot.models.gemini_wire import GeminiNames, contents_of
from surefoot.models.outgoing import mend_history
from surefoot.models.types import Message, ToolCall

KEYWORDS = (
    "type", "properties", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const", "required", "format",
    "pattern", "minimum", "maxLength", "minItems", "additionalProperties", "prefixItems", "title", "default", "nullable",
    "description", "exclusiveMinimum", "uniqueItems",
)  # fmt: skip
WORDS = (*KEYWORDS, "string", "array", "object", "null", "integer", "#", "#/$defs/a", "#/properties/a", "a")

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=25,
)


@given(values)
def test_any_schema_has_a_form_that_is_published(schema):
    """Foreign tools send anything; nothing raises, and the SDK's strict types take every form."""
    form = schema_form(schema)
    types.Schema.model_validate_json(json.dumps(form))
    for one in _all(form):
        assert ("anyOf" in one) != ("type" in one)
        assert one.get("type") != "ARRAY" or "items" in one
        assert set(one.get("required", ())) <= set(one.get("properties", {}))
    assert "title" not in set(names_of(form))


def _all(form):
    yield form
    for inner in (
        *form.get("anyOf", ()),
        *form.get("properties", {}).values(),
        *filter(None, [form.get("items")]),
    ):
        yield from _all(inner)


@given(
    st.sets(
        st.text(min_size=1, max_size=70) | st.from_regex(r"_?[-0-9a-b._]{1,3}", fullmatch=True), max_size=12
    )
)
def test_no_two_names_fall_together(names):
    """There and back, whatever the names and their order."""
    mapped = GeminiNames(sorted(names))
    assert len({mapped.outward(name) for name in names}) == len(names)
    for name in names:
        outward = mapped.outward(name)
        assert mapped.inward(outward) == name
        assert outward.isascii()
        assert len(outward) <= 64
        assert outward[0].isalpha() or outward[0] == "_"
        assert GeminiNames(sorted(names, reverse=True)).outward(name) == outward


ids = st.sampled_from(["", "a", "b", "c"])
calls = st.lists(
    st.builds(ToolCall, ids, st.sampled_from(["x", "y"])), max_size=3, unique_by=lambda call: call.id
)
messages = st.lists(
    st.builds(
        Message, st.sampled_from(["user", "system", "tool"]), st.sampled_from(["", "text"]), st.just(()), ids
    )
    | st.builds(Message, st.just("assistant"), st.sampled_from(["", "text"]), calls.map(tuple)),
    max_size=8,
)


@given(messages)
def test_every_turn_of_calls_is_answered_whole_right_behind_it(history):
    """Gemini counts: as many results as calls, in the very next content, and no part is empty."""
    sent = mend_history([Message("user", "begin"), *history])
    contents = contents_of(sent, GeminiNames(["x", "y"]))
    types.Content.model_validate_json(json.dumps(contents[0]))
    for here, behind in zip(contents, [*contents[1:], {"parts": []}], strict=True):
        called = [part["functionCall"]["id"] for part in here["parts"] if "functionCall" in part]
        answered = [part["functionResponse"]["id"] for part in behind["parts"] if "functionResponse" in part]
        assert called == answered
        assert here["parts"]
        assert all(part.get("text", "x").strip() for part in here["parts"])
