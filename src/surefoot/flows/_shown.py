"""How a value of a flow is shown in a problem: short, on one line, and never a secret."""

from __future__ import annotations

import re
from typing import Any, Final

from surefoot.redaction import MASK, redact

_LONGEST: Final = 60
LONG_NUMBER: Final = re.compile(r"\d(?:[ .\-/]?\d){10,}")
"""Eleven digits and more: whatever it is, nobody needs it to find the step."""
UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but line ends and tabs, halves of characters, and what turns the order of reading (UAX 9). Joiners
and marks of direction stay: Persian, Hebrew and emoji are written with them."""
_SMALL: Final = 10**6
"""A number below it is shown; above, it may be a card's."""
_TYPES: Final = ((bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a text"))


def shown(text: str) -> str:
    """The text in quotes, masked and cut."""
    line = masked(text)
    return f'"{line[: _LONGEST - 1]}…"' if len(line) > _LONGEST else f'"{line}"'


def masked(text: str) -> str:
    """The text on one line, with whatever may be a secret masked; it can be printed."""
    from surefoot.flows.detection import find_secrets

    safe = redact(text)
    for secret in reversed(find_secrets(safe)):
        safe = safe[: secret.start] + MASK + safe[secret.end :]
    safe = LONG_NUMBER.sub(MASK, safe)
    line = " ".join(safe.encode("utf-8", "backslashreplace").decode().split())
    return line if line.isprintable() else UNSEEN.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode()


def kind_of(value: Any) -> str:
    """What a JSON value is, in words; never the value itself: it may be long, deep or a secret."""
    if value is None:
        return "null"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _SMALL:
        return f"the number {value}"
    for kind, words in _TYPES:
        if isinstance(value, kind):
            return words
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}, which is no JSON"


def key_shown(key: Any) -> str:
    """A key of an object in quotes, or what it is where it is no text."""
    return shown(key) if isinstance(key, str) else kind_of(key)


def listed(words: list[str]) -> str:
    """The words as an English list: `a, b and c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"
