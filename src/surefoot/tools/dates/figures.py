"""Dates in figures: `2026-05-03`, `3.5.`, `5/3/2026`, `2026年5月3日`, `2026-05`, `2026-W18`."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date

from surefoot.tools.dates.moment import Refused, Span

CENTURY = 2000
"""Two figures of a year mean this century: nobody plans for the last one."""
YEARS = range(1900, 2201)
"""A number of four figures alone is a year only within these; 1730 may be a time."""
LEAP_SPAN = 9
MONTHS = 12

_YEAR_FIRST = re.compile(r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<d>\d{1,2})\.?")
_COMPACT = re.compile(r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})")
_WEEK = re.compile(r"\d{4}-w\d{2}(-\d)?")
_MONTH = re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})|(?P<m2>\d{1,2})/(?P<y2>\d{4})")
_YEAR = re.compile(r"\d{4}")
_DOTS = re.compile(r"(?P<a>\d{1,2})\.\s?(?P<b>\d{1,2})(?:\.\s?(?P<y>\d{4}|\d{2})?)?")
_SLASHES = re.compile(r"(?P<a>\d{1,2})(?P<mark>[/-])(?P<b>\d{1,2})(?:(?P=mark)(?P<y>\d{4}|\d{2}))?")


def read(text: str, today: date, order: str) -> Span | None:
    """The day, month, week or year in figures; None where the text is something else.

    Raises:
        Refused: there is no such day.
    """
    match = _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text)
    if match:
        return Span.day(real_date(int(match["y"]), int(match["m"]), int(match["d"])))
    if _WEEK.fullmatch(text):
        return _week(text)
    match = _MONTH.fullmatch(text)
    if match:
        return _month(int(match["y"] or match["y2"]), int(match["m"] or match["m2"]))
    if _YEAR.fullmatch(text) and int(text) in YEARS:
        return Span(date(int(text), 1, 1), date(int(text), 12, 31))
    match = _DOTS.fullmatch(text)
    if match:
        # Where dots are written, the day stands first; East Asia writes month first here as everywhere.
        return _two(match, today, "YMD" if order == "YMD" else "DMY")
    match = _SLASHES.fullmatch(text)
    if match and (match["mark"] == "/" or match["y"]):
        return _two(match, today, order)
    return None


def _two(match: re.Match[str], today: date, order: str) -> Span:
    first, second = int(match["a"]), int(match["b"])
    day, month = (first, second) if order == "DMY" else (second, first)
    if month > MONTHS >= day:
        day, month = month, day  # only one order makes a date of it
    return Span.day(day_of(match["y"], month, day, today))


def day_of(year: str | None, month: int, day: int, today: date) -> date:
    """That date; without a year the next one, today included. Refused where there is none."""
    if year:
        number = int(year)
        return real_date(number + CENTURY if len(year) == 2 else number, month, day)  # noqa: PLR2004 - two figures
    for number in range(today.year, today.year + LEAP_SPAN):
        if 1 <= month <= MONTHS and 1 <= day <= monthrange(number, month)[1]:
            found = date(number, month, day)
            if found >= today:
                return found
    raise Refused(f"no year has a day {day} in month {month}")


def real_date(year: int, month: int, day: int) -> date:
    """The date; Refused where the calendar has none."""
    try:
        return date(year, month, day)
    except ValueError as error:
        raise Refused(f"there is no day {year:04}-{month:02}-{day:02}") from error


def _week(text: str) -> Span:
    try:
        if text.count("-") == 1:
            return Span(date.fromisoformat(f"{text.upper()}-1"), date.fromisoformat(f"{text.upper()}-7"))
        return Span.day(date.fromisoformat(text.upper()))
    except ValueError as error:
        raise Refused(f"there is no week {text.upper()}") from error


def _month(year: int, month: int) -> Span:
    first = real_date(year, month, 1)
    return Span(first, first.replace(day=monthrange(year, month)[1]))
