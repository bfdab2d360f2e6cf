"""The names of a flow: which of them are known where they are used, and what a wrong one was meant for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final

from surefoot.flows._data import table
from surefoot.flows._heard import Listener, Place
from surefoot.flows.flow import Flow
from surefoot.flows.shape import walk
from surefoot.flows.variables import names_in

_SHORT: Final = 4
"""Names of fewer letters are near to nothing: `to` and `no` differ by one letter and mean other things."""
_LONG: Final = 8
"""From here on two wrong letters are a slip, below one is."""
_GAPS: Final = re.compile(r"[\s_\-.’']+")


def missing_names(flow: Flow | Any) -> list[str]:
    """The names in `${}` that neither `vars` nor a step defines anywhere, each once, in the order of the file.

    They are what somebody must give before the flow can run: facts. Takes a JSON value too.
    """
    used = _Names()
    walk(flow.to_json() if isinstance(flow, Flow) else flow, lambda _: None, used)
    return [name for name in used.used if name.strip() and name not in used.defined]


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

    Near is: the same but for case, spaces, `_` and filler words (`my`, `address` behind `email`), or one letter wrong,
    two in a long name. Digits are never a slip: `phone 1` is not `phone 2`.
    """
    from rapidfuzz.distance import OSA

    wanted = list(_forms(name))
    best: tuple[int, str] | None = None
    for other in known:
        distance = min(
            (
                OSA.distance(mine, theirs)
                for mine in wanted
                for theirs in _forms(other)
                if _alike(mine, theirs)
            ),
            default=len(name),
        )
        allowed = 0 if len(wanted[0]) < _SHORT else 1 if len(wanted[0]) < _LONG else 2
        if distance <= allowed and (best is None or distance < best[0]):
            best = (distance, other)
    return best[1] if best else None


def _alike(one: str, other: str) -> bool:
    """No digit differs between them."""
    return re.sub(r"\D", "", one) == re.sub(r"\D", "", other)


def _forms(name: str) -> Iterator[str]:
    words = [word for word in _GAPS.split(unicodedata.normalize("NFKC", name).casefold()) if word]
    yield "".join(words)
    if kept := [word for word in words if word not in _fillers()]:
        yield "".join(kept)


def _fillers() -> frozenset[str]:
    return frozenset(table("words")["names"]["fillers"])
