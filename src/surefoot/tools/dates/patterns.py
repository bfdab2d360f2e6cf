"""Makes regular expressions of the templates in `words/*.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from surefoot.tools.dates.folding import HAN, fold

TWO_FIGURES = 10
"""Minutes in words have two: "seven five" is no time, "seven thirty" is."""
_TOKEN = re.compile(r"\{(\w+)\}")
_AFTER_FIGURE = re.compile(r"(\{(?:d|n|h|m|nth)\}\)?\??) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """The words of a language that templates name; numbers are those that are not made of a ten and a one."""

    units: Iterable[str]
    numbers: Mapping[str, int]
    first: Sequence[str]
    joints: Sequence[str]
    second: Sequence[str]
    ordinals: Sequence[str]
    endings: Sequence[str]
    cardinals: bool
    """Days of a month are said as plain numbers."""
    months: Iterable[str]
    weekdays: Iterable[str]
    parts: Iterable[str]


class Pattern:
    """A regular expression that is compiled when it is first used: most texts touch one language of seven."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        if self._compiled is None:
            self._compiled = re.compile(self.text)
        return self._compiled

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As of `re`, and so the others."""
        return self.compiled.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place."""
        return self.compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place."""
        return self.compiled.finditer(text)

    def sub(self, meant: str, text: str) -> str:
        """Every place replaced."""
        return self.compiled.sub(meant, text)


class Patterns:
    """The expressions of one language; one that is spaced is read at the borders of words."""

    def __init__(self, lists: Lists, *, spaced: bool) -> None:
        self.spaced = spaced
        made = (
            "".join(f"(?:{any_of(part)})" for part in (lists.first, lists.joints, lists.second))
            if lists.first
            else ""
        )
        plain = any_of(lists.numbers)
        words = "|".join(filter(None, (made, plain)))
        minutes = "|".join(
            filter(
                None, (made, any_of(word for word, value in lists.numbers.items() if value >= TWO_FIGURES))
            )
        )
        figures = rf"\d{{1,6}}|[{HAN}]{{1,4}}" if not spaced else r"\d{1,6}"
        number = f"{figures}|{words}" if words else figures
        small = rf"\d{{1,2}}|[{HAN}]{{1,3}}" if not spaced else r"\d{1,2}"
        hour = f"{small}{'|' + words if words else ''}"
        dot = r"\.?" if spaced else ""
        suffix = r"(?:st|nd|rd|th|er|o|\.)?" if spaced else ""
        ordinals = f"(?:{any_of(lists.ordinals)})(?:{any_of(lists.endings)})" if lists.ordinals else ""
        if lists.cardinals:
            ordinals = "|".join(filter(None, (ordinals, words)))
        self._tokens = {
            "n": f"(?P<n>{number})",
            "unit": f"(?P<unit>{any_of(lists.units)})",
            "weekday": f"(?P<weekday>{any_of(lists.weekdays)}){dot}",
            "month": f"(?P<month>{any_of(lists.months)}){dot}",
            "d": f"(?P<d>(?:{small}){suffix}{'|' + ordinals if ordinals else ''})",
            "nth": r"(?P<d>\d{1,2}(?:st|nd|rd|th))",
            "y": r"(?P<y>\d{4})",
            "h": f"(?P<h>{hour})",
            "m": f"(?P<m>{small})",
            "m2": r"(?P<m2>\d{1,2})",
            "mw": f"(?P<mw>{minutes or '(?!)'})",
            "plus": f"(?P<plus>{hour})",
            "minus": f"(?P<minus>{hour})",
            "part": f"(?P<part>{any_of(lists.parts)})",
            "rest": "(?P<rest>.+)",
        }

    def whole(self, template: str) -> Pattern:
        """For `fullmatch`."""
        return Pattern(self._expand(template))

    def inside(self, template: str) -> Pattern:
        """For finding it in a longer text, at the borders of words."""
        return Pattern(self._bounded(self._expand(template)))

    def word(self, word: str) -> Pattern:
        """One expression, anywhere in a text; one with `{` is a template, with `^` one from the beginning."""
        if word.startswith("^"):
            return self.whole(word)
        if "{" in word:
            return self.inside(word)
        return Pattern(self._bounded(self._spaces(re.escape(fold(word)).replace(r"\ ", " "))))

    def first(self, words: Iterable[str]) -> Pattern:
        """Words at the beginning that carry no date."""
        listed = any_of(fold(word) for word in words)
        return Pattern(rf"^(?:{listed}){self._gap}" if listed else r"(?!)")

    def last(self, words: Iterable[str]) -> Pattern:
        """Words at the end that carry no date."""
        listed = any_of(fold(word) for word in words)
        return Pattern(rf"{self._gap}(?:{listed})$" if listed else r"(?!)")

    @property
    def _gap(self) -> str:
        return r"\s+" if self.spaced else r"\s*"

    def _expand(self, template: str) -> str:
        text = _AFTER_FIGURE.sub(r"\1\\s*", template)
        text = self._spaces(text)
        return _TOKEN.sub(lambda match: self._tokens.get(match.group(1), match.group()), text)

    def _spaces(self, text: str) -> str:
        return text.replace(" ?", r"\s*").replace(" ", self._gap)

    def _bounded(self, text: str) -> str:
        return rf"(?<![\w.:/-])(?:{text})(?![\w:/-])" if self.spaced else f"(?:{text})"


def any_of(words: Iterable[str]) -> str:
    """One of them, the longest first."""
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=lambda w: (-len(w), w))
    )
