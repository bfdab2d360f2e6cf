"""Rows of a kit: written with version, actor and times, taken back by setting them as they were.

An image is `{"rows": {id: row or null}}`: the whole rows, so that an edit which was made and reverted still shows in
the version. Nothing here is particular to one kit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Table, bindparam, delete, select, update

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.tools.kits import references
from surefoot.tools.types import Context, Undo

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = dict[str, Any]
Image = dict[str, Any]

LIST_LIMIT = 50
"""Items in one answer: more would fill a small model's context; the total is always told."""
MAX_TITLE = 500
MAX_TEXT = 100_000
"""Characters. A title is one line; a text this long is a book, and would only ever be cut again for a model."""


MOST_OFFERED = 60
"""Titles a model may choose from: each is a branch of its grammar. With more, any text may be written."""


def offered(titles: list[str]) -> list[str] | None:
    """The titles to choose from, each once; None when there are too many."""
    return list(dict.fromkeys(titles)) if len(titles) <= MOST_OFFERED else None


def time_text(moment: datetime) -> str:
    """A moment as it is stored: UTC, microseconds, 27 characters, so that text order is time order."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Rows:
    """The rows of one table.

    Args:
        table: with the columns that every kit's row has (`tables.py`).
        kind: what one row is called in messages (`note`).
        title: the column that names a row.
    """

    def __init__(self, table: Table, kind: str, title: str = "title") -> None:
        self.table = table
        self.kind = kind
        self.columns = tuple(column.name for column in table.columns)
        self._insert = Prepared.insert(table)
        self._get = Prepared(select(table).where(table.c.id == bindparam("row")))
        self._delete = Prepared(delete(table).where(table.c.id == bindparam("row")))
        changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in self.columns if name != "id"}
        self._update = Prepared(update(table).where(table.c.id == bindparam("row")).values(changed))
        named = table.c[title]
        self._titled = Prepared(
            select(table.c.id, named)
            .where(named == bindparam("wanted"), table.c.deleted == bindparam("gone"))
            .order_by(table.c.id)
        )
        titles = select(table.c.id, named).where(table.c.deleted == bindparam("gone")).order_by(table.c.id)
        self._titles = Prepared(titles)
        self._few_titles = Prepared(titles.limit(MOST_OFFERED + 1))  # one more says that there are too many

    # --- reading ---------------------------------------------------------------------------------------------

    def get(self, tx: Connection, row_id: str) -> Row | None:
        """The row, deleted or not."""
        found = self._get.row(tx, row=row_id)
        return None if found is None else dict(zip(self.columns, found, strict=True))

    def living(self, tx: Connection, row_id: str) -> Row | None:
        """The row, unless it is deleted."""
        row = self.get(tx, row_id)
        return None if row is None or row["deleted"] else row

    def find(self, tx: Connection, reference: str) -> Row:
        """The row that an id or a title means: exactly, else the only one that is close.

        Raises:
            ToolError: none or several; details hold `candidates`, `[{"id", "title"}]`.
        """
        reference = clean(reference)
        by_id = self.living(tx, reference.strip())
        if by_id is not None:
            return by_id
        exact = self._titled.rows(tx, wanted=reference, gone=False)
        known = exact if len(exact) == 1 else self._titles.rows(tx, gone=False)
        row_id = references.choose(self.kind, reference, [(str(key), str(title)) for key, title in known])
        return cast("Row", self.get(tx, row_id))

    def target(self, ctx: Context, reference: str) -> Row:
        """What this call means by the reference; the same row for the whole life of the call.

        Raises:
            ToolError: none or several.
        """
        tx = ctx.open_tx
        row_id = references.remembered(
            ctx,
            self.kind,
            reference,
            lambda: str(self.find(tx, reference)["id"]),
            lambda known: self.living(tx, known) is not None,
        )
        return cast("Row", self.get(tx, row_id))

    def titles(self, ctx: Context) -> list[str] | None:
        """The titles of all that lives, for arguments that name one; None when there are too many to choose from."""
        return offered([str(title) for _, title in self._few_titles.rows(ctx.open_tx, gone=False)])

    def target_ids(self, ctx: Context, reference: str) -> list[str]:
        """The id of what this call means, deleted or not; empty where there is none (the call itself will say so)."""
        tx = ctx.open_tx
        try:
            return [
                references.remembered(ctx, self.kind, reference, lambda: str(self.find(tx, reference)["id"]))
            ]
        except ToolError:
            return []

    # --- writing ---------------------------------------------------------------------------------------------

    def add(self, ctx: Context, number: int = 0, /, **values: Any) -> Row:
        """A new row, with the id that only this call can have: its `number`th."""
        now = time_text(ctx.now)
        row: Row = {
            "id": ctx.new_id(number),
            **values,
            "version": 1,
            "actor": str(ctx.actor),
            "created_at": now,
            "updated_at": now,
            "deleted": False,
        }
        self._insert.run(ctx.open_tx, **row)
        return row

    def change(self, ctx: Context, row: Row, **values: Any) -> Row:
        """The row with these values, its version raised; untouched where nothing differs."""
        if all(row[name] == value for name, value in values.items()):
            return row
        changed = {
            **row,
            **values,
            "version": row["version"] + 1,
            "actor": str(ctx.actor),
            "updated_at": time_text(ctx.now),
        }
        self._update.run(
            ctx.open_tx,
            row=row["id"],
            **{f"new_{name}": changed[name] for name in self.columns if name != "id"},
        )
        return changed

    # --- images ----------------------------------------------------------------------------------------------

    def image(self, tx: Connection, ids: Iterable[str]) -> Image:
        """These rows as they are now; null for one that does not exist."""
        return {"rows": {row_id: self.get(tx, row_id) for row_id in sorted(set(ids))}}

    def restore(self, tx: Connection, image: Image) -> None:
        """Set every row of the image exactly as it stands there; twice is the same as once."""
        for row_id, row in image["rows"].items():
            self._delete.run(tx, row=row_id)
            if row is not None:
                self._insert.run(tx, **{name: row[name] for name in self.columns})


FindIds = Callable[[Context, dict[str, Any]], Iterable[str]]


def row_undo(rows: Rows, find_ids: FindIds) -> Undo:
    """Undo by images of the rows that `find_ids(ctx, arguments)` names, before and after alike."""

    def capture(ctx: Context, arguments: dict[str, Any]) -> Image:
        return rows.image(ctx.open_tx, find_ids(ctx, arguments))

    def restore(ctx: Context, arguments: dict[str, Any], image: Image) -> None:
        del arguments
        rows.restore(ctx.open_tx, image)

    return Undo(capture, restore)


def undo_add(rows: Rows) -> Undo:
    """Undo of a call that makes one row: its id is known before it exists."""
    return row_undo(rows, lambda ctx, _: [ctx.new_id()])


def undo_of(rows: Rows, argument: str) -> Undo:
    """Undo of a call that changes the one row that this argument refers to."""
    return row_undo(rows, lambda ctx, arguments: rows.target_ids(ctx, str(arguments.get(argument, ""))))


# --- what people and models write ------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Text that every database takes: half of a surrogate pair and NUL are no characters."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def title_of(text: str, kind: str) -> str:
    """A title: one line, not empty; ToolError."""
    title = " ".join(clean(text).split())
    if not title:
        raise ToolError(f"A {kind} needs a title.", "Give a title that is not empty.")
    return _bounded(title, MAX_TITLE, f"title of a {kind}")


def text_of(text: str, kind: str) -> str:
    """A longer text; ToolError where it is too long."""
    return _bounded(clean(text), MAX_TEXT, f"text of a {kind}")


def _bounded(text: str, most: int, what: str) -> str:
    if len(text) > most:
        raise ToolError(
            f"The {what} has {len(text)} characters; {most} are allowed.", "Make it shorter.", allowed=most
        )
    return text


def count(number: int, one: str, many: str = "") -> str:
    """`1 note`, `3 notes`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(name: str, items: list[Row], total: int, one: str) -> dict[str, Any]:
    """The answer of a list tool: items, how many there are in all, and both in words."""
    shown = f", the first {len(items)} shown" if len(items) < total else ""
    return {name: items, "total": total, "message": count(total, one) + shown}


def told_as(name: str, what: str, when: str) -> str:
    """`task "x" due Sun 3 May`, `task "x" done`, `task "x" changed, due Sun 3 May`."""
    first = f"{name} {what}".strip()
    return first if not when else f"{first}{', ' if what else ' '}{when}"
