"""The calendar: events with a start, perhaps an end and a place."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.dates.relative import moved, names_half_of_day
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


def _span(ctx: Context, begins: Moment, end: str | None, said: str) -> tuple[Moment, Moment | None]:
    """Start and end. "From half past seven to nine in the evening" says the half of the day only once."""
    ends = _end(ctx, end, begins)
    if ends is None or begins.is_day or ends.is_day or names_half_of_day(said):
        return begins, ends
    if not HALF_DAY < ends.first - begins.first < 2 * HALF_DAY:
        return begins, ends
    later = resolve_date((begins.first + HALF_DAY).isoformat(), ctx.now, ctx.zone, ctx.language)
    return later, ends


def _moved(ctx: Context, row: Row, start: str | None, end: str | None) -> dict[str, Any]:
    """New times. An event that only gets another start keeps its length; a bare clock time keeps the day."""
    old = _stored_moment(ctx, row["start"])
    begins = _on_day(ctx, start, old) if start else old
    if end:
        return _times(*_span(ctx, begins, end, start or ""))
    old_end = _stored_moment(ctx, row["end"]) if row["end"] else None
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


def _on_day(ctx: Context, text: str, day: Moment) -> Moment:
    """`An hour later` counts from it; a clock time alone is meant on that day."""
    by = moved(text, day, ctx.zone, ctx.language)
    if by is not None:
        return by
    alone = _start(ctx, text)
    text = alone.text
    if not _is_clock(ctx, text, alone):
        return alone
    return resolve_date(text, day.first.replace(hour=0, minute=0, second=0), ctx.zone, ctx.language)


def _is_clock(ctx: Context, text: str, alone: Moment) -> bool:
    """The text names a time and no date: seen from another day far away, it lies on that day."""
    if alone.is_day:
        return False
    far = ctx.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=400)
    try:
        other = resolve_date(text, far, ctx.zone, ctx.language)
        later = resolve_date(text, far + timedelta(minutes=1), ctx.zone, ctx.language)
    except ToolError:
        return False  # a weekday beside a date fits one year and not the next
    return other.day == far.date() and later.first == other.first  # "in two hours" moves along with the clock


def _end(ctx: Context, text: str | None, begins: Moment) -> Moment | None:
    if not text:
        return None
    ends = _on_day(ctx, text, begins)
    if ends.first == begins.first or (ends.is_day and not begins.is_day and ends.last_day == begins.day):
        return None
    if ends.first < begins.first:
        raise ToolError(
            f"The event would end ({ends.display}) before it starts ({begins.display}).",
            "Give an end after the start.",
        )
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
