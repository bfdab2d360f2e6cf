"""Figures for Prometheus, derived from the events of the journal (docs/watching.md lists them).

registry = metrics.start()   # from now on, for every run of this process
metrics.render()             # the text that a scrape gets
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from surefoot.errors import MisuseError
from surefoot.events import Event, EventType
from surefoot.journal.types import FINAL, RunStatus
from surefoot.running import policy, watching

if TYPE_CHECKING:
    from datetime import datetime

    from prometheus_client import CollectorRegistry

OUTCOMES: Mapping[EventType, str] = {
    EventType.CALL_DONE: "done",
    EventType.CALL_FAILED: "failed",
    EventType.CALL_REFUSED: "refused",
    EventType.CALL_INTERRUPTED: "interrupted",
    EventType.CALL_UNKNOWN: "unknown",
    EventType.APPROVAL_DECLINED: "declined",
}
"""How a call ends. One that waits for a person has not ended and is not counted yet."""

MERGED = "merged"
"""An equal call was answered from an earlier one."""

OTHER = "other"
MOST_TOOLS = 200
"""Names of tools and providers that get a series of their own. A series lives as long as the process: names beyond
this many, and names that a model made up, count as `other`. Built-in kits have some forty; MCP servers bring more."""

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")

ROUND = re.compile(r"round\.(\d+)")
PLAN = "plan"

ROUND_BUCKETS = (1, 2, 3, 4, 5, 8, 12, 20)
"""A plan is 1; 5 is the default limit of the loop's rounds; what lies above was allowed by a setting."""

SECOND_BUCKETS = (0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 900, 1800)
"""From a plain reply of a hosted model to the local limit of 900 s, and what goes beyond it."""


class Metrics:
    """The four families in one registry, and the watcher that fills them.

    Args:
        registry: where they are; their names must be free in it.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Histogram

        self.registry = registry
        self.tool_calls = Counter(
            "surefoot_tool_calls",
            "Tool calls by how they ended.",
            ("tool", "policy", "outcome"),
            registry=registry,
        )
        self.rounds = Histogram(
            "surefoot_planner_rounds",
            "Times that a model chose what to do, per ended run: a plan is one, each round of the loop is one.",
            buckets=ROUND_BUCKETS,
            registry=registry,
        )
        self.provider_errors = Counter(
            "surefoot_provider_errors",
            "Model calls that ended in an error of the provider, after all retries.",
            ("provider", "kind"),
            registry=registry,
        )
        self.seconds = Histogram(
            "surefoot_run_duration_seconds",
            "Seconds of work on a run, from its start (or from when it was taken up again) until it ended or rested.",
            ("status",),
            buckets=SECOND_BUCKETS,
            registry=registry,
        )
        self._tools = _Bounded()
        self._providers = _Bounded()

    def leave(self) -> None:
        """The registry does not hold them any more."""
        for family in (self.tool_calls, self.rounds, self.provider_errors, self.seconds):
            self.registry.unregister(family)

    def watcher(self, watched: watching.Watched) -> _RunMetrics:
        """What counts one piece of work on a run."""
        return _RunMetrics(self, watched)

    def tool(self, name: str) -> str:
        """The label of a tool that exists."""
        return self._tools(name)

    def provider(self, model: str) -> str:
        """The label of a model's provider."""
        name = model.partition(":")[0]
        return self._providers(name) if ":" in model and _PROVIDER.fullmatch(name) else OTHER


class _Bounded:
    """Label values, the first so many of them."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        if name not in self._known and len(self._known) >= MOST_TOOLS:
            return OTHER
        self._known.add(name)
        return name


class _RunMetrics:
    """Counts one piece of work on a run. Calls are looked up by id: their end does not always name the tool."""

    content = False

    def __init__(self, metrics: Metrics, watched: watching.Watched) -> None:
        self._metrics = metrics
        self._watched = watched
        self._planned = False
        self._rounds = 0
        self._tools: dict[str, str] = {}
        self._since: datetime | None = None

    def happened(self, event: Event, *, fresh: bool, said: watching.Said = ()) -> None:
        """See `RunWatcher.happened`."""
        del said
        self._note(event)
        if not fresh:
            return
        if self._since is None and watching.begins(event):
            self._since = event.at
        if event.type in OUTCOMES:
            self._count_call(event)
        elif watching.rests(event):
            self._count_run(event)

    def provider_failed(self, failure: watching.ProviderFailure) -> None:
        """See `RunWatcher.provider_failed`."""
        labels = (self._metrics.provider(failure.model), failure.kind)
        self._metrics.provider_errors.labels(*labels).inc()

    def _note(self, event: Event) -> None:
        if event.type is EventType.MODEL_CALLED:
            key = str(event.data.get("key", ""))
            number = ROUND.fullmatch(key)
            self._planned = self._planned or key == PLAN
            self._rounds = max(self._rounds, int(number[1])) if number else self._rounds
        elif "call" in event.data and "tool" in event.data:
            self._tools[event.data["call"]] = event.data["tool"]

    def _count_call(self, event: Event) -> None:
        name = self._tools.get(event.data["call"], "")
        outcome = OUTCOMES[event.type] if event.data.get("merged_into") is None else MERGED
        labels = (OTHER, OTHER)
        tool = self._watched.tool(name)
        if tool is not None:
            labels = (self._metrics.tool(name), policy.decide(tool, self._watched.policy))
        self._metrics.tool_calls.labels(*labels, outcome).inc()

    def _count_run(self, event: Event) -> None:
        status = RunStatus(event.data["status"])
        if self._since and event.at:
            seconds = (event.at - self._since).total_seconds()
            self._metrics.seconds.labels(str(status)).observe(max(seconds, 0.0))
        chosen = self._planned + self._rounds
        if status in FINAL and chosen:
            self._metrics.rounds.observe(chosen)


# --- one for the process --------------------------------------------------------------------------------------

_running: list[tuple[Metrics, watching.Unwatch]] = []


def start(registry: CollectorRegistry | None = None) -> CollectorRegistry:
    """Count every run of this process from now on; the registry that holds the figures. Again: the same one.

    Args:
        registry: an own one, such as `prometheus_client.REGISTRY`; by default a new one with nothing else in it.

    Raises:
        MisuseError: they are counted in another registry already.
    """
    if not _running:
        from prometheus_client import CollectorRegistry

        metrics = Metrics(CollectorRegistry() if registry is None else registry)
        _running.append((metrics, watching.watch(metrics.watcher)))
    current = _running[0][0].registry
    if registry not in {None, current}:
        raise MisuseError(
            "Runs are counted in another registry already.", "Call `metrics.stop()` first, or use that one."
        )
    return current


def render() -> bytes:
    """What a scrape gets: all of the registry in Prometheus' text format (`prometheus_client.CONTENT_TYPE_LATEST`)."""
    from prometheus_client import generate_latest

    return generate_latest(start())


def stop() -> None:
    """Count no more runs, and take the figures out of their registry: a next `start` begins with new ones."""
    while _running:
        metrics, unwatch = _running.pop()
        unwatch()
        metrics.leave()
