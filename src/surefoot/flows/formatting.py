"""The one layout of a flow in JSON: two spaces, a step on one line where it fits, keys in the order of the guide.

Only the layout changes: the value stays the same, whatever it is. A flow that has problems is laid out as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from surefoot.flows.steps import KINDS

WIDTH: Final = 100
"""Columns. A step of one key fits, and two files stand side by side on a screen."""

_INDENT: Final = "  "
_HEAD: Final = ("app", "vars", "steps")
_PARTS: Final = {
    kind.name: tuple(part.key for part in kind.parts) for kind in KINDS.values() if not kind.plain
}


def layout(value: Any, *, ascii_only: bool = False) -> str:
    """The flow's JSON text, with a line end behind it.

    Args:
        value: a JSON value, a flow in most cases.
        ascii_only: write every other character as an escape.
    """
    return _Layout(ascii_only).text(value) + "\n"


class _Layout:
    def __init__(self, ascii_only: bool) -> None:
        self._ascii_only = ascii_only

    def text(self, value: Any, indent: str = "", used: int = 0, *, key: str = "", depth: int = 0) -> str:
        """The value; `used` columns of its first line are taken, its other lines begin with `indent`."""
        spread = depth == 0 or (depth == 1 and key == "steps")  # one step a line, however short
        line = self._line(value, key)
        if not isinstance(value, dict | list) or not value:
            return line
        if not spread and len(indent) + used + len(line) <= WIDTH:
            return line
        deeper = indent + _INDENT
        if isinstance(value, list):
            return _block("[", [self.text(one, deeper, 1, depth=depth + 1) for one in value], "]", indent)
        members = []
        for name, one in _ordered(value, key, top=depth == 0):
            head = f"{self._line(name)}: "
            members.append(head + self.text(one, deeper, len(head) + 1, key=name, depth=depth + 1))
        return _block("{", members, "}", indent)

    def _line(self, value: Any, key: str = "") -> str:
        """The value on one line."""
        if isinstance(value, list):
            return f"[{', '.join(self._line(one) for one in value)}]"
        if isinstance(value, dict):
            inside = (f"{self._line(name)}: {self._line(one, name)}" for name, one in _ordered(value, key))
            return f"{{{', '.join(inside)}}}"
        return json.dumps(value, ensure_ascii=self._ascii_only, allow_nan=False)


def _block(begin: str, lines: Iterable[str], end: str, indent: str) -> str:
    inside = f",\n{indent}{_INDENT}".join(lines)
    return f"{begin}\n{indent}{_INDENT}{inside}\n{indent}{end}"


def _ordered(value: Mapping[str, Any], key: str, *, top: bool = False) -> list[tuple[str, Any]]:
    """The members, those the language knows first and in its order; names of slots and variables stay as written."""
    known = _HEAD if top else _PARTS.get(key, ())
    first = [(name, value[name]) for name in known if name in value]
    return first + [(name, one) for name, one in value.items() if name not in known]
