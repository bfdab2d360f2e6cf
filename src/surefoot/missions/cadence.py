"""When a mission runs: a cadence is data, and one pure function says its occurrences.

A local time becomes a moment by one rule. A time that a clock change leaves out runs at the first moment after the gap;
a time that comes twice runs the first time; a day that a zone left out as a whole has no occurrence. Keys are local
dates or times, so an occurrence has the same key whoever asks, and when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from surefoot.errors import InputError

Kind = Literal["manual", "interval", "daily", "weekly", "cron"]
KINDS: tuple[Kind, ...] = ("manual", "interval", "daily", "weekly", "cron")

FIELDS: Mapping[Kind, tuple[str, ...]] = {
    "manual": (),
    "interval": ("minutes",),
    "daily": ("minute",),
    "weekly": ("days", "minute"),
    "cron": ("cron",),
}
"""What each kind is made of; nothing else may be given with it."""

DAY_MINUTES = 24 * 60
WEEK_DAYS = 7
MOST_MINUTES = 366 * DAY_MINUTES
"""Of an interval: what comes less than once a year is better said as a cron date."""

MOST = 1_000
"""Occurrences in one answer, by default: twenty years of days' Mondays, half a day of minutes."""

CRON_CHARS = 200
"""Of a cron expression: five full lists of hours and days are shorter."""

CRON_FIELDS = 5
FIRST = datetime(1970, 1, 1, tzinfo=UTC)
"""Intervals count from here, so that everybody who asks counts alike."""

HORIZON = timedelta(days=366 * 51)
"""How far `next_occurrence` looks. A 29 February on a Monday may be 40 years away; cron's own search ends after 50."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often a mission runs.

    Args:
        kind: `manual` runs only when a person says so.
        minutes: between two runs of an `interval`, 1 or more, counted from the start of 1970 in UTC.
        minute: of the local day, 0 to 1439, for `daily` and `weekly`.
        days: weekdays of `weekly`, Monday is 0, each once and in order.
        cron: five fields (minute, hour, day, month, weekday), read on the local clock.

    Raises:
        InputError: a value cannot be used, or does not belong to the kind.
    """

    kind: Kind = "manual"
    minutes: int = 0
    minute: int = 0
    days: tuple[int, ...] = ()
    cron: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise _bad(f"There is no cadence {self.kind!r}.", f"There are: {', '.join(KINDS)}.", self.kind)
        self._check_nothing_else()
        {"interval": self._check_interval, "daily": self._check_minute, "weekly": self._check_weekly}.get(
            self.kind, self._check_cron
        )()

    def _check_nothing_else(self) -> None:
        for name in ("minutes", "minute", "days", "cron"):
            value = getattr(self, name)
            if name not in FIELDS[self.kind] and value:
                raise _bad(
                    f"A cadence {self.kind!r} has no {name}, and {value!r} was given.", "Leave it out.", value
                )

    def _check_interval(self) -> None:
        if not _whole(self.minutes) or not 1 <= self.minutes <= MOST_MINUTES:
            raise _bad(
                f"An interval of {self.minutes!r} minutes cannot be kept.",
                f"Give a whole number of minutes from 1 to {MOST_MINUTES}.",
                self.minutes,
            )

    def _check_minute(self) -> None:
        if not _whole(self.minute) or not 0 <= self.minute < DAY_MINUTES:
            raise _bad(
                f"Minute {self.minute!r} is not in a day.", "Give 0 (midnight) to 1439 (23:59).", self.minute
            )

    def _check_weekly(self) -> None:
        self._check_minute()
        if not self.days or any(not _whole(day) or not 0 <= day < WEEK_DAYS for day in self.days):
            raise _bad(
                f"{list(self.days)} are no weekdays.",
                "Give at least one, from 0 (Monday) to 6.",
                list(self.days),
            )
        object.__setattr__(self, "days", tuple(sorted(set(self.days))))

    def _check_cron(self) -> None:
        if self.kind == "cron":
            if not isinstance(self.cron, str):
                raise _bad(f"cron is {self.cron!r}.", "Give a text such as 0 9 * * 1-5.", repr(self.cron))
            object.__setattr__(self, "cron", " ".join(self.cron.upper().split()))
            check_cron(self.cron)

    def to_dict(self) -> dict[str, Any]:
        """The cadence as JSON: its kind, and what that is made of."""
        values = {name: getattr(self, name) for name in FIELDS[self.kind]}
        return {"kind": self.kind, **{k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cadence:
        """The cadence that `to_dict` wrote.

        Raises:
            InputError: it is none; the message names what is wrong.
        """
        if not isinstance(data, Mapping):
            raise _bad(f"{data!r} is no cadence.", 'Give {"kind": "manual"}, or another kind.', repr(data))
        known = {item for names in FIELDS.values() for item in names} | {"kind"}
        for name in data:
            if name not in known:
                raise _bad(f"A cadence has no field {name!r}.", f"It has: {', '.join(sorted(known))}.", name)
        values = dict(data)
        if "days" in values:
            days = values["days"]
            if not isinstance(days, list | tuple):
                raise _bad(f"days is {days!r}, not a list.", "Give a list such as [0, 3].", repr(days))
            values["days"] = tuple(days)
        return cls(**values)


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """One time at which a mission is due. `moment` is in UTC; `key` names it within the mission, whoever asks."""

    moment: datetime
    key: str = field(compare=False)


def zone_of(name: str) -> ZoneInfo:
    """The zone of this name.

    Raises:
        InputError: the IANA list has none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError) as error:
        raise _bad(
            f"{name!r} is no time zone of the IANA list.", "Give one such as Europe/Berlin or UTC.", str(name)
        ) from error


def occurrences(
    cadence: Cadence, zone: str, after: datetime, until: datetime, *, most: int = MOST
) -> list[Occurrence]:
    """All occurrences with `after < moment <= until`, in order; the first `most` of them.

    Splitting the time anywhere gives the same occurrences: a caller that got `most` asks again behind the last one.

    Args:
        cadence: how often.
        zone: IANA name of the mission's zone.
        after: aware; an occurrence at exactly this moment is not in it.
        until: aware; one at exactly this moment is.
        most: how many at the most, so that a long time costs no more than a short one.

    Raises:
        InputError: there is no such zone, or a time has no zone.
    """
    _check_aware(after, until)
    found = _all(cadence, zone_of(zone), after.astimezone(UTC), until.astimezone(UTC))
    return list(islice(found, max(0, most)))


def next_occurrence(cadence: Cadence, zone: str, after: datetime) -> Occurrence | None:
    """The first occurrence behind `after`; None where there is none (by hand, or not within 51 years)."""
    _check_aware(after)
    return next(iter(occurrences(cadence, zone, after, after + HORIZON, most=1)), None)


def _all(cadence: Cadence, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[Occurrence]:
    if cadence.kind == "manual" or until <= after:
        return iter(())
    if cadence.kind == "interval":
        return _intervals(cadence.minutes, after, until)
    if cadence.kind == "cron":
        return _crons(cadence.cron, zone, after, until)
    days = cadence.days or tuple(range(WEEK_DAYS))
    return _days(days, cadence.minute, zone, after, until)


def _intervals(minutes: int, after: datetime, until: datetime) -> Iterator[Occurrence]:
    step = timedelta(minutes=minutes)
    moment = FIRST + ((after - FIRST) // step + 1) * step
    while moment <= until:
        yield Occurrence(moment, f"{moment:%Y-%m-%dT%H:%MZ}")
        moment += step


def _days(
    days: tuple[int, ...], minute: int, zone: ZoneInfo, after: datetime, until: datetime
) -> Iterator[Occurrence]:
    """A local time never becomes an earlier moment than a time before it, so `after`'s own day is early enough."""
    day, last = after.astimezone(zone).date(), until.astimezone(zone).date()
    while day <= last:
        if day.weekday() in days and _exists(day, zone):
            moment = first_moment(datetime.combine(day, time(minute // 60, minute % 60)), zone)
            if after < moment <= until:
                yield Occurrence(moment, day.isoformat())
        day += timedelta(days=1)


def _crons(expression: str, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[Occurrence]:
    """Several times of one gap are one occurrence: all of them would run at the same moment."""
    from cronsim import CronSim

    last: datetime | None = None
    for local in CronSim(expression, after.astimezone(zone).replace(tzinfo=None, fold=0)):
        moment = first_moment(local, zone)
        if moment > until:
            return
        if moment > after and moment != last and _exists(local.date(), zone):
            last = moment
            yield Occurrence(moment, f"{local:%Y-%m-%dT%H:%M}")


# --- the local clock -----------------------------------------------------------------------------------------


def first_moment(local: datetime, zone: ZoneInfo) -> datetime:
    """The moment, in UTC, at which a clock in this zone first shows `local` (naive) or, in a gap, what is behind it."""
    moment = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None, fold=0) == local:
        return moment
    early = local.replace(tzinfo=zone, fold=1).astimezone(UTC)  # a gap lies between its two readings
    return _change_between(early, moment, zone)


def _change_between(early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which the zone's offset changes, to the second: offsets change at whole seconds."""
    before = early.astimezone(zone).utcoffset()
    low, high = 0, int((late - early).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if (early + timedelta(seconds=middle)).astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return early + timedelta(seconds=high)


@lru_cache(maxsize=64)
def _exists(day: date, zone: ZoneInfo) -> bool:
    """The zone had this day: some left one out when they crossed the date line."""
    return first_moment(datetime.combine(day, time()), zone).astimezone(zone).date() == day


# --- checks ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def check_cron(expression: str) -> None:
    """InputError for what is no cron expression of five fields, or comes never."""
    from cronsim import CronSim, CronSimError

    move = "Give minute, hour, day, month and weekday, such as 0 9 * * 1-5."
    if len(expression) > CRON_CHARS:
        raise _bad(f"A cron expression has at most {CRON_CHARS} characters.", move, expression[:CRON_CHARS])
    if len(expression.split()) != CRON_FIELDS:
        raise _bad(
            f"{expression!r} has {len(expression.split())} fields, not {CRON_FIELDS}.", move, expression
        )
    try:
        found = next(iter(CronSim(expression, datetime(2024, 1, 1))), None)  # noqa: DTZ001 - a clock on a wall
    except (CronSimError, AssertionError, TypeError, ValueError) as error:
        reason = str(error) or "it cannot be read"
        raise _bad(f"{expression!r} is no cron expression: {reason}.", move, expression) from error
    if found is None:
        raise _bad(f"{expression!r} never comes.", "Name a date that exists.", expression)


def _check_aware(*moments: datetime) -> None:
    for moment in moments:
        if moment.tzinfo is None:
            raise _bad(f"{moment.isoformat()} has no zone.", "Give an aware time.", moment.isoformat())


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _bad(message: str, next_move: str, value: Any) -> InputError:
    return InputError(message, next_move, value=value)
