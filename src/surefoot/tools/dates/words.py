"""The words of a language, from `words/*.toml`, as patterns that read dates."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("words")
LANGUAGES = ("en", "de", "fr", "es", "hi", "zh", "ja")
"""In this order they are tried behind the person's own: a text need not be in the language of the interface."""

HAN = "〇零一二三四五六七八九十廿百"
_HAN_DIGITS = {**{sign: value for value, sign in enumerate("〇一二三四五六七八九")}, "零": 0}
_POINTS = re.compile("[\u0300-\u036f]")
_TOKEN = re.compile(r"\{(\w+)\}")
_AFTER_FIGURE = re.compile(r"(\{(?:d|n|h|m|nth)\}\)?\??) ")


@dataclass(frozen=True, slots=True)
class Display:
    """How a date is shown: a format with {weekday}, {d}, {m}, {month}, {y}."""

    day: str
    weekdays: tuple[str, ...]
    months: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day: its hour when no time is given, and how an hour beside it is meant."""

    hour: int
    means: str


@dataclass(frozen=True)
class Language:
    """One language's words, folded, and its compiled patterns in the order they are tried."""

    code: str
    spaced: bool
    bare_afternoon: frozenset[int]
    now: frozenset[str]
    days: Mapping[str, int]
    rewrite: tuple[tuple[re.Pattern[str], str], ...]
    units: Mapping[str, str]
    numbers: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    rules: tuple[tuple[str, re.Pattern[str]], ...]
    clocks: tuple[re.Pattern[str], ...]
    parts: tuple[tuple[re.Pattern[str], Part], ...]
    fillers: re.Pattern[str]

    def number(self, text: str) -> int | None:
        """The number a word or figure says."""
        if text.isdecimal():
            return int(text)
        return self.numbers.get(text, han(text))


def fold(text: str) -> str:
    """Case, width, accents, figures of other scripts and typographic marks do not matter to a date."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFC", _POINTS.sub("", unicodedata.normalize("NFD", text)))
    text = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    text = re.sub("[–—−‐‑]", "-", text)
    text = re.sub(r"['’‘´`\"“”„«»,，、;!?？！。]|\.(?=\s*$)(?<!\d\.)", " ", text)
    return " ".join(text.split())


def han(text: str) -> int | None:
    """The number written in Han numerals, up to 999."""
    if not text or any(sign not in HAN for sign in text):
        return None
    if len(text) > 1 and all(sign in _HAN_DIGITS for sign in text):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in text))
    total = digit = 0
    for sign in text:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign == "廿":
            total, digit = total + 20, 0
        else:
            total, digit = total + (digit or 1) * (100 if sign == "百" else 10), 0
    return total + digit


def base_of(language: str) -> str:
    """`en` of `en-GB`, `EN_us` and `en`."""
    return re.split("[-_]", language.strip().casefold(), maxsplit=1)[0] or "en"


@lru_cache(maxsize=64)
def order_of(language: str) -> str:
    """`DMY`, `MDY` or `YMD`: how the language, or its region, writes figures."""
    tag = language.strip().casefold().replace("_", "-")
    regions = _data("orders")
    base = base_of(language)
    if tag in regions:
        return str(regions[tag])
    return str(_data(base)["order"]) if base in LANGUAGES else str(regions.get(base, "DMY"))


@lru_cache(maxsize=64)
def display_of(language: str) -> Display:
    """How the language shows a date; English where it has no file."""
    base = base_of(language)
    data = _data(base if base in LANGUAGES else "en")["display"]
    return Display(data["day"], tuple(data["weekdays"]), tuple(data["months"]))


@lru_cache(maxsize=16)
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@lru_cache(maxsize=16)
def language(code: str) -> Language:
    """The language of one of `LANGUAGES`."""
    data = _data(code)
    months = _places(data["months"])
    weekdays = _places(data["weekdays"])
    units = {fold(word): unit for unit, words in data["units"].items() for word in words}
    numbers = {fold(word): value for word, value in data["numbers"].items()}
    spaced = bool(data["spaced"])
    maker = _Patterns(spaced=spaced, units=units, numbers=numbers, months=months, weekdays=weekdays)
    return Language(
        code=code,
        spaced=spaced,
        bare_afternoon=frozenset(data["bare_afternoon"]),
        now=frozenset(fold(word) for word in data["now"]),
        days={fold(word): offset for word, offset in data["days"].items()},
        rewrite=tuple((maker.word(word), fold(meant)) for word, meant in data["rewrite"].items()),
        units=units,
        numbers=numbers,
        months=months,
        weekdays=weekdays,
        rules=tuple(
            (kind, maker.whole(text)) for kind, patterns in data["patterns"].items() for text in patterns
        ),
        clocks=tuple(maker.inside(text) for text in data["clock"]["patterns"]),
        parts=tuple((maker.word(word), Part(**part)) for word, part in _longest_first(data["parts"])),
        fillers=maker.fillers(data["fillers"]),
    )


def _places(groups: list[list[str]]) -> dict[str, int]:
    return {fold(word): place for place, words in enumerate(groups) for word in words}


def _longest_first(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(table.items(), key=lambda item: -len(item[0]))


class _Patterns:
    """Makes patterns of the templates in the files."""

    def __init__(
        self,
        *,
        spaced: bool,
        units: Iterable[str],
        numbers: Iterable[str],
        months: Iterable[str],
        weekdays: Iterable[str],
    ) -> None:
        self.spaced = spaced
        words = _any(numbers)
        figures = rf"\d{{1,6}}|[{HAN}]{{1,4}}" if not spaced else r"\d{1,6}"
        number = f"{figures}|{words}" if words else figures
        small = rf"\d{{1,2}}|[{HAN}]{{1,3}}" if not spaced else r"\d{1,2}"
        dot = r"\.?" if spaced else ""
        suffix = r"(?:st|nd|rd|th|er|o|\.)?" if spaced else ""
        self._tokens = {
            "n": f"(?P<n>{number})",
            "unit": f"(?P<unit>{_any(units)})",
            "weekday": f"(?P<weekday>{_any(weekdays)}){dot}",
            "month": f"(?P<month>{_any(months)}){dot}",
            "d": f"(?P<d>{small}){suffix}",
            "nth": r"(?P<d>\d{1,2})(?:st|nd|rd|th)",
            "y": r"(?P<y>\d{4})",
            "h": f"(?P<h>{small}{'|' + words if words else ''})",
            "m": f"(?P<m>{small})",
            "m2": r"(?P<m2>\d{1,2})",
            "rest": "(?P<rest>.+)",
        }

    def whole(self, template: str) -> re.Pattern[str]:
        """For `fullmatch`."""
        return re.compile(self._expand(template))

    def inside(self, template: str) -> re.Pattern[str]:
        """For finding it in a longer text, at the borders of words."""
        return re.compile(self._bounded(self._expand(template)))

    def word(self, word: str) -> re.Pattern[str]:
        """One expression, anywhere in a text."""
        return re.compile(self._bounded(self._spaces(re.escape(fold(word)).replace(r"\ ", " "))))

    def fillers(self, words: Iterable[str]) -> re.Pattern[str]:
        """Words at both ends that carry no date."""
        listed = _any(fold(word) for word in words)
        gap = r"\s+" if self.spaced else r"\s*"
        return re.compile(rf"^(?:{listed}){gap}|{gap}(?:{listed})$" if listed else r"(?!)")

    def _expand(self, template: str) -> str:
        text = _AFTER_FIGURE.sub(r"\1\\s*", template)
        text = self._spaces(text)
        return _TOKEN.sub(lambda match: self._tokens.get(match.group(1), match.group()), text)

    def _spaces(self, text: str) -> str:
        return text.replace(" ?", r"\s*").replace(" ", r"\s+" if self.spaced else r"\s*")

    def _bounded(self, text: str) -> str:
        return rf"(?<![\w.:/-])(?:{text})(?![\w:/-])" if self.spaced else f"(?:{text})"


def _any(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=lambda w: (-len(w), w))
    )
