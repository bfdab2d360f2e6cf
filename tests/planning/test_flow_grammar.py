"""The grammar and the schema that bind a flow: what they write is a flow, and what must not be written cannot be."""

from __future__ import annotations

import json
import random
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.gbnf import Grammar
from surefoot.flows import FactNames, check_flow, flow_schema
from surefoot.flows.shape import shape_problems
from surefoot.flows.steps import KINDS, SURFACES
from surefoot.models.grammar import schema_grammar
from surefoot.planning.flow_grammar import MAX_STEPS, bound_schema, flow_grammar
from surefoot.planning.flow_hints import Hints, hints_of

PAGES, APPS = frozenset({"browser"}), frozenset({"desktop"})
FACTS = FactNames(
    shared=("first name", "email", "dad's email", "Größe"),
    secret=("card number", "pin", "card_code", "card", "Passwort 2", "a"),
)


def grammar(surfaces=SURFACES, facts=FACTS):
    return Grammar.parse(flow_grammar(facts, surfaces))


def texts_of(value, key=""):
    """Every text of a flow with the path of keys to it."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield f"{key}/{name}/key", name
            yield from texts_of(one, f"{key}/{name}")
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one, key)
    elif isinstance(value, str):
        yield key, value


def flow(*steps, app="browser", begin=({"browse": "https://a.example"},)):
    return json.dumps({"app": app, "steps": [*begin, *steps]}, ensure_ascii=False)


# --- what it writes ----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32), surfaces=st.sampled_from([PAGES, APPS, SURFACES]))
def test_every_sentence_is_a_flow(seed, surfaces):
    """It is JSON, has the shape of a flow, and fits the schema."""
    text = grammar(surfaces).sentence(random.Random(seed))
    data = json.loads(text)
    assert shape_problems(data) == []
    jsonschema.validate(data, flow_schema())
    assert len(data["steps"]) <= MAX_STEPS


NEVER = {"misplaced_secret", "surface_missing", "empty_name", "unclosed_name", "too_deep", "shadowed_name"}


@given(seed=st.integers(0, 2**32), surfaces=st.sampled_from([PAGES, APPS, SURFACES]))
def test_every_sentence_keeps_secrets_in_enter_and_surfaces_apart(seed, surfaces):
    """Those rules of the check no sentence can break."""
    data = json.loads(grammar(surfaces).sentence(random.Random(seed)))
    codes = {problem.code for problem in check_flow(data, FACTS, surfaces=surfaces)}
    assert not codes & NEVER - (
        {"surface_missing"} if data["app"] == "browser" and surfaces == APPS else set()
    )


@given(
    seed=st.integers(0, 2**32),
    secret=st.lists(st.from_regex(r"[a-z]([a-z_ ]{0,8}[a-z])?", fullmatch=True), min_size=1, max_size=6),
)
def test_no_secrets_name_stands_outside_an_enter_value(seed, secret):
    """Whatever the secrets are called: one a part of another, with blanks or `_`."""
    facts = FactNames(("first name",), tuple(secret))
    text = Grammar.parse(flow_grammar(facts, SURFACES)).sentence(random.Random(seed))
    for path, found in texts_of(json.loads(text)):
        names = re.findall(r"\$\{([^}]*)\}", found)
        if "/enter/" not in path or path.endswith("/key"):
            assert not set(names) & set(facts.secret)


def test_every_rule_is_there_and_used():
    """No rule is named that has no body, none stands there for nothing."""
    made = grammar()
    assert made.used() <= set(made.rules)
    assert set(made.rules) - made.used() == {"root"}


@pytest.mark.parametrize("surfaces", [PAGES, APPS, SURFACES])
def test_all_kinds_of_those_surfaces_can_be_written(surfaces):
    """From the table of steps: a new kind is in the grammar by itself."""
    kinds = [kind for kind in KINDS.values() if not kind.surface or kind.surface in surfaces]
    begin = [{"browse": "https://a.example"}] if "browser" in surfaces else [{"open": "Notepad"}]
    app = "browser" if "browser" in surfaces else "Notepad"
    made = grammar(surfaces)
    for kind in kinds:
        assert made.accepts(flow(kind.example, app=app, begin=begin)), kind.name
    for kind in KINDS.values():
        if kind not in kinds:
            assert not made.accepts(flow(kind.example, app=app, begin=begin)), kind.name


# --- what it does not write --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        {"enter": {"number": "${card number}", "code": "${card_code} ${a}"}},
        {"enter": {"name": "Dear ${first name}, ${dad's email}\nand ${Größe}"}},
        {"enter": {"member": "${membership number}"}},
        "choose ${first name} in the title field",
        {"verify": "the total is ${order_total}"},
        {"verify": 'it says "done" for $20'},
        {"enter": {"card": "${cards} ${card numbers} ${pine} ${car}"}},
        "say ${cards} ${card numbers} ${card nu} ${pine} ${ab} ${card_codes}",
        {"read": {"what": "価格", "into": "price_now"}},
    ],
    ids=json.dumps,
)
def test_it_takes(step):
    """Given names, invented ones, what a step stored; near a secret's name, too."""
    assert grammar().accepts(flow(step))


@pytest.mark.parametrize(
    "step",
    [
        "say ${card number}",
        "say ${a}",
        {"verify": "${pin}"},
        {"enter": {"${pin}": "x"}},
        {"enter": {"${first name}": "x"}},
        {"choose": {"what": "x", "option": "${card_code}"}},
        {"read": {"what": "x", "into": "card_code"}},
        {"read": {"what": "x", "into": "email"}},
        {"browse": "https://a.example/${email}"},
        {"browse": "the shop"},
        "say ${}",
        "say ${first name",
        "say {name}",
        "say <name>",
        "say $name",
        "say ${X}",
        "say ${a  b}",
        "say ${b_}",
        "say ${" + "b" * 40 + "}",
        "",
        " ",
        "\u3000x",
        "\u200b",
        "x" * 161,
        {"do": "x"},
        {"enter": {}},
        {"press": "x"},
        {"if": {"condition": "x", "then": []}},
        {"if": {"condition": "x", "then": [{"if": {"condition": "y", "then": ["z"]}}]}},
        {"repeat_until": {"condition": "x", "steps": ["y"], "max": 0}},
        {"repeat_until": {"condition": "x", "steps": ["y"], "max": 100}},
    ],
    ids=json.dumps,
)
def test_it_does_not_take(step):
    """Secrets elsewhere, names that are none, empty and long texts, deeper nesting."""
    assert not grammar().accepts(flow(step))


def test_a_flow_begins_where_it_acts():
    """In the browser with a `browse`, in an application with an `open`; both are the two ways."""
    made = grammar()
    assert not made.accepts(flow("look", begin=()))
    assert not grammar(PAGES).accepts(flow("look", begin=({"open": "Notepad"},)))
    assert made.accepts(flow("look", begin=({"open": "Notepad"},), app="Notepad"))
    assert not made.accepts(flow("look", app="Notepad"))


def test_it_has_so_many_steps_and_no_more():
    """One more is no sentence: a small model that goes round in circles is stopped."""
    assert grammar().accepts(flow(*["look"] * (MAX_STEPS - 1)))
    assert not grammar().accepts(flow(*["look"] * MAX_STEPS))


@given(seed=st.integers(0, 2**32), ranked=st.booleans(), stop=st.sampled_from(["", "paying"]))
def test_a_hinted_sentence_is_a_flow_of_so_many_steps(seed, ranked, stop):
    """Where the task names a host, ranks, or speaks of paying: it begins, holds and ends so."""
    hints = Hints(("shop.example", "b.example"), ranked, stop)
    data = json.loads(Grammar.parse(flow_grammar(FACTS, SURFACES, hints)).sentence(random.Random(seed)))
    assert shape_problems(data) == []
    assert len(data["steps"]) <= MAX_STEPS
    assert data["steps"][0]["browse"].startswith(("https://shop.example", "https://b.example"))
    assert any("pick" in step for step in data["steps"]) or not ranked
    assert not stop or "stop_before" in data["steps"][-1]


def test_it_stays_small():
    """Many facts make it longer line by line, not many times over."""
    many = FactNames(
        tuple(f"fact {n}" for n in range(40)), tuple(f"secret thing {chr(97 + n)}" for n in range(20))
    )
    assert len(flow_grammar(FactNames(), SURFACES)) < 4_000
    assert len(flow_grammar(many, SURFACES)) < 12_000


# --- the schema --------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32), surfaces=st.sampled_from([PAGES, APPS, SURFACES]))
def test_every_sentence_fits_the_bound_schema(seed, surfaces):
    """One set of limits, two notations."""
    jsonschema.validate(json.loads(grammar(surfaces).sentence(random.Random(seed))), bound_schema(surfaces))


@pytest.mark.parametrize("surfaces", [PAGES, APPS, SURFACES])
def test_the_schema_has_no_reference_and_can_be_a_grammar(surfaces):
    """Servers that bind by a schema make one of it."""
    schema = bound_schema(surfaces)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert json.loads(Grammar.parse(schema_grammar(schema)).sentence(random.Random(1))).keys() == {
        "app",
        "steps",
    }


@pytest.mark.parametrize(
    "steps",
    [
        [],
        ["x"] * 21,
        [{"open": "Notepad"}],
        [{"do": "x"}],
        [""],
        [{"if": {"condition": "x", "then": [{"if": 1}]}}],
    ],
)
def test_the_schema_refuses_too(steps):
    """The same limits."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"app": "browser", "steps": steps}, bound_schema(PAGES))


# --- what a task wants stands where it wants it --------------------------------------------------------------


def bound_to(goal, facts=None, surfaces=frozenset({"browser"})):
    return Grammar.parse(flow_grammar(facts or FactNames(), surfaces, hints_of(goal)))


def text_of(*steps, app="browser"):
    return json.dumps({"app": app, "steps": list(steps)}, ensure_ascii=False)


def test_what_is_looked_for_is_entered_at_once_and_the_stop_comes_last():
    """The values are the task's, the fields the model's, and no field is called as a fact is."""
    taken = bound_to("Get two tickets for Friday at a.example", FactNames(("email", "city")))
    head = {"browse": "https://a.example"}
    asked = {"enter": {"tickets": "two", "day": "Friday"}}
    form = {"enter": {"mail": "${email}"}}
    assert taken.accepts(text_of(head, asked, "choose seats", form, {"stop_before": "paying"}))
    assert not taken.accepts(text_of(head, "choose seats", form, {"stop_before": "paying"}))
    assert not taken.accepts(
        text_of(head, {"enter": {"email": "two", "day": "Friday"}}, form, {"stop_before": "paying"})
    )
    assert not taken.accepts(text_of(head, asked, form))
    assert not taken.accepts(text_of(head, asked, {"stop_before": "x"}, "y", form, {"stop_before": "paying"}))
    assert not taken.accepts(
        text_of(head, asked, {"enter": {"x": "${email}"}}, form, {"stop_before": "paying"})
    )
    assert not taken.accepts(text_of({"browse": "https://b.example"}, asked, form, {"stop_before": "paying"}))


def test_secrets_of_a_login_come_first_and_those_of_a_payment_last():
    """Each in one step of its own."""
    facts = FactNames((), ("member password", "card number", "card code"))
    taken = bound_to("Book a seat at a.example", facts)
    login = {"enter": {"password": "${member password}"}}
    card = {"enter": {"number": "${card number}", "code": "${card code}"}}
    head, stop = {"browse": "https://a.example"}, {"stop_before": "paying"}
    assert taken.accepts(text_of(head, "log in", login, "choose the seat", card, stop))
    assert not taken.accepts(text_of(head, "choose the seat", card, stop))
    assert not taken.accepts(text_of(head, "log in", login, "choose the seat", stop))


def test_a_criterion_is_said_in_the_words_of_the_task():
    """Not in those of an example."""
    taken = bound_to("Find the best rated inn on a.example")
    head = {"browse": "https://a.example"}
    assert taken.accepts(text_of(head, "search", {"pick": {"from": "inns", "by": "best rated"}}))
    assert not taken.accepts(text_of(head, "search", {"pick": {"from": "inns", "by": "cheapest"}}))
    assert not taken.accepts(text_of(head, "search"))


def test_a_document_is_opened_in_its_application_and_saved_under_its_name():
    """The last two steps name the file and save it."""
    taken = bound_to("Sort members.xlsx in Excel and save it as sorted.xlsx", None, frozenset({"desktop"}))
    head, named = {"open": "Microsoft Excel"}, {"enter": {"file name": "sorted.xlsx"}}
    assert taken.accepts(text_of(head, "sort", named, "save it", app="Microsoft Excel"))
    assert not taken.accepts(text_of(head, "sort", "save it", app="Microsoft Excel"))
    assert not taken.accepts(text_of({"open": "Calc"}, "sort", named, "save it", app="Calc"))
