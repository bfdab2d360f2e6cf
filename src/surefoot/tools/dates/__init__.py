"""A date as a person says it, in the person's zone and language, the future preferred."""

from __future__ import annotations

from datetime import date, datetime

from surefoot.errors import ToolError
from surefoot.tools.dates.moment import Moment, Refused, Span, moment_of
from surefoot.tools.dates.reading import read
from surefoot.tools.dates.spelling import corrected
from surefoot.tools.dates.words import order_of
from surefoot.tools.dates.zones import zone_of

__all__ = ["Moment", "resolve_date", "resolve_range"]

MAX_CHARS = 120
"""Longer is no date but a sentence; nothing is searched for inside sentences."""
FORMS = (
    "2026-05-03, 2026-05-03 17:00, 3 May, tomorrow at 5pm, next Friday, in two weeks, the day before 3 May"
)
"""Shown when a text cannot be read: one of each kind."""


def resolve_date(text: str, ctx_now: datetime, zone: str, language: str) -> Moment:
    """What a text means.

    ISO forms first, then own rules for seven languages (`words/*.toml`), then, for other languages, dateparser. A date
    without a year is the next such date, a weekday the next such day, a clock time alone the next such time. `01/02` is
    read in the language's order. A clock time that a change of the clocks leaves out becomes the first moment after it.

    Args:
        text: as the person, or a model, wrote it.
        ctx_now: the run's clock, aware.
        zone: IANA name.
        language: a tag such as `de` or `en-GB`; it decides the order of figures and which words are tried first.

    Raises:
        ToolError: it cannot be read, or contradicts itself; the message names the text and shows forms that work.
    """
    tz = zone_of(zone)
    if not text.strip() or len(text) > MAX_CHARS:
        raise _unreadable(text, "")
    try:
        now = ctx_now.astimezone(tz)
        return moment_of(_found(text, now, language), text, zone, language)
    except Refused as refused:
        raise _unreadable(text, str(refused)) from refused
    except (OverflowError, ValueError) as error:
        raise _unreadable(text, "it lies outside the calendar") from error


def _found(text: str, now: datetime, language: str) -> Span | datetime:
    try:
        return read(text, now, language, order_of(language))
    except Refused as refused:
        respelled = "" if str(refused) else corrected(text, language)
        if not respelled:
            raise
        return read(respelled, now, language, order_of(language))


def resolve_range(
    since: str | None, until: str | None, ctx_now: datetime, zone: str, language: str
) -> tuple[Moment | None, Moment | None]:
    """Both ends of a range, each may be open. `since` begins with its first moment, `until` ends with its last.

    When `since` names no year and comes out behind `until`, the same date before `until` is meant.

    Raises:
        ToolError: one cannot be read, or the range ends before it begins.
    """
    first = resolve_date(since, ctx_now, zone, language) if since else None
    last = resolve_date(until, ctx_now, zone, language) if until else None
    if first is None or last is None or first.first < last.last:
        return first, last
    earlier = _a_year_before(last.day, ctx_now)
    again = resolve_date(str(since), earlier, zone, language) if earlier else first
    same_day = (again.day.month, again.day.day) == (first.day.month, first.day.day)
    if not same_day or again.first >= last.last:
        raise ToolError(
            f"The range ends ({last.display}) before it begins ({first.display}).",
            "Give since before until, with years where they matter.",
        )
    return again, last


def _a_year_before(day: date, ctx_now: datetime) -> datetime | None:
    try:
        return datetime(day.year - 1, day.month, min(day.day, 28), 12, tzinfo=ctx_now.tzinfo)
    except ValueError:
        return None


def _unreadable(text: str, reason: str) -> ToolError:
    shown = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"
    why = f": {reason}" if reason else ""
    return ToolError(
        f"The date {shown!r} cannot be read{why}.", f"Write it like one of these: {FORMS}.", text=shown
    )
