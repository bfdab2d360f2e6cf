"""How a value of a flow is shown in a problem: short, on one line, and never a secret."""

from __future__ import annotations

import re
from typing import Any

from surefoot.redaction import MASK, redact

_LONGEST = 60
_LONG_NUMBER = re.compile(r"\d(?:[ .\-/]?\d){10,}")
"""Eleven digits and more: whatever it is, nobody needs it to find the step."""


def shown(text: str) -> str:
    """The text in quotes: on one line, cut, with whatever may be a secret masked before it is cut."""
    from surefoot.flows.detection import find_secrets

    safe = _LONG_NUMBER.sub(MASK, redact(text))
    for secret in find_secrets(safe):
        safe = safe.replace(secret, MASK)
    line = " ".join(safe.encode("utf-8", "backslashreplace").decode().split())
    return f'"{line[: _LONGEST - 1]}…"' if len(line) > _LONGEST else f'"{line}"'


def kind_of(value: Any) -> str:
    """What a JSON value is, in words; never the value: it may be long, deep or a secret."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return {dict: "an object", list: "a list"}.get(type(value), f"a {type(value).__name__}, which is no JSON")


def key_shown(key: Any) -> str:
    """A key of an object in quotes, or what it is where it is no text."""
    return shown(key) if isinstance(key, str) else kind_of(key)


def listed(words: list[str]) -> str:
    """The words as an English list: `a, b and c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"
