"""A cadence as a person writes it: `daily 07:30`, `weekly mon,thu 18:00`, `every 30 minutes`, `cron 0 9 * * 1-5`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from surefoot.errors import InputError
from surefoot.missions.cadence import DAY_MINUTES, Cadence

FORMS = "manual, daily 07:30, weekly mon,thu 18:00, every 30 minutes, cron 0 9 * * 1-5"

_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))?(?:\s*(?:uhr|o'clock))?")
_AROUND = re.compile(r"^(?:at|um)\s+")
_INTERVAL = re.compile(r"(\d{0,9})\s*(\w+)")
_BETWEEN_DAYS = re.compile(r"\s*(?:,|\band\b|\bund\b|\s)\s*")
HOURS, MINUTES = 24, 60


def read(text: str) -> Cadence:
    """The cadence that a person wrote, in English or German.

    Raises:
        InputError: it is none, or its values cannot be used; the next move shows every form.
    """
    said = " ".join(text.casefold().split())
    for kind, words in _words()["kinds"].items():
        for word in words:
            rest = said.removeprefix(word)
            if rest != said and (not rest or rest.startswith(" ")):
                return _READERS[kind](rest.strip().strip("\"'"), text)
    raise _unread(text)


def _manual(rest: str, text: str) -> Cadence:
    if rest:
        raise _unread(text)
    return Cadence()


def _daily(rest: str, text: str) -> Cadence:
    return Cadence("daily", minute=_minute(rest, text))


def _weekly(rest: str, text: str) -> Cadence:
    days, time = _split_time(rest, text)
    found = [_days_by_word().get(word) for word in _BETWEEN_DAYS.split(days) if word]
    if not found or None in found:
        raise _unread(text)
    return Cadence("weekly", days=tuple(day for day in found if day is not None), minute=time)


def _interval(rest: str, text: str) -> Cadence:
    match = _INTERVAL.fullmatch(rest)
    unit = _units_by_word().get(match.group(2)) if match else None
    if match is None or unit is None:
        raise _unread(text)
    return Cadence("interval", minutes=int(match.group(1) or 1) * unit)


def _cron(rest: str, text: str) -> Cadence:
    del text
    return Cadence("cron", cron=rest)


_READERS = {"manual": _manual, "daily": _daily, "weekly": _weekly, "interval": _interval, "cron": _cron}


def _split_time(rest: str, text: str) -> tuple[str, int]:
    """The days, and the time behind them."""
    match = re.search(r"(?:\s(?:at|um))?\s(\d[\d:]*(?:\s*uhr)?)$", rest)
    if match is None:
        raise _unread(text)
    return rest[: match.start()], _minute(match.group(1), text)


def _minute(said: str, text: str) -> int:
    match = _TIME.fullmatch(_AROUND.sub("", said))
    if match is None:
        raise _unread(text)
    hour, minute = int(match.group(1)), int(match.group(2) or 0)
    if hour >= HOURS or minute >= MINUTES:
        raise InputError(
            f"There is no time {said!r} on a clock of 24 hours.", "Give 00:00 to 23:59.", value=said
        )
    return hour * MINUTES + minute


def _unread(text: str) -> InputError:
    return InputError(f"{text!r} is no cadence.", f"Write it as one of these: {FORMS}.", value=text)


# --- the other way -------------------------------------------------------------------------------------------


def write(cadence: Cadence) -> str:
    """The cadence in the words that `read` takes."""
    time = f"{cadence.minute // MINUTES:02}:{cadence.minute % MINUTES:02}"
    if cadence.kind == "weekly":
        names = _words()["days"]
        return f"weekly {','.join(names[str(day)][0] for day in cadence.days)} {time}"
    return {
        "manual": "manual",
        "daily": f"daily {time}",
        "interval": _interval_words(cadence.minutes),
        "cron": f"cron {cadence.cron}",
    }[cadence.kind]


def _interval_words(minutes: int) -> str:
    for size, name in ((DAY_MINUTES, "day"), (MINUTES, "hour"), (1, "minute")):
        if minutes and minutes % size == 0:
            count = minutes // size
            return (
                f"every {name}"
                if count == 1 and size != DAY_MINUTES
                else f"every {count} {name}{'s' * (count > 1)}"
            )
    return "every 0 minutes"


@cache
def _words() -> Mapping[str, Mapping[str, list[str]]]:
    text = files("surefoot.missions").joinpath("cadence_words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _days_by_word() -> Mapping[str, int]:
    return {word: int(day) for day, words in _words()["days"].items() for word in words}


@cache
def _units_by_word() -> Mapping[str, int]:
    return {word: int(size) for size, words in _words()["units"].items() for word in words}
