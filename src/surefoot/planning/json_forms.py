"""Plans and calls written as JSON: `[{"name": ..., "arguments": {...}}]`, `{"steps": [...]}` and their relatives."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from surefoot.planning.tokens import read_value
from surefoot.planning.vocabulary import MEMORY, REPLY, Vocabulary

_LISTS: Final = ("steps", "plan", "calls", "tool_calls", "actions")
_NAMES: Final = ("name", "tool", "tool_name", "function", "action", "step")
_ARGUMENTS: Final = ("arguments", "args", "parameters", "params", "input", "action_input")
_BETWEEN: Final = re.compile(r"[\s,;]*")
_LONE_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Named:
    """A call read from JSON."""

    name: str
    arguments: dict[str, Any]


Item = Named | str
"""A call, or a text that is a step of its own."""


def read_all(text: str, known: Vocabulary) -> list[Item]:
    """The calls of the JSON values that a text starts with; what follows the last of them does not count."""
    items: list[Item] = []
    at = _skip(text, 0)
    while at < len(text) and text[at] in "[{":
        found = value_at(text, at)
        if found is None:
            break
        read = _items(found[0], known, 0)
        if not read:
            break
        items += read
        at = _skip(text, found[1])
    return items


def _skip(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def value_at(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value at an index and where it ends, strict first, then with Python's literals and quotes."""
    try:
        value, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return read_value(text, at)
    return (_scrubbed(value) if "\\u" in text else value), end


def _constant(name: str) -> str:
    """`NaN` and the infinities are no JSON; they stay texts."""
    return name


_decoder: Final = json.JSONDecoder(parse_constant=_constant)


def _scrubbed(value: Any) -> Any:
    """The value without lone surrogates, which no database and no wire takes."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    return value


_MAX_DEPTH: Final = 4
"""`{"plan": {"steps": [{...}]}}` has three levels; deeper is no plan."""


def _items(value: Any, known: Vocabulary, depth: int) -> list[Item]:
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, str):
        return [value] if value.strip() and depth else []
    if isinstance(value, list):
        return [item for part in value for item in _items(part, known, depth + 1)]
    if not isinstance(value, dict):
        return []
    for key in _LISTS:
        if isinstance(value.get(key), (list, dict)):
            return _items(value[key], known, depth + 1)
    return _call(value, known, depth)


def _call(value: dict[str, Any], known: Vocabulary, depth: int) -> list[Item]:
    for key in _NAMES:
        inner = value.get(key)
        if isinstance(inner, dict):
            return _call(inner, known, depth + 1) if depth <= _MAX_DEPTH else []
        if isinstance(inner, str):
            return _named(inner.strip(), value, key, known)
    if len(value) == 1:
        ((name, arguments),) = value.items()
        if _is_known(name, known):
            return [Named(name, _object(arguments))]
    return []


def _named(name: str, value: dict[str, Any], key: str, known: Vocabulary) -> list[Item]:
    if not _is_known(name, known):
        return (
            [name] if name else []
        )  # `{"step": "webSearch query='x'"}`, or an unknown tool, which reads as prose
    for arguments in _ARGUMENTS:
        if arguments in value:
            return [Named(name, _object(value[arguments]))]
    return [Named(name, {other: item for other, item in value.items() if other not in {key, "id", "type"}})]


def _is_known(name: str, known: Vocabulary) -> bool:
    return name in known.shapes or name in {MEMORY, REPLY}


def _object(value: Any) -> dict[str, Any]:
    """Arguments as an object; a JSON text of one is decoded, a text for `reply` kept."""
    if isinstance(value, str):
        found = value_at(value, 0) if value.lstrip()[:1] == "{" else None
        return found[0] if found and isinstance(found[0], dict) else {"": value} if value else {}
    return value if isinstance(value, dict) else {}
