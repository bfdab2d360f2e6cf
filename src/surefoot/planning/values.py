"""Values of a plan, typed by a tool's JSON Schema: `"5"` is 5 for an integer and stays `"5"` for a text.

Only what the schema settles is changed here; a value that fits in no reading is left as it is, and `fits` says so.
Defaults, enums and unset optionals are the business of `tools.arguments`, which every call passes.
"""

from __future__ import annotations

from typing import Any

from surefoot.planning.literals import Bare, literal, unwrapped
from surefoot.planning.tokens import read_value

Schema = dict[str, Any]
_ALL_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_MAX_HOPS = 16
"""References followed in one schema; a schema that refers to itself must not hang us."""


def resolved(schema: Any, root: Schema) -> Schema:
    """The schema with local `$ref`s followed; anything that is no object allows everything."""
    for _ in range(_MAX_HOPS):
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        schema = _at(root, reference[2:].split("/"))
    return {}


def _at(root: Schema, path: list[str]) -> Any:
    place: Any = root
    for part in path:
        if not isinstance(place, dict):
            return {}
        place = place.get(part.replace("~1", "/").replace("~0", "~"), {})
    return place


def types_of(schema: Any, root: Schema, depth: int = 0) -> frozenset[str]:
    """The JSON types a schema allows, `integer` also where `number` is allowed."""
    schema = resolved(schema, root)
    if depth > _MAX_HOPS:
        return _ALL_TYPES
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list) and branches:
        return frozenset().union(*(types_of(branch, root, depth + 1) for branch in branches))
    named = schema.get("type")
    if named is None:
        return _types_of_enum(schema)
    found = frozenset(named if isinstance(named, list) else [named])
    return found | {"integer"} if "number" in found else found


def _types_of_enum(schema: Schema) -> frozenset[str]:
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(allowed, list) and allowed:
        return frozenset(type_of(value) for value in allowed)
    if "properties" in schema:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in schema else _ALL_TYPES


def type_of(value: Any) -> str:
    """The JSON type of a value; a whole float is a number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in (
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return name
    return "unknown"


def typed(value: Any, schema: Any, root: Schema) -> Any:
    """The value in the type its schema asks for, where it can be read so; else as it was written."""
    allowed = types_of(schema, root)
    if isinstance(value, str):
        return _typed_text(value, allowed, schema, root)
    if isinstance(value, list):
        return _typed_list(value, allowed, resolved(schema, root), root)
    if isinstance(value, dict):
        return _typed_object(value, allowed, resolved(schema, root), root)
    return _whole(value, allowed)


def _typed_text(value: str, allowed: frozenset[str], schema: Any, root: Schema) -> Any:
    bare = isinstance(value, Bare)
    text = str(value)
    if bare:
        read = literal(text)
        if read is None or (not isinstance(read, str) and type_of(_whole(read, allowed)) in allowed):
            return _whole(read, allowed)
    if "string" in allowed:
        return text
    if bare and not isinstance(literal(text), str):
        return _whole(literal(text), allowed)
    return _decoded(text, allowed, schema, root)


def _decoded(text: str, allowed: frozenset[str], schema: Any, root: Schema) -> Any:
    """A text where the schema allows none: the value it spells, if that is of an allowed type."""
    stripped = text.strip()
    read: Any = literal(
        stripped.lower() if stripped.lower() in {"true", "false", "null", "none"} else stripped
    )
    if stripped.lower() == "none":
        read = None
    if stripped[:1] in {"[", "{"}:
        found = read_value(stripped)
        read = found[0] if found and found[1] == len(stripped) else text
    read = _whole(read, allowed)
    if type_of(read) not in allowed:
        return text
    return typed(read, schema, root) if isinstance(read, (list, dict)) else read


def _whole(value: Any, allowed: frozenset[str]) -> Any:
    """`5.0` is 5 where only whole numbers are allowed."""
    if isinstance(value, float) and value.is_integer() and "integer" in allowed and "number" not in allowed:
        return int(value)
    return value


def _typed_list(value: list[Any], allowed: frozenset[str], schema: Schema, root: Schema) -> Any:
    if "array" not in allowed:
        return unwrapped(value)
    branch = _branch(schema, root, "array")
    items = branch.get("items", {})
    return [typed(item, items, root) for item in value]


def _typed_object(value: dict[str, Any], allowed: frozenset[str], schema: Schema, root: Schema) -> Any:
    if "object" not in allowed:
        return unwrapped(value)
    branch = _branch(schema, root, "object")
    known = branch.get("properties") or {}
    others = branch.get("additionalProperties", {})
    return {key: typed(item, known.get(key, others), root) for key, item in value.items()}


def _branch(schema: Schema, root: Schema, kind: str) -> Schema:
    """The one branch of a union that allows this type; the schema itself where there is no union."""
    branches = schema.get("anyOf") or schema.get("oneOf")
    if not isinstance(branches, list):
        return schema
    fitting = [resolved(branch, root) for branch in branches if kind in types_of(branch, root)]
    return fitting[0] if len(fitting) == 1 else {}


def fits(value: Any, schema: Any, root: Schema) -> bool:
    """The value has an allowed type, all the way down, and is one of the allowed values where they are listed."""
    schema = resolved(schema, root)
    if type_of(value) not in types_of(schema, root):
        return False
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list) and branches:
        return any(fits(value, branch, root) for branch in branches)
    if not _is_listed(value, schema):
        return False
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {}), root) for item in value)
    if isinstance(value, dict):
        return _object_fits(value, schema, root)
    return True


def _is_listed(value: Any, schema: Schema) -> bool:
    """Enum values compare without regard to case, since `tools.arguments` folds them."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(allowed, list):
        return True
    if isinstance(value, str):
        return value.casefold() in {item.casefold() for item in allowed if isinstance(item, str)}
    return value in allowed


def _object_fits(value: dict[str, Any], schema: Schema, root: Schema) -> bool:
    known = schema.get("properties") or {}
    if any(name not in value for name in schema.get("required", ())):
        return False
    return all(fits(item, known[key], root) for key, item in value.items() if key in known)
