"""Personal details written into a text: e-mail addresses, telephone and card numbers, dates of birth.

What stands in a web address is not looked at, nor what stands in `${...}`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from surefoot.evals._thresholds import thresholds
from surefoot.flows.variables import without_names

_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_EMAIL = re.compile(r"[^\s@<>\"',;:()]+@[^\W_](?:[\w-]*\.)+[^\W\d_]{2,}")
_DIGIT_RUN = re.compile(r"(?<![0-9A-Za-z.,/-])\+?\(?\d(?:[ ()/.-]{0,3}\d)+(?![\w/])")
_PHONE = re.compile(r"\+|\(?0|\(?\d{3}\)?[ .-]+\d{3}[ .-]+\d{4}$|[6-9]\d{4} ?\d{5}$")
"""How a telephone number begins, or looks where it has no prefix: North American, Indian."""
_YEAR = r"((?:19|20)\d\d)"
_BIRTH = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b\d{{1,2}}[./-] ?\d{{1,2}}[./-] ?{_YEAR}\b",
        rf"\b{_YEAR}[./-]\d{{1,2}}[./-]\d{{1,2}}\b",
        rf"{_YEAR} ?年 ?\d{{1,2}} ?月 ?\d{{1,2}}",
        rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? [^\W\d_][^\d\s]{{2,}} {_YEAR}\b",
        rf"\b[^\W\d_][^\d\s]{{2,}} \d{{1,2}}(?:st|nd|rd|th)?,? {_YEAR}\b",
    )
)


def personal_details(text: str) -> list[str]:
    """What kinds stand in the text: `e-mail address`, `phone number`, `card number`, `date of birth`."""
    plain = _ADDRESS.sub(" ", unicodedata.normalize("NFKC", without_names(text)))
    return list(dict.fromkeys(_kinds(plain)))


def _kinds(plain: str) -> Iterator[str]:
    if _EMAIL.search(plain):
        yield "e-mail address"
    if any(_is_birth(match) for pattern in _BIRTH for match in pattern.finditer(plain)):
        yield "date of birth"
    for run in _DIGIT_RUN.finditer(_without_dates(plain)):
        digits = re.sub(r"\D", "", run.group())
        if _is_card(digits):
            yield "card number"
        elif len(digits) >= thresholds().phone_digits and _PHONE.match(run.group()):
            yield "phone number"


def _is_birth(match: re.Match[str]) -> bool:
    first, last = thresholds().birth_years
    return first <= int(match.group(1)) <= last


def _without_dates(plain: str) -> str:
    for pattern in _BIRTH:
        plain = pattern.sub(" ", plain)
    return plain


def _is_card(digits: str) -> bool:
    """The right length, and the last digit is the check digit (Luhn, ISO/IEC 7812-1 annex B)."""
    fewest, most = thresholds().card_digits
    if not fewest <= len(digits) <= most:
        return False
    doubled = (int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0
