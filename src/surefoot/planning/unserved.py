"""Wishes of a request that a plan has no call for: a thing that was named, a date that was said, and no step for it.

Found by code; what to do about them is asked once more, of these parts of the request alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from surefoot.planning.asking import is_question
from surefoot.planning.grounding import Ground
from surefoot.planning.meant import all_said, changed_by, dates_of, same, telling
from surefoot.planning.outline import Outline, StepKind
from surefoot.planning.placeholders import texts_in
from surefoot.planning.things import Thing
from surefoot.storage.words import words

_BREAK: Final = re.compile(
    r"(?<=[^\d\s])[.!?;,:]+\s+|\n+|\s[–—-]\s|\s(?=(?:and|und|et|puis|y|also|außerdem|oh|ah|ach)\s)",
    re.IGNORECASE,
)
"""Where one wish may end and the next begin: marks, and words that join."""
ENOUGH: Final = 2
"""Words of a longer title that name it."""
STEM: Final = 4
"""Letters that two forms of a word begin with, at least."""
ENDING: Final = 2
"""Letters of the ending of the shorter one, at most; the longer one may have one more."""
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
    dates = ground.dates
    if not steps or dates is None or is_question(ground.said):
        return Unserved()
    tools = {tool.name: tool for tool in catalogue}
    values = [text for step in steps for text in texts_in(step.arguments, keys=False)]
    used = {word for text in values for word in words(text)}
    copied = [text for step in steps for text in dates_of(step, tools)]
    touched = {thing.day for step in steps if (thing := changed_by(step, ground.things, tools))}
    titles = [(thing, telling(thing.title)) for thing in ground.things]
    found: dict[str, list[Thing]] = {}
    for part in parts_of(ground.said):
        if dates.is_used(part, copied):
            continue
        named = _named(part, titles)
        left = [thing for thing, said in named if not all_said(said, used)]
        if left and len(left) == len(named):
            found[part] = left
        elif not named and (days := dates.days(values, part=part)) and not days & touched:
            found[part] = []
    if not 0 < len(found) <= MOST:
        return Unserved()
    return Unserved(", ".join(found), tuple(dict.fromkeys(one for left in found.values() for one in left)))


def parts_of(said: str) -> list[str]:
    """The request in parts that may each be a wish."""
    return [bare for part in _BREAK.split(said) if (bare := part.strip(" ,;:"))]


def _named(part: str, titles: Sequence[tuple[Thing, list[str]]]) -> list[tuple[Thing, set[str]]]:
    """The things that the part names, with the words that do: all that tell of the title, or two of them."""
    there = telling(part)
    found = (
        (thing, own, {word for word in own if any(_kin(word, one) for one in there)}) for thing, own in titles
    )
    return [(thing, said) for thing, own, said in found if said and len(said) >= min(len(set(own)), ENOUGH)]


def _kin(word: str, other: str) -> bool:
    """The same word, or another form of it with an ending of its own: "llamar" and "llamado"."""
    stem = max(STEM, min(len(word), len(other)) - ENDING)
    return same(word, other) or (
        word[:stem] == other[:stem]
        and max(len(word), len(other)) - stem <= ENDING + 1
        and len(word) > STEM < len(other)
    )
