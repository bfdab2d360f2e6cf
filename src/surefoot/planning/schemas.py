"""JSON Schemas that bind a plan, or the arguments of one step, where a model takes a schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from surefoot.models.types import ToolSpec
from surefoot.planning.values import Schema, types_of
from surefoot.planning.vocabulary import MEMORY, REPLY

_TEXT: Final = {"type": "string"}
_MAX_DEPTH: Final = 8
"""Levels a schema is widened; deeper values cannot be placeholders."""


def plan_schema(tools: Iterable[ToolSpec], max_steps: int) -> Schema:
    """`{"steps": [{"name", "arguments"}]}` with the names, keys, types and enums of these tools.

    A placeholder is a text, so a text is allowed wherever a value is. Memory and reply come on top of `max_steps`.
    """
    branches = [_call(tool.name, widened(tool.parameters)) for tool in tools]
    branches.append({"type": "object", "properties": {"name": {"enum": [REPLY]}}, "required": ["name"]})
    return {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": {"anyOf": branches}, "minItems": 1, "maxItems": max_steps + 2}
        },
        "required": ["steps"],
    }


def _call(name: str, parameters: Schema) -> Schema:
    properties = {"name": {"enum": [name]}, "arguments": parameters}
    return {"type": "object", "properties": properties, "required": ["name", "arguments"]}


def calls_schema(parameters: Schema, most: int) -> Schema:
    """`{"calls": [arguments, ...]}` for one tool; an empty list says that the step cannot be filled in."""
    return {
        "type": "object",
        "properties": {"calls": {"type": "array", "items": parameters, "maxItems": most}},
        "required": ["calls"],
    }


def widened(schema: Any, root: Any = None, depth: int = 0) -> Any:
    """The schema with a text allowed in place of every value inside it, for placeholders."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return schema
    root = schema if root is None else root
    wide = dict(schema)
    if isinstance(schema.get("properties"), dict):
        wide["properties"] = {key: _or_text(part, root, depth) for key, part in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        wide["items"] = _or_text(schema["items"], root, depth)
    return wide


def _or_text(part: Any, root: Any, depth: int) -> Any:
    inner = widened(part, root, depth + 1)
    plain_text = isinstance(part, dict) and "enum" not in part and "const" not in part
    if plain_text and "string" in types_of(part, root) and not {"pattern", "format", "maxLength"} & set(part):
        return inner
    return {"anyOf": [inner, _TEXT]}


def memory_spec(description: str) -> ToolSpec:
    """How the directive is offered to a model in its own form; it is never a tool that runs."""
    parameters = {"type": "object", "properties": {"topic": _TEXT}, "required": ["topic"]}
    return ToolSpec(MEMORY, description, parameters)


def among(tools: Sequence[ToolSpec], only: Sequence[str] | None) -> tuple[ToolSpec, ...]:
    """The tools whose names are in `only`, in their own order; all of them when it is None."""
    return tuple(tool for tool in tools if only is None or tool.name in only)
