"""Typing by JSON Schema: unions, references, decoding, and what fits."""

from __future__ import annotations

import pytest

from surefoot.planning.literals import Bare
from surefoot.planning.values import fits, resolved, type_of, typed, types_of

ROOT = {
    "$defs": {"Size": {"type": "integer"}, "a/b~c": {"type": "boolean"}, "Loop": {"$ref": "#/$defs/Loop"}}
}
LIST = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "number"}, {"number", "integer"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"integer", "null"}),
        ({"oneOf": [{"$ref": "#/$defs/Size"}, {"type": "string"}]}, {"integer", "string"}),
        ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
        ({"const": True}, {"boolean"}),
        ({"properties": {}}, {"object"}),
        ({"items": {}}, {"array"}),
        ({"$ref": "#/$defs/a~1b~0c"}, {"boolean"}),
    ],
)
def test_types_a_schema_allows(schema, types):
    """Type lists, unions, enums and local references."""
    assert types_of(schema, ROOT) == types


@pytest.mark.parametrize(
    "schema",
    [{}, True, {"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Missing"}, {"$ref": "#/$defs/Size/type/x"}],
)
def test_a_schema_that_says_nothing_allows_everything(schema):
    """Also one that refers to itself or to nowhere."""
    assert len(types_of(schema, ROOT)) == 7


def test_unions_nested_without_end_allow_everything():
    """A union that holds itself is not followed for ever."""
    loop = {}
    loop["anyOf"] = [loop]
    assert len(types_of(loop, loop)) == 7


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("12345", {"type": "string"}, "12345"),
        ('{"a":1}', {"type": "string"}, '{"a":1}'),
        ('{"a":"1"}', {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        ("['1', 2]", LIST, [1, 2]),
        ("[1] and", LIST, "[1] and"),
        ("[1", LIST, "[1"),
        ("false", {"type": "boolean"}, False),
        ("None", {"type": ["integer", "null"]}, None),
        (Bare("5"), {"type": ["string", "integer"]}, 5),
        ("5", {"type": ["string", "integer"]}, "5"),
        (Bare("x"), {"type": "integer"}, "x"),
        (Bare("true"), {"type": "integer"}, True),
        (Bare("5.0"), {"type": "integer"}, 5),
        (5.0, {"type": "integer"}, 5),
        (5.5, {"type": "integer"}, 5.5),
        ([Bare("1")], {"type": "string"}, [1]),
        ({"a": Bare("1")}, {"type": "string"}, {"a": 1}),
        ([Bare("1")], {"anyOf": [LIST, {"type": "null"}]}, [1]),
        ([Bare("1")], {"anyOf": [LIST, {"type": "array", "items": {"type": "string"}}]}, [1]),
        ({"k": Bare("7")}, {"type": "object", "additionalProperties": {"type": "string"}}, {"k": "7"}),
        (Bare("5"), {"$ref": "#/$defs/Size"}, 5),
    ],
)
def test_values_take_the_type_their_schema_asks_for(value, schema, expected):
    """JSON sent as text is decoded where no text is allowed; text that looks like JSON stays text."""
    found = typed(value, schema, ROOT)
    assert found == expected
    assert type_of(found) == type_of(expected)
    assert not isinstance(found, Bare)


@pytest.mark.parametrize(
    ("value", "schema", "fit"),
    [
        (5, {"type": "number"}, True),
        (True, {"type": "integer"}, False),
        ("OPEN", {"enum": ["open"]}, True),
        ("shut", {"enum": ["open"]}, False),
        (2, {"enum": [1, 2]}, True),
        ("a", {"const": "a"}, True),
        ([1, "x"], LIST, False),
        ({"a": 1}, {"type": "object", "properties": {"a": LIST}}, False),
        ({"b": 1}, {"type": "object", "properties": {"a": LIST}, "required": ["a"]}, False),
        ({"b": 1}, {"type": "object", "properties": {"a": LIST}}, True),
        (None, {"anyOf": [LIST, {"type": "null"}]}, True),
        (["x"], {"anyOf": [LIST, {"type": "null"}]}, False),
        (object(), {}, False),
    ],
)
def test_what_fits_a_schema(value, schema, fit):
    """Types all the way down, listed values without regard to case, required members."""
    assert fits(value, schema, ROOT) is fit


def test_references_out_of_the_schema_are_not_followed():
    """Only local references are known."""
    assert resolved({"$ref": "https://example.com/x"}, ROOT) == {"$ref": "https://example.com/x"}
