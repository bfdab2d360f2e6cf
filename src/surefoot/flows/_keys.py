"""The known key or kind of step that a wrong one was meant for. Only a flow with a problem comes here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from surefoot.flows._data import table
from surefoot.flows.steps import KINDS

_NEAR: Final = 76
"""Of 100 (rapidfuzz's ratio): `brwose` and `wait-for` are above it; `click` and `pick` (67), `wait` and `what` (75)
below."""


def nearest_kind(name: str) -> str | None:
    """The kind of step that a name means: by its other words first (`click` is a `do`), then by its letters."""
    return table("words")["kinds"].get(name.casefold().replace("-", "_")) or _by_letters(name, KINDS)


def nearest_key(name: Any, known: tuple[str, ...]) -> str | None:
    """The key that a name means among those an object may have."""
    if not isinstance(name, str):
        return None
    other = table("words")["keys"].get(name.casefold(), [])
    return next((key for key in other if key in known), None) or _by_letters(name, known)


def _by_letters(name: str, known: Iterable[str]) -> str | None:
    from rapidfuzz import fuzz, process

    found = process.extractOne(name[:40].casefold(), list(known), scorer=fuzz.ratio, score_cutoff=_NEAR)
    return found[0] if found else None
