"""What a model wrote, turned into what the schema asks for, where there is only one way to understand it.

Nothing is replaced or guessed: what does not fit stays as it is, and validation names it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Json = Any
Coerce = Callable[[Json], Json]
Schema = Mapping[str, Any]

ALL = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
UNSET_TEXTS = frozenset({"None", ""})
"""How a model that was asked for every argument writes "none"; only where the argument may be left out."""
UNSET_WORDS = UNSET_TEXTS | {"null", "none", "undefined", "NULL"}
"""The same where the schema allows no text, so that no text can be meant."""
MAX_DECODED = 200_000
"""Characters of JSON sent as text that are decoded; longer is left alone, as parsing it could take seconds."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_MAX_DIGITS = 400
_CUT = re.compile(r"[\s_-]+|(?<=[a-z0-9])(?=[A-Z])")
_URL_NAMES = frozenset({"url", "uri", "href", "urls", "uris", "hrefs"})
_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_MARKDOWN_LINK = re.compile(
    r"!?\[[^\]]*\]\(\s*<?([^\s>)]+(?:\([^\s)]*\)[^\s)]*)?)>?(?:\s+\"[^\"]*\")?\s*\)\Z"
)
_ANGLES = re.compile(r"<([^<>\s]+)>\Z")
_HOST = re.compile(r"(?:[\w-]+\.)+[^\W\d_]{2,}\.?(?::\d{1,5})?(?:[/?#]\S*)?\Z")
_LOCAL = re.compile(r"(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:[/?#]\S*)?\Z")


def kind_of(value: Json) -> str:
    """The JSON Schema type of a value; a whole number is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list | tuple) else "object"


class Definitions:
    """The definitions of one schema; a reference that leads out of it allows anything, and nothing is fetched."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._made: dict[str, Coerce | None] = {}
        self._making: set[str] = set()

    def resolve(self, schema: Any) -> Any:
        """The schema itself, references followed."""
        for _ in range(32):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                return schema
            target = self._find(schema["$ref"])
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **beside} if isinstance(target, Mapping) else target
        return {}

    def _find(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return {}
        node: Any = self._root
        for part in reference[1:].strip("/").split("/") if reference != "#" else ():
            key = part.replace("~1", "/").replace("~0", "~")
            node = node.get(key, {}) if isinstance(node, Mapping) else {}
        return node

    def coercer(self, reference: str, make: Callable[[], Coerce | None]) -> Coerce | None:
        """The coercer of a definition, made once; one that refers to itself finds itself later."""
        if reference in self._making:
            return lambda value: self._later(reference, value)
        if reference not in self._made:
            self._making.add(reference)
            try:
                self._made[reference] = make()
            finally:
                self._making.discard(reference)
        return self._made[reference]

    def _later(self, reference: str, value: Json) -> Json:
        coerce = self._made.get(reference)
        return value if coerce is None else coerce(value)


def allowed(schema: Any, definitions: Definitions) -> frozenset[str]:
    """The JSON types a schema lets through."""
    schema = definitions.resolve(schema)
    if not isinstance(schema, Mapping):
        return ALL if schema is not False else frozenset()
    kinds = ALL
    if schema.get("type"):
        stated = schema["type"]
        kinds = frozenset([stated] if isinstance(stated, str) else stated)
    choices = choices_of(schema)
    if choices is not None:
        kinds &= _kinds(choices)
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            kinds &= frozenset().union(*(allowed(part, definitions) for part in schema[key]))
    return kinds


def _kinds(values: Iterable[Json]) -> frozenset[str]:
    kinds = {kind_of(value) for value in values}
    return frozenset(kinds | {"number"} if "integer" in kinds else kinds)


def choices_of(schema: Schema) -> list[Json] | None:
    """The allowed values, where they are listed."""
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    return [schema["const"]] if "const" in schema else None


def coercer(schema: Any, definitions: Definitions, name: str = "") -> Coerce | None:
    """A function that turns a value into what the schema asks for; None where there is nothing to do."""
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        resolved = definitions.resolve(schema)
        return definitions.coercer(f"{schema['$ref']} {name}", lambda: _coercer(resolved, definitions, name))
    return _coercer(schema, definitions, name)


def _coercer(schema: Any, definitions: Definitions, name: str) -> Coerce | None:
    if not isinstance(schema, Mapping):
        return None
    kinds = allowed(schema, definitions)
    steps: list[Coerce | None] = [
        _number_step(kinds),
        None if "string" in kinds else _decode_step(kinds),
        _enum_step(choices_of(schema)),
        clean_url if "string" in kinds and says_url(name, schema) else None,
        _items_step(schema, definitions, name),
        _object_step(schema, definitions),
        _branch_step(schema, definitions, name),
    ]
    return _in_turn([step for step in steps if step is not None])


def _in_turn(steps: list[Coerce]) -> Coerce | None:
    if not steps:
        return None
    if len(steps) == 1:
        return steps[0]

    def coerce(value: Json) -> Json:
        for step in steps:
            value = step(value)
        return value

    return coerce


def _number_step(kinds: frozenset[str]) -> Coerce | None:
    """A whole number written with a point is an integer where only integers are allowed."""
    if "integer" not in kinds or "number" in kinds:
        return None
    return lambda value: int(value) if isinstance(value, float) and value.is_integer() else value


def _decode_step(kinds: frozenset[str]) -> Coerce:
    def decode(value: Json) -> Json:
        if not isinstance(value, str):
            return value
        decoded = decode_text(value, kinds)
        kind = kind_of(decoded)
        fits = kind in kinds or (kind == "integer" and "number" in kinds)
        return decoded if fits and not isinstance(decoded, str) else value

    return decode


def decode_text(text: str, kinds: frozenset[str] = ALL) -> Json:
    """The JSON (or Python literal) a text holds; the text itself where it holds none."""
    bare = text.strip()
    word = bare.casefold()
    if word in {"true", "false"}:
        return word == "true"
    if word in {"null", "none"}:
        return None
    if len(bare) <= _MAX_DIGITS and _NUMBER.match(bare):
        return _number(bare, kinds)
    if bare[:1] in {"[", "{"} and len(bare) <= MAX_DECODED:
        return _structure(bare)
    return text


def _number(text: str, kinds: frozenset[str]) -> Json:
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        return text
    return int(value) if "number" not in kinds and value.is_integer() else value


def _structure(text: str) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def _refuse_constant(text: str) -> Json:
    raise ValueError(text)


def _enum_step(choices: list[Json] | None) -> Coerce | None:
    if not choices:
        return None
    exact = {choice for choice in choices if isinstance(choice, str)}
    folded: dict[str, str | None] = {}
    for choice in exact:
        key = choice.strip().casefold()
        folded[key] = None if key in folded else choice

    def fold(value: Json) -> Json:
        if not isinstance(value, str) or value in exact:
            return value
        return folded.get(value.strip().casefold()) or value

    return fold


def _items_step(schema: Schema, definitions: Definitions, name: str) -> Coerce | None:
    each = (
        coercer(schema.get("items"), definitions, name) if isinstance(schema.get("items"), Mapping) else None
    )
    if each is None:
        return None
    first = len(schema.get("prefixItems") or ())
    return lambda value: (
        [*value[:first], *(each(item) for item in value[first:])] if isinstance(value, list) else value
    )


def _object_step(schema: Schema, definitions: Definitions) -> Coerce | None:
    if not schema.get("properties"):
        return None
    fields = Fields(schema, definitions)
    return lambda value: fields.read(value, {}) if isinstance(value, dict) else value


def _branch_step(schema: Schema, definitions: Definitions, name: str) -> Coerce | None:
    """Among alternatives, the one that takes values of this type, if there is only one."""
    parts = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    branches = [(allowed(part, definitions), coercer(part, definitions, name)) for part in parts]
    if not any(branch for _, branch in branches):
        return None

    def choose(value: Json) -> Json:
        kind = kind_of(value)
        fitting = [branch for kinds, branch in branches if kind in kinds]
        return fitting[0](value) if len(fitting) == 1 and fitting[0] else value

    return choose


class Field:
    """One property: how its value is coerced, and what counts as not given."""

    __slots__ = ("_choices", "_kinds", "_null_is_value", "_typed", "coerce", "required")

    def __init__(self, name: str, schema: Any, definitions: Definitions, *, required: bool) -> None:
        resolved = definitions.resolve(schema)
        bare: Schema = resolved if isinstance(resolved, Mapping) else {}
        self.required = required
        self.coerce = coercer(schema, definitions, name)
        self._kinds = allowed(schema, definitions)
        self._typed = self._kinds != ALL
        choices = choices_of(bare) or []
        self._choices = frozenset(choice for choice in choices if isinstance(choice, str))
        self._null_is_value = "null" in self._kinds and (required or bare.get("default") is not None)

    def is_unset(self, value: Json) -> bool:
        """It says "no value", so it is left out (an error where it is required)."""
        if value is None:
            return not self._null_is_value
        if not isinstance(value, str) or value in self._choices:
            return False
        if "string" not in self._kinds:
            return value.strip() in UNSET_WORDS and not (self.required and "null" in self._kinds)
        if self.required:
            return value == "None" and self._typed
        return value in UNSET_TEXTS


class Fields:
    """The properties of an object. Unknown keys stay, unless the schema forbids them or `strict` is set."""

    def __init__(self, schema: Schema, definitions: Definitions, *, strict: bool = False) -> None:
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        self._fields = {
            str(name): Field(str(name), part, definitions, required=name in needed)
            for name, part in (schema.get("properties") or {}).items()
        }
        extra = schema.get("additionalProperties", not strict)
        self._patterns = [
            re.compile(text) for text in (schema.get("patternProperties") or {}) if compiles(text)
        ]
        self._keeps_unknown = extra is not False

    def read(self, given: dict[str, Json], dropped: dict[str, Json]) -> dict[str, Json]:
        """The coerced properties; unknown and required-but-unset ones are put into `dropped`."""
        kept: dict[str, Json] = {}
        for name, value in given.items():
            field = self._fields.get(name)
            if field is None:
                if self._keeps(name):
                    kept[name] = value
                else:
                    dropped[name] = value
            elif field.is_unset(value):
                if field.required:
                    dropped[name] = value
            else:
                kept[name] = value if field.coerce is None else field.coerce(value)
        return kept

    def _keeps(self, name: str) -> bool:
        return self._keeps_unknown or any(pattern.search(name) for pattern in self._patterns)


def compiles(pattern: Any) -> bool:
    """Python can read this pattern; schemas from elsewhere hold patterns of other engines."""
    try:
        re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError):
        return False
    return True


# --- addresses -----------------------------------------------------------------------------------------------


def says_url(name: str, schema: Schema) -> bool:
    """The schema says that the text is an address: by its format, or by a name whose last word is url, uri or href."""
    if schema.get("format") in _URL_FORMATS:
        return True
    words = _CUT.split(name)
    return words[-1].casefold() in _URL_NAMES


def clean_url(value: Json) -> Json:
    """An address out of a Markdown link, with a scheme. What does not look like an address stays as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    link = _MARKDOWN_LINK.match(text) or _ANGLES.match(text)
    if link:
        text = link.group(1)
    if text.startswith("//"):
        return f"https:{text}"
    if _LOCAL.match(text):
        return f"http://{text}"
    if _HOST.match(text):
        return f"https://{text}"
    return text if link or "://" in text else value
