"""Notes: a title, a text, tags."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.storage.words import may_be_prefix, query_words, words
from surefoot.tools.decorator import tool
from surefoot.tools.kits.rows import (
    LIST_LIMIT,
    Row,
    Rows,
    clean,
    listed,
    text_of,
    title_of,
    undo_add,
    undo_of,
)
from surefoot.tools.kits.tables import notes
from surefoot.tools.types import Context, Look

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHOWN_TEXT = 500
"""Characters of a note's text in a list: enough to answer from, small enough for fifty notes."""
MAX_TAG = 60
_MARKS = ".,;:!?()\"'“”„«»"

ROWS = Rows(notes, "note")
_LIVING = Prepared(
    select(notes).where(notes.c.deleted == bindparam("gone")).order_by(notes.c.created_at.desc(), notes.c.id)
)

_ALIASES = (
    "note",
    "notiz",
    "notieren",
    "nota",
    "apunte",
    "remarque",
    "नोट",
    "टिप्पणी",
    "笔记",
    "备忘",
    "メモ",
    "ノート",
)


def list_rows(tx: Connection, search: str = "", tag: str = "") -> list[Row]:
    """Notes that are not deleted, newest first; `tags` is a list.

    `search` finds notes with all its words in title, text or tags; if none has all, those with any of them.
    """
    found = [_opened(row) for row in _LIVING.rows(tx, gone=False)]
    if tag:
        wanted = _tag(tag).casefold()
        found = [row for row in found if wanted in {one.casefold() for one in row["tags"]}]
    return _searched(found, search) if search.strip() else found


def _opened(row: tuple[Any, ...]) -> Row:
    opened = dict(zip(ROWS.columns, row, strict=True))
    opened["tags"] = json.loads(opened["tags"])
    return opened


def _searched(found: list[Row], search: str) -> list[Row]:
    asked = query_words(search)
    held = [(_hits(asked, row), row) for row in found]
    best = max((hits for hits, _ in held), default=0)
    least = len(asked) if best == len(asked) else 1
    return [row for hits, row in held if hits >= least]


def _hits(asked: list[str], row: Row) -> int:
    there = set(words(f"{row['title']} {row['text']} {' '.join(row['tags'])}"))
    return sum(
        word in there or (may_be_prefix(word) and any(one.startswith(word) for one in there))
        for word in asked
    )


def _longer(arguments: dict[str, Any], look: Look) -> tuple[str, dict[str, Any]] | None:
    """A note that is there is not written a second time: with its whole text and more, it is changed."""
    title, text = arguments.get("title"), arguments.get("text")
    there = look.find("note", title) if isinstance(title, str) and isinstance(text, str) else None
    if there is None or arguments.get("tags") or not set(words(there.text)) <= set(words(str(text))):
        return None
    return "updateNote", {"note": there.title, "text": text}


@tool(
    name="addNote",
    kit="notes",
    effect="write",
    where="writer",
    undo=undo_add(ROWS),
    said=("tags",),
    rather=_longer,
    aliases=("add", "write down", *_ALIASES),
)
def add_note(ctx: Context, title: str, text: str = "", tags: list[str] | None = None) -> dict[str, Any]:
    """Write a new note."""
    names = list(dict.fromkeys(_tag(tag) for tag in tags or ()))
    row = ROWS.add(
        ctx,
        title=title_of(title, "note"),
        text=text_of(text, "note"),
        tags=json.dumps(names, ensure_ascii=False),
    )
    return _told(row, "added")


@tool(
    name="listNotes",
    kit="notes",
    effect="read",
    where="writer",
    aliases=("search notes", "find", "suchen", *_ALIASES),
)
def list_notes(ctx: Context, search: str = "", tag: str = "") -> dict[str, Any]:
    """Find notes by words or tag."""
    found = list_rows(ctx.open_tx, search, tag)
    items = [
        {"id": row["id"], "title": row["title"], **_if("text", _cut(row["text"])), **_if("tags", row["tags"])}
        for row in found[:LIST_LIMIT]
    ]
    return listed("notes", items, len(found), "note")


_TAG_WORDS = frozenset(
    {"tag", "label", "schlagwort", "stichwort", "etikett", "etiquette", "etiqueta", "mot-cle", "libelle"}
)
"""Words, folded, in front of a tag that a note shall get."""


def _tagged(arguments: dict[str, Any], look: Look) -> tuple[str, dict[str, Any]] | None:
    """A word that was called a tag is no text: the note's text with that word behind it is the note, tagged."""
    note, text = arguments.get("note"), arguments.get("text")
    there = look.find("note", note) if isinstance(note, str) and isinstance(text, str) else None
    if there is None or len(arguments) != 2:  # noqa: PLR2004 - the note and its text
        return None
    more = [word for word in words(str(text)) if word not in words(there.text)]
    said = words(look.said)
    at = said.index(more[0]) if len(more) == 1 and more[0] in said else 0
    if not _TAG_WORDS.intersection(said[max(at - 2, 0) : at]):
        return None
    spelt = next(piece for piece in look.said.split() if more[0] in words(piece))
    return "tagNote", {"note": there.title, "tag": spelt.strip(_MARKS)}


@tool(
    name="updateNote",
    kit="notes",
    effect="write",
    where="writer",
    rather=_tagged,
    undo=undo_of(ROWS, "note"),
    options={"note": ROWS.titles},
    aliases=("edit", "ändern", *_ALIASES),
)
def update_note(ctx: Context, note: str, title: str | None = None, text: str | None = None) -> dict[str, Any]:
    """Change a note's title or text."""
    row = ROWS.target(ctx, note)
    values = {
        **({} if title is None else {"title": title_of(title, "note")}),
        **({} if text is None else {"text": text_of(text, "note")}),
    }
    if not values:
        raise ToolError(f'Nothing is to be changed at "{row["title"]}".', "Give a title or a text.")
    return _told(ROWS.change(ctx, row, **values), "changed")


@tool(
    name="tagNote",
    kit="notes",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "note"),
    said=("tag",),
    options={"note": ROWS.titles},
    aliases=("label", "etikett", *_ALIASES),
)
def tag_note(ctx: Context, note: str, tag: str) -> dict[str, Any]:
    """Put a tag on a note."""
    row = ROWS.target(ctx, note)
    name = _tag(tag)
    tags = json.loads(row["tags"])
    if name.casefold() in {one.casefold() for one in tags}:
        return _told(row, f'already has the tag "{name}"')
    row = ROWS.change(ctx, row, tags=json.dumps([*tags, name], ensure_ascii=False))
    return _told(row, f'tagged "{name}"')


@tool(
    name="untagNote",
    kit="notes",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "note"),
    options={"note": ROWS.titles},
    aliases=("unlabel", *_ALIASES),
)
def untag_note(ctx: Context, note: str, tag: str) -> dict[str, Any]:
    """Take a tag off a note."""
    row = ROWS.target(ctx, note)
    name = _tag(tag)
    tags = json.loads(row["tags"])
    kept = [one for one in tags if one.casefold() != name.casefold()]
    if kept == tags:
        return _told(row, f'has no tag "{name}"')
    return _told(
        ROWS.change(ctx, row, tags=json.dumps(kept, ensure_ascii=False)), f'no longer tagged "{name}"'
    )


@tool(
    name="deleteNote",
    kit="notes",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "note"),
    options={"note": ROWS.titles},
    aliases=("remove", "löschen", *_ALIASES),
)
def delete_note(ctx: Context, note: str) -> dict[str, Any]:
    """Delete a note."""
    return _told(ROWS.change(ctx, ROWS.target(ctx, note), deleted=True), "deleted")


def _told(row: Row, what: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        **_if("tags", json.loads(row["tags"])),
        "message": f'note "{row["title"]}" {what}',
    }


def _if(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"


def _tag(text: str) -> str:
    tag = " ".join(clean(text).split()).lstrip("#").strip()
    if not tag or len(tag) > MAX_TAG:
        raise ToolError(f"{text!r} cannot be a tag.", f"A tag has 1 to {MAX_TAG} characters.")
    return tag


TOOLS = [add_note, list_notes, update_note, tag_note, untag_note, delete_note]
