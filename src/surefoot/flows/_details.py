"""Secrets and personal details that a flow writes out instead of naming them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from surefoot.flows._data import table
from surefoot.flows._heard import Place
from surefoot.flows._shown import UNSEEN, masked, shown
from surefoot.flows._words import folded, words_of
from surefoot.flows.detection import find_secrets, kind_of_name
from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.variables import names_in, without_names

_SIGN: Final = re.compile(r"[\d!#$%&*+=?@^~|\\/<>]")
"""Every secret that can be found in a text has a digit or a sign in it."""
_BRACKETED: Final = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|\{+[^{}]+\}+")
_EXPIRY: Final = re.compile(r"\b(?:0?[1-9]|1[0-2])\s*[/.\-]\s*(?:20)?\d\d\b")
_PAYS: Final = ("card", "cvv")
_CALLED: Final = {
    "card": ("A card number", "card number"),
    "account": ("An account number", "account number"),
    "identity": ("An identity number", "identity number"),
    "key": ("An access key", "access key"),
    "password": ("A password", "password"),
    "pin": ("A PIN", "pin"),
    "cvv": ("A card's check number", "card cvv"),
    "code": ("A one-time code", "one-time code"),
}
"""A secret in words, and how its fact may be called."""


@cache
def _names() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words_of(name)) for name in table("words")["details"]["names"])


@cache
def _stand_ins() -> frozenset[str]:
    return frozenset(folded(text) for text in table("words")["details"]["stand_ins"])


def unseen_character(place: Place, text: str) -> Problem | None:
    """A character in this text that is typed and sent, and that a reader does not see."""
    found = None if text.isprintable() else UNSEEN.search(text)
    if found is None:
        return None
    return place.problem(
        "unseen_character",
        f"In {shown(text)} stands the character U+{ord(found.group()):04X}, which steers a terminal or an editor and "
        "is not seen. Take it out.",
    )


def written_secret(place: Place, text: str) -> Problem | None:
    """A secret that stands in clear in this text, the `${...}` of which are taken out."""
    found = find_secrets(text) if _SIGN.search(text) else []
    return _literal(place, *_CALLED.get(found[0].kind, ("A secret", "secret"))) if found else None


def _literal(place: Place, what: str, name: str) -> Problem:
    called = masked(name)
    return place.problem(
        "written_secret",
        f"{what} is written out here, and whoever reads the flow reads it. Make it a secret fact, and let an enter "
        f'step name it: {{"enter": {{"{called}": "${{{called}}}"}}}}.',
    )


def value_problem(
    place: Place, name: str, text: str, facts: FactNames, knows: Callable[[str], bool]
) -> Problem | None:
    """What is wrong with the text for a field, or with the value of a variable, by what the field is called."""
    kind = kind_of_name(without_names(name))
    named = names_in(text)
    if not named:
        if _is_written(kind, text):
            return _literal(place, f"What goes into {shown(name)}", name)
        if place.kind == "enter":
            return _written_detail(place, name, text, facts) or _stand_in(place, name, text, knows)
    elif (
        place.kind == "enter"
        and kind in _PAYS
        and all(knows(one) and not facts.is_secret(one) for one in named)
    ):
        return place.problem(
            "payment_not_secret",
            f"{shown(name)} is a payment detail, and ${{{named[0]}}} is no secret. Payment details come only from "
            "secret facts that were given: use one, or leave the field to the person.",
        )
    return None


def _is_written(kind: str, text: str) -> bool:
    """The text is a secret of that kind. Much has an expiry; a card's is a month and a year."""
    return bool(kind) and (kind != "expiry" or _EXPIRY.search(text) is not None)


def _written_detail(place: Place, name: str, text: str, facts: FactNames) -> Problem | None:
    words = tuple(words_of(name))
    if words not in _names():
        return None
    fact = next((fact for fact in facts.all if tuple(words_of(fact)) == words), None)
    if fact is None or not text.strip():
        return None
    return place.problem(
        "written_detail",
        f"The text for {shown(name)} is written out, and there is a fact for it. Write ${{{fact}}}.",
    )


def _stand_in(place: Place, name: str, text: str, knows: Callable[[str], bool]) -> Problem | None:
    bare = text.strip()
    bracketed = _BRACKETED.fullmatch(bare) is not None and not knows(bare.strip("{}<>[] "))
    if not bracketed and folded(bare) not in _stand_ins():
        return None
    return place.problem(
        "stand_in",
        f"The text for {shown(name)} only stands in for the real one. Name a fact, ${{{masked(name)}}}, so that the "
        "person can be asked for it.",
    )


def pays(name: str, text: str) -> bool:
    """The field, or what goes into it, is of a card. An account's number alone is on many forms that pay nothing."""
    return kind_of_name(without_names(name)) in _PAYS or any(
        kind_of_name(one) in _PAYS for one in names_in(text)
    )
