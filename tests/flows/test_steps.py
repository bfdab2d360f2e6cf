"""The steps: one table, from which they are read and written."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from surefoot.flows import steps
from surefoot.flows.steps import (
    KINDS,
    SURFACES,
    Do,
    Enter,
    If,
    Open,
    Pick,
    RepeatUntil,
    Step,
    step_from_json,
    step_to_json,
)

KINDS_OF_THE_DESIGN = [
    "do", "open", "browse", "enter", "choose", "read", "extract", "pick", "verify", "wait_for", "stop_before",
    "repeat_until", "if",
]  # fmt: skip


def test_the_language_has_these_kinds_of_step():
    """In the order in which the guide tells them."""
    assert list(KINDS) == KINDS_OF_THE_DESIGN
    assert {kind.make for kind in KINDS.values()} == set(typing.get_args(Step))


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_names_the_parts_that_its_step_has(name):
    """Each part is an attribute; what may be left out has a default, what may not has none."""
    kind = KINDS[name]
    assert kind.name == name
    attributes = {field.name: field for field in dataclasses.fields(kind.make)}
    assert [part.attribute for part in kind.parts] == [name for name in attributes if name != "bare"]
    for part in kind.parts:
        assert part.required == (attributes[part.attribute].default is dataclasses.MISSING)
        assert part.meaning
    assert kind.plain == (len(kind.parts) == 1 and not kind.parts[0].key)
    assert kind.meaning
    assert kind.surface in SURFACES | {""}


@pytest.mark.parametrize("name", KINDS)
def test_an_example_is_read_as_its_kind_and_written_the_same(name):
    """Read, written, read again."""
    kind = KINDS[name]
    step = step_from_json(kind.example)
    assert type(step) is kind.make
    assert step_to_json(step) == kind.example
    assert step_from_json(step_to_json(step)) == step


@pytest.mark.parametrize(
    ("step", "data"),
    [
        (Do("go on"), "go on"),
        (Do("go on", bare=False), {"do": "go on"}),
        (Open("Calculator"), {"open": "Calculator"}),
        (Enter({"b": "1", "a": "2"}), {"enter": {"b": "1", "a": "2"}}),
        (Pick("flights", "cheapest"), {"pick": {"from": "flights", "by": "cheapest"}}),
        (
            Pick("flights", "cheapest", "best"),
            {"pick": {"from": "flights", "by": "cheapest", "into": "best"}},
        ),
        (If("a", (Do("b"),)), {"if": {"condition": "a", "then": ["b"]}}),
        (
            If("a", (Do("b"),), (If("c", (Do("d", bare=False),)),)),
            {
                "if": {
                    "condition": "a",
                    "then": ["b"],
                    "else": [{"if": {"condition": "c", "then": [{"do": "d"}]}}],
                }
            },
        ),
        (
            RepeatUntil("a", (Do("b"), Open("c")), 3),
            {"repeat_until": {"condition": "a", "steps": ["b", {"open": "c"}], "max": 3}},
        ),
    ],
)
def test_a_step_is_read_and_written(step, data):
    """What was left out stays out, a bare text stays bare, slots keep their order, steps inside steps are steps."""
    assert step_from_json(data) == step
    assert step_to_json(step) == data
    if isinstance(step, Enter):
        assert list(step_to_json(step)["enter"]) == list(step.slots)


def test_parts_may_come_in_any_order():
    """They are written in the order of the table."""
    step = step_from_json({"pick": {"into": "x", "by": "cheapest", "from": "flights"}})
    assert list(step_to_json(step)["pick"]) == ["from", "by", "into"]


def test_what_was_read_does_not_change_with_its_source():
    """A step holds values of its own."""
    data = {"enter": {"email": "${email}"}}
    step = step_from_json(data)
    data["enter"]["email"] = "changed"
    assert step == Enter({"email": "${email}"})
    written = step_to_json(step)
    written["enter"]["email"] = "changed"
    assert step == Enter({"email": "${email}"})


@pytest.mark.parametrize("kind", typing.get_args(Step))
def test_a_step_cannot_be_changed(kind):
    """And has no place for anything else."""
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)


def test_what_each_surface_is_for():
    """`open` is for the desktop, `browse` for pages; every other step is for either."""
    assert {kind.name: kind.surface for kind in KINDS.values() if kind.surface} == {
        "open": "desktop",
        "browse": "browser",
    }
    assert {"browser", "desktop"} == SURFACES
    assert steps.BROWSER in SURFACES
