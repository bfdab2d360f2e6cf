"""Who listens to a run while it is worked on: stored events from the journal, live ones as they come, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from surefoot import redaction
from surefoot.events import Event, EventType
from surefoot.journal.types import Journal


class Listeners:
    """Live listeners of a run. A live event comes behind all that was stored before it, and in front of the rest."""

    def __init__(self, journal: Journal, run_id: str) -> None:
        self._journal = journal
        self._run = run_id
        self._queues: set[asyncio.Queue[Event | int | None]] = set()
        self._ended = False
        self.last = 0
        """Seq of the last stored event that was told. A run that is taken up again begins where it was left."""

    def stored(self, count: int) -> None:
        """`count` more events are in the journal."""
        self.last += count
        for queue in self._queues:
            queue.put_nowait(self.last)

    def live(self, type_: EventType, data: dict[str, Any]) -> None:
        """An event that is not kept."""
        event = Event(self._run, self.last, type_, redaction.redact_json(data))
        for queue in self._queues:
            queue.put_nowait(event)

    def end(self) -> None:
        """No more will come."""
        self._ended = True
        for queue in self._queues:
            queue.put_nowait(None)

    async def listen(self) -> AsyncIterator[Event]:
        """Every event of the run from its first on, until it rests (is final, or waits for a person)."""
        queue: asyncio.Queue[Event | int | None] = asyncio.Queue()
        self._queues.add(queue)
        queue.put_nowait(self.last)  # told before anybody listened
        if self._ended:
            queue.put_nowait(None)
        seen = 0
        try:
            while (item := await queue.get()) is not None:
                if isinstance(item, Event):
                    yield item
                elif item > seen:
                    for event in await self._between(seen, item):
                        seen = event.seq
                        yield event
            for event in await self._journal.events(self._run, seen):
                yield event
        finally:
            self._queues.discard(queue)

    async def _between(self, seen: int, last: int) -> list[Event]:
        return [event for event in await self._journal.events(self._run, seen) if event.seq <= last]
