"""Which changes of things that are there somebody asked for, and which a small model only copied along."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any, Final

from surefoot.planning._data import table
from surefoot.planning.binding import Options
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.things import Thing
from surefoot.storage.words import common_words, may_be_prefix, query_words, words
from surefoot.tools.types import Effect

_SHORT_NAME: Final = re.compile(r"\b[A-Z]{2}\b")
MISSPELT: Final = 6
"""Letters from which on a word with one of them wrong is still that word: of five, many are another one."""
MIN_LETTERS: Final = 3
"""Shorter words, in scripts with spaces, are articles and prepositions: sharing one means nothing."""


class Meant:
    """Says which changes were asked for.

    Args:
        text: the conversation and the request behind it.
        days: the days that the request names to say which thing is meant.
        things: what there is.
        tools: the catalogue by name.
    """

    def __init__(
        self, text: str, days: frozenset[date], things: Sequence[Thing], tools: Mapping[str, Any]
    ) -> None:
        self._said = telling(text)
        there = words(text)
        self._pointed = [
            word
            for at, word in enumerate(there)
            if word in self._said and _pointing().intersection(there[max(at - 2, 0) : at])
        ]
        self._days = days
        self._things = things
        self._tools = tools

    def is_unmeant(self, step: Step, outline: Outline) -> bool:
        """It changes something that nobody meant, or only for a word that another thing shares."""
        thing = self.changed_by(step)
        if thing is None:
            return False
        others = [one for one in outline.steps if one is not step and self._is_changed_on_purpose(one)]
        if not self.is_meant(thing):
            return bool(others) or not self._names_kind(step.tool, self._said)
        return any(self._is_shadow_of(step, thing, one) for one in outline.steps if one is not step)

    def of_new_thing(self, step: Step, outline: Outline) -> Step:
        """The step, about the one thing of its kind that the plan makes before, where nobody named what it changes.

        "Note that the paint is matt. Label it home": a bound model can only name a note that is there already.
        """
        thing = self.changed_by(step)
        if thing is None or self.is_meant(thing):
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
        thing = self.changed_by(step)
        if thing is None or thing.day in self._days or self._is_fully_said(thing.title):
            return step
        own = [one for one in self._things if one.kind == thing.kind and one.day in self._days]
        naming = [word for word in self._said if is_in(word, telling(thing.title))]
        rivals = {one.title for one in own if telling(one.title) and shares(one.title, naming)}
        if len(rivals) != 1:
            return step
        return replace(step, arguments={**step.arguments, thing.kind: rivals.pop()})

    def thing_of(self, step: Step) -> Thing | None:
        """What a step names."""
        return thing_of(step, self._things, self._tools)

    def changed_by(self, step: Step) -> Thing | None:
        """The same of a step that can be taken back."""
        return changed_by(step, self._things, self._tools)

    def _is_changed_on_purpose(self, step: Step) -> bool:
        thing = self.changed_by(step)
        return thing is not None and self.is_meant(thing)

    def is_meant(self, thing: Thing) -> bool:
        """It was named, or lies on a day that says which one is meant."""
        return shares(thing.title, self._said) or thing.day in self._days

    def _is_fully_said(self, title: str) -> bool:
        own = telling(title)
        return bool(own) and all_said(own, self._said)

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

    def _names_kind(self, tool: str, said: Sequence[str]) -> bool:
        """Words that say "appointment", "done": something of the kind that the tool changes, or what it does."""
        aliases = getattr(self._tools.get(tool), "aliases", ())
        names = {word for alias in aliases for word in words(alias)}
        return any(is_in(word, names) for word in said)

    def narrowed(self, options: Options) -> Options:
        """The names that changes can have, without those of things that nobody meant."""
        return {tool: self._narrowed(tool, names) for tool, names in options.items()}

    def _needs_only(self, tool: str, names: Collection[str]) -> bool:
        """It changes something and needs no more than its name; "label it home" may be about what is made before."""
        found = self._tools.get(tool)
        return found is not None and writes(found) and set(names) >= set(found.parameters.get("required", ()))

    def _narrowed(
        self, tool: str, names: Mapping[str, Sequence[str] | None]
    ) -> dict[str, Sequence[str] | None]:
        if not self._needs_only(tool, names) or self._names_kind(tool, self._pointed):
            return dict(names)
        unmeant = {(one.kind, one.title) for one in self._things if not self.is_meant(one)}
        return {
            key: texts if texts is None else [text for text in texts if (key, text) not in unmeant]
            for key, texts in names.items()
        }


def thing_of(step: Step, things: Sequence[Thing], tools: Mapping[str, Any]) -> Thing | None:
    """The thing that a step names."""
    keys = getattr(tools.get(step.tool), "options", {}) if step.kind is StepKind.TOOL else {}
    return next(
        (one for one in things if one.kind in keys and step.arguments.get(one.kind) == one.title), None
    )


def changed_by(step: Step, things: Sequence[Thing], tools: Mapping[str, Any]) -> Thing | None:
    """The thing that a step changes, where it can be taken back."""
    return thing_of(step, things, tools) if writes(tools.get(step.tool)) else None


def dates_of(step: Step, tools: Mapping[str, Any]) -> list[str]:
    """The texts of a step's date arguments."""
    keys = getattr(tools.get(step.tool), "dates", ())
    return [value for key in keys if isinstance(value := step.arguments.get(key), str)]


def new_dates(outline: Outline, tools: Mapping[str, Any]) -> list[str]:
    """The dates that the writes of a plan set: they say where something goes, not which one is meant."""
    return [text for step in outline.steps if writes(tools.get(step.tool)) for text in dates_of(step, tools)]


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
    return not own or any(is_in(word, said) for word in own)


def all_said(own: Iterable[str], said: Iterable[str]) -> bool:
    """Every one of these words was said."""
    return all(is_in(word, said) for word in own)


def is_in(word: str, said: Iterable[str]) -> bool:
    """The word was said, perhaps in another form."""
    return any(same(word, one) for one in said)


def same(word: str, other: str) -> bool:
    """The same word, a longer form of it, or one with a letter wrong."""
    shorter, longer = sorted((word, other), key=len)
    if word == other or (may_be_prefix(shorter) and longer.startswith(shorter)):
        return True
    return len(shorter) >= MISSPELT and len(longer) - len(shorter) <= 1 and _one_off(shorter, longer)


def _one_off(shorter: str, longer: str) -> bool:
    """One letter is missing, too many or another one, or two have changed places."""
    start = next(
        (at for at, (one, other) in enumerate(zip(shorter, longer, strict=False)) if one != other), None
    )
    if start is None:
        return True
    rest, other = shorter[start:], longer[start:]
    if len(shorter) != len(longer):
        return rest == other[1:]
    return rest[1:] == other[1:] or (rest[2:] == other[2:] and rest[1::-1] == other[:2])


@cache
def _pointing() -> frozenset[str]:
    """Words that stand before something that is there: "my next appointment", where "new appointment" is none."""
    return frozenset(word for found in table("pointing").values() for word in found)
