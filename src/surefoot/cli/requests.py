"""What a person asks, from the arguments or from standard input, checked before anything is done with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from surefoot.errors import InputError, UnreadableInputError

MAX_CHARS = 200_000
"""About 50,000 tokens: more than any request in words, and less than what would fill the memory of a small machine."""

MAX_FILE = 16_000_000
"""Bytes of a file with tools; 10,000 function schemas have about 5 million. What never ends ends here."""

STDIN = "-"


def request_text(words: Sequence[str]) -> str:
    """The request: the words joined, or standard input for `-`.

    Raises:
        InputError: it is empty or far too long.
        UnreadableInputError: it is no text.
    """
    text = read_stdin() if list(words) == [STDIN] else _as_utf8(" ".join(words))
    return checked(text, "request")


def _as_utf8(text: str) -> str:
    """Arguments are bytes; under a locale of ASCII those of UTF-8 come as halves of pairs, put together here."""
    with suppress(UnicodeError):
        if any("\udc80" <= char <= "\udcff" for char in text):
            return os.fsencode(text).decode()
    return text


def checked(text: str, what: str) -> str:
    """The text without space around it, if it is one. Secrets in it are masked from here on."""
    _check_characters(text, what)
    _mask(text)
    text = text.strip()
    if not text:
        raise InputError(
            f"The {what} is empty.", 'Say what you want, as in: surefoot ask "what is due today?"'
        )
    if len(text) > MAX_CHARS:
        raise InputError(
            f"The {what} has {len(text):,} characters; {MAX_CHARS:,} are allowed.",
            "Put long texts into a file of the files folder and ask about it.",
            length=len(text),
            allowed=MAX_CHARS,
        )
    return text


def _mask(text: str) -> None:
    """Secrets that can be told by their form are in nothing that is shown, written or told to a model from here on."""
    from surefoot.flows.detection import mask_found

    mask_found(text[:MAX_CHARS])


def _check_characters(text: str, what: str) -> None:
    if "\x00" in text:
        place = text.index("\x00")
        raise UnreadableInputError(
            f"The {what} holds a NUL byte at character {place + 1}: it is no text.",
            "Give plain text in UTF-8.",
            place=place,
        )
    for place, char in enumerate(text):
        if "\ud800" <= char <= "\udfff":  # what Python makes of bytes that are no UTF-8
            raise UnreadableInputError(
                f"The {what} is no valid UTF-8 at character {place + 1} ({ord(char):#06x}).",
                "Give plain text in UTF-8.",
                place=place,
            )


def read_plan(name: str) -> str:
    """A written plan, from a file or from standard input; it may be empty.

    Raises:
        UnreadableInputError: it cannot be read, is no text, or is longer than any plan.
    """
    text = read_file(name, MAX_CHARS * 4)
    _check_characters(text, "plan")
    if len(text) > MAX_CHARS:
        raise _too_large(name, f"{MAX_CHARS:,} characters")
    _mask(text)
    return text


def read_stdin(limit: int = MAX_CHARS * 4) -> str:
    """All of standard input, as UTF-8; UnreadableInputError. Never more than `limit` bytes."""
    if sys.stdin is None:
        return ""
    most = limit + 1
    data = sys.stdin.buffer.read(most) if hasattr(sys.stdin, "buffer") else sys.stdin.read(most).encode()
    return _decoded(data, STDIN, limit)


def read_file(name: str, limit: int = MAX_FILE) -> str:
    """A file's text, or standard input for `-`.

    Raises:
        UnreadableInputError: it is not there, may not be read, is no UTF-8, or has more than `limit` bytes.
    """
    if name == STDIN:
        return read_stdin(limit)
    try:
        with Path(name).open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableInputError(
            f"{name!r} cannot be read: {reason}.",
            "Name a file with text in UTF-8, or - for standard input.",
            path=name,
        ) from error
    return _decoded(data, name, limit)


def _decoded(data: bytes, name: str, limit: int) -> str:
    if len(data) > limit:
        raise _too_large(name, f"{limit:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableInputError(
            f"What comes from {_called(name)} is no valid UTF-8: byte {error.start + 1} is "
            f"{data[error.start]:#04x}.",
            "Give plain text in UTF-8.",
            place=error.start,
        ) from error


def _too_large(name: str, allowed: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"What comes from {_called(name)} has more than {allowed}.", "Give less.", path=name
    )


def _called(name: str) -> str:
    return "standard input" if name == STDIN else repr(name)
