"""The guide: it tells every step and rule, and what it shows is right."""

from __future__ import annotations

import json
import re

import pytest

from surefoot.flows import FactNames, check_flow
from surefoot.flows._data import limits
from surefoot.flows.flow import Flow
from surefoot.flows.formatting import layout
from surefoot.flows.guide import flow_guide, guide_version
from surefoot.flows.steps import KINDS

LONGEST = 4_500
"""Characters; about 1,100 tokens. The embedded model reads it before every plan."""

EXAMPLE = re.compile(r"^([^\n]*facts?: [^\n]*)\n\n```json\n(.*?)```", re.DOTALL | re.MULTILINE)


def examples():
    """Each whole example: its line of facts and secrets, and its text."""
    return EXAMPLE.findall(flow_guide())


def facts_of(line: str) -> FactNames:
    shared, _, secret = line.partition("secret")
    return FactNames(shared=tuple(re.findall("`(.+?)`", shared)), secret=tuple(re.findall("`(.+?)`", secret)))


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_step_is_told_with_its_example(name):
    """From the table: its meaning, an example, the parts that may be left out."""
    kind = KINDS[name]
    (line,) = [
        line for line in flow_guide().splitlines() if line.startswith(f"- `{json.dumps(kind.example)}`")
    ]
    assert kind.meaning in line
    assert [part.key for part in kind.parts if f"`{part.key}` is optional" in line] == [
        part.key for part in kind.parts if not part.required
    ]


@pytest.mark.parametrize("name", KINDS)
def test_every_example_of_a_step_passes_the_check(name):
    """As a step of a flow, with the facts it uses."""
    flow = {"app": "browser", "steps": [KINDS[name].example]}
    assert check_flow(flow, FactNames(shared=("email",))) == []


def test_both_surfaces_have_an_example():
    """A purchase on pages that stops before paying, and work in an application."""
    flows = [Flow.from_json(text) for _, text in examples()]
    assert len(flows) == flow_guide().count("```json") == 2
    assert [flow.on_pages for flow in flows] == [True, False]
    assert all("stop_before" in flow.to_json()["steps"][-1] for flow in flows)


@pytest.mark.parametrize(("facts", "text"), examples())
def test_every_example_passes_the_check_and_needs_its_facts(facts, text):
    """With the facts that stand above it there is nothing wrong, without them there is; it is laid out as all are."""
    assert check_flow(json.loads(text), facts_of(facts)) == []
    assert check_flow(json.loads(text))
    assert layout(json.loads(text)) == text


def test_names_that_the_examples_use_are_given_above_them():
    """None too many: a person learns what a fact is from them."""
    for facts, text in examples():
        used = set(re.findall(r"\$\{(.+?)\}", text))
        data = json.loads(text)
        own = {*data.get("vars", {}), *re.findall(r'"into": "(\w+)"', text)}
        assert set(re.findall("`(.+?)`", facts)) == used - own


RULES = {
    "the web begins with browse, an application with open": "`browse`, in an application with `open`",
    "details are only ${name}, names as they were given": "letter for letter",
    "invent a clear name for what else is needed": "invent a clear name",
    "never invent a personal detail": "Never write a personal detail, real or made up",
    "a secret is only the text of an enter": "stands only as a text of `enter`",
    "nor in a slot's description, nor in vars": "no field description, not in `vars`",
    "a purchase ends with a stop_before for paying": '`{"stop_before": "paying"}`',
    "a choose option is the label, a criterion is for pick": "use `pick`",
    "sending, deleting, publishing, submitting are guarded": "sending, deleting, publishing, submitting",
    "what to reach, never how": "no selectors, coordinates, shortcuts",
    "a condition never names a pick variable": "never names what `pick` stored",
    "what a branch or loop fills ends there": "can be used only there",
}


@pytest.mark.parametrize("rule", RULES)
def test_the_guide_holds_every_rule_of_the_language(rule):
    """What the protocol says of a plan, and what the checker refuses."""
    assert RULES[rule] in flow_guide()


def test_limits_are_those_of_the_check():
    """From the data."""
    assert (
        f"At most {limits().steps} steps, nested {limits().depth} deep, {limits().rounds} rounds."
        in flow_guide()
    )


def test_no_place_is_left_to_fill_in():
    """Only the language's own `${name}` is left."""
    assert not re.search(r"(?<!\$)\{[a-z_]+\}", flow_guide())
    assert "${name}" in flow_guide()


def test_it_is_short_and_has_a_version():
    """The small model pays for every word of it."""
    assert len(flow_guide()) < LONGEST
    assert guide_version().isdigit()
    assert not flow_guide().startswith("version")
