"""What the journal keeps: runs, calls, model calls, messages, memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from surefoot.events import Event, EventType
from surefoot.tools.types import Actor, Effect

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class RunStatus(StrEnum):
    """One state machine for every run (docs/decisions/0001)."""

    QUEUED = "queued"
    PLANNING = "planning"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    NEEDS_PLAN = "needs_plan"
    NEEDS_INPUT = "needs_input"
    NEEDS_APPROVAL = "needs_approval"
    NEEDS_HUMAN = "needs_human"
    CHECKPOINT = "checkpoint"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED})
ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.PLANNING, RunStatus.RUNNING})
"""Somebody must be working on it: an expired lease in one of these means `interrupted`."""


class CallStatus(StrEnum):
    """What became of one tool call."""

    INTENDED = "intended"  # written down, not known to have ended
    WAITING = "waiting"  # needs approval
    APPROVED = "approved"  # a person agreed to exactly this; it has not started
    DONE = "done"
    FAILED = "failed"  # the tool said no, or raised
    REFUSED = "refused"  # policy, budget, arguments: it never started
    DECLINED = "declined"  # the person said no
    INTERRUPTED = "interrupted"  # it is known not to have had its effect
    UNKNOWN = "unknown"  # it may have had its effect


@lru_cache(maxsize=8)
def _layout(kind: type[Any]) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]:
    names = [item.name for item in fields(kind)]
    return attrgetter(*names), {name: index for index, name in enumerate(names)}


def _changed(record: R, changes: dict[str, Any]) -> R:
    """`dataclasses.replace` for records without init-only fields, in half the time: every tool call makes several."""
    kind: Any = type(record)  # `type` is hashable, and mypy does not know it
    get, places = _layout(kind)
    values = list(get(record))
    for name, value in changes.items():
        values[places[name]] = value
    made: R = kind(*values)
    return made


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a goal.

    `context` is JSON: what a resumed run needs to repeat itself (`now`, `zone`, `language`, `model`, `dialogue`, and
    what the kind of run adds). `kind` is `ask`, `undo` or `redo`; `parent` is the run an undo takes back. `fence` grows
    with every lease: a write under an older one is refused.
    """

    id: str
    goal: str
    kind: str = "ask"
    status: RunStatus = RunStatus.QUEUED
    actor: Actor = Actor()
    context: dict[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    reply: str = ""
    incomplete: bool = False
    stopped_by: str = ""
    error: dict[str, Any] | None = None
    parent: str = ""
    owner: str = ""
    fence: int = 0

    def with_(self, **changes: Any) -> Run:
        """A copy with these fields changed."""
        return _changed(self, changes)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a run. `key` is its place in the run, the same again on resume (`step.2`, `step.3/0`).

    `ordinal` counts the run's calls from 1 and is what a person sees. `before` and `after` are images as the tool's
    `Undo.capture` returned them; None where there is none. `undone_by` is the undo run that took it back.
    """

    run: str
    key: str
    ordinal: int
    id: str
    tool: str
    arguments: dict[str, Any]
    effect: Effect
    actor: Actor = Actor()
    status: CallStatus = CallStatus.INTENDED
    step: int = 0
    undo_version: int = 0
    """Version of the tool's undo when the call was made; 0 where it has none."""
    before: Any = None
    after: Any = None
    result: Any = None
    error: dict[str, Any] | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    undone_by: str = ""

    @property
    def undoable(self) -> bool:
        """It changed something that can be taken back, and has not been."""
        return self.status is CallStatus.DONE and self.undo_version > 0 and not self.undone_by

    def with_(self, **changes: Any) -> Call:
        """A copy with these fields changed."""
        return _changed(self, changes)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answered model call. `completion` is `Completion.to_dict()`, redacted; usage stands in it."""

    run: str
    key: str
    purpose: str
    model: str
    completion: dict[str, Any]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A remembered fact (`fact`) or a turn of a past conversation (`diary`). `run` is where it comes from."""

    id: str
    kind: str
    text: str
    run: str = ""
    at: datetime | None = None
    undone: bool = False


class Journal(Protocol):
    """What happened, in order, durable before it is reported.

    Every method that writes takes events to append in the same transaction (`(type, data)` pairs), returns once it is
    committed, and raises `StorageError` where that fails and `StateError` where the run's state or fence forbids it.
    Texts are redacted on the way in.
    """

    async def create_run(self, run: Run, events: EventList = ()) -> Run:
        """Write a new run; StateError when its id is taken. An `owner` given holds it from the start."""
        ...

    async def run(self, run_id: str) -> Run:
        """By full id; NotFoundError."""
        ...

    async def find_run(self, text: str) -> Run:
        """By id, unique prefix of at least 4, or `last`; NotFoundError, AmbiguousError."""
        ...

    async def runs(self, *, limit: int = 50, kind: str | None = None, parent: str | None = None) -> list[Run]:
        """Newest first."""
        ...

    async def short_id(self, run_id: str) -> str:
        """The shortest prefix (at least 4) that is unique now."""
        ...

    async def set_run(self, run: Run, events: EventList = ()) -> Run:
        """Write status and results of a run; a final status never changes again (StateError), the fence must fit."""
        ...

    async def end_turn(
        self,
        run: Run,
        events: EventList,
        *,
        dialogue: str,
        messages: list[dict[str, Any]],
        diary: Memory | None,
    ) -> Run:
        """`set_run`, the turn's messages (none without a dialogue) and its diary entry (if any), in one transaction.

        A crash leaves all of it or nothing, so a resumed run never tells its turn twice.
        """
        ...

    async def claim(self, run_id: str, owner: str) -> Run:
        """Take the lease: StateError when a living owner holds it. Raises the fence."""
        ...

    async def release_dead(self) -> list[Run]:
        """Runs that are active under an owner that is gone become `interrupted`; they are returned."""
        ...

    async def intend(
        self,
        call: Call,
        before: Body[Any] | None,
        events: EventList = (),
        *,
        fence: int = 0,
        durable: bool = False,
    ) -> Call:
        """Write the intent with its before-image (`before(tx)`).

        Gives the ordinal, to the call and to `CALL_INTENDED` in `events`; a call taken up again keeps the one it has.
        StateError when the run has ended, when the call is done or declined, and when it is external and may have
        happened. `durable`: on the disk, not only in the operating system.
        """
        ...

    async def finish(self, call: Call, body: Body[Finished] | None, *, fence: int = 0) -> Call:
        """Run `body(tx)` and write what it returns, in one transaction; without a body write `call` as it stands."""
        ...

    async def perform(
        self,
        call: Call,
        before: Body[Any] | None,
        events: EventList,
        body: Callable[[Connection | None, Call], Finished],
        *,
        fence: int = 0,
        durable: bool = False,
    ) -> Call:
        """`intend`, then `finish`, as two transactions in one visit to the writer thread: for tools that run there.

        `body(tx, intended)` gets the intended call. When it raises, the intent stays written and the error passes
        unchanged: what became of the call is still to be written (`finish` without a body).
        """
        ...

    async def add_call(self, call: Call, events: EventList = (), *, fence: int = 0) -> Call:
        """Write a call that never starts or waits: refused, waiting, merged. Gives the ordinal."""
        ...

    async def set_call(self, call: Call, events: EventList = ()) -> Call:
        """Write a call's status and results as they stand; NotFoundError, and StateError where they may not follow."""
        ...

    async def calls(self, run_id: str) -> list[Call]:
        """By ordinal."""
        ...

    async def call(self, run_id: str, key: str) -> Call | None:
        """The call under that key; None where there is none."""
        ...

    async def add_model_call(
        self,
        call: ModelCall,
        events: EventList = (),
        *,
        fence: int = 0,
        messages: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Write an answered model call; StateError when its key is answered already.

        `messages` (`Message.to_dict`) are those that no earlier call of the run has kept; equal ones are stored once.
        """
        ...

    async def model_call(self, run_id: str, key: str) -> ModelCall | None:
        """The model call under that key; None where there is none."""
        ...

    async def model_calls(self, run_id: str) -> list[ModelCall]:
        """In the order they were answered."""
        ...

    async def run_messages(self, run_id: str, key: str = "") -> list[tuple[str, dict[str, Any]]]:
        """What was said to models and what they answered, in order, each with the key of its model call.

        The last message of each key is the answer. With `key`, those of one call. A call of before messages were kept
        has its answer only.
        """
        ...

    async def append(self, run_id: str, events: EventList) -> None:
        """Write events that belong to no other write. MisuseError for those of `LIVE_ONLY`, here and everywhere."""
        ...

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Those with a greater seq, in order."""
        ...

    async def add_messages(self, dialogue: str, run_id: str, messages: list[dict[str, Any]]) -> None:
        """Append messages (`Message.to_dict`) to a dialogue."""
        ...

    async def messages(self, dialogue: str, limit: int = 20) -> list[dict[str, Any]]:
        """The last of a dialogue, oldest first."""
        ...

    async def last_dialogue(self) -> str:
        """Id of the dialogue that was written to last; empty when there is none."""
        ...

    async def add_memory(self, memory: Memory) -> None:
        """Keep a fact or a turn; StateError when its id is taken."""
        ...

    async def mark_memories(self, run_id: str, *, undone: bool) -> None:
        """Mark what a run remembered as taken back, or as valid again."""
        ...

    async def search_memories(self, text: str, limit: int = 8) -> list[Memory]:
        """Full text, best first; remembered facts before diary among equals; undone ones left out."""
        ...

    async def transact(self, fn: Body[T]) -> T:
        """Run `fn(tx)` on the writer in one transaction, for work that is no call (undo's look at the state)."""
        ...

    async def close(self) -> None:
        """Let go of what the journal holds; the database belongs to who opened it. Again: nothing happens."""
        ...


EventList = list[tuple[EventType, dict[str, Any]]] | tuple[()]


class Body(Protocol[T_co]):
    """Runs inside the transaction; None where the journal has no database behind it."""

    def __call__(self, tx: Connection | None) -> T_co:
        """Do it; `tx` is the open transaction."""
        ...


@dataclass(frozen=True, slots=True)
class Finished:
    """What a call came to: the call as it is to be written, and its events."""

    call: Call
    events: EventList = ()
