"""JSON Schema to grammar rules (GBNF, the notation of llama.cpp).

The rules write JSON with one fixed spacing (`", "` and `": "`), so that a model has no room for endless blanks and a
sentence has exactly one derivation. What a grammar cannot say (formats, patterns, unique items, wide ranges) is left to
the validator that every call meets anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from surefoot.errors import MisuseError

MAX_TEXT = 2000
"""Characters of one text. llama.cpp refuses repetitions above 2,000; a text this long is read as cut (families)."""
MAX_ITEMS = 50
"""Items of one list, whatever its schema allows; a list this long is read as cut."""
MAX_ENTRIES = 20
"""Entries of an object whose keys are free."""
MAX_ENUMERATED = 64
"""An integer range up to this wide is written out value by value; a wider one is checked by the validator."""
FREE_DEPTH = 2
"""Levels below a value of any type. Deeper ones were never needed and each level multiplies the rules."""

NOT_ANGLE = r'[^"\\<\x00-\x1F\x7F] | "\\" ["\\/bfnrt]'
"""How a text begins where placeholders are possible: `<` begins a placeholder, and nothing that only looks like one."""
CHAR = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]'
"""One character of a JSON text. No `\\u` escapes: they allow half a surrogate pair, and models write UTF-8."""
DIGITS = "[1-9] [0-9]{0,14}"  # 15 digits survive a double unchanged
FRACTION = '("." [0-9]{1,10})?'

_TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
_TYPE_HINTS = {
    "properties": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
}


class RuleBook:
    """Named rules, equal bodies kept once."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def add(self, hint: str, body: str) -> str:
        """The name of a rule with this body, made from `hint` where it is new."""
        if body in self._names:
            return self._names[body]
        name = self.reserve(hint)
        self._bodies[name] = body
        self._names[body] = name
        return name

    def reserve(self, hint: str) -> str:
        """A new name whose body follows by `define`; lets a rule mention itself."""
        base = re.sub(r"[^a-zA-Z0-9]+", "-", hint).strip("-").lower() or "rule"
        base = base[:40] if base[0].isalpha() else f"r-{base[:38]}"
        name, number = base, 1
        while name in self._bodies or name == "root":
            number += 1
            name = f"{base}-{number}"
        self._bodies[name] = ""
        return name

    def define(self, name: str, body: str) -> None:
        """The body of a reserved name."""
        self._bodies[name] = body

    def text(self, root: str) -> str:
        """The grammar, one rule a line, `root` first."""
        lines = [f"root ::= {root}"]
        lines += [f"{name} ::= {body}" for name, body in self._bodies.items()]
        return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    """`text` as a GBNF literal."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char == "\n":
            out.append("\\n")
        elif ord(char) < 0x20 or ord(char) == 0x7F:  # noqa: PLR2004 - the control characters of ASCII
            out.append(f"\\x{ord(char):02X}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def json_literal(value: Any) -> str:
    """The JSON spelling of `value` as a GBNF literal; lone surrogates stay escaped."""
    spelled = json.dumps(value, ensure_ascii=False)
    try:
        spelled.encode()
    except UnicodeEncodeError:
        spelled = json.dumps(value)
    return literal(spelled)


class ValueRules:
    """Writes the rules of values into a book.

    Args:
        book: where the rules go.
        document: the schema that `$ref` pointers start from.
        placeholder: name of a rule that may stand for any value, or None.
        angle: a text may begin with `<`.
        bound: rules for arguments that may not be any value of their schema, by name.
    """

    def __init__(
        self,
        book: RuleBook,
        document: dict[str, Any],
        placeholder: str | None = None,
        *,
        angle: bool = True,
        bound: Mapping[str, str] | None = None,
    ) -> None:
        self._angle = angle
        self._bound = bound or {}
        self._book = book
        self._document = document
        self._placeholder = placeholder
        self._refs: dict[str, str] = {}

    def value(self, schema: Any, *, nullable: bool = True) -> str:
        """The name of the rule for a value of `schema`. Not `nullable`: null is no choice where there is another."""
        alternatives = self._alternatives(schema)
        if not nullable:
            alternatives = [one for one in alternatives if one != '"null"'] or alternatives
        if self._placeholder and not self._any_text_in(alternatives):
            alternatives.append(self._placeholder)
        if len(alternatives) == 1 and re.fullmatch(r"[a-z][a-z0-9-]*", alternatives[0]):
            return alternatives[0]
        return self._book.add("value", " | ".join(alternatives))

    def _any_text_in(self, alternatives: list[str]) -> bool:
        """Any text may be written there, what looks like a placeholder too."""
        return self._angle and self._book.add("text", self._text({})) in alternatives

    def arguments(self, schema: dict[str, Any]) -> str:
        """The rule for the argument object of a tool: one that declares no properties takes none."""
        schema = self.object_of(schema)
        if not schema.get("properties") and not isinstance(schema.get("additionalProperties"), dict):
            return self._book.add("none", '"{}"')
        return self._object(schema)

    def members(self, schema: dict[str, Any]) -> list[tuple[str, str, bool]]:
        """`(key, rule of its value, required)`: the required first, each group in declared order."""
        properties = {key: one for key, one in (schema.get("properties") or {}).items() if one is not False}
        required = [key for key in properties if key in (schema.get("required") or ())]
        required += [key for key in schema.get("required") or () if key not in properties]
        optional = [key for key in properties if key not in required]
        found = [(key, self._member(key, properties.get(key, True)), True) for key in required]
        return found + [(key, self._member(key, properties[key], nullable=False), False) for key in optional]

    def _member(self, key: str, schema: Any, *, nullable: bool = True) -> str:
        if key not in self._bound:
            return self.value(schema, nullable=nullable)
        rule = self._bound[key]
        if isinstance(schema, dict) and schema.get("type") == "array":
            rule = self._book.add("list", f'"[" {rule} (", " {rule}){{0,{MAX_ITEMS - 1}}} "]"')
        if self._placeholder in {None, rule}:
            return rule
        return self._book.add("value", f"{rule} | {self._placeholder}")

    def _alternatives(self, schema: Any) -> list[str]:
        if schema is True or schema == {}:
            return [self._any(FREE_DEPTH)]
        if not isinstance(schema, dict):
            raise MisuseError(f"A schema is {schema!r}, which is no JSON Schema.", "Give an object.")
        if "$ref" in schema:
            return [self._reference(str(schema["$ref"]))]
        if "allOf" in schema:
            return self._alternatives(self._merged(schema))
        if "const" in schema:
            return [json_literal(schema["const"])]
        if "enum" in schema:
            return [json_literal(one) for one in schema["enum"]]
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self._any_of(schema, schema[word])
        return self._typed(schema)

    def _any_of(self, schema: dict[str, Any], parts: list[Any]) -> list[str]:
        rest = {key: one for key, one in schema.items() if key not in {"anyOf", "oneOf"}}
        found: list[str] = []
        for part in parts:
            whole = {**rest, **part} if isinstance(part, dict) else part
            found += [one for one in self._alternatives(whole) if one not in found]
        return found

    def _typed(self, schema: dict[str, Any]) -> list[str]:
        kinds = schema.get("type") or next((kind for key, kind in _TYPE_HINTS.items() if key in schema), None)
        if kinds is None:
            return [self._any(FREE_DEPTH)]
        found: list[str] = []
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if kind == "integer" and "number" in kinds and not isinstance(kinds, str):
                continue  # every integer is a number: two ways to one sentence
            found += [one for one in self._of_type(str(kind), schema) if one not in found]
        return found

    def _of_type(self, kind: str, schema: dict[str, Any]) -> list[str]:
        if kind == "boolean":
            return ['"true"', '"false"']
        if kind == "null":
            return ['"null"']
        if kind == "integer":
            return self._integers(schema)
        if kind == "number":
            return [self._book.add("number", f"{_whole(_low(schema), zero=True)} {FRACTION}")]
        writers = {"string": self._string, "array": self._array, "object": self._object}
        if kind not in writers:
            raise MisuseError(f"A schema has the type {kind!r}.", f"JSON Schema knows {', '.join(_TYPES)}.")
        return [writers[kind](schema)]

    def _string(self, schema: dict[str, Any]) -> str:
        return self._book.add("text", self._text(schema))

    def _text(self, schema: dict[str, Any]) -> str:
        char = self._book.add("char", CHAR)
        low = min(int(schema.get("minLength", 0)), MAX_TEXT)
        high = max(low, min(int(schema.get("maxLength", MAX_TEXT)), MAX_TEXT))
        if self._angle or high == 0:
            return rf'"\"" {char}{{{low},{high}}} "\""'
        first = self._book.add("first", NOT_ANGLE)
        body = rf"{first} {char}{{{max(low - 1, 0)},{high - 1}}}"
        return rf'"\"" {body} "\""' if low else rf'"\"" ({body})? "\""'

    def _integers(self, schema: dict[str, Any]) -> list[str]:
        low, high = _low(schema, whole=True), _high(schema)
        if low is not None and high is not None and 0 <= high - low < MAX_ENUMERATED:
            return [json_literal(number) for number in range(int(low), int(high) + 1)]
        return [self._book.add("integer", _whole(low, zero=low is None or low < 1))]

    def _array(self, schema: dict[str, Any]) -> str:
        fixed = schema.get("prefixItems") or []
        if fixed:
            return self._book.add(
                "tuple", _joined(['"["', *_separated([self.value(one) for one in fixed]), '"]"'])
            )
        item = self.value(schema.get("items", True))
        low = int(schema.get("minItems", 0))
        high = max(low, min(int(schema.get("maxItems", MAX_ITEMS)), MAX_ITEMS))
        if high == 0:
            return self._book.add("empty", '"[]"')
        more = f'(", " {item}){{{max(low - 1, 0)},{high - 1}}}'
        inner = f"{item} {more}" if low else f"({item} {more})?"
        return self._book.add("list", f'"[" {inner} "]"')

    def _object(self, schema: dict[str, Any]) -> str:
        members = self.members(schema)
        if not members:
            return self._free_object(schema)
        pairs = [
            (f"{literal(json.dumps(key, ensure_ascii=False) + ': ')} {rule}", must)
            for key, rule, must in members
        ]
        return self._book.add("object", f'"{{" {self.listed(pairs)} "}}"')

    def listed(self, pairs: list[tuple[str, bool]]) -> str:
        """The parts with `", "` between them; those not required may be left out."""
        required = [body for body, must in pairs if must]
        optional = [body for body, must in pairs if not must]
        tails = self._tails(optional)
        if required:
            return _joined([*_separated(required), tails[0] if tails else ""])
        starts = [
            _joined([body, tails[at + 1] if at + 1 < len(tails) else ""]) for at, body in enumerate(optional)
        ]
        return f"({' | '.join(starts)})?" if starts else ""

    def _tails(self, optional: list[str]) -> list[str]:
        """For each optional part the rule of what may follow from there on; linear in their number."""
        tails: list[str] = []
        for body in reversed(optional):
            rest = tails[0] if tails else ""
            tails.insert(0, self._book.add("more", _joined([f'(", " {body})?', rest])))
        return tails

    def _free_object(self, schema: dict[str, Any]) -> str:
        free = schema.get("additionalProperties", True)
        if free is False:
            return self._book.add("none", '"{}"')
        rule = self._any(FREE_DEPTH - 1) if free is True else self.value(free)
        return self._book.add("map", self._map(rule))

    def _map(self, value: str) -> str:
        key = self._string({"minLength": 1, "maxLength": 60})
        return f'"{{" ({key} ": " {value} (", " {key} ": " {value}){{0,{MAX_ENTRIES - 1}}})? "}}"'

    def _any(self, depth: int) -> str:
        number = self._book.add("number", f"{_whole(None, zero=True)} {FRACTION}")
        simple = [self._string({}), number, '"true"', '"false"', '"null"']
        if depth > 0:
            below = self._any(depth - 1)
            simple.append(f'"[" ({below} (", " {below}){{0,{MAX_ITEMS - 1}}})? "]"')
            simple.append(self._map(below))
        return self._book.add("any", " | ".join(simple))

    def _reference(self, pointer: str) -> str:
        if pointer not in self._refs:
            target = self._follow(pointer)
            name = self._refs[pointer] = self._book.reserve(pointer.rsplit("/", 1)[-1])
            self._book.define(name, " | ".join(self._alternatives(target)))
        return self._refs[pointer]

    def _follow(self, pointer: str) -> Any:
        """What a pointer means, through pointers to pointers."""
        seen = [pointer]
        while True:
            target = self._at(seen[-1])
            if not isinstance(target, dict) or "$ref" not in target:
                return target
            if target["$ref"] in seen:
                raise MisuseError(f"The schema refers in a circle: {' -> '.join([*seen, target['$ref']])}.")
            seen.append(target["$ref"])

    def _at(self, pointer: str) -> Any:
        target: Any = self._document
        for part in pointer.removeprefix("#").strip("/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if key and (not isinstance(target, dict) or key not in target):
                raise MisuseError(f"The schema refers to {pointer!r}, which it does not have.")
            target = target[key] if key else target
        return target

    def object_of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The object schema itself, where it is written as a reference or as parts."""
        if "$ref" in schema:
            schema = self._follow(str(schema["$ref"]))
        return self._merged(schema) if "allOf" in schema else schema

    def _merged(self, schema: dict[str, Any]) -> dict[str, Any]:
        merged = {key: one for key, one in schema.items() if key != "allOf"}
        for part in map(self.object_of, schema["allOf"]):
            properties = {**merged.get("properties", {}), **part.get("properties", {})}
            required = [*merged.get("required", []), *part.get("required", [])]
            merged = {**merged, **part}
            if properties:
                merged |= {"properties": properties, "required": required}
        return merged


def _joined(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def _separated(parts: list[str]) -> list[str]:
    return [piece for at, part in enumerate(parts) for piece in (['", "', part] if at else [part])]


def _low(schema: dict[str, Any], *, whole: bool = False) -> float | None:
    if whole and "exclusiveMinimum" in schema:
        return int(schema["exclusiveMinimum"] // 1) + 1
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    return None if low is None else -(-low // 1) if whole else low


def _high(schema: dict[str, Any]) -> float | None:
    if "exclusiveMaximum" in schema:
        return -int(-schema["exclusiveMaximum"] // 1) - 1
    high = schema.get("maximum")
    return None if high is None else high // 1


def _whole(low: float | None, *, zero: bool) -> str:
    sign = '"-"? ' if low is None or low < 0 else ""
    return f'{sign}("0" | {DIGITS})' if zero else f"{sign}{DIGITS}"
