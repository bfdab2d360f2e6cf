"""Secret values never reach a sink: events, journal, logs, errors, prompts, HTTP answers, traces.

Rooms that know a secret register it here; every sink passes its text through `redact` or `redact_json`. The set is
context-local (PEP 567), so a server that works for two people at once does not mix their secrets, and a task started
by another inherits what its parent knew.
"""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from binascii import b2a_base64
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import quote

MASK = "[secret]"
MIN_LENGTH = 3
"""Shorter values are not masked: masking every "1" would destroy the text and hide nothing."""

_secrets: ContextVar[frozenset[str]] = ContextVar("surefoot_secrets", default=frozenset())


def register(*values: str) -> None:
    """Mask these values from now on, in this context and those it starts."""
    kept = {value for value in values if len(value.strip()) >= MIN_LENGTH}
    _secrets.set(_secrets.get() | frozenset(kept))


@contextmanager
def secrets(*values: str) -> Iterator[None]:
    """Mask these values inside the `with` block only."""
    token = _secrets.set(_secrets.get() | frozenset(v for v in values if len(v.strip()) >= MIN_LENGTH))
    try:
        yield
    finally:
        _secrets.reset(token)


def mark() -> int:
    """A number that is the same while the same values are registered here: what was masked then is masked now."""
    return hash(_secrets.get())


def redact(text: str) -> str:
    """The text with every registered value masked, in each form listed at `forms`.

    Where two of them overlap, one mask covers both: what sticks out of the first would give away the second.
    """
    known = _secrets.get()
    if not known:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _finder(known).spans(text):
        if start >= done:
            pieces += [text[done:start], MASK]
        done = max(done, end)
    return "".join(pieces) + text[done:] if pieces else text


def redact_json(value: Any) -> Any:
    """The same for every text inside a JSON value, keys included."""
    if not _secrets.get():
        return value
    return _walk(value)


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)")
_FEW = 4
"""Characters: a CVV or a PIN is a part of one moment in two hundred."""


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return value if _is_moment(value) else redact(value)
    if isinstance(value, dict):
        return {_walk_key(key): _walk(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_walk(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return MASK if any(redact(text) != text for text in _numerals(value)) else value
    return value


def _walk_key(key: Any) -> Any:
    """A key that holds no secret stays what it is: whether a number may be a key is not for us to decide."""
    text = str(key)
    masked = redact(text)
    return key if masked == text else masked


def _is_moment(text: str) -> bool:
    """It is a moment as our own clock writes it, and no value longer than a PIN stands in it.

    The CVV 202 must not destroy every time of this decade: a run could not be resumed, and what the clock says tells
    nobody's secret.
    """
    if not _MOMENT.fullmatch(text):
        return False
    return all(end - start <= _FEW for start, end in _finder(_secrets.get()).spans(text))


def _numerals(value: float) -> tuple[str, ...]:
    """A number as JSON writes it; a large float also in full: `4.111e+18` has the digits of a card all the same."""
    text = str(value)
    return (text, f"{value:.0f}") if "e+" in text else (text,)


def unfinished(text: str) -> int:
    """Where the end of a streamed text begins that may be the beginning of a secret; its length when there is none.

    What stands before it may be shown, masked; what follows is kept until the next piece has come.
    """
    known = _secrets.get()
    if not known:
        return len(text)
    finder = _finder(known)
    window = range(max(0, len(text) - finder.longest), len(text))
    cut = next((at for at in window if text[at] in finder.firsts and finder.begins(text[at:])), len(text))
    for start, end in reversed(finder.spans(text)):
        if start < cut < end:  # no mask is cut in two either
            cut = start
    return cut


# --- the ways a value may be written -------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def forms(value: str) -> frozenset[str]:
    """The ways a value may be written; grouped digits are looked for by patterns.

    As it is, stripped, on one line; each of these composed and decomposed as Unicode has it; all of them URL-encoded,
    and escaped for JSON, HTML and Python.
    """
    plain = _plain(value)
    written = {form for text in plain for form in _escaped(text)}
    return frozenset(text for text in plain | written if len(text) >= MIN_LENGTH)


def _plain(value: str) -> set[str]:
    plain = {value, value.strip(), " ".join(value.split())}
    if not value.isascii():
        plain |= {unicodedata.normalize(form, value) for form in ("NFC", "NFD", "NFKC")}
    return plain


_URL_SAFE = ("", "/", "*", "!*'()~", ";,/?:@&=+$!*'()#~")
"""What an encoder leaves as it is: Python's two, that of HTML forms, `encodeURIComponent`, `encodeURI`."""

_BASE64_FROM = 8
"""Bytes: what is shorter has so few letters in base64 that they stand in ordinary text."""


def _escaped(text: str) -> set[str]:
    if text.isascii() and text.isalnum():
        return set()
    as_json = json.dumps(text)[1:-1]
    unicode_json = json.dumps(text, ensure_ascii=False)[1:-1]
    escaped = {as_json, unicode_json, unicode_json.replace("/", "\\/"), repr(text)[1:-1]}
    escaped |= {
        json.dumps(as_json)[1:-1],
        json.dumps(unicode_json, ensure_ascii=False)[1:-1],
    }  # JSON inside JSON
    escaped.add(re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match.group()[2:].upper(), as_json))
    encoded = {quote(text, safe=safe, errors="surrogatepass") for safe in _URL_SAFE}
    encoded |= {one.replace("%20", "+") for one in encoded}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), one) for one in encoded}
    return escaped | encoded | lower | _html(text)


def _html(text: str) -> set[str]:
    """By hand: `html` brings a table of all entities, and every start of the command line would pay for it."""
    outside = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    inside = outside.replace('"', "&quot;")
    return {outside, inside, *(inside.replace("'", quoted) for quoted in ("&#x27;", "&#39;", "&apos;"))}


@lru_cache(maxsize=1024)
def _base64(value: str) -> frozenset[str]:
    """The value in base64, in the middle of something longer, too: three ways, by how many bytes stand before it."""
    data = value.strip().encode("utf-8", "surrogatepass")
    if len(data) < _BASE64_FROM:
        return frozenset()
    found: set[str] = set()
    for before in range(3):
        whole = b2a_base64(bytes(before) + data, newline=False).decode().rstrip("=")
        inner = whole[(0, 2, 3)[before] : len(whole) - bool((before + len(data)) % 3)]
        found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return frozenset(found)


_GROUP_DIGITS = 6
"""Digits from which on a number is also looked for in groups: five of them, spread, are common in ordinary text."""

_MARK = r"(?:[\s.\-+_/·‐-―]|%20|%C2%A0|%c2%a0|\\u00[aA]0|\\[nt]|&nbsp;|&#160;)"
"""What may stand between the groups of a card or account number, URL-encoded and escaped forms of blanks included."""
_MARKS = _MARK + "{0,12}"
"""A line may end between two groups, and the next begin with blanks."""
_ALL_MARKS = re.compile(_MARK)
_HALF_MARK = re.compile(r"(?:(?:%[0-9A-Fa-f]{0,2}){1,2}|&[#a-z0-9]{0,5}|\\[u0-9aA]{0,5})$")


@lru_cache(maxsize=1024)
def _compact(value: str) -> str:
    """A number without its groups, letters included as an IBAN has them; empty for what is no such number."""
    bare = unicodedata.normalize("NFKC", re.sub(r"[\s.\-‐-―]", "", value))
    digits = sum(char.isdigit() for char in bare)
    return bare.casefold() if bare.isascii() and bare.isalnum() and digits >= _GROUP_DIGITS else ""


def _grouped(value: str) -> str:
    """A pattern for a value whose digits may be grouped, or whose words may stand on different lines; else empty.

    It starts with a character, not with a look around: so the search for it is a search for that character.
    """
    if compact := _compact(value):
        chars = (char if char.isdigit() else f"[{char}{char.upper()}]" for char in compact)
        return _MARKS.join(chars)
    words = value.split()
    return r"\s{1,200}".join(map(re.escape, words)) if len(words) > 1 else ""


@lru_cache(maxsize=64)
def _finder(known: frozenset[str]) -> _Finder:
    return _Finder(known)


class _Finder:
    """Finds the values of one set in a text. Most texts hold none, and that is found out fast."""

    def __init__(self, known: frozenset[str]) -> None:
        literal = {form for value in known for form in forms(value)}
        self._begun = tuple(literal)  # no stream waits for base64: it would wait at every second letter
        self._literal = sorted(literal.union(*map(_base64, known)), key=len)
        self._cores = _without_longer(self._literal)
        self._grouped = [re.compile(pattern) for value in known if (pattern := _grouped(value))]
        self._compact = [compact for value in known if (compact := _compact(value))]
        self._lines = [" ".join(value.split()) for value in known]
        beginnings = (*literal, *self._compact, *(text.upper() for text in self._compact), *self._lines)
        self.firsts = frozenset(text[0] for text in beginnings if text)
        self.longest = max((4 * len(text) for text in beginnings), default=0)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, sorted; they may overlap."""
        found: list[tuple[int, int]] = []
        if any(core in text for core in self._cores):
            for form in self._literal:
                at = text.find(form)
                while at >= 0:
                    found.append((at, at + len(form)))
                    at = text.find(form, at + 1)
        for pattern in self._grouped:
            match = pattern.search(text)
            while match:
                found.append(match.span())
                match = pattern.search(text, match.start() + 1)
        return sorted(found)

    def begins(self, tail: str) -> bool:
        """Some form of some value begins with this text."""
        if any(form.startswith(tail) for form in self._begun):
            return True
        if self._compact:
            bare = _HALF_MARK.sub("", _ALL_MARKS.sub("", tail)).casefold()
            if bare and any(compact.startswith(bare) for compact in self._compact):
                return True
        line = " ".join(tail.split())
        return bool(line) and any(whole.startswith(line) for whole in self._lines)


def _without_longer(literal: list[str]) -> list[str]:
    """Those that hold no shorter one: where none of these stands, none of the others does. Sorted by length."""
    cores: list[str] = []
    for form in literal:
        if not any(core in form for core in cores):
            cores.append(form)
    return cores


class RedactingFormatter(logging.Formatter):
    """A log formatter that masks the finished line, the traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        """The finished line, masked."""
        return redact(super().format(record))
