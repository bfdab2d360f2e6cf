"""Who watches runs from outside: metrics, spans, or a program's own.

A watcher is told what is in the journal: when a session says that events were written, they are read from there, in
order, and passed on. So what is counted cannot disagree with what is kept, it is masked as the journal is, and the path
of a call pays nothing for it. While nobody watches nothing is read, imported or computed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from surefoot import redaction
from surefoot.errors import ProviderError
from surefoot.events import Event, EventType
from surefoot.journal.types import ACTIVE, Run, RunStatus

if TYPE_CHECKING:
    from surefoot.running.session import Session
    from surefoot.tools.catalogue import Catalogue
    from surefoot.tools.types import Tool

log = logging.getLogger(__name__)

PAUSE = 0.05
"""Seconds in which events gather before they are read: a look into the journal for each of them would cost a quick call
as much again as the call itself. Figures and spans have the journal's times, so being late changes nothing in them."""

Said = Sequence[dict[str, Any]]
"""Messages (`Message.to_dict`), the last of them the answer."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The run that is worked on: as it stood at the beginning of this work, with its tools and what they may do.

    `catalogues` are those that were in use so far: a loop brings tools of its own for as long as it lasts.
    """

    run: Run
    policy: Mapping[str, Any]
    catalogues: list[Catalogue]

    def tool(self, name: str) -> Tool | None:
        """The tool of that name; None for one that a model made up."""
        return next((one.get(name) for one in self.catalogues if name in one), None)

    def uses(self, catalogue: Catalogue) -> None:
        """From now on these are the tools."""
        if not any(catalogue is one for one in self.catalogues):
            self.catalogues.append(catalogue)


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """A model call that was not answered. `model` is `provider:model`; `kind` as `ProviderError.kind` says it."""

    key: str
    purpose: str
    model: str
    code: str
    kind: str
    message: str
    began: datetime
    ended: datetime


class RunWatcher(Protocol):
    """What a watcher keeps of one piece of work on one run. Its methods are called one after another."""

    content: bool
    """It wants the messages of model calls, too; reading them costs a look into the journal for each."""

    def happened(self, event: Event, *, fresh: bool, said: Said = ()) -> None:
        """A stored event, in order.

        Args:
            event: as the journal has it.
            fresh: it belongs to this piece of work. Of a run that is taken up again the events up to its last rest
                are told first, so that the whole of it can be counted; they are not fresh.
            said: of a `MODEL_CALLED`, with `content`: what was new in that call, and its answer.
        """
        ...

    def provider_failed(self, failure: ProviderFailure) -> None:
        """A model call ended in an error of its provider, after all retries."""
        ...


Watcher = Callable[[Watched], RunWatcher]
Unwatch = Callable[[], None]

_watchers: list[Watcher] = []


def watch(watcher: Watcher) -> Unwatch:
    """From now on `watcher` is asked for a `RunWatcher` for every run this process works on; returns what ends it.

    What it raises is logged and harms no run.
    """
    _watchers.append(watcher)

    def end() -> None:
        if watcher in _watchers:
            _watchers.remove(watcher)

    return end


def anybody() -> bool:
    """Somebody watches."""
    return bool(_watchers)


def failure_of(
    error: ProviderError, *, key: str, purpose: str, model: str, began: datetime
) -> ProviderFailure:
    """What watchers are told of a model call that failed just now; masked."""
    name, message = redaction.redact(model), redaction.redact(error.message)
    return ProviderFailure(key, purpose, name, error.code, error.kind, message, began, datetime.now(UTC))


@dataclass
class RunWatch:
    """Passes on what happens in one session, in a task of its own that lives only while there is something new."""

    session: Session
    told_before: int
    """Seq of the last event that was known when the watch began."""
    seen: int = 0
    fresh_after: int = -1
    """Seq of the run's last rest before this session; -1 until it was looked for."""
    watchers: list[RunWatcher] = field(default_factory=list)
    _failures: deque[ProviderFailure] = field(default_factory=deque)
    _behind: bool = False
    _hurry: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._watched = Watched(self.session.run, self.session.policy, [self.session.catalogue])
        for watcher in _watchers:
            with _Harmless(watcher):
                self.watchers.append(watcher(self._watched))

    def wake(self) -> None:
        """There is something new in the journal."""
        self._behind = True
        self._watched.uses(self.session.catalogue)
        if self.watchers and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._catch_up())

    def provider_failed(self, failure: ProviderFailure) -> None:
        """A model call failed; the journal does not keep those."""
        self._failures.append(failure)
        self.wake()

    async def caught_up(self) -> None:
        """Until everything so far was passed on, without waiting for more."""
        if self._task is not None:
            self._hurry.set()
            await asyncio.wait([self._task])
            self._hurry.clear()

    async def _catch_up(self) -> None:
        while self._behind:
            await self._gather()
            self._behind = False
            try:
                events = await self.session.journal.events(self.session.run.id, self.seen)
                await self._pass_on(events)
            except Exception as error:  # noqa: BLE001 - the run meets a failing disk itself; watching harms nothing
                log.warning("What happened could not be passed on: %s", redaction.redact(repr(error)))

    async def _gather(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PAUSE):
                await self._hurry.wait()

    async def _pass_on(self, events: list[Event]) -> None:
        if self.fresh_after < 0:
            self.fresh_after = _last_rest(events, self.told_before)
        for event in events:
            while self._failures and event.at is not None and self._failures[0].ended <= event.at:
                self._tell_failure(self._failures.popleft())
            await self._tell(event)
            self.seen = event.seq
        while self._failures:
            self._tell_failure(self._failures.popleft())

    async def _tell(self, event: Event) -> None:
        fresh = event.seq > self.fresh_after
        said: Said = ()
        if fresh and event.type is EventType.MODEL_CALLED and any(one.content for one in self.watchers):
            key = str(event.data.get("key", ""))
            said = [message for _, message in await self.session.journal.run_messages(event.run, key)]
        for watcher in self.watchers:
            with _Harmless(watcher):
                watcher.happened(event, fresh=fresh, said=said if watcher.content else ())

    def _tell_failure(self, failure: ProviderFailure) -> None:
        for watcher in self.watchers:
            with _Harmless(watcher):
                watcher.provider_failed(failure)


def rests(event: Event) -> bool:
    """After this event nobody works on the run: it has ended, or waits."""
    return event.type is EventType.RUN_STATUS and RunStatus(event.data["status"]) not in ACTIVE


_BETWEEN = frozenset(
    {
        EventType.APPROVAL_GIVEN,
        EventType.APPROVAL_DECLINED,
        EventType.CALL_INTERRUPTED,
        EventType.CALL_UNKNOWN,
        EventType.CALL_UNDONE,
    }
)
"""What others write of a run that nobody works on: a person who answers, a process that finds its owner dead."""


def begins(event: Event) -> bool:
    """As the first fresh event, this one is where the work began: work and waiting for it are told apart."""
    return event.type not in _BETWEEN and not rests(event)


def _last_rest(events: list[Event], up_to: int) -> int:
    return max((event.seq for event in events if event.seq <= up_to and rests(event)), default=0)


class _Harmless:
    """What a watcher raises is logged, and nobody else hears of it."""

    __slots__ = ("_watcher",)

    def __init__(self, watcher: object) -> None:
        self._watcher = watcher

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        name = redaction.redact(f"{self._watcher!r}: {error!r}")
        log.warning("A watcher failed, and what it should have seen is not there: %s", name)
        return True
