"""Would this flow do the task? Judged in code, without a model: what it reaches, uses, guards and says.

That a flow is valid is the checker's to say; a plan is right when it is valid and has no fault here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from surefoot.evals._thresholds import thresholds
from surefoot.evals._walk import StepText, made_by, steps_of, variables_of
from surefoot.evals.flow_tasks import FlowTask, Milestone, Reach
from surefoot.evals.personal import personal_details
from surefoot.evals.words import density, has_word
from surefoot.flows.variables import substitute
from surefoot.planning.words import folded as fold


class FaultCode(StrEnum):
    """What can be wrong with a flow for its task."""

    NOT_REACHED = "not_reached"
    """No step browses or opens a place the task is done at."""
    FACT_UNUSED = "fact_unused"
    """No step that acts uses a fact the task needs."""
    LITERAL = "literal"
    """It holds what the person said of themselves, as it was said."""
    PERSONAL_DETAIL = "personal_detail"
    """It holds an e-mail address, telephone number, card number or date of birth, said or invented."""
    NO_STOP = "no_stop"
    """It pays, sends, deletes or publishes without a `stop_before` that names it."""
    MILESTONE_MISSING = "milestone_missing"
    """No step is about something the task asks for."""
    DO_PARAGRAPH = "do_paragraph"
    """A `do` is a paragraph."""
    DO_WHOLE_TASK = "do_whole_task"
    """One `do` is the whole task, and nothing else is done."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason why a flow is not adequate: a sentence, the step's path where it is one step, and what it is about."""

    code: FaultCode
    message: str
    path: str = ""
    about: str = ""

    def to_dict(self) -> dict[str, str]:
        """The fault as JSON."""
        return {"code": str(self.code), "message": self.message, "path": self.path, "about": self.about}


ACTING = frozenset({"do", "open", "browse", "enter", "choose", "read", "extract", "pick"})
"""Kinds that use what they name; a condition or a stop only mentions it."""
ARRIVING = frozenset({"open", "browse"})
"""Kinds that get to a place and do nothing there yet."""


def adequacy(flow: Mapping[str, Any], task: FlowTask) -> list[Fault]:
    """All that is wrong with this flow for this task; empty when it is adequate.

    Args:
        flow: a flow as JSON. What has not the shape of a flow counts as not being there.
        task: the task and what is adequate for it.
    """
    steps, variables = steps_of(flow), variables_of(flow)
    return [
        *_not_reached(steps, variables, task.reach),
        *_unused(steps, variables, task.uses),
        *_said(steps, variables, task.literals),
        *_personal(steps, variables),
        *_no_stop(steps, variables, task.stop),
        *_missing(steps, variables, task.milestones),
        *_paragraphs(steps),
        *_whole_task(steps, variables, task.milestones),
    ]


def unlisted_questions(flow: Mapping[str, Any], task: FlowTask) -> list[str]:
    """Names the person would be asked for that the task does not call for; no fault, but one question too many each."""
    variables = variables_of(flow)
    known = {fold(name) for name in (*task.shared, *task.secret, *task.asks, *variables, *made_by(flow))}
    used = (name for step in steps_of(flow) for name in sorted(step.names(variables)))
    return [name for name in dict.fromkeys(used) if fold(name) not in known]


# --- where it goes -------------------------------------------------------------------------------------------


def _not_reached(
    steps: list[StepText], variables: Mapping[str, str], reach: Iterable[Reach]
) -> Iterator[Fault]:
    for place in reach:
        if not any(_reaches(step, variables, place) for step in steps):
            wanted = " or ".join(
                f"{kind}s {' or '.join(words)}"
                for kind, words in (("browse", place.browse), ("open", place.open))
                if words
            )
            yield Fault(FaultCode.NOT_REACHED, f"No step {wanted}.", about=" ".join(place.words))


def _reaches(step: StepText, variables: Mapping[str, str], place: Reach) -> bool:
    if step.kind == "browse":
        return any(word in host_of(substituted(step.first, variables)) for word in place.browse)
    return step.kind == "open" and has_word(substituted(step.first, variables), place.open)


def substituted(text: str, variables: Mapping[str, str]) -> str:
    """The text with the flow's own variables put in; another `${name}` is left out."""
    return substitute(text, lambda name: variables.get(name, ""))


def host_of(address: str) -> str:
    """The host of a web address, with or without its scheme, folded; empty where there is none."""
    try:
        return fold(urlsplit(address if "://" in address else f"//{address}").hostname or "")
    except ValueError:  # `http://[`: no address at all
        return ""


# --- what it uses, and what it must not hold -----------------------------------------------------------------


def _unused(steps: list[StepText], variables: Mapping[str, str], uses: Iterable[str]) -> Iterator[Fault]:
    used = {fold(name) for step in steps if step.kind in ACTING for name in step.names(variables)}
    for name in uses:
        if fold(name) not in used:
            message = f"The task needs the fact {name!r}, and no step uses ${{{name}}}."
            yield Fault(FaultCode.FACT_UNUSED, message, about=name)


def _placed_texts(steps: list[StepText], variables: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Path, kind and text of everything that is written in the flow."""
    yield from (("vars", "vars", value) for value in variables.values())
    yield from ((step.path, step.kind, text) for step in steps for text in step.texts)


def _said(steps: list[StepText], variables: Mapping[str, str], literals: Iterable[str]) -> Iterator[Fault]:
    for path, _, text in _placed_texts(steps, variables):
        for literal in literals:
            if _bare(literal) in _bare(text):  # the message does not repeat it
                message = "It holds a personal detail of the goal as it was said, not as ${...}."
                yield Fault(FaultCode.LITERAL, message, path, literal)


def _bare(text: str) -> str:
    """Letters and digits alone: a number is the same in other groups."""
    return re.sub(r"[\W_]", "", fold(text))


def _personal(steps: list[StepText], variables: Mapping[str, str]) -> Iterator[Fault]:
    for path, kind, text in _placed_texts(steps, variables):
        for found in personal_details(text) if kind != "browse" else ():
            message = f"It holds what looks like a literal {found}; use ${{...}}."
            yield Fault(FaultCode.PERSONAL_DETAIL, message, path, found)


# --- what it guards and says ---------------------------------------------------------------------------------


def _no_stop(
    steps: list[StepText], variables: Mapping[str, str], stop: tuple[str, ...] | None
) -> Iterator[Fault]:
    if stop is None or any(s.kind == "stop_before" and has_word(s.filled(variables), stop) for s in steps):
        return
    others = ", ".join(repr(step.first) for step in steps if step.kind == "stop_before")
    seen = f"; there is only {others}" if others else ""
    yield Fault(FaultCode.NO_STOP, f"No `stop_before` names any of {', '.join(stop)}{seen}.")


def _missing(
    steps: list[StepText], variables: Mapping[str, str], milestones: Iterable[Milestone]
) -> Iterator[Fault]:
    for milestone in milestones:
        if not any(holds(step, variables, milestone) for step in steps):
            which = f" of the kind {' or '.join(sorted(milestone.kinds))}" if milestone.kinds else ""
            which += " that fills a variable" if milestone.stored else ""
            words = ", ".join(milestone.words)
            yield Fault(FaultCode.MILESTONE_MISSING, f"No step{which} is about any of {words}.", about=words)


def holds(step: StepText, variables: Mapping[str, str], milestone: Milestone) -> bool:
    """The step is of a kind that counts, keeps what has to be kept, and says one of the words."""
    counts = (not milestone.kinds or step.kind in milestone.kinds) and (step.stores or not milestone.stored)
    return counts and has_word(step.filled(variables), milestone.words)


def _paragraphs(steps: list[StepText]) -> Iterator[Fault]:
    limits = thresholds()
    for step in steps:
        if step.kind != "do":
            continue
        text = step.first
        most = limits.do_characters_dense if density(text) > 0.5 else limits.do_characters  # noqa: PLR2004 - most of it
        count = sentences(text)
        if len(text) > most or count > limits.do_sentences:
            message = f"A `do` of {len(text)} characters and {count} sentences is a paragraph; make it several steps."
            yield Fault(FaultCode.DO_PARAGRAPH, message, step.path)


_ENDS = re.compile(r"(?<!\d)(?<!\b[A-Z][a-z])[.!?]+[\"'”’)]*\s+|[।॥。！？\n]+")
"""Not behind a number or a short title: `am 3. Mai` and `Dr. Meyer` go on."""


def sentences(text: str) -> int:
    """How many sentences: a piece up to an end counts when it has enough words not to be an abbreviation."""
    fewest = thresholds().sentence_words
    pieces = [piece for piece in _ENDS.split(text) if piece.strip()]
    return sum(len(piece.split()) >= fewest or density(piece) > 0 for piece in pieces)


def _whole_task(
    steps: list[StepText], variables: Mapping[str, str], milestones: tuple[Milestone, ...]
) -> Iterator[Fault]:
    """A `do` that holds every milestone while no other step that acts holds one."""
    if len(milestones) < thresholds().whole_task_milestones:
        return
    working = [step for step in steps if step.kind in ACTING - ARRIVING]
    holding = [s for s in working if any(has_word(s.filled(variables), one.words) for one in milestones)]
    if len(holding) != 1 or holding[0].kind != "do":
        return
    if all(has_word(holding[0].filled(variables), one.words) for one in milestones):
        message = "One `do` is the whole task; make it several steps."
        yield Fault(FaultCode.DO_WHOLE_TASK, message, holding[0].path)
