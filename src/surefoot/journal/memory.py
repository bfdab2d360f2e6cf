"""The journal in this process only: for tests, and for programs that keep nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.events import Event
from surefoot.journal import memory_state as state
from surefoot.journal import rows
from surefoot.journal.codec import clean, dump, load, now
from surefoot.journal.finding import LAST, SHORTEST_ID, check_prefix, no_run_yet, only_one, shortest
from surefoot.journal.memory_state import Change, State
from surefoot.journal.said import body_of, conversation
from surefoot.journal.types import Body, Call, EventList, Finished, Memory, ModelCall, Run
from surefoot.storage.memories import rank
from surefoot.storage.words import query_words

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.storage.database import Database

T = TypeVar("T")


class MemoryJournal:
    """Implements `journal.types.Journal` without keeping anything.

    Args:
        database: where kits keep their rows. With one, bodies run in its transactions, and the entry is made when
            the transaction has committed; without one, bodies get None.
        clock: tells the time of entries; tests give their own.
    """

    def __init__(self, database: Database | None = None, clock: Callable[[], datetime] = now) -> None:
        self.database = database
        self._clock = clock
        self._state = State()
        self._lock = threading.RLock()

    # --- runs ------------------------------------------------------------------------------------------------

    async def create_run(self, run: Run, events: EventList = ()) -> Run:
        """Write a new run; StateError when its id is taken."""
        return await self._write(lambda change, _tx: state.create(change, run, events))

    async def run(self, run_id: str) -> Run:
        """By full id; NotFoundError."""
        with self._lock:
            return self._state.run(run_id)

    async def find_run(self, text: str) -> Run:
        """By id, unique prefix of at least 4, or `last`; NotFoundError, AmbiguousError."""
        wanted = text.strip().lower()
        with self._lock:
            newest_first = list(reversed(self._state.all_runs()))
        if wanted == LAST:
            if not newest_first:
                raise no_run_yet()
            return newest_first[0]
        exact = [run for run in newest_first if run.id == text.strip()]
        if exact:
            return exact[0]
        check_prefix(wanted)
        return only_one(wanted, [run for run in newest_first if run.id.startswith(wanted)])

    async def runs(self, *, limit: int = 50, kind: str | None = None, parent: str | None = None) -> list[Run]:
        """Newest first."""
        with self._lock:
            found = [
                run
                for run in reversed(self._state.all_runs())
                if kind in {None, run.kind} and parent in {None, run.parent}
            ]
        return found[:limit]

    async def short_id(self, run_id: str) -> str:
        """The shortest prefix (at least 4) that is unique now."""
        with self._lock:
            self._state.run(run_id)
            others = [other for other in self._state.runs if other != run_id]
        return shortest(run_id, [other for other in others if other[:SHORTEST_ID] == run_id[:SHORTEST_ID]])

    async def set_run(self, run: Run, events: EventList = ()) -> Run:
        """Write status and results; a final status stays, the fence must fit. At rest the lease is given back."""
        return await self._write(lambda change, _tx: state.set_run(change, run, events))

    async def end_turn(
        self,
        run: Run,
        events: EventList,
        *,
        dialogue: str,
        messages: list[dict[str, Any]],
        diary: Memory | None,
    ) -> Run:
        """Write a run's end, its messages and its diary entry at once."""

        def end(change: Change, _tx: Connection | None) -> Run:
            written = state.set_run(change, run, events)
            if dialogue:
                change.extend(self._state.messages, [(dialogue, dump(message)) for message in messages])
            if diary is not None:
                state.add_memory(change, diary)
            return written

        return await self._write(end)

    async def claim(self, run_id: str, owner: str) -> Run:
        """Take the lease: StateError when a living owner holds it. Raises the fence."""
        return await self._write(lambda change, _tx: state.claim(change, run_id, owner))

    async def release_dead(self) -> list[Run]:
        """Interrupt the active runs whose owner is gone, with their open calls; they are returned."""
        return await self._write(lambda change, _tx: state.release_dead(change))

    # --- calls -----------------------------------------------------------------------------------------------

    async def intend(
        self,
        call: Call,
        before: Body[Any] | None,
        events: EventList = (),
        *,
        fence: int = 0,
        durable: bool = False,
    ) -> Call:
        """Write the intent with its before-image. A key that is known keeps its ordinal; a done one is refused."""
        return await self._write(
            lambda change, tx: state.intend(change, tx, call, before, events, fence), durable=durable
        )

    async def finish(self, call: Call, body: Body[Finished] | None, *, fence: int = 0) -> Call:
        """Run the body and write what it returns, in one transaction. What it raises passes, and nothing is written."""
        return await self._write(lambda change, tx: state.finish(change, tx, call, body, fence))

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
        """`intend`, then `finish`; `body` gets the intended call. When it raises, the intent stays written."""
        intended = await self.intend(call, before, events, fence=fence, durable=durable)
        return await self.finish(intended, lambda tx: body(tx, intended), fence=fence)

    async def add_call(self, call: Call, events: EventList = (), *, fence: int = 0) -> Call:
        """Write a call that never starts or waits. Gives the ordinal."""
        return await self._write(lambda change, _tx: state.add_call(change, call, events, fence))

    async def set_call(self, call: Call, events: EventList = ()) -> Call:
        """Write a call's status and results as they stand."""
        return await self._write(lambda change, _tx: state.set_call(change, call, events))

    async def calls(self, run_id: str) -> list[Call]:
        """By ordinal."""
        with self._lock:
            return self._state.all_calls(run_id)

    async def call(self, run_id: str, key: str) -> Call | None:
        """The call under that key; None where there is none."""
        with self._lock:
            return self._state.call(run_id, key)

    # --- model calls, events ---------------------------------------------------------------------------------

    async def add_model_call(
        self,
        call: ModelCall,
        events: EventList = (),
        *,
        fence: int = 0,
        messages: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Write an answered model call and what was new in it; StateError when its key is answered already."""
        bodies = [body_of(message) for message in messages]
        await self._write(lambda change, _tx: state.add_model_call(change, call, events, fence, bodies))

    async def model_call(self, run_id: str, key: str) -> ModelCall | None:
        """The model call under that key; None where there is none."""
        with self._lock:
            found = self._state.model_calls.get(run_id, {}).get(key)
        return None if found is None else rows.model_call_of(found)

    async def model_calls(self, run_id: str) -> list[ModelCall]:
        """In the order they were answered."""
        with self._lock:
            found = list(self._state.model_calls.get(run_id, {}).values())
        return [rows.model_call_of(row) for row in found]

    async def run_messages(self, run_id: str, key: str = "") -> list[tuple[str, dict[str, Any]]]:
        """What was said to models and what they answered, in order, each with the key of its model call."""
        with self._lock:
            texts = self._state.said(run_id)
        calls = await self.model_calls(run_id)
        return conversation([call for call in calls if key in {"", call.key}], texts)

    async def append(self, run_id: str, events: EventList) -> None:
        """Write events that belong to no other write."""
        await self._write(lambda change, _tx: state.append(change, run_id, events))

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Those with a greater seq, in order."""
        with self._lock:
            found = self._state.events.get(run_id, [])[max(after, 0) :]
        return [rows.event_of(row) for row in found]

    # --- dialogues and memories ------------------------------------------------------------------------------

    async def add_messages(self, dialogue: str, run_id: str, messages: list[dict[str, Any]]) -> None:
        """Append messages to a dialogue."""
        del run_id  # nothing here is asked by the run a message came from
        entries = [(dialogue, dump(message)) for message in messages]
        await self._write(lambda change, _tx: change.extend(self._state.messages, entries))

    async def messages(self, dialogue: str, limit: int = 20) -> list[dict[str, Any]]:
        """The last of a dialogue, oldest first."""
        with self._lock:
            found = [data for name, data in self._state.messages if name == dialogue]
        return [load(data) for data in (found[-limit:] if limit > 0 else [])]

    async def last_dialogue(self) -> str:
        """Id of the dialogue that was written to last; empty when there is none."""
        with self._lock:
            return self._state.messages[-1][0] if self._state.messages else ""

    async def add_memory(self, memory: Memory) -> None:
        """Keep a fact or a turn."""
        await self._write(lambda change, _tx: state.add_memory(change, memory))

    async def mark_memories(self, run_id: str, *, undone: bool) -> None:
        """Mark what a run remembered as taken back, or as valid again."""

        def mark(change: Change, _tx: Connection | None) -> None:
            for key, row in self._state.memories.items():
                if row.run == run_id:
                    change.put(self._state.memories, key, replace(row, undone=undone))

        await self._write(mark)

    async def search_memories(self, text: str, limit: int = 8) -> list[Memory]:
        """Full text, best first; facts before diary among equals; undone ones left out."""
        with self._lock:
            valid = [row for row in self._state.memories.values() if not row.undone]
        found = rank(query_words(clean(text)), valid)
        return [rows.memory_of(row) for row in found[: max(limit, 0)]]

    # --- the database ----------------------------------------------------------------------------------------

    async def transact(self, fn: Body[T]) -> T:
        """Run `fn(tx)` in one transaction of the database; with None where there is none."""
        if self.database is None:
            return fn(None)
        return await self.database.write(fn)

    async def close(self) -> None:
        """Nothing to let go of; the database belongs to who opened it."""

    async def _write(self, fn: Callable[[Change, Connection | None], T], *, durable: bool = False) -> T:
        """Run `fn` on a draft of changes, and make them when it returned and its transaction has committed."""
        if self.database is None:
            return self._attempt(fn)
        change = Change(self._state, self._clock())
        return await self.database.write(
            lambda tx: fn(change, tx), durable=durable, committed=lambda: self._make(change)
        )

    def _attempt(self, fn: Callable[[Change, Connection | None], T]) -> T:
        with self._lock:
            change = Change(self._state, self._clock())
            result = fn(change, None)
            change.make()
            return result

    def _make(self, change: Change) -> None:
        with self._lock:
            change.make()
