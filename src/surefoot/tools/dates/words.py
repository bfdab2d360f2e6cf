"""The words of a language, from `words/*.toml`, as patterns that read dates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import Any

from surefoot.tools.dates.folding import HAN, fold, han
from surefoot.tools.dates.patterns import Lists, Pattern, Patterns, any_of

__all__ = [
    "LANGUAGES",
    "Display",
    "Language",
    "Part",
    "base_of",
    "display_of",
    "fold",
    "han",
    "language",
    "order_of",
    "others_for",
]

FOLDER = Path(__file__).with_name("words")
LANGUAGES = ("en", "de", "fr", "es", "hi", "zh", "ja")
"""In this order they are tried behind the person's own: a text need not be in the language of the interface."""
ORDINAL_DAYS = 31
_LETTERS = re.compile(r"[^\W\d_]+")
_GROUP_NAME = re.compile(r"\?P<\w+>|\{\w+\}")
_NESTED = frozenset(
    {"before", "after", "end", "start", "week_of", "that_week", "part_before", "part_of", "day_of"}
)
"""Kinds that hold another date, which may be of another language: their own words alone say whose they are."""

_WORD_TABLES = frozenset({"days", "rewrite", "numbers", "parts"})
"""Tables of a file whose keys are words of its language."""


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


def names_day(text: str) -> bool:
    """The name of a weekday or a month stands in the text, or a word such as `tomorrow`."""
    found = set(_LETTERS.findall(fold(text)))
    return any(found & _day_names(code) for code in LANGUAGES)


@lru_cache(maxsize=8)
def _day_names(code: str) -> frozenset[str]:
    words = language(code)
    return frozenset([*words.weekdays, *words.months, *(day for day in words.days if " " not in day)])


@dataclass(frozen=True, slots=True)
class Edges:
    """Words at the ends of a text that carry no date."""

    first: Pattern
    """Only before a date: `on`, `am`, `le`."""
    around: Pattern
    """What `first` holds, left behind by a time of day that was cut out: `Friday at`."""
    opening: Pattern
    """Before the whole text: `please`, `rather`."""
    closing: Pattern
    """Behind the whole text: `please`, `instead`."""


@dataclass(frozen=True)
class Language:
    """One language's words, folded, and its compiled patterns in the order they are tried."""

    code: str
    spaced: bool
    bare_afternoon: frozenset[int]
    now: frozenset[str]
    days: Mapping[str, int]
    rewrite: tuple[tuple[Pattern, str], ...]
    units: Mapping[str, str]
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    rules: tuple[tuple[str, Pattern], ...]
    by_kind: Mapping[str, tuple[Pattern, ...]]
    named: tuple[Pattern, Pattern]
    """A weekday before a date, and behind one."""
    clocks: tuple[Pattern, ...]
    parts: tuple[tuple[Pattern, Part], ...]
    part_words: Mapping[str, Part]
    edges: Edges
    same_time: Pattern
    same_day: Pattern
    telling: frozenset[str]
    """A text without a figure and without one of these holds no date of this language."""
    known: frozenset[str]
    """Every word of the language's file."""
    heads: tuple[str, ...]
    """Words that may begin a longer one: `Freitagabend`."""

    def number(self, text: str) -> int | None:
        """The number a word or figure says; `3rd`, `third` and `3.` are 3."""
        if text.isdecimal():
            return int(text)
        figure = re.match(r"\d+", text)
        if figure:
            return int(figure.group())
        return self.numbers.get(text, self.ordinals.get(text, han(text)))

    def may_hold(self, folded: str, *, own: bool = True) -> bool:
        """The text may hold a date of this language; False is certain, and costs next to nothing.

        Figures beside words of which none is the language's own (`own` is false) are read by the language of the words.
        """
        figures = any(sign.isdecimal() for sign in folded)
        if figures and own:
            return True
        if not self.spaced:
            return (figures and not folded.isascii()) or any(word in folded for word in self.telling)
        tokens = _LETTERS.findall(folded) if folded.isascii() else folded.split()
        words = self.known if figures else self.telling
        return any(word in words or word.startswith(self.heads) for word in tokens) or (
            figures and not tokens
        )


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
    months, weekdays = _places(data["months"]), _places(data["weekdays"])
    units = {fold(word): unit for unit, words in data["units"].items() for word in words}
    numbers, ordinals = _numbers(data), _ordinals(data)
    parts = {fold(word): Part(**part) for word, part in data["parts"].items()}
    spaced = bool(data["spaced"])
    lists = _lists(data, units=units, months=months, weekdays=weekdays, parts=parts)
    maker = Patterns(lists, spaced=spaced)
    templates = [(kind, text) for kind, texts in data["patterns"].items() for text in texts]
    rules = tuple((kind, maker.whole(text)) for kind, text in templates)
    names = (data["days"], units, numbers, ordinals, months, weekdays, parts, data["now"], data["rewrite"])
    return Language(
        code=code,
        spaced=spaced,
        bare_afternoon=frozenset(data["bare_afternoon"]),
        now=frozenset(fold(word) for word in data["now"]),
        days={fold(word): offset for word, offset in data["days"].items()},
        rewrite=tuple(
            (maker.word(word), meant if word.startswith("^") else fold(meant))
            for word, meant in data["rewrite"].items()
        ),
        units=units,
        numbers=numbers,
        ordinals=ordinals,
        months=months,
        weekdays=weekdays,
        rules=rules,
        by_kind={kind: tuple(rule for one, rule in rules if one == kind) for kind, _ in rules},
        named=_named(weekdays),
        clocks=tuple(maker.inside(text) for text in data["clock"]["patterns"]),
        parts=tuple((maker.word(word), parts[word]) for word in sorted(parts, key=lambda word: -len(word))),
        part_words=parts,
        edges=_edges(data, maker),
        same_time=maker.inside(_phrases(data["same_time"])),
        same_day=maker.inside(_phrases(data["same_day"])),
        telling=_telling(chain.from_iterable(names), templates, data["fillers"], spaced=spaced),
        known=frozenset(_every_word(data)),
        heads=tuple(word for word in weekdays if len(word) > 4),  # noqa: PLR2004 - an abbreviation begins too many words
    )


def others_for(text: str, code: str) -> Iterator[Language]:
    """Languages besides `code` that a folded text inside another may be of."""
    others = (language(other) for other in LANGUAGES if other != code)
    return (words for words in others if words.may_hold(text, own=False))


def _places(groups: list[list[str]]) -> dict[str, int]:
    return {fold(word): place for place, words in enumerate(groups) for word in words}


_NO_TENS: Mapping[str, list[str]] = {"first": [], "joints": [], "second": []}


def _lists(data: Mapping[str, Any], **names: Iterable[str]) -> Lists:
    made, ordinals = data.get("tens", _NO_TENS), data.get("ordinals", {})
    return Lists(
        numbers={fold(word): value for word, value in data["numbers"].items()},
        first=made["first"],
        joints=made["joints"],
        second=made["second"],
        ordinals=[fold(stem) for stem in ordinals.get("stems", ())],
        endings=ordinals.get("endings", [""]),
        cardinals=bool(ordinals.get("cardinals")),
        **names,
    )


def _numbers(data: Mapping[str, Any]) -> dict[str, int]:
    """The numbers listed, and those made of a ten and a one."""
    found = {fold(word): value for word, value in data["numbers"].items()}
    made = data.get("tens", _NO_TENS)
    found |= {
        f"{first}{joint}{second}": found[first] + found[second]
        for first, joint, second in product(made["first"], made["joints"], made["second"])
    }
    return found


def _ordinals(data: Mapping[str, Any]) -> dict[str, int]:
    """Words for a day of the month: ordinal stems from the first on, each with every ending; or plain numbers."""
    made = data.get("ordinals", {})
    endings = made.get("endings", [""])
    found = {
        fold(f"{stem}{ending}"): place
        for place, stem in enumerate(made.get("stems", ()), start=1)
        for ending in endings
    }
    if not made.get("cardinals"):
        return found
    return {word: value for word, value in _numbers(data).items() if 1 <= value <= ORDINAL_DAYS} | found


def _named(weekdays: Iterable[str]) -> tuple[Pattern, Pattern]:
    word = rf"\(?(?P<weekday>{any_of(weekdays)})\)?"
    return Pattern(rf"{word}\.?\s*(?P<rest>.+)"), Pattern(rf"(?P<rest>.+?)\s*{word}")


def _edges(data: Mapping[str, Any], maker: Patterns) -> Edges:
    return Edges(
        first=maker.first(data["fillers"]),
        around=maker.last(data["fillers"]),
        opening=maker.first(data["opening"]),
        closing=maker.last(data["closing"]),
    )


def _phrases(listed: list[str]) -> str:
    return "|".join(sorted(listed, key=len, reverse=True)) or "(?!)"


def _telling(
    names: Iterable[str], templates: Iterable[tuple[str, str]], fillers: Iterable[str], *, spaced: bool
) -> frozenset[str]:
    """Every word of the tables; and those of templates that hold another date, but for what stands before anything."""
    if not spaced:
        return frozenset({*HAN, *map(fold, names)})
    silent = set(chain.from_iterable(_words_of(fold(text)) for text in fillers))
    nested = set(_every_word([text for kind, text in templates if kind in _NESTED]))
    return frozenset(_every_word([*names])) | (nested - silent)


def _every_word(data: Any) -> Iterator[str]:
    """Of texts, lists and tables inside each other; the keys of a table count where they are words of the language."""
    if isinstance(data, str):
        yield from _words_of(fold(_GROUP_NAME.sub(" ", data)))
    elif isinstance(data, Mapping):
        yield from chain.from_iterable(map(_every_word, data.values()))
        yield from chain.from_iterable(_every_word([*data[name]]) for name in _WORD_TABLES & data.keys())
    elif isinstance(data, list):
        yield from chain.from_iterable(map(_every_word, data))


def _words_of(text: str) -> Iterator[str]:
    yield from _LETTERS.findall(text) if text.isascii() else text.split()
