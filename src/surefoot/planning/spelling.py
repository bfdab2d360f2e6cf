"""Words that a small model wrote otherwise than they were said: "Kindergartenarzt" for "Kinderarzt"."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
MIN_LETTERS: Final = 6
"""Shorter words are too much like other ones."""
LONGER: Final = 3
"""Letters more or less: with fewer the model may have put a misspelt word right."""
EDGE: Final = 3
"""Letters that both words begin with and end with: the ending alone differs between forms of one word."""
LIKE: Final = 0.75
"""Of the letters of both that they share, in order; "Kinderarzt" and "Kindergartenarzt" share 0.77."""


def respelt(text: str, said: str) -> str:
    """The text with each long word that was not said, but is much like one that was, written like that one."""
    spoken = {word.casefold() for word in _WORD.findall(said)}
    return _WORD.sub(lambda match: _as_said(match.group(), spoken), text)


def _as_said(word: str, spoken: set[str]) -> str:
    folded = word.casefold()
    if len(folded) < MIN_LETTERS or folded in spoken:
        return word
    alike = [one for one in spoken if len(one) >= MIN_LETTERS and _is_like(folded, one)]
    if not alike:
        return word
    best = max(sorted(alike), key=lambda one: _share(folded, one))
    return best.capitalize() if word[0].isupper() else best


def _is_like(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) < LONGER:
        return False
    edges = word[:EDGE] == other[:EDGE] and word[-EDGE:] == other[-EDGE:]
    return edges and _share(word, other) >= LIKE


def _share(word: str, other: str) -> float:
    return SequenceMatcher(None, word, other, autojunk=False).ratio()
