"""What happens in a run, as a closed list of event types.

Events are journal rows `(run, seq, type, data)`, written in the transaction they describe. `TOKEN` and `PROGRESS` are
live only and are never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class EventType(StrEnum):
    """The closed list; the data of each is named beside it."""

    RUN_CREATED = "run.created"  # goal, model, kind
    RUN_STATUS = "run.status"  # status, and incomplete, stopped_by, error where they apply
    PLAN_MADE = "plan.made"  # steps (as `Step.to_dict`), encoding, failed (a reason, or None)
    MEMORY_READ = "memory.read"  # topic, hits (count)
    STEP_STARTED = "step.started"  # step (1-based), text
    STEP_UNRESOLVED = "step.unresolved"  # step, text, reason
    CALL_INTENDED = "call.intended"  # call (id), step, tool, arguments, effect
    CALL_DONE = "call.done"  # call, ordinal, step, tool, result, ms, undoable, merged_into (an ordinal)
    CALL_FAILED = "call.failed"  # call, tool, error
    CALL_REFUSED = "call.refused"  # call, step, tool, arguments, effect, error (why it may not)
    CALL_INTERRUPTED = "call.interrupted"  # call, tool
    CALL_UNKNOWN = "call.unknown"  # call, tool: it may or may not have happened
    APPROVAL_NEEDED = "approval.needed"  # call, step, tool, arguments, effect
    APPROVAL_GIVEN = "approval.given"  # call, actor
    APPROVAL_DECLINED = "approval.declined"  # call, actor
    MODEL_CALLED = (
        "model.called"  # key, purpose, asked, model, finish, prompt_/cached_/output_tokens, seconds, cost
    )
    REPLY = "reply"  # text
    NOTICE = "notice"  # text: something the person should know
    CALL_UNDONE = "call.undone"  # call, by (the undo run)
    CONFLICT = "conflict"  # call, tool, reason
    TOKEN = "token"  # noqa: S105 - live only: text
    PROGRESS = "progress"  # live only: what, done, total


LIVE_ONLY = frozenset({EventType.TOKEN, EventType.PROGRESS})
"""Never written to the journal: a stream of pieces whose whole is written once, as `REPLY` or a result."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `seq` counts from 1 within a run; live events have the seq of the last stored one."""

    run: str
    seq: int
    type: EventType
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON."""
        return {
            "run": self.run,
            "seq": self.seq,
            "type": str(self.type),
            "at": None if self.at is None else self.at.isoformat(),
            **({"data": self.data} if self.data else {}),
        }
