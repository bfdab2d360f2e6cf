"""The rules of the checker, each with its reason and examples: what docs/flow-problems.md is made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from surefoot.flows._data import limits, table
from surefoot.flows.facts import FactNames
from surefoot.flows.steps import SURFACES


@dataclass(frozen=True, slots=True)
class Example:
    """A flow as JSON text, and what it is checked with. `grow` names what is multiplied until a limit is passed."""

    text: str
    facts: FactNames
    surfaces: frozenset[str] = SURFACES
    grow: str = ""

    def flow(self) -> Any:
        """The flow as a JSON value, grown where it says so."""
        flow = json.loads(self.text)
        if self.grow == "steps":
            flow["steps"] *= limits().steps + 1
        elif self.grow == "text":
            flow["steps"][0] *= limits().text
        elif self.grow == "problems":
            flow["steps"] = _many_names(flow["steps"][0], limits().problems + 1)
        elif self.grow == "slots":
            flow["steps"][0]["enter"] = _many(flow["steps"][0]["enter"], limits().slots + 1)
        elif self.grow == "vars":
            flow["vars"] |= _many(flow["vars"], limits().vars)
        return flow


@dataclass(frozen=True, slots=True)
class Rule:
    """What one code of a `Problem` means."""

    code: str
    title: str
    why: str
    failing: tuple[Example, ...]
    passing: tuple[Example, ...]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the page: shape first, then names, secrets, and what steps mean."""
    return tuple(
        Rule(
            entry["code"],
            entry["title"],
            entry["why"],
            tuple(map(_example, entry["failing"])),
            tuple(map(_example, entry["passing"])),
        )
        for entry in table("rules")["rule"]
    )


def _example(entry: dict[str, Any]) -> Example:
    names = FactNames(tuple(entry.get("facts", ())), tuple(entry.get("secret", ())))
    return Example(entry["flow"], names, frozenset(entry.get("surfaces", SURFACES)), entry.get("grow", ""))


def _many(one: dict[str, str], count: int) -> dict[str, str]:
    ((name, text),) = one.items()
    return {f"{name} {number}": text for number in range(count)}


def _many_names(text: str, count: int) -> list[str]:
    """Steps of ten times the text each, with other names in it."""
    texts = [text.replace("}", f" {number}}}") for number in range(count)]
    return [" ".join(texts[start : start + 10]) for start in range(0, count, 10)]
