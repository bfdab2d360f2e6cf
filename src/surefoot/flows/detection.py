"""What is secret: by the words of a fact's name, by what a value looks like, and where such values stand in a text.

The words are data, `secret_words.toml`; the forms of values are `secret_values.toml`. Nothing here keeps a value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

from surefoot import redaction
from surefoot.flows._data import table
from surefoot.flows._secret_names import CJK, is_payment, is_secret_name, kind_of_name, without_blanks

__all__ = [
    "Found",
    "find_secrets",
    "is_payment",
    "is_secret_name",
    "is_secret_value",
    "kind_of_name",
    "kind_of_value",
    "mask_found",
]

CARD_DIGITS = range(13, 20)
"""ISO/IEC 7812: from the shortest card number in use to the longest."""

_SECRET_BY_NAMING = frozenset({"password", "pin", "cvv", "code", "key"})
"""Kinds whose values have no form of their own: in a sentence they are found by what they are called."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: where it stands and what it is. `repr` does not show it."""

    start: int
    end: int
    kind: str
    value: str = field(repr=False)


# --- by value ----------------------------------------------------------------------------------------------------


def kind_of_value(value: str) -> str:
    """What the value is or holds, by form and check digits: `card`, `account`, `identity`, `key`; empty: no secret."""
    text = _ascii_digits(value).strip()
    if not _HAS_FORM.search(text):
        return ""
    if _is_card(re.sub(r"[\s\-]", "", text)):
        return "card"
    inside = find_secrets(text, named=False)
    return inside[0].kind if inside else _kind_of_whole(text)


def _kind_of_whole(text: str) -> str:
    bare = re.sub(r"[\s\-.]", "", text).upper()
    if _iban_at(bare, 0) == len(bare):
        return "account"
    if any(form.fullmatch(text.upper()) and _is_valid(module, bare) for module, form in _numbers()):
        return "identity"
    mixed = any(map(str.isupper, text)) and any(map(str.islower, text)) and any(map(str.isdigit, text))
    return "key" if mixed and re.fullmatch(table("secret_values")["whole"]["pattern"], text) else ""


def is_secret_value(value: str) -> bool:
    """The value is a plausible card number, an IBAN, a national number or a program's key."""
    return bool(kind_of_value(value))


_HAS_FORM = re.compile(r"[0-9]|-----BEGIN")
"""What is told by its form has a digit in it, or begins as a private key does; most texts have neither."""


def find_secrets(text: str, *, named: bool = True) -> list[Found]:
    """The secrets in a running text, in its order, none overlapping another.

    Card numbers and IBANs in groups or not, national numbers, keys; with `named` also passwords, PINs and codes that
    the text calls so (`my password is hunter2`).
    """
    plain = _ascii_digits(text)
    by_form = (_found_keys, _found_ibans, _found_cards, _found_numbers) if _HAS_FORM.search(plain) else ()
    spans = [span for finder in (*by_form, *((_found_named,) if named else ())) for span in finder(plain)]
    kept: list[Found] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1].end:
            kept.append(Found(start, end, kind, text[start:end]))
    return kept


def mask_found(text: str) -> tuple[str, ...]:
    """Mask the secrets of this text from now on, in this context and those it starts; what kinds they are of.

    For what a person types or hands in, before anything else is done with it.
    """
    found = find_secrets(text)
    if found:
        values = {one.value for one in found}
        redaction.register(*values, *map(_ascii_digits, values))
    return tuple(dict.fromkeys(one.kind for one in found))


_Span = tuple[int, int, str]


def _ascii_digits(text: str) -> str:
    """Digits of other scripts as ASCII, each in its place; wide letters too."""
    if text.isascii():
        return text
    return "".join(map(_ascii, text))


@lru_cache(maxsize=2048)
def _ascii(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else char


# cards

_BLANKS = " \u00a0\u2007\u2009\u202f"
"""The blanks that printers and telephones put between groups, those that keep a line together included."""
_RUN = re.compile(rf"(?<![A-Za-z0-9_+.,])(?:\d+[{_BLANKS}\-]){{0,12}}\d+(?![A-Za-z0-9_])")
"""Digits in groups. Behind a `+` stands a phone number."""


def _found_cards(text: str) -> Iterator[_Span]:
    for run in _RUN.finditer(text):
        if sum(map(str.isdigit, run.group())) < CARD_DIGITS.start:
            continue
        groups = [
            (match.start() + run.start(), match.end() + run.start())
            for match in re.finditer(r"\d+", run.group())
        ]
        yield from _cards_in(text, groups)


def _cards_in(text: str, groups: list[tuple[int, int]]) -> Iterator[_Span]:
    """The longest rows of groups that are a card as it is printed, from left to right."""
    first = 0
    while first < len(groups):
        for last in range(min(first + 5, len(groups)), first, -1):
            row = groups[first:last]
            digits = "".join(text[start:end] for start, end in row)
            if _printed_as_card([end - start for start, end in row]) and _is_card(digits):
                yield row[0][0], row[-1][1], "card"
                first = last - 1
                break
        first += 1


def _printed_as_card(sizes: list[int]) -> bool:
    """One run, fours, or the 4-6-5 and 4-6-4 of networks with fewer digits; two dates are none of these."""
    four = 4
    if len(sizes) == 1 or sizes in ([four, 6, 5], [four, 6, four]):
        return True
    return set(sizes[:-1]) == {four} and sizes[-1] <= four


def _is_card(digits: str) -> bool:
    if not (digits.isascii() and digits.isdigit() and len(digits) in CARD_DIGITS):
        return False
    if not digits.startswith(tuple(table("secret_values")["card"]["lengths"][str(len(digits))])):
        return False
    return _luhn(digits) and len(set(digits)) > 1


def _luhn(digits: str) -> bool:
    from stdnum import luhn

    return bool(luhn.is_valid(digits))


# accounts

_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[\s\-]?[A-Za-z0-9])")


def _found_ibans(text: str) -> Iterator[_Span]:
    for match in _IBAN_START.finditer(text):
        end = _iban_at(text, match.start())
        if end:
            yield match.start(), end, "account"


def _iban_at(text: str, start: int) -> int:
    """Where the IBAN that begins there ends; 0 when there is none."""
    length = _iban_length(text[start : start + 2].upper())
    taken, at = "", start
    while len(taken) < length and at < len(text):
        char = text[at]
        if char.isascii() and char.isalnum():
            taken += char
        elif char not in _BLANKS + "-":
            return 0
        at += 1
    if not length or len(taken) < length or (at < len(text) and text[at].isascii() and text[at].isalnum()):
        return 0
    from stdnum import iban

    return at if iban.is_valid(taken, check_country=False) else 0


@cache
def _iban_length(country: str) -> int:
    """Signs of an IBAN of this country, as the registry has them; 0 for no country of it."""
    if not re.fullmatch("[A-Z]{2}", country):
        return 0
    from stdnum import numdb

    structure = numdb.get("iban").info(country + "00")[0][1].get("bban", "")
    return sum(map(int, re.findall(r"(\d+)!", structure))) + 4 if structure else 0


# national numbers


@cache
def _numbers() -> tuple[tuple[str, re.Pattern[str]], ...]:
    listed = table("secret_values")["number"]
    return tuple(
        (one["module"], re.compile(rf"(?<![A-Za-z0-9_+.-])(?:{one['form']})(?![A-Za-z0-9_-]|\.\w)"))
        for one in listed
    )


def _found_numbers(text: str) -> Iterator[_Span]:
    for module, form in _numbers():
        for match in form.finditer(text):
            if _is_valid(module, match.group()):
                yield match.start(), match.end(), "identity"


def _is_valid(module: str, number: str) -> bool:
    from importlib import import_module

    return bool(import_module(f"stdnum.{module}").is_valid(number))


# keys


@cache
def _keys() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["pattern"]) for one in table("secret_values")["key"])


def _found_keys(text: str) -> Iterator[_Span]:
    for pattern in _keys():
        for match in pattern.finditer(text):
            if any(map(str.isdigit, match.group())) or match.group().startswith("-----"):
                yield match.start(), match.end(), "key"


# named in a sentence

_NAME_CHARS, _NAME_WORDS = 60, 4
"""In front of the verb: `the password of my router is`."""

_VALUE = r"[\"'“”„«「『`]?(?P<value>[^\s\"“”„«»`\u3000-\u303f\uff00-\uff0f]{3,100})"


@cache
def _named() -> re.Pattern[str]:
    written = table("secret_values")["named"]["is"]
    spaced = [re.escape(word) for word in written if word[0].isalpha() and not without_blanks(word)]
    tight = [re.escape(word) for word in written if not word[0].isalpha() or without_blanks(word)]
    return re.compile(
        rf"(?:\s(?:{'|'.join(spaced)})\s{{1,3}}|\s{{0,3}}(?:{'|'.join(tight)})\s{{0,3}}){_VALUE}",
        re.IGNORECASE,
    )


def _found_named(text: str) -> Iterator[_Span]:
    for match in _named().finditer(text):
        value = CJK.split(match["value"], maxsplit=1)[0].rstrip(".,;:)]}'")
        if _may_be_secret(value):
            kind = _named_before(text[max(0, match.start() - _NAME_CHARS) : match.start()])
            if kind:
                yield match.start("value"), match.start("value") + len(value), kind


def _named_before(text: str) -> str:
    """The kind that the last words say, those of the same sentence; the nearest count first."""
    words = re.split(r"[.!?;,\n。、]\s*", text)[-1].split()[-_NAME_WORDS:]
    for number in range(1, len(words) + 1):
        kind = kind_of_name(" ".join(words[-number:]))
        if kind:
            return kind if kind in _SECRET_BY_NAMING else ""
    return ""


_ORDINARY = re.compile(
    r"(?:19|20)\d\d|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}[.:]\d{2}(?:h|am|pm)?|https?:.*|\S+@\S+\.\S+|\d+(?:st|nd|rd|th|%)",
    re.IGNORECASE,
)
"""Years, dates, times, addresses: `the password expires: 2027-01-31` names none."""


def _may_be_secret(value: str) -> bool:
    """It has a digit or a sign in it. A word alone is what people write about passwords: `the password is wrong`."""
    if _ORDINARY.fullmatch(value):
        return False
    inner = value.rstrip("!?")
    return len(inner) > 2 and any(not (char.isalpha() or char in "-'’") for char in inner)  # noqa: PLR2004 - a CVV has three digits
