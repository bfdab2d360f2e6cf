"""What is written of a call: its data as JSON, and its events."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

from sqlalchemy import Connection

from surefoot import redaction
from surefoot.errors import SurefootError, ToolError
from surefoot.events import EventType
from surefoot.journal.types import Body, Call, EventList
from surefoot.tools.types import Tool

T = TypeVar("T")


def start_data(call: Call) -> dict[str, Any]:
    """Data of the event that a call begins, waits or is refused."""
    return {
        "call": call.id,
        "tool": call.tool,
        "step": call.step,
        "arguments": call.arguments,
        "effect": str(call.effect),
    }


def begun(call: Call) -> EventList:
    """The event that the call starts. The journal says when."""
    return [(EventType.CALL_INTENDED, start_data(call))]


def as_tool_error(tool: Tool, error: Exception) -> SurefootError:
    """A tool may raise anything; what it raises is told as our own kind of error."""
    return error if isinstance(error, SurefootError) else ToolError(f"{tool.name} failed: {error!r}.")


def unknown_outcome(tool: str) -> ToolError:
    """What is said of a call that may or may not have had its effect."""
    return ToolError(
        f"Whether {tool} took effect is not known: it was interrupted while it ran.",
        "Look at what it should have changed; it is not repeated by itself.",
    )


def as_json(value: Any) -> Any:
    """A tool's result as JSON of its own: what JSON cannot say is said as text, and nobody else holds any of it."""
    try:
        return _copied(value)
    except _NotPlainError:
        from pydantic_core import to_json

        return json.loads(to_json(value, fallback=str, inf_nan_mode="strings"))


class _NotPlainError(Exception):
    """Not made of JSON's own types, or too deep."""


_DEPTH = 100
"""Deeper than any real result; far from the interpreter's limit."""


def _copied(value: Any, depth: int = 0) -> Any:
    kind = type(value)
    if value is None or kind is str or kind is int or kind is bool:
        return value
    if depth > _DEPTH:
        raise _NotPlainError
    if kind is dict:
        if not all(type(key) is str for key in value):
            raise _NotPlainError
        return {key: _copied(item, depth + 1) for key, item in value.items()}
    if kind is list:
        return [_copied(item, depth + 1) for item in value]
    if kind is float and math.isfinite(value):
        return value
    raise _NotPlainError


def always(value: T) -> Body[T]:
    """A body that needs no transaction."""

    def body(tx: Connection | None) -> T:
        del tx
        return value

    return body


def done_data(call: Call, merged_into: int | None = None) -> dict[str, Any]:
    """Data of the event that a call was done."""
    took = 0.0
    if call.started_at and call.finished_at:
        took = (call.finished_at - call.started_at).total_seconds()
    data = {
        "call": call.id,
        "ordinal": call.ordinal,
        "step": call.step,
        "tool": call.tool,
        "result": call.result,
        "ms": round(took * 1000, 1),
        "undoable": call.undoable,
    }
    return data if merged_into is None else {**data, "merged_into": merged_into}


def holds_secret(*images: Any) -> bool:
    """A registered secret stands in one of these images."""
    return any(redaction.redact_json(image) != image for image in images)
