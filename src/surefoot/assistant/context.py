"""What the person already has that a request may be about, as short lines for the planner.

A small model cannot look first and then decide; so code looks, before the plan, and shows the few rows that the
request may mean. Then "the meeting on Wednesday" is a title that can be copied.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from surefoot.assistant.called import called
from surefoot.planning.things import Thing
from surefoot.storage.words import common_words, may_be_prefix, query_words, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.models.types import Message
    from surefoot.running.session import Session

MAX_LINES = 8
"""Rows shown. A line costs about 20 tokens, half a second of reading for the embedded model on two cores."""

MAX_NEAR = 5
"""Rows shown for being near in time, not for their words."""

NEAR_DAYS = 7
"""From today on, how far a row may lie to be shown without a word in common: "on Friday" reaches a week."""

LATE_DAYS = 31
"""How long an open task may be overdue to be shown without a word in common."""

LONG = 20
"""Words from which a request says itself what it is about: rows that are only near in time then lead a small model
astray: it changes them unasked."""

SHORT_WORD = 3
"""Words below this length (in scripts with spaces) are articles and prepositions, and match everything."""

NOTE_CHARS = 120
"""Of a note's text: enough to hold a number or an address, or to be written again with a line more."""

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as a line, with what ranks it. `days` from today on, None without a date; `idle`: done, past, or a note.

    `timed` is the line with clock times, for a row that can only be meant by its time: where the title is said, a small
    model would copy the old time instead of the new one.
    """

    line: str
    timed: str
    text: str
    days: int | None
    idle: bool
    thing: Thing


@dataclass(frozen=True, slots=True)
class Known:
    """What a plan is told of what is there: `lines` for the prompt, and all `things` for checking the plan."""

    lines: tuple[str, ...]
    things: tuple[Thing, ...]


async def known_now(session: Session, request: str, dialogue: Sequence[Message] = ()) -> Known:
    """The tasks, events and notes that the request, or the conversation before it, may mean."""
    kits = {tool.kit for tool in session.catalogue}
    now = session.now
    rows = await session.journal.transact(lambda tx: _rows(tx, kits, now))
    talk = " ".join(message.content for message in dialogue[-2:])
    things = tuple(row.thing for row in rows)
    return Known((*ranked(rows, request, talk), *called(request, dialogue, things)), things)


def _rows(tx: Connection, kits: Collection[str], now: datetime) -> list[_Row]:
    from surefoot.tools.kits import calendar, notes, tasks

    found: list[_Row] = []
    if "tasks" in kits:
        found += [_task(row, now) for row in tasks.list_rows(tx)]
    if "calendar" in kits:
        found += [_event(row, now) for row in calendar.list_rows(tx)]
    if "notes" in kits:
        found += [_note(row) for row in notes.list_rows(tx)]
    return found


def ranked(rows: list[_Row], request: str, talk: str) -> tuple[str, ...]:
    """Those that share words with the request, most first; then with the conversation; then the nearest in time."""
    asked, said = _telling(request), _telling(talk)
    scored = [((_hits(asked, row.text), _hits(said, row.text)), row) for row in rows]
    matching = [(hits, row) for hits, row in scored if any(hits)]
    matching.sort(key=lambda one: (-one[0][0], -one[0][1], _distance(one[1])))
    chosen = [row for _, row in matching[:MAX_LINES]]
    if len(query_words(request)) < LONG:
        near = sorted((row for row in rows if _is_near(row) and row not in chosen), key=_distance)
        chosen += near[: min(MAX_NEAR, MAX_LINES - len(chosen))]
    named = {id(row) for _, row in matching}
    ordered = sorted(chosen, key=rows.index)
    return tuple(row.line if id(row) in named else row.timed for row in ordered)


def _telling(text: str) -> list[str]:
    return [word for word in query_words(text) if _says_something(word)]


def _says_something(word: str) -> bool:
    return word not in common_words() and (len(word) >= SHORT_WORD or not word.isascii())


def _hits(asked: list[str], text: str) -> int:
    """Words of the row that the person said, whole or as the beginning of one another."""
    there = [word for word in dict.fromkeys(words(text)) if _says_something(word)]
    return sum(any(_same(word, one) for one in asked) for word in there)


def _same(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (may_be_prefix(shorter) and longer.startswith(shorter))


def _is_near(row: _Row) -> bool:
    return not row.idle and row.days is not None and -LATE_DAYS <= row.days <= NEAR_DAYS


def _distance(row: _Row) -> int:
    return 10_000 if row.days is None else abs(row.days)


# --- lines ---------------------------------------------------------------------------------------------------


def _task(row: Mapping[str, Any], now: datetime) -> _Row:
    days = _days_off(row["due"], now)
    done = row["status"] == "done"
    word = "overdue since" if days is not None and days < 0 else "due"
    dues = ["", ""] if done or not row["due"] else [f", {word} {when}" for when in _whens(row["due"], now)]
    plain, timed = (f'task "{row["title"]}"{due}{", done" if done else ""}' for due in dues)
    return _Row(plain, timed, row["title"], days, done, Thing("task", row["title"], _day(row["due"], now)))


def _event(row: Mapping[str, Any], now: datetime) -> _Row:
    days = _days_off(row["start"], now)
    plain, timed = (f'event "{row["title"]}", {when}' for when in _whens(row["start"], now))
    thing = Thing("event", row["title"], _day(row["start"], now))
    return _Row(plain, timed, f"{row['title']} {row['place']}", days, days is None or days < 0, thing)


def _note(row: Mapping[str, Any]) -> _Row:
    """Ranked by its title alone: a tag that is named is mostly one that a new note shall get."""
    tags = f" [{', '.join(row['tags'])}]" if row["tags"] else ""
    text = " ".join(row["text"].split())
    shown = text if len(text) <= NOTE_CHARS else f"{text[:NOTE_CHARS]}…"
    line = f'note "{row["title"]}"{tags}{": " if shown else ""}{shown}'
    return _Row(line, line, row["title"], None, True, Thing("note", row["title"], text=row["text"]))


def _day(value: str | None, now: datetime) -> date | None:
    return _local(value, now)[0] if value else None


def _days_off(value: str | None, now: datetime) -> int | None:
    return None if not value else (_local(value, now)[0] - now.date()).days


def _local(value: str, now: datetime) -> tuple[date, str]:
    """The day and the clock time (empty for a whole day) in the person's zone."""
    if "T" not in value:
        return date.fromisoformat(value), ""
    moment = datetime.fromisoformat(value).astimezone(now.tzinfo)
    return moment.date(), moment.strftime("%H:%M")


def _whens(value: str, now: datetime) -> tuple[str, str]:
    """`today`, `Fri 1 Jan`, without and with the clock time; the year where another such day comes first."""
    day, clock = _local(value, now)
    off = (day - now.date()).days
    named = {0: "today", 1: "tomorrow"}.get(off, "")
    plain = f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"
    year = "" if -LATE_DAYS <= off < 300 else f" {day.year}"  # noqa: PLR2004 - well within the coming year
    shown = named or plain + year
    return shown, f"{shown} {clock}".strip()
