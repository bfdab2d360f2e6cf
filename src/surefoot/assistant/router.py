"""Which tools may matter for this request? Ranked in code; a model only picks when one is configured for it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from surefoot.tools.types import Tool

FEW = 8
"""A catalogue of at most this many tools passes as it is: ranking it could only lose one."""

BEST = 20
"""How many of a larger catalogue a `router_model` gets to choose from."""

OWN_KITS = frozenset({"notes", "tasks", "calendar"})
"""Kits of the person's own things pass whatever the words: "and the other one to Friday" names none of them. Ranked by
words alone, the tool that was meant was missing for 3 of 40 everyday requests."""

WEIGHTS = (6.0, 2.0, 1.0, 4.0)
"""BM25 weights of name, description, arguments, aliases: a name or alias in the request says most."""

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Route:
    """`names`: the tools that may be called, in the catalogue's order. `ranked`: those that match, best first."""

    names: tuple[str, ...]
    ranked: tuple[str, ...] = ()


class Router:
    """Ranks a catalogue by BM25 (Robertson and Zaragoza 2009, as SQLite's FTS5 computes it)."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = list(tools)
        self._index: sqlite3.Connection | None = None

    def route(self, query: str, context: str = "") -> Route:
        """Few tools pass as they are; of many, those that match, their whole kits with them; none matches: all."""
        names = tuple(tool.name for tool in self._tools)
        if len(names) <= FEW:
            return Route(names)
        ranked = self.rank(f"{query} {context}")
        if not ranked:
            return Route(names)
        return Route(self.among(ranked[:BEST]), ranked)

    def among(self, chosen: Collection[str]) -> tuple[str, ...]:
        """The chosen tools with their whole kits, and the person's own kits, in the catalogue's order."""
        kits = OWN_KITS | {tool.kit for tool in self._tools if tool.name in chosen and tool.kit}
        return tuple(tool.name for tool in self._tools if tool.name in chosen or tool.kit in kits)

    def rank(self, text: str) -> tuple[str, ...]:
        """Names of the tools that share a word with the text, best first."""
        words = sorted({word for word in terms(text) if len(word) > 1 or not word.isascii()})
        if not words:
            return ()
        match = " OR ".join(f'"{word}"' for word in words)
        weights = ", ".join(str(weight) for weight in WEIGHTS)
        rows = self._indexed().execute(
            f"SELECT rowid FROM tools WHERE tools MATCH ? ORDER BY bm25(tools, {weights}), rowid",  # noqa: S608
            (match,),
        )
        return tuple(self._tools[row[0] - 1].name for row in rows)

    def _indexed(self) -> sqlite3.Connection:
        if self._index is None:
            index = sqlite3.connect(":memory:", check_same_thread=False)
            index.execute(
                "CREATE VIRTUAL TABLE tools USING fts5(name, description, arguments, aliases, "
                "tokenize='porter unicode61 remove_diacritics 2')"
            )
            rows = [(number, *_document(tool)) for number, tool in enumerate(self._tools, 1)]
            index.executemany(
                "INSERT INTO tools(rowid, name, description, arguments, aliases) VALUES (?, ?, ?, ?, ?)", rows
            )
            self._index = index
        return self._index


def terms(text: str) -> list[str]:
    """Words of a text, camelCase split; Chinese, Japanese and Korean runs as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text)):
        runs = _CJK.findall(word)
        if not runs:
            found.append(word.lower())
            continue
        for run in runs:
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        found += [rest.lower() for rest in _CJK.split(word) if rest]
    return found


def _document(tool: Tool) -> tuple[str, str, str, str]:
    properties = tool.parameters.get("properties", {})
    arguments = " ".join(
        [*properties, *(str(schema.get("description", "")) for schema in properties.values())]
    )
    fields = (f"{tool.name} {tool.kit}", tool.description, arguments, " ".join(tool.aliases))
    return (
        " ".join(terms(fields[0])),
        " ".join(terms(fields[1])),
        " ".join(terms(arguments)),
        " ".join(terms(fields[3])),
    )
