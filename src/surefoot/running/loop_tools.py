"""Two tools of the loop itself: end the work on purpose, and find tools that were not offered.

They are plain tools: the executor resolves, journals and counts them like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Effect, Tool

Search = Callable[[str], Sequence[str]]
"""Names of the tools that fit some words, best first."""

MOST_FOUND = 5
"""Tools that one search brings: each is shown whole in every later round, 100 tokens or more."""

DESCRIPTION_CHARS = 200
"""Of a found tool's description in the result; its whole schema stands in the next request."""


@dataclass(frozen=True, slots=True)
class LoopTools:
    """The two by the names they have here: a tool of the person's that is called the same keeps its name."""

    stop: Tool
    search: Tool | None

    @property
    def all(self) -> tuple[Tool, ...]:
        """Those that are offered."""
        return (self.stop,) if self.search is None else (self.stop, self.search)

    @property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(tool.name for tool in self.all)


def loop_tools(catalogue: Catalogue, search: Search | None) -> LoopTools:
    """`stop`, and `searchTools` where there is a way to search."""
    stop = _stop(_free_name("stop", catalogue))
    return LoopTools(
        stop,
        None if search is None else _search_tools(_free_name("searchTools", catalogue), catalogue, search),
    )


def _free_name(wanted: str, catalogue: Catalogue) -> str:
    """The wanted name, or one beside a tool that has it, also in another spelling: names are resolved by that."""
    taken = {_plain(name) for name in catalogue.names}
    names = [wanted, f"{wanted}Run", *(f"{wanted}Run{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if _plain(name) not in taken)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _stop(name: str) -> Tool:
    async def stop(reason: str) -> dict[str, Any]:
        return {"message": "The work ends here.", "reason": reason}

    return Tool(
        name,
        "End the work on purpose, with something left undone, because going on would be wrong, pointless or harmful. "
        "Not for an ordinary end: then just answer.",
        _one_text("reason", "Why, in one sentence for the person."),
        Effect.READ,
        stop,
        where="loop",
    )


def _search_tools(name: str, catalogue: Catalogue, search: Search) -> Tool:
    async def search_tools(query: str) -> dict[str, Any]:
        names = [found for found in search(query) if found in catalogue][:MOST_FOUND]
        if not names:
            return {"tools": [], "message": "No tool fits these words."}
        found = [
            {"name": one, "description": catalogue.get(one).description[:DESCRIPTION_CHARS]} for one in names
        ]
        return {"tools": found, "message": "They can be called from the next message on."}

    return Tool(
        name,
        "Find tools that are not in your list, by a few words about what they should do.",
        _one_text("query", "A few words, such as `send mail`."),
        Effect.READ,
        search_tools,
        where="loop",
    )


def _one_text(name: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }
