"""What the person wants remembered: facts, in the table the diary of past conversations shares.

A forgotten fact stays as an empty row, its text gone. What is set back by an undo is the text; whether a run's memories
count as valid (`undone`) is the journal's to say, so it is no part of an image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select, update

from surefoot.errors import ToolError
from surefoot.storage import Prepared, memories
from surefoot.storage.memories import MemoryRow
from surefoot.storage.memories import memories as table
from surefoot.tools.decorator import tool
from surefoot.tools.kits import references
from surefoot.tools.kits.rows import clean, time_text
from surefoot.tools.types import Context, Undo

if TYPE_CHECKING:
    from sqlalchemy import Connection

KIND = "fact"
MAX_FACT = 1_000
"""Characters: a fact is a sentence or a few; a longer text is a note."""

_COLUMNS = ("id", "kind", "text", "run", "at", "actor", "version")
"""Of an image; `words` follows from the text, `number` is the database's own."""
_GET = Prepared(select(*(table.c[name] for name in _COLUMNS)).where(table.c.id == bindparam("row")))
_FACTS = Prepared(
    select(*(table.c[name] for name in _COLUMNS))
    .where(table.c.kind == KIND, table.c.text != bindparam("nothing"), table.c.undone == bindparam("gone"))
    .order_by(table.c.at.desc(), table.c.id)
)
_SET = Prepared(
    update(table)
    .where(table.c.id == bindparam("row"))
    .values({name: bindparam(f"new_{name}") for name in (*_COLUMNS[1:], "words")})
)
_DROP = Prepared(delete(table).where(table.c.id == bindparam("row")))


def list_rows(tx: Connection) -> list[dict[str, Any]]:
    """Remembered facts, newest first."""
    return [dict(zip(_COLUMNS, row, strict=True)) for row in _FACTS.rows(tx, nothing="", gone=False)]


def search_facts(tx: Connection, text: str, limit: int = 8) -> list[dict[str, Any]]:
    """The facts that share a word with the text, best first: `{"id", "text", "at"}`."""
    found = [one for one in memories.search(tx, text, limit * 4) if one.kind == KIND]
    return [{"id": one.id, "text": one.text, "at": one.at} for one in found[:limit]]


def _row(tx: Connection, row_id: str) -> dict[str, Any] | None:
    found = _GET.row(tx, row=row_id)
    return None if found is None else dict(zip(_COLUMNS, found, strict=True))


def _write(tx: Connection, row: dict[str, Any]) -> None:
    if _row(tx, row["id"]) is None:
        memories.add(tx, MemoryRow(undone=False, **row))
        return
    values = {f"new_{name}": row[name] for name in _COLUMNS[1:]}
    _SET.run(tx, row=row["id"], new_words=memories.index_text(row["text"]), **values)


def _capture_new(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    del arguments
    return {"rows": {ctx.new_id(): _row(ctx.open_tx, ctx.new_id())}}


def _capture_found(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    row_id = _target(ctx, str(arguments.get("fact", "")))
    return {"rows": {row_id: _row(ctx.open_tx, row_id)} if row_id else {}}


def _restore(ctx: Context, arguments: dict[str, Any], image: dict[str, Any]) -> None:
    del arguments
    for row_id, row in image["rows"].items():
        if row is None:
            _DROP.run(ctx.open_tx, row=row_id)
        else:
            _write(ctx.open_tx, row)


def _target(ctx: Context, fact: str) -> str:
    """Id of the fact this call means; empty where there is none."""
    try:
        return references.remembered(ctx, KIND, fact, lambda: _find(ctx, fact))
    except ToolError:
        return ""


def _find(ctx: Context, fact: str) -> str:
    known = [(str(row["id"]), str(row["text"])) for row in list_rows(ctx.open_tx)]
    if any(row_id == fact.strip() for row_id, _ in known):
        return fact.strip()
    return references.choose(KIND, fact, known)


@tool(
    name="rememberFact",
    kit="memory",
    effect="write",
    where="writer",
    undo=Undo(_capture_new, _restore),
    aliases=("remember", "keep in mind", "merken", "retenir", "recordar", "याद", "记住", "覚えて"),
)
def remember_fact(ctx: Context, fact: str) -> dict[str, Any]:
    """Remember a fact about the person for later conversations."""
    text = " ".join(clean(fact).split())
    if not text or len(text) > MAX_FACT:
        raise ToolError(
            f"A fact has 1 to {MAX_FACT} characters, not {len(text)}.", "Give one short sentence."
        )
    row = MemoryRow(ctx.new_id(), KIND, text, ctx.run, time_text(ctx.now), undone=False, actor=str(ctx.actor))
    memories.add(ctx.open_tx, row)
    return {"id": row.id, "fact": text, "message": f'remembered "{text}"'}


@tool(
    name="forgetFact",
    kit="memory",
    effect="write",
    where="writer",
    undo=Undo(_capture_found, _restore),
    aliases=("forget", "vergessen", "oublier", "olvidar", "भूल", "忘记", "忘れて"),
)
def forget_fact(ctx: Context, fact: str) -> dict[str, Any]:
    """Forget a remembered fact."""
    row_id = references.remembered(ctx, KIND, fact, lambda: _find(ctx, fact))
    row = _row(ctx.open_tx, row_id)
    if row is None or not row["text"]:
        raise ToolError(f"The fact {fact!r} is forgotten already.", "")
    _write(ctx.open_tx, {**row, "text": "", "actor": str(ctx.actor), "version": row["version"] + 1})
    return {"id": row_id, "fact": row["text"], "message": f'forgot "{row["text"]}"'}


TOOLS = [remember_fact, forget_fact]
