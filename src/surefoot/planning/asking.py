"""Is a request one question for something to be known? Then nothing is changed for it, whatever a small model plans."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from surefoot.planning._data import table
from surefoot.storage.words import words

_MARKS: Final = re.compile(r"[.!;\n]+(?:\s|$)|[?]+")
_CLAUSE: Final = re.compile(r"[,:–—]\s*|\s-\s")


class _Words(NamedTuple):
    asks: frozenset[str]
    yes_no: tuple[str, ...]
    offers: tuple[str, ...]
    openings: frozenset[str]


def is_question(text: str) -> bool:
    """One sentence that ends with a question mark and begins by asking: who, what, when, why, how, or "do I have".

    "Quick one, how many ounces..." is one; "note it, add a task, what else is due?" is not.
    """
    sentences = [part for part in _MARKS.split(text.strip()) if part.strip()]
    if len(sentences) != 1 or not text.rstrip().endswith(("?", "？")):
        return False
    clauses = [clause for clause in _CLAUSE.split(sentences[0]) if clause.strip()]
    while len(clauses) > 1 and " ".join(words(clauses[0])) in _data().openings:
        del clauses[0]
    return bool(clauses) and _asks(clauses[0])


def _asks(clause: str) -> bool:
    said = _without_opening(" ".join(words(clause)))
    if said.startswith(_data().offers):
        return False
    return said.split(" ")[0] in _data().asks or f"{said} ".startswith(_data().yes_no)


def _without_opening(said: str) -> str:
    """What follows "sag mal" or "quick question" where nothing stands between."""
    opening = max((one for one in _data().openings if said.startswith(f"{one} ")), key=len, default="")
    return said.removeprefix(opening).lstrip()


@cache
def _data() -> _Words:
    data = table("questions")
    return _Words(
        frozenset(data["asks"]),
        tuple(f"{one} " for one in data["yes_no"]),
        tuple(data["offers"]),
        frozenset(data["openings"]),
    )
