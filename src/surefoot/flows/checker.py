"""The one check of a flow: for the planner, people, the command line and the runtime.

Each rule is an entry of rules.toml; docs/flow-problems.md is made of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.errors import MisuseError
from surefoot.flows._meaning import Meaning
from surefoot.flows.facts import FactNames
from surefoot.flows.flow import Flow
from surefoot.flows.problems import Problem
from surefoot.flows.scope import missing_names
from surefoot.flows.shape import walk
from surefoot.flows.steps import SURFACES

__all__ = ["check_flow", "missing_names"]


def check_flow(
    flow: Flow | Any, facts: FactNames | None = None, *, surfaces: frozenset[str] = SURFACES
) -> list[Problem]:
    """Everything that is wrong with a flow, in the order of the file; an empty list for one that may run.

    It never raises for what is in the flow and changes nothing in it.

    Args:
        flow: a `Flow`, a JSON value, or the `Source` that `read_flow` gave; with a `Source` the problems have lines.
        facts: the names that will have a value when it runs; without them there are none.
        surfaces: what there is to act on, of `browser` and `desktop`.

    Returns:
        The problems. What is wrong with a step's shape hides only what that step means, not the rest.

    Raises:
        MisuseError: `facts` is something else.
    """
    from surefoot.flows.source import Source

    if facts is not None and not isinstance(facts, FactNames):
        raise MisuseError(
            f"facts are FactNames, not {type(facts).__name__}.",
            'Give names only: FactNames(shared=("email",)), or the names of your Facts.',
        )
    source = flow if isinstance(flow, Source) else None
    found = _problems(source.value if source else flow, facts or FactNames(), frozenset(surfaces))
    return [replace(problem, line=source.line(problem.pointer)) for problem in found] if source else found


def _problems(flow: Any, facts: FactNames, surfaces: frozenset[str]) -> list[Problem]:
    if isinstance(flow, Flow):
        try:
            flow = flow.to_json()
        except (RecursionError, TypeError, ValueError, AttributeError, KeyError):
            message = "The flow holds something that is no step. Make it with Flow.from_json."
            return [Problem("", "not_an_object", message)]
    meaning = Meaning(flow, facts, surfaces)
    walk(flow, meaning.note, meaning)
    return meaning.problems()
