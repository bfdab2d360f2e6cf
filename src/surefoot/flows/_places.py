"""Where a flow goes: applications, addresses, and the surfaces there are."""

from __future__ import annotations

import re
from typing import Final

from surefoot.flows._heard import Place
from surefoot.flows._shown import shown
from surefoot.flows.problems import Problem
from surefoot.flows.steps import BROWSER, KINDS
from surefoot.flows.variables import without_names

_ADDRESS: Final = re.compile(
    r"(?:https?://)?(?:[\w\-]+\.)+[^\W\d][\w\-]+(?::\d{1,5})?(?:[/?#]\S*)?"  # a name with a dot
    r"|(?:https?://)?(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#]\S*)?"
    r"|https?://[\w\-]+(?::\d{1,5})?(?:[/?#]\S*)?",  # a name of the person's own network
    re.IGNORECASE,
)
_BROWSER_WORDS: Final = ("browser", "web", "web browser", "the browser")
_SCHEME: Final = re.compile(r"(?:https?://|www\.)", re.IGNORECASE)


def place_problem(place: Place, text: str, surfaces: frozenset[str]) -> Problem | None:
    """What is wrong with an application's name or an address; one thing at most."""
    if place.kind == "browse":
        return _missing(place, KINDS["browse"].surface, surfaces) or _no_address(place, text)
    needed = BROWSER if place.kind == "app" and text == BROWSER else "desktop"
    return _no_application(place, text) or _missing(place, needed, surfaces)


def _missing(place: Place, surface: str, surfaces: frozenset[str]) -> Problem | None:
    if surface in surfaces:
        return None
    other = "Use open and an application" if surface == BROWSER else 'Use "app": "browser" and browse'
    mend = f"{other} instead." if surfaces else "Nothing can be acted on."
    return place.problem(
        "surface_missing", f"{place.kind} needs the {surface}, and it is not available here. {mend}"
    )


def _no_address(place: Place, text: str) -> Problem | None:
    if "${" in text or _ADDRESS.fullmatch(text.strip()):
        return None
    return place.problem(
        "no_address",
        f"{shown(text)} is no web address. Write one like https://www.example.com; for an application use open.",
    )


def _no_application(place: Place, text: str) -> Problem | None:
    name = without_names(text).strip()
    if _SCHEME.match(name):
        mend = '"app": "browser", and browse to it' if place.kind == "app" else '{"browse": ...}'
        return place.problem(
            "no_application", f"{shown(text)} is a web address and no application. Write {mend}."
        )
    if name.casefold() in _BROWSER_WORDS and (name != BROWSER or place.kind == "open"):
        mend = 'Write "browser"' if place.kind == "app" else "Use browse with the address"
        return place.problem("no_application", f"{shown(text)} is no desktop application. {mend}.")
    return None
