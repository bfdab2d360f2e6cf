"""A date that hangs on something the person has, such as `two days before Jana's wedding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.errors import ToolError
from surefoot.storage.words import may_be_prefix, query_words
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.dates.relative import hanging_on

if TYPE_CHECKING:
    from surefoot.tools.types import Context

SHORT = 3
"""Words up to this length (`my`, `the`, `mit`) need not be in the title."""

MOST_WORDS = 60
"""Of a note's text: the date it is about stands near its beginning."""
MOST_FIGURES = 3
"""Figures tried as a date; what cannot be read as one costs the most time."""


def anchored(ctx: Context, text: str) -> Moment | None:
    """What the text means when the thing in it is one that lies ahead; None where it names none, or several."""
    for before, name, behind in hanging_on(text, ctx.language):
        date = _date_of(ctx, name)
        if not date:
            continue
        for value in dict.fromkeys((date[:10], date)):
            try:
                return resolve_date(f"{before}{value}{behind}", ctx.now, ctx.zone, ctx.language)
            except ToolError:
                continue
    return None


def _date_of(ctx: Context, name: str) -> str:
    """The date of the one event, else the one open task, else in the one note, that is called so and is not over."""
    from surefoot.tools.kits import calendar, notes, tasks

    today = ctx.now.date().isoformat()
    events = [(row["title"], row["start"]) for row in calendar.list_rows(ctx.open_tx)]
    due = [
        (row["title"], row["due"]) for row in tasks.list_rows(ctx.open_tx, status=tasks.OPEN) if row["due"]
    ]
    for things in (events, due):
        found = [date for title, date in things if date >= today and _is_called(name, title)]
        if len(found) == 1:
            return str(found[0])
    written = [row for row in notes.list_rows(ctx.open_tx) if _is_called(name, row["title"])]
    return _date_in(ctx, written[0]["text"]) if len(written) == 1 else ""


def _date_in(ctx: Context, text: str) -> str:
    """The first day ahead that stands in figures in a note's text; empty where there is none."""
    words = [word.strip(".,;:!?()") for word in text.split()[:MOST_WORDS]]
    for at in [n for n, word in enumerate(words) if any(sign.isdigit() for sign in word)][:MOST_FIGURES]:
        for first, last in ((at, at + 3), (at, at + 2), (at - 2, at + 1), (at - 1, at + 1), (at, at + 1)):
            try:
                moment = resolve_date(" ".join(words[max(0, first) : last]), ctx.now, ctx.zone, ctx.language)
            except ToolError:
                continue
            if moment.is_day and moment.iso[:10] >= ctx.now.date().isoformat():
                return moment.iso
    return ""


def _is_called(name: str, title: str) -> bool:
    """Every telling word of the title is said, or every telling word that is said is in the title."""
    asked, held = query_words(name), query_words(title)
    telling = [word for word in held if _tells(word)] or held
    if all(any(_same(word, one) for one in asked) for word in telling):
        return True
    said = [word for word in asked if _tells(word)]
    return bool(said) and all(any(_same(word, one) for one in held) for word in said)


def _tells(word: str) -> bool:
    return len(word) > SHORT or not word.isascii()


def _same(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (may_be_prefix(shorter) and longer.startswith(shorter))
