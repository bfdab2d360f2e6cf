"""What the readers of JSON and YAML share: places in a text, and values put together with the line of each."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.flows._shown import shown

MAX_DEPTH: Final = 100
"""Lists and objects in each other. One step in a step takes three, so this is beyond what a checked flow may nest: a
flow that is too deep is told so by the checker, in its words; what never ends ends here."""

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
"""Of a list, as RFC 6901 writes it."""


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
class Marks:
    """The line of a list or object, and of what is in it: a line for each plain value, marks for the others.

    They have the form of the value itself. With a JSON Pointer for each value, a name would be kept once for every
    value under it, and a file made for that fills the memory.
    """

    line: int
    inside: list[int | Marks] | dict[str, int | Marks]

    def add(self, key: str, mark: int | Marks) -> None:
        """The mark of the next value; a list needs no key."""
        if isinstance(self.inside, list):
            self.inside.append(mark)
        else:
            self.inside[key] = mark

    def at(self, token: str) -> int | Marks | None:
        """The mark that a token of a JSON Pointer leads to, None where it leads nowhere."""
        if isinstance(self.inside, dict):
            return self.inside.get(token.replace("~1", "/").replace("~0", "~"))
        number = int(token) if _INDEX.fullmatch(token) else len(self.inside)
        return self.inside[number] if number < len(self.inside) else None


def line_of(mark: int | Marks) -> int:
    """The line that a mark says."""
    return mark.line if isinstance(mark, Marks) else mark


@dataclass(slots=True)
class _Open:
    """A list or object that has not ended, and where the next value in it goes."""

    value: list[Any] | dict[str, Any]
    marks: Marks
    name: str
    key: str = ""
    key_at: int = 0


class Tree:
    """Values as they come: `open`, `key`, `put`, `close`. No recursion, so no text is too deep for it.

    Attributes:
        value: the whole, when all is closed.
        marks: its lines, None where nothing came. Of an object's value it is the line of its key.
    """

    def __init__(self, places: Places) -> None:
        self.value: Any = None
        self.marks: int | Marks | None = None
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
        marks = inside.marks.inside
        if isinstance(marks, dict) and key in marks:
            raise self._places.error(
                offset,
                f"the key {shown(key)} is here a second time, first in line {line_of(marks[key])}",
                "Keep one of the two.",
            )
        inside.key, inside.key_at = key, offset

    def put(self, value: Any, offset: int) -> None:
        """A plain value at its place."""
        self._add(value, self._line(offset))

    def open(self, value: list[Any] | dict[str, Any], offset: int) -> None:
        """A list or object begins, empty so far; what comes next goes into it, until `close`."""
        if len(self._open) == MAX_DEPTH:
            raise self._places.error(
                offset,
                f"more than {MAX_DEPTH} lists and objects stand in each other",
                "Write the steps one after the other instead of in each other.",
            )
        _, name = self.names
        marks = Marks(self._line(offset), {} if isinstance(value, dict) else [])
        self._add(value, marks)
        self._open.append(_Open(value, marks, name))

    def close(self) -> None:
        """The list or object ends."""
        self._open.pop()

    def _line(self, offset: int) -> int:
        in_object = isinstance(self.inside, dict)
        return self._places.line(self._open[-1].key_at if in_object else offset)

    def _add(self, value: Any, mark: int | Marks) -> None:
        if not self._open:
            self.value, self.marks = value, mark
            return
        inside = self._open[-1]
        inside.marks.add(inside.key, mark)
        if isinstance(inside.value, dict):
            inside.value[inside.key] = value
        else:
            inside.value.append(value)
