"""What a small model makes up is taken out of its plan again, by code: values and steps that nobody asked for.

Only writes are looked at, and only what shares no word with anything that was said. Dates, numbers, choices and yes or
no are left alone: they may be said in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final

from surefoot.planning import placeholders
from surefoot.planning.asking import is_question
from surefoot.planning.dated import Look, completed
from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.meant import Meant, all_said, new_dates, shares, telling, writes
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.queries import without
from surefoot.planning.things import Thing
from surefoot.storage.words import query_words
from surefoot.tools.types import Effect

TITLE: Final = "title"
"""The argument that names what a call makes."""
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
        look = Look(dates.read, partial(_find, ground.things))
        outline = Outline(tuple(completed(step, by_name, dates, look) for step in outline.steps))
    words = telling(f"{ground.talk} {ground.said}")
    titles = {title.casefold() for title in titles_in(ground.known)}
    used = [by_name[s.tool] for s in outline.steps if s.tool in by_name]
    if not any(getattr(tool, "effect", None) is Effect.WRITE for tool in used):
        return outline
    if is_question(ground.said):
        outline = without(outline, lambda step: writes(by_name.get(step.tool)))
    made_up = partial(_is_made_up, outline=outline, tools=by_name, words=words, titles=titles)
    kept = without(without(outline, made_up), partial(_is_second, outline=outline))
    if dates is not None:
        meant = Meant(words, dates.days(new_dates(kept, by_name)), ground.things, by_name)
        kept = Outline(tuple(meant.of_said_day(step) for step in kept.steps))
        kept = Outline(tuple(meant.of_new_thing(step, kept) for step in kept.steps))
        kept = without(kept, partial(meant.is_unmeant, outline=kept))
    return Outline(tuple(_trimmed(step, by_name.get(step.tool), words) for step in kept.steps))


def _find(things: Sequence[Thing], kind: str, title: str) -> Thing | None:
    folded = title.casefold()
    return next((one for one in things if one.kind == kind and one.title.casefold() == folded), None)


def titles_in(known: Sequence[str]) -> list[str]:
    """The titles that lines about what is already there are about."""
    return [found["title"] for line in known if (found := _QUOTED.match(line))]


def _is_made_up(
    step: Step, *, outline: Outline, tools: dict[str, Any], words: list[str], titles: set[str]
) -> bool:
    if step.kind is not StepKind.TOOL or not writes(tools.get(step.tool)):
        return False
    title = step.arguments.get(TITLE)
    dates = [step.arguments.get(key) for key in getattr(tools[step.tool], "dates", ())]
    if isinstance(title, str) and title.casefold() in {str(date).casefold() for date in dates}:
        return True
    if isinstance(title, str) and title.casefold() in titles and not all_said(telling(title), words):
        return True
    sources = [found for text in step.placeholders if (found := placeholders.read(text)) and found.each]
    return any(writes(tools.get(outline.steps[found.step - 1].tool)) for found in sources if found.step)


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
