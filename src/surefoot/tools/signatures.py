"""A tool's schema in one short line, for prompts, messages and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS = {"string": "text", "integer": "int", "number": "number", "boolean": "bool", "object": "object"}
"""Short names a person and a small model both read; a JSON Schema type costs twice the tokens."""

MAX_CHOICES = 12
"""More allowed values than this are cut: a list of all countries would drown the line."""


def signature(name: str, parameters: Mapping[str, Any]) -> str:
    """`addNote(title: text, text?: text, tags?: list of text)`; `?` marks what may be left out."""
    required = set(parameters.get("required") or ())
    properties = parameters.get("properties") or {}
    parts = [
        f"{key}{'' if key in required else '?'}: {_type(part)}{_default(part)}"
        for key, part in properties.items()
    ]
    return f"{name}({', '.join(parts)})"


def _default(part: Any) -> str:
    value = part.get("default") if isinstance(part, Mapping) else None
    return "" if value is None else f" = {value}"


def _type(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    choices = part.get("enum") or ([part["const"]] if "const" in part else None)
    if choices:
        shown = "|".join(str(choice) for choice in choices[:MAX_CHOICES])
        return shown + ("|…" if len(choices) > MAX_CHOICES else "")
    branches = part.get("anyOf") or part.get("oneOf")
    if branches:
        return " or ".join(dict.fromkeys(_type(branch) for branch in branches))
    kinds = part.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    return " or ".join(_word(kind, part) for kind in kinds) or "any"


def _word(kind: str, part: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"list of {_type(part.get('items', True))}"
    if kind == "object" and part.get("properties"):
        return signature("", part)[1:-1].join("{}")
    return WORDS.get(kind, kind)
