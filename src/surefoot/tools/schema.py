"""JSON Schema from annotations: plain and small, because every token of it stands in the model's prompt."""

from __future__ import annotations

import types
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

Schema = dict[str, Any]

_BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "contains", "propertyNames")
_NAMED = ("properties", "patternProperties", "$defs")

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}
_PLAIN_CONTAINERS = (list, dict, Union, types.UnionType, Literal)


def without_none(annotation: Any) -> tuple[Any, bool]:
    """`(T, True)` for `T | None`, `(annotation, False)` for what takes no None."""
    if get_origin(annotation) is Annotated:
        inner, optional = without_none(get_args(annotation)[0])
        metadata = get_args(annotation)[1:]
        return (Annotated[(inner, *metadata)] if optional else annotation), optional
    if get_origin(annotation) not in {Union, types.UnionType}:
        return annotation, False
    kept = tuple(part for part in get_args(annotation) if part is not type(None))
    if len(kept) == len(get_args(annotation)):
        return annotation, False
    return (kept[0] if len(kept) == 1 else Union[kept]), True  # noqa: UP007 - built at run time


def is_json(annotation: Any) -> bool:
    """JSON values are already what this annotation asks for, so nothing is to be converted before a call."""
    if annotation in {str, int, float, bool, None, type(None), list, dict, Any}:
        return True
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_json(get_args(annotation)[0])
    if origin is Literal:
        return all(
            isinstance(value, str | int | None) and type(value) in _JSON for value in get_args(annotation)
        )
    return origin in _PLAIN_CONTAINERS and all(is_json(part) for part in get_args(annotation))


_JSON = {str, int, bool, type(None)}


def is_moment(annotation: Any) -> bool:
    """A date or a date with a time: it stays text for the model and is read in the person's zone and language."""
    bare = without_none(annotation)[0]
    if get_origin(bare) is Annotated:
        bare = get_args(bare)[0]
    return bare in {date, datetime}


def schemas_of(annotations: Mapping[str, Any]) -> tuple[dict[str, Schema], Schema]:
    """A schema for each name, and the definitions that recursive types still need.

    Raises:
        pydantic.PydanticSchemaGenerationError, pydantic.PydanticInvalidForJsonSchema: a type JSON cannot say.
    """
    found: dict[str, Schema] = {}
    others: dict[str, Any] = {}
    for name, annotation in annotations.items():
        plain = _plain(annotation)
        if plain is None:
            others[name] = str if is_moment(annotation) else annotation
        else:
            found[name] = plain
    definitions: Schema = {}
    if others:
        made, definitions = _by_pydantic(others)
        found.update(made)
    return {name: found[name] for name in annotations}, definitions


def _plain(annotation: Any) -> Schema | None:
    """The schema of the commonest annotations, which needs no pydantic."""
    if get_origin(annotation) is list and len(get_args(annotation)) == 1:
        items = _plain(get_args(annotation)[0])
        return None if items is None else {"type": "array", "items": items}
    try:
        return dict(_PLAIN[annotation])
    except (KeyError, TypeError):
        return None


def _by_pydantic(annotations: Mapping[str, Any]) -> tuple[dict[str, Schema], Schema]:
    from pydantic import TypeAdapter

    inputs = [(name, "validation", TypeAdapter(annotation)) for name, annotation in annotations.items()]
    made, shared = TypeAdapter.json_schemas(inputs)  # type: ignore[arg-type]
    definitions = shared.get("$defs", {})
    slim = _Slimmer(definitions)
    schemas = {name: slim(made[name, "validation"]) for name in annotations}
    return schemas, {name: slim(definitions[name]) for name in sorted(slim.kept)}


class _Slimmer:
    """Inlines definitions and drops the titles pydantic makes up; `kept` collects what refers to itself."""

    def __init__(self, definitions: Schema) -> None:
        self.definitions = definitions
        self.kept: set[str] = set()
        self._recursive = {name for name in definitions if self._reaches(name, name, set())}

    def __call__(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            return self._resolved(schema)
        slim = {key: self._part(key, value) for key, value in schema.items() if key != "title"}
        return _merged_types(slim)

    def _part(self, key: str, value: Any) -> Any:
        if key in _NAMED:
            return {name: self(part) for name, part in value.items()}
        if key in _BRANCHES:
            return [self(part) for part in value]
        if key in _SINGLE:
            return self(value)
        return value

    def _resolved(self, schema: Schema) -> Schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        beside = {key: value for key, value in schema.items() if key not in {"$ref", "title"}}
        if name in self._recursive:
            if name not in self.kept:
                self.kept.add(name)
                self(self.definitions[name])
            return {"$ref": schema["$ref"], **beside}
        return {**self(self.definitions[name]), **beside}

    def _reaches(self, start: str, goal: str, seen: set[str]) -> bool:
        for name in _references(self.definitions.get(start)):
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                if self._reaches(name, goal, seen):
                    return True
        return False


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"].rsplit("/", 1)[-1]] if isinstance(schema.get("$ref"), str) else []
        return own + [name for value in schema.values() for name in _references(value)]
    if isinstance(schema, list):
        return [name for value in schema for name in _references(value)]
    return []


def _merged_types(schema: Schema) -> Schema:
    """`anyOf` of bare types is a type list, which is shorter."""
    branches = schema.get("anyOf")
    if not branches or not all(isinstance(part, dict) and set(part) == {"type"} for part in branches):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {"type": [part["type"] for part in branches], **rest}
