"""Is a limit so near that this must be the last call? Then it answers, instead of a limit ending the run in silence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from surefoot.models.types import Usage
from surefoot.running.budget import Budget
from surefoot.running.prompting import filled, prompt

LIMITS = ("rounds", "model_calls", "tokens", "seconds", "cost")
"""Limits that end a loop. Those of calls refuse one call, and the model reads that."""


@dataclass
class Pace:
    """What a round of this loop has taken so far, at most: seconds with its calls, seconds of the model, cost."""

    round_seconds: float = 0.0
    model_seconds: float = 0.0
    cost: float = 0.0

    def add(self, usage: Usage, round_seconds: float) -> None:
        """A round has ended."""
        self.round_seconds = max(self.round_seconds, round_seconds)
        self.model_seconds = max(self.model_seconds, usage.seconds)
        self.cost = max(self.cost, usage.cost or 0.0)


def limit_ahead(budget: Budget, rounds: int, prompt_tokens: int, pace: Pace) -> str:
    """Name of the limit that one more round would leave no room behind, for a call that answers; empty: none.

    Args:
        budget: of the run.
        rounds: rounds this loop has made.
        prompt_tokens: tokens that the next prompt is expected to have.
        pace: what a round took so far.
    """
    limits = budget.limits
    set_ = [(name, allowed) for name in LIMITS if (allowed := getattr(limits, name)) is not None]
    if not set_:
        return ""
    used = budget.used
    after_one_more = {
        "rounds": rounds + 1,
        "model_calls": used["model_calls"] + 2,
        "tokens": used["tokens"] + prompt_tokens,
        "seconds": budget.seconds + pace.round_seconds + pace.model_seconds,
        "cost": budget.cost + 2 * pace.cost,
    }
    for name, allowed in set_:
        counted = name in {"rounds", "model_calls"}
        if after_one_more[name] > allowed if counted else after_one_more[name] >= allowed:
            return name
    return ""


def landing_text(limit: str) -> str:
    """What the model is told in the call that must answer."""
    return filled("landing", why=_reasons()[limit])


@cache
def _reasons() -> dict[str, str]:
    lines = (line.partition(": ") for line in prompt("landing_reasons").splitlines())
    return {name: why for name, _, why in lines}
