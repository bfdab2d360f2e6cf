"""What the words of a fact's name say of its value. The words are data: `secret_words.toml`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from surefoot.flows._data import table


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """What the name says its value is: `card`, `cvv`, `password` (secret_words.toml has all); empty: nothing secret."""
    words = _words_of(name)
    harmless = list(_spans(words, _lists().harmless))
    for kind, phrases in _lists().kinds.items():
        for start, end in _spans(words, phrases):
            if not any(start < other_end and other_start < end for other_start, other_end in harmless):
                return kind
    return ""


def is_secret_name(name: str) -> bool:
    """The name labels a card, a password, a PIN, a code, a key, an identity or an account number."""
    return bool(kind_of_name(name))


def is_payment(name: str) -> bool:
    """The name labels something that pays: a card's number, check number or expiry, an account number."""
    return kind_of_name(name) in _lists().payment


@dataclass(frozen=True)
class _Phrases:
    """Folded: `inside` anywhere at the bounds of words, `alone` as the whole name, `endings` of one word."""

    inside: tuple[tuple[str, bool], ...]
    """With whether it is a single short word, which is never read across two."""
    anywhere: tuple[str, ...]
    alone: frozenset[str]
    endings: tuple[str, ...]


@dataclass(frozen=True)
class _Lists:
    kinds: dict[str, _Phrases]
    harmless: _Phrases
    payment: frozenset[str]


@cache
def _lists() -> _Lists:
    data = table("secret_words")
    kinds = data["kinds"]
    return _Lists(
        {name: _phrases(kind["words"]) for name, kind in kinds.items()},
        _phrases(data["harmless"]),
        frozenset(name for name, kind in kinds.items() if kind["payment"]),
    )


@cache
def _small() -> frozenset[str]:
    return frozenset(map(_folded, table("secret_words")["small"]))


_SHORT = 5
"""Letters: a shorter word is not put together from two ("top in" is no PIN)."""


def _phrases(written: Iterable[str]) -> _Phrases:
    marked = {mark: [one[1:] for one in written if one[0] == mark] for mark in "=*"}
    plain = [_words_of(one) for one in written if one[0] not in "=*"]
    spaced = [words for words in plain if not without_blanks("".join(words))]
    return _Phrases(
        tuple(("".join(words), len(words) == 1 and len(words[0]) < _SHORT) for words in spaced),
        tuple("".join(words) for words in plain if without_blanks("".join(words))),
        frozenset("".join(_words_of(one)) for one in marked["="]),
        tuple("".join(_words_of(one)) for one in marked["*"]),
    )


def _spans(words: tuple[str, ...], phrases: _Phrases) -> Iterator[tuple[int, int]]:
    """Where phrases stand in the words put together."""
    joined = "".join(words)
    bounds = [0]
    for word in words:
        bounds.append(bounds[-1] + len(word))
    if joined in phrases.alone:
        yield 0, len(joined)
    for phrase, single in phrases.inside:
        if phrase not in joined:  # nearly always: a search is cheaper than a generator
            continue
        for start in _places(phrase, joined):
            end = start + len(phrase)
            if (
                start in bounds
                and end in bounds
                and not (single and any(start < one < end for one in bounds))
            ):
                yield start, end
    for phrase in phrases.anywhere if without_blanks(joined) else ():
        for start in _places(phrase, joined):
            yield start, start + len(phrase)
    for start, end in pairwise(bounds):
        if joined[start:end].endswith(phrases.endings):
            yield start, end


def _places(phrase: str, joined: str) -> Iterator[int]:
    at = joined.find(phrase)
    while at >= 0:
        yield at
        at = joined.find(phrase, at + 1)


_UNDECOMPOSED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "a", "œ": "o"})
"""Letters that Unicode does not take apart."""
_ACCENTS = re.compile("[\u0300-\u036f\u093c]")
"""Combining accents of Latin, and the nukta of Hindi, which is often left out in writing."""
_UMLAUT = re.compile("([aou])e")
"""`ue` is `ü` where there is no such key; both become `u`, in names and in the lists alike."""
_PLURAL_FROM = 5


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFD", word.casefold().translate(_UNDECOMPOSED))
    plain = _UMLAUT.sub(r"\1", unicodedata.normalize("NFC", _ACCENTS.sub("", plain)))
    return plain[:-1] if len(plain) >= _PLURAL_FROM and plain.endswith("s") and plain.isascii() else plain


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    words = tuple(map(_folded, _split(unicodedata.normalize("NFKC", name))))
    return tuple(word for word in words if word not in _small()) or words


def _split(name: str) -> Iterator[str]:
    """Words: runs of letters with their marks, or of digits; camelCase is several, and so are two scripts."""
    word = ""
    for at, char in enumerate(name):
        kind = _class(char)
        if word and (not kind or _starts_word(word, char, name[at + 1 : at + 2])):
            yield word
            word = ""
        if kind:
            word += char
    if word:
        yield word


def _class(char: str) -> str:
    """`L` letter or mark, `N` digit, `C` of a script without blanks; empty for what separates words."""
    category = unicodedata.category(char)
    if category == "Nd":
        return "N"
    return ("C" if without_blanks(char) else "L") if category[0] in "LMN" else ""


def _starts_word(word: str, char: str, after: str) -> bool:
    last = word[-1]
    if unicodedata.category(char)[0] == "M":
        return False
    if _class(last) != _class(char):
        return True
    return char.isupper() and (last.islower() or (last.isupper() and after.islower()))


CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def without_blanks(text: str) -> bool:
    """It has characters of Chinese or Japanese, which put no blanks between words."""
    return CJK.search(text) is not None
