"""What the readers of JSON and YAML share: places in a text, and values put together with the line of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.flows._shown import shown

MAX_DEPTH: Final = 100
"""Lists and objects in each other. One step in a step takes three, so this is beyond what a checked flow may nest: a
flow that is too deep is told so by the checker, in its words; what never ends ends here."""


class Places:
    """Lines and columns, from 1, of the offsets in a text."""

    def __init__(self, text: str, name: str = "") -> None:
        self._starts = [0, *_after_line_ends(text)]
        self._name = name

    def line(self, offset: int) -> int:
        """The line this character stands in."""
        return bisect_right(self._starts, offset)

    def error(self, offset: int, what: str, next_move: str) -> UnreadableInputError:
        """The error that names file, line and column; `what` continues the sentence."""
        line = self.line(offset)
        column = offset - self._starts[line - 1] + 1
        before = f"{self._name}, line" if self._name else "Line"
        details = {"path": self._name} if self._name else {}
        return UnreadableInputError(
            f"{before} {line}, column {column}: {what}.", next_move, line=line, column=column, **details
        )


def _after_line_ends(text: str) -> Iterator[int]:
    at = text.find("\n")
    while at >= 0:
        yield at + 1
        at = text.find("\n", at + 1)


@dataclass(slots=True)
class _Open:
    """A list or object that has not ended, and where the next value in it goes."""

    value: list[Any] | dict[str, Any]
    pointer: str
    name: str
    key: str = ""
    key_at: int = 0


class Tree:
    """Values as they come: `open`, `key`, `put`, `close`. No recursion, so no text is too deep for it.

    Attributes:
        value: the whole, when all is closed.
        lines: the line of each value by JSON Pointer; of an object's value it is the line of its key.
    """

    def __init__(self, places: Places) -> None:
        self.value: Any = None
        self.lines: dict[str, int] = {}
        self._places = places
        self._open: list[_Open] = []

    @property
    def inside(self) -> list[Any] | dict[str, Any] | None:
        """The list or object the next value goes into; None outside of all."""
        return self._open[-1].value if self._open else None

    @property
    def names(self) -> tuple[str, str]:
        """The keys that the next value stands under: of the object it goes into, and in that object."""
        return (self._open[-1].name, self._open[-1].key) if self._open else ("", "")

    def key(self, key: str, offset: int) -> None:
        """The next value in the object has this key."""
        inside = self._open[-1]
        if key in inside.value:
            first = self.lines[_pointer(inside.pointer, key)]
            raise self._places.error(
                offset,
                f"the key {shown(key)} is here a second time, first in line {first}",
                "Keep one of the two.",
            )
        inside.key, inside.key_at = key, offset

    def put(self, value: Any, offset: int) -> str:
        """A value at its place; its JSON Pointer."""
        if not self._open:
            self.value, pointer = value, ""
        else:
            inside = self._open[-1]
            if isinstance(inside.value, dict):
                pointer, offset = _pointer(inside.pointer, inside.key), inside.key_at
                inside.value[inside.key] = value
            else:
                pointer = f"{inside.pointer}/{len(inside.value)}"
                inside.value.append(value)
        self.lines[pointer] = self._places.line(offset)
        return pointer

    def open(self, value: list[Any] | dict[str, Any], offset: int) -> None:
        """A list or object begins; what comes next goes into it, until `close`."""
        if len(self._open) == MAX_DEPTH:
            raise self._places.error(
                offset,
                f"more than {MAX_DEPTH} lists and objects stand in each other",
                "Write the steps one after the other instead of in each other.",
            )
        _, name = self.names
        pointer = self.put(value, offset)
        self._open.append(_Open(value, pointer, name))

    def close(self) -> None:
        """The list or object ends."""
        self._open.pop()


def _pointer(before: str, key: str) -> str:
    return f"{before}/{key.replace('~', '~0').replace('/', '~1')}"
