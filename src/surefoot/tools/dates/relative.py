"""Dates that hang on something else: `two days before the wedding`, `half an hour later`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from surefoot.tools.dates.moment import Moment, Refused, moment_of
from surefoot.tools.dates.reading import languages_for, read
from surefoot.tools.dates.words import LANGUAGES, fold, order_of
from surefoot.tools.dates.words import language as language_of

_HALF = re.compile(r"\d\s*[ap]\.?\s?m\b|\b(?:0\d|1[3-9]|2[0-3])(?:[:.h]\d\d|\s*(?:uhr|h\b))|T\d\d:|\dt\d\d:")
FIRST_WORDS = 6
"""Words that may stand before such a date: `on Wednesday, exactly an hour before the meeting`."""


def hanging_on(text: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Every way to see a date that hangs on a named thing: what stands before its name, the name, what stands behind.

    All of it is folded; with a date in the name's place it can be read.
    """
    folded = fold(text)
    for words in languages_for(language, folded):
        for start in _starts(folded):
            part = folded[start:]
            for kind, pattern in words.rules:
                match = pattern.fullmatch(part) if kind in {"before", "after"} else None
                if match is not None:
                    yield part[: match.start("rest")], match["rest"], part[match.end("rest") :]


def _starts(text: str) -> list[int]:
    spaces = [at + 1 for at, sign in enumerate(text) if sign == " "]
    return [0, *spaces[:FIRST_WORDS]]


def names_half_of_day(text: str) -> bool:
    """The text says whether it means the morning or the evening: `7am`, `19:30`, `07:00`, `in the morning`."""
    folded = fold(text)
    if _HALF.search(folded):
        return True
    return any(pattern.search(folded) for code in LANGUAGES for pattern, _ in language_of(code).parts)


def moved(text: str, base: Moment, zone: str, language: str) -> Moment | None:
    """`half an hour later`, `two days earlier`, counted from `base`; None where the text says no such thing."""
    folded = fold(text)
    for words in languages_for(language, folded):
        if not any(kind in {"later", "earlier"} and rule.fullmatch(folded) for kind, rule in words.rules):
            continue
        try:
            found = read(text, base.first, language, order_of(language))
            if not base.is_day and not isinstance(found, datetime):
                clock = base.first.timetz().replace(tzinfo=None)
                found = datetime.combine(found.first, clock, base.first.tzinfo).astimezone(UTC)
            return moment_of(found, text, zone, language)
        except (Refused, OverflowError, ValueError):
            return None
    return None
