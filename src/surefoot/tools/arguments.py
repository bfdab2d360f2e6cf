"""Arguments as a model wrote them, coerced and validated by the tool's JSON Schema.

Validation is by `jsonschema`: of the three that were weighed (this machine, five properties) it is the slowest, 28 µs a
call against 1 for fastjsonschema and 0.2 for jsonschema-rs, and still a fraction of the 100 µs allowed. It is the
one that names every problem (fastjsonschema stops at the first) and that adds no compiled library of 15 MB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import ArgumentError, ToolDefinitionError
from surefoot.tools import coercion
from surefoot.tools.signatures import signature

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    from surefoot.tools.types import Tool

MAX_SHOWN = 80
"""Characters of a value in a message: enough to recognise it."""
MAX_PROBLEMS = 20
_DEPTH = 200
"""Nested deeper than any real argument; the interpreter's own limit lies not far above."""


def prepare(tool: Tool, raw: Any) -> tuple[dict[str, Any], list[str]]:
    """The arguments as the tool's schema wants them, and what the person should know of it.

    Args:
        tool: the tool to be called.
        raw: an object, the text of one, or nothing (None, empty text), which means `{}`.

    Returns:
        The arguments (a new dict; `raw` is unchanged) and notices, one sentence each.

    Raises:
        ArgumentError: with all problems, their values and the next move. Nothing else is raised for any JSON.
    """
    return tool.reader.read(raw)


class ArgumentReader:
    """Compiled from one tool's parameters; made once and kept by the tool."""

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self._parameters = parameters
        definitions = coercion.Definitions(parameters)
        self._known = parameters.get("properties") or {}
        free = not self._known and "additionalProperties" not in parameters
        try:
            self._fields = coercion.Fields(parameters, definitions, strict=not free)
            self._validator = _validator(parameters)
            self._plain = _plain_types(parameters)
        except (ToolDefinitionError, TypeError, AttributeError, ValueError) as error:
            raise ToolDefinitionError(
                f"{name}: its parameters are no JSON Schema: {error}.", "Mend the schema."
            ) from error

    def read(self, raw: Any) -> tuple[dict[str, Any], list[str]]:
        """See `prepare`."""
        try:
            given = self._object(raw)
            dropped: dict[str, Any] = {}
            arguments = self._fields.read(given, dropped)
            if not (self._plainly_valid(arguments) or self._validator.is_valid(arguments)):
                raise self._misfit(arguments, dropped)
        except RecursionError as error:
            raise self._error(["the arguments are nested too deep to be read"]) from error
        if not dropped:
            return arguments, []
        return arguments, [self._notice(key, value) for key, value in dropped.items()]

    def _plainly_valid(self, arguments: dict[str, Any]) -> bool:
        """Valid beyond doubt: of a schema that asks for single plain types, at a tenth of the validator's cost."""
        if self._plain is None or not self._plain.required <= arguments.keys():
            return False
        types = self._plain.types
        return all(type(value) is types.get(name) for name, value in arguments.items())

    def _object(self, raw: Any) -> dict[str, Any]:
        value = self._from_text(raw) if isinstance(raw, str) else raw
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._error([f"the arguments are {shown(value)}, and must be one object"])
        if _deeper(value, _DEPTH):
            raise self._error(["the arguments are nested too deep to be read"])
        return value

    def _from_text(self, raw: str) -> Any:
        """JSON sent as text, once or (some gateways do) twice."""
        value: Any = raw
        for _ in range(2):
            if not isinstance(value, str):
                return value
            if not value.strip():
                return None
            try:
                value = json.loads(value)
            except ValueError as error:
                raise self._error([f"the arguments are {shown(raw)}, which is no JSON object"]) from error
        return value

    def _notice(self, key: str, value: Any) -> str:
        return f"{self.name} has no argument {key!r}; {shown(value)} was left out."

    def _misfit(self, arguments: dict[str, Any], dropped: dict[str, Any]) -> ArgumentError:
        errors = sorted(
            self._validator.iter_errors(arguments), key=lambda error: [str(p) for p in error.path]
        )
        problems = [problem for error in errors for problem in _problems(error, dropped)]
        near = [self._notice(key, value) for key, value in dropped.items() if key not in self._known]
        return self._error([*dict.fromkeys(problems)], near)

    def _error(self, problems: list[str], notices: Iterable[str] = ()) -> ArgumentError:
        told = problems[:MAX_PROBLEMS]
        more = len(problems) - len(told)
        text = "; ".join(told) + (f"; and {more} more" if more else "")
        return ArgumentError(
            f"{self.name}: {text}.",
            " ".join([*notices, f"Call it as {signature(self.name, self._parameters)}."]),
            problems=problems,
            tool=self.name,
        )


class _Plain(NamedTuple):
    """A schema that says no more than this: one plain type for each property, and which must be there."""

    types: dict[str, type]
    required: frozenset[str]


_PLAIN_TYPES = {"string": str, "integer": int, "boolean": bool}
"""Not number: a float may be infinite, which is for the validator to say."""
_SAYS_NOTHING = frozenset({"description", "title", "default", "examples"})


def _plain_types(parameters: Mapping[str, Any]) -> _Plain | None:
    """The plain form of a schema; None where it says more, and the validator must be asked."""
    if not set(parameters) <= {"type", "properties", "required", "additionalProperties", *_SAYS_NOTHING}:
        return None
    types: dict[str, type] = {}
    for name, schema in (parameters.get("properties") or {}).items():
        plain = isinstance(schema, Mapping) and set(schema) <= {"type", *_SAYS_NOTHING}
        stated = schema.get("type") if plain else None
        if isinstance(stated, str) and stated in _PLAIN_TYPES:
            types[name] = _PLAIN_TYPES[stated]
    return _Plain(types, frozenset(parameters.get("required") or ()))


_LEADS_OUT = frozenset({"$id", "$schema", "$dynamicRef"})


def _validator(parameters: Mapping[str, Any]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    schema = {**_enforceable(parameters, parameters), "type": "object"}
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = ".".join(str(part) for part in error.path) or "the schema"
        raise ToolDefinitionError(f"{place}: {error.message}") from error
    # An own, empty registry: a reference that leads out is never fetched.
    return Draft202012Validator(schema, registry=Registry())


def _enforceable(schema: Any, root: Mapping[str, Any]) -> Any:
    """The schema without what cannot be enforced here: patterns of other engines, references that lead nowhere."""
    if isinstance(schema, list):
        return [_enforceable(part, root) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"enum", "const", "default", "examples"}:
            kept[key] = value
        elif key == "pattern" and isinstance(value, str) and not coercion.compiles(value):
            continue
        elif key == "patternProperties" and isinstance(value, Mapping):
            kept[key] = {
                text: _enforceable(part, root) for text, part in value.items() if coercion.compiles(text)
            }
        elif isinstance(value, str) and (key in _LEADS_OUT or (key == "$ref" and not _leads_in(value, root))):
            continue
        else:
            kept[key] = _enforceable(value, root)
    return kept


def _leads_in(reference: str, root: Mapping[str, Any]) -> bool:
    node: Any = root
    if not reference.startswith("#"):
        return False
    for part in reference[1:].strip("/").split("/") if reference != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or key not in node:
            return False
        node = node[key]
    return isinstance(node, Mapping | bool)


def _deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True


# --- problems in words ---------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as it is told in a message: JSON, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = repr(type(value))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _problems(error: ValidationError, dropped: Mapping[str, Any]) -> list[str]:
    place = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required":
        required: Any = error.validator_value
        instance: Any = error.instance
        missing = [name for name in required if name not in instance]
        return [_missing(f"{place}.{name}" if place else str(name), dropped) for name in missing]
    keyword: Any = error.validator
    if keyword is None:  # a schema that is `false`
        return [f"{place} may not be given ({shown(error.instance)})".strip()]
    if error.validator == "additionalProperties" or not place:
        return [f"{place}: {error.message}" if place else error.message]
    return [f"{place} is {shown(error.instance)}, {_wanted(error)}"]


def _missing(place: str, dropped: Mapping[str, Any]) -> str:
    if place in dropped:
        return f"{place} is required and has no value ({shown(dropped[place])})"
    return f"{place} is required and missing"


def _wanted(error: ValidationError) -> str:
    value: Any = error.validator_value
    if error.validator == "enum":
        return f"not one of {', '.join(shown(choice) for choice in value)}"
    if error.validator == "type":
        kinds = value if isinstance(value, list) else [value]
        return f"not {' or '.join(_KINDS.get(str(kind), str(kind)) for kind in kinds)}"
    phrase = _PHRASES.get(str(error.validator))
    if phrase is not None:
        return phrase.format(value)
    return f"which does not fit {error.validator} {shown(value)}"


_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

_PHRASES = {
    "const": "not {!r}",
    "minimum": "less than {}",
    "maximum": "more than {}",
    "exclusiveMinimum": "not more than {}",
    "exclusiveMaximum": "not less than {}",
    "multipleOf": "not a multiple of {}",
    "minLength": "shorter than {} characters",
    "maxLength": "longer than {} characters",
    "pattern": "which does not match {!r}",
    "minItems": "fewer than {} items",
    "maxItems": "more than {} items",
    "uniqueItems": "with items that repeat",
}
