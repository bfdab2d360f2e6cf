"""Local clock times as moments, where the clocks change too."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from surefoot.errors import ToolError

SECOND = timedelta(seconds=1)


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name; ToolError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError(
            f"{name!r} is no time zone.", "Set one of the IANA list, such as Europe/Berlin."
        ) from error


def localise(local: datetime, zone: ZoneInfo) -> datetime:
    """The moment when clocks in the zone show this time.

    A time that a clock change leaves out becomes the first moment after the gap; of one that comes twice, the first.
    """
    moment = local.replace(tzinfo=zone, fold=0)
    back = moment.astimezone(UTC).astimezone(zone)
    if back.replace(tzinfo=None) == local:
        return moment
    return _after_gap(moment.astimezone(UTC), zone)


def _after_gap(inside: datetime, zone: ZoneInfo) -> datetime:
    """`inside` lies behind the change (it was reckoned with the offset before it): find the change by halving."""
    high = inside
    after = high.astimezone(zone).utcoffset()
    low = inside - timedelta(days=1)
    while high - low > SECOND:
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == after:
            high = middle
        else:
            low = middle
    return high.replace(microsecond=0).astimezone(zone)


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a day, which is not everywhere 0:00."""
    return localise(datetime.combine(day, time()), zone)
