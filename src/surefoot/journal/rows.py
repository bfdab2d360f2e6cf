"""Rows of the journal's tables and the values they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from surefoot.errors import StorageError
from surefoot.events import Event, EventType
from surefoot.journal.codec import (
    clean,
    dump,
    dump_optional,
    load,
    time_of,
    time_text,
    time_text_optional,
)
from surefoot.journal.types import Call, CallStatus, Memory, ModelCall, Run, RunStatus
from surefoot.storage.memories import MemoryRow
from surefoot.tools.types import Actor, Effect

Values = dict[str, Any]

RUN_COLUMNS = (
    "id", "goal", "kind", "status", "actor", "context", "created_at", "updated_at", "reply", "incomplete",
    "stopped_by", "error", "parent", "owner", "fence",
)  # fmt: skip
RUN_RESULT = ("status", "context", "updated_at", "reply", "incomplete", "stopped_by", "error")
"""What `set_run` may change; who made it, and the lease, have their own ways."""

CALL_COLUMNS = (
    "run", "key", "ordinal", "id", "tool", "arguments", "effect", "actor", "status", "step", "undo_version", "before",
    "after", "result", "error", "started_at", "finished_at", "undone_by",
)  # fmt: skip
CALL_RESULT = (
    "status", "undo_version", "before", "after", "result", "error", "started_at", "finished_at", "undone_by",
)  # fmt: skip
"""What the end of a call may change; what was asked for stays."""

MODEL_CALL_COLUMNS = ("run", "key", "purpose", "model", "completion", "at")
EVENT_COLUMNS = ("run", "seq", "type", "data", "at")


def run_values(run: Run) -> Values:
    """A run as column values; its times are set."""
    assert run.created_at is not None  # noqa: S101 - the journal sets it before it writes
    assert run.updated_at is not None  # noqa: S101
    return {
        "id": run.id,
        "goal": clean(run.goal),
        "kind": run.kind,
        "status": str(run.status),
        "actor": clean(str(run.actor)),
        "context": dump(run.context),
        "created_at": time_text(run.created_at),
        "updated_at": time_text(run.updated_at),
        "reply": clean(run.reply),
        "incomplete": run.incomplete,
        "stopped_by": clean(run.stopped_by),
        "error": dump_optional(run.error),
        "parent": run.parent,
        "owner": run.owner,
        "fence": run.fence,
    }


R = TypeVar("R")


def _readable(read: Callable[[Sequence[Any]], R]) -> Callable[[Sequence[Any]], R]:
    """What was written here can be read here; where it cannot, something else has written."""

    @wraps(read)
    def reading(row: Sequence[Any]) -> R:
        try:
            return read(row)
        except (ValueError, TypeError) as error:
            raise StorageError(
                f"A row of the journal is damaged ({row[0]}): {error}.",
                "Put a backup of the database in its place.",
                reason="damaged",
                row=str(row[0]),
            ) from error

    return reading


@_readable
def run_of(row: Sequence[Any]) -> Run:
    """The run of a row of `RUN_COLUMNS`."""
    return Run(
        id=row[0],
        goal=row[1],
        kind=row[2],
        status=RunStatus(row[3]),
        actor=Actor.parse(row[4]),
        context=load(row[5]),
        created_at=time_of(row[6]),
        updated_at=time_of(row[7]),
        reply=row[8],
        incomplete=row[9],
        stopped_by=row[10],
        error=load(row[11]),
        parent=row[12],
        owner=row[13],
        fence=row[14],
    )


def call_values(call: Call) -> Values:
    """A call as column values."""
    return {
        "run": call.run,
        "key": call.key,
        "ordinal": call.ordinal,
        "id": call.id,
        "tool": clean(call.tool),
        "arguments": dump(call.arguments),
        "effect": str(call.effect),
        "actor": clean(str(call.actor)),
        "step": call.step,
        **call_result(call),
    }


def call_result(call: Call) -> Values:
    """What the end of a call changes, as column values."""
    return {
        "status": str(call.status),
        "undo_version": call.undo_version,
        "before": dump_optional(call.before),
        "after": dump_optional(call.after),
        "result": dump_optional(call.result),
        "error": dump_optional(call.error),
        "started_at": time_text_optional(call.started_at),
        "finished_at": time_text_optional(call.finished_at),
        "undone_by": call.undone_by,
    }


@_readable
def call_of(row: Sequence[Any]) -> Call:
    """The call of a row of `CALL_COLUMNS`."""
    return Call(
        run=row[0],
        key=row[1],
        ordinal=row[2],
        id=row[3],
        tool=row[4],
        arguments=load(row[5]),
        effect=Effect(row[6]),
        actor=Actor.parse(row[7]),
        status=CallStatus(row[8]),
        step=row[9],
        undo_version=row[10],
        before=load(row[11]),
        after=load(row[12]),
        result=load(row[13]),
        error=load(row[14]),
        started_at=time_of(row[15]),
        finished_at=time_of(row[16]),
        undone_by=row[17],
    )


@_readable
def model_call_of(row: Sequence[Any]) -> ModelCall:
    """The model call of a row of `MODEL_CALL_COLUMNS`."""
    return ModelCall(row[0], row[1], row[2], row[3], load(row[4]), time_of(row[5]))


@_readable
def event_of(row: Sequence[Any]) -> Event:
    """The event of a row of `EVENT_COLUMNS`."""
    return Event(row[0], row[1], EventType(row[2]), load(row[3]), time_of(row[4]))


def memory_values(memory: Memory, at: datetime) -> MemoryRow:
    """A memory as its row; `at` is its time where it has none."""
    moment = time_text(memory.at or at)
    return MemoryRow(memory.id, memory.kind, clean(memory.text), memory.run, moment, memory.undone)


def memory_of(row: MemoryRow) -> Memory:
    """The memory of a row."""
    return Memory(row.id, row.kind, row.text, row.run, time_of(row.at), row.undone)
