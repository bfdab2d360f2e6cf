"""What a provider's refusal means: one answer with an error status becomes one of our errors."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    ModelNotFoundError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderRequestError,
    ProviderUnavailableError,
)
from surefoot.redaction import redact, redact_json

SHOWN = 300
"""Characters of a provider's own words in a message: enough for its sentence, too few for a page of HTML."""

PASSING = frozenset({408, 425, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses that another attempt may not meet; 52x are gateways', 529 says overloaded."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as a provider sent it. `status` is the HTTP status, or one that says the same inside a stream."""

    provider: str
    status: int
    message: str = ""
    codes: frozenset[str] = frozenset()
    param: str = ""
    retry_after: float | None = None
    numbers: Mapping[str, int] | None = None

    def fits(self, table: str) -> bool:
        """The table of data/refusals.toml describes this refusal."""
        entry = _tables()[table]
        if self.status not in entry["statuses"]:
            return False
        if self.codes & set(entry["codes"]):
            return True
        return any(re.search(pattern, self.message, re.IGNORECASE) for pattern in entry["patterns"])


def read_refusal(
    provider: str, status: int, body: object, headers: Mapping[str, str] | None = None, *, now: float = 0.0
) -> Refusal:
    """The refusal in a body: an object with `error` (an object or a text), or any text. `now` is a Unix time.

    `status` below 400 means that the error came inside an answer: then its own code says what it is, else 500.
    """
    error = _error_of(body)
    codes = {str(error[key]).lower() for key in ("code", "type", "status") if isinstance(error.get(key), str)}
    return Refusal(
        provider=provider,
        status=status if status >= HTTPStatus.BAD_REQUEST else _status_in(error),
        message=_message_of(error, body),
        codes=frozenset(codes),
        param=str(error.get("param") or ""),
        retry_after=read_retry_after((headers or {}).get("retry-after", ""), now),
        numbers={key: error[key] for key in ("n_prompt_tokens", "n_ctx") if isinstance(error.get(key), int)},
    )


def _status_in(error: Mapping[str, Any]) -> int:
    code = str(error.get("code") or "")
    known = code.isdecimal() and HTTPStatus.BAD_REQUEST <= int(code) < 600  # noqa: PLR2004 - where statuses end
    if known:
        return int(code)
    named = {"insufficient_quota", "rate_limit_exceeded", "rate_limit_error"} & {code, str(error.get("type"))}
    return HTTPStatus.TOO_MANY_REQUESTS if named else HTTPStatus.INTERNAL_SERVER_ERROR


def read_retry_after(text: str, now: float) -> float | None:
    """Seconds to wait at least, from `Retry-After` as seconds or as an HTTP date; None where it says nothing usable.

    A date that has passed means 0.
    """
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = max(0.0, parsedate_to_datetime(text).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def error_for(refusal: Refusal) -> ProviderError:
    """The error of ours that says what the provider said. `details["passing"]`: trying again may help."""
    kind, next_move, passing = _meaning(refusal)
    details: dict[str, Any] = {"provider": refusal.provider, "status": refusal.status, "passing": passing}
    if refusal.retry_after is not None:
        details["retry_after"] = refusal.retry_after
    if refusal.param:
        details["param"] = refusal.param
    details.update(refusal.numbers or {})
    said = shorten(refusal.message) or "no reason given"
    ending = "" if said.endswith((".", "!", "?")) else "."
    return kind(
        f"{refusal.provider} answered {refusal.status}: {said}{ending}", next_move, **redact_json(details)
    )


def read_object(provider: str, text: str) -> dict[str, Any]:
    """One JSON object of an answer.

    Raises:
        ProviderUnavailableError: it is none; mostly one that was cut by a dropped connection.
        ProviderError: it is an error object.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise not_json(provider, text) from error
    if not isinstance(data, dict):
        raise not_json(provider, text)
    if data.get("error"):
        raise error_for(read_refusal(provider, HTTPStatus.OK, data))
    return data


def not_json(provider: str, text: str) -> ProviderUnavailableError:
    """The error for an answer, or a part of one, that is not the JSON it should be."""
    return ProviderUnavailableError(
        f"{provider} sent something that is not the JSON it should be: {shorten(text)!r}.",
        "Try again in a moment; if it stays, check the address in the settings.",
        provider=provider,
        passing=True,
    )


def shorten(text: str) -> str:
    """A provider's words as a message may show them: masked, on one line, not too long."""
    line = " ".join(redact(text).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def _meaning(refusal: Refusal) -> tuple[type[ProviderError], str, bool]:
    for table, meaning in _BY_TABLE.items():
        if refusal.fits(table) and not (
            table == "too_fast" and refusal.codes & set(_tables()["spent"]["codes"])
        ):
            return meaning
    for statuses, meaning in _BY_STATUS:
        if refusal.status in statuses:
            return meaning
    passing = refusal.status in PASSING
    if passing or refusal.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ProviderUnavailableError, "Try again in a moment, or use another model.", passing
    return ProviderRequestError, "The request was not accepted; another model or server may take it.", False


_TOO_FAST = (ProviderRateLimitError, "Wait, then try again; fewer requests at once help.", True)
_AUTH = (
    ProviderAuthError,
    "Check the key: the settings hold its name, the environment or keyring its value.",
    False,
)
_SPENT = (ProviderQuotaError, "Add credit with the provider, or use another model.", False)

_BY_TABLE: dict[str, tuple[type[ProviderError], str, bool]] = {
    "too_fast": _TOO_FAST,
    "spent": _SPENT,
    "too_long": (ContextLengthError, "Shorten the prompt or use a model with a longer context.", False),
    "filtered": (ContentFilterError, "Word the request differently, or use another model.", False),
    "unable": (ProviderCapabilityError, "Use a model, or a server setting, that supports tool calls.", False),
    "no_model": (ModelNotFoundError, "`surefoot models list` shows what there is.", False),
    "hopeless": (
        ProviderUnavailableError,
        "The machine it runs on cannot do it; use a smaller model.",
        False,
    ),
}

_BY_STATUS: tuple[tuple[frozenset[int], tuple[type[ProviderError], str, bool]], ...] = (
    (frozenset({401, 403}), _AUTH),
    (frozenset({402}), _SPENT),
    (frozenset({429}), _TOO_FAST),
)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    return tomllib.loads((files("surefoot.models") / "data" / "refusals.toml").read_text("utf-8"))


def _error_of(body: object) -> dict[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    if isinstance(error, dict):
        return error
    return {key: value for key, value in body.items() if key != "error"} | {"message": str(error)}


def _message_of(error: dict[str, Any], body: object) -> str:
    for key in ("message", "detail", "error"):
        if error.get(key):
            value = error[key]
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return body if isinstance(body, str) else ""
