"""Each sentence of the planner's protocol: the prompt says it, and where code holds a flow to it, that it does."""

from __future__ import annotations

import json

import pytest

from surefoot import ScriptedModel
from surefoot.errors import PlanFailedError
from surefoot.flows import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.steps import KINDS, SURFACES
from surefoot.planning._prompts import prompt
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.planning.flow_prompt import flow_prefix, repair_text

FACTS = FactNames(shared=("title", "email"), secret=("card number", "password"))
PROTOCOL = {
    "it never acts and never sees the screen": "You never act and you see no screen.",
    "the reply is exactly one JSON object: a flow": "exactly one JSON object, the flow, and with nothing else",
    "use browse for anything on the web and open for a desktop application": (
        "Use `browse` for anything on the web and `open` for a desktop application."
    ),
    "refer to the person's details only as ${name} variables, using the fact names it was given": (
        "Refer to the person's details only as `${name}`, with the names of the facts you are given."
    ),
    "inventing a clear name for anything else the task will need, so the caller can be asked for it": (
        "For anything else the task will need invent a clear name, such as `${membership number}`: the person is asked"
    ),
    "never to invent a personal detail itself": "Never invent a personal detail yourself.",
    "a shared fact may appear in any step's text, written the way a person would": (
        'A shared fact may appear in the text of any step, written the way a person would: "choose ${title} in the title '
        'field".'
    ),
    "a secret fact may appear only as an enter step's value": "A secret fact may appear only as the value of an `enter`",
    "never as an enter slot's own name": "never as the name of a slot of `enter`",
    "payment details only from secret facts it was actually given": (
        "Enter payment details only from secret facts that you were given."
    ),
    "end any purchase or booking with a stop_before for paying": (
        "End any purchase or booking with a `stop_before` for paying."
    ),
    "a choose option is the label the page shows, never a description": (
        'The option of a `choose` is the label that the page shows ("Saver"), never a description ("the cheapest fare").'
    ),
    "picking by a criterion is what pick is for": "To go by a criterion use `pick`.",
    "guard sending, deleting, publishing, or submitting with a stop_before": (
        "Guard sending, deleting, publishing and submitting with a `stop_before`."
    ),
}
"""Rule to the words of the prompt."""


@pytest.mark.parametrize("rule", PROTOCOL)
def test_the_protocol_says(rule):
    """Every sentence of the contract stands in the system turn, before the guide."""
    protocol = flow_prefix().system.partition("# Writing a flow")[0]
    assert PROTOCOL[rule] in protocol


def test_the_protocol_names_every_kind_that_a_secret_is_kept_out_of():
    """All kinds of steps but `enter`: a new kind must be added to the sentence."""
    (line,) = [one for one in prompt("flow_protocol").text.splitlines() if one.startswith("- A secret fact")]
    assert {name for name in KINDS if f"`{name}`" in line} == set(KINDS)


def test_the_prefix_key_follows_its_text():
    """A changed protocol or guide is another state to keep."""
    assert flow_prefix().key == flow_prefix().key
    assert len(flow_prefix().key) == 64
    assert prompt("flow_protocol").version.isdigit()


def test_nothing_is_left_to_fill_in():
    """Only the language's own `${name}`."""
    text = repair_text([Problem("2", "blank", "do is {empty}.")])
    assert "1. step 2: do is {empty}." in text
    assert "{problems}" not in text


# --- where code holds a flow to it -------------------------------------------------------------------------------


async def problems_of(
    *steps, goal="Do it", surfaces=SURFACES, app="browser", begin=({"browse": "a.example"},)
):
    """The codes of what is wrong with a flow that the model wrote."""
    flow = {"app": app, "steps": [*begin, *steps]}
    model = ScriptedModel(json.dumps(flow))
    try:
        await FlowPlanner(model, repairs=0, bound=False).plan(goal, FACTS, surfaces)
    except PlanFailedError as error:
        return {problem["code"] for problem in error.details["problems"]}
    return set()


@pytest.mark.parametrize(
    ("step", "surfaces"),
    [
        ({"open": "Notepad"}, {"browser"}),
        ({"browse": "b.example"}, {"desktop"}),
        ({"open": "https://a.example"}, SURFACES),
    ],
)
async def test_a_surface_that_is_not_there_is_not_used(step, surfaces):
    """Rule "which surfaces (desktop, browser, or both) are available"; an application is no address."""
    app, begin = ("browser", ()) if "browser" in surfaces else ("Notepad", ())
    found = await problems_of(step, surfaces=frozenset(surfaces), app=app, begin=begin)
    assert found & {"surface_missing", "no_application"}


@pytest.mark.parametrize(
    "step",
    [
        "choose ${title} in the title field",
        {"verify": "the page greets ${title}"},
        {"choose": {"what": "title", "option": "${title}"}},
        {"enter": {"greeting": "Dear ${title}"}},
        {"read": {"what": "the line below ${title}", "into": "line"}},
    ],
)
async def test_a_shared_fact_may_stand_in_any_text(step):
    """Rule "a shared fact may appear in any step's text"."""
    assert await problems_of(step) == set()


SECRET_PLACES = [
    {"open": "${password}"},
    {"browse": "https://a.example/${password}"},
    "type ${password}",
    {"do": "type ${password}"},
    {"verify": "${password} is shown"},
    {"wait_for": "${password} is shown"},
    {"stop_before": "sending ${password}"},
    {"choose": {"what": "${password}", "option": "A"}},
    {"choose": {"what": "list", "option": "${password}"}},
    {"read": {"what": "${password}", "into": "a"}},
    {"extract": {"what": "${password}", "into": "a"}},
    {"pick": {"from": "${password}", "by": "cheapest"}},
    {"pick": {"from": "list", "by": "${password}"}},
    {"repeat_until": {"condition": "${password}", "steps": ["go"], "max": 2}},
    {"if": {"condition": "${password}", "then": ["go"]}},
    {"enter": {"${password}": "x"}},
]


@pytest.mark.parametrize("step", SECRET_PLACES, ids=json.dumps)
async def test_a_secret_anywhere_but_an_enter_value_is_refused(step):
    """Rule "a secret fact may appear only as an enter step's value": never in any other kind, never as a slot's name."""
    assert "misplaced_secret" in await problems_of(step)


def test_every_kind_is_among_the_places():
    """A new kind of step must be added to them."""
    kinds = {"do" if isinstance(step, str) else next(iter(step)) for step in SECRET_PLACES}
    assert kinds == set(KINDS)


async def test_a_secret_as_an_enter_value_is_right():
    """The one place for it."""
    assert await problems_of({"enter": {"password": "${password}"}}) == set()


async def test_payment_details_come_only_from_secrets_that_were_given():
    """Rule "enter payment details only from secret facts it was actually given"."""
    stop = {"stop_before": "paying"}
    assert await problems_of({"enter": {"card number": "${card number}"}}, stop) == set()
    assert "payment_not_given" in await problems_of({"enter": {"cvv": "${card cvv}"}}, stop)


@pytest.mark.parametrize(
    "steps", [["pay for the order"], ["buy the ticket"], [{"enter": {"card number": "${card number}"}}]]
)
async def test_a_purchase_without_a_stop_is_refused(steps):
    """Rule "end any purchase or booking with a stop_before for paying"."""
    assert await problems_of(*steps)
    assert await problems_of({"stop_before": "paying"}) == set()


@pytest.mark.parametrize("option", ["the cheapest fare", "the fastest route", "the best rated hotel"])
async def test_a_described_option_is_refused(option):
    """Rule "a choose option must be the label the page shows, never a description"."""
    assert await problems_of({"choose": {"what": "fare", "option": option}})
    assert await problems_of({"choose": {"what": "fare", "option": "Saver"}}) == set()


@pytest.mark.parametrize(
    "step", ["send the mail", "delete the account", "publish the article", "submit the form"]
)
async def test_what_cannot_be_taken_back_is_guarded(step):
    """Rule "guard sending, deleting, publishing, or submitting with a stop_before"."""
    assert await problems_of(step)


async def test_a_detail_that_is_written_out_is_refused_where_a_fact_has_it():
    """Rule "refer to the person's details only as ${name} variables"."""
    assert "written_detail" in await problems_of({"enter": {"email": "jane@example.org"}})
