"""The data files of the room, read once: limits, words, rules."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Limits:
    """What a flow may be at most; limits.toml says what each counts and why it is so."""

    depth: int
    steps: int
    text: int
    slots: int
    vars: int
    rounds: int
    name: int
    keys: int
    problems: int


@cache
def limits() -> Limits:
    """The limits of limits.toml."""
    return Limits(**table("limits"))


@cache
def table(name: str) -> dict[str, Any]:
    """The TOML file of that name in this folder. Not to be changed: everybody gets the same one."""
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))
