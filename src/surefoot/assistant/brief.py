"""A run that brings its own terms: what it is told, what it may call and use, and in whose name.

A request of a person has none; an execution of a mission has. It stands in the run's context, so that a run that is
taken up again has the same terms, whoever takes it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from surefoot.errors import InputError
from surefoot.journal.types import Run
from surefoot.running.budget import Limits
from surefoot.running.policy import BY_EFFECT, Decision
from surefoot.running.session import Session
from surefoot.settings import AnyCase
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Tool

BRIEF = "brief"
"""Where a run's context keeps it."""

KIND = "mission"


@dataclass(frozen=True, slots=True)
class Brief:
    """The terms of a run.

    Args:
        goal: what it is to reach; what is shown as the run's goal.
        title: what people call it.
        system: the system text of the loop, in place of the one for requests.
        data: parts of the prompt with labels of their own (`INPUTS (data)`), in front of the goal.
        kits: kits and servers whose tools it may call; empty: all.
        policy: over the person's, by tool, kit or effect.
        limits: over the person's, by name.
        caps: what is left of something larger than this run, by name of a limit; never more than that.
        memory: look up what was remembered, and keep a diary entry.
        zone: of its clock; empty: the person's.
        tags: more for the run's context, for whoever gave it.
    """

    goal: str
    title: str = ""
    system: str = ""
    data: tuple[str, ...] = ()
    kits: tuple[str, ...] = ()
    policy: Mapping[str, Decision] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    caps: Mapping[str, float] = field(default_factory=dict)
    memory: bool = True
    zone: str = ""
    tags: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the goal is the run's own."""
        found = {name: value for name, value in asdict(self).items() if name != "goal"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def tools(self, catalogue: Catalogue) -> Catalogue:
        """What it may call, in the catalogue's order.

        Raises:
            InputError: a kit of its is not there.
        """
        if not self.kits:
            return catalogue
        there = {tool.kit for tool in catalogue if tool.kit}
        missing = [name for name in self.kits if name not in there]
        if missing:
            raise InputError(
                f"There is no kit {missing[0]!r}.",
                f"There are: {', '.join(sorted(there))}.",
                value=missing[0],
            )
        return catalogue.narrowed(tool.name for tool in catalogue if tool.kit in self.kits)

    def decisions(self, tools: Iterable[Tool], settings: Mapping[str, Decision]) -> Mapping[str, Decision]:
        """The policy of the run: for each tool what `over` says, and the settings for every other name."""
        own = AnyCase(dict(self.policy))
        return AnyCase({**settings, **{tool.name: over(tool, own, settings) for tool in tools}})

    def bounded(self, limits: Limits) -> Limits:
        """The limits with its own over them, and no more than its caps."""
        chosen = limits.with_settings(self.limits)
        lower = {name: cap for name, cap in self.caps.items() if _above(getattr(chosen, name), cap)}
        return chosen.with_settings(lower)


def _above(allowed: float | None, cap: float) -> bool:
    return allowed is None or allowed > cap


def over(tool: Tool, own: Mapping[str, Decision], settings: Mapping[str, Decision]) -> Decision:
    """An agent's entry for the tool, its kit or its effect; else the settings' entry; else the effect's default.

    A `deny` of the settings for something narrower than the agent's entry stays: to allow what a person has denied
    by name, an agent must name it too.
    """
    names = [name for name in (tool.name, tool.kit, str(tool.effect)) if name]
    mine = next((place for place, name in enumerate(names) if name in own), None)
    theirs = next((place for place, name in enumerate(names) if name in settings), None)
    if mine is None:
        return BY_EFFECT[tool.effect] if theirs is None else settings[names[theirs]]
    if theirs is not None and theirs < mine and settings[names[theirs]] == "deny":
        return "deny"
    return own[names[mine]]


def brief_of(run: Run) -> Brief | None:
    """The terms that a run was given; None for a request."""
    data = run.context.get(BRIEF)
    if data is None:
        return None
    return Brief(run.goal, **{**data, "data": tuple(data["data"]), "kits": tuple(data["kits"])})


def set_terms(session: Session, catalogue: Catalogue) -> None:
    """Give a run its tools out of all there are and, where it has terms of its own, its policy.

    Raises:
        InputError: a kit of its is not there.
    """
    session.catalogue, brief = catalogue, brief_of(session.run)
    if brief is not None:
        session.catalogue = brief.tools(catalogue)
        session.policy = brief.decisions(session.catalogue, session.settings.policy)
