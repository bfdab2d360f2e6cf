"""What planning a flow comes to: the flow, what to ask first, what to know of it, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.flows.flow import Flow
from surefoot.flows.problems import Problem
from surefoot.flows.steps import If, RepeatUntil, Step, StopBefore
from surefoot.models.types import Usage
from surefoot.planning.flow_questions import Question


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about a plan: a stable `code` and a sentence.

    Codes: `stops_before`, `stops_nowhere`, `asks`, `masked`, and `default_model` of `flow_models`.
    """

    code: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """The note as JSON."""
        return {"code": self.code, "text": self.text}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of the model: its text, the flow as JSON (None where there was none), and what is wrong with it.

    `lost` is what the task says and a valid flow does not; it is handed back once and refuses nothing.
    """

    text: str = field(repr=False)
    flow: Any
    problems: tuple[Problem, ...]
    lost: tuple[Problem, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The attempt as JSON."""
        return {
            "text": self.text,
            "flow": self.flow,
            "problems": [problem.to_dict() for problem in self.problems],
            "lost": [problem.to_dict() for problem in self.lost],
        }


def best_of(attempts: Sequence[Attempt]) -> Attempt | None:
    """The valid attempt that lost least, the latest of equals; None where none is valid."""
    valid = [one for one in reversed(attempts) if not one.problems]
    return min(valid, key=lambda one: len(one.lost), default=None)


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What planning cost: calls of the model and the sum of their tokens, those of failed attempts included.

    A call that ended in an error counts, its tokens are not known.
    """

    calls: int = 0
    usage: Usage = Usage()

    def to_dict(self) -> dict[str, Any]:
        """The use as JSON."""
        return {"calls": self.calls, **self.usage.to_dict()}


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """A flow that passes the check once its questions are answered.

    Attributes:
        flow: it.
        questions: what the person has to be asked first, one for each name that nobody gave.
        notes: what a person should know of it.
        use: calls and tokens.
        attempts: every answer; `best_of` gives the one the flow is from.
    """

    flow: Flow
    questions: tuple[Question, ...] = ()
    notes: tuple[Note, ...] = ()
    use: ModelUse = ModelUse()
    attempts: tuple[Attempt, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON: `flow`, `questions`, `notes`, `use`; `attempts` is their number."""
        return {
            "flow": self.flow.to_json(),
            "questions": [question.to_dict() for question in self.questions],
            "notes": [note.to_dict() for note in self.notes],
            "use": self.use.to_dict(),
            "attempts": len(self.attempts),
        }


def notes_of(flow: Flow, questions: Sequence[Question], masked: Sequence[str] = ()) -> tuple[Note, ...]:
    """What a person should know of a plan; `masked` are the kinds of secrets that were in the task."""
    return (*_masked(masked), *_stopping(flow), *_asking(questions))


def _masked(kinds: Sequence[str]) -> Iterator[Note]:
    if kinds:
        yield Note(
            "masked",
            f"The task holds what looks like a secret ({', '.join(kinds)}); the model did not get it. "
            "Give it as a secret fact.",
        )


def _stopping(flow: Flow) -> Iterator[Note]:
    stops = list(stops_of(flow.steps))
    if stops:
        yield Note("stops_before", f"It stops before something irreversible or paid: {'; '.join(stops)}.")
    else:
        yield Note(
            "stops_nowhere", "It stops before nothing: no step of it is held to be irreversible or paid."
        )


def _asking(questions: Sequence[Question]) -> Iterator[Note]:
    if questions:
        names = ", ".join(question.name for question in questions)
        yield Note("asks", f"It needs what nobody gave: {names}.")


def stops_of(steps: Sequence[Step]) -> Iterator[str]:
    """What each `stop_before` names, those of branches and loops included."""
    for step in steps:
        if isinstance(step, StopBefore):
            yield step.action
        elif isinstance(step, RepeatUntil):
            yield from stops_of(step.steps)
        elif isinstance(step, If):
            yield from stops_of((*step.then, *(step.otherwise or ())))
