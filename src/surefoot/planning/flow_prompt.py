"""What the planner's model is told: the protocol and the guide, which never change, then one task by names only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from surefoot.flows.facts import FactNames
from surefoot.flows.guide import flow_guide, guide_version
from surefoot.flows.problems import Problem
from surefoot.flows.steps import SURFACES
from surefoot.models.types import Message
from surefoot.planning._prompts import prompt
from surefoot.planning.encodings import Prefix
from surefoot.planning.flow_examples import FlowExample
from surefoot.planning.flow_hints import Hints, hints_of, without_details
from surefoot.redaction import redact

MAX_PROBLEMS: Final = 20
"""Problems that are handed back at once; a flow with more of them is written anew anyway."""

_SURFACES: Final = {"browser": "web pages in the browser", "desktop": "desktop applications"}


def flow_prefix() -> Prefix:
    """The system turn: the protocol, then the guide. It is the same for every task, so that it can be kept read."""
    protocol = prompt("flow_protocol")
    system = f"{protocol.text}\n\n{flow_guide().strip()}"
    covered = f"flow\n{protocol.version}\n{guide_version()}\n{system}"
    return Prefix(system, (), hashlib.sha256(covered.encode()).hexdigest())


def example_turns(examples: Sequence[FlowExample]) -> list[Message]:
    """Tasks and the flows for them, as earlier turns of the conversation."""
    return [
        message
        for one in examples
        for message in (
            task_turn(without_details(one.goal), one.facts, one.surfaces, hints_of(one.goal)),
            Message("assistant", one.flow),
        )
    ]


def task_turn(goal: str, facts: FactNames, surfaces: frozenset[str], hints: Hints = Hints()) -> Message:
    """The user turn: what there is to act on, the facts by name, the task; registered secrets are masked in it."""
    there = [_SURFACES[one] for one in sorted(SURFACES & surfaces)]
    text = prompt("flow_task").fill_paragraphs(
        surfaces=" and ".join(there),
        shared=_named(facts.shared),
        secret=_named(facts.secret),
        goal=goal.strip(),
        hints=hints.lines(),
    )
    return Message("user", redact(text))


def repair_text(problems: Sequence[Problem]) -> str:
    """What goes back to the model that wrote a flow with these problems: the checker's sentences."""
    shown = [f"{number}. {problem}" for number, problem in enumerate(problems[:MAX_PROBLEMS], 1)]
    if len(problems) > MAX_PROBLEMS:
        shown.append(f"and {len(problems) - MAX_PROBLEMS} more.")
    return redact(prompt("flow_repair").fill(problems="\n".join(shown)))


def unread_text(problem: str) -> str:
    """What goes back to a model whose answer holds no flow at all."""
    return redact(prompt("flow_unread").fill(problem=problem))


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"${{{name}}}" for name in names) or "none"
