"""What `MemoryJournal` holds, and the changes it knows. Entries are the column values the database would get."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from surefoot.events import EventType
from surefoot.journal import rows, rules, said
from surefoot.journal.codec import dump, time_text
from surefoot.journal.finding import no_call, no_run
from surefoot.journal.lease import holder_lives
from surefoot.journal.types import (
    ACTIVE,
    Body,
    Call,
    CallStatus,
    EventList,
    Finished,
    Memory,
    ModelCall,
    Run,
    RunStatus,
)
from surefoot.storage.memories import MemoryRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = tuple[Any, ...]

_STATUS, _FENCE = (rows.RUN_COLUMNS.index(name) for name in ("status", "fence"))
_call_row = itemgetter(*rows.CALL_COLUMNS)


@dataclass
class State:
    """All that is known, by run and key, in the order it was written."""

    runs: dict[str, Row] = field(default_factory=dict)
    heartbeats: dict[str, datetime] = field(default_factory=dict)
    calls: dict[str, dict[str, Row]] = field(default_factory=dict)
    model_calls: dict[str, dict[str, Row]] = field(default_factory=dict)
    run_messages: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Hashes by run and model call."""
    bodies: dict[str, str] = field(default_factory=dict)
    events: dict[str, list[Row]] = field(default_factory=dict)
    messages: list[tuple[str, str]] = field(default_factory=list)
    memories: dict[str, MemoryRow] = field(default_factory=dict)

    def run(self, run_id: str) -> Run:
        """By full id; NotFoundError."""
        if run_id not in self.runs:
            raise no_run(run_id)
        return rows.run_of(self.runs[run_id])

    def standing(self, run_id: str) -> tuple[RunStatus, int]:
        """Status and fence of a run, the rest of its row unread: every write asks for them; NotFoundError."""
        row = self.runs.get(run_id)
        if row is None:
            raise no_run(run_id)
        return RunStatus(row[_STATUS]), row[_FENCE]

    def all_runs(self) -> list[Run]:
        """Oldest first."""
        return [rows.run_of(row) for row in self.runs.values()]

    def call(self, run_id: str, key: str) -> Call | None:
        """The call under that key."""
        found = self.calls.get(run_id, {}).get(key)
        return None if found is None else rows.call_of(found)

    def all_calls(self, run_id: str) -> list[Call]:
        """By ordinal: calls are kept in the order they were first written."""
        return [rows.call_of(row) for row in self.calls.get(run_id, {}).values()]

    def said(self, run_id: str) -> list[tuple[str, str]]:
        """`(key, body)` of the messages of a run's model calls."""
        keys = self.model_calls.get(run_id, {})
        return [(key, self.bodies[one]) for key in keys for one in self.run_messages.get((run_id, key), ())]


class Change:
    """Changes to be made together, or not at all: until `make` the state stays as it is."""

    def __init__(self, state: State, at: datetime) -> None:
        self.state = state
        self.at = at
        self._steps: list[Callable[[], None]] = []
        self._new_events: dict[str, int] = {}

    def put(self, into: dict[Any, Any], key: Hashable, value: Any) -> None:
        """Set an entry."""
        self._steps.append(lambda: into.__setitem__(key, value))

    def extend(self, into: list[Any], entries: list[Any]) -> None:
        """Append entries."""
        self._steps.append(lambda: into.extend(entries))

    def events(self, run_id: str, events: EventList) -> None:
        """Append events of a run."""
        rules.check_events(events)
        known = self.state.events.setdefault(run_id, [])
        first = len(known) + self._new_events.get(run_id, 0) + 1
        self._new_events[run_id] = self._new_events.get(run_id, 0) + len(events)
        moment = time_text(self.at)
        entries = [
            (run_id, first + number, str(type_), dump(data), moment)
            for number, (type_, data) in enumerate(events)
        ]
        self.extend(known, entries)

    def run(self, run: Run) -> None:
        """Write a run."""
        values = rows.run_values(run)
        self.put(self.state.runs, run.id, tuple(values[name] for name in rows.RUN_COLUMNS))

    def call(self, call: Call) -> None:
        """Write a call."""
        self.put(self.state.calls.setdefault(call.run, {}), call.key, _call_row(rows.call_values(call)))

    def call_end(self, call: Call) -> None:
        """Write what the end of a call may change; the rest of its row stays as it is."""
        known = self.state.calls[call.run]
        values = dict(zip(rows.CALL_COLUMNS, known[call.key], strict=True))
        self.put(known, call.key, _call_row({**values, **rows.call_result(call)}))

    def make(self) -> None:
        """Make them."""
        for step in self._steps:
            step()


# --- runs ----------------------------------------------------------------------------------------------------


def create(change: Change, run: Run, events: EventList) -> Run:
    """Write a new run; its id must be new."""
    if run.id in change.state.runs:
        raise rules.run_exists(run.id)
    at = change.at
    run = run.with_(
        created_at=run.created_at or at, updated_at=at, fence=max(run.fence, int(bool(run.owner)))
    )
    change.run(run)
    change.put(change.state.heartbeats, run.id, at)
    change.events(run.id, events)
    return run


def set_run(change: Change, run: Run, events: EventList) -> Run:
    """Write a run's status and results. At rest, nobody holds it."""
    old = change.state.run(run.id)
    rules.check_fence(run.id, old.fence, run.fence)
    rules.check_run_move(run.id, old.status, run.status)
    results = {name: getattr(run, name) for name in rows.RUN_RESULT}
    kept = old.with_(**results).with_(updated_at=change.at, owner=old.owner if run.status in ACTIVE else "")
    change.run(kept)
    change.events(run.id, events)
    return kept


def claim(change: Change, run_id: str, owner: str) -> Run:
    """Take the lease. A run that its dead owner left active is closed first."""
    run = change.state.run(run_id)
    rules.check_lease_free(run_id, run.status, run.owner, owner, alive=_lives(change, run))
    if run.owner not in {"", owner} and run.status in ACTIVE:
        run = _interrupt(change, run)
    run = run.with_(owner=owner, fence=run.fence + 1, updated_at=change.at)
    change.run(run)
    change.put(change.state.heartbeats, run_id, change.at)
    return run


def release_dead(change: Change) -> list[Run]:
    """Interrupt every active run whose owner is gone."""
    leased = [run for run in change.state.all_runs() if run.status in ACTIVE and run.owner]
    return [_interrupt(change, run) for run in leased if not _lives(change, run)]


def _lives(change: Change, run: Run) -> bool:
    return bool(run.owner) and holder_lives(run.owner, change.state.heartbeats.get(run.id), change.at)


def _interrupt(change: Change, run: Run) -> Run:
    run = run.with_(status=RunStatus.INTERRUPTED, owner="", fence=run.fence + 1, updated_at=change.at)
    change.run(run)
    events: EventList = [(EventType.RUN_STATUS, {"status": str(run.status)})]
    for call in change.state.all_calls(run.id):
        if call.status is CallStatus.INTENDED:
            status = rules.abandoned(call.effect)
            change.call(call.with_(status=status, finished_at=change.at))
            events = [*events, rules.abandoned_event(status, call.id, call.tool)]
    change.events(run.id, events)
    return run


# --- calls ---------------------------------------------------------------------------------------------------


def intend(
    change: Change,
    tx: Connection | None,
    call: Call,
    before: Body[object] | None,
    events: EventList,
    fence: int,
) -> Call:
    """Write the intent of a call, new or taken up again."""
    call = call.with_(status=CallStatus.INTENDED, started_at=call.started_at or change.at)
    known = _check_write(change, call, fence)
    if before is not None:
        call = call.with_(before=before(tx))
    return _put(change, call, known, events)


def add_call(change: Change, call: Call, events: EventList, fence: int) -> Call:
    """Write a call that never starts, or waits."""
    return _put(change, call, _check_write(change, call, fence), events)


def _check_write(change: Change, call: Call, fence: int) -> Call | None:
    status, held = change.state.standing(call.run)
    rules.check_fence(call.run, held, fence)
    rules.check_begin(call.run, status)
    known = change.state.call(call.run, call.key)
    if known is not None:
        rules.check_call_move(call.run, call.key, known.status, call.status, known.effect)
    return known


def _put(change: Change, call: Call, known: Call | None, events: EventList) -> Call:
    ordinal = known.ordinal if known else len(change.state.calls.get(call.run, {})) + 1
    call = call.with_(ordinal=ordinal)
    change.call(call)
    change.events(call.run, rules.with_ordinal(events, ordinal))
    return call


def finish(
    change: Change, tx: Connection | None, call: Call, body: Body[Finished] | None, fence: int
) -> Call:
    """Run the body and write what it returns; before it runs, it is sure that it may."""
    rules.check_fence(call.run, change.state.standing(call.run)[1], fence)
    known = _known(change, call)
    rules.check_finish(call.run, call.key, known.status)
    finished = Finished(call) if body is None else body(tx)
    return _end(change, finished.call, known, finished.events)


def set_call(change: Change, call: Call, events: EventList) -> Call:
    """Write a call's status and results as they stand."""
    change.state.standing(call.run)
    return _end(change, call, _known(change, call), events)


def _known(change: Change, call: Call) -> Call:
    known = change.state.call(call.run, call.key)
    if known is None:
        raise no_call(call.run, call.key)
    return known


def _end(change: Change, call: Call, known: Call, events: EventList) -> Call:
    rules.check_call_move(call.run, call.key, known.status, call.status, known.effect)
    change.call_end(call)
    change.events(call.run, rules.with_ordinal(events, known.ordinal))
    return call.with_(ordinal=known.ordinal)


# --- the rest ------------------------------------------------------------------------------------------------


def add_model_call(
    change: Change, call: ModelCall, events: EventList, fence: int, bodies: list[said.Body]
) -> None:
    """Write an answered model call with the messages that were new in it; its key is answered once."""
    rules.check_fence(call.run, change.state.standing(call.run)[1], fence)
    known = change.state.model_calls.setdefault(call.run, {})
    if call.key in known:
        raise rules.answered(call.run, call.key)
    at = time_text(call.at or change.at)
    change.put(known, call.key, (call.run, call.key, call.purpose, call.model, dump(call.completion), at))
    for body in bodies:
        change.put(change.state.bodies, body.hash, body.text)
    change.put(change.state.run_messages, (call.run, call.key), [body.hash for body in bodies])
    change.events(call.run, events)


def append(change: Change, run_id: str, events: EventList) -> None:
    """Append events to a run."""
    change.state.run(run_id)
    change.events(run_id, events)


def add_memory(change: Change, memory: Memory) -> None:
    """Keep a fact or a turn; its id must be new."""
    if memory.id in change.state.memories:
        raise rules.memory_exists(memory.id)
    change.put(change.state.memories, memory.id, rows.memory_values(memory, change.at))
