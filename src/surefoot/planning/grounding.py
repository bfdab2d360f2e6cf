"""What a small model makes up is taken out of its plan again, by code: values and steps that nobody asked for.

Only writes are looked at, and only what shares no word with anything that was said. Dates, numbers, choices and yes or
no are left alone: they may be said in other words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

from surefoot.planning import placeholders
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.queries import without
from surefoot.storage.words import may_be_prefix, query_words
from surefoot.storage.words import words as words_of
from surefoot.tools.types import Effect

MIN_LETTERS: Final = 3
"""Shorter words, in scripts with spaces, are articles and prepositions: sharing one means nothing."""
TITLE: Final = "title"
"""The argument that names what a call makes."""
_QUOTED: Final = re.compile(r'^[a-z]+ "(?P<title>.*?)"(?:[ ,:\[]|$)')
"""The title in a line about something that is already there."""


def grounded(outline: Outline, tools: Iterable[Any], said: str, known: Sequence[str]) -> Outline:
    """The outline without what was made up.

    Taken out are: optional texts of a write that share no word with what was said; a write that makes something whose
    title was only copied from what is already there, or a second thing of the same title as another of the plan; a step
    for each item of a step that lists nothing; a change of something that nobody named and that is due on another day
    than the one day that was named.

    Args:
        outline: a plan.
        tools: the catalogue; `effect` and `parameters` of its tools are read.
        said: the request and the conversation before it.
        known: the lines about what is already there that the planner was shown.
    """
    by_name = {tool.name: tool for tool in tools}
    words = _telling(said)
    titles = {found["title"].casefold() for line in known if (found := _QUOTED.match(line))}
    writes = [by_name[s.tool] for s in outline.steps if s.tool in by_name]
    if not any(getattr(tool, "effect", None) is Effect.WRITE for tool in writes):
        return outline
    made_up = partial(_is_made_up, outline=outline, tools=by_name, words=words, titles=titles)
    kept = without(without(outline, made_up), partial(_is_second, outline=outline))
    kept = without(kept, partial(_is_of_another_day, outline=kept, said=said, words=words, known=known))
    return Outline(tuple(_trimmed(step, by_name.get(step.tool), words) for step in kept.steps))


def _is_made_up(
    step: Step, *, outline: Outline, tools: dict[str, Any], words: list[str], titles: set[str]
) -> bool:
    if step.kind is not StepKind.TOOL or not _writes(tools.get(step.tool)):
        return False
    title = step.arguments.get(TITLE)
    if isinstance(title, str) and title.casefold() in titles and not _shares(title, words):
        return True
    sources = [found for text in step.placeholders if (found := placeholders.read(text)) and found.each]
    return any(_writes(tools.get(outline.steps[found.step - 1].tool)) for found in sources if found.step)


def _is_second(step: Step, *, outline: Outline) -> bool:
    """One wish became two things: another kind of thing with the same title is made before it."""
    title = step.arguments.get(TITLE)
    if not isinstance(title, str):
        return False
    same = [one for one in outline.steps if str(one.arguments.get(TITLE, "")).casefold() == title.casefold()]
    return same[0].tool != step.tool


def _is_of_another_day(
    step: Step, *, outline: Outline, said: str, words: list[str], known: Sequence[str]
) -> bool:
    """Of several things that are changed alike, one that nobody named, of another day than the one that was said."""
    days = days_in(said)
    alike = [_line_of(one, known) for one in outline.steps if one.tool == step.tool]
    if step.kind is not StepKind.TOOL or len(days) != 1 or not any(days_in(line) & days for line in alike):
        return False
    line = _line_of(step, known)
    dated = any(sign.isdigit() for sign in line) or bool(days_in(line))
    return dated and not days_in(line) & days and not _shares(_named(step), words)


def _named(step: Step) -> str:
    """What a step that changes something calls it by: its first argument."""
    return next((value for value in step.arguments.values() if isinstance(value, str)), "")


def _line_of(step: Step, known: Sequence[str]) -> str:
    """What the line about the thing that a step changes says behind its title; empty where there is none."""
    for line in known:
        found = _QUOTED.match(line)
        if found and found["title"] == _named(step):
            return line[found.end("title") + 1 :]
    return ""


def days_in(text: str) -> frozenset[str]:
    """Which of the days that are said in one word (today, tomorrow) a text names, in any of the tested languages."""
    return frozenset(meaning for word in words_of(text) if (meaning := _day_words().get(word)))


@cache
def _day_words() -> dict[str, str]:
    table = tomllib.loads(files("surefoot.planning").joinpath("day_words.toml").read_text(encoding="utf-8"))
    return {word: meaning for meaning, words in table.items() for word in words}


def _writes(tool: Any) -> bool:
    return getattr(tool, "effect", None) is Effect.WRITE


def _trimmed(step: Step, tool: Any, words: list[str]) -> Step:
    if step.kind is not StepKind.TOOL or not _writes(tool):
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
    return bool(query_words(value)) and not _shares(value, words) and not _is_date(value)


def _is_date(text: str) -> bool:
    from datetime import UTC, datetime

    from surefoot.errors import ToolError
    from surefoot.tools.dates import resolve_date

    try:
        resolve_date(text, datetime(2026, 1, 1, tzinfo=UTC), "UTC", "en")
    except ToolError:
        return False
    return True


def _telling(text: str) -> list[str]:
    return [word for word in query_words(text) if len(word) >= MIN_LETTERS or not word.isascii()]


def _shares(text: str, words: list[str]) -> bool:
    own = _telling(text)
    return not own or any(_same(word, one) for word in own for one in words)


def _same(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (may_be_prefix(shorter) and longer.startswith(shorter))
