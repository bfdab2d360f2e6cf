"""How many items a list shall have, where the request says so: "eight questions" is eight. A small model miscounts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from surefoot.planning._data import table
from surefoot.storage.words import words

MOST: Final = 30
"""A list that is longer is not written in one call, and a number above it (a year, a page) counts something else."""


def counted(tool: Any, said: str) -> dict[str, int]:
    """By argument, the number of items the request asks for.

    Only for the one argument of a tool that is a list of objects, and where one number alone stands in front of a word
    that the tool is known by.
    """
    lists = [key for key, schema in tool.parameters.get("properties", {}).items() if _is_list(schema)]
    if len(lists) != 1:
        return {}
    nouns = {word for alias in (*getattr(tool, "aliases", ()), lists[0]) for word in words(alias)}
    found = {count for count in _numbers_before(words(said), nouns) if 1 < count <= MOST}
    return {lists[0]: found.pop()} if len(found) == 1 else {}


def _is_list(schema: Any) -> bool:
    items = schema.get("items") if isinstance(schema, dict) and schema.get("type") == "array" else None
    return isinstance(items, dict) and ("$ref" in items or items.get("type") == "object")


def _numbers_before(said: Sequence[str], nouns: set[str]) -> list[int]:
    """Numbers right in front of one of the nouns, or with one word between ("eight easy questions")."""
    return [
        number
        for place, word in enumerate(said)
        if (number := number_of(word)) and nouns & set(said[place + 1 : place + 3])
    ]


def number_of(word: str) -> int:
    """The number that a word or a figure says, up to `MOST`; 0 where it says none."""
    if word.isascii() and word.isdigit():
        return int(word) if len(word) < len(str(MOST)) + 1 else 0
    return _number_words().get(word, 0)


@cache
def _number_words() -> dict[str, int]:
    return {word: int(number) for number, found in table("numbers").items() for word in found}
