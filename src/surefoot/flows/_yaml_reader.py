"""YAML with the line of every value. Of YAML a flow gets lists, mappings and texts; a text is what stands there.

PyYAML's events are read one by one: they come without recursion, and what a flow may not have (anchors, aliases, tags,
a second document) is seen before anything is made of it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.flows._shown import shown
from surefoot.flows._tree import Places, Tree
from surefoot.flows.steps import KINDS, PartType

_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML calls null where it stands bare. It is null here too, which no part of a flow takes: a person whose name is
Null gets a message about quotation marks, not an empty field."""

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
"""Rounds as JSON writes them; what YAML would take for octal or hexadecimal stays a text, and is refused as one."""

_ROUNDS: Final = frozenset(
    (kind.name, part.key) for kind in KINDS.values() for part in kind.parts if part.type is PartType.ROUNDS
)
_BAD: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.2 calls not printable (5.1)."""
_HALF: Final = re.compile("[\ud800-\udfff]")

MOVE: Final = (
    "Correct it there; a text with ': ', ' #' or a sign at its beginning needs quotation marks in YAML."
)
PLAIN: Final = "Write it out: a flow is read by people from top to bottom."


def read_yaml(text: str, places: Places) -> Tree:
    """The value of a YAML text; UnreadableInputError names line and column."""
    import yaml

    if bad := _BAD.search(text):
        raise places.error(bad.start(), f"YAML cannot hold the character {bad.group()!r}", "Take it out.")
    reader = _Reader(places)
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        raise _told(error, places, len(text)) from None
    return reader.tree


def _told(error: Any, places: Places, end: int) -> UnreadableInputError:
    mark = error.problem_mark or error.context_mark
    context = f" ({error.context})" if error.context else ""
    return places.error(min(mark.index, end), f"this is no YAML: {error.problem}{context}", MOVE)


class _Reader:
    def __init__(self, places: Places) -> None:
        self.tree = Tree(places)
        self._places = places
        self._documents = 0
        self._key_next: list[bool] = []
        """For each open mapping or list: the next scalar is a key."""

    def take(self, event: Any) -> None:
        """One event: a key, a plain value, the beginning or end of a list or mapping."""
        import yaml

        self._refuse(event)
        at = event.start_mark.index
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, at)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._begin(at, mapping=isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._key_next.pop()
            self.tree.close()
            self._after_value()

    def _refuse(self, event: Any) -> None:
        """What YAML has and a flow has not."""
        import yaml

        at = event.start_mark.index
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._places.error(
                    at, "a second document begins", "Put each flow into a file of its own."
                )
        if isinstance(event, yaml.AliasEvent):
            raise self._places.error(
                at, f"the alias {shown(event.anchor or '')} is not allowed in a flow", PLAIN
            )
        if getattr(event, "anchor", None):
            raise self._places.error(at, f"the anchor {shown(event.anchor)} is not allowed in a flow", PLAIN)
        if getattr(event, "tag", None):
            raise self._places.error(at, f"the tag {shown(event.tag)} is not allowed in a flow", PLAIN)

    def _begin(self, at: int, *, mapping: bool) -> None:
        if self._key_next and self._key_next[-1]:
            raise self._places.error(at, "a key must be a text", MOVE)
        self.tree.open({} if mapping else [], at)
        self._key_next.append(mapping)

    def _scalar(self, event: Any, at: int) -> None:
        text = event.value
        if not text.isascii() and _HALF.search(text):
            raise self._places.error(at, "the text holds half of a character (a lone surrogate)", MOVE)
        if self._key_next and self._key_next[-1]:
            self.tree.key(text, at)
            self._key_next[-1] = False
            return
        self.tree.put(self._meant(text) if event.implicit[0] else text, at)
        self._after_value()

    def _meant(self, text: str) -> Any:
        """A bare scalar: null, rounds, or the text that it is."""
        if text in _NOTHING:
            return None
        return int(text) if self.tree.names in _ROUNDS and _WHOLE.fullmatch(text) else text

    def _after_value(self) -> None:
        """In a mapping a key comes next."""
        if self._key_next:
            self._key_next[-1] = isinstance(self.tree.inside, dict)
