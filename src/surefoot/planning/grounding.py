"""What a small model makes up is taken out of its plan again, by code: values and steps that nobody asked for.

Only writes are looked at, and only what shares no word with anything that was said. Dates, numbers, choices and yes or
no are left alone: they may be said in other words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final

from surefoot.planning import placeholders
from surefoot.planning.asking import is_question
from surefoot.planning.binding import Options
from surefoot.planning.dated import Look, completed
from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.meant import Meant, all_said, is_in, new_dates, shares, telling, thing_of, writes
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.places_said import new_place
from surefoot.planning.queries import without
from surefoot.planning.sparing import spared
from surefoot.planning.spelling import respelt
from surefoot.planning.things import Thing
from surefoot.storage.words import query_words
from surefoot.tools.types import Effect

TITLE: Final = "title"
"""The argument that names what a call makes."""
TEXT: Final = "text"
"""The argument that holds what is written down."""
TITLE_WORDS: Final = 5
"""Of a text that are its title where the model gave it none of its own."""
PLACE: Final = "place"
"""The argument that says where."""
_SENTENCES: Final = re.compile(r"[.!?;]+\s+|\n+")
_QUOTED: Final = re.compile(r'^[a-z]+ "(?P<title>.*?)"(?:[ ,:\[]|$)')
"""The title in a line about something that is already there."""


@dataclass(frozen=True)
class Ground:
    """What a plan is held against.

    `said` is the request, `talk` the conversation before it; `known` the lines about what is already there that the
    planner was shown, `things` all that is there. `now` is the run's clock, in the person's zone.
    """

    said: str
    talk: str = ""
    known: Sequence[str] = ()
    things: Sequence[Thing] = ()
    now: datetime | None = None
    language: str = "en"

    @cached_property
    def dates(self) -> DatesSaid | None:
        """The dates of the request, read once; None without a clock."""
        return DatesSaid(self.said, self.now, self.language) if self.now else None


def grounded(outline: Outline, tools: Iterable[Any], ground: Ground) -> Outline:
    """The outline without what was made up, and with its dates as far as they reach.

    Taken out are: optional texts of a write that share no word with what was said; a write that makes something whose
    title was only copied from what is already there, or a second thing of the same title as another of the plan; a step
    for each item of a step that lists nothing; a change of something that was neither named nor meant by its day; every
    change, when the request is a question.

    Args:
        outline: a plan.
        tools: the catalogue; `effect`, `parameters`, `dates` and `options` of its tools are read.
        ground: what was said and what is there.
    """
    by_name = {tool.name: tool for tool in tools}
    dates = ground.dates
    if dates is not None:
        look = Look(dates.read, partial(_find, ground.things), partial(_source, outline), ground.said)
        outline = Outline(tuple(completed(step, by_name, dates, look) for step in outline.steps))
    words = telling(f"{ground.talk} {ground.said}")
    titles = {title.casefold() for title in titles_in(ground.known)}
    used = [by_name[s.tool] for s in outline.steps if s.tool in by_name]
    if not any(getattr(tool, "effect", None) is Effect.WRITE for tool in used):
        return outline
    if is_question(ground.said):
        outline = without(outline, lambda step: writes(by_name.get(step.tool)))
    if dates is not None:
        outline = _placed(outline, by_name, ground, dates)
        outline = Outline(tuple(_moved_to(step, by_name, ground, dates) for step in outline.steps))
    outline = without(outline, partial(_changes_nothing, tools=by_name))
    outline = Outline(tuple(_retitled(step, words, titles) for step in outline.steps))
    made_up = partial(_is_made_up, outline=outline, tools=by_name, words=words, titles=titles)
    kept = without(without(outline, made_up), partial(_is_second, outline=outline))
    if dates is not None:
        meant = Meant(
            f"{ground.talk} {ground.said}", dates.days(new_dates(kept, by_name)), ground.things, by_name
        )
        kept = Outline(tuple(meant.of_said_day(step) for step in kept.steps))
        kept = Outline(tuple(meant.of_new_thing(step, kept) for step in kept.steps))
        kept = _placed(without(kept, partial(meant.is_unmeant, outline=kept)), by_name, ground, dates)
        stay = spared(ground.said, ground.known, ground.things)
        kept = without(kept, lambda step: _ends(step, meant.changed_by(step), stay))
    kept = Outline(tuple(_trimmed(step, by_name.get(step.tool), words) for step in kept.steps))
    return Outline(tuple(_respelt(step, by_name.get(step.tool), ground) for step in kept.steps))


def nameable(options: Options, tools: Iterable[Any], ground: Ground) -> Options:
    """The names that changes can have, without those of things that nobody named and that lie on no day that was said.

    A small model would rather move the appointment that it sees than make a new one.
    """
    if ground.dates is None or not ground.things:
        return options
    by_name = {tool.name: tool for tool in tools}
    meant = Meant(f"{ground.talk} {ground.said}", ground.dates.days(), ground.things, by_name)
    return meant.narrowed(options)


def _placed(outline: Outline, tools: dict[str, Any], ground: Ground, dates: DatesSaid) -> Outline:
    """The one change of an appointment with the new place that was said of it."""
    changes = [step for step in outline.steps if writes(tools.get(step.tool))]
    moving = [
        step
        for step in changes
        if PLACE in getattr(tools[step.tool], "said", ()) and tools[step.tool].options
    ]
    if len(moving) != 1 or PLACE in moving[0].arguments:
        return outline
    step = moving[0]
    thing = thing_of(step, ground.things, tools)
    if thing is None:
        return outline
    about = ground.said if len(changes) == 1 else _sentence_about(thing.title, ground.said)
    place = new_place(about, thing.title, lambda text: dates.read(text) is not None or dates.has_day(text))
    added = replace(step, arguments={**step.arguments, PLACE: place})
    return Outline(tuple(added if one is step and place else one for one in outline.steps))


def _moved_to(step: Step, tools: dict[str, Any], ground: Ground, dates: DatesSaid) -> Step:
    """The step with the day that something moves to, where the model took "from Monday to Tuesday" for a span."""
    thing = thing_of(step, ground.things, tools)
    start, end = step.arguments.get("start"), step.arguments.get("end")
    if thing is None or thing.day is None or not isinstance(start, str) or not isinstance(end, str):
        return step
    old, new = dates.read(start), dates.read(end)
    if old is None or new is None or not (old.is_day and new.is_day and old.day == thing.day):
        return step
    left = {key: value for key, value in step.arguments.items() if key != "end"}
    return replace(step, arguments={**left, "start": end})


def _sentence_about(title: str, said: str) -> str:
    """The one sentence that names a title; empty where several do."""
    own = telling(title)
    found = [one for one in _SENTENCES.split(said) if any(is_in(word, telling(one)) for word in own)]
    return found[0] if len(found) == 1 else ""


def _source(outline: Outline, text: str) -> Mapping[str, Any]:
    """The arguments of the step that a placeholder names."""
    found = placeholders.read(text)
    number = found.step if found else None
    return outline.steps[number - 1].arguments if number and number <= len(outline.steps) else {}


def _ends(step: Step, thing: Thing | None, stay: Collection[tuple[str, str]]) -> bool:
    """It deletes, ticks off or opens again, and gives nothing new to, a thing that stays as it is."""
    return thing is not None and len(step.arguments) == 1 and (thing.kind, thing.title) in stay


def _find(things: Sequence[Thing], kind: str, title: str) -> Thing | None:
    folded = title.casefold()
    return next((one for one in things if one.kind == kind and one.title.casefold() == folded), None)


def titles_in(known: Sequence[str]) -> list[str]:
    """The titles that lines about what is already there are about."""
    return [found["title"] for line in known if (found := _QUOTED.match(line))]


def _retitled(step: Step, words: list[str], titles: set[str]) -> Step:
    """The step with the beginning of its text for a title that was only copied, where the text was said."""
    title, text = step.arguments.get(TITLE), step.arguments.get(TEXT)
    if step.kind is not StepKind.TOOL or not isinstance(title, str) or not isinstance(text, str):
        return step
    if not _is_copied(title, words, titles) or not telling(text) or not all_said(telling(text), words):
        return step
    own = " ".join(text.split()[:TITLE_WORDS]).rstrip(".,;:!?")
    return replace(step, arguments={**step.arguments, TITLE: own})


def _is_copied(title: str, words: list[str], titles: set[str]) -> bool:
    return title.casefold() in titles and not all_said(telling(title), words)


def _is_made_up(
    step: Step, *, outline: Outline, tools: dict[str, Any], words: list[str], titles: set[str]
) -> bool:
    if step.kind is not StepKind.TOOL or not writes(tools.get(step.tool)):
        return False
    title = step.arguments.get(TITLE)
    dates = [step.arguments.get(key) for key in getattr(tools[step.tool], "dates", ())]
    if isinstance(title, str) and title.casefold() in {str(date).casefold() for date in dates}:
        return True
    if isinstance(title, str) and _is_copied(title, words, titles):
        return True
    sources = [found for text in step.placeholders if (found := placeholders.read(text)) and found.step]
    return any(
        _gives_nothing(tools.get(outline.steps[(one.step or 1) - 1].tool), each=one.each) for one in sources
    )


def _gives_nothing(tool: Any, *, each: bool) -> bool:
    """A call that changes what is there reveals nothing, and a new thing is one and no list."""
    return writes(tool) and (each or bool(getattr(tool, "options", None)))


def _changes_nothing(step: Step, *, tools: dict[str, Any]) -> bool:
    """It names a thing and nothing that is to become different, where the tool would change what is given."""
    tool = tools.get(step.tool)
    if (
        step.kind is not StepKind.TOOL
        or tool is None
        or not writes(tool)
        or not getattr(tool, "options", None)
    ):
        return False
    given = {key for key in step.arguments if key not in tool.options}
    properties = set(tool.parameters.get("properties", {}))
    return not given and bool(properties - set(tool.options))


def _is_second(step: Step, *, outline: Outline) -> bool:
    """One wish became two things: another kind of thing with the same title is made before it."""
    title = step.arguments.get(TITLE)
    if not isinstance(title, str):
        return False
    same = [one for one in outline.steps if str(one.arguments.get(TITLE, "")).casefold() == title.casefold()]
    return same[0].tool != step.tool


def _trimmed(step: Step, tool: Any, words: list[str]) -> Step:
    if step.kind is not StepKind.TOOL or not writes(tool):
        return step
    properties = tool.parameters.get("properties", {})
    optional = set(properties) - set(tool.parameters.get("required", ()))
    dropped = {
        key
        for key, value in step.arguments.items()
        if key in optional and _is_free(properties[key]) and _is_foreign(value, words)
    }
    if not dropped:
        return step
    return replace(step, arguments={k: v for k, v in step.arguments.items() if k not in dropped})


def _respelt(step: Step, tool: Any, ground: Ground) -> Step:
    """The step with the words of a new title as they were said, where the model wrote one of them wrong."""
    title = step.arguments.get(TITLE)
    if step.kind is not StepKind.TOOL or not writes(tool) or not isinstance(title, str) or "<" in title:
        return step
    spelt = respelt(title, f"{ground.said} {ground.talk} {' '.join(ground.known)}")
    return step if spelt == title else replace(step, arguments={**step.arguments, TITLE: spelt})


def _is_free(schema: Any) -> bool:
    """Any text or list of texts, as far as the schema says."""
    text = str(schema)
    return "'string'" in text and not any(
        f"'{key}'" in text for key in ("enum", "const", "format", "pattern")
    )


def _is_foreign(value: Any, words: list[str]) -> bool:
    """A text of words none of which was said. What holds a figure or a placeholder, or reads as a date, is not."""
    if isinstance(value, list):
        return bool(value) and all(_is_foreign(item, words) for item in value)
    if not isinstance(value, str) or any(sign.isdigit() or sign == "<" for sign in value):
        return False
    return bool(query_words(value)) and not shares(value, words) and not _is_date(value)


def _is_date(text: str) -> bool:
    from datetime import UTC, datetime

    from surefoot.errors import ToolError
    from surefoot.tools.dates import resolve_date

    try:
        resolve_date(text, datetime(2026, 1, 1, tzinfo=UTC), "UTC", "en")
    except ToolError:
        return False
    return True
