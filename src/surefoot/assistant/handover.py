"""The rest of a turn in the hands of the native loop: what it is told, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from surefoot.assistant.answer import Told, data_parts, recent, today
from surefoot.assistant.brief import Brief
from surefoot.assistant.options import options_now
from surefoot.assistant.router import Router
from surefoot.events import EventType
from surefoot.models.types import LanguageModel, Message
from surefoot.planning import queries
from surefoot.planning.formats import format_step
from surefoot.planning.outline import Outline, StepKind
from surefoot.running.loop import run_loop
from surefoot.running.loop_types import LoopGoal, LoopReport
from surefoot.running.outline_runner import HAND_OVER, StepReport
from surefoot.running.prompting import prompt
from surefoot.running.session import Session

NO_TOOL_CALLS = "the model cannot choose tools by itself, so no tool was called for it"
"""Why nothing was done without a concrete plan, when the model has no tool calls."""

ENDED_BY = {
    "stop": "The model ended the work on purpose.",
    "repeating": "The model made the same calls again and again, so its work was ended.",
    "context": "The conversation filled the model's context, so its work was ended.",
}
"""What the person is told of an end that no limit of theirs made: there is no setting to raise."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a turn hands over.

    `offered` are the router's tools; those that the plan names are added. `known` are lines about what the person has,
    for a model that does not look first. `brief` are the run's own terms. `todo` is the plan without its memory steps,
    empty where there is none; `reports` say what became of its steps so far.
    """

    session: Session
    model: LanguageModel
    timeout: float
    offered: Sequence[str]
    dialogue: Sequence[Message] = ()
    memories: str = ""
    known: Sequence[str] = ()
    brief: Brief | None = None
    todo: Outline = field(default_factory=Outline)
    reports: Sequence[StepReport] = ()

    async def run(self) -> LoopReport:
        """The loop, to its end or to a call that waits for a person."""
        return await run_loop(self.session, self.model, self._goal())

    def _goal(self) -> LoopGoal:
        done = {report.number for report in self.reports if report.done}
        catalogue = self.session.catalogue
        router = Router(list(catalogue))
        offered = {*self.offered, *queries.tool_names(self.todo)}
        return LoopGoal(
            messages=self._messages(),
            offered=tuple(name for name in catalogue.names if name in offered),
            search=router.rank,
            outline=_done_first(self.todo, done),
            steps_done=len(done),
            steps=_open_steps(self.todo, done),
            earlier=tuple(outcome.call for report in self.reports for outcome in report.outcomes),
            timeout=self.timeout,
            names=partial(options_now, self.session),
            said=(self.session.run.goal, *(message.content for message in self.dialogue[-2:])),
        )

    def _messages(self) -> tuple[Message, ...]:
        """What never changes first, the request last; the plan behind the tools, where it costs no cache."""
        tried = [report for report in self.reports if report.reason != HAND_OVER]
        told = Told(self.session.run.goal, memories=self.memories, reports=tried)
        plan = queries.format_plan_block(self.todo)
        there = "\n".join(f"- {line}" for line in self.known)
        known = [f"ALREADY THERE (data)\n{there}"] if there else []
        system, data = (self.brief.system, self.brief.data) if self.brief else ("", ())
        parts = [
            today(self.session),
            *data,
            *data_parts(told),
            *known,
            *([plan] if plan else []),
            f"REQUEST\n{told.query}",
        ]
        return (
            Message("system", system or prompt("loop")),
            *recent(self.dialogue),
            Message("user", "\n\n".join(parts)),
        )


def _open_steps(todo: Outline, done: set[int]) -> dict[str, tuple[int, ...]]:
    """Numbers of the steps that are left, by the tool they name."""
    found: dict[str, tuple[int, ...]] = {}
    for number, step in queries.tool_steps(todo):
        if number not in done:
            found[step.tool] = (*found.get(step.tool, ()), number)
    return found


def _done_first(todo: Outline, done: set[int]) -> Outline:
    """The steps in the order in which they are counted: steps side by side may be done behind one that is not."""
    numbered = list(enumerate(todo.steps, 1))
    first = [step for number, step in numbered if number in done]
    return Outline((*first, *(step for number, step in numbered if number not in done)))


async def tell_open(session: Session, outline: Outline) -> None:
    """Say which steps of a plan without any call are left to the loop."""
    steps = [(n, step.text) for n, step in enumerate(outline.steps, 1) if step.kind is StepKind.PROSE]
    told = [{"step": number, "text": text, "reason": HAND_OVER} for number, text in steps]
    await session.tell(*((EventType.STEP_UNRESOLVED, data) for data in told))


def reports_of(session: Session, looped: LoopReport, after: int) -> tuple[StepReport, ...]:
    """The loop's calls as steps behind the `after` steps of the plan; its own tools are no work that is told."""
    calls = [outcome for outcome in looped.outcomes if outcome.call.tool in session.catalogue]
    return tuple(
        StepReport(number, outcome.call.tool, [outcome]) for number, outcome in enumerate(calls, after + 1)
    )


def left_undone(todo: Outline, before: Sequence[StepReport], looped: LoopReport) -> list[str]:
    """What the person must know was not done: planned calls that nobody made, and calls that failed to the end."""
    done = {report.number for report in before if report.done}
    made = {outcome.call.tool for outcome in looped.outcomes if outcome.ok}
    left = [
        format_step(step)
        for number, step in enumerate(todo.steps, 1)
        if step.kind is StepKind.TOOL and number not in done and step.tool not in made
    ]
    planned = {step.tool for step in todo.steps}
    failed = [
        outcome.call.tool
        for place, outcome in enumerate(looped.outcomes)
        if not outcome.ok
        and outcome.call.tool not in planned
        and not any(later.ok and later.call.tool == outcome.call.tool for later in looped.outcomes[place:])
    ]
    return [*left, *dict.fromkeys(failed)]
