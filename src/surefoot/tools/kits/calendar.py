"""The calendar: events with a start, perhaps an end and a place."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.dates.relative import is_length, moved, names_half_of_day, stays
from surefoot.tools.decorator import tool
from surefoot.tools.kits import when
from surefoot.tools.kits.rows import (
    LIST_LIMIT,
    Row,
    Rows,
    clean,
    listed,
    title_of,
    told_as,
    undo_add,
    undo_of,
)
from surefoot.tools.kits.tables import calendar_events
from surefoot.tools.kits.when import Window
from surefoot.tools.types import Context

if TYPE_CHECKING:
    from sqlalchemy import Connection

ROWS = Rows(calendar_events, "event")
MAX_PLACE = 300
HALF_DAY = timedelta(hours=12)
"""An event of more than this, whose start may be morning or evening by its words, begins in the evening."""
_BARE_HOUR = re.compile(r"\b(\d{1,2})\s*$")

_LIVING = Prepared(
    select(calendar_events)
    .where(calendar_events.c.deleted == bindparam("gone"))
    .order_by(calendar_events.c.start, calendar_events.c.id)
)

_ALIASES = ("event", "appointment", "meeting", "calendar", "termin", "kalender", "rendez-vous", "événement", "cita",
            "evento", "reunión", "घटना", "बैठक", "日程", "会议", "予定", "会議", "カレンダー")  # fmt: skip


def list_rows(tx: Connection, window: Window | None = None) -> list[Row]:
    """Events that are not deleted and touch the window, the earliest first."""
    window = window or Window()
    found = [dict(zip(ROWS.columns, row, strict=True)) for row in _LIVING.rows(tx, gone=False)]
    return [row for row in found if window.holds(row["start"], row["start_at"], row["end"], row["end_at"])]


@tool(
    name="addEvent",
    kit="calendar",
    effect="write",
    where="writer",
    undo=undo_add(ROWS),
    dates=("start", "end"),
    said=("place",),
    aliases=("schedule", "book", "eintragen", *_ALIASES),
)
def add_event(
    ctx: Context, title: str, start: str, end: str | None = None, place: str = ""
) -> dict[str, Any]:
    """Put an event into the calendar."""
    begins, ends = _span(ctx, _start(ctx, start), end, start)
    values = _times(begins, ends)
    row = ROWS.add(ctx, title=title_of(title, "event"), **values, place=_place(place))
    return _told(ctx, row, "")


@tool(
    name="listEvents",
    kit="calendar",
    effect="read",
    where="writer",
    dates=("since", "until"),
    aliases=("agenda", "what is on", "am i free", *_ALIASES),
)
def list_events(ctx: Context, since: str | None = None, until: str | None = None) -> dict[str, Any]:
    """List calendar events between two dates."""
    window = (
        Window.of(ctx, since, until)
        if since or until
        else Window(when.resolved(ctx, ctx.now.date().isoformat()))
    )
    found = list_rows(ctx.open_tx, window)
    items = [
        {
            "id": row["id"],
            "title": row["title"],
            **when.told(ctx, row, "start", "end"),
            **({"place": row["place"]} if row["place"] else {}),
        }
        for row in found[:LIST_LIMIT]
    ]
    return listed("events", items, len(found), "event")


@tool(
    name="updateEvent",
    kit="calendar",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "event"),
    dates=("start", "end"),
    said=("place",),
    options={"event": ROWS.titles},
    aliases=("move", "reschedule", "verschieben", "ändern", "déplacer", "mover", *_ALIASES),
)
def update_event(
    ctx: Context,
    event: str,
    title: str | None = None,
    start: str | None = None,
    end: str | None = None,
    place: str | None = None,
) -> dict[str, Any]:
    """Change an event's title, time or place."""
    row = ROWS.target(ctx, event)
    values: dict[str, Any] = {
        **({} if title is None else {"title": title_of(title, "event")}),
        **({} if place is None else {"place": _place(place)}),
        **(_moved(ctx, row, start, end) if start or end else {}),
    }
    if not values:
        raise ToolError(
            f'Nothing is to be changed at "{row["title"]}".', "Give a title, start, end or place."
        )
    return _told(ctx, ROWS.change(ctx, row, **values), "changed")


@tool(
    name="deleteEvent",
    kit="calendar",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "event"),
    options={"event": ROWS.titles},
    aliases=(
        "cancel",
        "remove",
        "absagen",
        "löschen",
        "annuler",
        "cancelar",
        "取消",
        "キャンセル",
        *_ALIASES,
    ),
)
def delete_event(ctx: Context, event: str) -> dict[str, Any]:
    """Delete an event."""
    return _told(ctx, ROWS.change(ctx, ROWS.target(ctx, event), deleted=True), "deleted")


def _start(ctx: Context, text: str) -> Moment:
    """When an event begins; "Friday 4" is a clock time here, where elsewhere it would be no date."""
    try:
        return when.resolved(ctx, text)
    except ToolError:
        if not _BARE_HOUR.search(text):
            raise
        return when.resolved(ctx, _BARE_HOUR.sub(r"\1:00", text))


def _span(
    ctx: Context, begins: Moment, end: str | None, said: str, old_end: Moment | None = None
) -> tuple[Moment, Moment | None]:
    """Start and end. "From half past seven to nine in the evening" says the half of the day only once.

    A start that was not said (`said` is empty) stays; an end that was said in the same words as the start is none.
    """
    ends = _end(ctx, None if _same(said, end) else end, begins, old_end)
    if ends is None or begins.is_day or ends.is_day or not said or names_half_of_day(said):
        return begins, ends
    if not HALF_DAY < ends.first - begins.first < 2 * HALF_DAY:
        return begins, ends
    later = resolve_date((begins.first + HALF_DAY).isoformat(), ctx.now, ctx.zone, ctx.language)
    return later, ends


def _moved(ctx: Context, row: Row, start: str | None, end: str | None) -> dict[str, Any]:
    """New times. Another start keeps the length; a bare clock time keeps the day, a bare day the clock time."""
    old = _stored_moment(ctx, row["start"])
    old_end = _stored_moment(ctx, row["end"]) if row["end"] else None
    end = None if start and end and (_same(start, end) or stays(end, ctx.language)) else end
    start = None if start and end and stays(start, ctx.language) else start
    begins = _on_day(ctx, start, old, keeps_clock=not _is_day(ctx, end)) if start else old
    if end:
        begins, ends = _span(ctx, begins, end, start or "", None if start else old_end)
        if ends is not None or not start:
            return _times(begins, ends)
    if old_end is None or old_end.is_day != begins.is_day or old.is_day != begins.is_day:
        return _times(begins, None)
    length = old_end.first - old.first
    return _times(begins, resolve_date(_iso(begins, length), ctx.now, ctx.zone, ctx.language))


def _iso(begins: Moment, length: timedelta) -> str:
    if begins.is_day:
        return (begins.day + timedelta(days=round(length / timedelta(days=1)))).isoformat()
    return (begins.first + length).isoformat()


def _stored_moment(ctx: Context, value: str) -> Moment:
    return resolve_date(value, ctx.now, ctx.zone, ctx.language)


def _on_day(ctx: Context, text: str, day: Moment, *, keeps_clock: bool = False) -> Moment:
    """`An hour later` counts from it; a clock time alone is meant on that day."""
    return when.moved_to(ctx, text, day, _start, keeps_clock=keeps_clock)


def _same(start: str | None, end: str | None) -> bool:
    return bool(start and end) and str(start).casefold().split() == str(end).casefold().split()


def _is_day(ctx: Context, text: str | None) -> bool:
    """The text is a day, or several."""
    try:
        return bool(text) and when.resolved(ctx, str(text)).is_day
    except ToolError:
        return False


def _end(ctx: Context, text: str | None, begins: Moment, old_end: Moment | None = None) -> Moment | None:
    """The end: `two hours` after the start, but `an hour later` than the old end, where there is one."""
    if not text:
        return None
    if old_end is not None and not is_length(text, ctx.language):
        later = moved(text, old_end, ctx.zone, ctx.language, is_end=True)
    else:
        later = None
    ends = later or _nearest(ctx, text, _on_day(ctx, text, begins), begins)
    if ends.first == begins.first or (ends.is_day and not begins.is_day and ends.last_day == begins.day):
        return None
    if ends.first < begins.first:
        raise ToolError(
            f"The event would end ({ends.display}) before it starts ({begins.display}).",
            "Give an end after the start.",
        )
    return ends


def _nearest(ctx: Context, text: str, ends: Moment, begins: Moment) -> Moment:
    """A clock time without a day, which begins' day gave it, as the first such time behind the start.

    `Bis halb fünf` of an event at 14:00 is 16:30; `2am` of one at 20:00 is on the next day.
    """
    if begins.is_day or not when.is_clock(ctx, text, ends):
        return ends
    step = 2 * HALF_DAY if names_half_of_day(text) else HALF_DAY
    if step == 2 * HALF_DAY and ends.first >= begins.first:
        return ends
    for halves in (-step, 0 * step, step, 2 * step):
        found = ends.first + halves
        if timedelta(0) <= found - begins.first <= HALF_DAY:
            return resolve_date(found.isoformat(), ctx.now, ctx.zone, ctx.language)
    return ends


def _times(begins: Moment, ends: Moment | None) -> dict[str, Any]:
    start, start_at = when.stored(begins)
    if ends is None and begins.last_day != begins.day:
        return {"start": start, "start_at": start_at, "end": begins.last_day.isoformat(), "end_at": None}
    end, end_at = when.stored(ends)
    return {"start": start, "start_at": start_at, "end": end, "end_at": end_at}


def _place(text: str) -> str:
    place = " ".join(clean(text).split())
    if len(place) > MAX_PLACE:
        raise ToolError(
            f"The place has {len(place)} characters; {MAX_PLACE} are allowed.", "Make it shorter."
        )
    return place


def _told(ctx: Context, row: Row, what: str) -> dict[str, Any]:
    start = "" if row["deleted"] else when.shown(ctx, row["start"])
    return {
        "id": row["id"],
        "title": row["title"],
        **when.told(ctx, row, "start", "end"),
        **({"place": row["place"]} if row["place"] else {}),
        "message": told_as(f'event "{row["title"]}"', what, start),
    }


TOOLS = [add_event, list_events, update_event, delete_event]
