"""Whether the option of a `choose` is a label or describes what to take."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from surefoot.flows._data import table
from surefoot.flows._words import folded, words_of
from surefoot.flows.variables import without_names

_ENDINGS: Final = ("", "e", "er", "es", "en", "em")
_FAR: Final = 2
"""Words between a criterion and its result: "best rated direct flight". With more it is a name."""


class _Lists(NamedTuple):
    articles: frozenset[str]
    criteria: frozenset[str]
    ordinals: frozenset[str]
    titles: frozenset[str]
    more: frozenset[str]
    between: frozenset[str]
    results: frozenset[str]
    attributes: frozenset[str]
    joins: frozenset[str]
    vague: frozenset[str]
    sorts: frozenset[str]
    triggers: frozenset[str]


@cache
def _lists() -> _Lists:
    data = table("words")["options"]

    def words(*names: str) -> frozenset[str]:
        return frozenset(folded(word) for name in names for word in data[name])

    stems = (folded(stem) for stem in data["stems"])
    criteria = words("superlatives") | {stem + ending for stem in stems for ending in _ENDINGS}
    return _Lists(
        words("articles"),
        criteria,
        words("ordinals"),
        words("titles"),
        words("more"),
        words("between"),
        words("results"),
        words("attributes"),
        words("joins"),
        words("vague"),
        words("sorts"),
        criteria | words("more", "vague"),
    )


def criterion_said(text: str) -> bool:
    """A text, of a task or a step, asks for one of several by a criterion; places in a row are none."""
    lists = _lists()
    said = words_of(text)
    if not (lists.criteria - lists.ordinals).isdisjoint(said) or "सबसे" in said:
        return True
    return any(word in folded(text) for word in _tight("tight_criterion"))


@cache
def _tight(name: str) -> tuple[str, ...]:
    return tuple(folded(word) for word in table("words")["options"][name])


def describes(option: str) -> bool:
    """The option describes a result by a criterion; it is no label of a page."""
    if not option.isascii() and _describes_tight(option):
        return True
    words = words_of(option)
    lists = _lists()
    if len(words) < _FAR or lists.triggers.isdisjoint(words):
        return False
    written = without_names(option).lstrip(" \"'“„«")[:1]
    small = not written.isupper()  # a script without capitals begins small
    article = words[0] in lists.articles
    return _Reading(words[1:] if article else words, article=article, small=small).describes()


def orders(what: str) -> bool:
    """The list orders or narrows results, so that its labels are criteria."""
    return not _lists().sorts.isdisjoint(words_of(what)) or any(
        word in folded(what) for word in _tight("sorts_tight")
    )


def _describes_tight(option: str) -> bool:
    plain = folded(option).strip()
    return plain.endswith(_tight("tight_results")) and any(
        word in plain for word in _tight("tight_criterion")
    )


class _Reading:
    """The words of an option behind its article, and how it was begun."""

    def __init__(self, words: list[str], *, article: bool, small: bool) -> None:
        self._words = words
        self._article = article
        self._small = small
        self._lists = _lists()

    def describes(self) -> bool:
        return self._criterion_first() or self._result_first() or self._vague()

    def _criterion_first(self) -> bool:
        """`(the) cheapest (available) flight`; `the cheapest` alone."""
        behind = self._behind_criterion(0)
        if not behind and self._words[0] in self._lists.ordinals:
            behind = self._behind_criterion(1)  # the second cheapest
        if not behind:
            return False
        rest = self._words[behind:]
        if self._article and self._small and not self._is_name(rest):
            return True
        gap = self._gap(rest)
        if gap == len(rest):
            return False
        noun, more = rest[gap], rest[gap + 1 :]
        if noun in self._lists.attributes and not self._small:
            return self._article and noun in self._lists.results
        if noun not in self._lists.results and noun not in self._lists.attributes:
            return False
        return self._article or not more or more[0] not in _SORT_END

    def _behind_criterion(self, at: int) -> int:
        """The place behind a criterion that begins here: `cheapest`, `least expensive`; 0 where none does."""
        if at < len(self._words) and self._words[at] in self._lists.criteria:
            return at + 1
        if at + 1 < len(self._words) and self._words[at] in self._lists.more:
            return at + 2
        return 0

    def _is_name(self, rest: list[str]) -> bool:
        """`the last minute`, `the best of ...`: a place in a row, or a title."""
        if not rest:
            return False
        ordinal = self._words[0] in self._lists.ordinals and self._words[1] not in self._lists.criteria
        return ordinal or rest[0] in self._lists.titles

    def _gap(self, words: list[str]) -> int:
        gap = 0
        while gap < min(len(words), _FAR) and words[gap] in self._lists.between:
            gap += 1
        return gap

    def _result_first(self) -> bool:
        """`the flight with the lowest price`, `vuelo más barato`."""
        if self._words[0] not in self._lists.results:
            return False
        rest = self._words[1:]
        joined = bool(rest) and rest[0] in self._lists.joins
        if joined:
            rest = [word for word in rest[1:] if word not in self._lists.articles]
            return not (self._lists.criteria | self._lists.more).isdisjoint(rest)
        rest = rest[1:] if rest and rest[0] in self._lists.articles else rest
        begins = self._lists.more | self._lists.criteria if self._article else self._lists.more
        return len(rest) > 1 and rest[0] in begins

    def _vague(self) -> bool:
        """`the appropriate size`, `any available room`; a label that begins so has a capital and no article."""
        if self._words[0] not in self._lists.vague or not (self._article or self._small):
            return False
        return not (self._lists.results | self._lists.attributes).isdisjoint(self._words[1:])


_SORT_END: Final = frozenset({"first", "zuerst", "primero", "to", "by", "deals", "guarantee"})
"""Behind "lowest price" they make it the label of an order."""
