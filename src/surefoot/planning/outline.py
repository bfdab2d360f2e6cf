"""An outline: at most a handful of concrete steps, one call a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class StepKind(StrEnum):
    """What a step is, known by what it says and never by where it stands."""

    MEMORY = "memory"  # the directive searchMemory
    TOOL = "tool"  # a known tool is named
    REPLY = "reply"  # answer the person
    PROSE = "prose"  # neither: a model must decide


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `text` is what was written; the rest is what it parses to.

    `arguments` are typed by the tool's schema. `placeholders` are the texts `<what it is, from step N>` that stand in
    the arguments. `concrete`: it can run as it is, without a model.
    """

    text: str
    kind: StepKind
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    placeholders: tuple[str, ...] = ()
    concrete: bool = False

    @property
    def memory_topic(self) -> str:
        """What a memory step looks for; empty for any other step."""
        return str(self.arguments.get("topic", "")) if self.kind is StepKind.MEMORY else ""

    def to_dict(self) -> dict[str, Any]:
        """The step as JSON: text, kind, tool (None where there is none), arguments, placeholders, concrete."""
        return {
            "text": self.text,
            "kind": str(self.kind),
            "tool": self.tool or None,
            "arguments": self.arguments,
            "placeholders": list(self.placeholders),
            "concrete": self.concrete,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Step:
        """The step that `to_dict` wrote."""
        return cls(
            data["text"],
            StepKind(data["kind"]),
            data["tool"] or "",
            data["arguments"],
            tuple(data["placeholders"]),
            data["concrete"],
        )


@dataclass(frozen=True, slots=True)
class Outline:
    """Steps in order. Empty: the planner failed or is off. Only a reply: it decided that nothing is to be called."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def from_list(cls, data: Iterable[Mapping[str, Any]]) -> Outline:
        """The outline that `to_list` wrote."""
        return cls(tuple(Step.from_dict(dict(step)) for step in data))

    def to_list(self) -> list[dict[str, Any]]:
        """The steps as JSON."""
        return [step.to_dict() for step in self.steps]

    @property
    def is_empty(self) -> bool:
        """The planner failed or is off: go on as if there were none. Not the same as `is_reply_only`."""
        return not self.steps

    @property
    def is_reply_only(self) -> bool:
        """The planner decided that nothing is to be looked up or called."""
        return bool(self.steps) and all(step.kind is StepKind.REPLY for step in self.steps)

    @property
    def requires_memory(self) -> bool:
        """A step asks for what the person said in earlier conversations."""
        return any(step.kind is StepKind.MEMORY for step in self.steps)

    @property
    def memory_topic(self) -> str:
        """What to look for in memory; empty when no step asks, or the one that asks names nothing."""
        return next((step.memory_topic for step in self.steps if step.kind is StepKind.MEMORY), "")

    def work(self) -> tuple[Step, ...]:
        """The steps that are neither memory nor reply."""
        return tuple(step for step in self.steps if step.kind in {StepKind.TOOL, StepKind.PROSE})

    def tool_names(self, known: Iterable[str] | None = None) -> tuple[str, ...]:
        """The tools that the plan names, in order, each once; only those in `known` when it is given."""
        allowed = None if known is None else frozenset(known)
        named = (step.tool for step in self.steps if step.kind is StepKind.TOOL)
        return tuple(dict.fromkeys(name for name in named if allowed is None or name in allowed))

    def has_unresolved_tool_steps(self, known: Iterable[str] | None = None) -> bool:
        """There is something to do besides answering, and no step names a known tool ("get the weather").

        Filling in arguments for such a step would be guessing, so a chat model takes the turn.
        """
        return bool(self.work()) and not self.tool_names(known)
