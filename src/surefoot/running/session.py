"""One run while it is being worked on: its state, its clock, what it may use, and who listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from surefoot import redaction
from surefoot.events import Event, EventType
from surefoot.journal.types import Call, EventList, Journal, Memory, ModelCall, Run, RunStatus
from surefoot.models.types import Usage
from surefoot.running.budget import Budget
from surefoot.running.policy import Decision
from surefoot.running.steps import JournalSteps, Steps
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Context


class Listeners:
    """Live listeners of a run. Each gets stored events from the journal and live ones as they come, in order."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._queues: set[asyncio.Queue[Event | int | None]] = set()
        self._ended = False

    def stored(self, count: int) -> None:
        """`count` more events are in the journal."""
        for queue in self._queues:
            queue.put_nowait(count)

    def live(self, event: Event) -> None:
        """An event that is not kept."""
        for queue in self._queues:
            queue.put_nowait(event)

    def end(self) -> None:
        """No more will come."""
        self._ended = True
        for queue in self._queues:
            queue.put_nowait(None)

    async def listen(self, run_id: str) -> AsyncIterator[Event]:
        """Every event of the run from its first on, until it rests (is final, or waits for a person)."""
        queue: asyncio.Queue[Event | int | None] = asyncio.Queue()
        self._queues.add(queue)
        if self._ended:
            queue.put_nowait(None)
        last = 0
        try:
            for event in await self._journal.events(run_id):  # told before anybody listened
                last = event.seq
                yield event
            while (item := await queue.get()) is not None:
                if isinstance(item, Event):
                    yield item
                    continue
                for event in (await self._journal.events(run_id, last))[:item]:
                    last = event.seq
                    yield event
            for event in await self._journal.events(run_id, last):
                yield event
        finally:
            self._queues.discard(queue)


@dataclass
class Session:
    """A run in work. One event loop uses it; everything in it that must survive is in the journal."""

    run: Run
    journal: Journal
    catalogue: Catalogue
    settings: Settings
    budget: Budget
    policy: Mapping[str, Decision] = field(default_factory=dict)
    services: Mapping[str, Any] = field(default_factory=dict)
    steps: Steps = field(default_factory=JournalSteps)
    known_calls: dict[str, Call] = field(default_factory=dict)
    known_model_calls: dict[str, ModelCall] = field(default_factory=dict)
    usage: Usage = Usage()
    model_calls: int = 0

    def __post_init__(self) -> None:
        self.listeners = Listeners(self.journal)

    @cached_property
    def now(self) -> datetime:
        """The run's clock: frozen at its start, in the person's zone."""
        return datetime.fromisoformat(self.run.context["now"]).astimezone(ZoneInfo(self.run.context["zone"]))

    def tool_context(self, key: str) -> Context:
        """What a tool gets to know, for the call under this key."""
        return Context(
            run=self.run.id,
            call=key,
            actor=self.run.actor,
            now=self.now,
            zone=self.run.context["zone"],
            language=self.run.context["language"],
            settings=self.settings,
            services=self.services,
        )

    async def load(self) -> None:
        """For a run taken up again: know what it did, and count it."""
        for call in await self.journal.calls(self.run.id):
            self.known_calls[call.key] = call
            if call.started_at is not None and call.tool in self.catalogue:
                self.budget.recall_call(self.catalogue.get(call.tool))
        for model_call in await self.journal.model_calls(self.run.id):
            self.known_model_calls[model_call.key] = model_call
            self.count(Usage(**model_call.completion["usage"]), recalled=True)

    def count(self, usage: Usage, *, recalled: bool = False) -> None:
        """Count an answered model call into the run's usage and budget."""
        self.usage += usage
        self.model_calls += 1
        if recalled:
            self.budget.recall_model_call(usage)
        else:
            self.budget.add_usage(usage)

    async def set(self, **changes: Any) -> None:  # noqa: ANN401 - any field's value
        """Write changed fields of the run; a change of status is an event."""
        events: EventList = ()
        if "status" in changes:
            data = {"status": str(changes["status"])}
            data |= {key: value for key, value in changes.items() if key != "status" and value}
            events = [(EventType.RUN_STATUS, data)]
        self.run = await self.journal.set_run(self.run.with_(**changes), events)
        self.told(events)

    async def tell(self, *events: tuple[EventType, dict[str, Any]]) -> None:
        """Write events that belong to no other write."""
        await self.journal.append(self.run.id, list(events))
        self.told(list(events))

    def told(self, events: EventList) -> None:
        """These events are in the journal now."""
        if events:
            self.listeners.stored(len(events))

    def live(self, type_: EventType, **data: Any) -> None:  # noqa: ANN401 - any JSON
        """Something that only listeners of this moment get."""
        self.listeners.live(Event(self.run.id, 0, type_, redaction.redact_json(data)))

    async def end_turn(
        self, reply: str, *, messages: list[dict[str, Any]], diary: Memory, incomplete: bool, stopped_by: str
    ) -> None:
        """The run is done: its answer, its messages and its diary entry are written together."""
        reply = redaction.redact(reply)  # here, where the secrets of this run are known; its caller has it from us
        run = self.run.with_(
            status=RunStatus.DONE, owner="", reply=reply, incomplete=incomplete, stopped_by=stopped_by
        )
        ended = {"status": str(RunStatus.DONE), **({"incomplete": True} if incomplete else {})}
        events: EventList = [
            (EventType.REPLY, {"text": reply}),
            (EventType.RUN_STATUS, {**ended, **({"stopped_by": stopped_by} if stopped_by else {})}),
        ]
        dialogue = self.run.context.get("dialogue", "")
        self.run = await self.journal.end_turn(run, events, dialogue=dialogue, messages=messages, diary=diary)
        self.told(events)
        self.listeners.end()

    async def rest(self, status: RunStatus, **changes: Any) -> None:  # noqa: ANN401
        """Leave the run in a state in which nobody works on it."""
        await self.set(status=status, owner="", **changes)
        self.listeners.end()
