"""What holds for every flow and every value: the checker never crashes, keeps secrets in fields, and knows its names."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flows.strategies import FLOWS, JSON, almost
from surefoot.flows import FactNames, Flow, check_flow
from surefoot.flows.checker import missing_names
from surefoot.flows.shape import shape_problems
from surefoot.flows.steps import KINDS, PartType

NAMES = FactNames(("email", "city"), ("card number", "access key"))
SECRET = st.sampled_from(["${card number}", "x ${access key}", "${access key} y ${city}"])
CARD = "4111 1111 1111 1111"

# --- any value ---------------------------------------------------------------------------------------------------

ODD = st.one_of(
    st.binary(max_size=3),
    st.floats(),
    st.integers(),
    st.text(max_size=5),
    st.just(...),
    st.tuples(st.none()),
    st.sets(st.integers(), max_size=1),
    st.sampled_from([CARD, "${", "${}", "${x}", "\ud800", "\u200b", "a_b", "{{email}}"]),
)
ODD_KEYS = st.one_of(
    st.sampled_from(["app", "vars", "steps", *KINDS, "what", "into", CARD]),
    st.integers(),
    st.binary(max_size=2),
    st.floats(),
)
ANYTHING = st.recursive(
    ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD_KEYS, inner, max_size=4),
    max_leaves=15,
)
SHAPED = st.fixed_dictionaries(
    {
        "app": ANYTHING,
        "steps": st.lists(st.dictionaries(ODD_KEYS, ANYTHING, max_size=2) | ANYTHING, max_size=4),
    },
    optional={"vars": st.dictionaries(ODD_KEYS, ANYTHING, max_size=3)},
)


@settings(max_examples=150)
@given(JSON | ANYTHING | SHAPED | almost() | FLOWS)
def test_no_value_crashes_the_checker(value):
    """JSON or not: problems come out, as text that can be printed and JSON, and the value stays as it was."""
    before = copy.deepcopy(value)
    problems = check_flow(value, NAMES)
    assert problems == check_flow(value, NAMES)
    assert repr(value) == repr(before)
    missing_names(value)
    for one in problems:
        json.dumps(one.to_dict())
        str(one).encode()
        assert "1111" not in repr(one)
        assert one.code
        assert 0 < len(one.message) < 1000


@settings(max_examples=80)
@given(JSON | almost() | FLOWS)
def test_what_has_the_right_shape_can_be_read_and_the_rest_cannot(value):
    """The check of shape and the reader agree, and the checker has all problems of shape."""
    problems = shape_problems(value)
    if problems:
        told = check_flow(value)
        assert [one for one in told if one in problems] == problems
    else:
        assert Flow.from_json(value).to_json() == value
        read = check_flow(
            Flow.from_json(value), NAMES
        )  # its keys may stand in another order, and its problems so
        assert sorted(map(str, read)) == sorted(map(str, check_flow(value, NAMES)))


# --- valid flows, and secrets in them ----------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        "the list",
        "next page",
        "Größe",
        "価格の一覧",
        "it's here",
        "to ${city}",
        "मूल्य",
        "row 12",
        "a: b",
        "x & y",
    ]
)


def _part(type_: PartType, inner: st.SearchStrategy[Any] | None, number: int) -> st.SearchStrategy[Any]:
    if type_ is PartType.STEPS:
        assert inner is not None
        return st.lists(inner, min_size=1, max_size=2)
    if type_ is PartType.SLOTS:
        return st.dictionaries(WORDS, WORDS | st.just("${card number}"), min_size=1, max_size=2)
    if type_ is PartType.ROUNDS:
        return st.integers(1, 9)
    if type_ is PartType.VARIABLE:
        return st.sampled_from([f"kept{number}", f"kept_{number}", f"größe{number}"])
    if type_ is PartType.ADDRESS:
        return st.sampled_from(["example.com", "https://x.example.com/a", "https://${city}.example.com"])
    return WORDS


@st.composite
def _step(draw: Any, depth: int) -> Any:
    kinds = [
        kind
        for kind in KINDS.values()
        if depth > 1 or all(one.type is not PartType.STEPS for one in kind.parts)
    ]
    kind = draw(st.sampled_from(kinds))
    inner = _step(depth - 1) if depth > 1 else None
    number = draw(st.integers(1, 5))
    if kind.plain:
        return {kind.name: draw(_part(kind.parts[0].type, inner, number))}
    return {
        kind.name: {
            one.key: draw(_part(one.type, inner, number))
            for one in kind.parts
            if one.required or draw(st.booleans())
        }
    }


VALID = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["browser", "Calculator"]),
        "vars": st.dictionaries(st.sampled_from(["trip", "my trip"]), WORDS, max_size=2),
        "steps": st.lists(_step(3), min_size=1, max_size=5).map(
            lambda steps: [*steps, {"stop_before": "paying"}]
        ),
    }
)


@settings(max_examples=100)
@given(VALID)
def test_a_generated_valid_flow_has_no_problem(flow):
    """The generator knows the rules, so the checker must agree."""
    assert check_flow(flow, NAMES) == []


def _texts(value: Any, path: tuple[Any, ...] = (), *, typed: bool = False):
    """The path to every text of a flow where a secret may not stand; a last part of None is a key."""
    if isinstance(value, str):
        if not typed and path[-1] != "into":
            yield path
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _texts(one, (*path, number))
    elif isinstance(value, dict):
        for key, one in value.items():
            slots = path[-1:] == ("enter",)
            if slots:
                yield (*path, key, None)
            yield from _texts(one, (*path, key), typed=slots)


def _put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """A copy with the text there: a value is replaced, a key renamed."""
    if not path:
        return text
    if path[1:] == (None,):
        return {(text if key == path[0] else key): one for key, one in value.items()}
    changed = value.copy()
    changed[path[0]] = _put(value[path[0]], path[1:], text)
    return changed


@settings(max_examples=150)
@given(VALID, SECRET, st.data())
def test_a_secret_anywhere_but_in_an_enter_value_is_always_refused(flow, secret, data):
    """In the app, vars, a field's description, every text of every step, branches and loops included."""
    places = list(_texts(flow))
    place = data.draw(st.sampled_from(places))
    spoilt = _put(flow, place, secret)
    assert "misplaced_secret" in {one.code for one in check_flow(spoilt, NAMES)}


@settings(max_examples=60)
@given(
    VALID,
    st.sampled_from([CARD, CARD.replace(" ", ""), "5555-5555-5555-4444", "DE89 3704 0044 0532 0130 00"]),
    st.data(),
)
def test_a_secret_written_out_anywhere_is_always_refused_and_never_repeated(flow, secret, data):
    """Enter values among the places; no message and no pointer has it."""
    places = [*_texts(flow), *(path[:-1] for path in _texts(flow) if path[-1] is None)]
    spoilt = _put(flow, data.draw(st.sampled_from(places)), secret)
    problems = check_flow(spoilt, NAMES)
    assert "written_secret" in {one.code for one in problems}
    assert all(secret[-8:] not in repr(one) and secret[:8] not in repr(one) for one in problems)


# --- which names are known ---------------------------------------------------------------------------------------

LETTERS = ["aa_", "bb_", "dd_"]


@st.composite
def _naming(draw: Any, depth: int) -> Any:
    kinds = ["use", "use", "fill", "fill"] + (["if", "loop"] if depth else [])
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(LETTERS))
    if kind == "use":
        return f"say ${{{name}}}"
    if kind == "fill":
        what = draw(st.sampled_from(["the list", f"rows of ${{{draw(st.sampled_from(LETTERS))}}}"]))
        return {draw(st.sampled_from(["read", "extract"])): {"what": what, "into": name}}
    body = st.lists(_naming(depth - 1), min_size=1, max_size=3)
    condition = draw(st.sampled_from(["it is done", f"${{{name}}} is done"]))
    if kind == "loop":
        return {"repeat_until": {"condition": condition, "steps": draw(body), "max": 2}}
    other = {"else": draw(body)} if draw(st.booleans()) else {}
    return {"if": {"condition": condition, "then": draw(body), **other}}


def _uses(text: str, known: frozenset[str], where: str) -> frozenset[str]:
    return frozenset(f"{where}:{name}" for name in LETTERS if f"${{{name}}}" in text and name not in known)


def _run(step: Any, where: str, known: frozenset[str]):
    """Run one step in every way: a body's names are gone behind it, whichever way was taken."""
    if isinstance(step, str):
        yield known, _uses(step, known, where)
        return
    ((kind, value),) = step.items()
    if kind in ("read", "extract"):
        yield known | {value["into"]}, _uses(value["what"], known, where)
        return
    bad = _uses(value["condition"], known, where)
    for key in ("then", "else", "steps"):
        if key in value:
            for more in _run_all(value[key], f"{where}.{key}", known):
                yield known, bad | more
    yield known, bad


def _run_all(steps: list[Any], where: str, known: frozenset[str]):
    ways = [(known, frozenset[str]())]
    for number, step in enumerate(steps):
        ways = list(
            {
                (after, bad | more)
                for before, bad in ways
                for after, more in _run(step, f"{where}.{number}", before)
            }
        )
    return [bad for _, bad in ways]


@settings(max_examples=150)
@given(st.lists(_naming(2), min_size=1, max_size=4))
def test_the_names_that_are_known_are_those_of_every_way_through_the_flow(steps):
    """Against an interpreter that runs all of them; and a name is told once for each text it stands in."""
    undefined = frozenset[str]().union(*(bad for bad in _run_all(steps, "", frozenset())))
    told = [one for one in check_flow({"app": "browser", "steps": steps}) if one.code != "bare_variable"]
    assert {one.code for one in told} <= {
        "used_before_filled",
        "filled_in_branch",
        "unknown_name",
        "misspelt_name",
    }
    assert len(told) == len(undefined)
