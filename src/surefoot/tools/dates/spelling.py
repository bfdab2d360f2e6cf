"""Names of days and months with one letter wrong: "thurday", "septmber". What was read is shown to the person."""

from __future__ import annotations

import re
from functools import lru_cache

from surefoot.tools.dates.words import LANGUAGES, base_of, fold, language

MIN_LETTERS = 6
"""Shorter names are one letter away from other words ("mardi", "marti")."""
_LATIN = re.compile(r"[a-z]{6,}")


def corrected(text: str, tag: str) -> str:
    """The folded text with each such word put right; empty where there is none, or one may be two names."""
    folded = fold(text)
    codes = [code for code in dict.fromkeys([base_of(tag), *LANGUAGES]) if code in LANGUAGES]
    found = folded
    for word in set(_LATIN.findall(folded)):
        near = next((near for code in codes if (near := _near(word, code))), frozenset())
        if len(near) == 1 and not any(word in language(code).known for code in LANGUAGES):
            found = re.sub(rf"\b{word}\b", next(iter(near)), found)
    return "" if found == folded else found


@lru_cache(maxsize=512)
def _near(word: str, code: str) -> frozenset[str]:
    """Names of a language that are one letter away."""
    from rapidfuzz.distance import OSA

    words = language(code)
    names = [*words.weekdays, *words.months, *(day for day in words.days if " " not in day)]
    return frozenset(name for name in names if len(name) >= MIN_LETTERS and OSA.distance(word, name) == 1)
