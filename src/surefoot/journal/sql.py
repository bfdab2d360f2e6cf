"""The journal in a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.events import Event
from surefoot.journal import rows, sql_calls, sql_runs
from surefoot.journal import statements as sql
from surefoot.journal.codec import clean, load, now
from surefoot.journal.lease import Heart
from surefoot.journal.said import body_of
from surefoot.journal.types import ACTIVE, Body, Call, EventList, Finished, Memory, ModelCall, Run
from surefoot.storage import memories

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.storage.database import Database

T = TypeVar("T")


class SqlJournal:
    """Implements `journal.types.Journal` on a `Database`, which it does not own: close the database yourself.

    Args:
        database: where it is kept.
        clock: tells the time of entries; tests give their own.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = now) -> None:
        self.database = database
        self._clock = clock
        self._heart = Heart(self._beat)

    # --- runs ------------------------------------------------------------------------------------------------

    async def create_run(self, run: Run, events: EventList = ()) -> Run:
        """Write a new run; StateError when its id is taken."""
        run = await self._write(lambda tx: sql_runs.create(tx, run, events, self._clock()))
        if run.owner:
            self._heart.hold(run.id, run.fence)
        return run

    async def run(self, run_id: str) -> Run:
        """By full id; NotFoundError."""
        return await self._read(lambda tx: sql_runs.get(tx, run_id))

    async def find_run(self, text: str) -> Run:
        """By id, unique prefix of at least 4, or `last`; NotFoundError, AmbiguousError."""
        return await self._read(lambda tx: sql_runs.find(tx, text))

    async def runs(self, *, limit: int = 50, kind: str | None = None, parent: str | None = None) -> list[Run]:
        """Newest first."""
        return await self._read(lambda tx: sql_runs.newest(tx, limit, kind, parent))

    async def short_id(self, run_id: str) -> str:
        """The shortest prefix (at least 4) that is unique now."""
        return await self._read(lambda tx: sql_runs.short_id(tx, run_id))

    async def set_run(self, run: Run, events: EventList = ()) -> Run:
        """Write status and results; a final status stays, the fence must fit. At rest the lease is given back."""
        written = await self._write(lambda tx: sql_runs.change(tx, run, events, self._clock()))
        if written.status not in ACTIVE:
            self._heart.drop(run.id)
        return written

    async def end_turn(
        self,
        run: Run,
        events: EventList,
        *,
        dialogue: str,
        messages: list[dict[str, Any]],
        diary: Memory | None,
    ) -> Run:
        """Write a run's end, its messages and its diary entry in one transaction."""

        def end(tx: Connection) -> Run:
            at = self._clock()
            written = sql_runs.change(tx, run, events, at)
            sql_calls.add_messages(tx, dialogue, run.id, messages if dialogue else [], at)
            if diary is not None:
                sql_calls.add_memory(tx, diary, at)
            return written

        written = await self._write(end)
        if written.status not in ACTIVE:
            self._heart.drop(run.id)
        return written

    async def claim(self, run_id: str, owner: str) -> Run:
        """Take the lease: StateError when a living owner holds it. Raises the fence."""
        run = await self._write(lambda tx: sql_runs.claim(tx, run_id, owner, self._clock()))
        self._heart.hold(run.id, run.fence)
        return run

    async def release_dead(self) -> list[Run]:
        """Interrupt the active runs whose owner is gone, with their open calls; they are returned."""
        return await self._write(lambda tx: sql_runs.release_dead(tx, self._clock()))

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
            lambda tx: sql_calls.intend(tx, call, before, events, fence, self._clock()), durable=durable
        )

    async def finish(self, call: Call, body: Body[Finished] | None, *, fence: int = 0) -> Call:
        """Run the body and write what it returns, in one transaction. What it raises passes, and nothing is written."""
        return await self._write(lambda tx: sql_calls.finish(tx, call, body, fence, self._clock()))

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
        """`intend`, then `finish`, in one visit to the writer thread; `body` gets the intended call.

        When the body raises, the intent stays written and the error passes unchanged.
        """

        def end(tx: Connection, intended: Call) -> Call:
            return sql_calls.finish(
                tx, intended, lambda open_tx: body(open_tx, intended), fence, self._clock()
            )

        return await self.database.write_twice(
            lambda tx: sql_calls.intend(tx, call, before, events, fence, self._clock()), end, durable=durable
        )

    async def add_call(self, call: Call, events: EventList = (), *, fence: int = 0) -> Call:
        """Write a call that never starts or waits. Gives the ordinal."""
        return await self._write(lambda tx: sql_calls.add(tx, call, events, fence, self._clock()))

    async def set_call(self, call: Call, events: EventList = ()) -> Call:
        """Write a call's status and results as they stand."""
        return await self._write(lambda tx: sql_calls.change(tx, call, events, self._clock()))

    async def calls(self, run_id: str) -> list[Call]:
        """By ordinal."""
        found = await self._read(lambda tx: sql.CALLS.rows(tx, of_run=run_id))
        return [rows.call_of(row) for row in found]

    async def call(self, run_id: str, key: str) -> Call | None:
        """The call under that key; None where there is none."""
        found = await self._read(lambda tx: sql.CALL_BY_KEY.row(tx, of_run=run_id, of_key=key))
        return None if found is None else rows.call_of(found)

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
        await self._write(lambda tx: sql_calls.add_model_call(tx, call, events, fence, self._clock(), bodies))

    async def model_call(self, run_id: str, key: str) -> ModelCall | None:
        """The model call under that key; None where there is none."""
        found = await self._read(lambda tx: sql.MODEL_CALL_BY_KEY.row(tx, of_run=run_id, of_key=key))
        return None if found is None else rows.model_call_of(found)

    async def model_calls(self, run_id: str) -> list[ModelCall]:
        """In the order they were answered."""
        found = await self._read(lambda tx: sql.MODEL_CALLS.rows(tx, of_run=run_id))
        return [rows.model_call_of(row) for row in found]

    async def run_messages(self, run_id: str, key: str = "") -> list[tuple[str, dict[str, Any]]]:
        """What was said to models and what they answered, in order, each with the key of its model call."""
        return await self._read(lambda tx: sql_calls.conversation(tx, run_id, key))

    async def append(self, run_id: str, events: EventList) -> None:
        """Write events that belong to no other write."""
        await self._write(lambda tx: sql_calls.append(tx, run_id, events, self._clock()))

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Those with a greater seq, in order."""
        found = await self._read(lambda tx: sql.EVENTS.rows(tx, of_run=run_id, after=after))
        return [rows.event_of(row) for row in found]

    # --- dialogues and memories ------------------------------------------------------------------------------

    async def add_messages(self, dialogue: str, run_id: str, messages: list[dict[str, Any]]) -> None:
        """Append messages to a dialogue."""
        await self._write(lambda tx: sql_calls.add_messages(tx, dialogue, run_id, messages, self._clock()))

    async def messages(self, dialogue: str, limit: int = 20) -> list[dict[str, Any]]:
        """The last of a dialogue, oldest first."""
        found = await self._read(lambda tx: sql.MESSAGES.rows(tx, of_dialogue=dialogue, most=limit))
        return [load(row[0]) for row in reversed(found)]

    async def last_dialogue(self) -> str:
        """Id of the dialogue that was written to last; empty when there is none."""
        found = await self._read(sql.LAST_DIALOGUE.row)
        return "" if found is None else str(found[0])

    async def add_memory(self, memory: Memory) -> None:
        """Keep a fact or a turn; StateError when its id is taken."""
        await self._write(lambda tx: sql_calls.add_memory(tx, memory, self._clock()))

    async def mark_memories(self, run_id: str, *, undone: bool) -> None:
        """Mark what a run remembered as taken back, or as valid again."""
        await self._write(lambda tx: memories.mark(tx, run_id, undone=undone))

    async def search_memories(self, text: str, limit: int = 8) -> list[Memory]:
        """Full text, best first; facts before diary among equals; undone ones left out."""
        found = await self._read(lambda tx: memories.search(tx, clean(text), limit))
        return [rows.memory_of(row) for row in found]

    # --- the database ----------------------------------------------------------------------------------------

    async def transact(self, fn: Body[T]) -> T:
        """Run `fn(tx)` on the writer in one transaction."""
        return await self._write(fn)

    async def close(self) -> None:
        """Stop the signs of life. The database stays open: who opened it closes it."""
        import asyncio

        await asyncio.to_thread(self._heart.close)

    async def _write(self, fn: Callable[[Connection], T], *, durable: bool = False) -> T:
        return await self.database.write(fn, durable=durable)

    async def _read(self, fn: Callable[[Connection], T]) -> T:
        return await self.database.read(fn)

    def _beat(self, held: dict[str, int]) -> list[str]:
        return self.database.write_sync(lambda tx: sql_runs.beat(tx, held, self._clock()))
