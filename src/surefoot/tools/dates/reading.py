"""Reading a date: ISO, then figures, then the words of each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from surefoot.tools.dates import spans
from surefoot.tools.dates.clock import Clock, clocks_beside, clocks_in
from surefoot.tools.dates.moment import Refused, Span, Unclear
from surefoot.tools.dates.spans import Today
from surefoot.tools.dates.words import LANGUAGES, Language, base_of, fold, language, others_for
from surefoot.tools.dates.zones import localise

_ISO_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}(:?\d{2}(:?\d{2}([.,]\d{1,9})?)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?", re.ASCII
)
SHORT_UNITS = {
    "minute": 60,
    "quarter_hour": 900,
    "half_hour": 1800,
    "three_quarter_hour": 2700,
    "hour": 3600,
    "hour_and_half": 5400,
}
"""Seconds of what is shorter than a day."""
_FROM_NOW = {"in": 1, "amount": 1, "later": 1, "ago": -1, "earlier": -1}
MIN_FOREIGN = 4
"""A shorter word of a language with spaces (`so`, `di`, `mar`) is only read in the person's own language."""


def read(text: str, now: datetime, tag: str, order: str) -> Span | datetime:
    """What the text says, seen from `now`.

    Raises:
        Refused: it cannot be read.
    """
    zone = cast("ZoneInfo", now.tzinfo)
    exact = _iso_time(text.strip(), zone)
    if exact is not None:
        return exact
    folded = fold(text)
    reasons: list[str] = []
    for words in languages_for(tag, folded):
        try:
            found = _in_language(folded, words, now, order)
        except Unclear:
            raise
        except Refused as refused:
            reasons.append(str(refused))
            continue
        if found is not None:
            return found
    if not reasons and base_of(tag) not in LANGUAGES:
        from surefoot.tools.dates.other import by_dateparser

        found = by_dateparser(text, now, base_of(tag), order)
        if found is not None:
            return found
    raise Refused(next((reason for reason in reasons if reason), ""))


def _iso_time(text: str, zone: ZoneInfo) -> datetime | None:
    if not _ISO_TIME.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
    except ValueError as error:
        raise Refused(f"there is no such day or time ({error})") from error
    return localise(moment, zone) if moment.tzinfo is None else moment.astimezone(zone)


def languages_for(tag: str, folded: str) -> Iterator[Language]:
    """The person's language first, then the others that may be meant; none that the text holds no word of."""
    own = base_of(tag)
    foreign = len(folded) >= MIN_FOREIGN or not folded.isascii() or folded[:1].isdigit()
    for code in dict.fromkeys((own, *LANGUAGES)):
        if code in LANGUAGES and (code == own or foreign):
            words = language(code)
            if words.may_hold(folded, own=code == own):
                yield words


def _in_language(folded: str, words: Language, now: datetime, order: str) -> Span | datetime | None:
    folded = plain(folded, words)
    if folded in words.now:
        return now.replace(second=0, microsecond=0)
    if any(pattern.fullmatch(folded) for pattern in words.by_kind.get("unclear", ())):
        raise Unclear("it may mean more than one thing")
    today = Today(now.date(), words, order)
    reason = ""
    for way in _WAYS:
        try:
            found = way(folded, today, now)
        except Refused as refused:
            reason = reason or str(refused)
            continue
        if found is not None:
            return found
    if reason:
        raise Refused(reason)
    return None


def plain(folded: str, words: Language) -> str:
    """The text without asides, and with what is said in one word for two said in two."""
    folded = spans.without_asides(folded, words)
    for pattern, meant in words.rewrite:
        folded = pattern.sub(meant, folded)
    return " ".join(folded.split())


def _in_days(folded: str, today: Today, _now: datetime) -> Span | None:
    return spans.read_span(folded, today)


def _in_hours(folded: str, today: Today, now: datetime) -> datetime | None:
    """`in 30 minutes`, `2 hours ago`: counted in true time, whatever the clocks do meanwhile."""
    for form in dict.fromkeys((folded, spans.without_fillers(folded, today.words))):
        for kind, sign in _FROM_NOW.items():
            for pattern in today.words.by_kind.get(kind, ()):
                seconds = seconds_of(pattern.fullmatch(form), today.words)
                if seconds is not None:
                    moved = now.astimezone(UTC) + timedelta(seconds=seconds * sign)
                    return moved.replace(microsecond=0).astimezone(now.tzinfo)
    return None


def seconds_of(match: re.Match[str] | None, words: Language) -> int | None:
    """The length that a rule found, where it is shorter than a day; None where it is not, or there is none."""
    found = match.groupdict() if match else {}
    unit = SHORT_UNITS.get(words.units.get(found.get("unit") or "", ""))
    number = words.number(found.get("n") or "1")
    return None if unit is None or number is None else unit * number


def _hours_from(folded: str, today: Today, now: datetime) -> datetime | None:
    """`an hour before Friday 11:00`, `30 minutes after 2026-05-03 17:00`: counted from a moment, in true time."""
    for kind, sign in (("before", -1), ("after", 1)):
        for pattern in today.words.by_kind.get(kind, ()):
            match = pattern.fullmatch(folded)
            seconds = seconds_of(match, today.words)
            moment = _moment(match["rest"], today, now) if match and seconds is not None else None
            if moment is not None and seconds is not None:
                return (moment.astimezone(UTC) + timedelta(seconds=sign * seconds)).astimezone(now.tzinfo)
    return None


def _part_of_day(folded: str, today: Today, now: datetime) -> datetime | None:
    """`the evening before 3 May`, `am Morgen des 3. Mai um acht`: the part belongs to the day, or to the one before."""
    for kind, back in (("part_before", 1), ("part_of", 0)):
        for pattern in today.words.by_kind.get(kind, ()):
            match = pattern.fullmatch(folded)
            if match is None:
                continue
            part = today.words.part_words[" ".join(match["part"].split())]
            for clock, rest in clocks_beside(match["rest"], part, today.words):
                span = spans.inner(spans.without_fillers(rest, today.words, both=True), today)
                if span is not None and span.is_day:
                    return _on(span.first - timedelta(days=back), clock, today, now)
    return None


def _moment(text: str, today: Today, now: datetime) -> datetime | None:
    """A moment inside a date; one that was copied there may be of another language."""
    exact = _iso_time(text.upper(), cast("ZoneInfo", now.tzinfo))
    if exact is not None:
        return exact
    for words in (today.words, *others_for(text, today.words.code)):
        found = _with_clock(text, replace(today, words=words), now)
        if found is not None:
            return found
    return None


def _with_clock(folded: str, today: Today, now: datetime) -> datetime | None:
    reason = ""
    for clock, rest in clocks_in(folded, today.words):
        bare = spans.without_fillers(rest, today.words, both=True)
        if not bare:
            return _next(clock, now)
        try:
            span = spans.read_span(today.words.edges.around.sub("", rest).strip(), today) or spans.read_span(
                bare, today
            )
        except Refused as refused:
            reason = reason or str(refused)
            continue
        if span is not None and span.is_day:
            return _on(span.first, clock, today, now)
    if reason:
        raise Refused(reason)
    return None


def _next(clock: Clock, now: datetime) -> datetime:
    """A time without a date: today, or tomorrow when it is past."""
    moment = _at(now.date(), clock, now)
    return moment if moment > now else _at(now.date() + timedelta(days=1), clock, now)


def _on(day: date, clock: Clock, today: Today, now: datetime) -> datetime:
    """`Tonight at 12` is the coming midnight, not the past one."""
    if clock.night and clock.hour == 0 and day == today.day:
        day += timedelta(days=1)
    return _at(day, clock, now)


def _at(day: date, clock: Clock, now: datetime) -> datetime:
    local = datetime.combine(day + timedelta(days=clock.days), time(clock.hour, clock.minute, clock.second))
    return localise(local, cast("ZoneInfo", now.tzinfo))


_WAYS = (_part_of_day, _in_days, _in_hours, _with_clock, _hours_from)
"""Each way to read a text, the sure ones first: a part of the day before a date would be read as of that date."""
