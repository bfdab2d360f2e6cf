"""A flow as a person wrote it: JSON or YAML, with the line of every value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from surefoot.errors import UnreadableInputError
from surefoot.flows._json_reader import read_json
from surefoot.flows._tree import Marks, Places, line_of
from surefoot.flows._yaml_reader import read_yaml

MAX_CHARS: Final = 1_000_000
"""Characters of a flow's text. A step takes about 60, so this is many thousand of them; a file that is no flow at all
is told so at once instead of being read for minutes."""

_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """What was read.

    Attributes:
        value: the flow as a JSON value; it is not checked.
        marks: the line, from 1, of each value in it; `line` asks them.
        form: what the text was.
        name: the file's, as it was given.
    """

    value: Any = field(repr=False)  # not checked: it may hold a secret that is written out
    marks: int | Marks = field(repr=False)
    form: Literal["json", "yaml"]
    name: str = ""

    def line(self, pointer: str) -> int:
        """The line of the value at this JSON Pointer (RFC 6901), else of the nearest one around it."""
        mark = self.marks
        for token in pointer.split("/")[1:]:
            inner = mark.at(token) if isinstance(mark, Marks) else None
            if inner is None:
                break
            mark = inner
        return line_of(mark)


def read_flow(text: str | bytes, *, name: str = "") -> Source:
    """Read a flow's text: JSON where it begins with `{` or `[`, else YAML. What is in it is `check_flow`'s question.

    Texts of YAML are taken as they stand: `no`, `08:30` and `2026-05-01` are texts; only the rounds of `repeat_until`
    become a number. Bytes are UTF-8, with or without a byte order mark.

    Args:
        text: the flow.
        name: what errors call the text, a file's name.

    Raises:
        UnreadableInputError: it is neither, holds a key twice, or has what a flow may not have (NaN, halves of
            characters; in YAML anchors, aliases, tags, a second document). `details` hold `line` and `column`.
    """
    whole = _decoded(text, name) if isinstance(text, bytes) else text.removeprefix("\ufeff")
    if len(whole) > MAX_CHARS:
        raise _unreadable(
            name, f"has {len(whole):,} characters; {MAX_CHARS:,} are allowed", "Make several flows of it."
        )
    whole = whole.replace("\r\n", "\n").replace("\r", "\n")
    places = Places(whole, name)
    if half := _HALF.search(whole):
        raise places.error(
            half.start(), "half of a character (a lone surrogate) stands here", "Give text in UTF-8."
        )
    begins = whole.lstrip()
    if begins.startswith(("{", "[")):
        tree = read_json(whole, places)
        form: Literal["json", "yaml"] = "json"
    else:
        tree, form = read_yaml(whole, places), "yaml"
    if tree.marks is None:
        raise _unreadable(name, "is empty", "Write a flow: `surefoot flow guide` tells how.")
    return Source(tree.value, tree.marks, form, name)


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(
            name,
            f"is no UTF-8: byte {error.start + 1}, in line {line}, is {data[error.start]:#04x}",
            "Save it as UTF-8.",
            line=line,
        ) from error


def _unreadable(name: str, what: str, next_move: str, **details: Any) -> UnreadableInputError:
    if name:
        details["path"] = name
    return UnreadableInputError(f"{name or 'The flow'} {what}.", next_move, **details)
