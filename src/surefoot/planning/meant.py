"""Which changes of things that are there somebody asked for, and which a small model only copied along."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.things import Thing
from surefoot.storage.words import common_words, may_be_prefix, query_words, words
from surefoot.tools.types import Effect

_SHORT_NAME: Final = re.compile(r"\b[A-Z]{2}\b")
MIN_LETTERS: Final = 3
"""Shorter words, in scripts with spaces, are articles and prepositions: sharing one means nothing."""


class Meant:
    """Says which changes were asked for.

    Args:
        said: the telling words of the request and of the conversation before it.
        days: the days that the request names to say which thing is meant.
        things: what there is.
        tools: the catalogue by name.
    """

    def __init__(
        self, said: list[str], days: frozenset[date], things: Sequence[Thing], tools: Mapping[str, Any]
    ) -> None:
        self._said = said
        self._days = days
        self._things = things
        self._tools = tools

    def is_unmeant(self, step: Step, outline: Outline) -> bool:
        """It changes something that nobody meant, or only for a word that another thing shares."""
        thing = self.thing_of(step)
        if thing is None or not writes(self._tools.get(step.tool)):
            return False
        others = [one for one in outline.steps if one is not step and self._is_changed_on_purpose(one)]
        if not self._is_meant(thing):
            return bool(others) or not self._names_kind(step)
        return any(self._is_shadow_of(step, thing, one) for one in outline.steps if one is not step)

    def of_new_thing(self, step: Step, outline: Outline) -> Step:
        """The step, about the one thing of its kind that the plan makes before, where nobody named what it changes.

        "Note that the paint is matt. Label it home": a bound model can only name a note that is there already.
        """
        thing = self.thing_of(step)
        if thing is None or not writes(self._tools.get(step.tool)) or self._is_meant(thing):
            return step
        kit = self._tools[step.tool].kit
        before = outline.steps[: outline.steps.index(step)]
        made = [one for one in before if one.tool in self._tools and self._tools[one.tool].kit == kit]
        made = [
            one
            for one in made
            if not self._tools[one.tool].options and isinstance(one.arguments.get("title"), str)
        ]
        if len(made) != 1:
            return step
        return replace(step, arguments={**step.arguments, thing.kind: made[0].arguments["title"]})

    def of_said_day(self, step: Step) -> Step:
        """The step, about the thing of the day that was said, where several share the word that names it."""
        thing = self.thing_of(step)
        if thing is None or not writes(self._tools.get(step.tool)) or thing.day in self._days:
            return step
        if self._is_fully_said(thing.title):
            return step
        own = [one for one in self._things if one.kind == thing.kind and one.day in self._days]
        naming = [word for word in self._said if any(same(word, one) for one in telling(thing.title))]
        rivals = {one.title for one in own if telling(one.title) and shares(one.title, naming)}
        if len(rivals) != 1:
            return step
        return replace(step, arguments={**step.arguments, thing.kind: rivals.pop()})

    def thing_of(self, step: Step) -> Thing | None:
        """What a step changes."""
        keys = getattr(self._tools.get(step.tool), "options", {}) if step.kind is StepKind.TOOL else {}
        return next(
            (one for one in self._things if one.kind in keys and step.arguments.get(one.kind) == one.title),
            None,
        )

    def _is_changed_on_purpose(self, step: Step) -> bool:
        thing = self.thing_of(step)
        return thing is not None and writes(self._tools.get(step.tool)) and self._is_meant(thing)

    def _is_meant(self, thing: Thing) -> bool:
        return shares(thing.title, self._said) or thing.day in self._days

    def _is_fully_said(self, title: str) -> bool:
        own = telling(title)
        return bool(own) and all(any(same(word, one) for one in self._said) for word in own)

    def _is_shadow_of(self, step: Step, thing: Thing, other: Step) -> bool:
        """The same date was given to something that was said in full, or that is new: one wish became two changes."""
        mine = self._dates_of(step)
        if not mine or self._dates_of(other) != mine or self._is_fully_said(thing.title):
            return False
        rival = self.thing_of(other)
        title = rival.title if rival else other.arguments.get("title")
        return isinstance(title, str) and self._is_fully_said(title)

    def _dates_of(self, step: Step) -> set[str]:
        keys = getattr(self._tools.get(step.tool), "dates", ()) if step.kind is StepKind.TOOL else ()
        return {str(step.arguments[key]) for key in keys if key in step.arguments}

    def _names_kind(self, step: Step) -> bool:
        """The request says "my next appointment": something of this kind is meant."""
        aliases = getattr(self._tools.get(step.tool), "aliases", ())
        names = {word for alias in aliases for word in words(alias)}
        return any(same(word, name) for word in self._said for name in names)


def new_dates(outline: Outline, tools: Mapping[str, Any]) -> list[str]:
    """The dates that the writes of a plan set: they say where something goes, not which one is meant."""
    return [
        value
        for step in outline.steps
        if writes(tools.get(step.tool))
        for key in getattr(tools[step.tool], "dates", ())
        if isinstance(value := step.arguments.get(key), str)
    ]


def writes(tool: Any) -> bool:
    """The tool changes something that can be taken back."""
    return getattr(tool, "effect", None) is Effect.WRITE


def telling(text: str) -> list[str]:
    """The words of a text that say something about it; of the short ones those in capitals (`TV`, `PC`)."""
    names = {word.casefold() for word in _SHORT_NAME.findall(text)}
    found = (w for w in query_words(text) if len(w) >= MIN_LETTERS or not w.isascii() or w in names)
    return [word for word in found if word not in common_words()]


def shares(text: str, said: list[str]) -> bool:
    """A telling word of the text was said; true where it has none."""
    own = telling(text)
    return not own or any(same(word, one) for word in own for one in said)


def same(word: str, other: str) -> bool:
    """The same word, or a longer form of it."""
    shorter, longer = sorted((word, other), key=len)
    return word == other or (may_be_prefix(shorter) and longer.startswith(shorter))
