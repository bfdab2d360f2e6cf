"""Reads and writes of runs and their leases, as functions of an open transaction."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from surefoot.events import EventType
from surefoot.journal import rows, rules
from surefoot.journal import statements as sql
from surefoot.journal.codec import time_of, time_text
from surefoot.journal.finding import (
    CANDIDATES,
    LAST,
    MOST,
    check_prefix,
    may_be_id,
    no_run,
    no_run_yet,
    only_one,
    shortest,
)
from surefoot.journal.lease import holder_lives
from surefoot.journal.sql_calls import append
from surefoot.journal.types import ACTIVE, EventList, Run, RunStatus

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = tuple[Any, ...]


def create(tx: Connection, run: Run, events: EventList, at: datetime) -> Run:
    """Write a new run; its id must be new."""
    if sql.RUN_BY_ID.row(tx, run=run.id) is not None:
        raise rules.run_exists(run.id)
    run = run.with_(
        created_at=run.created_at or at, updated_at=at, fence=max(run.fence, int(bool(run.owner)))
    )
    sql.RUN_INSERT.run(tx, **rows.run_values(run), heartbeat=time_text(at))
    append(tx, run.id, events, at)
    return run


def get(tx: Connection, run_id: str) -> Run:
    """By full id."""
    found = sql.RUN_BY_ID.row(tx, run=run_id)
    if found is None:
        raise no_run(run_id)
    return rows.run_of(found)


def find(tx: Connection, text: str) -> Run:
    """By id, unique prefix, or `last`."""
    wanted = text.strip().lower()
    if wanted == LAST:
        newest = sql.RUN_LAST.row(tx)
        if newest is None:
            raise no_run_yet()
        return rows.run_of(newest)
    exact = sql.RUN_BY_ID.row(tx, run=text.strip()) if may_be_id(wanted) else None
    return rows.run_of(exact) if exact is not None else _by_prefix(tx, wanted)


def _by_prefix(tx: Connection, prefix: str) -> Run:
    check_prefix(prefix)
    found = sql.RUNS_BY_PREFIX.rows(tx, least=prefix, below=prefix + "g", most=CANDIDATES)
    return only_one(prefix, [rows.run_of(row) for row in found])


def newest(tx: Connection, limit: int, kind: str | None, parent: str | None) -> list[Run]:
    """Newest first."""
    found = sql.RUNS.rows(
        tx,
        any_kind=int(kind is None),
        kind=kind or "",
        any_parent=int(parent is None),
        parent=parent or "",
        most=min(limit, MOST),
    )
    return [rows.run_of(row) for row in found]


def short_id(tx: Connection, run_id: str) -> str:
    """The shortest prefix that no other run's id begins with: only its neighbours in order can share more."""
    get(tx, run_id)
    near = [statement.row(tx, run=run_id) for statement in (sql.RUN_BEFORE, sql.RUN_AFTER)]
    return shortest(run_id, [row[0] for row in near if row is not None and row[0] is not None])


def change(tx: Connection, run: Run, events: EventList, at: datetime) -> Run:
    """Write a run's status and results. At rest, nobody holds it."""
    held = _for_change(tx, run.id)
    old = rows.run_of(held)
    rules.check_fence(run.id, old.fence, run.fence)
    rules.check_run_move(run.id, old.status, run.status)
    results = {name: getattr(run, name) for name in rows.RUN_RESULT}
    run = old.with_(**results).with_(updated_at=at, owner=old.owner if run.status in ACTIVE else "")
    values = rows.run_values(run)
    sql.RUN_UPDATE.run(tx, of_run=run.id, **{name: values[name] for name in (*rows.RUN_RESULT, "owner")})
    append(tx, run.id, events, at)
    return run


def claim(tx: Connection, run_id: str, owner: str, at: datetime) -> Run:
    """Take the lease. A run that its dead owner left active is closed first, so its open calls tell the truth."""
    held = _for_change(tx, run_id)
    run = rows.run_of(held)
    rules.check_lease_free(run_id, run.status, run.owner, owner, alive=_holder_lives(held, at))
    if run.owner not in {"", owner} and run.status in ACTIVE:
        run = interrupt(tx, run, at)
    run = run.with_(owner=owner, fence=run.fence + 1, updated_at=at)
    _lease(tx, run, at)
    return run


def release_dead(tx: Connection, at: datetime) -> list[Run]:
    """Interrupt every active run whose owner is gone."""
    leased = sql.RUNS_LEASED.rows(tx)
    return [interrupt(tx, rows.run_of(row), at) for row in leased if not _holder_lives(row, at)]


def interrupt(tx: Connection, run: Run, at: datetime) -> Run:
    """Nobody works on it any more. The fence grows: its old owner, if it was only paused, writes no more."""
    run = run.with_(status=RunStatus.INTERRUPTED, owner="", fence=run.fence + 1, updated_at=at)
    _lease(tx, run, at)
    events: EventList = [(EventType.RUN_STATUS, {"status": str(run.status)})]
    for row in sql.CALLS_INTENDED.rows(tx, of_run=run.id):
        call = rows.call_of(row)
        status = rules.abandoned(call.effect)
        sql.CALL_CLOSE.run(tx, of_run=run.id, of_key=call.key, status=str(status), finished_at=time_text(at))
        events = [*events, rules.abandoned_event(status, call.id, call.tool)]
    append(tx, run.id, events, at)
    return run


def beat(tx: Connection, held: dict[str, int], at: datetime) -> list[str]:
    """Say that the owner of these runs (id -> fence) lives; the ids that are not held any more."""
    moment = time_text(at)
    return [
        run_id
        for run_id, fence in held.items()
        if not sql.RUN_BEAT.run(tx, of_run=run_id, of_fence=fence, heartbeat=moment)
    ]


def _holder_lives(row: Row, at: datetime) -> bool:
    run = rows.run_of(row)
    return bool(run.owner) and holder_lives(run.owner, time_of(row[-1]), at)


def _for_change(tx: Connection, run_id: str) -> Row:
    found = sql.RUN_FOR_CHANGE.row(tx, run=run_id)
    if found is None:
        raise no_run(run_id)
    return found


def _lease(tx: Connection, run: Run, at: datetime) -> None:
    sql.RUN_LEASE.run(
        tx,
        of_run=run.id,
        status=str(run.status),
        owner=run.owner,
        fence=run.fence,
        heartbeat=time_text(at),
        updated_at=time_text(at),
    )
