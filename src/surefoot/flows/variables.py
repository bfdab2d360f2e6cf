"""`${name}` in a text: found, and put in, in one pass.

What is put in is never scanned again: page text that looks like `${card number}` stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_PLACE = re.compile(r"\$\{([^{}]*)\}")
_OPENED = re.compile(r"\$\{(?![^{}]*\})")
VARIABLE = re.compile(r"[^\W\d]\w*")
"""What a step may call a variable: letters of any script, digits and `_`, no digit first."""


def names_in(text: str) -> list[str]:
    """The names in `${...}`, in their order, as they are written."""
    return _PLACE.findall(text) if "${" in text else []


def unclosed(text: str) -> bool:
    """A `${` has no `}` behind it, or another brace comes first."""
    return "${" in text and _OPENED.search(text) is not None


def without_names(text: str) -> str:
    """The text with every `${...}` taken out: the words the author wrote."""
    return _PLACE.sub(" ", text) if "${" in text else text


def substitute(text: str, value: Callable[[str], str]) -> str:
    """The text with the value of each name in its place: one pass, left to right.

    `value` is asked once for each place, in order, and raises what it likes for a name it does not know.
    """
    return _PLACE.sub(lambda place: value(place.group(1)), text)
