"""May this call run, must a person agree first, or is it denied? Asked by the executor and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from surefoot.errors import PolicyDeniedError
from surefoot.tools.types import Effect, Tool

Decision = Literal["auto", "confirm", "deny"]

BY_EFFECT: Mapping[Effect, Decision] = {
    Effect.READ: "auto",
    Effect.WRITE: "auto",  # undo beats approval wherever undo is possible
    Effect.EXTERNAL: "confirm",
}


def decide(tool: Tool, chosen: Mapping[str, Decision]) -> Decision:
    """The entry for the tool, else for its kit, else for its effect, else the default of the effect."""
    for name in (tool.name, tool.kit, str(tool.effect)):
        if name and name in chosen:
            return chosen[name]
    return BY_EFFECT[tool.effect]


def denied(tool: Tool) -> PolicyDeniedError:
    """The refusal a model can react to."""
    return PolicyDeniedError(
        f"The policy denies {tool.name}.",
        f"Do without it, or ask the person to allow it: `policy.{tool.name}` in the settings.",
        tool=tool.name,
    )
