"""Times of day inside a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from surefoot.tools.dates.moment import Refused
from surefoot.tools.dates.words import Language, Part

NOON = 12
HOURS = 24
MINUTES = 60

_GENERAL = (
    re.compile(
        r"(?<![\w.:/-])(?:at )?(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?(?::(?P<s>\d{2}))?\s*"
        r"(?P<half>[ap])\.?\s?m\b\.?(?!\w)"
    ),
    re.compile(r"(?<![\w.:/-])(?:at )?(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}))?(?![\w:/-])"),
)
"""Clock times that need no words: `5pm`, `5:30 p.m.`, `17:00`."""
_QUARTERS = {"p15": 15, "p30": 30, "p45": 45, "m15": -15, "m30": -30, "m45": -45}
"""Minutes that a group of this name adds to the hour: `quarter past`, `halb`, `viertel acht`."""
PARTS = ((0, 12), (12, 18), (18, 24))
"""From and to which hour the morning, the afternoon and the evening last when something is looked for in them."""
SPOKEN = frozenset(range(1, 7))
"""Hours of the afternoon when said in words, or by halves and quarters (`um drei`, `halb drei`): a 24-hour clock, which
German and French have in figures, is not spoken so, and few people meet before seven."""
_IS_BARE = re.compile(r"0\d|\d{2}")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `days` counts the midnights it lies behind the day it was said of."""

    hour: int
    minute: int = 0
    second: int = 0
    days: int = 0
    night: bool = False
    """Said of the night: with today's date, 0:00 is the coming midnight."""


def clocks_in(text: str, words: Language) -> Iterator[tuple[Clock, str]]:
    """Every way to see a time of day in the text, with what is left of it.

    Raises:
        Refused: there is no such time.
    """
    for match in _matches(text, words):
        left = _without(text, match)
        for part, rest in _parts(left, words):
            yield _clock(match, part, words), rest
        yield _clock(match, None, words), left
    for part, rest in _parts(text, words):
        yield Clock(part.hour, night=part.means == "night"), rest


def clocks_beside(text: str, part: Part, words: Language) -> Iterator[tuple[Clock, str]]:
    """The same for a text that a part of the day was said of: each time of day in it, then the part's own hour."""
    for match in _matches(text, words):
        yield _clock(match, part, words), _without(text, match)
    yield Clock(part.hour, night=part.means == "night"), text


def part_of_day(text: str, words: Language) -> tuple[int, int] | None:
    """The first and the last hour of the part of the day that a folded text names without a time of day."""
    if next(_matches(text, words), None) is not None:
        return None
    hour = next((part.hour for part, _ in _parts(text, words)), None)
    return next((span for span in PARTS if hour is not None and span[0] <= hour < span[1]), None)


def clock_places(text: str, words: Language) -> Iterator[tuple[int, int]]:
    """Where a time of day stands in the text."""
    return (match.span() for match in _matches(text, words))


def _matches(text: str, words: Language) -> Iterator[re.Match[str]]:
    for general in _GENERAL:
        yield from general.finditer(text)
    for pattern in words.clocks:
        yield from pattern.finditer(text)


def _parts(text: str, words: Language) -> Iterator[tuple[Part, str]]:
    for pattern, part in words.parts:
        for match in pattern.finditer(text):
            yield part, _without(text, match)


def _without(text: str, match: re.Match[str]) -> str:
    return " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())


def _clock(match: re.Match[str], part: Part | None, words: Language) -> Clock:
    found = match.groupdict()
    if found.get("at_noon") or found.get("at_midnight"):
        shift = _shift(found, words) + (words.number(found.get("m") or found.get("mw") or "0") or 0)
        night = bool(found.get("at_midnight"))
        return _moved(0 if night else NOON, shift, 0, night=night)
    hour = words.number(found["h"] or "")
    minute = words.number(found.get("m") or found.get("m2") or found.get("mw") or "0")
    second = int(found.get("s") or 0)
    if hour is None or minute is None or hour > HOURS or minute >= MINUTES or second >= MINUTES:
        raise Refused(f"there is no time {match.group().strip()!r}")
    means = {"a": "am", "p": "pm"}.get(found.get("half") or "") or (part.means if part else "")
    if not means:
        spoken = words.spaced and (_shift(found, words) != 0 or found["h"].isalpha())
        hour = _bare(hour, found["h"], SPOKEN if spoken else words.bare_afternoon)
    night = bool(part and part.means == "night")
    hour = _meant(hour, means, match.group().strip())
    return _moved(hour, minute + _shift(found, words), second, night=night)


def _bare(hour: int, written: str, afternoon: Collection[int]) -> int:
    """An hour with nothing that says which half of the day; two figures (`05:00`, `17`) are as on a 24-hour clock."""
    return hour + NOON if hour in afternoon and not _IS_BARE.fullmatch(written) else hour


def _meant(hour: int, means: str, written: str) -> int:
    """The hour on a 24-hour clock: 12 AM is 0, 12 PM and 12 noon are 12."""
    if means == "am":
        if hour > NOON:
            raise Refused(f"{written!r} has no such hour in the morning")
        return hour % NOON
    if means in {"pm", "noon"}:
        # Noon reaches from eleven to about three; "12 noon", "1 at noon".
        stays = hour == 0 or hour >= NOON or (means == "noon" and hour in {10, 11})
        return hour if stays else hour + NOON
    if means == "night":
        if hour == NOON:
            return 0
        return hour + NOON if 6 <= hour < NOON else hour  # noqa: PLR2004 - "at 5 at night" is early, "at 6" is evening
    return hour


def _shift(found: dict[str, str | None], words: Language) -> int:
    """Minutes past the hour said: -15 of `quarter to`, -25 of `fünf nach halb`."""
    quarters = sum(value for name, value in _QUARTERS.items() if found.get(name))
    plus, minus = words.number(found.get("plus") or "0") or 0, words.number(found.get("minus") or "0") or 0
    if plus >= MINUTES or minus >= MINUTES:
        raise Refused(f"an hour has no {max(plus, minus)} minutes")
    return quarters + plus - minus


def _moved(hour: int, minute: int, second: int, *, night: bool) -> Clock:
    """The time that many minutes past the hour, which may be fewer than none."""
    days, total = divmod(hour * MINUTES + minute, HOURS * MINUTES)
    return Clock(total // MINUTES, total % MINUTES, second, days, night)
