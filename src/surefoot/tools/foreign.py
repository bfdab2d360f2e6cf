"""Function schemas and names as other systems write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from surefoot.errors import UnreadableInputError

TYPES = {
    "dict": "object",
    "map": "object",
    "hashmap": "object",
    "struct": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "int": "integer",
    "short": "integer",
    "byte": "integer",
    "bigint": "integer",
    "bool": "boolean",
    "str": "string",
    "char": "string",
    "text": "string",
    "tuple": "array",
    "list": "array",
    "set": "array",
    "arraylist": "array",
    "none": "null",
}
"""Type names of Python, Java and JavaScript that stand in published catalogues, and what JSON Schema calls them."""
KNOWN = frozenset({"object", "number", "integer", "boolean", "string", "array", "null"})

_SINGLE = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_CALLED = re.compile(r"\s*\(.*\)\s*\Z", re.DOTALL)


def plain_name(name: str) -> str:
    """A tool's name without what models put around it: `addNote()`, `` `addNote` ``, `functions.addNote`."""
    bare = name.strip().strip("`'\"*").strip()
    bare = _CALLED.sub("", bare)
    return bare.removeprefix("functions.")


def function_schema(item: Any, place: int) -> tuple[str, str, dict[str, Any]]:
    """Name, description and parameters of one function schema; `place` counts from 1 for the message."""
    given = item.get("function") if isinstance(item, Mapping) and "function" in item else item
    if not isinstance(given, Mapping):
        raise _unreadable(place, f"it is {type(given).__name__}, not an object")
    name = given.get("name")
    if not isinstance(name, str) or not name.strip():
        raise _unreadable(place, f"its name is {name!r}")
    description = given.get("description") or ""
    if not isinstance(description, str):
        raise _unreadable(place, f"the description of {name} is {type(description).__name__}, not text")
    parameters = given.get("parameters", given.get("input_schema"))
    if parameters is None:
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise _unreadable(place, f"the parameters of {name} are {type(parameters).__name__}, not an object")
    return name, description, _root(parameters)


def _root(parameters: Mapping[str, Any]) -> dict[str, Any]:
    schema = plain_schema(parameters)
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    known = [key for key in required if key in properties] if isinstance(required, list) else []
    rest = {key: value for key, value in schema.items() if key not in {"type", "properties", "required"}}
    return {"type": "object", "properties": properties, **({"required": known} if known else {}), **rest}


def plain_schema(schema: Any) -> Any:
    """The schema with JSON Schema's own names of types; what has no such type allows anything."""
    if not isinstance(schema, Mapping):
        return schema if isinstance(schema, bool) else {}
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            plain.update(_type(value))
        elif key in _NAMED and isinstance(value, Mapping):
            plain[key] = {str(name): plain_schema(part) for name, part in value.items()}
        elif key in _LISTS and isinstance(value, list):
            plain[key] = [plain_schema(part) for part in value]
        elif key in _SINGLE and isinstance(value, Mapping | bool):
            plain[key] = plain_schema(value)
        elif key in _CHECKED:
            plain.update({key: value} if _CHECKED[key](value) else {})
        else:
            plain[key] = value
    return plain


_CHECKED = {
    "required": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "description": lambda value: isinstance(value, str),
    "items": lambda value: isinstance(value, Mapping | bool),
    "properties": lambda value: isinstance(value, Mapping),
}
"""Keywords that other systems fill with something else (`required: true` at a property); then they say nothing."""


def _type(value: Any) -> dict[str, Any]:
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    kinds = [TYPES.get(str(name).casefold(), str(name).casefold()) for name in names]
    if not kinds or not set(kinds) <= KNOWN:
        return {}
    return {"type": kinds[0] if isinstance(value, str) else kinds}


def _unreadable(place: int, what: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"Function schema {place} cannot be read: {what}.",
        'Give {"name": ..., "description": ..., "parameters": {"type": "object", "properties": {...}}}.',
        place=place,
    )
