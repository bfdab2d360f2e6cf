"""What a read date is: a day, a span of days, or a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from surefoot.tools.dates.words import display_of
from surefoot.tools.dates.zones import start_of, zone_of

DAY = timedelta(days=1)


class Refused(Exception):  # noqa: N818 - internal, becomes a ToolError
    """The text is understood, and what it says cannot be; the reason is the message."""


class Unclear(Refused):
    """The text may mean more than one thing, whatever else reads it."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days, both ends included. A single day has equal ends."""

    first: date
    last: date

    @classmethod
    def day(cls, day: date) -> Span:
        """One day."""
        return cls(day, day)

    @property
    def is_day(self) -> bool:
        """It is one day."""
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Moment:
    """A date that was read.

    `value` is a date, or an aware datetime in the person's zone. Of a span of days ("this week") it is the first day.
    `first` is the first moment that belongs to it, `last` the first that does not any more (of a moment: itself).
    `display` is for people: `Sun 3 May 2026`, `Sun 3 May 2026, 17:00`.
    """

    value: date | datetime
    first: datetime
    last: datetime
    display: str
    text: str
    last_day: date

    @property
    def day(self) -> date:
        """The calendar day, the first one of a span."""
        return self.value.date() if isinstance(self.value, datetime) else self.value

    @property
    def is_day(self) -> bool:
        """It has no time of day."""
        return not isinstance(self.value, datetime)

    @property
    def iso(self) -> str:
        """`2026-05-03` or `2026-05-03T17:00:00+02:00`."""
        return self.value.isoformat()


def moment_of(found: Span | datetime, text: str, zone: str, language: str) -> Moment:
    """The moment for what was read; OverflowError or ValueError outside the calendar."""
    tz = zone_of(zone)
    if isinstance(found, datetime):
        local = found.astimezone(tz)
        return Moment(local, local, local, show(local, language), text, local.date())
    shown = show(found.first, language)
    if not found.is_day:
        shown = f"{shown} – {show(found.last, language)}"
    first, last = start_of(found.first, tz), start_of(found.last + DAY, tz)
    return Moment(found.first, first, last, shown, text, found.last)


def show(value: date | datetime, language: str) -> str:
    """A date for people, in their language: `Sun 3 May 2026, 17:00`."""
    words = display_of(language)
    day = words.day.format(
        weekday=words.weekdays[value.weekday()],
        d=value.day,
        m=value.month,
        month=words.months[value.month - 1],
        y=value.year,
    )
    if not isinstance(value, datetime):
        return day
    clock = f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"
    return f"{day}, {clock}"
