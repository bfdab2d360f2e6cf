"""A start and an end that stand in one text: `Thursday 2 to 4pm`, `von 15 bis 16 Uhr am Dienstag`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

JOINTS: Final = re.compile(r"\s*[–—]\s*|(?<=[\dhm])\s*-\s*(?=\d)|\s+-\s+", re.IGNORECASE)
"""Marks between two times."""
WORDS: Final = re.compile(
    r"\s+(?:to|until|till|til|bis|à|a|jusqu'à|jusque|hasta|and|und|et|y)\s+", re.IGNORECASE
)
"""Words between two times; some of them mean other things where no time stands on both sides."""
OPENING: Final = re.compile(r"^(?:from|between|von|zwischen|de|des|entre|desde)\s+", re.IGNORECASE)
"""Words before the first of them."""
_HOUR: Final = re.compile(r"(?:^|(?<=\s))\d{1,2}$")
_LEADING: Final = frozenset({"on", "the", "at", "le", "el"})
"""Words that belong to the day behind them."""
MOST_WORDS: Final = 4
"""Of a clock time: `a quarter past nine`."""


def two_times(
    value: str, is_clock: Callable[[str], bool], is_one_day: Callable[[str], bool]
) -> tuple[str, str] | None:
    """The start and the end that a value says; None where it says one moment.

    Args:
        value: as it was said.
        is_clock: a text is a time of day alone.
        is_one_day: a text is a day, and not several.
    """
    for left, right in _cuts(value):
        first, last = _ending(left, is_clock), _beginning(right, is_clock)
        if first is None or last is None:
            continue
        before, clock = first
        end, after = last
        day = " ".join(part for part in (before, after) if part)
        day = OPENING.sub("", day)
        if not day or is_one_day(day):
            return f"{day} {clock}".strip(), end
    return None


def _cuts(value: str) -> Iterator[tuple[str, str]]:
    for found in (*JOINTS.finditer(value), *WORDS.finditer(value)):
        yield value[: found.start()], value[found.end() :]


def _ending(text: str, is_clock: Callable[[str], bool]) -> tuple[str, str] | None:
    """What stands before the longest time of day at the end of a text, and that time; a bare hour is one."""
    words = text.split()
    for size in range(min(MOST_WORDS, len(words)), 0, -1):
        clock = OPENING.sub("", " ".join(words[-size:]))
        if timed := _timed(clock, is_clock):
            rest = words[:-size]
            if rest and OPENING.fullmatch(f"{rest[-1]} "):
                rest = rest[:-1]
            return " ".join(rest), timed
    return None


def _beginning(text: str, is_clock: Callable[[str], bool]) -> tuple[str, str] | None:
    """The longest time of day that a text begins with, and what follows."""
    words = text.split()
    for size in range(min(MOST_WORDS, len(words)), 0, -1):
        if words[size - 1].casefold() in _LEADING:
            continue
        if timed := _timed(" ".join(words[:size]), is_clock):
            return timed, " ".join(words[size:])
    return None


def _timed(text: str, is_clock: Callable[[str], bool]) -> str:
    """The text as a time of day: an hour alone is one here, and "10 y media" lacks the word before it."""
    if _HOUR.fullmatch(text):
        return f"{text}:00"
    return next((form for form in (text, f"a las {text}") if is_clock(form)), "")
