"""Dates of the kits' rows: as they are stored, compared and shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from surefoot.errors import ToolError
from surefoot.tools.dates import Moment, resolve_date, resolve_range
from surefoot.tools.dates.clock import HOURS, part_of_day
from surefoot.tools.dates.folding import fold
from surefoot.tools.dates.moment import show
from surefoot.tools.dates.reading import languages_for, plain
from surefoot.tools.dates.relative import kept, moved, with_clock_of
from surefoot.tools.dates.zones import zone_of
from surefoot.tools.kits.anchors import anchored
from surefoot.tools.kits.rows import Row, time_text

if TYPE_CHECKING:
    from surefoot.tools.types import Context

DAY_LENGTH = 10
"""Characters of `2026-05-03`."""
FAR = timedelta(days=400)
"""From so far away a time of day without a date is seen to have none."""


class Window:
    """The days and moments from `since` to `until`, both included; either may be open."""

    def __init__(self, since: Moment | None = None, until: Moment | None = None) -> None:
        self.first_day = since.day.isoformat() if since else ""
        self.last_day = until.last_day.isoformat() if until else "9999-12-31"
        self.first = time_text(since.first) if since else ""
        self.last = time_text(until.last) if until else "9999"
        self._last_is_moment = until is not None and not until.is_day
        self.is_open = since is None and until is None

    @classmethod
    def of(cls, ctx: Context, since: str | None, until: str | None) -> Window:
        """Read from what a person says; ToolError. "Thursday afternoon" as both ends is the whole afternoon."""
        if since and since == until and (hours := _part(ctx, since)):
            return cls(*hours)
        return cls(*resolve_range(since, until, ctx.now, ctx.zone, ctx.language))

    def holds(
        self, start: str | None, start_at: str | None, end: str | None = None, end_at: str | None = None
    ) -> bool:
        """What lasts from start to end touches the window. A day is compared as a day, whatever the zone."""
        if start is None:
            return False
        if start_at is None:
            return start <= self.last_day and (end or start)[:DAY_LENGTH] >= self.first_day
        last = end_at or start_at
        begins = start_at <= self.last if self._last_is_moment else start_at < self.last
        return begins and last >= self.first


def _part(ctx: Context, text: str) -> tuple[Moment, Moment] | None:
    """The part of a day that a text names, from its first hour to its last."""
    folded = fold(text)
    spans = (part_of_day(plain(folded, words), words) for words in languages_for(ctx.language, folded))
    span = next((one for one in spans if one), None)
    if span is None:
        return None
    day = resolved(ctx, text).first.replace(minute=0, second=0, microsecond=0)
    last = day.replace(hour=23, minute=59) if span[1] == HOURS else day.replace(hour=span[1])
    both = [one.isoformat() for one in (day.replace(hour=span[0]), last)]
    first, end = (resolve_date(one, ctx.now, ctx.zone, ctx.language) for one in both)
    return first, end


def stored(moment: Moment | None) -> tuple[str | None, str | None]:
    """A moment as its two columns: the day or the local time with its offset, and the UTC time (null for a day)."""
    if moment is None:
        return None, None
    if isinstance(moment.value, datetime):
        return moment.value.isoformat(timespec="seconds"), time_text(moment.value)
    return moment.value.isoformat(), None


def resolved(ctx: Context, text: str) -> Moment:
    """What a date means to the person of this run, `the day before my flight` included; ToolError."""
    try:
        return resolve_date(text, ctx.now, ctx.zone, ctx.language)
    except ToolError:
        found = anchored(ctx, text) if ctx.tx is not None else None
        if found is None:
            raise
        return found


def moved_to(
    ctx: Context,
    text: str,
    old: Moment,
    read: Callable[[Context, str], Moment] = resolved,
    *,
    keeps_clock: bool = False,
) -> Moment:
    """A new date for something that has one: `an hour later` counts from the old one, `at five` is on its day.

    Args:
        ctx: whose date it is.
        text: as the person said it.
        old: the date it has.
        read: what reads a text that does not hang on the old date.
        keeps_clock: a day alone leaves the time of day as it is, as `Friday, same time` always does.

    Raises:
        ToolError: it cannot be read, contradicts itself, or names several days for one moment.
    """
    by = moved(text, old, ctx.zone, ctx.language)
    if by is not None:
        return by
    said = kept(text, ctx.language)
    alone = read(ctx, said.text or text)
    if not alone.is_day:
        return _at_clock(ctx, alone, old, same_day=said.day, same_time=said.time, past=keeps_clock)
    if said.time or said.day or (keeps_clock and not old.is_day and alone.day == alone.last_day):
        return with_clock_of(alone, old, ctx.zone, ctx.language)
    if keeps_clock and not old.is_day:
        raise _contradicts(alone, "it names several days")
    return alone


def _at_clock(
    ctx: Context, alone: Moment, old: Moment, *, same_day: bool, same_time: bool, past: bool
) -> Moment:
    """A moment as it is; a time of day only is on the old day, unless that is over and no event's (`past`)."""
    if same_time:
        raise _contradicts(alone, "it says another time")
    if is_clock(ctx, alone.text, alone) and (
        same_day or past or old.day >= ctx.now.astimezone(zone_of(ctx.zone)).date()
    ):
        return resolve_date(alone.text, old.first.replace(hour=0, minute=0, second=0), ctx.zone, ctx.language)
    if same_day:
        raise _contradicts(alone, "it says another day")
    return alone


def _contradicts(alone: Moment, reason: str) -> ToolError:
    return ToolError(
        f"The date {alone.text!r} cannot be read: {reason} ({alone.display}).",
        "Give one day and one time.",
        text=alone.text,
    )


def is_clock(ctx: Context, text: str, alone: Moment) -> bool:
    """The text, which means `alone`, names a time and no date: seen from another day far away, it lies on that day."""
    if alone.is_day:
        return False
    far = ctx.now.replace(hour=0, minute=0, second=0, microsecond=0) + FAR
    try:
        other = resolve_date(text, far, ctx.zone, ctx.language)
        later = resolve_date(text, far + timedelta(minutes=1), ctx.zone, ctx.language)
    except ToolError:
        return False  # a weekday beside a date fits one year and not the next
    return other.day == far.date() and later.first == other.first  # "in two hours" moves along with the clock


def shown(ctx: Context, value: str) -> str:
    """A stored date for people, in their zone and language."""
    if len(value) == DAY_LENGTH:
        return show(date.fromisoformat(value), ctx.language)
    return show(datetime.fromisoformat(value).astimezone(zone_of(ctx.zone)), ctx.language)


def told(ctx: Context, row: Row, *names: str) -> dict[str, Any]:
    """The dates of a row that are set: each as it is stored, and as `<name>_text` for people."""
    found: dict[str, Any] = {}
    for name in names:
        if row[name]:
            found[name] = row[name]
            found[f"{name}_text"] = shown(ctx, row[name])
    return found
