"""The shape of a flow: what is refused before anything is read, each at its place, all at once."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flows.checking import CARD, flow
from surefoot.errors import FlowInvalidError, InputError, error_from_dict
from surefoot.flows._data import limits
from surefoot.flows._keys import nearest_key, nearest_kind
from surefoot.flows.flow import Flow
from surefoot.flows.shape import need_shape, shape_problems
from surefoot.flows.steps import KINDS


def at(*steps: Any, **more: Any) -> list[tuple[str, str, str]]:
    return [(one.path, one.code, one.pointer) for one in shape_problems(flow(*steps, **more))]


def condition(**more: Any) -> dict[str, Any]:
    return {"if": {"condition": "a banner is shown", "then": ["close it"], **more}}


def nested(depth: int) -> Any:
    steps: list[Any] = ["close it"]
    for _ in range(depth):
        steps = [{"if": {"condition": "a banner is shown", "then": steps}}]
    return steps


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_the_example_of_every_kind_has_the_right_shape(kind):
    """The table of steps is what the check reads."""
    assert shape_problems(flow(kind.example)) == []


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [{}], b"x", {1, 2}, object()])
def test_what_is_no_object_is_no_flow(value):
    """Whatever it is, it is told as one problem of the whole."""
    (problem,) = shape_problems(value)
    assert (problem.path, problem.code, problem.pointer) == ("", "not_an_object", "")


def test_nothing_empty_in_any_place():
    """No empty app, steps, text, fields, branches or bodies; invisible characters are as empty as none."""
    wrong = flow(
        "",
        {"do": " \t\n"},
        {"browse": "\u200b\ufeff"},
        {"enter": {}},
        {"enter": {"email": "\u00a0", " ": "x"}},
        {"read": {"what": "\u2060", "into": ""}},
        condition(**{"else": []}),
        {"if": {"condition": "\u00ad", "then": []}},
        {"repeat_until": {"condition": "x", "steps": [], "max": 2}},
        {},
        app="\u3164",
    )
    problems = shape_problems(wrong)
    assert {one.code for one in problems} == {"blank"}
    assert [one.path for one in problems] == [
        "app",
        "1",
        "2",
        "3",
        "4",
        "5",
        "5",
        "6",
        "6",
        "7",
        "8",
        "8",
        "9",
        "10",
    ]
    assert shape_problems({"app": "browser", "steps": []})[0].code == "blank"
    assert shape_problems(flow("x", vars={"": "x", "y": ""}))[0].code == "blank"
    assert shape_problems(flow("x", vars={})) == []


@pytest.mark.parametrize(
    ("step", "path", "code"),
    [
        (7, "1", "wrong_type"),
        (None, "1", "wrong_type"),
        (True, "1", "wrong_type"),
        (["x"], "1", "wrong_type"),
        ({"do": 5}, "1", "wrong_type"),
        ({"browse": ["x"]}, "1", "wrong_type"),
        ({"enter": "x"}, "1", "wrong_type"),
        ({"enter": {"adults": 2}}, "1", "wrong_type"),
        ({"enter": {2: "x"}}, "1", "wrong_type"),
        ({"read": "x"}, "1", "wrong_type"),
        ({"read": {"what": None, "into": "x"}}, "1", "wrong_type"),
        ({"read": {"what": "x", "into": 5}}, "1", "wrong_type"),
        (condition(then="close it"), "1", "wrong_type"),
        (condition(then=[5]), "1.1", "wrong_type"),
        (condition(**{"else": ["x", {"wait": "y"}]}), "1.else.2", "unknown_step"),
        (condition(**{"else": None}), "1", "wrong_type"),
        ({"read": {"what": "x"}}, "1", "missing_key"),
        ({"choose": {"what": "x", "option": "y", "wait": "z"}}, "1", "unknown_key"),
        ({"choose": {"what": "x", "option": "y", 5: "z"}}, "1", "unknown_key"),
        ({"open": "x", "do": "y"}, "1", "several_keys"),
        ({5: "x"}, "1", "unknown_step"),
        ({"Do": "x"}, "1", "unknown_step"),
        ({"read": {"what": "x", "into": "a b"}}, "1", "variable_name"),
        ({"read": {"what": "x", "into": "1a"}}, "1", "variable_name"),
        ({"read": {"what": "x", "into": "${a}"}}, "1", "variable_name"),
        ({"pick": {"from": "x", "by": "y", "into": "a-b"}}, "1", "variable_name"),
    ],
)
def test_each_wrong_shape_is_told_at_its_step(step, path, code):
    """One wrong value is one problem."""
    assert [(one.path, one.code) for one in shape_problems(flow(step))] == [(path, code)]


@pytest.mark.parametrize(
    "rounds", [0, -1, 1.0, True, "3", None, [], float("nan"), limits().rounds + 1, 10**5000], ids=lambda _: ""
)
def test_rounds_are_a_whole_number_within_the_limit(rounds):
    """Neither true nor 3.0 nor "3" is one, and a number of thousands of digits is told without being written."""
    step = {"repeat_until": {"condition": "x", "steps": ["y"], "max": rounds}}
    assert at(step) == [("1", "rounds", "/steps/0/repeat_until/max")]
    for right in (1, limits().rounds):
        assert at({"repeat_until": {"condition": "x", "steps": ["y"], "max": right}}) == []


def test_the_flow_itself():
    """App and steps must be there, vars may be, and nothing else."""
    assert [one.code for one in shape_problems({})] == ["missing_key", "missing_key"]
    assert [one.path for one in shape_problems({"app": 5, "steps": "x", "vars": []})] == ["app", "", "vars"]
    wrong = {"app": "browser", "steps": ["x"], "timeout": 5, 7: 8}
    assert [(one.code, one.pointer) for one in shape_problems(wrong)] == [
        ("unknown_key", "/timeout"),
        ("unknown_key", ""),
    ]
    assert [one.code for one in shape_problems(flow("x", vars={"a": 5, 6: "x"}))] == [
        "wrong_type",
        "wrong_type",
    ]


def test_all_problems_come_at_once_in_the_order_of_the_file():
    """Also where the keys of a flow or a step stand in another order."""
    wrong = {"steps": [{"read": {"into": "a b", "what": ""}}, 5], "vars": [], "app": ""}
    assert [one.path for one in shape_problems(wrong)] == ["1", "1", "2", "vars", "app"]
    assert [one.code for one in shape_problems(wrong)][:2] == ["variable_name", "blank"]


@pytest.mark.parametrize(("over", "code"), [(0, []), (1, ["too_deep"]), (5000, ["too_deep"])])
def test_nesting_has_a_limit(over, code):
    """What is nested thousands deep is one problem and no crash."""
    assert [one[1] for one in at(*nested(limits().depth - 1 + over))] == code


def test_counts_have_limits():
    """At the limit nothing is wrong, one above it is."""
    most = limits()
    assert at(*["x"] * most.steps) == []
    assert at(*["x"] * (most.steps * 50)) == [("", "too_many_steps", "/steps")]
    assert at(condition(then=["x"] * most.steps), "y")[0][1] == "too_many_steps"
    assert at("x" * most.text) == []
    assert at("x" * (most.text + 1))[0][1] == "too_long"
    for count, wrong in ((most.slots, []), (most.slots + 1, ["too_many_slots"])):
        assert [one[1] for one in at({"enter": {f"field {n}": "x" for n in range(count)}})] == wrong
    for count, wrong in ((most.vars, []), (most.vars + 1, ["too_many_vars"])):
        assert [one[1] for one in at("x", vars={f"v{n}": "x" for n in range(count)})] == wrong
    assert at({"enter": {"x" * (most.name + 1): "y"}})[0][1] == "too_long"
    assert at({"read": {"what": "x", "into": "x" * (most.name + 1)}})[0][1] == "too_long"


def test_a_file_that_is_no_flow_at_all_has_a_bounded_list():
    """A million keys are not a million problems."""
    assert len(shape_problems({str(n): n for n in range(10**5)})) <= limits().keys + 2
    assert len(shape_problems(flow({"choose": {str(n): n for n in range(10**5)}}))) <= limits().keys + 2
    assert len(shape_problems(flow({str(n): n for n in range(10**5)}))) == 1
    assert len(shape_problems(flow(*[5] * 10**5))) == limits().steps + 1


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("click", "do"),
        ("goto", "browse"),
        ("wait-for", "wait_for"),
        ("Wait_For", "wait_for"),
        ("brwose", "browse"),
        ("select", "choose"),
        ("type", "enter"),
        ("loop", "repeat_until"),
        ("veriffy", "verify"),
        ("frobnicate", None),
        ("", None),
    ],
)
def test_the_nearest_kind_is_told(wrong, right):
    """By its other names and by its letters; nothing where nothing is near."""
    assert nearest_kind(wrong) == right
    (problem,) = shape_problems(flow({wrong: "x"}))
    assert (f"Did you mean {right}, as in" if right else "The kinds are do, open") in problem.message


@pytest.mark.parametrize(
    ("wrong", "known", "right"),
    [
        ("value", ("what", "option"), "option"),
        ("as", ("what", "into"), "into"),
        ("opton", ("what", "option"), "option"),
        ("otherwise", ("condition", "then", "else"), "else"),
        ("text", ("from", "by"), None),
        (5, ("what",), None),
    ],
)
def test_the_nearest_key_is_told(wrong, known, right):
    """Only one that the object may have."""
    assert nearest_key(wrong, known) == right


def test_a_step_with_two_keys_says_how_to_part_or_join_them():
    """Parts beside their kind go inside; two kinds are two steps; a plain kind stays alone."""
    inside = shape_problems(flow({"read": "x", "into": "y"}))[0].message
    assert 'inside: {"read": {"what": ..., "into": ...}}' in inside
    assert "step of its own" in shape_problems(flow({"do": "x", "open": "y"}))[0].message
    assert "Keep verify" in shape_problems(flow({"verify": "x", "timeout": 5}))[0].message
    assert "step of its own" in shape_problems(flow({"a": 1, "b": 2}))[0].message


def test_a_variable_name_is_mended_where_it_can_be():
    """The message has the name to write."""
    assert (
        'Write "total_price".'
        in shape_problems(flow({"read": {"what": "x", "into": "total price"}}))[0].message
    )
    assert "Write" not in shape_problems(flow({"read": {"what": "x", "into": "1 2"}}))[0].message


def test_a_pointer_is_a_json_pointer():
    """With `~` and `/` escaped, so that a line can be found."""
    assert at({"enter": {"a/b~c": 5}})[0][2] == "/steps/0/enter/a~1b~0c"


def test_no_message_shows_a_number_that_may_be_a_cards():
    """As a number, as a key, as a name, as a kind; small numbers are shown."""
    for step in (
        int(CARD.replace(" ", "")),
        {CARD: "x"},
        {"choose": {CARD: 1}},
        {"read": {"what": "x", "into": CARD}},
    ):
        for one in shape_problems(flow(step)):
            assert "1111" not in repr(one)
    assert "the number 7" in shape_problems(flow(7))[0].message


def test_need_shape_raises_with_all_that_is_wrong():
    """One error with every problem, which survives JSON."""
    assert need_shape(flow("x")) is None
    with pytest.raises(FlowInvalidError) as raised:
        Flow.from_json(flow(5, {"click": "x"}))
    error = raised.value
    assert isinstance(error, InputError)
    assert error.code == "flow_invalid"
    assert [one["code"] for one in error.details["problems"]] == ["wrong_type", "unknown_step"]
    assert "step 1" in error.message
    assert "(1 more)" in error.message
    assert error_from_dict(error.to_dict()).details == error.details
    with pytest.raises(FlowInvalidError, match=r"can be read: the flow: The flow has no app"):
        need_shape({"steps": ["x"]})


def test_the_value_is_left_as_it_is():
    """Checking changes nothing."""
    wrong = flow({"enter": {"a": 5}}, {"read": {"into": 1}}, vars=[1])
    before = copy.deepcopy(wrong)
    assert shape_problems(wrong) == shape_problems(wrong)
    assert wrong == before
