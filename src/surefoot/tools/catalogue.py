"""The tools a plan may call, in an order that never changes by itself."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import MisuseError, NotFoundError, ToolDefinitionError, UnreadableInputError
from surefoot.tools.foreign import function_schema, plain_name
from surefoot.tools.types import Effect, Tool

if TYPE_CHECKING:
    from surefoot.models.types import ToolSpec

_SEPARATORS = re.compile(r"[\W_]+")
NEAR = 60.0
"""Similarity from which a name is worth suggesting; below it the suggestions are noise (measured on misspelt names)."""
MAX_SUGGESTIONS = 3


class Catalogue:
    """Tools by name, in the order they were given.

    Raises:
        ToolDefinitionError: two tools have one name, or something is no tool.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if not isinstance(tool, Tool):
                raise ToolDefinitionError(f"{tool!r} is no tool.", "Decorate the function with @tool.")
            if tool.name in self._tools:
                raise ToolDefinitionError(
                    f"There are two tools named {tool.name!r}.",
                    "Give one of them another name.",
                    name=tool.name,
                )
            self._tools[tool.name] = tool
        self._folded: dict[str, list[str]] = {}
        for name in self._tools:
            self._folded.setdefault(_fold(name), []).append(name)
        self._digest = ""

    @classmethod
    def from_function_schemas(cls, schemas: Sequence[Any]) -> Catalogue:
        """A catalogue that can be planned with and not run, from function schemas in the OpenAI shape.

        Takes `{"type": "function", "function": {...}}` and the bare `{"name", "description", "parameters"}`, and
        the type names of other languages (`dict`, `float`, `tuple`, `any`).

        Raises:
            UnreadableInputError: it is no list of function schemas; the message names the place.
        """
        if not isinstance(schemas, Sequence) or isinstance(schemas, str | bytes):
            raise UnreadableInputError(
                f"The catalogue is {type(schemas).__name__}, not a list of function schemas.",
                'Give [{"name": ..., "description": ..., "parameters": {...}}, ...].',
            )
        specs = [function_schema(item, place) for place, item in enumerate(schemas, start=1)]
        return cls(
            Tool(name, description, parameters, Effect.EXTERNAL, _not_runnable(name))
            for name, description, parameters in specs
        )

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"Catalogue({', '.join(self._tools)})"

    @property
    def names(self) -> tuple[str, ...]:
        """Exact names, in order."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool:
        """The tool of exactly this name; NotFoundError."""
        tool = self._tools.get(name)
        if tool is None:
            raise self._missing(name)
        return tool

    def resolve(self, name: str) -> Tool:
        """The tool a model means: exactly this name, else the only one that differs in case and separators.

        Raises:
            NotFoundError: none or several; the details hold `suggestions`.
        """
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        bare = plain_name(name)
        if bare in self._tools:
            return self._tools[bare]
        folded = self._folded.get(_fold(bare), []) if bare else []
        if len(folded) != 1:
            raise self._missing(name, folded)
        return self._tools[folded[0]]

    def suggestions(self, name: str) -> list[str]:
        """Names that are nearly this one, best first."""
        from rapidfuzz import fuzz, process

        found = process.extract(
            _fold(plain_name(name)),
            {own: _fold(own) for own in self._tools},
            scorer=fuzz.WRatio,
            score_cutoff=NEAR,
            limit=MAX_SUGGESTIONS,
        )
        return [own for _, _, own in found]

    def _missing(self, name: str, folded: Sequence[str] = ()) -> NotFoundError:
        near = list(folded) or self.suggestions(name)
        move = f"Did you mean {' or '.join(near)}?" if near else "See the list of tools."
        return NotFoundError(f"There is no tool {name!r}.", move, name=name, suggestions=near)

    def with_tools(self, *tools: Tool) -> Catalogue:
        """The same with these behind; the first ones keep their place, and with it the cached prompt."""
        return Catalogue([*self, *tools])

    def narrowed(self, names: Iterable[str]) -> Catalogue:
        """Only these, in this catalogue's order; NotFoundError for a name it does not have."""
        wanted = {self.get(name).name for name in names}
        return Catalogue(tool for tool in self if tool.name in wanted)

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, in order."""
        return tuple(tool.spec for tool in self)

    def digest(self) -> str:
        """A hash of all that a prompt can show of the tools, order included; for keys of caches."""
        if not self._digest:
            shown = [[tool.name, tool.description, tool.parameters] for tool in self]
            text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
            self._digest = hashlib.sha256(text.encode()).hexdigest()
        return self._digest


def _fold(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _not_runnable(name: str) -> Any:
    def refuse(**arguments: Any) -> Mapping[str, Any]:
        raise MisuseError(
            f"{name} is known by its schema only and cannot be called with {sorted(arguments)}.",
            "Plan with this catalogue; to run it, give tools that have a function.",
        )

    return refuse
