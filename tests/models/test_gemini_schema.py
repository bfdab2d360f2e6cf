"""JSON Schema in Gemini's form: what it refuses is rewritten, what a tool means stays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import jsonschema
import pytest
from google.genai import types

from surefoot.models.gemini_schema import MAX_NODES, names_of, parameters_form, schema_form
from surefoot.models.gemini_wire import declaration, names_for
from surefoot.models.types import Message, Request, ToolSpec
from surefoot.tools import Catalogue, tool
from surefoot.tools.kits import builtin

PUBLISHED = frozenset({
    "type", "format", "description", "nullable", "enum", "items", "maxItems", "minItems", "properties", "required",
    "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "minimum", "maximum",
})  # fmt: skip
"""The fields of `Schema` in Google's reference that a form may use."""

ANY = {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}


@dataclass
class Point:
    x: float
    y: float = 0.0


def accepted(form):
    """The form is one the published message takes, by the SDK's own strict types."""
    types.Schema.model_validate_json(json.dumps(form))
    assert set(names_of(form)) <= PUBLISHED
    return form


def back(form: dict) -> dict:
    """A form as plain JSON Schema again."""
    if "anyOf" in form:
        return {"anyOf": [back(one) for one in form["anyOf"]]}
    found = {
        key: value for key, value in form.items() if key not in {"type", "nullable", "items", "properties"}
    }
    found["type"] = form["type"].lower()
    if "properties" in form:
        found["properties"] = {name: back(one) for name, one in form["properties"].items()}
    if "items" in form:
        found["items"] = back(form["items"])
    return {"anyOf": [found, {"type": "null"}]} if form.get("nullable") else found


# --- each thing Gemini refuses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        # additionalProperties
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
         {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}),
        ({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}},
         {"type": "ARRAY", "items": {"type": "OBJECT"}}),
        ({"additionalProperties": True}, {"type": "OBJECT"}),
        # lists of types
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["null", "array"], "items": {"type": ["integer", "null"]}},
         {"type": "ARRAY", "items": {"type": "INTEGER", "nullable": True}, "nullable": True}),
        ({"type": ["string", "integer"], "description": "Id"},
         {"anyOf": [{"type": "STRING", "description": "Id"}, {"type": "INTEGER"}]}),
        ({"type": ["string", "integer", "null"]},
         {"anyOf": [{"type": "STRING", "nullable": True}, {"type": "INTEGER", "nullable": True}]}),
        ({"type": "null"}, {"type": "NULL"}),
        ({"type": ["null"]}, {"type": "NULL"}),
        ({"type": "any"}, ANY),
        # arrays without items
        ({"type": "array"}, {"type": "ARRAY", "items": ANY}),
        ({"type": "array", "items": True}, {"type": "ARRAY", "items": ANY}),
        ({"type": "array", "items": {}}, {"type": "ARRAY", "items": ANY}),
        ({"type": "array", "items": {"type": "array"}}, {"type": "ARRAY", "items": {"type": "ARRAY", "items": ANY}}),
        ({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "items": False},
         {"type": "ARRAY", "items": {"type": "NUMBER"}, "minItems": 2}),
        ({"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
         {"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "STRING"}]}}),
        # const and enum
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"enum": ["a", None, ""]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"type": "string", "enum": [""]}, {"type": "STRING"}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER", "description": "One of: 1, 2."}),
        ({"const": 5}, {"type": "INTEGER", "description": "One of: 5."}),
        ({"const": None}, {"type": "NULL"}),
        ({"enum": [True]}, {"type": "BOOLEAN", "description": "One of: true."}),
        # unions
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "A", "description": "Why"},
         {"type": "STRING", "nullable": True, "description": "Why"}),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]},
         {"anyOf": [{"type": "STRING", "enum": ["a"]}, {"type": "STRING", "enum": ["b"]}]}),
        ({"anyOf": [{"type": "null"}]}, {"type": "NULL"}),
        ({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "string"}]},
         {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        ({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "integer"}}, "required": ["b"]}, True], "description": "Both"},
         {"type": "OBJECT", "description": "Both",
          "properties": {"a": {"type": "STRING"}, "b": {"type": "INTEGER"}}, "required": ["a", "b"]}),
        # names without a property, an empty object
        ({"type": "object", "required": ["gone"]}, {"type": "OBJECT"}),
        ({"type": "object", "properties": {}, "required": ["gone"]}, {"type": "OBJECT"}),
        ({"properties": {"a": {"type": "string"}, "never": False}, "required": ["a", "a", "never", "b"]},
         {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]}),
        # limits and formats
        ({"type": "string", "format": "date-time", "minLength": 1, "maxLength": 9.0, "pattern": "^a+$"},
         {"type": "STRING", "format": "date-time", "minLength": 1, "maxLength": 9, "pattern": "^a+$"}),
        ({"type": "string", "format": "uri", "description": "Where"},
         {"type": "STRING", "description": "Where Format: uri."}),
        ({"pattern": "^(?=a)b"}, {"type": "STRING", "description": "Matches ^(?=a)b"}),
        ({"pattern": r"(a)\1"}, {"type": "STRING", "description": r"Matches (a)\1"}),
        ({"pattern": "(?:a|b)"}, {"type": "STRING", "pattern": "(?:a|b)"}),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "multipleOf": 3, "format": "int64"},
         {"type": "INTEGER", "maximum": 9, "format": "int64", "description": "A multiple of 3. More than 0."}),
        ({"maximum": 1.5}, {"type": "NUMBER", "maximum": 1.5}),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 5},
         {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": 5, "description": "No item twice."}),
        ({"type": "string", "minLength": "3", "maxLength": True}, {"type": "STRING"}),
        ({"type": "integer", "default": 5}, {"type": "INTEGER", "description": "Default: 5."}),
        # what says nothing
        ({}, ANY),
        ({"description": "Anything"},
         {"anyOf": [{"type": "STRING", "description": "Anything"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}),
        (True, ANY),
        (None, ANY),
        ({"type": "string", "nullable": True, "examples": ["x"], "$comment": "c", "deprecated": True, "not": {}},
         {"type": "STRING", "nullable": True}),
    ],
)  # fmt: skip
def test_what_gemini_refuses_is_rewritten(schema, form):
    """Fault kind "Gemini schemas", one by one; and the same nested in an object, an array and a union."""
    assert accepted(schema_form(schema)) == form
    nested = schema_form({"type": "object", "properties": {"in": {"type": "array", "items": schema}}})
    assert accepted(nested)["properties"]["in"]["items"] == form
    if isinstance(schema, dict) and "anyOf" not in form and form["type"] != "NULL":
        union = schema_form({"anyOf": [{"type": "boolean", "description": "x"}, schema]})
        assert form in accepted(union).get("anyOf", [union]) or form.get("nullable")


@pytest.mark.parametrize(
    "name",
    ["title", "type", "description", "properties", "required", "enum", "items", "default", "$ref", "anyOf", "format",
     "nullable", "additionalProperties"],
)  # fmt: skip
def test_a_parameter_named_like_a_keyword_stays(name):
    """Fault kind "Gemini schemas": `title` the parameter is none of the titles that are left out."""
    schema = {
        "type": "object",
        "title": "Tool",
        "properties": {
            name: {"type": "string", "title": "T"},
            "x": {"type": "object", "properties": {name: {}}},
        },
        "required": [name],
    }
    form = accepted(parameters_form(schema))
    assert form["properties"][name] == {"type": "STRING"}
    assert form["properties"]["x"]["properties"] == {name: ANY}
    assert form["required"] == [name]
    assert "title" not in form


# --- references ----------------------------------------------------------------------------------------------


def test_references_are_written_out():
    """`$ref` with `$defs`, `definitions`, a path with escapes, and words of its own beside it."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/Point"},
            "b": {"$ref": "#/definitions/odd~1name", "description": "Mine"},
            "c": {"$ref": "#/$defs/two%20words"},
            "d": {"$ref": "#/properties/list/prefixItems/1"},
            "list": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "far": {"$ref": "https://example.com/schema.json"},
            "gone": {"$ref": "#/$defs/none"},
            "out": {"$ref": "#/properties/list/prefixItems/7"},
        },
        "$defs": {
            "Point": {
                "type": "object",
                "properties": {"x": {"$ref": "#/$defs/two words"}},
                "required": ["x"],
            },
            "two words": {"type": "number", "description": "A number"},
        },
        "definitions": {"odd/name": {"type": "string", "description": "Theirs"}},
    }
    form = accepted(parameters_form(schema))["properties"]
    number = {"type": "NUMBER", "description": "A number"}
    assert form["a"] == {"type": "OBJECT", "properties": {"x": number}, "required": ["x"]}
    assert form["b"] == {"type": "STRING", "description": "Mine"}
    assert form["c"] == number
    assert form["d"] == {"type": "INTEGER"}
    assert form["far"] == form["gone"] == form["out"] == ANY


def test_what_holds_itself_ends():
    """A tree, two that hold each other, and a reference to itself."""
    tree = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            },
            "self": {"$ref": "#/$defs/self"},
            "a": {"allOf": [{"$ref": "#/$defs/b"}]},
            "b": {"allOf": [{"$ref": "#/$defs/a"}]},
        },
    }
    form = accepted(schema_form(tree))
    assert form["properties"]["children"] == {"type": "ARRAY", "items": {"type": "OBJECT"}}
    for name in ("self", "a"):
        assert schema_form({"$ref": f"#/$defs/{name}", "$defs": tree["$defs"]}) == ANY


def test_what_multiplies_is_cut():
    """Thirty definitions, each naming the next twice, are a thousand million nodes."""
    definitions = {
        f"d{n}": {
            "type": "object",
            "properties": {"l": {"$ref": f"#/$defs/d{n + 1}"}, "r": {"$ref": f"#/$defs/d{n + 1}"}},
        }
        for n in range(30)
    }
    form = accepted(schema_form({"$ref": "#/$defs/d0", "$defs": definitions}))
    assert len(list(names_of(form))) < 10 * MAX_NODES
    deep: dict = {"type": "string"}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    accepted(schema_form(deep))


def test_the_schema_given_is_not_changed():
    """Tools share their schemas with the prompt and the journal."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x", "title": "A"}},
        "$defs": {"x": {"enum": ["a"]}},
    }
    before = json.dumps(schema)
    parameters_form(schema)
    assert json.dumps(schema) == before


# --- whole tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}, {"properties": {"n": False}}]
)
def test_no_parameters_are_none(schema):
    """An object without properties is refused at the top."""
    assert parameters_form(schema) is None


def test_every_built_in_tool_goes_there_and_back():
    """Rule: each declaration is one the published shape takes, and means what the tool's own schema means."""
    specs = tuple(one.spec for one in builtin())
    names = names_for(Request((Message("user", "x"),), specs))
    assert len(specs) > 20
    for spec in specs:
        sent = declaration(spec, names)
        assert types.FunctionDeclaration.model_validate_json(json.dumps(sent)).name == spec.name
        assert names.inward(sent["name"]) == spec.name
        form = sent.get("parameters", {"type": "OBJECT"})
        own, found = spec.parameters, back(accepted(form))
        jsonschema.Draft202012Validator.check_schema(found)
        assert list(found.get("properties", {})) == list(own.get("properties", {}))
        assert set(found.get("required", ())) == set(own.get("required", ()))
        Catalogue.from_function_schemas(
            [{"name": spec.name, "description": spec.description, "parameters": found}]
        )
        for key, schema in own.get("properties", {}).items():
            kept = found["properties"][key]
            assert kept.get("enum") == schema.get("enum")
            if isinstance(schema.get("type"), list):  # it knows one type at a time
                assert [one["type"] for one in kept["anyOf"]] == schema["type"]
            else:
                assert kept.get("type") == schema.get("type")


def test_a_tool_made_from_annotations_keeps_what_it_takes():
    """The decorator's schemas: unions, literals, nested models, mappings, defaults."""

    def place(
        at: Point, kind: Literal["a", "b"], *, size: int | None = None, tags: list[str] | None = None,
        extra: dict[str, int] | None = None, either: int | str = 1,
    ) -> str:  # fmt: skip
        """Places something."""
        return f"{at}{kind}{size}{tags}{extra}{either}"

    found = parameters_form(tool(effect="read")(place).parameters)
    form = accepted(found)["properties"]
    assert form["at"]["properties"]["x"] == {"type": "NUMBER"}
    assert form["kind"] == {"type": "STRING", "enum": ["a", "b"]}
    assert found["required"] == ["at", "kind"]
    for name in ("size", "tags", "extra"):
        assert form[name]["type"] in {"INTEGER", "ARRAY", "OBJECT"}
    assert {one["type"] for one in form["either"]["anyOf"]} == {"INTEGER", "STRING"}


def test_a_tool_without_a_description_is_declared():
    """Foreign tools may have none."""
    names = names_for(Request((Message("user", "x"),), (ToolSpec("x"),)))
    assert declaration(ToolSpec("x"), names) == {"name": "x", "description": ""}
