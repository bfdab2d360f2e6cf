"""Scalars of a call line: what an unquoted one spells, and the escapes inside a quoted one."""

from __future__ import annotations

import re
from typing import Any, Final

_ESCAPE: Final = re.compile(
    r"\\(u[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|x[0-9a-fA-F]{2}|.)", re.DOTALL
)
_SIMPLE_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'", "`": "`", "\n": "",
}  # fmt: skip
_INT: Final = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_FLOAT: Final = re.compile(r"[+-]?(?:\d{1,400}\.\d*|\.\d+|\d{1,400}(?=[eE]))(?:[eE][+-]?\d{1,4})?", re.ASCII)
_LITERALS: Final = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


class Bare(str):
    """An unquoted scalar as it was written; a schema decides whether `5` is a number or a text."""

    __slots__ = ()


def literal(text: str) -> Any:
    """The number, boolean or null that an unquoted text spells in JSON or Python; else the text itself."""
    if text in _LITERALS:
        return _LITERALS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else text
    return text


def unwrapped(value: Any) -> Any:
    """The value with every `Bare` read as the literal it spells."""
    if isinstance(value, Bare):
        return literal(str(value))
    if isinstance(value, list):
        return [unwrapped(item) for item in value]
    if isinstance(value, dict):
        return {key: unwrapped(item) for key, item in value.items()}
    return value


def unescaped(text: str) -> str:
    """The text with the escapes of JSON and Python read; one that neither knows stays as it is."""
    return _ESCAPE.sub(_escape, text) if "\\" in text else text


def _escape(found: re.Match[str]) -> str:
    body = found.group(1)
    if body[0] == "u" and len(body) > 1:
        units = [int(part[:4], 16) for part in body.replace("\\", "").split("u")[1:]]
        return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")
    if body[0] == "x" and len(body) > 1:
        return chr(int(body[1:], 16))
    return _SIMPLE_ESCAPES.get(body, found.group())
