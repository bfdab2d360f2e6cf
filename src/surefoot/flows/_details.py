"""Secrets and personal details that a flow writes out instead of naming them."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from surefoot.flows._data import table
from surefoot.flows._heard import Place
from surefoot.flows._shown import masked, shown
from surefoot.flows._words import folded, words_of
from surefoot.flows.detection import find_secrets, is_payment, is_secret_name
from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem
from surefoot.flows.variables import names_in

_SIGN: Final = re.compile(r"[\d!#$%&*+=?@^~|\\/<>]")
"""Every secret that can be found in a text has a digit or a sign in it."""
_BRACKETED: Final = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|\{+[^{}]+\}+")
_CALLED: Final = {
    "card": "A card number",
    "account": "An account number",
    "identity": "An identity number",
    "key": "An access key",
    "password": "A password",
    "pin": "A PIN",
    "cvv": "A card's check number",
    "code": "A one-time code",
}


@cache
def _names() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words_of(name)) for name in table("words")["details"]["names"])


@cache
def _stand_ins() -> frozenset[str]:
    return frozenset(folded(text) for text in table("words")["details"]["stand_ins"])


def written_secret(place: Place, text: str) -> Problem | None:
    """A secret that stands in clear in this text, the `${...}` of which are taken out."""
    found = find_secrets(text) if _SIGN.search(text) else []
    return _literal(place, _CALLED.get(found[0].kind, "A secret"), "card number") if found else None


def _literal(place: Place, what: str, name: str) -> Problem:
    called = masked(name)
    return place.problem(
        "written_secret",
        f"{what} is written out here, and whoever reads the flow reads it. Make it a secret fact, and let an enter "
        f'step name it: {{"enter": {{"{called}": "${{{called}}}"}}}}.',
    )


def value_problem(place: Place, name: str, text: str, facts: FactNames) -> Problem | None:
    """What is wrong with the text for a field, or with the value of a variable, by what the field is called."""
    named = names_in(text)
    if not named:
        if is_secret_name(name):
            return _literal(place, f"What goes into {shown(name)}", name)
        if place.kind == "enter":
            return _written_detail(place, name, text, facts) or _stand_in(place, name, text)
    elif place.kind == "enter" and is_payment(name) and not any(facts.is_secret(one) for one in named):
        return place.problem(
            "payment_not_secret",
            f"{shown(name)} is a payment detail, and ${{{named[0]}}} is no secret. Payment details come only from "
            "secret facts that were given: use one, or leave the field to the person.",
        )
    return None


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


def _stand_in(place: Place, name: str, text: str) -> Problem | None:
    bare = text.strip()
    if folded(bare) not in _stand_ins() and _BRACKETED.fullmatch(bare) is None:
        return None
    return place.problem(
        "stand_in",
        f"The text for {shown(name)} only stands in for the real one. Name a fact, ${{{masked(name)}}}, so that the "
        "person can be asked for it.",
    )


def pays(name: str, text: str) -> bool:
    """The field, or what goes into it, is a payment detail."""
    return is_payment(name) or any(is_payment(one) for one in names_in(text))
