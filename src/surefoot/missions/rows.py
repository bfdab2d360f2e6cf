"""Missions and agents as rows, and the writes that every such row knows: with a version, an actor and a tombstone."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import Table, insert, select, update

from surefoot.errors import AmbiguousError, NotFoundError, StateError
from surefoot.journal.codec import clean, dump, load, time_of, time_text
from surefoot.missions.cadence import Cadence
from surefoot.missions.tables import agents, executions, feedback, missions
from surefoot.missions.types import Agent, Execution, Feedback, Mission

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.tools.types import Actor

R = TypeVar("R", Agent, Mission)
Values = dict[str, Any]

SHORTEST_ID = 4
CANDIDATES = 5
"""Named where a reference fits several: enough to choose from, few enough for one line."""

_HEX = re.compile(r"[0-9a-f]+")
_TEXTS = ("name", "persona", "title", "goal", "concept")
_JSON = ("policy", "inputs", "kits", "limits")


def new_id() -> str:
    """12 random hex digits."""
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class Versioned(Generic[R]):
    """The rows of one table, all of whose writes carry a version, an actor and a time.

    Args:
        table: with the columns of `tables._common`.
        kind: what one row is called in messages.
        title: the column that names a row.
        make: the record of a row's values.
    """

    table: Table
    kind: str
    title: str
    make: Callable[[Values], R]

    def create(self, tx: Connection, record: R, actor: Actor, now: datetime) -> R:
        """Write a new row.

        Raises:
            StateError: the id is taken, or somebody living has the name already.
        """
        if tx.execute(select(self.table.c.id).where(self.table.c.id == record.id)).first() is not None:
            raise StateError(
                f"There is a {self.kind} {record.id} already.", "Give it another id.", id=record.id
            )
        self._check_name(tx, record)
        at = time_text(now)
        values = {**values_of(record), "version": 1, "deleted": False}
        tx.execute(insert(self.table).values(**values, actor=str(actor), created_at=at, updated_at=at))
        return self.get(tx, record.id)

    def get(self, tx: Connection, row_id: str, *, lock: bool = False, gone: bool = False) -> R:
        """By full id; `lock` keeps others from changing it until the transaction ends.

        Raises:
            NotFoundError: there is none, or (unless `gone`) it was deleted.
        """
        statement = select(self.table).where(self.table.c.id == row_id)
        found = tx.execute(statement.with_for_update() if lock else statement).mappings().first()
        if found is None or (found["deleted"] and not gone):
            raise self._missing(row_id)
        return self.make(dict(found))

    def find(self, tx: Connection, reference: str) -> R:
        """By title, by id, or by a unique beginning of either.

        Raises:
            NotFoundError: there is none.
            AmbiguousError: several fit; details hold `candidates`.
        """
        living = self.living(tx)
        wanted, folded = reference.strip().lower(), fold(reference)
        named = [(one, one.id, fold(str(getattr(one, self.title)))) for one in living]
        tries = (
            [one for one, row_id, _ in named if row_id == wanted],
            [one for one, _, name in named if name == folded],
            [one for one, row_id, _ in named if _is_prefix(wanted) and row_id.startswith(wanted)],
            [one for one, _, name in named if folded and name.startswith(folded)],
        )
        found = next((fitting for fitting in tries if fitting), [])
        if len(found) == 1:
            return found[0]
        if found:
            raise self._ambiguous(reference, [(one.id, str(getattr(one, self.title))) for one in found])
        raise self._missing(reference)

    def living(self, tx: Connection) -> list[R]:
        """All that are not deleted, the oldest first."""
        table = self.table
        found = select(table).where(table.c.deleted.is_(False)).order_by(table.c.created_at, table.c.id)
        return [self.make(dict(row)) for row in tx.execute(found).mappings()]

    def change(
        self, tx: Connection, row_id: str, changes: Values, actor: Actor, now: datetime, version: int | None
    ) -> R:
        """Write changed fields, and the next version.

        Args:
            tx: the open transaction.
            row_id: full id.
            changes: fields with their new values.
            actor: who changes it.
            now: when.
            version: the one that the change was made from; None: whatever there is.

        Raises:
            NotFoundError: there is none.
            StateError: it was changed since that version, or the name is taken.
            InputError: a value cannot be used.
        """
        record = self.get(tx, row_id, lock=True)
        self.check_version(record, version)
        changed = record.with_(**changes)
        if getattr(changed, self.title) != getattr(record, self.title):
            self._check_name(tx, changed)
        values = {**values_of(changed), "version": record.version + 1}
        written = update(self.table).where(self.table.c.id == row_id, self.table.c.version == record.version)
        tx.execute(written.values(**values, actor=str(actor), updated_at=time_text(now)))
        return self.get(tx, row_id, gone=True)

    def check_version(self, record: R, version: int | None) -> None:
        """StateError when it is not this version any more."""
        if version is not None and version != record.version:
            raise StateError(
                f"The {self.kind} {self._named(record)} was changed meanwhile: it is version {record.version}, "
                f"and the change was made from version {version}.",
                "Look at it as it is now, and change it again.",
                reason="conflict",
                found=record.version,
                expected=version,
            )

    def _check_name(self, tx: Connection, record: R) -> None:
        name = fold(str(getattr(record, self.title)))
        for other in self.living(tx):
            if other.id != record.id and fold(str(getattr(other, self.title))) == name:
                raise StateError(
                    f"There is a {self.kind} {self._named(other)} already ({other.id}).",
                    "Give this one another name.",
                    id=other.id,
                )

    def _named(self, record: R) -> str:
        return repr(getattr(record, self.title))

    def _missing(self, reference: str) -> NotFoundError:
        return NotFoundError(
            f"There is no {self.kind} {reference!r}.",
            f"`surefoot {self.kind}s list` lists them.",
            name=reference,
        )

    def _ambiguous(self, reference: str, found: list[tuple[str, str]]) -> AmbiguousError:
        named = ", ".join(f"{title!r} ({row_id})" for row_id, title in found[:CANDIDATES])
        return AmbiguousError(
            f"{reference!r} fits several {self.kind}s: {named}.",
            "Name one by its id.",
            candidates=[{"id": row_id, "title": title} for row_id, title in found],
        )


def fold(text: str) -> str:
    """A name without case and odd spaces."""
    return " ".join(text.casefold().split())


def _is_prefix(text: str) -> bool:
    return len(text) >= SHORTEST_ID and _HEX.fullmatch(text) is not None


# --- records and rows ------------------------------------------------------------------------------------------


def values_of(record: Agent | Mission) -> Values:
    """A record's own columns; what is kept is masked, as everything that is written down."""
    found = {name: getattr(record, name) for name in type(record).__dataclass_fields__ if name != "feedback"}
    if isinstance(record, Mission):
        found["cadence"] = dump(record.cadence.to_dict())
    for name in _JSON:
        if name in found:
            value = found[name]
            found[name] = dump(list(value) if isinstance(value, tuple) else dict(value))
    return {name: clean(value) if name in _TEXTS else value for name, value in found.items()}


def agent_of(row: Mapping[str, Any]) -> Agent:
    """An agent of its row."""
    return Agent(**_fields(Agent, row))


def mission_of(row: Mapping[str, Any]) -> Mission:
    """A mission of its row, without its feedback."""
    values = _fields(Mission, row)
    return Mission(**{**values, "cadence": Cadence.from_dict(load(row["cadence"]))})


def _fields(kind: type[Any], row: Mapping[str, Any]) -> Values:
    names = [name for name in kind.__dataclass_fields__ if name in row]
    return {name: load(row[name]) if name in _JSON else row[name] for name in names}


def feedback_on(tx: Connection, mission_id: str) -> tuple[Feedback, ...]:
    """All that was said of a mission and its executions, the oldest first."""
    found = select(feedback).where(feedback.c.mission == mission_id).order_by(feedback.c.at, feedback.c.id)
    return tuple(
        Feedback(row["id"], row["mission"], row["text"], row["execution"], row["actor"], time_of(row["at"]))
        for row in tx.execute(found).mappings()
    )


def execution_of(row: Values, said: Iterable[Feedback] = ()) -> Execution:
    """An execution of its row."""
    names = (
        "id",
        "mission",
        "occurrence",
        "number",
        "status",
        "phase",
        "summary",
        "rounds",
        "tokens",
        "cost",
        "version",
    )
    return Execution(
        **{name: row[name] for name in names},
        calls=tuple(load(row["calls"])),
        error=load(row["error"]),
        started_at=time_of(row["started_at"]),
        ended_at=time_of(row["ended_at"]),
        feedback=tuple(one for one in said if one.execution == row["id"]),
    )


AGENTS = Versioned(agents, "agent", "name", agent_of)
MISSIONS = Versioned(missions, "mission", "title", mission_of)
EXECUTIONS, FEEDBACK = executions, feedback
"""Under names that no variable has."""
