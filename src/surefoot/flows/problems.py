"""What is wrong with a flow, in a form for people, programs and models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        path: the step: `4` is the fourth, `4.2` the second step in it, `4.else.1` the first of its else branch; `app`
            or `vars`; empty for the flow as a whole.
        code: stable; docs/flow-problems.md tells of each.
        message: one or two sentences that say what is wrong, with the value, and how to mend it. It is written so
            that it can be handed back to the model that wrote the flow.
        pointer: where in the JSON, as a JSON Pointer (RFC 6901).
        line: line in the person's file, from 1; None where the flow came from no text.
    """

    path: str
    code: str
    message: str
    pointer: str = ""
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON: `path`, `code`, `message`, `line`."""
        return {"path": self.path, "code": self.code, "message": self.message, "line": self.line}

    def __str__(self) -> str:
        where = f"step {self.path}" if self.path[:1].isdigit() else self.path or "the flow"
        return f"{where}: {self.message}"
