"""The calls of one round: made in the model's order, each answered, whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot.errors import NotFoundError
from surefoot.events import EventType
from surefoot.models.types import Completion, ToolCall
from surefoot.running import policy
from surefoot.running.executor import CallRequest, Executor, Outcome
from surefoot.running.loop_tools import LoopTools
from surefoot.running.outline_runner import SIDE_BY_SIDE, side_by_side
from surefoot.running.repeats import Repeats
from surefoot.running.session import Session
from surefoot.tools.types import Effect


@dataclass(frozen=True, slots=True)
class Answered:
    """A call with what its tool message says. `outcome` is None for a call that was not taken to the executor."""

    call: ToolCall
    data: dict[str, Any]
    outcome: Outcome | None = None

    @property
    def held(self) -> bool:
        """It was not made again, because this run did it before."""
        return self.outcome is None

    @property
    def wrote(self) -> bool:
        """It was done, and changed something."""
        outcome = self.outcome
        return outcome is not None and outcome.ok and outcome.call.effect is not Effect.READ

    @property
    def waiting(self) -> bool:
        """A person must agree first."""
        return self.outcome is not None and self.outcome.waiting


def not_made(call: ToolCall, why: str) -> Answered:
    """The answer to a call that is not taken to the executor."""
    return Answered(call, {"success": False, "message": why})


def with_ids(completion: Completion, number: int) -> Completion:
    """The same with an own id for every call: results are paired by it."""
    ids = [call.id for call in completion.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return completion
    calls = [
        call if call.id and ids.index(call.id) == place else replace(call, id=f"round_{number}_{place}")
        for place, call in enumerate(completion.tool_calls)
    ]
    return replace(completion, tool_calls=tuple(calls))


class RoundCalls:
    """Makes the calls of a loop's rounds in one session."""

    def __init__(
        self, session: Session, repeats: Repeats, own: LoopTools, steps: Mapping[str, Sequence[int]]
    ) -> None:
        self.session = session
        self.repeats = repeats
        self._own = own
        self._steps = {tool: list(numbers) for tool, numbers in steps.items()}
        self._executor = Executor(session)
        self._slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def make(self, number: int, calls: Sequence[ToolCall]) -> list[Answered]:
        """All reads: side by side, ten at most. Else one after another, up to one that waits or ends the work."""
        if all(self._is_read(call) for call in calls):
            work = [self._one(number, place, call) for place, call in enumerate(calls)]
            answered = await side_by_side(work)
        else:
            answered = await self._in_order(number, calls)
        return self._remembered(number, answered)

    async def _in_order(self, number: int, calls: Sequence[ToolCall]) -> list[Answered]:
        answered: list[Answered] = []
        for place, call in enumerate(calls):
            waits = any(answer.waiting for answer in answered)
            if waits and not self._waits_too(call, calls[:place]):
                break
            answered.append(await self._one(number, place, call))
            outcome = answered[-1].outcome
            if outcome is not None and outcome.ok and outcome.call.tool == self._own.stop.name:
                break
        return answered

    def _waits_too(self, call: ToolCall, before: Sequence[ToolCall]) -> bool:
        """Behind a call that waits, this one would only wait as well: so the person is asked for all of them at once.

        Not for an equal one, which is the same call and done once.
        """
        if any((call.name, call.arguments) == (one.name, one.arguments) for one in before):
            return False
        try:
            tool = self.session.catalogue.resolve(call.name)
        except NotFoundError:
            return False
        return policy.decide(tool, self.session.policy) == "confirm"

    def _is_read(self, call: ToolCall) -> bool:
        try:
            return self.session.catalogue.resolve(call.name).effect is Effect.READ
        except NotFoundError:  # it is refused, and touches nothing
            return True

    async def _one(self, number: int, place: int, call: ToolCall) -> Answered:
        held = self.repeats.held(call.name, call.arguments)
        if held:
            text = f"{call.name} was asked for again with the same arguments; it was not done again."
            await self.session.tell((EventType.NOTICE, {"text": text}))
            return not_made(call, held)
        scope = f"round.{number}"
        async with self._slots:
            outcome = await self._executor.call(
                CallRequest(f"{scope}/{place}", call.name, call.arguments, self._step_of(call.name), scope)
            )
        return Answered(call, outcome.as_data(), outcome)

    def _step_of(self, tool: str) -> int:
        """The step of the plan that this call is: the first that is left, the last one for all that follow; 0: none."""
        left = self._steps.get(tool)
        if not left:
            return 0
        return left.pop(0) if len(left) > 1 else left[0]

    def _remembered(self, number: int, answered: list[Answered]) -> list[Answered]:
        """What is known from now on; a read that only says the same again is answered in one sentence."""
        told, new = [], False
        for answer in answered:
            fresh = answer.outcome is not None and self.repeats.is_new(
                answer.call.name,
                answer.call.arguments,
                answer.outcome.call,
                answer.data,
                f"in round {number}",
            )
            new = new or fresh
            told.append(answer if fresh else _said_before(answer))
        self.repeats.round_over(anything_new=new)
        return told


def _said_before(answer: Answered) -> Answered:
    outcome = answer.outcome
    if outcome is None or not outcome.ok:
        return answer
    same = f"{answer.call.name} was called with exactly these arguments before."
    if outcome.call.effect is Effect.READ:
        return replace(
            answer, data={"success": True, "message": f"{same} The result is the same; do not call it again."}
        )
    return replace(answer, data={**answer.data, "message": f"{same} It was done once."})
