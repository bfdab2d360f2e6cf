"""What checking a flow costs, beside pydantic validating the same JSON against models of its shape alone.

The check does more than the models: names, secrets, stops, labels, limits, sentences for all that is wrong. Both get
the same value and take turns in one process; a flow of 20 steps, one of 200, and one of 20 that has a problem in every
step. The goal is half a millisecond for 20 steps.

    python benchmarks/flow_check.py [--rounds 400] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from surefoot.flows import FactNames, check_flow
from surefoot.flows.rules import rules

GOAL = 0.5
"""Milliseconds for 20 steps."""

NAMES = FactNames(
    ("first name", "last name", "email", "phone", "home city"), ("card number", "card expiry", "card cvv")
)

STEPS: list[Any] = [
    {"browse": "https://flights.example.com"},
    {"if": {"condition": "a cookie banner is shown", "then": ["decline the optional cookies"]}},
    {"choose": {"what": "trip type", "option": "One way"}},
    {"enter": {"from": "${home city}", "to": "${destination}", "departure date": "24 December"}},
    "search for flights",
    {"wait_for": "the flights are listed"},
    {"pick": {"from": "direct flights", "by": "cheapest", "into": "chosen_flight"}},
    {"read": {"what": "price of ${chosen_flight}", "into": "price"}},
    {"choose": {"what": "fare", "option": "Saver"}},
    {"repeat_until": {"condition": "no offers are shown", "steps": ["decline the offer"], "max": 5}},
    "continue to the passenger details",
    {"enter": {"first name": "${first name}", "last name": "${last name}", "email": "${email}"}},
    {"enter": {"phone": "${phone}"}},
    {"verify": "the total is ${price}"},
    "continue to the payment page",
    {"enter": {"card number": "${card number}", "expiry": "${card expiry}", "security code": "${card cvv}"}},
    {"extract": {"what": "fees", "into": "fees"}},
    {"stop_before": "paying"},
]
"""18, and two inside them."""


def flow(times: int) -> dict[str, Any]:
    """The steps so many times over, 20 steps each."""
    return {"app": "browser", "vars": {"destination": "Srinagar"}, "steps": STEPS * times}


def faulty() -> dict[str, Any]:
    """Twenty steps, each with a problem of its own."""
    found: list[Any] = []
    for rule in rules():
        value = rule.failing[0].flow()
        if not rule.failing[0].grow and isinstance(value, dict) and "steps" in value:
            found += value["steps"]
    return {"app": "browser", "steps": found[:20]}


# --- the same shape as pydantic models ---------------------------------------------------------------------------

Text = Annotated[str, Field(min_length=1, max_length=4000)]
Name = Annotated[str, Field(pattern=r"^[^\W\d]\w*$", max_length=120)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Do(_Model):
    do: Text


class _Open(_Model):
    open: Text


class _Browse(_Model):
    browse: Text


class _Enter(_Model):
    enter: Annotated[dict[Text, Text], Field(min_length=1, max_length=50)]


class _ChooseParts(_Model):
    what: Text
    option: Text


class _Choose(_Model):
    choose: _ChooseParts


class _IntoParts(_Model):
    what: Text
    into: Name


class _Read(_Model):
    read: _IntoParts


class _Extract(_Model):
    extract: _IntoParts


class _PickParts(_Model):
    from_: Text = Field(alias="from")
    by: Text
    into: Name | None = None


class _Pick(_Model):
    pick: _PickParts


class _Verify(_Model):
    verify: Text


class _WaitFor(_Model):
    wait_for: Text


class _StopBefore(_Model):
    stop_before: Text


class _LoopParts(_Model):
    condition: Text
    steps: Annotated[list[_Step], Field(min_length=1)]
    max: Annotated[int, Field(ge=1, le=100)]


class _RepeatUntil(_Model):
    repeat_until: _LoopParts


class _IfParts(_Model):
    condition: Text
    then: Annotated[list[_Step], Field(min_length=1)]
    otherwise: Annotated[list[_Step] | None, Field(alias="else", min_length=1)] = None


class _If(_Model):
    if_: _IfParts = Field(alias="if")


_Step = (
    Text
    | _Do
    | _Open
    | _Browse
    | _Enter
    | _Choose
    | _Read
    | _Extract
    | _Pick
    | _Verify
    | _WaitFor
    | _StopBefore
    | _RepeatUntil
    | _If
)


class _Flow(_Model):
    app: Text
    vars: dict[Text, Text] | None = None
    steps: Annotated[list[_Step], Field(min_length=1, max_length=200)]


for model in (_LoopParts, _IfParts, _RepeatUntil, _If, _Flow):
    model.model_rebuild()
SHAPE = TypeAdapter(_Flow)


def validate(value: Any) -> None:
    """The shape alone, as pydantic tells it."""
    try:
        SHAPE.validate_python(value)
    except ValidationError as error:
        error.errors()


# --- measuring ---------------------------------------------------------------------------------------------------


def timed(work: Callable[[Any], object], value: Any) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    work(value)
    return (time.perf_counter() - start) * 1000


def measured(value: Any, rounds: int) -> tuple[float, float]:
    """Medians in milliseconds of the check and of pydantic, which take turns."""

    def check(one: Any) -> object:
        return check_flow(one, NAMES)

    pairs = [(timed(check, value), timed(validate, value)) for _ in range(rounds)]
    ours, theirs = zip(*pairs[rounds // 10 :], strict=True)
    return statistics.median(ours), statistics.median(theirs)


def first_call() -> float:
    """Milliseconds of the very first check, the word lists read from their files."""
    return timed(lambda one: check_flow(one, NAMES), flow(1))


def main() -> int:
    """Print the table; 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    first = first_call()
    cases = {"20 steps": flow(1), "200 steps": flow(10), "20 steps, all wrong": faulty()}
    rows = {name: measured(value, given.rounds) for name, value in cases.items()}
    if given.json:
        print(json.dumps({"first": first, **{name: list(row) for name, row in rows.items()}}))
    else:
        print(f"{'median, ms':22} {'check_flow':>10} {'pydantic':>10} {'ratio':>7}  problems")
        for name, (ours, theirs) in rows.items():
            problems = len(check_flow(cases[name], NAMES))
            print(f"{name:22} {ours:10.3f} {theirs:10.3f} {ours / theirs:7.1f}  {problems}")
        print(f"the first check of a process, word lists read: {first:.1f} ms")
    return int(rows["20 steps"][0] >= GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
