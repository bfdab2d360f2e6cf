"""Writes of calls and events, as functions of an open transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.journal import rows, rules, said
from surefoot.journal import statements as sql
from surefoot.journal.codec import dump, time_text
from surefoot.journal.finding import no_call, no_run
from surefoot.journal.types import Body, Call, CallStatus, EventList, Finished, Memory, ModelCall, RunStatus
from surefoot.storage import memories
from surefoot.tools.types import Effect

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Place(NamedTuple):
    """Where a write lands: the run's lease, status and counters, and the call as it stands (None: not yet)."""

    fence: int
    status: RunStatus
    last_seq: int
    ordinal: int
    """The call's, or the one it will get."""
    call_status: CallStatus | None = None
    effect: Effect = Effect.READ


def place(tx: Connection, run: str, key: str, fence: int) -> Place:
    """Look the place up, and refuse a writer whose lease is over."""
    found = sql.CALL_PLACE.row(tx, of_run=run, of_key=key)
    if found is None:
        raise no_run(run)
    held, status, last_seq, last_ordinal, call_status, ordinal, effect = found
    rules.check_fence(run, held, fence)
    if call_status is None:
        return Place(held, RunStatus(status), last_seq, last_ordinal + 1)
    return Place(held, RunStatus(status), last_seq, ordinal, CallStatus(call_status), Effect(effect))


def add_events(tx: Connection, run: str, last_seq: int, events: EventList, at: datetime) -> None:
    """Append events behind `last_seq`."""
    rules.check_events(events)
    moment = time_text(at)
    for seq, (type_, data) in enumerate(events, start=last_seq + 1):
        sql.EVENT_INSERT.run(tx, run=run, seq=seq, type=str(type_), data=dump(data), at=moment)


def append(tx: Connection, run: str, events: EventList, at: datetime, fence: int = 0) -> None:
    """Append events to a run."""
    add_events(tx, run, _last_seq(tx, run, fence), events, at)


def _last_seq(tx: Connection, run: str, fence: int) -> int:
    found = sql.RUN_PLACE.row(tx, of_run=run)
    if found is None:
        raise no_run(run)
    rules.check_fence(run, found[0], fence)
    seq: int = found[1]
    return seq


def intend(
    tx: Connection, call: Call, before: Body[object] | None, events: EventList, fence: int, at: datetime
) -> Call:
    """Write the intent of a call, new or taken up again."""
    where = place(tx, call.run, call.key, fence)
    _check_write(call, CallStatus.INTENDED, where)
    call = call.with_(
        status=CallStatus.INTENDED,
        ordinal=where.ordinal,
        started_at=call.started_at or at,
        before=call.before if before is None else before(tx),
    )
    return _put(tx, call, where, events, at)


def add(tx: Connection, call: Call, events: EventList, fence: int, at: datetime) -> Call:
    """Write a call that never starts, or waits."""
    where = place(tx, call.run, call.key, fence)
    _check_write(call, call.status, where)
    return _put(tx, call.with_(ordinal=where.ordinal), where, events, at)


def _check_write(call: Call, status: CallStatus, where: Place) -> None:
    rules.check_begin(call.run, where.status)
    if where.call_status is not None:
        rules.check_call_move(call.run, call.key, where.call_status, status, where.effect)


def _put(tx: Connection, call: Call, where: Place, events: EventList, at: datetime) -> Call:
    values = rows.call_values(call)
    if where.call_status is None:
        sql.CALL_INSERT.run(tx, **values)
    else:
        sql.CALL_REPLACE.run(tx, of_run=call.run, of_key=call.key, **values)
    add_events(tx, call.run, where.last_seq, rules.with_ordinal(events, call.ordinal), at)
    return call


def finish(tx: Connection, call: Call, body: Body[Finished] | None, fence: int, at: datetime) -> Call:
    """Run the body and write what it returns; before it runs, it is sure that it may."""
    where = place(tx, call.run, call.key, fence)
    if where.call_status is None:
        raise no_call(call.run, call.key)
    rules.check_finish(call.run, call.key, where.call_status)
    finished = Finished(call) if body is None else body(tx)
    return _end(tx, finished.call, where, finished.events, at)


def change(tx: Connection, call: Call, events: EventList, at: datetime) -> Call:
    """Write a call's status and results as they stand."""
    where = place(tx, call.run, call.key, 0)
    if where.call_status is None:
        raise no_call(call.run, call.key)
    return _end(tx, call, where, events, at)


def _end(tx: Connection, call: Call, where: Place, events: EventList, at: datetime) -> Call:
    assert where.call_status is not None  # noqa: S101 - both callers looked
    rules.check_call_move(call.run, call.key, where.call_status, call.status, where.effect)
    if call.ordinal != where.ordinal:
        call = call.with_(ordinal=where.ordinal)
    sql.CALL_FINISH.run(tx, of_run=call.run, of_key=call.key, **rows.call_result(call))
    add_events(tx, call.run, where.last_seq, rules.with_ordinal(events, call.ordinal), at)
    return call


def add_model_call(
    tx: Connection,
    call: ModelCall,
    events: EventList,
    fence: int,
    at: datetime,
    bodies: Sequence[said.Body] = (),
) -> None:
    """Write an answered model call with the messages that were new in it; its key is answered once."""
    last_seq = _last_seq(tx, call.run, fence)
    if sql.MODEL_CALL_BY_KEY.row(tx, of_run=call.run, of_key=call.key) is not None:
        raise rules.answered(call.run, call.key)
    last = sql.MODEL_CALL_LAST.row(tx, of_run=call.run)
    values = {
        "run": call.run,
        "key": call.key,
        "ordinal": (last[0] if last else 0) + 1,
        "purpose": call.purpose,
        "model": call.model,
        "completion": dump(call.completion),
        "at": time_text(call.at or at),
    }
    sql.MODEL_CALL_INSERT.run(tx, **values)
    for position, body in enumerate(bodies):
        if sql.BODY_KNOWN.row(tx, of_hash=body.hash) is None:
            sql.BODY_INSERT.run(tx, hash=body.hash, body=body.text)
        sql.RUN_MESSAGE_INSERT.run(tx, run=call.run, key=call.key, position=position, hash=body.hash)
    add_events(tx, call.run, last_seq, events, at)


def conversation(tx: Connection, run: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """What was said in a run, or in one of its model calls."""
    if key:
        found = sql.MODEL_CALL_BY_KEY.rows(tx, of_run=run, of_key=key)
        texts = sql.CALL_MESSAGES.rows(tx, of_run=run, of_key=key)
    else:
        found = sql.MODEL_CALLS.rows(tx, of_run=run)
        texts = sql.RUN_MESSAGES.rows(tx, of_run=run)
    return said.conversation(map(rows.model_call_of, found), texts)


def add_messages(
    tx: Connection, dialogue: str, run_id: str, messages: list[dict[str, Any]], at: datetime
) -> None:
    """Append messages to a dialogue."""
    entries = [
        {"dialogue": dialogue, "run": run_id, "data": dump(one), "at": time_text(at)} for one in messages
    ]
    if entries:
        sql.MESSAGE_INSERT.many(tx, entries)


def add_memory(tx: Connection, memory: Memory, at: datetime) -> None:
    """Keep a fact or a turn; its id must be new."""
    if memories.get(tx, memory.id) is not None:
        raise rules.memory_exists(memory.id)
    memories.add(tx, rows.memory_values(memory, at))
