"""Things that a request names only to say that they stay as they are: "I keep the first, delete the others"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from surefoot.planning._data import table
from surefoot.planning.meant import is_in, telling
from surefoot.planning.things import Thing
from surefoot.storage.words import words

ENOUGH: Final = 2
"""Words of a longer title that name it, where no other title has more of them."""
_CLAUSE: Final = re.compile(
    r"[.!?;,:]+(?:\s+|$)|\n+|\s[–—-]\s|\s(?=(?:but|and|aber|und|mais|et|pero|y)\s)", re.IGNORECASE
)
_CALLED: Final = re.compile(r'^"(?P<word>[^"]+)": (?P<things>.+)$')
_NAMED: Final = re.compile(r'(?P<kind>[a-z]+) "(?P<title>.*?)"(?=, [a-z]+ "|$)')


def spared(said: str, known: Sequence[str], things: Sequence[Thing]) -> frozenset[tuple[str, str]]:
    """Kind and title of what is named in clauses with a word such as "keep" and in no other.

    Args:
        said: the request.
        known: the lines about what is there; those that say what "the first" means are read.
        things: what there is.
    """
    kept: set[tuple[str, str]] = set()
    other: set[tuple[str, str]] = set()
    pointed = _pointed(known)
    for clause in _CLAUSE.split(said):
        (kept if _keeps(clause) else other).update(_named(clause, pointed, things))
    return frozenset(kept - other)


def _keeps(clause: str) -> bool:
    said = f" {' '.join(words(clause))} "
    return any(f" {one} " in said for one in _keeping())


def _named(
    clause: str, pointed: dict[str, set[tuple[str, str]]], things: Sequence[Thing]
) -> set[tuple[str, str]]:
    there = telling(clause)
    said = {(one.kind, one.title): sum(is_in(word, there) for word in telling(one.title)) for one in things}
    most = max(said.values(), default=0)
    found = {
        name for name, count in said.items() if count == most and count >= min(ENOUGH, len(telling(name[1])))
    }
    return (found if most else set()).union(*(pointed.get(word, set()) for word in words(clause)))


def _pointed(known: Sequence[str]) -> dict[str, set[tuple[str, str]]]:
    """What words such as "second" mean."""
    lines = (found for line in known if (found := _CALLED.match(line)))
    return {
        line["word"]: {(one["kind"], one["title"]) for one in _NAMED.finditer(line["things"])}
        for line in lines
    }


@cache
def _keeping() -> frozenset[str]:
    return frozenset(one for found in table("sparing").values() for one in found)
