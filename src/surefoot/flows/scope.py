"""The names of a flow: which of them are known where they are used, and what a wrong one was meant for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from surefoot.flows._data import table
from surefoot.flows._heard import Listener, Place
from surefoot.flows.flow import Flow
from surefoot.flows.shape import walk
from surefoot.flows.variables import names_in

_SLIPS: Final = ((8, 2), (4, 1))
"""From so many letters of a word on, so many may be wrong. A shorter word is another word: `to` is not `no`."""
_GAPS: Final = re.compile(r"[\s_\-.’']+")
_DIGITS: Final = re.compile(r"\D")
"""Everything but digits."""


def missing_names(flow: Flow | Any) -> list[str]:
    """The names in `${}` that neither `vars` nor a step defines anywhere, each once, in the order of the file.

    They are what somebody must give before the flow can run: facts. Takes a JSON value too.
    """
    found = _names(flow)
    return [name for name in found.used if name.strip() and name not in found.defined]


def defined_names(flow: Flow | Any) -> list[str]:
    """The names that `vars` and the steps define somewhere, sorted. Takes a JSON value too."""
    return sorted(_names(flow).defined)


def _names(flow: Flow | Any) -> _Names:
    found = _Names()
    walk(flow.to_json() if isinstance(flow, Flow) else flow, lambda _: None, found)
    return found


class _Names(Listener):
    def __init__(self) -> None:
        self.used: dict[str, None] = {}
        self.defined: set[str] = set()

    def text(self, _place: Place, text: str, /) -> None:
        self.used.update(dict.fromkeys(names_in(text)))

    def value(self, place: Place, _name: str, text: str, /) -> None:
        self.text(place, text)

    def named(self, _place: Place, name: str, /) -> None:
        self.defined.add(name)

    def fills(self, _place: Place, name: str, /) -> None:
        self.defined.add(name)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one was meant for, None where no known name is that near.

    Near is: the same but for case, spaces, `_` and filler words (`my`, `address` behind `email`), or a letter wrong
    in a word, two in a long one. A digit or a short word is no slip: `phone 1` is not `phone 2`.
    """
    wanted = _forms(name)
    best: tuple[int, str] | None = None
    for other in known:
        distances = [_distance(mine, theirs) for mine in wanted for theirs in _forms(other)]
        distance = min((one for one in distances if one is not None), default=None)
        if distance is not None and (best is None or distance < best[0]):
            best = (distance, other)
    return best[1] if best else None


def _distance(one: list[str], other: list[str]) -> int | None:
    """How many letters differ, None where it is too many for a slip."""
    from rapidfuzz.distance import OSA

    if "".join(one) == "".join(other):
        return 0
    if len(one) != len(other):
        one, other = ["".join(one)], ["".join(other)]
    total = 0
    for mine, theirs in zip(one, other, strict=True):
        wrong = OSA.distance(mine, theirs)
        allowed = next((most for letters, most in _SLIPS if len(mine) >= letters), 0)
        if wrong > allowed or (wrong and _DIGITS.sub("", mine) != _DIGITS.sub("", theirs)):
            return None
        total += wrong
    return total


def _forms(name: str) -> list[list[str]]:
    """The words of the name, and without the fillers."""
    words = [word for word in _GAPS.split(unicodedata.normalize("NFKC", name).casefold()) if word]
    kept = [word for word in words if word not in _fillers()]
    return [words, kept] if kept and kept != words else [words]


@cache
def _fillers() -> frozenset[str]:
    return frozenset(table("words")["names"]["fillers"])
