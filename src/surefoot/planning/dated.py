"""The date arguments of a plan, put right by reading what was said: how far each reaches, and which are none at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.outline import Step, StepKind
from surefoot.planning.spans_said import two_times
from surefoot.planning.things import Thing
from surefoot.tools.types import Effect

if TYPE_CHECKING:
    from surefoot.tools.dates import Moment

UNTIL: Final = frozenset({"bis", "until", "till", "til", "to", "jusqu'a", "jusqua", "jusque", "hasta"})
"""Words, folded, behind which an end stands and no start."""
WITH: Final = frozenset({"with", "w/", "mit", "avec", "con"})
"""Words, folded, behind which somebody stands and no place."""
_TIMED: Final = frozenset({"start", "end"})
"""Dates that have a time of day: a bare figure behind the day is its hour."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a tool may ask to know whether another call is meant: see `tools.types.Look`."""

    read: Callable[[str], Moment | None]
    find: Callable[[str, str], Thing | None]
    source: Callable[[str], Mapping[str, Any]] = field(default=lambda _: {})
    said: str = ""


def completed(step: Step, tools: Mapping[str, Any], dates: DatesSaid, look: Look) -> Step:
    """Each date made whole; what is no date left out; another call where the tool says that it is meant."""
    tool = tools.get(step.tool)
    if step.kind is not StepKind.TOOL or tool is None:
        return step
    values = dict(step.arguments)
    keys = [key for key in getattr(tool, "dates", ()) if isinstance(values.get(key), str)]
    _day_elsewhere(values, tool, dates)
    _company(values, tool, dates)
    _one_of_two(values, tool, dates)
    _both_in_one(values, tool, dates)
    for key in keys:
        if key in values and "<" not in values[key]:
            _put_right(values, key, tool, dates)
    _day_twice(values, tool, dates)
    rather = getattr(tool, "rather", None)
    instead = rather(values, look) if rather else None
    if instead is not None and instead[0] in tools:
        return replace(step, tool=instead[0], arguments=instead[1])
    return replace(step, arguments=values) if values != step.arguments else step


def _day_elsewhere(values: dict[str, Any], tool: Any, dates: DatesSaid) -> None:
    """A day that was put where something else belongs is the day of a start that has only a clock time."""
    for key in _days_elsewhere(values, tool, dates):
        if dates.is_clock(values["start"]):
            values["start"] = f"{values.pop(key)} {values['start']}"


def _day_twice(values: dict[str, Any], tool: Any, dates: DatesSaid) -> None:
    """A day that the start says is nothing else besides."""
    for key in _days_elsewhere(values, tool, dates):
        if values[key].casefold() in values["start"].casefold():
            del values[key]


def _days_elsewhere(values: dict[str, Any], tool: Any, dates: DatesSaid) -> list[str]:
    """Arguments beside a start that are copied, and are days."""
    if not isinstance(values.get("start"), str):
        return []
    said = [key for key in getattr(tool, "said", ()) if isinstance(values.get(key), str)]
    return [key for key in said if dates.is_day(values[key])]


def _company(values: dict[str, Any], tool: Any, dates: DatesSaid) -> None:
    """Who comes along ("lunch with Lena") is no place."""
    for key in getattr(tool, "said", ()) if "start" in getattr(tool, "dates", ()) else ():
        if isinstance(values.get(key), str) and dates.word_before(values[key]) in WITH:
            del values[key]


def _one_of_two(values: dict[str, Any], tool: Any, dates: DatesSaid) -> None:
    """A start and an end of the same words are one of the two; what something lasts until is its end."""
    if _is_end_alone(values, tool, dates):
        values["end"] = values.pop("start")
        return
    if tool.effect is not Effect.WRITE or "end" not in values or values["end"] != values.get("start"):
        return
    if "start" not in tool.parameters.get("required", ()) and dates.word_before(values["end"]) in UNTIL:
        del values["start"]
    else:
        del values["end"]


def _is_end_alone(values: dict[str, Any], tool: Any, dates: DatesSaid) -> bool:
    start = values.get("start")
    if tool.effect is not Effect.WRITE or "end" in values or not isinstance(start, str):
        return False
    needed = tool.parameters.get("required", ())
    return "start" not in needed and dates.is_clock(start) and dates.word_before(start) in UNTIL - {"to"}


def _both_in_one(values: dict[str, Any], tool: Any, dates: DatesSaid) -> None:
    """A start that says the end too is a start and an end."""
    start = values.get("start")
    if (
        tool.effect is not Effect.WRITE
        or not isinstance(start, str)
        or "end" not in getattr(tool, "dates", ())
    ):
        return
    found = None if dates.is_date(start) else two_times(start, dates.is_clock, dates.is_one_day)
    if found:
        values["start"], values["end"] = found


def _put_right(values: dict[str, Any], key: str, tool: Any, dates: DatesSaid) -> None:
    """The date as far as it reaches; else the part of it that is one; else it was said of something else."""
    value = values[key]
    whole = dates.whole(value)
    if dates.is_date(whole):
        values[key] = whole
    elif hanging := dates.hanging(value):
        values[key] = hanging
    elif bridged := dates.bridged(value):
        values[key] = bridged
    elif key in _TIMED and (timed := dates.at_hour(value)):
        values[key] = timed
    elif part := dates.part(value):
        values[key] = part
    elif key not in tool.parameters.get("required", ()):
        del values[key]
        free = [other for other in getattr(tool, "said", ()) if other not in values]
        if len(free) == 1 and not dates.is_date_word(value):
            values[free[0]] = value
