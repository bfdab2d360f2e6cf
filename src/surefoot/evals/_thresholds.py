"""The numbers of thresholds.toml, read once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a plan is held against; thresholds.toml says what each counts and why it is so."""

    do_characters: int
    do_characters_dense: int
    do_sentences: int
    sentence_words: int
    whole_task_milestones: int
    birth_years: tuple[int, int]
    phone_digits: int
    card_digits: tuple[int, int]


@cache
def thresholds() -> Thresholds:
    """The numbers of thresholds.toml."""
    data = tomllib.loads((Path(__file__).parent / "thresholds.toml").read_text(encoding="utf-8"))
    numbers: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
    }
    return Thresholds(**numbers)
