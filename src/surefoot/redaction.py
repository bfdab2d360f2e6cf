"""Secret values never reach a sink: events, journal, logs, errors, prompts, HTTP answers, traces.

Rooms that know a secret register it here; every sink passes its text through `redact` or `redact_json`. The set is
context-local (PEP 567), so a server that works for two people at once does not mix their secrets, and a task started
by another inherits what its parent knew.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

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
    for start, end in sorted(m.span(1) for pattern in _patterns(known) for m in pattern.finditer(text)):
        if start >= done:
            pieces += [text[done:start], MASK]
        done = max(done, end)
    return "".join(pieces) + text[done:]


def redact_json(value: Any) -> Any:
    """The same for every text inside a JSON value, keys included."""
    if not _secrets.get():
        return value
    return _walk(value)


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): _walk(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_walk(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        text = str(value)
        return MASK if redact(text) != text else value
    return value


def unfinished(text: str) -> int:
    """Where the end of a streamed text begins that may be the beginning of a secret; its length when there is none.

    What stands before it may be shown, masked; what follows is kept until the next piece has come.
    """
    known = _secrets.get()
    if not known:
        return len(text)
    beginnings = _beginnings(known)
    longest = max(map(len, beginnings))
    cut = next(
        (at for at in range(max(0, len(text) - longest), len(text)) if _begins(text[at:], beginnings)),
        len(text),
    )
    spans = sorted(match.span(1) for pattern in _patterns(known) for match in pattern.finditer(text))
    for start, end in reversed(spans):
        if start < cut < end:  # no mask is cut in two either
            cut = start
    return cut


def _begins(tail: str, beginnings: frozenset[str]) -> bool:
    digits = re.sub(r"[\s.\-]", "", tail)
    return any(form.startswith(tail) or (digits and form.startswith(digits)) for form in beginnings)


@lru_cache(maxsize=64)
def _beginnings(known: frozenset[str]) -> frozenset[str]:
    """Every form of every secret, and the bare digits of numbers, padded for the marks that may group them."""
    numbers = {re.sub(r"\D", "", value) for value in known if _is_number(value)}
    grouped = {digits + " " * len(digits) for digits in numbers}
    return frozenset({form for value in known for form in forms(value)} | grouped)


def forms(value: str) -> set[str]:
    """The ways a value may be written: as it is, URL-encoded (both ways, both cases), JSON-escaped, stripped."""
    plain = {value, value.strip()}
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    encoded = {quote(value, safe=""), quote_plus(value), quote(value)}
    lower = {re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), text) for text in encoded}
    return {text for text in plain | escaped | encoded | lower if len(text) >= MIN_LENGTH}


@lru_cache(maxsize=64)
def _patterns(known: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    """Match in front of a form, the longest that starts there in group 1, so that matches may overlap.

    One for the forms as they are, one for numbers in groups: neither may hide a longer match of the other.
    """
    literal = {re.escape(form): len(form) for value in known for form in forms(value)}
    grouped = {_grouped(value): len(value) for value in known if _is_number(value)}
    return tuple(
        re.compile(f"(?=({'|'.join(sorted(parts, key=parts.__getitem__, reverse=True))}))")
        for parts in (literal, grouped)
        if parts
    )


def _is_number(value: str) -> bool:
    digits = re.sub(r"[\s.\-]", "", value)
    return digits.isdigit() and len(digits) >= 6  # noqa: PLR2004 - shorter ones are common in ordinary text


def _grouped(value: str) -> str:
    """A pattern for the digits of a card or account number, however they are grouped."""
    digits = re.sub(r"\D", "", value)
    return r"(?<!\d)" + r"[\s.\-]?".join(digits) + r"(?!\d)"


class RedactingFormatter(logging.Formatter):
    """A log formatter that masks the finished line, the traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        """The finished line, masked."""
        return redact(super().format(record))
