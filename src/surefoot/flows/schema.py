"""The JSON Schema of the language, made from the definition of the steps: for editors, and to bind models.

It says what the shape check says, as far as JSON Schema can. It cannot count the steps of a whole flow or how deep they
nest; and it is a little wider where letters of any script or signs that nobody sees matter, since editors and Python do
not read one and the same pattern for those. Whether a flow may run is `check_flow`'s answer.
"""

from __future__ import annotations

from typing import Any, Final

from surefoot.flows._data import limits
from surefoot.flows.steps import BROWSER, KINDS, Kind, Part, PartType

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ID: Final = "urn:surefoot:flow"

_NOT_BLANK: Final = r"\S"
_VARIABLE: Final = r"^[^\s\x00-\/0-9:-@\[-^`{-\x9f][^\s\x00-\/:-@\[-^`{-\x9f]*$"
"""No space, no sign of ASCII but `_`, no digit first: the same to the engines of Python and of editors (ECMA 262)."""

_MEANING: Final = {
    PartType.TEXT: "Words for the person and the page; ${name} stands for a fact or a variable.",
    PartType.APP: "The name of an application.",
    PartType.ADDRESS: "A web address.",
    PartType.LABEL: "What a control shows, letter for letter; never a description of it.",
    PartType.CONDITION: "A sentence that holds on a screen or does not.",
    PartType.VARIABLE: "The name of a variable: letters, digits and _, no digit first.",
    PartType.SLOTS: "The description of each field, and the text that goes into it.",
    PartType.STEPS: "Steps, one after the other.",
    PartType.ROUNDS: "A whole number of rounds.",
}


def flow_schema() -> dict[str, Any]:
    """The schema, JSON Schema 2020-12. It is a new value each time, so it may be changed."""
    return {
        "$schema": DIALECT,
        "$id": ID,
        "title": "Surefoot flow",
        "description": "A script of plain-language steps for web pages or a desktop application. "
        "It says what to reach, never how.",
        "type": "object",
        "properties": {
            "app": {
                **_ref(PartType.APP),
                "description": f"The application's name, or {BROWSER}.",
                "examples": [BROWSER],
            },
            "vars": {
                "description": "Texts by name; ${name} puts one into a step. Never a secret.",
                "type": "object",
                "propertyNames": _text(limits().name),
                "additionalProperties": _ref(PartType.TEXT),
                "maxProperties": limits().vars,
            },
            "steps": _ref(PartType.STEPS),
        },
        "required": ["app", "steps"],
        "additionalProperties": False,
        "$defs": {
            "step": {
                "description": "A text, which is a do, or an object with one key.",
                "anyOf": [_ref(PartType.TEXT), *({"$ref": f"#/$defs/{name}"} for name in KINDS)],
            },
            **{name: _kind(kind) for name, kind in KINDS.items()},
            **{type_.value: {"description": _MEANING[type_], **_type(type_)} for type_ in PartType},
        },
    }


def _kind(kind: Kind) -> dict[str, Any]:
    example = kind.example if isinstance(kind.example, dict) else {kind.name: kind.example}
    return {
        "title": kind.name,
        "description": f"{kind.name}: {kind.meaning}.",
        "type": "object",
        "properties": {kind.name: _value(kind)},
        "required": [kind.name],
        "additionalProperties": False,
        "examples": [example],
    }


def _value(kind: Kind) -> dict[str, Any]:
    if kind.plain:
        return _part(kind.parts[0])
    return {
        "type": "object",
        "properties": {part.key: _part(part) for part in kind.parts},
        "required": [part.key for part in kind.parts if part.required],
        "additionalProperties": False,
    }


def _part(part: Part) -> dict[str, Any]:
    return {**_ref(part.type), "description": f"{part.meaning[0].upper()}{part.meaning[1:]}."}


def _ref(type_: PartType) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{type_.value}"}


def _type(type_: PartType) -> dict[str, Any]:
    if type_ is PartType.STEPS:
        return {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1, "maxItems": limits().steps}
    if type_ is PartType.ROUNDS:
        return {"type": "integer", "minimum": 1, "maximum": limits().rounds}
    if type_ is PartType.SLOTS:
        return {
            "type": "object",
            "propertyNames": _text(limits().name),
            "additionalProperties": _ref(PartType.TEXT),
            "minProperties": 1,
            "maxProperties": limits().slots,
        }
    if type_ is PartType.VARIABLE:
        return {"type": "string", "maxLength": limits().name, "pattern": _VARIABLE}
    return _text(limits().text)


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": _NOT_BLANK}
