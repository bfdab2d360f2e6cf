"""What Gemini's refusals mean: `google.rpc` details beside the words that every provider has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from surefoot.errors import ProviderAuthError, ProviderError, ProviderQuotaError
from surefoot.models.refusals import Refusal, error_for, read_refusal

KEY_REASONS = frozenset({"api_key_invalid", "api_key_expired", "api_key_service_blocked"})
"""`ErrorInfo.reason` of a key that is refused; the status beside it is 400 as often as 403."""

BILLING = re.compile(
    r"enable billing|billing (account )?(is |has been )?(disabled|not (active|enabled))", re.IGNORECASE
)
"""What is said where an account must pay first, with 400 or 403."""

_TOO_MANY = re.compile(r"input token count \((\d+)\) exceeds .{0,80}\((\d+)\)", re.IGNORECASE)
_NO_QUOTA = re.compile(r"limit: 0(?!\d)")
"""A model that the account has no quota for at all; waiting does not help."""

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")
"""A `google.protobuf.Duration` as JSON."""


@dataclass(frozen=True, slots=True)
class _Details:
    reasons: frozenset[str] = frozenset()
    quotas: tuple[str, ...] = ()
    delay: float | None = None


def gemini_error(
    provider: str, status: int, body: object, headers: Mapping[str, str] | None = None, *, now: float = 0.0
) -> ProviderError:
    """The error of ours for a refusal of Gemini's, from its HTTP status and JSON body.

    A quota of a day is spent whatever delay is named beside it; a quota of a minute is a pause of that delay.
    """
    refusal = read_refusal(provider, status, body, headers, now=now)
    details = _read_details(body)
    delays = [delay for delay in (refusal.retry_after, details.delay) if delay is not None]
    refusal = replace(
        refusal,
        codes=refusal.codes | details.reasons | _quota_codes(refusal, details),
        retry_after=max(delays, default=None),
        numbers=_numbers(refusal.message) or refusal.numbers,
    )
    error = error_for(refusal)
    if details.reasons & KEY_REASONS:
        return ProviderAuthError(
            error.message, "Check the key: GEMINI_API_KEY in the environment or keyring.", **error.details
        )
    if BILLING.search(refusal.message) and status in {400, 403}:
        return ProviderQuotaError(
            error.message, "Enable billing for the key's project, or use another model.", **error.details
        )
    return error


def _quota_codes(refusal: Refusal, details: _Details) -> frozenset[str]:
    """A code of the common table, where the quotas say which kind of 429 it is."""
    if any("perday" in quota for quota in details.quotas) or _NO_QUOTA.search(refusal.message):
        return frozenset({"insufficient_quota"})
    if any("perminute" in quota for quota in details.quotas) or details.delay is not None:
        return frozenset({"rate_limit_exceeded"})
    return frozenset()


def _numbers(message: str) -> dict[str, int]:
    found = _TOO_MANY.search(message)
    return {"prompt_tokens": int(found[1]), "context_length": int(found[2])} if found else {}


def _read_details(body: object) -> _Details:
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else None
    entries = error.get("details") if isinstance(error, dict) else None
    reasons: set[str] = set()
    quotas: list[str] = []
    delay = None
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        reasons.add(str(entry.get("reason") or "").lower())
        quotas += _quotas(entry.get("violations"))
        found = _SECONDS.fullmatch(str(entry.get("retryDelay") or ""))
        delay = float(found[1]) if found else delay
    return _Details(frozenset(reasons - {""}), tuple(quotas), delay)


def _quotas(violations: Any) -> list[str]:
    entries = violations if isinstance(violations, list) else []
    return [
        str(entry.get("quotaId") or entry.get("quotaMetric") or "").lower().replace("_", "")
        for entry in entries
        if isinstance(entry, dict)
    ]
