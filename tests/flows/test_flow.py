"""A flow as a whole: read exactly, written exactly, or refused with all that is wrong."""

from __future__ import annotations

import pytest

from surefoot import flows
from surefoot.errors import FlowInvalidError, UnreadableInputError, error_from_dict
from surefoot.flows.flow import Flow
from surefoot.flows.problems import Problem
from surefoot.flows.steps import Browse, Do

SMALL = {"app": "browser", "steps": [{"browse": "https://example.com"}, "search for tea"]}


def test_a_flow_is_read_from_json_and_written_the_same():
    """Values, and the order of keys."""
    flow = Flow.from_json(SMALL)
    assert flow == Flow("browser", (Browse("https://example.com"), Do("search for tea")))
    assert flow.to_json() == SMALL


@pytest.mark.parametrize(("given", "there"), [({}, True), ({"city": "Oslo"}, True), (None, False)])
def test_variables_that_were_left_out_stay_out(given, there):
    """No variables, empty ones and some are three different things."""
    data = SMALL if given is None else {**SMALL, "vars": given}
    flow = Flow.from_json(data)
    assert flow.vars == given
    assert ("vars" in flow.to_json()) is there
    assert flow.to_json() == data
    assert list(flow.to_json()) == [key for key in ("app", "vars", "steps") if key in data]


@pytest.mark.parametrize(
    "text", ['{"app": "browser", "steps": ["search for tea"]}', "app: browser\nsteps:\n- search for tea\n"]
)
def test_a_text_is_read_first(text):
    """JSON or YAML."""
    assert Flow.from_json(text) == Flow("browser", (Do("search for tea"),))


def test_a_text_that_is_neither_is_unreadable():
    """With the line, and not as a flow that has problems."""
    with pytest.raises(UnreadableInputError, match="Line 1, column 13"):
        Flow.from_json('{"app": "x" "steps": []}')


def test_a_flow_of_another_shape_says_all_that_is_wrong():
    """At once, in the error's details, and they survive JSON."""
    with pytest.raises(FlowInvalidError) as caught:
        Flow.from_json({"app": "", "steps": [{"brwose": "x"}, 7]})
    problems = caught.value.details["problems"]
    assert [(one["path"], one["code"]) for one in problems] == [
        ("app", "blank"),
        ("1", "unknown_step"),
        ("2", "wrong_type"),
    ]
    assert error_from_dict(caught.value.to_dict()).details["problems"] == problems


def test_the_text_of_a_flow_is_its_one_layout():
    """It ends with a line end and reads as the same flow."""
    flow = Flow.from_json({**SMALL, "vars": {"größe": "✓"}})
    assert flow.to_text() == (
        '{\n  "app": "browser",\n  "vars": {"größe": "✓"},\n  "steps": [\n    {"browse": "https://example.com"},\n'
        '    "search for tea"\n  ]\n}\n'
    )
    assert Flow.from_json(flow.to_text()) == flow


@pytest.mark.parametrize(
    ("app", "pages"), [("browser", True), ("Browser", False), ("LibreOffice Calc", False)]
)
def test_where_a_flow_begins(app, pages):
    """`browser` is the one name that means pages."""
    assert Flow(app, (Do("x"),)).on_pages is pages


@pytest.mark.parametrize(
    ("path", "where"),
    [("4.2", "step 4.2"), ("4.else.1", "step 4.else.1"), ("app", "app"), ("vars", "vars"), ("", "the flow")],
)
def test_a_problem_says_where_it_is(path, where):
    """As a text for people and models, and as JSON for programs."""
    problem = Problem(path, "some_code", "What is wrong.", pointer="/x", line=3)
    assert str(problem) == f"{where}: What is wrong."
    assert problem.to_dict() == {"path": path, "code": "some_code", "message": "What is wrong.", "line": 3}


def test_the_rooms_public_names():
    """Each loads when first used, and no other name does."""
    assert flows.__all__ == sorted(flows.__all__, key=lambda name: (name[0].islower(), name))
    for name in flows.__all__:
        assert getattr(flows, name).__module__.startswith("surefoot.flows.")
        assert name in dir(flows)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        flows.nothing  # noqa: B018 - reading it is the test
