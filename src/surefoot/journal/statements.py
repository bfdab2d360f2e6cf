"""The journal's statements, each compiled once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, and_, bindparam, func, or_, select, update

from surefoot.journal import rows
from surefoot.journal.tables import (
    calls,
    events,
    message_bodies,
    messages,
    model_calls,
    run_messages,
    runs,
)
from surefoot.journal.types import ACTIVE, CallStatus
from surefoot.storage.prepared import Prepared

_LIMIT = bindparam("most", type_=BigInteger)


def _columns(table: Any, names: tuple[str, ...]) -> list[ColumnElement[Any]]:
    return [table.c[name] for name in names]


# --- runs ----------------------------------------------------------------------------------------------------

_RUN = _columns(runs, rows.RUN_COLUMNS)
RUN_INSERT = Prepared.insert(runs, *rows.RUN_COLUMNS, "heartbeat")
RUN_BY_ID = Prepared(select(*_RUN).where(runs.c.id == bindparam("run")))
RUN_FOR_CHANGE = Prepared(
    select(*_RUN, runs.c.heartbeat).where(runs.c.id == bindparam("run")).with_for_update()
)
RUN_LAST = Prepared(select(*_RUN).order_by(runs.c.number.desc()).limit(1))
RUNS_BY_PREFIX = Prepared(
    select(*_RUN)
    .where(runs.c.id >= bindparam("least"), runs.c.id < bindparam("below"))
    .order_by(runs.c.number.desc())
    .limit(_LIMIT)
)
RUNS = Prepared(
    select(*_RUN)
    .where(
        or_(bindparam("any_kind", type_=Integer) == 1, runs.c.kind == bindparam("kind")),
        or_(bindparam("any_parent", type_=Integer) == 1, runs.c.parent == bindparam("parent")),
    )
    .order_by(runs.c.number.desc())
    .limit(_LIMIT)
)
RUN_BEFORE = Prepared(select(func.max(runs.c.id)).where(runs.c.id < bindparam("run")))
RUN_AFTER = Prepared(select(func.min(runs.c.id)).where(runs.c.id > bindparam("run")))
RUN_UPDATE = Prepared(
    update(runs)
    .where(runs.c.id == bindparam("of_run"))
    .values({name: bindparam(name) for name in (*rows.RUN_RESULT, "owner")})
)
RUN_LEASE = Prepared(
    update(runs)
    .where(runs.c.id == bindparam("of_run"))
    .values({name: bindparam(name) for name in ("status", "owner", "fence", "heartbeat", "updated_at")})
)
RUN_BEAT = Prepared(
    update(runs)
    .where(runs.c.id == bindparam("of_run"), runs.c.fence == bindparam("of_fence"), runs.c.owner != "")
    .values(heartbeat=bindparam("heartbeat"))
)
RUNS_LEASED = Prepared(
    select(*_RUN, runs.c.heartbeat)
    .where(or_(*[runs.c.status == str(status) for status in sorted(ACTIVE)]), runs.c.owner != "")
    .order_by(runs.c.number)
)

# --- calls ---------------------------------------------------------------------------------------------------

_CALL = _columns(calls, rows.CALL_COLUMNS)


def _last(column: ColumnElement[Any], of_run: ColumnElement[Any]) -> Any:
    last = select(func.coalesce(func.max(column), 0)).where(of_run == bindparam("of_run"))
    return last.correlate(None).scalar_subquery()


def _place(key: ColumnElement[Any]) -> Select[Any]:
    """What a write to a call must know first, in one statement: lease, status, counters, and the call as it stands.

    Where others write at the same time the run's row is locked by it, so they wait here and not at their end.
    """
    return (
        select(
            runs.c.fence,
            runs.c.status,
            _last(events.c.seq, events.c.run).label("last_seq"),
            _last(calls.c.ordinal, calls.c.run).label("last_ordinal"),
            calls.c.status.label("call_status"),
            calls.c.ordinal,
            calls.c.effect,
        )
        .select_from(runs.outerjoin(calls, and_(calls.c.run == runs.c.id, calls.c.key == key)))
        .where(runs.c.id == bindparam("of_run"))
        .with_for_update(of=runs)
    )


CALL_PLACE = Prepared(_place(bindparam("of_key")))
RUN_PLACE = Prepared(
    select(runs.c.fence, _last(events.c.seq, events.c.run).label("last_seq"))
    .where(runs.c.id == bindparam("of_run"))
    .with_for_update(of=runs)
)
CALL_INSERT = Prepared.insert(calls, *rows.CALL_COLUMNS)
_ONE_CALL = and_(calls.c.run == bindparam("of_run"), calls.c.key == bindparam("of_key"))
CALL_REPLACE = Prepared(
    update(calls)
    .where(_ONE_CALL)
    .values({name: bindparam(name) for name in rows.CALL_COLUMNS if name not in {"run", "key", "ordinal"}})
)
CALL_FINISH = Prepared(
    update(calls).where(_ONE_CALL).values({name: bindparam(name) for name in rows.CALL_RESULT})
)
CALL_CLOSE = Prepared(
    update(calls).where(_ONE_CALL).values(status=bindparam("status"), finished_at=bindparam("finished_at"))
)
CALL_BY_KEY = Prepared(select(*_CALL).where(_ONE_CALL))
CALLS = Prepared(select(*_CALL).where(calls.c.run == bindparam("of_run")).order_by(calls.c.ordinal))
CALLS_INTENDED = Prepared(
    select(*_CALL)
    .where(calls.c.run == bindparam("of_run"), calls.c.status == str(CallStatus.INTENDED))
    .order_by(calls.c.ordinal)
)

# --- model calls, events, messages ---------------------------------------------------------------------------

_MODEL_CALL = _columns(model_calls, rows.MODEL_CALL_COLUMNS)
MODEL_CALL_INSERT = Prepared.insert(model_calls, *rows.MODEL_CALL_COLUMNS, "ordinal")
MODEL_CALL_LAST = Prepared(
    select(func.coalesce(func.max(model_calls.c.ordinal), 0)).where(model_calls.c.run == bindparam("of_run"))
)
MODEL_CALL_BY_KEY = Prepared(
    select(*_MODEL_CALL).where(
        model_calls.c.run == bindparam("of_run"), model_calls.c.key == bindparam("of_key")
    )
)
MODEL_CALLS = Prepared(
    select(*_MODEL_CALL).where(model_calls.c.run == bindparam("of_run")).order_by(model_calls.c.ordinal)
)

BODY_KNOWN = Prepared(select(message_bodies.c.hash).where(message_bodies.c.hash == bindparam("of_hash")))
BODY_INSERT = Prepared.insert(message_bodies)
RUN_MESSAGE_INSERT = Prepared.insert(run_messages)
_SAID = select(run_messages.c.key, message_bodies.c.body).select_from(
    run_messages.join(message_bodies, message_bodies.c.hash == run_messages.c.hash)
)
RUN_MESSAGES = Prepared(
    _SAID.where(run_messages.c.run == bindparam("of_run")).order_by(
        run_messages.c.key, run_messages.c.position
    )
)
CALL_MESSAGES = Prepared(
    _SAID.where(
        run_messages.c.run == bindparam("of_run"), run_messages.c.key == bindparam("of_key")
    ).order_by(run_messages.c.position)
)

EVENT_INSERT = Prepared.insert(events, *rows.EVENT_COLUMNS)
EVENTS = Prepared(
    select(*_columns(events, rows.EVENT_COLUMNS))
    .where(events.c.run == bindparam("of_run"), events.c.seq > bindparam("after", type_=BigInteger))
    .order_by(events.c.seq)
)

MESSAGE_INSERT = Prepared.insert(messages, "dialogue", "run", "data", "at")
MESSAGES = Prepared(
    select(messages.c.data)
    .where(messages.c.dialogue == bindparam("of_dialogue"))
    .order_by(messages.c.number.desc())
    .limit(_LIMIT)
)
LAST_DIALOGUE = Prepared(select(messages.c.dialogue).order_by(messages.c.number.desc()).limit(1))
