"""Arguments: text that looks like JSON, JSON sent as text, unset optionals, enum case, no object, falsy values, URLs."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.errors import ArgumentError, MisuseError, ToolDefinitionError
from surefoot.tools import Tool, prepare
from surefoot.tools.arguments import ArgumentReader, shown
from surefoot.tools.types import Effect

TEXT, WHOLE, NUMBER, FLAG = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))


def made(properties: dict[str, Any], *required: str, **more: Any) -> Tool:
    """A tool with these parameters."""
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return Tool("f", "", schema, Effect.READ, lambda **arguments: arguments)


def read(properties: dict[str, Any], raw: Any, *required: str, **more: Any) -> dict[str, Any]:
    return prepare(made(properties, *required, **more), raw)[0]


def refused(properties: dict[str, Any], raw: Any, *required: str, **more: Any) -> ArgumentError:
    with pytest.raises(ArgumentError) as caught:
        prepare(made(properties, *required, **more), raw)
    return caught.value


@pytest.mark.parametrize(
    "text",
    ["12345", '{"a":1}', "[1, 2]", "true", "null", "1e5", '"quoted"', "007", " 5 ", "{'a': 1}", "NaN", ""],
)
def test_text_that_looks_like_json_stays_text(text: str):
    """A parameter that takes text gets the text, sign for sign."""
    assert read({"p": TEXT}, {"p": text}, "p") == {"p": text}


@pytest.mark.parametrize("schema", [{"type": ["string", "integer"]}, {"anyOf": [TEXT, WHOLE]}, {}, True])
def test_text_stays_text_wherever_text_is_allowed(schema: Any):
    """Also beside other types, and where anything is allowed."""
    assert read({"p": schema}, {"p": "5"}, "p") == {"p": "5"}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "array", "items": TEXT}, '["a"]', ["a"]),
        ({"type": "array", "items": TEXT}, "['a', 'b c']", ["a", "b c"]),
        ({"type": "array", "items": WHOLE}, '["1", 2]', [1, 2]),
        (FLAG, "false", False),
        (FLAG, "True", True),
        (WHOLE, "100", 100),
        (WHOLE, " -7 ", -7),
        (WHOLE, "5.0", 5),
        (WHOLE, 5.0, 5),
        (NUMBER, "1.5", 1.5),
        (NUMBER, "2", 2),
        (NUMBER, "1e3", 1000.0),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({"type": "object", "properties": {"n": WHOLE}}, '{"n": "3"}', {"n": 3}),
        ({"anyOf": [WHOLE, {"type": "null"}]}, "5", 5),
        ({"enum": [1, 2, 3]}, "2", 2),
        ({"const": True}, "true", True),
        ({"anyOf": [{"type": "array", "items": WHOLE}, {"type": "null"}]}, '["4"]', [4]),
        ({"oneOf": [{"type": "array", "items": WHOLE}, FLAG]}, ["4"], [4]),
        ({"type": "array", "prefixItems": [TEXT], "items": WHOLE}, ["1", "2"], ["1", 2]),
    ],
)
def test_json_sent_as_text_is_decoded_where_no_text_is_allowed(schema: Any, text: Any, value: Any):
    """Arrays, objects, numbers and booleans, also inside each other."""
    found = read({"p": schema}, {"p": text}, "p")
    assert found == {"p": value}
    assert type(found["p"]) is type(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (WHOLE, "5 apples"),
        (WHOLE, "5.5"),
        (WHOLE, 5.5),
        (WHOLE, True),
        (WHOLE, "1" * 500),
        (NUMBER, "1e999"),
        (FLAG, "yes"),
        (FLAG, 1),
        ({"type": "array"}, "a, b"),
        ({"type": "array"}, "[1, 2"),
        ({"type": "array"}, "{'a'}"),
        ({"type": "array"}, "[NaN]"),
        ({"type": "array"}, "[" * 5000),
        ({"type": "object"}, "[1]"),
        (TEXT, 5),
        (TEXT, ["a"]),
    ],
)
def test_what_does_not_fit_is_refused_with_the_value(schema: Any, value: Any):
    """Nothing is guessed and nothing replaced."""
    error = refused({"p": schema}, {"p": value}, "p")
    assert error.message.startswith("f: p is ")
    assert len(error.details["problems"]) == 1
    assert "f(p:" in error.next_move


@pytest.mark.parametrize("value", [None, "", "None"])
def test_unset_optionals_are_dropped(value: Any):
    """An empty text, null and "None" mean that there is no value."""
    schema = {"ns": TEXT, "selector": TEXT, "limit": WHOLE, "kind": {"enum": ["a"]}}
    assert read(schema, {"ns": "x", "selector": value, "limit": value, "kind": value}, "ns") == {"ns": "x"}


@pytest.mark.parametrize("value", ["null", "undefined", " None "])
def test_more_words_for_unset_where_no_text_is_allowed(value: str):
    """A number cannot be meant by a word."""
    assert read({"limit": WHOLE}, {"limit": value}) == {}
    assert read({"text": TEXT}, {"text": value}) == {"text": value}


@pytest.mark.parametrize(
    ("schema", "value"),
    [(TEXT, None), (TEXT, "None"), (WHOLE, None), (WHOLE, ""), (WHOLE, "None"), (FLAG, "null")],
)
def test_unset_is_an_error_where_it_is_required(schema: Any, value: Any):
    """The message says that it is required, and what stood there."""
    error = refused({"p": schema}, {"p": value}, "p")
    assert f"p is required and has no value ({shown(value)})" in error.message


def test_unset_words_that_are_values():
    """An enum may list them; a nullable argument may be null; an untyped one may be any text."""
    assert read({"p": {"enum": ["", "None"]}}, {"p": "None"}, "p") == {"p": "None"}
    assert read({"p": {"enum": ["", "None"]}}, {"p": ""}) == {"p": ""}
    assert read({"p": {"type": ["string", "null"]}}, {"p": None}, "p") == {"p": None}
    assert read({"p": {"type": ["integer", "null"]}}, {"p": "None"}, "p") == {"p": None}
    assert read({"p": {"type": ["integer", "null"], "default": 5}}, {"p": None}) == {"p": None}
    assert read({"p": {"type": ["integer", "null"]}}, {"p": None}) == {}
    assert read({"p": {}}, {"p": "None"}, "p") == {"p": "None"}


@pytest.mark.parametrize("value", ["MARKDOWN", "Markdown", " markdown "])
def test_enum_case_is_folded_when_unique(value: str):
    """One listed value differs only in case: it is meant."""
    assert read({"p": {"enum": ["markdown", "json"]}}, {"p": value}, "p") == {"p": "markdown"}


@pytest.mark.parametrize(
    ("choices", "value"), [(["markdown", "json"], "pdf"), (["A", "a"], "á"), (["AB", "ab"], "Ab")]
)
def test_enum_is_refused_with_the_allowed_values(choices: list[str], value: str):
    """Never replaced by the nearest, nor by one of two."""
    error = refused({"p": {"enum": choices}}, {"p": value}, "p")
    assert all(f'"{choice}"' in error.message for choice in choices)
    assert value in error.message


def test_enum_inside_lists_and_alternatives():
    """The same rule everywhere."""
    inner = {"enum": ["Red", "Blue"]}
    assert read({"p": {"type": "array", "items": inner}}, {"p": ["red", "BLUE"]}) == {"p": ["Red", "Blue"]}
    assert read({"p": {"anyOf": [inner, {"type": "null"}]}}, {"p": "blue"}) == {"p": "Blue"}
    assert read({"p": {"enum": [1, "One"]}}, {"p": "one"}) == {"p": "One"}


@pytest.mark.parametrize("raw", [[], 5, "5", '"text"', "[1]", True, "not json", 0, "{'a': 1}", '"["'])
def test_only_an_object_is_taken(raw: Any):
    """Anything else is refused, and said."""
    assert "object" in refused({}, raw).message


@pytest.mark.parametrize("raw", [None, "", "  ", "null", '""', {}, "{}"])
def test_empty_means_no_arguments(raw: Any):
    """Nothing, in all its spellings, is {}; what is required is still missed."""
    assert read({"p": TEXT}, raw) == {}
    assert "p is required and missing" in refused({"p": TEXT}, raw, "p").message


@pytest.mark.parametrize("raw", ['{"p": "x"}', '"{\\"p\\": \\"x\\"}"', {"p": "x"}])
def test_an_object_as_text_is_read(raw: Any):
    """Once, or (some gateways do) twice encoded."""
    assert read({"p": TEXT}, raw) == {"p": "x"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [(WHOLE, 0), (FLAG, False), (TEXT, ""), ({"type": "array"}, []), (NUMBER, 0.0), ({"type": "object"}, {})],
)
def test_falsy_values_are_values(schema: Any, value: Any):
    """0, false and the empty text of a required argument are kept."""
    assert read({"p": schema}, {"p": value}, "p") == {"p": value}
    if value != "":
        assert read({"p": schema}, {"p": value}) == {"p": value}


def test_unknown_keys_are_dropped_with_a_notice():
    """The person is told what was left out."""
    arguments, notices = prepare(made({"p": TEXT}), {"p": "x", "colour": "red"})
    assert arguments == {"p": "x"}
    assert notices == ["f has no argument 'colour'; \"red\" was left out."]


@pytest.mark.parametrize(
    "more",
    [{"additionalProperties": True}, {"additionalProperties": TEXT}, {"patternProperties": {"^col": TEXT}}],
)
def test_keys_the_schema_allows_are_kept(more: dict[str, Any]):
    """A schema may be open on purpose."""
    assert read({"p": TEXT}, {"colour": "red"}, **more) == {"colour": "red"}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_declared_properties_takes_what_it_gets(schema: dict[str, Any]):
    """It is free-form by design."""
    free = Tool("f", "", schema, Effect.READ, dict)
    assert prepare(free, {"a": "1", "b": None})[0] == {"a": "1", "b": None}


def test_nested_objects():
    """Inside, unset optionals go too; unknown keys only where they are forbidden."""
    inner = {"type": "object", "properties": {"n": WHOLE, "s": TEXT}, "required": ["n"]}
    assert read({"p": inner}, {"p": {"n": "1", "s": None, "x": 1}}) == {"p": {"n": 1, "x": 1}}
    assert read({"p": {**inner, "additionalProperties": False}}, {"p": {"n": 1, "x": 1}}) == {"p": {"n": 1}}
    assert "p.n is required" in refused({"p": inner}, {"p": {"n": None}}).message
    assert "p.n is" in refused({"p": inner}, {"p": {"n": "x"}}).message


@pytest.mark.parametrize(
    ("schema", "value", "phrase"),
    [
        ({"type": "integer", "minimum": 1}, 0, "less than 1"),
        ({"type": "integer", "maximum": 5}, 6, "more than 5"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "not more than 0"),
        ({"type": "string", "maxLength": 2}, "abc", "longer than 2"),
        ({"type": "string", "pattern": "^a"}, "b", "does not match '^a'"),
        ({"type": "array", "maxItems": 1}, [1, 2], "more than 1 items"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "repeat"),
        ({"const": 1}, 2, "not 1"),
        ({"type": ["integer", "boolean"]}, "x", "not a whole number or true or false"),
        ({"not": TEXT}, "x", "does not fit not"),
        ({"type": "object", "additionalProperties": False, "maxProperties": 1}, {"a": 1}, "p: "),
        ({"anyOf": [WHOLE, FLAG]}, "x", "does not fit anyOf"),
    ],
)
def test_problems_in_words(schema: Any, value: Any, phrase: str):
    """Each keyword has its sentence; the rest name the keyword."""
    assert phrase in refused({"p": schema}, {"p": value}, "p").message


def test_all_problems_are_listed():
    """One answer tells the model everything, also about keys it made up."""
    error = refused({"a": TEXT, "n": WHOLE, "k": {"enum": ["x"]}}, {"n": "many", "k": "y", "z": 1}, "a")
    assert len(error.details["problems"]) == 3
    assert all(word in error.message for word in ("a is required", '"many"', '"y"'))
    assert "'z'" in error.next_move
    many = refused({f"p{n}": WHOLE for n in range(30)}, {f"p{n}": "x" for n in range(30)})
    assert "and 10 more" in many.message


def test_long_values_are_cut_in_messages():
    """A message shows enough to recognise the value."""
    assert len(refused({"n": WHOLE}, {"n": "x" * 5000}).message) < 200
    assert shown({1, 2}) == '"{1, 2}"'
    circle: list[Any] = []
    circle.append(circle)
    assert shown(circle) == "<class 'list'>"


@pytest.mark.parametrize("depth", [250, 5000])
def test_too_deep_is_refused(depth: int):
    """Deep nesting is an argument error, not a crash."""
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    assert "nested too deep" in refused({"p": {}}, {"p": value}).message
    assert "nested too deep" in refused({"p": {}}, "[" * 100_000).message


def test_the_plan_is_unchanged():
    """What was given stays as it was given."""
    raw = {"tags": ["1"], "inner": {"n": "1"}}
    schema = {
        "tags": {"type": "array", "items": WHOLE},
        "inner": {"type": "object", "properties": {"n": WHOLE}},
    }
    read(schema, raw)
    assert raw == {"tags": ["1"], "inner": {"n": "1"}}


# --- addresses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("[example.com](http://example.com)", "http://example.com"),
        ('[a](https://example.com/x_(y) "t")', "https://example.com/x_(y)"),
        ("<https://example.com>", "https://example.com"),
        ("example.com", "https://example.com"),
        ("example.com:8080/a?b=c", "https://example.com:8080/a?b=c"),
        ("//example.com/x", "https://example.com/x"),
        ("localhost:8080", "http://localhost:8080"),
        ("127.0.0.1/x", "http://127.0.0.1/x"),
        ("[::1]:80", "http://[::1]:80"),
        ("münchen.de", "https://münchen.de"),
        (" https://example.com ", "https://example.com"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("/relative/path", "/relative/path"),
        ("not an address", "not an address"),
        ("[see](example.com)", "https://example.com"),
    ],
)
def test_url_hygiene(given: str, right: str):
    """A Markdown link gives its address, a host gets a scheme; the rest stays."""
    assert read({"url": TEXT}, {"url": given}) == {"url": right}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("target", {"type": "string", "format": "uri"}),
        ("page_url", TEXT),
        ("imageURL", TEXT),
        ("pageUrl", TEXT),
        ("Href", TEXT),
    ],
)
def test_where_the_schema_says_url(name: str, schema: Any):
    """By its format, or by the last word of its name."""
    assert read({name: schema}, {name: "example.com"}) == {name: "https://example.com"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", "example.com tips"),
        ("query", "example.com"),
        ("location", "St.Ives"),
        ("curl", "a.b.com"),
        ("urlText", "a.com"),
    ],
)
def test_addresses_are_left_alone_elsewhere(name: str, value: str):
    """A search or a place is no address, whatever it looks like."""
    assert read({name: TEXT}, {name: value}) == {name: value}


def test_urls_in_lists():
    """Every item of a list of addresses; other types pass."""
    assert read({"urls": {"type": "array", "items": TEXT}}, {"urls": ["a.com"]}) == {
        "urls": ["https://a.com"]
    }
    assert read({"url": {"type": ["string", "integer"]}}, {"url": 5}) == {"url": 5}


# --- schemas as they come ------------------------------------------------------------------------------------


def test_references_inside_the_schema():
    """Definitions are followed, also in a circle."""
    tree = {"type": "object", "properties": {"n": WHOLE, "next": {"$ref": "#/$defs/tree"}}}
    found = read(
        {"p": {"$ref": "#/$defs/tree"}}, {"p": {"n": "1", "next": {"n": "2"}}}, **{"$defs": {"tree": tree}}
    )
    assert found == {"p": {"n": 1, "next": {"n": 2}}}
    deep = {"n": "1", "next": {"n": "2", "next": {"n": "3", "next": {"n": "4"}}}}
    found = read({"p": {"$ref": "#/$defs/tree"}}, {"p": deep}, **{"$defs": {"tree": tree}})
    assert found["p"]["next"]["next"]["next"] == {"n": 4}
    plain = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/plain"}, "s": TEXT},
        "required": ["s"],
    }
    found = read(
        {"p": {"$ref": "#/$defs/plain"}}, {"p": {"s": "1", "next": {"s": "2"}}}, **{"$defs": {"plain": plain}}
    )
    assert found == {"p": {"s": "1", "next": {"s": "2"}}}
    loop = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    assert read({"p": TEXT}, {"p": "x"}, **{"$defs": loop}) == {"p": "x"}
    assert read({"p": {"$ref": "#/$defs/a"}}, {}, **{"$defs": loop}) == {}


@pytest.mark.parametrize("reference", ["https://example.com/schema.json", "#/$defs/missing", "other.json#/x"])
def test_references_that_lead_out_allow_anything(reference: str):
    """Nothing is fetched for a schema."""
    assert read({"p": {"$ref": reference}}, {"p": 5}) == {"p": 5}


def test_patterns_of_other_engines_are_not_enforced():
    """A pattern Python cannot read is left out; the rest is checked."""
    schema = {"p": {"type": "string", "pattern": "(?<name>x)", "maxLength": 3}}
    assert read(schema, {"p": "abc"}) == {"p": "abc"}
    assert "longer" in refused(schema, {"p": "abcd"}).message
    assert read({"p": TEXT}, {"p": "x"}, patternProperties={"(?<n>": TEXT, "^x": WHOLE}) == {"p": "x"}


def test_ids_and_dialects_in_schemas():
    """`$id` and `$schema` change nothing here; a property may be named like a keyword."""
    more = {"$id": "https://example.com/x", "$schema": "http://json-schema.org/draft-07/schema#"}
    properties = {"pattern": TEXT, "$ref": TEXT, "enum": WHOLE, "title": TEXT}
    given = {"pattern": "a", "$ref": "b", "enum": "1", "title": "c"}
    assert read(properties, given, **more) == {**given, "enum": 1}


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"p": {"type": "wrong"}}},
        {"properties": 5},
        {"properties": {"p": {"enum": "x"}}},
    ],
)
def test_a_schema_that_is_none(parameters: dict[str, Any]):
    """That is the developer's to mend, and named so."""
    with pytest.raises(ToolDefinitionError, match="f: its parameters are no JSON Schema"):
        prepare(Tool("f", "", parameters, Effect.READ, dict), {})


def test_misuse_is_no_argument_error():
    """The two are told apart: only one is the model's to mend."""
    assert issubclass(ToolDefinitionError, MisuseError)
    assert not issubclass(ArgumentError, MisuseError)


def test_false_schemas_allow_nothing():
    """A property that may not be given is refused when it is."""
    assert "may not be given (1)" in refused({"p": False}, {"p": 1}).message


@pytest.mark.parametrize("value", ["x", "", 1, 0, True, 1.5, None, [], {}, float("inf")])
@pytest.mark.parametrize("stated", ["string", "integer", "boolean", "number", ["string", "null"], None])
def test_the_short_way_never_says_valid_where_the_validator_does_not(value, stated):
    """It may only save the validator's work."""
    schema = {"description": "x"} if stated is None else {"type": stated}
    reader = ArgumentReader(
        "t", {"type": "object", "properties": {"a": schema, "b": {"type": "string"}}, "required": ["a"]}
    )
    for arguments in ({"a": value}, {"a": value, "b": "y"}, {"b": "y"}, {"a": value, "c": 1}):
        if reader._plainly_valid(arguments):
            assert reader._validator.is_valid(arguments)
