"""What a run may use. A call reserves before it starts, so parallel calls never pass a limit together."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import cache
from importlib.resources import files

from surefoot.errors import BudgetExceededError, SettingsError
from surefoot.journal.types import Call, ModelCall
from surefoot.models.types import Usage
from surefoot.tools.types import Effect, Tool


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run; None means there is none. Times in seconds, cost in the account's currency.

    The defaults are data: running/limits.toml.
    """

    rounds: float | None = None
    model_calls: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    writes: float | None = None
    external: float | None = None
    calls_per_tool: float | None = None
    cost: float | None = None

    def with_settings(self, chosen: Mapping[str, float]) -> Limits:
        """These limits with the person's own laid over them; SettingsError names an unknown one."""
        names = [item.name for item in fields(self)]
        for name, value in chosen.items():
            if name not in names:
                raise SettingsError(
                    f"There is no limit {name!r}.",
                    f"The limits are {', '.join(names)}.",
                    key=f"limits.{name}",
                )
            if not value >= 0:  # also what is no number: nothing is ever above it
                raise SettingsError(
                    f"Limit {name!r} is {value}: it must be 0 or more.",
                    "Give a number, or `inf` for no limit.",
                    key=f"limits.{name}",
                )
        return replace(self, **dict(chosen))


@cache
def _data() -> dict[str, dict[str, float]]:
    return tomllib.loads(files("surefoot.running").joinpath("limits.toml").read_text(encoding="utf-8"))


def default_limits(*, local: bool) -> Limits:
    """The defaults for a hosted or a local model."""
    return Limits(**_data()["local" if local else "hosted"])


NO_LIMITS = Limits()
"""For an undo: taking everything back must never stop half-way because the run it takes back was large."""


@dataclass
class Budget:
    """What one run has used so far, against its limits. Not shared between threads: one event loop uses it."""

    limits: Limits
    clock: Callable[[], float] = time.monotonic
    used: Counter[str] = field(default_factory=Counter)
    per_tool: Counter[str] = field(default_factory=Counter)
    before: float = 0.0
    """Seconds that earlier parts of an interrupted run took."""
    cost: float = 0.0
    """What is known of the cost of the answered model calls; calls of unknown cost add nothing here."""

    def __post_init__(self) -> None:
        self._start = self.clock()

    @property
    def seconds(self) -> float:
        """Seconds used, pauses left out."""
        return self.before + self.clock() - self._start

    def reserve_call(self, tool: Tool) -> None:
        """Take one call of this tool out of the budget; BudgetExceededError leaves the budget as it was."""
        self._check("seconds", self.seconds, 0)
        allowed = self._per_tool_limit(tool)
        if allowed is not None and self.per_tool[tool.name] + 1 > allowed:
            raise _exceeded(f"calls of {tool.name}", allowed, self.per_tool[tool.name], "calls_per_tool")
        kind = {Effect.WRITE: "writes", Effect.EXTERNAL: "external"}.get(tool.effect)
        if kind:
            self._check(kind, self.used[kind], 1)
            self.used[kind] += 1
        self.per_tool[tool.name] += 1

    def reserve_model_call(self) -> None:
        """Take one model call out of the budget, and check tokens, cost and time already used."""
        self._check("seconds", self.seconds, 0)
        self._check("tokens", self.used["tokens"], 0)
        self._check("cost", self.cost, 0)
        self._check("model_calls", self.used["model_calls"], 1)
        self.used["model_calls"] += 1

    def add_usage(self, usage: Usage) -> None:
        """Count tokens and cost of an answered model call; cached tokens count, they were still sent."""
        self.used["tokens"] += usage.prompt_tokens + usage.output_tokens
        self.cost += usage.cost or 0.0

    def recall_call(self, tool: Tool) -> None:
        """Count a call that an earlier part of this run made; never refuses."""
        kind = {Effect.WRITE: "writes", Effect.EXTERNAL: "external"}.get(tool.effect)
        if kind:
            self.used[kind] += 1
        self.per_tool[tool.name] += 1

    def recall_model_call(self, usage: Usage) -> None:
        """Count a model call that an earlier part of this run made; never refuses."""
        self.used["model_calls"] += 1
        self.add_usage(usage)

    def _per_tool_limit(self, tool: Tool) -> float | None:
        if tool.max_calls is not None:
            return tool.max_calls
        default = self.limits.calls_per_tool
        kit = _data()["calls_per_kit"].get(tool.kit)
        return kit if kit is not None and default is not None and kit > default else default

    def _check(self, name: str, used: float, more: float) -> None:
        allowed = getattr(self.limits, name)
        if allowed is not None and (used + more > allowed or (more == 0 and used >= allowed)):
            raise _exceeded(_WORDS.get(name, name.replace("_", " ")), allowed, used, name)


_WORDS = {"cost": "in the account's currency"}
"""How a message speaks of a limit whose name is no unit."""


def worked_seconds(calls: Iterable[Call], model_calls: Iterable[ModelCall]) -> float:
    """Seconds that calls of an earlier part of a run took; those side by side count once, pauses do not."""
    spans = [(call.started_at, call.finished_at) for call in calls if call.started_at and call.finished_at]
    spans += [
        (entry.at - timedelta(seconds=float(entry.completion["usage"]["seconds"])), entry.at)
        for entry in model_calls
        if entry.at
    ]
    total, reached = 0.0, None
    for start, end in sorted(spans):
        begin = start if reached is None or start > reached else reached
        total += max(0.0, (end - begin).total_seconds())
        reached = end if reached is None or end > reached else reached
    return total


def _exceeded(what: str, allowed: float, used: float, name: str) -> BudgetExceededError:
    return BudgetExceededError(
        f"The limit of {allowed:g} {what} for one run is reached ({used:g} used).",
        f"What was done stays done. Ask for the rest in a new run, or raise `limits.{name}` in the settings.",
        limit=name,
        allowed=allowed,
        used=used,
    )
