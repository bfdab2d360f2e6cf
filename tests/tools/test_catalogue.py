"""The catalogue: stable order, names mapped one to one, near misses, foreign schemas."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.errors import MisuseError, NotFoundError, ToolDefinitionError, UnreadableInputError
from surefoot.tools import Catalogue, Tool, prepare
from surefoot.tools.signatures import signature
from surefoot.tools.types import Effect


def named(*names: str) -> Catalogue:
    return Catalogue(Tool(name, f"does {name}", {"type": "object"}, Effect.READ, dict) for name in names)


NAMES = ("webSearch", "addNote", "chrome-devtools__navigate_page", "calendar.createEvent")


def test_order_is_as_given():
    """It never changes by itself: the cached prompt hangs on it."""
    catalogue = named(*NAMES)
    assert catalogue.names == tuple(tool.name for tool in catalogue) == NAMES
    assert [spec.name for spec in catalogue.specs()] == list(NAMES)
    assert len(catalogue) == 4
    assert "addNote" in catalogue
    assert "addnote" not in catalogue
    assert "addNote" in repr(catalogue)


def test_exact_names():
    """`get` knows no other."""
    assert named(*NAMES).get("addNote").name == "addNote"
    with pytest.raises(NotFoundError, match="'addnote'"):
        named(*NAMES).get("addnote")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("addNote", "addNote"),
        ("addnote", "addNote"),
        ("add_note", "addNote"),
        ("AddNote()", "addNote"),
        ("addNote(title='x')", "addNote"),
        ("`addNote`", "addNote"),
        (" functions.addNote ", "addNote"),
        ("'web-search'", "webSearch"),
        ("chrome_devtools_navigate_page", "chrome-devtools__navigate_page"),
        ("calendar_create_event", "calendar.createEvent"),
    ],
)
def test_names_are_mapped(written: str, meant: str):
    """Case, separators and what models put around a name do not matter, when one tool is meant."""
    assert named(*NAMES).resolve(written).name == meant


@pytest.mark.parametrize("written", ["toolname", "TOOL-NAME", "tool name"])
def test_two_names_never_fall_together(written: str):
    """`tool.name` beside `tool_name`: each by its exact name, neither by a guess."""
    catalogue = named("tool.name", "tool_name")
    assert catalogue.resolve("tool.name").name == "tool.name"
    assert catalogue.resolve("tool_name()").name == "tool_name"
    with pytest.raises(NotFoundError) as caught:
        catalogue.resolve(written)
    assert caught.value.details["suggestions"] == ["tool.name", "tool_name"]


@pytest.mark.parametrize(
    ("written", "near"), [("addNotes", "addNote"), ("searchWeb", "webSearch"), ("navigate_page", NAMES[2])]
)
def test_near_misses_are_suggested(written: str, near: str):
    """A wrong name comes with the names it may have meant."""
    with pytest.raises(NotFoundError) as caught:
        named(*NAMES).resolve(written)
    assert near in caught.value.details["suggestions"]
    assert near in caught.value.next_move
    assert repr(written) in caught.value.message


@pytest.mark.parametrize("written", ["qqq", "", "()", "```"])
def test_far_misses_suggest_nothing(written: str):
    """Noise is no help."""
    with pytest.raises(NotFoundError) as caught:
        named(*NAMES).resolve(written)
    assert caught.value.details["suggestions"] == []


def test_duplicates_are_refused():
    """Two tools of one name cannot be told apart by a model."""
    with pytest.raises(ToolDefinitionError, match="two tools named 'addNote'"):
        named("addNote", "addNote")
    with pytest.raises(ToolDefinitionError, match="addNote"):
        named("addNote").with_tools(*named("addNote"))


def test_only_tools_are_taken():
    """A bare function is met with the way to make it one."""
    with pytest.raises(ToolDefinitionError) as caught:
        Catalogue([print])  # type: ignore[list-item]
    assert "@tool" in caught.value.next_move


def test_more_tools_go_behind():
    """The first ones keep their place."""
    assert named("b", "a").with_tools(*named("c")).names == ("b", "a", "c")


def test_narrowed_keeps_the_order():
    """Whatever order the names come in."""
    assert named(*NAMES).narrowed(["addNote", "webSearch"]).names == ("webSearch", "addNote")
    with pytest.raises(NotFoundError):
        named(*NAMES).narrowed(["nothing"])


def test_digest_covers_what_a_prompt_shows():
    """Names, descriptions, schemas and order; equal catalogues have equal keys."""
    assert named("a", "b").digest() == named("a", "b").digest()
    assert len({named("a", "b").digest(), named("b", "a").digest(), named("a").digest()}) == 3
    catalogue = named("a")
    assert catalogue.digest() is catalogue.digest()


SCHEMA = {
    "name": "area.compute",
    "description": "Compute it.",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "float", "required": True, "minimum": 0},
            "sides": {"type": "tuple", "items": {"type": "float"}},
            "deep": {"type": "dict", "properties": {"any": {"type": "any"}, "n": {"type": ["int", "none"]}}},
            "lists": {"type": "array", "items": {"type": "array", "items": {"type": "String"}}},
            "kind": {"type": "string", "enum": []},
            "odd": 5,
        },
        "required": ["base", "missing"],
    },
}


@pytest.mark.parametrize("item", [SCHEMA, {"type": "function", "function": SCHEMA}])
def test_function_schemas_of_others(item: Any):
    """Both shapes, and type names of other languages."""
    (found,) = Catalogue.from_function_schemas([item])
    assert (found.name, found.description, found.effect) == ("area.compute", "Compute it.", Effect.EXTERNAL)
    properties = found.parameters["properties"]
    assert found.parameters["type"] == "object"
    assert found.parameters["required"] == ["base"]
    assert properties["base"] == {"type": "number", "minimum": 0}
    assert properties["sides"] == {"type": "array", "items": {"type": "number"}}
    assert properties["deep"]["properties"] == {"any": {}, "n": {"type": ["integer", "null"]}}
    assert properties["lists"]["items"]["items"] == {"type": "string"}
    assert properties["kind"] == {"type": "string"}
    assert properties["odd"] == {}
    assert prepare(found, {"base": "1.5"})[0] == {"base": 1.5}


def test_bare_and_input_schema_forms():
    """Parameters may be missing, or called input_schema; alternatives are walked."""
    (bare,) = Catalogue.from_function_schemas([{"name": "a"}])
    assert bare.parameters == {"type": "object", "properties": {}}
    item = {
        "name": "b",
        "input_schema": {"properties": {"x": {"anyOf": [{"type": "float"}, {"type": "null"}]}}},
    }
    (other,) = Catalogue.from_function_schemas([item])
    assert other.parameters["properties"]["x"] == {"anyOf": [{"type": "number"}, {"type": "null"}]}
    item = {
        "name": "c",
        "parameters": {"properties": {"x": {"type": "dict", "additionalProperties": {"type": "int"}}}},
    }
    (open_ended,) = Catalogue.from_function_schemas([item])
    assert open_ended.parameters["properties"]["x"]["additionalProperties"] == {"type": "integer"}


def test_such_a_tool_can_be_planned_and_not_run():
    """Calling it says so."""
    (found,) = Catalogue.from_function_schemas([SCHEMA])
    with pytest.raises(MisuseError, match=r"area\.compute is known by its schema only"):
        found.fn(base=1)


@pytest.mark.parametrize(
    "schemas",
    [
        {"name": "a"},
        "text",
        None,
        [5],
        [{"name": ""}],
        [{"name": None}],
        [{"description": "x"}],
        [{"function": 5}],
        [{"name": "a", "parameters": []}],
        [{"name": "a", "parameters": {"properties": []}}][:0] or [{"name": "a", "description": 5}],
    ],
)
def test_unreadable_schemas(schemas: Any):
    """The message says what and where."""
    with pytest.raises(UnreadableInputError) as caught:
        Catalogue.from_function_schemas(schemas)
    assert caught.value.next_move


def test_duplicates_in_a_list_of_schemas():
    """The same rule for them."""
    with pytest.raises(ToolDefinitionError):
        Catalogue.from_function_schemas([SCHEMA, SCHEMA])


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        (
            {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]},
            "f(a: text, b?: int)",
        ),
        ({"properties": {"a": {"enum": ["x", "y"], "default": "x"}}}, "f(a?: x|y = x)"),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, "f(a?: list of text)"),
        ({"properties": {"a": {"type": "array"}}}, "f(a?: list of any)"),
        ({"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}, "f(a?: int or null)"),
        ({"properties": {"a": {"type": ["boolean", "number"]}}}, "f(a?: bool or number)"),
        (
            {"properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
            "f(a?: {b?: text})",
        ),
        ({"properties": {"a": {"type": "object"}, "b": {}, "c": True}}, "f(a?: object, b?: any, c?: any)"),
        ({"properties": {"a": {"const": 5}}}, "f(a?: 5)"),
        ({"properties": {"a": {"enum": list(range(20))}}}, "f(a?: 0|1|2|3|4|5|6|7|8|9|10|11|…)"),
        ({}, "f()"),
    ],
)
def test_signatures(parameters: dict[str, Any], line: str):
    """A schema in one short line."""
    assert signature("f", parameters) == line
