"""Dates that hang on something else: `two days before the wedding`, `half an hour later`, `Friday, same time`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from surefoot.errors import ToolError
from surefoot.tools.dates.clock import clock_places, clocks_in
from surefoot.tools.dates.moment import Moment, Refused, Span, moment_of
from surefoot.tools.dates.reading import languages_for, plain, seconds_of
from surefoot.tools.dates.spans import WEEK, shifted, without_fillers
from surefoot.tools.dates.words import LANGUAGES, Language, fold
from surefoot.tools.dates.words import language as language_of
from surefoot.tools.dates.zones import localise, zone_of

_HALF = re.compile(r"\d\s*[ap]\.?\s?m\b|\b(?:0\d|1[3-9]|2[0-3])(?:[:.h]\d\d|\s*(?:uhr|h\b))|T\d\d:|\dt\d\d:")
FIRST_WORDS = 6
"""Words that may stand before such a date: `on Wednesday, exactly an hour before the meeting`."""
_HANGING = ("before", "after", "part_before", "part_of", "day_of")
_MOVES = {
    "follows": 1,
    "precedes": -1,
    "later": 1,
    "earlier": -1,
    "moved_later": 1,
    "moved_earlier": -1,
    "amount": 1,
}
"""Kinds of rules that count from an old date, and where to."""
_LENGTHENS = {"longer": 1, "shorter": -1}
"""Kinds that count from an old end only."""
MAX_MOVE = 100_000
"""Units; farther is no date any more."""


def hanging_on(text: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Every way to see a date that hangs on a named thing: what stands before its name, the name, what stands behind.

    All of it is folded; with a date in the name's place it can be read.
    """
    folded = fold(text)
    for words in languages_for(language, folded):
        bare = plain(folded, words)
        for start in _starts(bare):
            part = bare[start:]
            for kind in _HANGING:
                for pattern in words.by_kind.get(kind, ()):
                    match = pattern.fullmatch(part)
                    if match is not None:
                        yield from _names(part, match, words)


def _names(text: str, match: re.Match[str], words: Language) -> Iterator[tuple[str, str, str]]:
    """The name that was found; one with a time of day behind it first without that."""
    first, last = match.span("rest")
    for at in dict.fromkeys(
        at for at, end in clock_places(match["rest"], words) if 0 < at < end == last - first
    ):
        yield text[:first], match["rest"][:at].strip(), f" {text[first + at :]}"
    yield text[:first], match["rest"], text[last:]


def _starts(text: str) -> list[int]:
    spaces = [at + 1 for at, sign in enumerate(text) if sign == " "]
    return [0, *spaces[:FIRST_WORDS]]


def names_half_of_day(text: str) -> bool:
    """The text says whether it means the morning or the evening: `7am`, `19:30`, `07:00`, `in the morning`."""
    folded = fold(text)
    if _HALF.search(folded):
        return True
    return any(pattern.search(folded) for code in LANGUAGES for pattern, _ in language_of(code).parts)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a text says about a new date besides that the old time of day, or the old day, stays."""

    text: str
    time: bool = False
    day: bool = False


def kept(text: str, language: str) -> Kept:
    """`Friday, same time` is `friday`, and the time stays; a text that says no such thing is as it was."""
    folded = fold(text)
    own = language.strip().casefold()[:2]
    for code in sorted(LANGUAGES, key=lambda one: one != own):
        words = language_of(code)
        without_time = words.same_time.sub(" ", folded)
        left = words.same_day.sub(" ", without_time)
        if left != folded:
            bare = without_fillers(" ".join(left.split()), words, both=True)
            return Kept(bare, time=without_time != folded, day=left != without_time)
    return Kept(text)


def stays(text: str, language: str) -> bool:
    """The text says nothing but that the time of day, or the day, stays."""
    return not kept(text, language).text


def is_length(text: str, language: str) -> bool:
    """The text is a length and nothing more: `two hours`, `for half an hour`."""
    folded = fold(text)
    for words in languages_for(language, folded):
        bare = without_fillers(plain(folded, words), words)
        if any(pattern.fullmatch(bare) for pattern in words.by_kind.get("amount", ())):
            return True
    return False


def moved(text: str, base: Moment, zone: str, language: str, *, is_end: bool = False) -> Moment | None:
    """`half an hour later`, `the day after`, `two weeks`, counted from `base`; None where the text says no such thing.

    What counts in days keeps the time of day of `base`, unless it says another: `the day after at five`. Of an end
    (`is_end`), `an hour longer` counts too.

    Raises:
        ToolError: it counts hours from a day without a time, or leads out of the calendar.
    """
    folded = fold(kept(text, language).text)
    for words in languages_for(language, folded):
        try:
            kinds = _MOVES | _LENGTHENS if is_end else _MOVES
            found = _moved_in(plain(folded, words), words, base, zone_of(zone), kinds)
            if found is not None:
                return moment_of(found, text, zone, language)
        except (Refused, OverflowError, ValueError) as error:
            raise ToolError(
                f"{text!r} cannot be counted from {base.display}: {error}.",
                "Give the new date itself.",
                text=text,
            ) from error
    return None


def _moved_in(
    text: str, words: Language, base: Moment, zone: ZoneInfo, kinds: Mapping[str, int]
) -> Span | datetime | None:
    for form in dict.fromkeys((text, without_fillers(text, words))):
        match, sign = _move(form, words, kinds)
        if match is None:
            continue
        seconds = seconds_of(match, words)
        if seconds is not None:
            return _by_seconds(base, sign * seconds)
        day = _day(match, words, base, sign)
        return (
            None
            if day is None
            else _at(day, None if base.is_day else base.first.timetz().replace(tzinfo=None), zone)
        )
    return _moved_to_clock(text, words, base, zone)


def _moved_to_clock(text: str, words: Language, base: Moment, zone: ZoneInfo) -> Span | datetime | None:
    """`The day after at five`: the day is counted, the time is said."""
    for clock, rest in clocks_in(text, words):
        match, sign = _move(without_fillers(rest, words, both=True), words)
        day = _day(match, words, base, sign) if match and seconds_of(match, words) is None else None
        if day is not None:
            return _at(day + timedelta(days=clock.days), time(clock.hour, clock.minute, clock.second), zone)
    return None


def _move(text: str, words: Language, kinds: Mapping[str, int] = _MOVES) -> tuple[re.Match[str] | None, int]:
    for kind, sign in kinds.items():
        for pattern in words.by_kind.get(kind, ()):
            match = pattern.fullmatch(text)
            if match is not None:
                return match, sign
    return None, 0


def _by_seconds(base: Moment, seconds: int) -> datetime:
    if base.is_day:
        raise Refused("that has no time of day")
    return base.first.astimezone(UTC) + timedelta(seconds=seconds)


def _day(match: re.Match[str], words: Language, base: Moment, sign: int) -> date | None:
    """The day a rule leads to: so many units away, or the first such weekday."""
    found = match.groupdict()
    if found.get("weekday"):
        ahead = (words.weekdays[" ".join(found["weekday"].split())] - base.day.weekday()) * sign
        return base.day + timedelta(days=sign * ((ahead - 1) % WEEK + 1))
    number = words.number(found.get("n") or "1")
    if number is None or number > MAX_MOVE:
        raise Refused("it is too far away")
    unit = words.units[" ".join(found["unit"].split())] if found.get("unit") else "day"
    return shifted(base.day, sign * number, unit)


def _at(day: date, clock: time | None, zone: ZoneInfo) -> Span | datetime:
    return Span.day(day) if clock is None else localise(datetime.combine(day, clock), zone)


def with_clock_of(day: Moment, old: Moment, zone: str, language: str) -> Moment:
    """A day at the old time; of a calendar week the day that the old one was in its own.

    Raises:
        ToolError: it is several days, and no such week.
    """
    target = day.day
    if day.last_day != day.day:
        if (day.last_day - day.day).days != WEEK - 1 or day.day.weekday():
            raise ToolError(
                f"{day.text!r} names several days ({day.display}).", "Say which day.", text=day.text
            )
        target += timedelta(days=old.day.weekday())
    if old.is_day:
        return moment_of(Span.day(target), day.text, zone, language)
    clock = old.first.timetz().replace(tzinfo=None)
    return moment_of(localise(datetime.combine(target, clock), zone_of(zone)), day.text, zone, language)
