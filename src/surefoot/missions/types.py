"""What missions are made of: agents, missions, executions, feedback. All of it is plain data, as JSON and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal, Self, TypeVar

from surefoot.errors import InputError
from surefoot.missions.cadence import Cadence, zone_of

T = TypeVar("T")

Policy = Literal["auto", "confirm", "deny"]
AgentState = Literal["active", "paused"]
MissionState = Literal["active", "paused", "done", "archived"]
Phase = Literal["queued", "prepare", "plan", "work", "answer", "wait", "done"]

POLICIES = ("auto", "confirm", "deny")
AGENT_STATES = ("active", "paused")
MISSION_STATES = ("active", "paused", "done", "archived")
PHASES = ("queued", "prepare", "plan", "work", "answer", "wait", "done")
"""Where an execution stands, or failed: nobody took it yet, its tools and model are opened, a plan is made, calls are
made, the answer is written, a person must decide, it ended."""

MAX_NAME = 200
"""Characters of a title or a name: one line on a screen."""

MAX_TEXT = 4_000
"""Of concept, goal, persona or one feedback: about 1,000 tokens, and all of them stand in every execution's prompt."""

MAX_INPUTS = 8_000
"""Of all inputs as JSON: they stand in every execution's prompt, too. What is longer belongs into a note or a file."""

MAX_CONCURRENCY = 64
"""Executions of one agent at once: more than any provider lets one account ask."""


MOST = 2**53
"""Of any number: JSON carries whole numbers exactly up to here."""


class _Record:
    """JSON both ways for the dataclasses below."""

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON; times in ISO 8601."""
        return {item.name: _json(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The record that `to_dict` wrote.

        Raises:
            InputError: a field is unknown or its value cannot be used.
        """
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        for name in data:
            if name not in known:
                raise _bad(
                    f"{cls.__name__} has no field {name!r}.", f"It has: {', '.join(sorted(known))}.", name
                )
        missing = sorted(known - set(data) - _optional(cls))
        if missing:
            raise _bad(f"{cls.__name__} needs {missing[0]!r}.", "Give it.", missing[0])
        return cls(**{name: _value(name, value) for name, value in data.items()})

    def with_(self, **changes: Any) -> Self:
        """A copy with these fields changed, checked like a new one."""
        return replace(self, **changes)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Agent(_Record):
    """Who runs missions.

    Args:
        id: 12 hex digits.
        name: one line.
        persona: how it speaks and what it minds, for the prompt.
        memory: look up what was remembered, and keep a diary of its executions.
        policy: what may run, by tool, kit or effect; over the settings' policy.
        daily_tokens: tokens its executions may use in one local day; None: no limit.
        daily_cost: the same in the account's currency.
        concurrency: executions at once.
        state: `paused` starts nothing.
        version: grows with every write.
        deleted: it is gone for people; its rows stay.
    """

    id: str
    name: str
    persona: str = ""
    memory: bool = True
    policy: Mapping[str, Policy] = field(default_factory=dict)
    daily_tokens: int | None = None
    daily_cost: float | None = None
    concurrency: int = 1
    state: AgentState = "active"
    version: int = 1
    deleted: bool = False

    def __post_init__(self) -> None:
        _set(self, "name", one_line("name of an agent", self.name))
        _text("persona", self.persona)
        _flag("memory", self.memory)
        _policy(self.policy)
        _at_least("daily_tokens", self.daily_tokens, 0, whole=True)
        _at_least("daily_cost", self.daily_cost, 0)
        _at_least("concurrency", self.concurrency, 1, whole=True, optional=False)
        if self.concurrency > MAX_CONCURRENCY:
            raise _bad(
                f"concurrency is {self.concurrency}.", f"Give 1 to {MAX_CONCURRENCY}.", self.concurrency
            )
        _one_of("state", self.state, AGENT_STATES)


@dataclass(frozen=True, slots=True)
class Feedback(_Record):
    """What a person said of a mission or, with `execution`, of one execution of it."""

    id: str
    mission: str
    text: str
    execution: str = ""
    actor: str = "person:me"
    at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise _bad(
                "The feedback is empty.", "Say what should be different, or what was right.", self.text
            )
        _text("feedback", self.text)


@dataclass(frozen=True, slots=True)
class Mission(_Record):
    """A standing goal.

    Args:
        id: 12 hex digits.
        title: one line.
        goal: what each execution is to reach.
        concept: why, and how it is meant; for the prompt.
        inputs: values it works with, by name; JSON.
        kits: kits and servers whose tools it may call; empty: all.
        cadence: when it runs.
        zone: IANA name; the cadence's clock and what "today" is.
        state: only `active` runs.
        limits: of each execution, over the settings' limits.
        agent: id of who runs it; empty: nobody in particular, with the settings' policy.
        feedback: what people said of it, newest last.
        version: grows with every write.
        deleted: the tombstone: it is gone for people; its rows stay.
    """

    id: str
    title: str
    goal: str
    concept: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    kits: tuple[str, ...] = ()
    cadence: Cadence = field(default_factory=Cadence)
    zone: str = "UTC"
    state: MissionState = "active"
    limits: Mapping[str, float] = field(default_factory=dict)
    agent: str = ""
    feedback: tuple[Feedback, ...] = ()
    version: int = 1
    deleted: bool = False

    def __post_init__(self) -> None:
        _set(self, "title", one_line("title of a mission", self.title))
        _set(self, "goal", self.goal.strip() if isinstance(self.goal, str) else self.goal)
        if not self.goal:
            raise _bad(f"The goal is {self.goal!r}.", "Say what each execution is to reach.", self.goal)
        _text("goal", self.goal)
        _text("concept", self.concept)
        _inputs(self.inputs)
        _set(self, "kits", _names("kits", self.kits))
        zone_of(self.zone)
        _one_of("state", self.state, MISSION_STATES)
        _limits(self.limits)


@dataclass(frozen=True, slots=True)
class Execution(_Record):
    """One execution of a mission: the run of the same id holds what it did; this is what it came to.

    Args:
        id: the run's id.
        mission: whose.
        occurrence: key of the occurrence it is for; no two executions of a mission have the same.
        number: counts the mission's executions from 1.
        status: as a run's (`docs/decisions/0001`); `queued` before there is a run.
        phase: where it stands, or failed.
        summary: what it answered.
        calls: what was called, in order: `{"call", "tool", "arguments", "status", "undone"}`, long values cut.
        rounds: rounds of the loop.
        feedback: what people said of it.
        error: why it failed, as `SurefootError.to_dict`, with `phase`.
        tokens: of all its model calls.
        cost: what is known of their cost.
    """

    id: str
    mission: str
    occurrence: str = ""
    number: int = 1
    status: str = "queued"
    phase: str = "queued"
    summary: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    rounds: int = 0
    feedback: tuple[Feedback, ...] = ()
    error: Mapping[str, Any] | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tokens: int = 0
    cost: float = 0.0
    version: int = 1

    def __post_init__(self) -> None:
        _one_of("status", self.status, STATUSES)
        _one_of("phase", self.phase, PHASES)
        _at_least("number", self.number, 1, whole=True, optional=False)

    @property
    def ended(self) -> bool:
        """Nothing comes after this."""
        return self.status in ENDED


STATUSES = (
    "queued", "planning", "running", "interrupted", "needs_plan", "needs_input", "needs_approval", "needs_human",
    "checkpoint", "done", "failed", "cancelled",
)  # fmt: skip
"""Of a run (`journal.types.RunStatus`), written here because that module loads the database."""

ENDED = frozenset({"done", "failed", "cancelled"})


# --- JSON ----------------------------------------------------------------------------------------------------


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Cadence | _Record):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_json(item) for item in value]
    return {key: _json(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _value(name: str, value: Any) -> Any:
    if name == "cadence" and not isinstance(value, Cadence):
        return Cadence.from_dict(value)
    if name == "feedback":
        return tuple(one if isinstance(one, Feedback) else Feedback.from_dict(one) for one in value)
    if name in {"kits", "calls"} and isinstance(value, list):
        return tuple(value)
    if name in {"at", "started_at", "ended_at"} and isinstance(value, str):
        return datetime.fromisoformat(value)
    return value


def _optional(kind: type[Any]) -> set[str]:
    from dataclasses import MISSING

    return {f.name for f in fields(kind) if f.default is not MISSING or f.default_factory is not MISSING}


# --- checks --------------------------------------------------------------------------------------------------


def one_line(what: str, text: Any) -> str:
    """The text as one line.

    Raises:
        InputError: it is empty, no text, or longer than `MAX_NAME`.
    """
    line = " ".join(text.split()) if isinstance(text, str) else ""
    if not line or len(line) > MAX_NAME:
        raise _bad(
            f"The {what} is {text!r}.", f"Give 1 to {MAX_NAME} characters in one line.", repr(text)[:MAX_NAME]
        )
    return line


def _text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise _bad(f"{name} is {text!r}.", "Give a text.", repr(text))
    if len(text) > MAX_TEXT:
        raise _bad(
            f"{name} has {len(text)} characters; {MAX_TEXT} are allowed.",
            "Say it shorter, or keep the rest in a note that the mission reads.",
            len(text),
        )


def _names(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one for one in value):
        raise _bad(f"{name} is {value!r}.", "Give a list of names.", repr(value))
    return tuple(dict.fromkeys(value))


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _bad(f"{name} is {value!r}.", "Give true or false.", repr(value))


def _policy(policy: Any) -> None:
    if not isinstance(policy, Mapping):
        raise _bad(f"policy is {policy!r}.", 'Give {"deleteNote": "deny"} or the like.', repr(policy))
    for name, decision in policy.items():
        if not isinstance(name, str) or not name.strip() or decision not in POLICIES:
            raise _bad(
                f"policy for {name!r} is {decision!r}.",
                f"Give the name of a tool, kit or effect, and one of {', '.join(POLICIES)}.",
                repr(decision),
            )


def _at_least(name: str, value: Any, least: float, *, whole: bool = False, optional: bool = True) -> None:
    if value is None and optional:
        return
    right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not right or not math.isfinite(value) or not least <= value < MOST:
        raise _bad(
            f"{name} is {value!r}.", f"Give a{' whole' * whole} number from {least:g} on.", repr(value)
        )


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise _bad(f"{name} is {value!r}.", f"It is one of {', '.join(allowed)}.", repr(value))


def _inputs(inputs: Any) -> None:
    if not isinstance(inputs, Mapping) or not all(isinstance(key, str) for key in inputs):
        raise _bad(f"inputs is {inputs!r}.", 'Give values by name: {"city": "Bonn"}.', repr(inputs))
    try:
        size = len(json.dumps(dict(inputs), ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise _bad(
            f"inputs are no JSON: {error}.", "Give texts, numbers, lists and objects.", repr(inputs)
        ) from error
    if size > MAX_INPUTS:
        raise _bad(
            f"The inputs have {size} characters as JSON; {MAX_INPUTS} are allowed.",
            "Keep what is long in a note or a file that the mission reads.",
            size,
        )


def _limits(limits: Any) -> None:
    from surefoot.running.budget import NO_LIMITS

    if not isinstance(limits, Mapping):
        raise _bad(f"limits is {limits!r}.", 'Give numbers by name: {"writes": 5}.', repr(limits))
    for name, value in limits.items():
        _at_least(f"limit {name}", value, 0, optional=False)
        NO_LIMITS.with_settings({str(name): value})


def _set(record: Any, name: str, value: Any) -> None:
    """Only while it is made: a frozen record's tidied value."""
    object.__setattr__(record, name, value)


def _bad(message: str, next_move: str, value: Any) -> InputError:
    return InputError(message, next_move, value=value)
