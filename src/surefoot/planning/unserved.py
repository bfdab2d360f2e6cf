"""Wishes of a request that a plan has no call for: a thing that was named, a date that was said, and no step for it.

Found by code; what to do about them is asked once more, of these parts of the request alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from surefoot.planning.asking import is_question
from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.grounding import Ground
from surefoot.planning.meant import Meant, same, telling, writes
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.things import Thing
from surefoot.storage.words import words

_BREAK: Final = re.compile(
    r"(?<=[^\d\s])[.!?;,:]+\s+|\n+|\s[–—-]\s|\s(?=(?:and|und|et|puis|y|also|außerdem|oh|ah|ach)\s)",
    re.IGNORECASE,
)
"""Where one wish may end and the next begin: marks, and words that join."""
ENOUGH: Final = 2
"""Words of a longer title that name it."""
MOST: Final = 2
"""Parts that are asked about once more; with more left over the plan missed the whole request."""


@dataclass(frozen=True, slots=True)
class Unserved:
    """Parts of a request without a call, and the things that they name."""

    text: str = ""
    things: tuple[Thing, ...] = ()

    def options(self, tools: Iterable[Any]) -> dict[str, dict[str, tuple[str, ...]]]:
        """What arguments may name: these things alone."""
        return {
            tool.name: {
                key: tuple(thing.title for thing in self.things if thing.kind == key) for key in tool.options
            }
            for tool in tools
            if tool.options
        }


def left_over(outline: Outline, ground: Ground, catalogue: Iterable[Any]) -> Unserved:
    """What a plan with calls leaves over; nothing of a plan that calls nothing, which is a decision.

    Args:
        outline: the checked plan.
        ground: what was said and what is there.
        catalogue: the tools.
    """
    steps = [step for step in outline.steps if step.kind is StepKind.TOOL]
    if not steps or ground.now is None or is_question(ground.said):
        return Unserved()
    said, things = ground.said, ground.things
    dates = DatesSaid(said, ground.now, ground.language)
    tools = {tool.name: tool for tool in catalogue}
    used = _used(steps)
    found: dict[str, list[Thing]] = {}
    copied = list(_dates_of(steps, tools))
    for part in parts_of(said):
        if dates.is_used(part, copied):
            continue
        named = [thing for thing in things if _is_named(thing, part)]
        left = [thing for thing in named if not _are_used(_said_of(thing, part), used)]
        if left and len(left) == len(named):
            found[part] = left
        elif not named and _has_unused_date(part, said, dates, steps, things, tools):
            found[part] = []
    if not 0 < len(found) <= MOST:
        return Unserved()
    return Unserved(", ".join(found), tuple(dict.fromkeys(one for left in found.values() for one in left)))


def parts_of(said: str) -> list[str]:
    """The request in parts that may each be a wish."""
    return [bare for part in _BREAK.split(said) if (bare := part.strip(" ,;:"))]


def _is_named(thing: Thing, part: str) -> bool:
    """Every telling word of the title stands in the part, or two of them."""
    said = _said_of(thing, part)
    return bool(said) and len(said) >= min(len(set(telling(thing.title))), ENOUGH)


def _are_used(said: set[str], used: set[str]) -> bool:
    return all(any(same(word, one) for one in used) for word in said)


def _said_of(thing: Thing, part: str) -> set[str]:
    """The telling words of a title that stand in the part."""
    there = telling(part)
    return {word for word in telling(thing.title) if any(same(word, one) for one in there)}


def _dates_of(steps: Sequence[Step], tools: Mapping[str, Any]) -> Iterator[str]:
    for step in steps:
        for key in getattr(tools.get(step.tool), "dates", ()):
            if isinstance(value := step.arguments.get(key), str):
                yield value


def _used(steps: Sequence[Step]) -> set[str]:
    return {word for step in steps for text in _texts(step.arguments) for word in words(text)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _has_unused_date(
    part: str,
    said: str,
    dates: DatesSaid,
    steps: Sequence[Step],
    things: Sequence[Thing],
    tools: Mapping[str, Any],
) -> bool:
    """A day of this part is no step's date, and no changed thing lies on it."""
    values = [text for step in steps for text in _texts(step.arguments)]
    days = dates.within(part, used=values)
    meant = Meant(telling(said), frozenset(), things, tools)
    touched = {
        thing.day for step in steps if writes(tools.get(step.tool)) and (thing := meant.thing_of(step))
    }
    return bool(days) and not days & touched
