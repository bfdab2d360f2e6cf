"""Text as words that can be looked up, in any script.

A full-text index splits at spaces, and Chinese, Japanese or Thai have none. So text is split here, before any index
sees it: letters and digits of scripts with spaces as words; of scripts without, as single characters and pairs. Index
and question go through the same function, so SQLite's FTS5, PostgreSQL's tsvector and plain Python find the same.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

MIN_PREFIX = 4
"""Words of a question from this length on also find longer words (`birth` finds `birthday`, `Geburtstag` finds
`Geburtstagsfeier`); shorter ones would find half the language."""

_UNSPACED = (
    "\u3040-\u30ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul has spaces, but its particles stick to the word before
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
)
_INDIC = (
    "\u0900-\u0963\u0966-\u0dff\u0f00-\u0fbc"  # their vowel signs are no "letters" to a regular expression
)
_PIECES = re.compile(f"(?P<run>[{_UNSPACED}々〆]+)|(?P<word>(?:[^\\W_{_UNSPACED}]|[{_INDIC}])+)")
_POINTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]")
"""Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic: people write and search with and without them.
The vowel signs of Indic scripts and the Japanese voicing marks are no such points: they make another word."""


@cache
def common_words() -> frozenset[str]:
    """Short words of the tested languages that stand in half of all titles and say nothing about them."""
    return frozenset(
        files("surefoot.storage").joinpath("common_words.txt").read_text(encoding="utf-8").split()
    )


def words(text: str) -> list[str]:
    """The words of a text, in order, for an index: no case, no accents; unspaced scripts as characters and pairs."""
    found: list[str] = []
    for match in _PIECES.finditer(_fold(text)):
        run = match["run"]
        found.extend([match["word"]] if run is None else [*run, *_pairs(run)])
    return found


def query_words(text: str) -> list[str]:
    """The different words of a question, in order: pairs only, except where an unspaced run has one character."""
    found: list[str] = []
    for match in _PIECES.finditer(_fold(text)):
        run = match["run"]
        found.extend([match["word"]] if run is None else _pairs(run) or [run])
    return list(dict.fromkeys(found))


def may_be_prefix(word: str) -> bool:
    """A word of a question that also finds longer words."""
    return len(word) >= MIN_PREFIX


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _fold(text: str) -> str:
    """Case, width and accents do not matter to somebody who looks for a word."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _POINTS.sub("", folded))
