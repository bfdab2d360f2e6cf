"""A run as its caller holds it: await it for the result, iterate it for its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Literal

from surefoot.errors import MisuseError, PolicyDeniedError, SurefootError, error_from_dict
from surefoot.events import Event
from surefoot.journal.types import Call, CallStatus, Journal, Run, RunStatus
from surefoot.models.types import Usage
from surefoot.planning.outline import Outline
from surefoot.running.session import Session

Decide = Callable[[Literal["approve", "decline"], str, "str | None"], "Coroutine[Any, Any, RunHandle]"]
"""Carries a person's decision to the assistant: what, of which run, about which call."""

WAITING = frozenset(
    {
        RunStatus.NEEDS_APPROVAL,
        RunStatus.NEEDS_INPUT,
        RunStatus.NEEDS_PLAN,
        RunStatus.NEEDS_HUMAN,
        RunStatus.CHECKPOINT,
    }
)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to."""

    run: Run
    outline: Outline
    calls: tuple[Call, ...]
    usage: Usage
    model_calls: int

    @property
    def id(self) -> str:
        """The run's id, 16 hex digits."""
        return self.run.id

    @property
    def status(self) -> RunStatus:
        """Where it stands."""
        return self.run.status

    @property
    def reply(self) -> str:
        """What the person was told."""
        return self.run.reply

    @property
    def waiting(self) -> tuple[Call, ...]:
        """Calls that a person must agree to."""
        return tuple(call for call in self.calls if call.status is CallStatus.WAITING)

    @property
    def error(self) -> SurefootError | None:
        """Why it failed, None when it did not."""
        return None if self.run.error is None else error_from_dict(self.run.error)

    @property
    def undoable(self) -> int:
        """How many of its calls can be taken back."""
        return sum(call.undoable for call in self.calls)

    @property
    def exit_code(self) -> int:
        """0 done, 1 incomplete, 3 model or provider, 4 limit or policy, 5 waiting for a person, 130 cancelled."""
        if self.status is RunStatus.CANCELLED:
            return 130
        if self.status in WAITING:
            return 5
        if self.status is RunStatus.FAILED and self.error is not None:
            return self.error.exit_code
        if self.run.stopped_by or any(_denied(call) for call in self.calls):
            return 4
        return 1 if self.run.incomplete or self.status is not RunStatus.DONE else 0

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "run": self.id,
            "status": str(self.status),
            "reply": self.reply,
            "steps": [step.to_dict() for step in self.outline.steps],
            "calls": [call_to_dict(call) for call in self.calls],
            "incomplete": self.run.incomplete,
            "stopped_by": self.run.stopped_by or None,
            "error": self.run.error,
            "model_calls": self.model_calls,
            "usage": {**self.usage.to_dict(), "seconds": round(self.usage.seconds, 3)},
        }


def _denied(call: Call) -> bool:
    return call.status is CallStatus.REFUSED and (call.error or {}).get("code") == PolicyDeniedError.code


def call_to_dict(call: Call) -> dict[str, Any]:
    """A call as JSON, images left out."""
    return {
        "call": call.ordinal,
        "id": call.id,
        "step": call.step,
        "tool": call.tool,
        "arguments": call.arguments,
        "effect": str(call.effect),
        "status": str(call.status),
        "result": call.result,
        "error": call.error,
        "undoable": call.undoable,
        "undone_by": call.undone_by or None,
        "started_at": call.started_at.isoformat() if call.started_at else None,
        "finished_at": call.finished_at.isoformat() if call.finished_at else None,
    }


class RunHandle:
    """A run that has been started. `await handle` gives its `RunResult`; `async for event in handle` its events."""

    def __init__(
        self, work: Callable[[RunHandle], Coroutine[Any, Any, RunResult]], decide: Decide | None = None
    ) -> None:
        self._decide = decide
        self._session: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._task = asyncio.ensure_future(work(self))
        self._task.add_done_callback(self._over)  # also of a task that was cancelled before it began

    def _over(self, task: asyncio.Task[RunResult]) -> None:
        del task
        if not self._session.done():
            self._session.cancel()
        elif not self._session.cancelled():
            self._session.result().listeners.end()

    def begin(self, session: Session) -> None:
        """The run exists now: whoever waits for its events can have them."""
        self._session.set_result(session)

    async def id(self) -> str:
        """The run's id, as soon as there is one.

        Raises:
            SurefootError: why there is none.
            asyncio.CancelledError: it was cancelled before it began.
        """
        await asyncio.wait([self._session])
        if self._session.cancelled():
            await self._task
        return self._session.result().run.id

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self._task.__await__()

    async def __aiter__(self) -> AsyncIterator[Event]:
        await asyncio.wait([self._session])  # the guard ends it in any case
        if self._session.cancelled():
            if not self._task.cancelled():
                await self._task
            return
        async for event in self._session.result().listeners.listen():
            yield event
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()  # whoever only listens hears of a failure that is none of the run's

    async def approve(self, call_id: str | None = None) -> RunHandle:
        """Agree to a waiting call (or all of the run) once the run rests; the handle of the run that goes on.

        Raises:
            StateError: nothing of the run waits, or not that call.
        """
        return await self._answer("approve", call_id)

    async def decline(self, call_id: str | None = None) -> RunHandle:
        """Refuse a waiting call (or all of the run); the handle of the run that goes on without it."""
        return await self._answer("decline", call_id)

    async def _answer(self, answer: Literal["approve", "decline"], call_id: str | None) -> RunHandle:
        run = (await self._task).run
        if self._decide is None:
            raise MisuseError("This handle belongs to no assistant.", "Use assistant.approve(run).")
        return await self._decide(answer, run.id, call_id)

    async def cancel(self) -> RunResult | None:
        """Stop at once: open calls end as what they are known to be, the run as `cancelled`."""
        self._task.cancel()
        await asyncio.wait([self._task])
        return None if self._task.cancelled() else self._task.result()

    @property
    def over(self) -> bool:
        """Nobody works on it any more."""
        return self._task.done()


async def result_of(journal: Journal, run: Run) -> RunResult:
    """What a run came to so far, from the journal."""
    usage = Usage()
    model_calls = await journal.model_calls(run.id)
    for entry in model_calls:
        usage += Usage(**entry.completion["usage"])
    outline = Outline.from_list(run.context.get("outline", ()))
    return RunResult(run, outline, tuple(await journal.calls(run.id)), usage, len(model_calls))
