"""Tool names, mapped to what providers allow and back."""

from __future__ import annotations

import re

import pytest

from surefoot.models.names import ToolNames

ALLOWED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@pytest.mark.parametrize(
    "names",
    [
        ["calendar.createEvent"],
        ["tool.name", "tool_name"],
        ["tool.name", "tool name", "tool:name", "tool_name"],
        ["chrome-devtools__navigate_page", "mcp/server/tool"],
        ["añadir", "添加任务", "任务列表", ""],
        ["x" * 65, "x" * 66, "x" * 64],
        ["a.b" * 40, "a.b" * 41],
        ["name\n", "name"],
        ["a.b", "a b", f"a_b_{'0' * 8}"],
    ],
)
def test_names_go_there_and_back_and_never_fall_together(names):
    """Fault kind "provider name rules": every name is allowed outside, unlike the others, and comes back."""
    mapping = ToolNames(names)
    outward = [mapping.outward(name) for name in names]
    assert all(ALLOWED.fullmatch(name) for name in outward)
    assert len(set(outward)) == len(set(names))
    assert [mapping.inward(name) for name in outward] == names


def test_an_allowed_name_stays_and_a_free_plain_form_is_used():
    """A model reads names: they are changed only as far as they must be."""
    mapping = ToolNames(["tool_name", "tool.name", "calendar.createEvent"])
    assert mapping.outward("tool_name") == "tool_name"
    assert mapping.outward("calendar.createEvent") == "calendar_createEvent"
    assert mapping.outward("tool.name").startswith("tool_name_")


def test_the_mapping_does_not_depend_on_the_order():
    """The same set gives the same names, so a cached prompt stays the same."""
    names = ["a.b", "a b", "a_b", "c.d"]
    forward, backward = ToolNames(names), ToolNames(reversed(names))
    assert [forward.outward(name) for name in names] == [backward.outward(name) for name in names]


def test_a_mark_never_meets_a_name_that_is_there():
    """Where the marked form is somebody's name already, the mark grows."""
    taken = ToolNames(["a.b", "a b"]).outward("a.b")
    mapping = ToolNames(["a.b", "a b", taken])
    assert mapping.outward(taken) == taken
    assert mapping.outward("a.b") not in {taken, mapping.outward("a b")}


def test_a_name_nobody_gave_stays_as_it_is():
    """What a model made up comes back unchanged, for the caller to refuse; outward it is made allowed."""
    mapping = ToolNames(["addTask"])
    assert mapping.inward("makeCoffee") == "makeCoffee"
    assert mapping.outward("makeCoffee") == "makeCoffee"
    assert ALLOWED.fullmatch(mapping.outward("make.coffee"))
