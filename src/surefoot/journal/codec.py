"""The journal's values as text: JSON, times. Masked on the way in."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import orjson

from surefoot import redaction
from surefoot.errors import MisuseError

_canonical = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


def dump(value: Any) -> str:
    """Canonical JSON, registered secrets masked: sorted keys, no ASCII escapes. Equal values give equal text.

    Half a surrogate pair, which no encoding can write, stays an escape; a number that JSON lacks becomes its name
    (`"NaN"`).

    Raises:
        MisuseError: the value is no JSON.
    """
    try:
        value = redaction.redact_json(value)
    except RecursionError as error:  # it holds itself
        raise _no_json(value, error) from error
    quick = _quickly(value)
    if quick is not None:
        return quick
    try:
        text = _canonical(value)
    except ValueError:
        return _dump_odd(value)
    except TypeError as error:
        raise _no_json(value, error) from error
    return text if _encodable(text) else json.dumps(value, sort_keys=True, separators=(",", ":"))


_QUICK = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def _quickly(value: Any) -> str | None:
    """The same text at a fifth of the cost, for all but odd values; None for those.

    Every call is written with eight of them. orjson writes NaN and infinity as null: those are left to the slow way.
    """
    try:
        text = orjson.dumps(value, option=_QUICK)
    except TypeError:
        return None
    return None if b"null" in text and not _finite(value) else text.decode()


def _finite(value: Any) -> bool:
    """No number in it is NaN or infinite."""
    kind = type(value)
    if kind is dict:
        return all(map(_finite, value.values()))
    if kind is list or kind is tuple:
        return all(map(_finite, value))
    return kind is not float or math.isfinite(value)


def dump_optional(value: Any) -> str | None:
    """The same; None stays None."""
    return None if value is None else dump(value)


def load(text: str | None) -> Any:
    """The value of JSON text; None for None."""
    return None if text is None else json.loads(text)


def clean(text: str) -> str:
    """A text as every database keeps it: registered secrets masked, half surrogate pairs and NUL replaced."""
    text = redaction.redact(text).replace("\0", "\ufffd")
    return text if _encodable(text) else text.encode("utf-8", "replace").decode("utf-8")


def time_text(at: datetime) -> str:
    """`2026-11-30T18:30:00.000000Z`: always UTC, always 27 characters, so that it sorts as text."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")[:-6] + "Z"


def time_text_optional(at: datetime | None) -> str | None:
    """The same; None stays None."""
    return None if at is None else time_text(at)


def time_of(text: str | None) -> datetime | None:
    """The aware time of a time text; None for none."""
    return datetime.fromisoformat(text) if text else None


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _dump_odd(value: Any) -> str:
    try:
        return json.dumps(_named(value), sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:  # it holds itself
        raise _no_json(value, error) from error


def _named(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(item) for item in value]
    return value


def _no_json(value: Any, error: Exception) -> MisuseError:
    shown = redaction.redact(type(value).__name__)
    return MisuseError(
        f"The journal keeps JSON; a value of type {shown} is none: {redaction.redact(str(error))}.",
        "Give None, bool, int, float, str, and lists and string-keyed dicts of them.",
    )
