"""What is remembered: facts (`fact`) and turns of past conversations (`diary`), with full-text search.

The table stands in this room because two rooms above use it: the memory kit, which writes facts in the transaction of
its call, and the journal, which keeps the diary and searches both. `words` is what the index reads: whoever writes
`text` writes `words` too (`index_text`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    String,
    Table,
    Text,
    bindparam,
    delete,
    false,
    select,
    text,
    update,
)

from surefoot.storage import postgres, sqlite
from surefoot.storage.prepared import Prepared
from surefoot.storage.schema import metadata
from surefoot.storage.words import may_be_prefix, query_words, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

CANDIDATES = 200
"""Hits that the index hands over to be ranked: twenty pages of what a person reads; ranking them takes milliseconds."""

memories = Table(
    "memories",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("run", String(32), nullable=False, index=True),
    Column("actor", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", String(27), nullable=False),
    Column("undone", Boolean, nullable=False),
)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A row of the table, without what only the index needs. `at` is the journal's time text."""

    id: str
    kind: str
    text: str
    run: str
    at: str
    undone: bool
    actor: str = "agent:surefoot"
    version: int = 1


_COLUMNS = ("id", "kind", "text", "run", "at", "undone", "actor", "version")
_INSERT = Prepared.insert(memories, *_COLUMNS, "words")
_OF_ID = memories.c.id == bindparam("of_id")
_GET = Prepared(select(*(memories.c[name] for name in _COLUMNS)).where(_OF_ID))
_UPDATE = Prepared(
    update(memories)
    .where(_OF_ID)
    .values({name: bindparam(f"new_{name}") for name in (*_COLUMNS, "words") if name != "id"})
)
_DELETE = Prepared(delete(memories).where(_OF_ID))
_VALID = Prepared(
    select(*(memories.c[name] for name in _COLUMNS))
    .where(memories.c.kind == bindparam("of_kind"), memories.c.undone == false())
    .order_by(memories.c.number)
)
_MARK = Prepared(
    update(memories).where(memories.c.run == bindparam("of_run")).values(undone=bindparam("undone"))
)
_KINDS: dict[str, Any] = {"sqlite": sqlite, "postgresql": postgres}
"""What finds the words in each kind of database, by SQLAlchemy's name of it."""


def _found(hits: str) -> Prepared:
    """The rows whose numbers `hits`, SQL of one kind of database, gives for `question` and `most`."""
    binds = (bindparam("question", type_=Text), bindparam("most", type_=Integer))
    numbers = text(hits).bindparams(*binds).columns(memories.c.number)
    return Prepared(
        select(*(memories.c[name] for name in _COLUMNS))
        .where(memories.c.number.in_(numbers))
        .order_by(memories.c.number.desc())
    )


_FOUND = {name: _found(kind.HITS) for name, kind in _KINDS.items()}


def index_text(content: str) -> str:
    """The value of `words` for this text."""
    return " ".join(words(content))


def add(tx: Connection, row: MemoryRow) -> None:
    """Write one memory."""
    values = {name: getattr(row, name) for name in _COLUMNS}
    _INSERT.run(tx, **values, words=index_text(row.text))


def get(tx: Connection, memory_id: str) -> MemoryRow | None:
    """The memory of that id, taken back or not; None where there is none."""
    found = _GET.row(tx, of_id=memory_id)
    return None if found is None else MemoryRow(*found)


def put(tx: Connection, row: MemoryRow) -> None:
    """Set a memory to this row, whether or not it is there."""
    changed = {f"new_{name}": getattr(row, name) for name in _COLUMNS if name != "id"}
    if not _UPDATE.run(tx, of_id=row.id, **changed, new_words=index_text(row.text)):
        add(tx, row)


def remove(tx: Connection, memory_id: str) -> None:
    """Set a memory to nothing: it never was."""
    _DELETE.run(tx, of_id=memory_id)


def valid(tx: Connection, kind: str) -> list[MemoryRow]:
    """All of a kind that are not taken back, oldest first."""
    return [MemoryRow(*found) for found in _VALID.rows(tx, of_kind=kind)]


def mark(tx: Connection, run: str, *, undone: bool) -> None:
    """Mark what a run remembered as taken back, or as valid again."""
    _MARK.run(tx, of_run=run, undone=undone)


def search(tx: Connection, question: str, limit: int) -> list[MemoryRow]:
    """The best `limit` memories that share a word with the question (see `rank`); undone ones are left out."""
    asked = query_words(question)
    if not asked or limit < 1:
        return []
    kind = tx.dialect.name
    question = _KINDS[kind].question((word, may_be_prefix(word)) for word in asked)
    found = [MemoryRow(*values) for values in _FOUND[kind].rows(tx, question=question, most=CANDIDATES)]
    return rank(asked, found)[:limit]


class Ranked(Protocol):
    """What can be ranked: its kind, its text, and when it was written."""

    @property
    def kind(self) -> str:
        """`fact` or `diary`."""
        ...

    @property
    def text(self) -> str:
        """What is remembered."""
        ...

    @property
    def at(self) -> object:
        """When; its text sorts by time."""
        ...


R = TypeVar("R", bound=Ranked)


def rank(asked: Sequence[str], found: Sequence[R]) -> list[R]:
    """Best first: by the words of the question they hold, rare ones counting more; then facts before diary; newest.

    Things that hold none of the words are left out. The weight of a word is log(1 + n / hits) over the candidates.
    """
    held = [_held(asked, item.text) for item in found]
    hits = {word: sum(word in one for one in held) for word in asked}
    weight = {word: math.log1p(len(found) / count) for word, count in hits.items() if count}
    scored = [
        (-round(sum(weight[word] for word in one), 6), item.kind != "fact", item)
        for one, item in zip(held, found, strict=True)
        if one
    ]
    scored.sort(key=lambda entry: str(entry[2].at), reverse=True)
    scored.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in scored]


def _held(asked: Sequence[str], content: str) -> frozenset[str]:
    there = set(words(content))
    return frozenset(
        word
        for word in asked
        if word in there or (may_be_prefix(word) and any(one.startswith(word) for one in there))
    )
