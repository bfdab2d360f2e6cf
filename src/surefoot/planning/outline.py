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
