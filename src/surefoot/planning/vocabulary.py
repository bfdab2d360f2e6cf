"""What a plan may name: the tools of a catalogue and the two words that are no tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from surefoot.planning.values import Schema, fits

MEMORY: Final = "searchMemory"
"""The directive that asks for what the person said in earlier conversations. Never a tool."""
REPLY: Final = "reply"
"""The word for the step that answers the person."""

_BEHIND_NAME: Final = r"(?=[\s(（{:：,;]|[.。]?\s*\Z)"
_CODE_LIKE: Final = re.compile(r"[a-z][A-Z]|[_.\-]|\d")
"""A name that cannot be an ordinary word of a sentence, so that prose which holds it names the tool."""


class Named(Protocol):
    """What is needed of a tool here: `tools.Tool` and `models.ToolSpec` both have it."""

    @property
    def name(self) -> str:
        """What it is called by."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""
        ...


@dataclass(frozen=True, slots=True)
class Shape:
    """A tool's name and what its arguments may be. `free`: it declares no properties and takes what it gets."""

    name: str
    schema: Schema
    properties: dict[str, Any]
    required: tuple[str, ...]

    @property
    def free(self) -> bool:
        """It declares no properties."""
        return not self.properties

    @property
    def sole_required(self) -> str | None:
        """The one required property, which a positional value means; None when there is not exactly one."""
        return self.required[0] if len(self.required) == 1 else None

    def accepts(self, arguments: dict[str, Any]) -> bool:
        """Every key is declared, every required one is there, every value fits; an unset optional may be null."""
        if self.free:
            return True
        if any(name not in arguments for name in self.required):
            return False
        return all(key in self.properties and self._fits(key, value) for key, value in arguments.items())

    def _fits(self, key: str, value: Any) -> bool:
        return (value is None and key not in self.required) or fits(value, self.properties[key], self.schema)


class Vocabulary:
    """The names of a catalogue, matched exactly and longest first."""

    __slots__ = ("_at_start", "_inside", "_tools", "shapes")

    def __init__(self, tools: Iterable[Named]) -> None:
        self._tools = tuple(tools)  # kept, so that the cache of `vocabulary` can go by identity
        self.shapes = {tool.name: _shape(tool) for tool in self._tools if tool.name not in {MEMORY, REPLY}}
        names = sorted([*self.shapes, MEMORY, REPLY], key=len, reverse=True)
        self._at_start = re.compile(f"(?:{'|'.join(re.escape(name) for name in names)}){_BEHIND_NAME}")
        telling = [re.escape(name) for name in names if name in self.shapes and _CODE_LIKE.search(name)]
        inside = f"(?<![\\w.-])(?:{'|'.join(telling)})(?![\\w-])" if telling else r"(?!)"
        self._inside = re.compile(inside)

    def name_at(self, text: str, at: int = 0) -> tuple[str, int] | None:
        """The known name that stands at an index, and where it ends."""
        found = self._at_start.match(text, at)
        return (found.group(), found.end()) if found else None

    def call_at(self, text: str, at: int) -> bool:
        """A known name with an opening parenthesis stands at this index."""
        found = self._at_start.match(text, at)
        return found is not None and text[found.end() :].lstrip()[:1] in {"(", "（"}

    def mentioned(self, text: str) -> str:
        """The first tool that a sentence names by a name that is no ordinary word; empty when none."""
        found = self._inside.search(text)
        return found.group() if found else ""


def _shape(tool: Named) -> Shape:
    schema = tool.parameters or {}
    properties = schema.get("properties") or {}
    required = tuple(name for name in schema.get("required") or () if name in properties)
    return Shape(tool.name, schema, properties, required)


_kept: dict[tuple[int, ...], Vocabulary] = {}
_KEPT: Final = 32
"""Vocabularies kept: a program has a handful of catalogues, tests make many."""


def vocabulary(catalogue: Iterable[Named] | Vocabulary) -> Vocabulary:
    """The vocabulary of these tools, made once for the same tools."""
    if isinstance(catalogue, Vocabulary):
        return catalogue
    tools = tuple(catalogue)
    key = tuple(id(tool) for tool in tools)
    known = _kept.get(key)
    if known is None:
        if len(_kept) >= _KEPT:
            _kept.clear()
        known = _kept[key] = Vocabulary(tools)
    return known
