"""Runs an outline: steps that wait for nothing side by side, writes in their order, results in the plan's order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from surefoot.events import EventType
from surefoot.planning import placeholders
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.running.executor import CallRequest, Executor, Outcome
from surefoot.running.session import Session
from surefoot.tools.types import Effect

T = TypeVar("T")

SIDE_BY_SIDE = 10
"""Reads at once: enough to hide latency, few enough for a server that counts them."""

Resolve = Callable[[int, Step, Mapping[int, Any]], Awaitable[list[dict[str, Any]] | None]]
"""Arguments for a step that is not concrete: one object, or one for each item; None when it cannot be said."""


@dataclass
class StepReport:
    """What became of one step. `reason` says why it was not done, where no call says it."""

    number: int
    text: str
    outcomes: list[Outcome] = field(default_factory=list)
    reason: str = ""

    @property
    def done(self) -> bool:
        """Every call of it was done."""
        return not self.reason and all(outcome.ok for outcome in self.outcomes)

    @property
    def waiting(self) -> bool:
        """A call of it needs a person."""
        return any(outcome.waiting for outcome in self.outcomes)

    @property
    def result(self) -> Any:
        """The call's result, or the list of results of a fanned-out step."""
        results = [outcome.call.result for outcome in self.outcomes if outcome.ok]
        return results[0] if len(self.outcomes) == 1 and results else results


@dataclass(frozen=True)
class OutlineReport:
    """What became of an outline. `handed_over` is the number of the first step a model must decide, else 0."""

    steps: tuple[StepReport, ...]
    waiting: bool = False
    handed_over: int = 0

    @property
    def done(self) -> bool:
        """Every step was done."""
        return not self.handed_over and all(step.done for step in self.steps)


class OutlineRunner:
    """Runs one outline in one session."""

    def __init__(self, session: Session, outline: Outline, resolve: Resolve) -> None:
        self.session = session
        self.executor = Executor(session)
        self.outline = outline
        self.resolve = resolve
        self.reports: dict[int, StepReport] = {}
        self.known: dict[int, Any] = {}
        self._slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def run(self, known: Mapping[int, Any] | None = None) -> OutlineReport:
        """Run the tool steps. `known` are results of steps that were done elsewhere (memory), by number.

        A step that a model must decide ends it: the rest of the turn is that model's.
        """
        self.known = dict(known or {})
        handed_over = 0
        for segment in segments(self.session, self.outline):
            reports = await self._segment(segment)
            if any(report.waiting for report in reports):
                return self._report(waiting=True)
            handed_over = next((r.number for r in reports if not r.outcomes and r.reason == HAND_OVER), 0)
            if handed_over:
                break
        return self._report(handed_over=handed_over)

    def _report(self, *, waiting: bool = False, handed_over: int = 0) -> OutlineReport:
        ordered = tuple(self.reports[number] for number in sorted(self.reports))
        return OutlineReport(ordered, waiting, handed_over)

    async def _segment(self, numbers: Sequence[int]) -> list[StepReport]:
        """Steps between two writes: side by side, each after the steps it names."""
        ready = {number: asyncio.Event() for number in numbers}

        async def one(number: int) -> StepReport:
            for earlier in steps_named(self.outline.steps[number - 1]):
                if earlier in ready and earlier < number:
                    await ready[earlier].wait()
            try:
                return await self._step(number)
            finally:
                ready[number].set()

        return await side_by_side([one(number) for number in numbers])

    async def _step(self, number: int) -> StepReport:
        step = self.outline.steps[number - 1]
        report = self.reports[number] = StepReport(number, step.text)
        missing = [n for n in steps_named(step) if n not in self.known]
        if missing:
            report.reason = f"it needs step {missing[0]}, which was not done"
            return report
        await self.session.tell((EventType.STEP_STARTED, {"step": number, "text": step.text}))
        arguments = [step.arguments] if step.concrete else await self.resolve(number, step, self.known)
        if arguments is None:
            report.reason = HAND_OVER
            data = {"step": number, "text": step.text, "reason": HAND_OVER}
            await self.session.tell((EventType.STEP_UNRESOLVED, data))
            return report
        report.outcomes = await self._calls(number, step, arguments)
        if report.done:
            self.known[number] = report.result
        return report

    async def _calls(self, number: int, step: Step, arguments: list[dict[str, Any]]) -> list[Outcome]:
        if len(arguments) == 1:
            return [await self._call(f"step.{number}", step, number, arguments[0])]
        keys = [f"step.{number}/{index}" for index in range(len(arguments))]
        if _effect(self.session, step) is Effect.READ:
            calls = (self._call(k, step, number, a) for k, a in zip(keys, arguments, strict=True))
            return await side_by_side(list(calls))
        outcomes = []
        for key, values in zip(keys, arguments, strict=True):
            outcomes.append(await self._call(key, step, number, values))
            if outcomes[-1].waiting:
                break
        return outcomes

    async def _call(self, key: str, step: Step, number: int, arguments: dict[str, Any]) -> Outcome:
        async with self._slots:  # here, so that the calls of a fanned-out step count one by one
            return await self.executor.call(CallRequest(key, step.tool, arguments, number))


HAND_OVER = "a model that can call tools has to decide what this step needs"
"""Why a step in prose, or one that does not resolve, was not done by the plan: the rest is the loop's."""


def steps_named(step: Step) -> set[int]:
    """Numbers of the earlier steps whose results this one needs; 0 is what memory brought."""
    return {found.step for text in step.placeholders if (found := placeholders.read(text))}


async def side_by_side(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once, results in their order.

    The first that fails cancels the others, and they have ended before it is raised: nothing of this run goes on behind
    the caller's back.
    """
    if len(work) == 1:
        return [await work[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item) for item in work]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def segments(session: Session, outline: Outline) -> list[list[int]]:
    """Numbers of the tool and prose steps, cut so that everything that may change something stands alone."""
    found: list[list[int]] = []
    open_reads: list[int] = []
    for number, step in enumerate(outline.steps, 1):
        if step.kind in {StepKind.MEMORY, StepKind.REPLY}:
            continue
        if step.kind is StepKind.TOOL and _effect(session, step) is Effect.READ:
            open_reads.append(number)
            continue
        found += [open_reads, [number]] if open_reads else [[number]]
        open_reads = []
    return [*found, open_reads] if open_reads else found


def _effect(session: Session, step: Step) -> Effect:
    if step.tool in session.catalogue:
        return session.catalogue.get(step.tool).effect
    return Effect.EXTERNAL
