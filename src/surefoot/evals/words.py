"""Is one of these words in a text? Folded; by the beginnings of words, or anywhere where words are not set apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from surefoot.planning.words import folded as fold

ANYWHERE = "*"
"""In front of a stem: it may stand inside a word, as the second part of a German compound does."""

_PIECE = re.compile(r"[^\W_]+")


def has_word(text: str, stems: Iterable[str]) -> bool:
    """One of the stems is in the text.

    A stem of several words needs them one after the other, each by its beginning: `round trip` is in `Round-trips`. A
    number is a whole number: `2` is not in `12` or `24`, but in `2nd`. In scripts that set no words apart, or write
    vowels as marks (kana, kanji, Devanagari), it may stand anywhere.
    """
    return any(_pattern(stem).search(fold(text)) for stem in stems)


@lru_cache(maxsize=4096)
def _pattern(stem: str) -> re.Pattern[str]:
    folded = fold(stem.removeprefix(ANYWHERE))
    if _is_unspaced(folded):
        return re.compile(_edges(folded, r"\s*".join(map(re.escape, folded.replace(" ", "")))))
    pieces = [
        re.escape(piece) + (r"(?!\d)" if piece[-1].isdigit() else "") for piece in _PIECE.findall(folded)
    ]
    body = r"[^\W_]*[\W_]+".join(pieces)
    if stem.startswith(ANYWHERE):
        return re.compile(body)
    # behind kana, kanji or a vowel mark a Latin word or a number begins anew: `売上sheet`, `合計10`
    return re.compile(
        rf"(?<![0-9])(?<![a-zß-ɏ]){body}" if folded[0].isdigit() else rf"(?<![a-z0-9ß-ɏ]){body}"
    )


def _edges(folded: str, body: str) -> str:
    """A number at an edge is a whole number: `2日` is not in `12日`."""
    before = r"(?<!\d)" if folded[0].isdigit() else ""
    return before + body + (r"(?!\d)" if folded[-1].isdigit() else "")


def _is_unspaced(folded: str) -> bool:
    return any(unicodedata.name(char, "").startswith(_UNSPACED) for char in folded)


_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "DEVANAGARI")


def density(text: str) -> float:
    """Share of kana and kanji among the characters, 0 to 1."""
    dense = sum(unicodedata.name(char, "").startswith(("CJK", "HIRAGANA", "KATAKANA")) for char in text)
    return dense / len(text) if text else 0.0
