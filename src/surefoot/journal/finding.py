"""Which run a person means, by a short text."""

from __future__ import annotations

import re

from surefoot.errors import AmbiguousError, NotFoundError
from surefoot.journal.types import Run

SHORTEST_ID = 4
LAST = "last"
CANDIDATES = 5
"""Runs named when a prefix fits several: enough to choose from, few enough for one line."""

MOST = 2**63 - 1
"""What a database can count to; a limit above it is none."""

_HEX = re.compile(r"[0-9a-f]+")


def may_be_id(text: str) -> bool:
    """It can be looked up: what a shell makes of bytes that are no UTF-8, and NUL, cannot even be asked for."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def check_prefix(prefix: str) -> None:
    """NotFoundError for a text that is no beginning of a run's id, or too short for one."""
    if not _HEX.fullmatch(prefix):
        raise no_run(prefix)
    if len(prefix) < SHORTEST_ID:
        raise NotFoundError(
            f"{prefix!r} is too short for a run: at least {SHORTEST_ID} characters.",
            "`surefoot runs` lists them.",
        )


def only_one(prefix: str, found: list[Run]) -> Run:
    """The one run a prefix fits."""
    if not found:
        raise no_run(prefix)
    if len(found) > 1:
        ids = [run.id for run in found]
        raise AmbiguousError(
            f"{prefix!r} fits several runs: {', '.join(ids)}.", "Give more of the id.", candidates=ids
        )
    return found[0]


def shortest(run_id: str, others: list[str]) -> str:
    """The shortest prefix of `run_id`, at least 4, that none of `others` begins with."""
    shared = max((_shared(run_id, other) for other in others), default=0)
    return run_id[: max(SHORTEST_ID, shared + 1)]


def _shared(one: str, other: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def no_run(run: str) -> NotFoundError:
    """There is no run of that id."""
    return NotFoundError(f"There is no run {run!r}.", "`surefoot runs` lists them.", run=run)


def no_run_yet() -> NotFoundError:
    """Nothing was asked yet."""
    return NotFoundError("There is no run yet.", "Ask something first: surefoot ask.")


def no_call(run: str, key: str) -> NotFoundError:
    """The run has no call under that key."""
    return NotFoundError(f"Run {run} has no call {key!r}.", "Write its intent first.", run=run, key=key)
