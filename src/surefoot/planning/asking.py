"""Is a request one question for something to be known? Then nothing is changed for it, whatever a small model plans."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from surefoot.storage.words import words

_MARKS: Final = re.compile(r"[.!;\n]+(?:\s|$)|[?]+")
_CLAUSE: Final = re.compile(r"[,:–—]\s*|\s-\s")


class _Words(NamedTuple):
    asks: frozenset[str]
    offers: tuple[str, ...]
    openings: frozenset[str]


def is_question(text: str) -> bool:
    """One sentence that ends with a question mark and begins by asking: who, what, when, why, how.

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
    found = words(clause)
    return bool(found) and found[0] in _data().asks and not " ".join(found).startswith(_data().offers)


@cache
def _data() -> _Words:
    table = tomllib.loads(files("surefoot.planning").joinpath("questions.toml").read_text(encoding="utf-8"))
    return _Words(frozenset(table["asks"]), tuple(table["offers"]), frozenset(table["openings"]))
