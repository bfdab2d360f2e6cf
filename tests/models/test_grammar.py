"""What a grammar lets a model write, and what it cannot write any more."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest

from models.gbnf import Grammar
from surefoot.errors import MisuseError
from surefoot.models._schema_rules import MAX_ITEMS, MAX_TEXT
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.grammar import calls_grammar, choice_grammar, lines_grammar, schema_grammar
from surefoot.models.types import AUTO, NONE, REQUIRED, ToolChoice, ToolSpec

NOTE = ToolSpec(
    "addNote",
    "Add a note.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "title": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["title"],
    },
)
LIST = ToolSpec("list-notes.v2", "", {"type": "object", "properties": {"tag": {"enum": ["work", "home"]}}})
PING = ToolSpec("ping", "", {"type": "object"})
HAIRY = [
    "chrome-devtools__navigate_page",
    "a.b.c",
    'say "hi"',
    "naïve-öffnen",
    "工具",
    "back\\slash",
    "line\nbreak",
    "🙂",
]


def calls(*tools: ToolSpec, **options: object) -> Grammar:
    return Grammar.parse(calls_grammar(tools, form=FAMILY.form, **options))  # type: ignore[arg-type]


def written(*made: dict[str, object]) -> str:
    return "```json\n[" + ", ".join(json.dumps(one, ensure_ascii=False) for one in made) + "]\n```"


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


def accepts(schema: dict[str, object], text: str) -> bool:
    return Grammar.parse(schema_grammar(schema)).accepts(text)


def test_a_call_with_required_and_optional_keys_is_a_sentence() -> None:
    """Required keys come first, optional ones may be left out, each group in declared order."""
    grammar = calls(NOTE)
    assert grammar.accepts(written(call("addNote", title="x")))
    assert grammar.accepts(written(call("addNote", title="x", text="y", tags=["a", "b"], stars=3)))
    assert grammar.accepts(written(call("addNote", title="x", stars=3)))
    assert not grammar.accepts(written(call("addNote", text="y", title="x")))
    assert not grammar.accepts(written(call("addNote", title="x", stars=3, text="y")))


@pytest.mark.parametrize(
    "wrong",
    [
        call("addnote", title="x"),
        call("addNote"),
        call("addNote", title=5),
        call("addNote", title="x", stars=6),
        call("addNote", title="x", stars="3"),
        call("addNote", title="x", tags="a"),
        call("addNote", title="x", tags=[1]),
        call("addNote", title="x", colour="red"),
        call("list-notes.v2", tag="other"),
    ],
)
def test_a_wrong_name_key_type_or_value_is_no_sentence(wrong: dict[str, object]) -> None:
    """Names, keys, types and enums cannot come out wrong."""
    assert not calls(NOTE, LIST).accepts(written(wrong))


def test_the_step_limit_is_in_the_grammar() -> None:
    """No call too many can be written."""
    grammar = calls(PING, max_calls=3)
    assert grammar.accepts(written(*[call("ping")] * 3))
    assert not grammar.accepts(written(*[call("ping")] * 4))
    assert not grammar.accepts("```json\n[]\n```")


def test_a_placeholder_stands_for_any_value_behind_the_first_call() -> None:
    """The first call has no earlier step; later ones may refer to any step but none beyond the limit."""
    grammar = calls(NOTE, LIST, placeholders=True, max_calls=4)
    later = [
        call("list-notes.v2"),
        call("addNote", title="x", tags="<tags, from step 1>", stars="<n from step 3>"),
    ]
    assert grammar.accepts(written(*later))
    assert grammar.accepts(
        written(later[0], call("addNote", title="the <name from step 1> film", tags=["<t from step 1>"]))
    )
    assert grammar.accepts(written(later[0], call("list-notes.v2", tag="<tag from step 1>")))
    assert not grammar.accepts(written(later[1]))
    assert not grammar.accepts(written(call("addNote", title="<each note id from step 1>")))
    assert not grammar.accepts(written(later[0], call("addNote", title="<b>x</b>")))
    assert calls(NOTE).accepts(written(call("addNote", title="<b>x</b>")))
    assert grammar.accepts(written(call("addNote", title="")))
    assert not grammar.accepts(written(later[0], call("addNote", title="x", stars="<n from step 4>")))
    assert not calls(NOTE, LIST, max_calls=4).accepts(written(*later))


@pytest.mark.parametrize(
    "text", ["Nothing to call.", "See ```python\nx = 1\n``` and `y`.", "Use `ls`", "中文"]
)
def test_prose_is_the_other_branch_of_auto(text: str) -> None:
    """With auto a model may answer in words, fenced code included."""
    assert calls(NOTE, choice=AUTO).accepts(text)
    assert calls(NOTE, choice=NONE).accepts(text)
    assert not calls(NOTE, choice=REQUIRED).accepts(text)


@pytest.mark.parametrize(
    "text", [written(call("nosuch")), '[{"name": "x"}]', '{"name": "x"}', "<tool_call>", "Sure:\n```json\n[]"]
)
def test_prose_cannot_look_like_a_call(text: str) -> None:
    """What begins like a call is one of the allowed calls, never prose."""
    assert not calls(NOTE, choice=AUTO).accepts(text)


def test_tool_choice_binds() -> None:
    """none: prose only; required: calls only; one tool: only that one."""
    note, ping = written(call("addNote", title="x")), written(call("ping"))
    assert not calls(NOTE, PING, choice=NONE).accepts(ping)
    assert calls(NOTE, PING, choice=REQUIRED).accepts(ping)
    one = calls(NOTE, PING, choice=ToolChoice(name="ping"))
    assert one.accepts(ping)
    assert not one.accepts(note)
    assert not one.accepts("words")


def test_only_narrows_what_may_be_called() -> None:
    """The router's choice narrows the grammar; nothing allowed leaves prose."""
    narrowed = calls(NOTE, PING, only=["ping"])
    assert narrowed.accepts(written(call("ping")))
    assert not narrowed.accepts(written(call("addNote", title="x")))
    assert calls(NOTE, PING, only=[]).accepts("Nothing fits.")


def test_calls_required_without_any_tool_is_misuse() -> None:
    """There is no sentence at all, which is said before a model is asked."""
    with pytest.raises(MisuseError, match="required"):
        calls(NOTE, only=[], choice=REQUIRED)
    with pytest.raises(MisuseError, match="required"):
        calls(choice=REQUIRED)
    with pytest.raises(MisuseError, match="nosuch"):
        calls(NOTE, only=["nosuch"])
    with pytest.raises(MisuseError, match="no tool may be called"):
        calls(NOTE, choice=ToolChoice(name="addNote"), max_calls=0)


@pytest.mark.parametrize("name", HAIRY)
def test_hairy_names_survive(name: str) -> None:
    """Dots, hyphens, quotes, backslashes, line breaks and any script, as tool and as key."""
    tool = ToolSpec(
        name, "", {"type": "object", "properties": {name: {"type": "boolean"}}, "required": [name]}
    )
    assert calls(tool).accepts(written({"name": name, "arguments": {name: True}}))


def test_a_lone_surrogate_stays_escaped() -> None:
    """Half a character cannot be written as UTF-8, so the grammar keeps its escape."""
    grammar = schema_grammar({"enum": ["\ud800"]})
    grammar.encode()
    assert Grammar.parse(grammar).accepts('"\\ud800"')


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, ["0", "-5", "123"], ["05", "1.0", '"1"', "1e3", "9" * 20]),
        ({"type": "integer", "minimum": 0}, ["0", "7"], ["-1"]),
        ({"type": "integer", "exclusiveMinimum": 0}, ["1", "70"], ["0", "-1", "07"]),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}, ["2", "3"], ["1", "4"]),
        ({"type": "number"}, ["0.5", "-2", "10.25"], [".5", "1.", "1e3", "NaN"]),
        ({"type": "number", "minimum": 0}, ["0.5"], ["-0.5"]),
        ({"type": "boolean"}, ["true", "false"], ["True", "1"]),
        ({"type": "null"}, ["null"], ["None"]),
        ({"enum": ["a", 1, None, True]}, ['"a"', "1", "null", "true"], ["a", "2", "false"]),
        ({"const": {"a": [1]}}, ['{"a": [1]}'], ["{}"]),
        ({"type": ["string", "null"]}, ['"x"', "null"], ["1"]),
        ({"type": ["integer", "number"]}, ["1", "1.5"], ['"1"']),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"x"'], ["true"]),
        ({"oneOf": [{"const": "a"}, {"type": "boolean"}]}, ['"a"', "true"], ['"b"']),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            ["[1]", "[1, 2]"],
            ["[]", "[1, 2, 3]"],
        ),
        ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, ["[1, 2]", "[1, 2, 3]"], ["[1]"]),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            ['[1, "a"]'],
            ["[1]", '["a", 1]'],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            ["{}", '{"a": 1, "b": 2}'],
            ['{"a": "x"}'],
        ),
        ({"type": "object", "additionalProperties": False}, ["{}"], ['{"a": 1}']),
        ({"type": "object"}, ["{}", '{"a": [1, null]}'], ["[]"]),
        ({"properties": {"a": {"type": "integer"}}}, ["{}", '{"a": 1}'], ['{"b": 1}']),
        ({"items": {"type": "integer"}}, ["[1]"], ['["a"]']),
        ({}, ["1", '"x"', "[1]", '{"a": {"b": 1}}', "null"], ["x"]),
        ({"properties": {"a": False, "b": True}, "required": ["b"]}, ['{"b": 1}'], ['{"a": 1, "b": 1}']),
        ({"properties": {}, "required": ["z"]}, ['{"z": 1}'], ["{}"]),
        (
            {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"type": "object"}]},
            ['{"a": 1}'],
            ["{}"],
        ),
    ],
)
def test_a_schema_becomes_its_sentences(
    schema: dict[str, object], right: list[str], wrong: list[str]
) -> None:
    """Each kind of schema, with values on both sides of its edge."""
    assert [text for text in right if not accepts(schema, text)] == []
    assert [text for text in wrong if accepts(schema, text)] == []


def test_references_are_followed_and_may_recur() -> None:
    """`$ref` into `$defs` or `definitions`, through pointers to pointers, and to itself."""
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "v": {"$ref": "#/$defs/n~1um"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["v"],
            },
            "n/um": {"$ref": "#/$defs/int"},
            "int": {"type": "integer"},
        },
    }
    assert accepts(tree, '{"v": 1, "kids": [{"v": 2}, {"v": 3, "kids": []}]}')
    assert not accepts(tree, '{"v": 1, "kids": [{"kids": []}]}')


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$ref": "#/$defs/nowhere"},
        {"type": "colour"},
        {"anyOf": [5]},
    ],
)
def test_a_schema_that_makes_no_sense_is_named(schema: dict[str, object]) -> None:
    """A circle of references, a missing one, an unknown type, a part that is no schema."""
    with pytest.raises(MisuseError):
        schema_grammar(schema)


def test_arguments_may_be_a_reference() -> None:
    """A tool's parameters themselves may be written as `$ref` or in parts."""
    tool = ToolSpec(
        "t",
        "",
        {"$ref": "#/$defs/p", "$defs": {"p": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
    )
    assert calls(tool).accepts(written(call("t", n=1)))


def test_an_optional_argument_is_left_out_and_not_null() -> None:
    """Leaving out says it already; a required one that may be null still can be."""
    maybe = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    optional = ToolSpec("t", "", {"type": "object", "properties": {"n": maybe}})
    required = ToolSpec("t", "", {"type": "object", "properties": {"n": maybe}, "required": ["n"]})
    assert not calls(optional).accepts(written(call("t", n=None)))
    assert calls(optional).accepts(written(call("t", n=2)))
    assert calls(required).accepts(written(call("t", n=None)))


def test_free_texts_and_lists_have_a_limit() -> None:
    """A model that repeats itself for ever is stopped by the grammar."""
    assert accepts({"type": "string"}, json.dumps("x" * MAX_TEXT))
    assert not accepts({"type": "string"}, json.dumps("x" * (MAX_TEXT + 1)))
    for more in ({}, {"maxItems": 500}):
        many = {"type": "array", "items": {"type": "integer"}, **more}
        assert accepts(many, json.dumps([1] * MAX_ITEMS))
        assert not accepts(many, json.dumps([1] * (MAX_ITEMS + 1)))


def test_texts_hold_any_character_json_can_hold() -> None:
    """Quotes, backslashes, line breaks as escapes; any script as it is."""
    for value in ['he said "hi"', "a\\b", "two\nlines\t", "日本語 🙂", "it's"]:
        assert accepts({"type": "string"}, json.dumps(value, ensure_ascii=False)), value
    assert not accepts({"type": "string"}, '"raw\nbreak"')


def test_call_lines() -> None:
    """One call a line, the same values, a reply line at the end."""
    grammar = Grammar.parse(lines_grammar([NOTE, PING], max_calls=2, placeholders=True))
    assert grammar.accepts('addNote(title="Anna", tags=["a", "b"])\nping()\nreply()')
    assert grammar.accepts("reply()")
    assert grammar.accepts('ping()\naddNote(title="x", stars="<n from step 1>")\nreply()')
    assert not grammar.accepts("ping()\nping()\nping()\nreply()")
    assert not grammar.accepts("ping()")
    assert not grammar.accepts('addNote(text="y")\nreply()')


def test_call_lines_without_a_reply_line() -> None:
    """Then there is at least one call, and nothing else is a sentence."""
    grammar = Grammar.parse(lines_grammar([PING], reply="", max_calls=2))
    assert grammar.accepts("ping()")
    assert grammar.accepts("ping()\nping()")
    assert not grammar.accepts("")
    assert Grammar.parse(lines_grammar([PING], only=[])).accepts("reply()")
    with pytest.raises(MisuseError, match="No tool"):
        lines_grammar([], reply="")


def test_choices() -> None:
    """Exactly one of the texts, whatever they hold."""
    grammar = Grammar.parse(choice_grammar(["yes", 'no "way"', "a\nb"]))
    assert grammar.accepts("yes")
    assert grammar.accepts('no "way"')
    assert grammar.accepts("a\nb")
    assert not grammar.accepts("maybe")
    for wrong in ([], ["a", ""]):
        with pytest.raises(MisuseError):
            choice_grammar(wrong)


def test_equal_rules_are_written_once_and_every_mentioned_rule_is_there() -> None:
    """Thirty tools with texts need one rule for a text."""
    tools = [ToolSpec(f"t{number}", "", NOTE.parameters) for number in range(30)]
    source = calls_grammar(tools, form=FAMILY.form, placeholders=True)
    grammar = Grammar.parse(source)
    assert source.count("{0,1999}") == 1
    assert grammar.used() <= set(grammar.rules)


def test_random_sentences_are_valid_calls() -> None:
    """What the grammar writes, the schema accepts."""
    rng = random.Random(5)
    grammar = calls(NOTE, LIST, PING, choice=REQUIRED)
    schemas = {tool.name: tool.parameters for tool in (NOTE, LIST, PING)}
    for _ in range(200):
        for made in json.loads(grammar.sentence(rng).removeprefix("```json\n").removesuffix("\n```")):
            jsonschema.validate(made["arguments"], schemas[made["name"]])
