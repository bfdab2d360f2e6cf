"""Random flows, of the right shape and of any shape, and random texts: what the property tests draw from."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from surefoot.flows._data import limits
from surefoot.flows.steps import KINDS, Kind, Part, PartType

WORDS = st.sampled_from(
    [
        "the list",
        "Größe",
        "価格",
        "no",
        "08:30",
        "${email}",
        "a: b",
        "#1",
        "- x",
        "it's",
        '"q"',
        "null",
        "🙂",
        "1.5",
    ]
)
TEXTS = WORDS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).map(
    lambda text: f"x{text}"
)
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(["größe", "価格"])


def _part(part: Part, steps: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    if part.type is PartType.STEPS:
        return st.lists(steps, min_size=1, max_size=3)
    if part.type is PartType.ROUNDS:
        return st.integers(1, limits().rounds)
    if part.type is PartType.SLOTS:
        return st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=3)
    return NAMES if part.type is PartType.VARIABLE else TEXTS


@st.composite
def _step_of(draw: Any, kind: Kind, steps: st.SearchStrategy[Any]) -> Any:
    if kind.plain:
        return {kind.name: draw(_part(kind.parts[0], steps))}
    chosen = [part for part in kind.parts if part.required or draw(st.booleans())]
    return {kind.name: {part.key: draw(_part(part, steps)) for part in draw(st.permutations(chosen))}}


def _steps(depth: int) -> st.SearchStrategy[Any]:
    inner = _steps(depth - 1) if depth > 1 else st.nothing()
    kinds = [
        kind
        for kind in KINDS.values()
        if depth > 1 or all(part.type is not PartType.STEPS for part in kind.parts)
    ]
    return TEXTS | st.one_of([_step_of(kind, inner) for kind in kinds])


FLOWS = st.fixed_dictionaries(
    {"app": TEXTS, "steps": st.lists(_steps(3), min_size=1, max_size=6)},
    optional={"vars": st.dictionaries(TEXTS, TEXTS, max_size=3)},
)
"""Flows of the right shape; what they mean is another question."""

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.just("")
)
KEYS = st.sampled_from(
    ["app", "vars", "steps", *KINDS, *(part.key for kind in KINDS.values() for part in kind.parts)]
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=4),
    max_leaves=20,
)
"""Any JSON, with the keys of flows in it."""


@st.composite
def almost(draw: Any) -> Any:
    """A flow with one value in it replaced, taken out or put in: most of them wrong in one place only."""
    flow = draw(FLOWS)
    place = draw(st.sampled_from(list(_places(flow))))
    return _changed(flow, place, draw)


def _places(value: Any, at: tuple[Any, ...] = ()) -> Any:
    yield at
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, one in members:
        yield from _places(one, (*at, key))


def _changed(value: Any, place: tuple[Any, ...], draw: Any) -> Any:
    if place:
        copy = value.copy()
        copy[place[0]] = _changed(value[place[0]], place[1:], draw)
        return copy
    ways = ["replace", "add"] if isinstance(value, dict | list) else ["replace"]
    if isinstance(value, dict) and value:
        ways.append("drop")
    way = draw(st.sampled_from(ways))
    if way == "drop":
        gone = draw(st.sampled_from(sorted(value)))
        return {key: one for key, one in value.items() if key != gone}
    new = draw(SCALARS | JSON)
    if way == "replace":
        return new
    return [*value, new] if isinstance(value, list) else {**value, draw(KEYS): new}
