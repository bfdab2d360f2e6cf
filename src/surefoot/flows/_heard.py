"""What the walk through a flow tells: where a value stands, and who hears of it."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from surefoot.flows._shown import LONG_NUMBER
from surefoot.flows.problems import Problem
from surefoot.flows.steps import KINDS, PartType

INK: Final = re.compile(
    r"[^\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""A character that a person sees. A text without one is blank, whatever its length."""


class Place(NamedTuple):
    """Where a value stands: the step's path, its JSON Pointer, the kind of step (or `app`, `vars`), the part's type."""

    path: str
    pointer: str
    kind: str
    type: PartType

    def problem(self, code: str, message: str) -> Problem:
        """A problem with what stands here."""
        return Problem(self.path, code, message, self.pointer)


class Listener:
    """Hears of what is sound, in the order of the file. This one does nothing with it."""

    def text(self, place: Place, text: str, /) -> None:
        """A text: of the app, of a part of a step, a slot's description."""

    def value(self, place: Place, name: str, text: str, /) -> None:
        """A text that has a name: what goes into a slot, or the value of a variable."""

    def named(self, place: Place, name: str, /) -> None:
        """A name in `vars`."""

    def fills(self, place: Place, name: str, /) -> None:
        """A step puts something into this variable."""

    def opens(self) -> None:
        """A step begins that has steps of its own."""

    def body_opens(self) -> None:
        """A list of steps inside a step begins."""

    def body_closes(self) -> None:
        """It ends."""

    def closes(self) -> None:
        """The step with steps of its own ends."""


def below(pointer: str, key: Any) -> str:
    """The pointer of what stands under a key (RFC 6901); the object's where the key is no text or may be a secret."""
    if not isinstance(key, str) or LONG_NUMBER.search(key):
        return pointer
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def part_name(place: Place) -> str:
    """The value that stands here, in words for the person who wrote it; for a slot without the slot's words."""
    if place.kind in ("app", ""):
        return "app" if place.kind else "The step"
    if place.kind == "vars":
        return "The value of a variable"
    if place.kind == "enter":
        return "The text for a field"
    if KINDS[place.kind].plain:
        return "The step" if place.kind == "do" else place.kind
    return f"{place.pointer.rpartition('/')[2]} of {place.kind}"
