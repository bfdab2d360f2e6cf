"""Reading a date: ISO, then figures, then the words of each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from surefoot.tools.dates import spans
from surefoot.tools.dates.clock import Clock, clocks_in
from surefoot.tools.dates.moment import Refused, Span
from surefoot.tools.dates.spans import Today
from surefoot.tools.dates.words import LANGUAGES, Language, base_of, fold, language
from surefoot.tools.dates.zones import localise

_ISO_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}(:?\d{2}(:?\d{2}([.,]\d{1,9})?)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?", re.ASCII
)
_SHORT_UNITS = {"minute": 60, "half_hour": 1800, "hour": 3600}
_FROM_NOW = {"in": 1, "later": 1, "ago": -1, "earlier": -1}
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
    """The person's language first, then the others that may be meant."""
    own = base_of(tag)
    if own in LANGUAGES:
        yield language(own)
    for code in LANGUAGES:
        if code != own and (len(folded) >= MIN_FOREIGN or not folded.isascii() or folded[:1].isdigit()):
            yield language(code)


def _in_language(folded: str, words: Language, now: datetime, order: str) -> Span | datetime | None:
    for pattern, meant in words.rewrite:
        folded = pattern.sub(meant, folded)
    if folded in words.now:
        return now.replace(second=0, microsecond=0)
    today = Today(now.date(), words, order)
    reason = ""
    try:
        found = spans.read_span(folded, today) or _in_hours(folded, words, now)
    except Refused as refused:
        found, reason = None, str(refused)
    if found is None:
        found = _with_clock(folded, today, now) or _hours_from(folded, today, now)
    if found is None and reason:
        raise Refused(reason)
    return found


def _in_hours(folded: str, words: Language, now: datetime) -> datetime | None:
    """`in 30 minutes`, `2 hours ago`: counted in true time, whatever the clocks do meanwhile."""
    for kind, pattern in words.rules:
        match = pattern.fullmatch(folded) if kind in _FROM_NOW else None
        if match is None or words.units[match["unit"]] not in _SHORT_UNITS:
            continue
        number = words.number(match["n"] or "1") if "n" in match.groupdict() else 1
        seconds = _SHORT_UNITS[words.units[match["unit"]]] * (number or 1)
        moved = now.astimezone(UTC) + timedelta(seconds=seconds * _FROM_NOW[kind])
        return moved.replace(microsecond=0).astimezone(now.tzinfo)
    return None


def _hours_from(folded: str, today: Today, now: datetime) -> datetime | None:
    """`an hour before Friday 11:00`, `30 minutes after 2026-05-03 17:00`: counted from a moment, in true time."""
    for kind, pattern in today.words.rules:
        match = pattern.fullmatch(folded) if kind in {"before", "after"} else None
        unit = _SHORT_UNITS.get(today.words.units[match["unit"]]) if match and match["unit"] else None
        if match is None or unit is None:
            continue
        moment = _moment(match["rest"], today, now)
        if moment is not None:
            number = today.words.number(match["n"] or "1") or 1
            moved = moment.astimezone(UTC) + timedelta(
                seconds=unit * (number if kind == "after" else -number)
            )
            return moved.astimezone(now.tzinfo)
    return None


def _moment(text: str, today: Today, now: datetime) -> datetime | None:
    """A moment inside a date; one that was copied there may be of another language."""
    exact = _iso_time(text.upper(), cast("ZoneInfo", now.tzinfo))
    if exact is not None:
        return exact
    others = (language(code) for code in LANGUAGES if code != today.words.code)
    for words in (today.words, *others):
        found = _with_clock(text, replace(today, words=words), now)
        if found is not None:
            return found
    return None


def _with_clock(folded: str, today: Today, now: datetime) -> datetime | None:
    reason = ""
    for clock, rest in clocks_in(folded, today.words):
        bare = spans.without_fillers(rest, today.words)
        if not bare:
            return _next(clock, now)
        try:
            span = spans.read_span(bare, today)
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
