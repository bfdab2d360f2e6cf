"""What "the second one" or "the others" of a request mean: things that the last answer named, in that order.

Counting is done here: small models count wrongly.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from surefoot.storage.words import words

if TYPE_CHECKING:
    from surefoot.models.types import Message
    from surefoot.planning.things import Thing

OTHERS, LAST = 0, -1
FEW = 2
"""Of a single thing nobody says "the first"."""


def called(request: str, dialogue: Sequence[Message], things: Sequence[Thing]) -> tuple[str, ...]:
    """Lines such as `"second": task "Buy milk"`, for each such word of the request that means something."""
    named = _named(dialogue, things)
    places = {word: place for word in words(request) if (place := _ordinals().get(word)) is not None}
    if len(named) < FEW or not places:
        return ()
    found = {word: one for word, place in places.items() if (one := _meant(named, place, places.values()))}
    return tuple(f'"{word}": {_shown(meant)}' for word, meant in found.items())


def _meant(named: list[Thing], place: int, all_places: Collection[int]) -> list[Thing]:
    if place == OTHERS:
        taken = [one for other in all_places if other != OTHERS for one in _meant(named, other, ())]
        return [one for one in named if one not in taken] if taken else []
    if place == LAST:
        return named[-1:]
    return named[place - 1 : place]


def _shown(meant: list[Thing]) -> str:
    return ", ".join(f'{thing.kind} "{thing.title}"' for thing in meant)


def _named(dialogue: Sequence[Message], things: Sequence[Thing]) -> list[Thing]:
    """The things that the last answer names, in its order; a title inside a longer one is not named."""
    said = next((message.content for message in reversed(dialogue) if message.role == "assistant"), "")
    left = said.casefold()
    places: dict[str, int] = {}
    for title in sorted({thing.title.casefold() for thing in things}, key=len, reverse=True):
        places[title] = left.find(title)
        left = left.replace(title, "\0" * len(title))
    found = [(places[thing.title.casefold()], thing) for thing in dict.fromkeys(things)]
    return [thing for at, thing in sorted(found, key=lambda one: one[0]) if at >= 0]


@cache
def _ordinals() -> dict[str, int]:
    """Words that count, in the tested languages, to the place they mean."""
    table = tomllib.loads(files("surefoot.assistant").joinpath("ordinals.toml").read_text(encoding="utf-8"))
    return {word: int(place) for place, found in table.items() for word in found}
