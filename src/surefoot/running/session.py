"""One run while it is being worked on: its state, its clock, what it may use, and who listens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from surefoot import redaction
from surefoot.errors import ProviderError
from surefoot.events import EventType
from surefoot.journal import rules
from surefoot.journal.types import (
    Call,
    CallStatus,
    EventList,
    Finished,
    Journal,
    Memory,
    ModelCall,
    Run,
    RunStatus,
)
from surefoot.models.types import Usage
from surefoot.running import records, tracing, watching
from surefoot.running.asked import KEPT, Asked
from surefoot.running.budget import Budget, worked_seconds
from surefoot.running.listeners import Listeners
from surefoot.running.policy import Decision
from surefoot.running.steps import JournalSteps, Steps
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Context


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
    asked: dict[str, Asked] = field(default_factory=dict)
    """The last model calls by key, for those that follow them."""

    def __post_init__(self) -> None:
        self.listeners = Listeners(self.journal, self.run.id)
        self._told_before: set[str] = set()
        self._watch: watching.RunWatch | None = None
        if self.settings.trace:
            tracing.start(content=self.settings.trace_content)

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
        self.budget.before = worked_seconds(self.known_calls.values(), self.known_model_calls.values())
        for event in await self.journal.events(self.run.id):
            self.listeners.last = event.seq
            self._told_before.add(_said(event.type, event.data))

    def count(self, usage: Usage, *, recalled: bool = False) -> None:
        """Count an answered model call into the run's usage and budget."""
        self.usage += usage
        self.model_calls += 1
        if recalled:
            self.budget.recall_model_call(usage)
        else:
            self.budget.add_usage(usage)

    async def set(self, *more: tuple[EventType, dict[str, Any]], **changes: Any) -> None:
        """Write changed fields of the run, and `more` events with them; a change of status is an event."""
        events = [*more]
        if "status" in changes:
            told = {name: changes[name] for name in _TOLD_OF_STATUS if changes.get(name)}
            events.append((EventType.RUN_STATUS, {"status": str(changes["status"]), **told}))
        self.run = await self.journal.set_run(self.run.with_(**changes), events)
        self.told(events)

    async def tell(self, *events: tuple[EventType, dict[str, Any]]) -> None:
        """Write events that belong to no other write; what an earlier part of this run told is not told again."""
        new = [event for event in events if not self._told_before or _said(*event) not in self._told_before]
        if new:
            await self.journal.append(self.run.id, new)
            self.told(new)

    def told(self, events: EventList) -> None:
        """These events are in the journal now."""
        if events:
            if watching.anybody():
                self._watched().wake()
            self.listeners.stored(len(events))

    def provider_failed(
        self, error: ProviderError, *, key: str, purpose: str, model: str, began: datetime
    ) -> None:
        """A model call was not answered. The journal keeps no such call; those who watch are told."""
        if watching.anybody():
            failure = watching.failure_of(error, key=key, purpose=purpose, model=model, began=began)
            self._watched().provider_failed(failure)

    def _watched(self) -> watching.RunWatch:
        if self._watch is None:
            self._watch = watching.RunWatch(self, self.listeners.last)
        return self._watch

    async def _watchers_know(self) -> None:
        """Before somebody may end the event loop, everything was passed on."""
        if self._watch is not None:
            await self._watch.caught_up()

    def remember(self, key: str, asked: Asked) -> None:
        """This was asked under that key, for the call that follows it."""
        self.asked[key] = asked
        if len(self.asked) > KEPT:
            del self.asked[next(iter(self.asked))]

    def live(self, type_: EventType, **data: Any) -> None:
        """Something that only listeners of this moment get."""
        self.listeners.live(type_, data)

    async def end_turn(
        self,
        reply: str,
        *,
        messages: list[dict[str, Any]],
        diary: Memory | None,
        incomplete: bool,
        stopped_by: str,
    ) -> None:
        """The run is done: its answer, its messages and its diary entry are written together."""
        reply = redaction.redact(
            reply
        )  # here, where the secrets of this run are known; its caller has it from us
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
        await self._watchers_know()

    async def rest(self, status: RunStatus, **changes: Any) -> None:
        """Leave the run in a state in which nobody works on it."""
        if status in _CUT_SHORT:
            await self._close_open_calls()
        await self.set(status=status, owner="", **changes)
        self.listeners.end()
        await self._watchers_know()

    async def _close_open_calls(self) -> None:
        """A call whose end was not written (its intent, or its result, was under way) is closed as what is known."""
        await self.journal.transact(records.always(None))  # whatever is under way is written before this
        for call in await self.journal.calls(self.run.id):
            if call.status is CallStatus.INTENDED:
                status = rules.abandoned(call.effect)
                events: EventList = [rules.abandoned_event(status, call.id, call.tool)]
                closed = call.with_(status=status, finished_at=datetime.now(UTC))
                await self.journal.finish(
                    closed, records.always(Finished(closed, events)), fence=self.run.fence
                )
                self.told(events)


_TOLD_OF_STATUS = ("incomplete", "stopped_by", "error")
"""Fields that the event of a changed status tells, where they apply."""

_CUT_SHORT = frozenset({RunStatus.CANCELLED, RunStatus.FAILED, RunStatus.INTERRUPTED})


def _said(type_: EventType, data: dict[str, Any]) -> str:
    return f"{type_} {json.dumps(redaction.redact_json(data), sort_keys=True, default=str)}"
