"""How a plan is asked for: stable prefix, narrowed answers, schemas that allow placeholders."""

from __future__ import annotations

import json
from datetime import datetime

import jsonschema
import pytest

from surefoot import redaction
from surefoot.models.types import AUTO, Capabilities, Message
from surefoot.planning import encodings, schemas
from surefoot.planning.encodings import Question, choose, described, plan_request, prefix
from surefoot.planning.vocabulary import MEMORY
from surefoot.tools import kits
from surefoot.tools.catalogue import Catalogue


def request(catalogue, encoding, question, **options):
    return plan_request(
        catalogue, encoding, question, **({"max_steps": 5, "timeout": 6.0, "num_ctx": 8192} | options)
    )


@pytest.mark.parametrize(
    ("able", "encoding"),
    [
        (Capabilities(tools=True, json_schema=True, grammar=True, encoding="own"), "bound"),
        (Capabilities(tools=True, json_schema=True, encoding="own"), "own"),
        (Capabilities(tools=True, grammar=True, encoding="lines"), "lines"),
        (Capabilities(tools=True, encoding="text"), "text"),
        (Capabilities(json_schema=True, encoding="own"), "schema"),
        (Capabilities(grammar=True, encoding="schema"), "lines"),
        (Capabilities(tools=True, encoding="schema"), "own"),
        (Capabilities(tools=True, grammar=True, encoding="schema"), "bound"),
        (Capabilities(encoding="own"), "text"),
    ],
)
def test_encoding_is_the_measured_one_if_the_model_can_do_it(able, encoding):
    """The family's measured encoding, else the best the model can do; free text always can."""
    assert choose(able) == encoding


def test_prefix_never_changes_for_the_same_catalogue(catalogue):
    """The same text and key for every question; another catalogue, encoding, layout or limit has another key."""
    first = prefix(catalogue, "text")
    assert first == prefix(catalogue, "text")
    smaller = Catalogue(list(catalogue)[:-1])
    others = [
        prefix(smaller, "text"),
        prefix(catalogue, "lines"),
        prefix(catalogue, "own"),
        prefix(catalogue, "text", layout="schemas"),
        prefix(catalogue, "text", max_steps=4),
    ]
    assert len({first.key, *(other.key for other in others)}) == 6
    assert prefix(smaller, "own").key != prefix(catalogue, "own").key


@pytest.mark.parametrize("encoding", ["text", "lines", "schema"])
@pytest.mark.parametrize("layout", ["signatures", "schemas"])
def test_text_encodings_show_the_whole_catalogue_and_the_directive(encoding, layout, catalogue):
    """Every tool and searchMemory stand in the system message, rules first, the form of the answer last."""
    shown = prefix(catalogue, encoding, layout=layout)
    assert shown.tools == ()
    assert shown.messages == (Message("system", shown.system),)
    for name in (*catalogue.names, MEMORY):
        assert name in shown.system
    assert shown.system.startswith("You plan")
    assert shown.system.index("addNote") < shown.system.index("Answer with")


def test_own_form_hands_the_tools_to_the_model(catalogue):
    """In its own form the adapter writes the tools; the directive is offered as one of them and is no tool."""
    shown = prefix(catalogue, "own")
    assert [spec.name for spec in shown.tools] == [MEMORY, *catalogue.names]
    assert "listTasks" not in shown.system
    assert MEMORY not in catalogue


def test_router_narrows_the_answer_and_not_the_prompt(catalogue):
    """`only` narrows what may be called, with the directive always allowed; the messages stay the same."""
    wide = request(catalogue, "own", Question("find x"))
    narrow = request(catalogue, "own", Question("find x", only=("webSearch", "notATool")))
    assert (wide.only, narrow.only) == (None, (MEMORY, "webSearch"))
    assert (narrow.messages, narrow.tools, narrow.tool_choice) == (wide.messages, wide.tools, AUTO)
    bound = request(catalogue, "schema", Question("find x", only=("webSearch",)))
    names = [
        branch["properties"]["name"]["enum"][0]
        for branch in bound.json_schema["properties"]["steps"]["items"]["anyOf"]
    ]
    assert names == [MEMORY, "webSearch", "reply"]
    assert bound.only is None
    assert bound.messages == request(catalogue, "schema", Question("find x")).messages


def test_at_most_one_thing_binds_the_answer(catalogue):
    """Tools, schema or nothing; never two at once."""
    for encoding in ("own", "schema", "text"):
        made = request(catalogue, encoding, Question("find x"))
        bound = [bool(made.tools), made.json_schema is not None, made.grammar is not None]
        assert sum(bound) == (encoding != "text")


def test_call_lines_are_bound_by_a_grammar(catalogue):
    """The grammar comes from the models room and narrows to the same tools."""
    pytest.importorskip("surefoot.models.grammar")
    wide = request(catalogue, "lines", Question("find x")).grammar
    narrow = request(catalogue, "lines", Question("find x", only=("webSearch",))).grammar
    assert "addNote" in wide
    assert "webSearch" in narrow
    assert "addNote" not in narrow
    assert MEMORY in narrow


def test_the_plan_schema_accepts_plans_and_nothing_else(catalogue):
    """Names, keys, types and enums are bound; a placeholder may stand wherever a value is."""
    schema = schemas.plan_schema(catalogue.specs(), 2)
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)

    def steps(*calls):
        return {
            "steps": [{"name": name, "arguments": arguments} for name, arguments in calls]
            + [{"name": "reply"}]
        }

    good = [
        steps(("f", {"n": 5})),
        steps(("f", {"n": "<count from step 1>", "exact": "<it from step 1>"})),
        steps(("add", {"numbers": [1, "<n from step 1>"]})),
        steps(("add", {"numbers": "<all of them from step 1>"})),
        steps(("move", {"to": {"x": "<x from step 1>", "who": "a"}})),
        steps(("listTasks", {"status": "<it from step 1>"})),
        {"steps": [{"name": "reply"}]},
    ]
    bad = [
        steps(("sendMail", {})),
        steps(("f", {"n": [5]})),
        {"steps": []},
        {},
        steps(("webSearch", {})),
        steps(*[("f", {})] * 4),
    ]
    assert [checker.is_valid(plan) for plan in good + bad] == [True] * len(good) + [False] * len(bad)


def test_widening_leaves_plain_texts_alone_and_ends(catalogue):
    """A text needs no second branch; a schema that refers to itself is not followed for ever."""
    assert schemas.widened({"type": "object", "properties": {"a": {"type": "string"}}})["properties"][
        "a"
    ] == {"type": "string"}
    assert (
        "anyOf"
        in schemas.widened({"properties": {"a": {"type": "string", "format": "uri"}}})["properties"]["a"]
    )
    assert schemas.widened(True) is True
    deep = {"type": "array"}
    deep["items"] = deep
    assert schemas.widened(deep)["type"] == "array"


def test_a_tool_in_one_line(catalogue):
    """A signature with the first line of the description, or the schema as JSON on one line."""
    spec = catalogue.get("addTask").spec
    assert described(spec, "signatures") == "addTask(title: text, due?: text) - What addTask does."
    assert json.loads(described(spec, "schemas"))["parameters"] == spec.parameters
    assert described(type(spec)("bare"), "signatures") == "bare()"


@pytest.mark.parametrize(("layout", "letters"), [("signatures", 3.5), ("schemas", 4.4)])
def test_both_layouts_keep_the_built_in_catalogue_under_2000_tokens(layout, letters):
    """The budget of the catalogue part: 707 and 1,588 tokens (counted with the embedded model's vocabulary, nine kits)."""
    built_in = Catalogue(kits.builtin())
    listed = "\n".join(described(spec, layout) for spec in built_in.specs())
    assert len(listed) / letters < 2000


def test_rules_and_built_in_catalogue_together_stay_under_2000_tokens():
    """What stands in every local prompt: 1,061 tokens (counted), 3.9 letters each."""
    assert len(prefix(Catalogue(kits.builtin()), "bound").system) / 3.8 < 2000


def test_the_date_is_written_the_same_in_every_locale():
    """Weekday and date, with no locale of the process in it."""
    assert encodings.today(datetime(2026, 5, 3)) == "Sunday 2026-05-03"  # noqa: DTZ001 - a bare date is what is tested


def test_dialogue_is_bounded_and_braces_in_it_are_text(catalogue):
    """The last messages, cut; a person who types {query} gets {query}."""
    long = [Message("user", f"{n} " + "x" * 2000) for n in range(20)]
    asked = request(catalogue, "text", Question("say {dialogue} {today}", dialogue=long)).messages[1].content
    assert asked.count("user: ") == encodings.DIALOGUE_MESSAGES
    assert "19 x" in asked
    assert len(asked) < 6 * 700
    assert asked.endswith("say {dialogue} {today}")


def test_secrets_never_reach_the_prompt(catalogue):
    """A value known to be secret is masked in query and dialogue."""
    with redaction.secrets("hunter2222"):
        made = request(
            catalogue, "text", Question("pin hunter2222", dialogue=[Message("user", "it is hunter2222")])
        )
    assert "hunter2222" not in made.messages[1].content


def test_the_prompt_states_the_rules_of_a_plan(catalogue):
    """Concrete arguments, pronouns, optional arguments, placeholders, memory only when needed, language, maximum."""
    rules = prefix(catalogue, "text", max_steps=5).system
    said = (
        "At most 5",
        "exact tool names",
        "never sees the conversation",
        "Replace he, she, it",
        "Leave out optional",
        "<director name, from step 1>",
        "<each note id from step 1>",
        "only as the first step",
        "person's language",
    )
    assert [words for words in said if words not in rules] == []
