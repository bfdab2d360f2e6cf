"""Tasks: a title, when it is due, open or done."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import bindparam, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.storage.words import words
from surefoot.tools.dates.zones import zone_of
from surefoot.tools.decorator import tool
from surefoot.tools.kits import when
from surefoot.tools.kits.rows import (
    LIST_LIMIT,
    MOST_OFFERED,
    Row,
    Rows,
    listed,
    offered,
    title_of,
    told_as,
    undo_add,
    undo_of,
)
from surefoot.tools.kits.tables import tasks
from surefoot.tools.kits.when import Window
from surefoot.tools.types import Context, Look

if TYPE_CHECKING:
    from sqlalchemy import Connection

ROWS = Rows(tasks, "task")
OPEN, DONE, OVERDUE = "open", "done", "overdue"

_ORDER = (tasks.c.due.is_(None), tasks.c.due, tasks.c.created_at, tasks.c.id)
_LIVING = Prepared(select(tasks).where(tasks.c.deleted == bindparam("gone")).order_by(*_ORDER))
_TITLES = Prepared(
    select(tasks.c.title)
    .where(tasks.c.deleted == bindparam("gone"), tasks.c.status == bindparam("wanted"))
    .order_by(*_ORDER)
    .limit(MOST_OFFERED + 1)  # one more says that there are too many
)

_ALIASES = ("task", "todo", "to-do", "reminder", "aufgabe", "erinnerung", "tâche", "rappel", "tarea", "recordatorio",
            "काम", "कार्य", "任务", "待办", "タスク", "やること")  # fmt: skip


def list_rows(tx: Connection, window: Window | None = None, status: str = "all") -> list[Row]:
    """Tasks that are not deleted, the earliest due first, those without a date last.

    A closed window leaves out what has no date. `status` is `open`, `done` or `all`.
    """
    window = window or Window()
    found = [dict(zip(ROWS.columns, row, strict=True)) for row in _LIVING.rows(tx, gone=False)]
    return [
        row
        for row in found
        if status in {"all", row["status"]} and (window.is_open or window.holds(row["due"], row["due_at"]))
    ]


def _open_titles(ctx: Context) -> list[str] | None:
    return offered([str(title) for (title,) in _TITLES.rows(ctx.open_tx, gone=False, wanted=OPEN)])


def _done_titles(ctx: Context) -> list[str] | None:
    return offered([str(title) for (title,) in _TITLES.rows(ctx.open_tx, gone=False, wanted=DONE)])


_APPOINTMENT = frozenset(
    {"appointment", "meeting", "termin", "besprechung", "treffen", "rendez", "rdv", "reunion", "cita"}
)
"""First words of a title, folded, that name what takes place at a time; with a clock time it is no task."""


def _appointment(arguments: dict[str, Any], look: Look) -> tuple[str, dict[str, Any]] | None:
    title, due = arguments.get("title"), arguments.get("due")
    if (
        not isinstance(title, str)
        or not isinstance(due, str)
        or not _APPOINTMENT.intersection(words(title)[:1])
    ):
        return None
    moment = look.read(due)
    return None if moment is None or moment.is_day else ("addEvent", {"title": title, "start": due})


@tool(
    name="addTask",
    kit="tasks",
    effect="write",
    where="writer",
    undo=undo_add(ROWS),
    dates=("due",),
    rather=_appointment,
    aliases=("add", "remind", "remember to", "erinnern", *_ALIASES),
)
def add_task(ctx: Context, title: str, due: str | None = None) -> dict[str, Any]:
    """Add a task, with a due date if known."""
    day, at = when.stored(when.resolved(ctx, due) if due else None)
    row = ROWS.add(ctx, title=title_of(title, "task"), due=day, due_at=at, status=OPEN)
    return _told(ctx, row, "")


@tool(
    name="listTasks",
    kit="tasks",
    effect="read",
    where="writer",
    dates=("since", "until"),
    aliases=("due", "what is on my list", "fällig", *_ALIASES),
)
def list_tasks(
    ctx: Context,
    since: str | None = None,
    until: str | None = None,
    status: Literal["open", "done", "overdue", "all"] = "open",
) -> dict[str, Any]:
    """List tasks, also those due between two dates."""
    late = status == OVERDUE
    found = list_rows(ctx.open_tx, Window.of(ctx, since, until), OPEN if late else status)
    if late:
        past = Window.of(ctx, None, _yesterday(ctx))
        found = [row for row in found if past.holds(row["due"], row["due_at"])]
    items = [
        {
            "id": row["id"],
            "title": row["title"],
            **when.told(ctx, row, "due"),
            **({} if status == OPEN else {"status": row["status"]}),
        }
        for row in found[:LIST_LIMIT]
    ]
    return listed("tasks", items, len(found), "task")


def _yesterday(ctx: Context) -> str:
    return (ctx.now.astimezone(zone_of(ctx.zone)).date() - timedelta(days=1)).isoformat()


def _cleared(arguments: dict[str, Any], look: Look) -> tuple[str, dict[str, Any]] | None:
    """Every task that is done already is not ticked off but cleared away."""
    listed = look.source(str(arguments.get("task", "")))
    return ("deleteTask", arguments) if listed.get("status") == DONE else None


@tool(
    name="completeTask",
    kit="tasks",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "task"),
    options={"task": _open_titles},
    rather=_cleared,
    aliases=(
        "done",
        "finish",
        "check off",
        "erledigt",
        "abhaken",
        "terminé",
        "hecho",
        "完成",
        "完了",
        *_ALIASES,
    ),
)
def complete_task(ctx: Context, task: str) -> dict[str, Any]:
    """Mark a task as done."""
    return _set(ctx, task, DONE)


@tool(
    name="reopenTask",
    kit="tasks",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "task"),
    options={"task": _done_titles},
    aliases=("undone", "not done", "wieder öffnen", *_ALIASES),
)
def reopen_task(ctx: Context, task: str) -> dict[str, Any]:
    """Mark a done task as open again."""
    return _set(ctx, task, OPEN)


def _set(ctx: Context, task: str, status: str) -> dict[str, Any]:
    row = ROWS.target(ctx, task)
    already = "already " if row["status"] == status else ""
    return _told(ctx, ROWS.change(ctx, row, status=status), f"{already}{status}")


@tool(
    name="updateTask",
    kit="tasks",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "task"),
    dates=("due",),
    options={"task": ROWS.titles},
    aliases=("change", "rename", "postpone", "verschieben", "ändern", *_ALIASES),
)
def update_task(ctx: Context, task: str, title: str | None = None, due: str | None = None) -> dict[str, Any]:
    """Change a task's title or due date."""
    row = ROWS.target(ctx, task)
    values: dict[str, Any] = {} if title is None else {"title": title_of(title, "task")}
    if due is not None:
        old = when.resolved(ctx, row["due"]) if row["due"] else None
        values["due"], values["due_at"] = when.stored(
            when.resolved(ctx, due) if old is None else when.moved_to(ctx, due, old)
        )
        if row["status"] == DONE and values["due"] != row["due"]:
            values["status"] = OPEN  # what gets a new date is to be done again
    if not values:
        raise ToolError(f'Nothing is to be changed at "{row["title"]}".', "Give a title or a due date.")
    return _told(ctx, ROWS.change(ctx, row, **values), "changed")


@tool(
    name="deleteTask",
    kit="tasks",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "task"),
    options={"task": ROWS.titles},
    aliases=("remove", "löschen", "supprimer", "borrar", "删除", "削除", *_ALIASES),
)
def delete_task(ctx: Context, task: str) -> dict[str, Any]:
    """Delete a task."""
    return _told(ctx, ROWS.change(ctx, ROWS.target(ctx, task), deleted=True), "deleted")


def _told(ctx: Context, row: Row, what: str) -> dict[str, Any]:
    due = f"due {when.shown(ctx, row['due'])}" if row["due"] and what in {"", "changed"} else ""
    return {
        "id": row["id"],
        "title": row["title"],
        **when.told(ctx, row, "due"),
        "status": row["status"],
        "message": told_as(f'task "{row["title"]}"', what, due),
    }


TOOLS = [add_task, list_tasks, complete_task, reopen_task, update_task, delete_task]
