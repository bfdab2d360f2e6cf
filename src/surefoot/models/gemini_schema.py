"""JSON Schema as Gemini reads it: the subset of OpenAPI 3.0 that its `Schema` message has.

Gemini refuses a whole request for one keyword it does not know, for a list of types, for an array without items, for a
required name without a property. What it cannot hold is said in the description, or left out: the tool itself checks
its arguments against its own schema, so nothing becomes allowed by being left out here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

Form = dict[str, Any]

MAX_NODES = 2_000
"""Sub-schemas of one schema. References may multiply: twenty lines of definitions can name a million nodes."""

MAX_DEPTH = 24
"""Levels; deeper than any tool people wrote, and far from Python's own limit."""

FORMATS = {
    "STRING": frozenset({"date-time", "enum"}),
    "NUMBER": frozenset({"float", "double"}),
    "INTEGER": frozenset({"int32", "int64"}),
}
"""The formats that are accepted; any other is refused, and is said in the description instead."""

_COUNTS = {
    "STRING": ("minLength", "maxLength"),
    "ARRAY": ("minItems", "maxItems"),
    "OBJECT": ("minProperties", "maxProperties"),
}
_SAID = {
    "multipleOf": "A multiple of {}.",
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "uniqueItems": "No item twice.",
}
"""Keywords without a place in the form, as a sentence for the description."""

_NOT_RE2 = re.compile(r"\(\?(?!:)|\\[1-9]")
"""Lookarounds, named groups and references back: patterns are read by RE2, which has none of them."""

_BY_KEYWORD = (
    ("object", ("properties", "additionalProperties", "required", "patternProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
"""The type that a schema without one means, by the keywords that only that type has."""

_TYPES = ("string", "number", "integer", "boolean", "array", "object")


def parameters_form(schema: Mapping[str, Any]) -> Form | None:
    """The parameters of a tool as Gemini reads them; None where there are none, for an empty object is refused."""
    form = schema_form({"type": "object", **schema})
    return form if form.get("properties") else None


def schema_form(schema: Any) -> Form:
    """Any schema as Gemini reads it. References are written out; what has no form at all is "a scalar"."""
    return _Rewriter(schema).form(schema, 0, frozenset())


class _Rewriter:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._nodes = 0

    def form(self, schema: Any, depth: int, seen: frozenset[str]) -> Form:
        """The form of one sub-schema; `seen` are the references it stands inside of."""
        self._nodes += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return _scalar({})
        whole, seen = self._whole(schema, seen)
        branches = _branches(whole)
        if branches:
            return self._union(whole, branches, depth, seen)
        types = _types(whole)
        kinds = [kind for kind in types if kind != "null"]
        if len(kinds) > 1:
            return self._union(
                whole, [{**whole, "type": kind, "description": ""} for kind in kinds], depth, seen
            )
        if not kinds:
            return {"type": "NULL"} if types else _scalar(whole)
        form = self._typed(whole, kinds[0], depth, seen)
        if _allows_null(whole, types):
            form["nullable"] = True
        return form

    def _whole(self, schema: dict[str, Any], seen: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
        """The schema with its reference and the parts of `allOf` laid into it; what stands beside them wins."""
        found = dict(schema)
        while "$ref" in found:
            reference = str(found.pop("$ref"))
            target = self._target(reference)
            if reference in seen:  # inside itself: only what it is, not what it holds
                target = {key: target[key] for key in ("type", "description") if key in target}
            seen |= {reference}
            found = _merged(found, target)
        parts = found.pop("allOf", None)
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                inner, inside = self._whole(part, seen)
                seen |= inside
                found = _merged(found, inner)
        return found, seen

    def _target(self, reference: str) -> dict[str, Any]:
        """What a reference inside this schema names; nothing for any other, which cannot be looked up here."""
        value = self._root
        if not reference.startswith("#"):
            return {}
        for part in reference[1:].split("/")[1:]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            else:
                value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    def _union(
        self, whole: dict[str, Any], branches: Sequence[Any], depth: int, seen: frozenset[str]
    ) -> Form:
        """One of several forms. Beside `anyOf` nothing else may stand, so the rest goes into the branches."""
        shared = {
            key: value
            for key, value in whole.items()
            if key not in {"anyOf", "oneOf", "type", "description", "nullable"}
        }
        forms: list[Form] = []
        for branch in branches:
            made = self.form(_merged(branch, shared) if isinstance(branch, dict) else branch, depth + 1, seen)
            forms += [one for one in made.get("anyOf", [made]) if one not in forms]
        kept = [form for form in forms if form != {"type": "NULL"}]
        nullable = len(kept) < len(forms) or whole.get("nullable") is True or "null" in _types(whole)
        if not kept:
            return {"type": "NULL"}
        if nullable:
            kept = [{**form, "nullable": True} for form in kept]
        _describe(kept[0], whole.get("description"))
        return kept[0] if len(kept) == 1 else {"anyOf": kept}

    def _typed(self, whole: dict[str, Any], kind: str, depth: int, seen: frozenset[str]) -> Form:
        form: Form = {"type": kind.upper()}
        notes = _notes(whole, form)
        if kind == "object":
            form.update(self._object(whole, depth, seen))
        elif kind == "array":
            form["items"] = self._items(whole, depth, seen)
        _describe(form, whole.get("description"), *notes)
        return form

    def _object(self, whole: dict[str, Any], depth: int, seen: frozenset[str]) -> Form:
        properties = whole.get("properties")
        if not isinstance(properties, dict):
            return {}
        forms = {
            str(name): self.form(schema, depth + 1, seen)
            for name, schema in properties.items()
            if schema is not False
        }
        required = [name for name in forms if name in _list(whole.get("required"))]
        found: Form = {"properties": forms} if forms else {}
        return {**found, "required": required} if required else found

    def _items(self, whole: dict[str, Any], depth: int, seen: frozenset[str]) -> Form:
        """The form of an array's items: what may stand in any of them, for the places of a tuple are not told apart."""
        places: list[Any] = [place for place in _list(whole.get("prefixItems")) if isinstance(place, dict)]
        items = whole.get("items")
        if isinstance(items, list):  # how drafts before 2020-12 wrote tuples
            places += items
        elif isinstance(items, dict) or not places:
            places.append(items)
        return self._union({}, places, depth, seen)


def _branches(whole: Mapping[str, Any]) -> list[Any]:
    for key in ("anyOf", "oneOf"):
        if _list(whole.get(key)):
            return _list(whole[key])
    return []


def _types(whole: Mapping[str, Any]) -> list[str]:
    """The types a schema allows, said or meant; empty where it allows any."""
    given = whole.get("type")
    known = [
        kind for kind in ([given] if isinstance(given, str) else _list(given)) if kind in (*_TYPES, "null")
    ]
    if known:
        return list(dict.fromkeys(known))
    values = _values(whole)
    if values:
        return list(dict.fromkeys(_type_of(value) for value in values))
    return next(([kind] for kind, keys in _BY_KEYWORD if any(key in whole for key in keys)), [])


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    by_class = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return by_class.get(type(value), "object")


def _values(whole: Mapping[str, Any]) -> list[Any]:
    """The values it is one of; empty where it is not bound to values."""
    return [whole["const"]] if "const" in whole else _list(whole.get("enum"))


def _allows_null(whole: Mapping[str, Any], types: Sequence[str]) -> bool:
    return "null" in types or whole.get("nullable") is True or None in _values(whole)


def _notes(whole: Mapping[str, Any], form: Form) -> list[str]:
    """Put the limits that have a place into the form; the others as sentences."""
    kind = form["type"]
    notes = [sentence.format(whole[key]) for key, sentence in _SAID.items() if _is_said(whole, key)]
    notes += _limit_values(whole, form)
    for key in _COUNTS.get(kind, ()):
        if _is_number(whole.get(key)):
            form[key] = int(whole[key])
    if kind in {"NUMBER", "INTEGER"}:
        form.update({key: whole[key] for key in ("minimum", "maximum") if _is_number(whole.get(key))})
    notes += _limit_text(whole, form)
    if whole.get("default") is not None:
        notes.append(f"Default: {_shown(whole['default'])}.")
    return notes


def _is_said(whole: Mapping[str, Any], key: str) -> bool:
    return whole.get(key) is True if key == "uniqueItems" else _is_number(whole.get(key))


def _limit_values(whole: Mapping[str, Any], form: Form) -> list[str]:
    """`enum` is for texts, and none of them may be empty; other values are told."""
    values = [value for value in _values(whole) if value is not None and value != ""]
    if not values:
        return []
    if form["type"] == "STRING":
        form["enum"] = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        return []
    return [f"One of: {', '.join(map(_shown, values))}."]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _limit_text(whole: Mapping[str, Any], form: Form) -> list[str]:
    notes = []
    given = whole.get("format")
    if isinstance(given, str):
        if given in FORMATS.get(form["type"], ()):
            form["format"] = given
        else:
            notes.append(f"Format: {given}.")
    pattern = whole.get("pattern")
    if form["type"] == "STRING" and isinstance(pattern, str):
        if _NOT_RE2.search(pattern):
            notes.append(f"Matches {pattern}")
        else:
            form["pattern"] = pattern
    return notes


def _scalar(whole: Mapping[str, Any]) -> Form:
    """A value of any type: Gemini wants one, so it is a text, a number, or true and false."""
    first: Form = {"type": "STRING"}
    _describe(first, whole.get("description"))
    return {"anyOf": [first, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}


def _describe(form: Form, *texts: Any) -> None:
    """Put texts in front of the form's own description."""
    said = [
        text.strip() for text in (*texts, form.get("description")) if isinstance(text, str) and text.strip()
    ]
    if said:
        form["description"] = " ".join(dict.fromkeys(said))


def _merged(over: Mapping[str, Any], under: Mapping[str, Any]) -> dict[str, Any]:
    """Both schemas at once: properties and required names of both, elsewhere what `over` says."""
    merged = {**under, **over}
    if isinstance(over.get("properties"), dict) and isinstance(under.get("properties"), dict):
        merged["properties"] = {**over["properties"], **under["properties"], **over["properties"]}
    if over.get("required") or under.get("required"):
        merged["required"] = [*_list(under.get("required")), *_list(over.get("required"))]
    return merged


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def names_of(form: Form) -> Iterable[str]:
    """Every keyword a form uses, nested ones too; names of properties are none."""
    for key, value in form.items():
        yield key
        inner = [value] if key == "items" else value if key == "anyOf" else []
        inner = list(value.values()) if key == "properties" else inner
        for part in inner:
            yield from names_of(part)
