"""The word lists of `words.toml`, compiled once when first used."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from surefoot.planning._data import table


def folded(text: str) -> str:
    """The text without regard to case and width, single spaces between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class Words:
    """Reply phrases, placeholder forms, list markers and field words, ready to match."""

    reply_exact: frozenset[str]
    reply_starts: tuple[str, ...]
    reply_together: tuple[tuple[str, ...], ...]
    placeholders: tuple[re.Pattern[str], ...]
    each: re.Pattern[str]
    filler: frozenset[str]
    whole: frozenset[str]
    fields: dict[str, str]
    marker: re.Pattern[str]


@lru_cache(maxsize=1)
def words() -> Words:
    """The lists of `words.toml`."""
    data = table("words")
    reply, lookup = data["reply"], data["lookup"]
    return Words(
        frozenset(folded(text) for text in reply["exact"]),
        tuple(folded(text) for text in reply["starts"]),
        tuple(tuple(folded(text) for text in group) for group in reply["together"]),
        tuple(_form(form) for form in data["placeholder"]["forms"]),
        _each(data["placeholder"]["each"]),
        frozenset(lookup["filler"]),
        frozenset(lookup["whole"]),
        _fields(lookup["fields"]),
        re.compile("|".join(data["markers"]["patterns"]), re.IGNORECASE),
    )


def _form(form: str) -> re.Pattern[str]:
    """`{what}, from step {n}` as a pattern; comma and spaces are optional where they separate."""
    pattern = re.escape(form).replace(r"\{what\}", r"(?P<what>[^<>]+?)")
    pattern = pattern.replace(r"\{n\}", r"(?P<n>\d{1,3}|[一二三四五六七八九十])")
    pattern = pattern.replace(r",\ ", r"(?:\s*[,，]\s*|\s+)")
    return re.compile(pattern.replace(r"\ ", r"\s+"), re.IGNORECASE)


def _each(each: list[str]) -> re.Pattern[str]:
    """Any of the words at the start; those of writing without spaces need none behind them."""
    longest_first = sorted(each, key=len, reverse=True)
    parts = [
        re.escape(word) + (r"\s+" if word.isascii() or (word[0].isalpha() and _spaced(word)) else r"\s*")
        for word in longest_first
    ]
    return re.compile("(?:" + "|".join(parts) + ")", re.IGNORECASE)


def _spaced(word: str) -> bool:
    """The word belongs to a writing that puts spaces between words."""
    return unicodedata.name(word[0], "").split()[0] not in {"CJK", "HIRAGANA", "KATAKANA"}


def _fields(fields: dict[str, Any]) -> dict[str, str]:
    return {folded(word): name for name, listed in fields.items() for word in listed}
