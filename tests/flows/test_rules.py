"""Every rule has a code, a section of the page, a failing and a passing example; no code is without a rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.checking import NAMES, flow
from surefoot.flows import check_flow
from surefoot.flows import rules as home
from surefoot.flows._data import limits, table
from surefoot.flows.rules import Example, Rule, rules

ROOT = Path(__file__).parents[2]
SOURCES = [
    ROOT / "src/surefoot/flows" / f"{name}.py"
    for name in ("shape", "checker", "_meaning", "_places", "_details", "_consequences")
]
FAILING = [
    pytest.param(rule, one, id=f"{rule.code}-{n}") for rule in rules() for n, one in enumerate(rule.failing)
]
PASSING = [
    pytest.param(rule, one, id=f"{rule.code}-{n}") for rule in rules() for n, one in enumerate(rule.passing)
]


@pytest.mark.parametrize(("rule", "example"), FAILING)
def test_a_failing_example_has_that_problem_and_no_other(rule: Rule, example: Example):
    """And its message is one or two sentences that fit into a prompt."""
    problems = check_flow(example.flow(), example.facts, surfaces=example.surfaces)
    meant = problems[-1:] if example.grow == "problems" else problems
    assert [one.code for one in meant] == [rule.code]
    message = meant[0].message
    assert message.endswith((".", "?"))
    assert len(message) < 400


@pytest.mark.parametrize(("rule", "example"), PASSING)
def test_a_passing_example_has_no_problem(rule: Rule, example: Example):
    """It is the failing one, mended."""
    assert check_flow(example.flow(), example.facts, surfaces=example.surfaces) == []


def emitted() -> set[str]:
    """Every code that stands in the checker's own text: `place.problem("code"`, `self._wrong(place, "code"`."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    direct = re.findall(r'(?:\.problem|Problem)\(\s*(?:"[^"]*",\s*|[\w.]+,\s*)?"([a-z_]+)"', text)
    wrong = re.findall(r'_wrong\(\s*(?:[^"()]|\([^"()]*(?:"[^"]*")?[^"()]*\))*?"([a-z_]+)",', text)
    chosen = re.findall(r'code = "([a-z_]+)" if .* else "([a-z_]+)"', text)
    return {*direct, *wrong, *(code for pair in chosen for code in pair)}


def test_every_code_has_a_rule_and_every_rule_a_code():
    """So that no problem is without its section of the page."""
    assert emitted() == {rule.code for rule in rules()}
    assert len(rules()) == len({rule.code for rule in rules()})


def test_the_page_has_a_section_for_each_code():
    """With its own anchor."""
    page = (ROOT / "docs/flow-problems.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [rule.code for rule in rules()]


def test_every_limit_has_its_reason_and_its_rule():
    """A comment stands above each number."""
    text = (ROOT / "src/surefoot/flows/limits.toml").read_text(encoding="utf-8")
    assert re.findall(r"^#.*\n(\w+) = \d+$", text, re.MULTILINE) == list(table("limits"))
    assert limits().steps == table("limits")["steps"]


def test_an_example_grows_above_its_limit():
    """So that a page need not show two hundred steps."""
    grown = {one.grow: one.flow() for rule in rules() for one in rule.failing if one.grow}
    assert len(grown["steps"]["steps"]) == limits().steps + 1
    assert len(grown["text"]["steps"][0]) > limits().text
    assert len(grown["slots"]["steps"][0]["enter"]) == limits().slots + 1
    assert len(grown["vars"]["vars"]) == limits().vars + 1
    assert len(check_flow(grown["problems"])) == limits().problems + 1
    assert home.rules() is rules()


PROTOCOL = [
    ("use browse for anything on the web and open for a desktop application", {"open": "https://shop.example.com"}, "no_application"),
    ("use browse for anything on the web and open for a desktop application", {"browse": "Firefox"}, "no_address"),
    ("refer to the person's details only as variables, using the names given", {"enter": {"email": "ana@x.org"}}, "written_detail"),
    ("refer to the person's details only as variables, using the names given", {"enter": {"mail": "${E-Mail}"}}, "misspelt_name"),
    ("never invent a personal detail", {"enter": {"name": "Jane Doe"}}, "stand_in"),
    ("a secret never in an open application name", {"open": "${card number}"}, "misplaced_secret"),
    ("a secret never in a browse address", {"browse": "x.example.com/${card number}"}, "misplaced_secret"),
    ("a secret never in a do", {"do": "say ${card number}"}, "misplaced_secret"),
    ("a secret never in a verify", {"verify": "${card number} is shown"}, "misplaced_secret"),
    ("a secret never in a wait_for", {"wait_for": "${card number} is shown"}, "misplaced_secret"),
    ("a secret never in a stop_before", {"stop_before": "paying with ${card number}"}, "misplaced_secret"),
    ("a secret never in a choose", {"choose": {"what": "card", "option": "${card number}"}}, "misplaced_secret"),
    ("a secret never in a read", {"read": {"what": "${card number}", "into": "x"}}, "misplaced_secret"),
    ("a secret never in an extract", {"extract": {"what": "${card number}", "into": "x"}}, "misplaced_secret"),
    ("a secret never in a pick", {"pick": {"from": "cards", "by": "${card number}"}}, "misplaced_secret"),
    ("a secret never in a repeat_until", {"repeat_until": {"condition": "${card number}", "steps": ["x"], "max": 2}}, "misplaced_secret"),
    ("a secret never in an if", {"if": {"condition": "${card number}", "then": ["x"]}}, "misplaced_secret"),
    ("a secret never as an enter slot's own name", {"enter": {"${access key}": "x"}}, "misplaced_secret"),
    ("payment details only from secret facts actually given", {"enter": {"pin": "${card pin}"}}, "payment_not_given"),
    ("payment details only from secret facts actually given", {"enter": {"card number": "${city}"}}, "payment_not_secret"),
    ("end any purchase or booking with a stop_before for paying", "buy the ticket", "unguarded_payment"),
    ("end any purchase or booking with a stop_before for paying", "book the hotel", "unguarded_payment"),
    ("a choose option is the label the page shows, never a description", {"choose": {"what": "fare", "option": "the cheapest fare"}}, "described_option"),
    ("guard sending with a stop_before", "send the mail", "unguarded_act"),
    ("guard deleting with a stop_before", "delete the mail", "unguarded_act"),
    ("guard publishing with a stop_before", "publish the post", "unguarded_act"),
    ("guard submitting with a stop_before", "submit the application", "unguarded_act"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "step", "code"), PROTOCOL, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_sentence_of_the_planner_protocol_is_a_rule(sentence, step, code):
    """Where a checker can see it, what the planner is told is what the checker holds it to."""
    assert code in {one.code for one in check_flow(flow(step), NAMES)}


def test_what_the_protocol_allows_is_allowed():
    """A shared fact in any text, a secret as an enter value, a clear name that was asked for, the page's label."""
    names = NAMES.plus(shared=["title", "seat wish"])
    steps = (
        "choose ${title} in the title field",
        {"choose": {"what": "fare", "option": "Saver"}},
        {"enter": {"card number": "${card number}", "wish": "${seat wish}"}},
        {"stop_before": "paying"},
    )
    assert check_flow(flow(*steps), names) == []
