"""Messages of model calls: each body under its hash, and a run's conversation put together again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from surefoot.errors import StorageError
from surefoot.journal.codec import dump, load
from surefoot.journal.types import ModelCall
from surefoot.models.types import Completion, Message


class Body(NamedTuple):
    """A message as it is kept: canonical JSON, masked, under the SHA-256 of its UTF-8."""

    hash: str
    text: str


def body_of(message: dict[str, Any]) -> Body:
    """The body of a message (`Message.to_dict`)."""
    text = dump(message)
    return Body(hashlib.sha256(text.encode()).hexdigest(), text)


def conversation(
    calls: Iterable[ModelCall], said: Sequence[Sequence[Any]]
) -> list[tuple[str, dict[str, Any]]]:
    """Each call's new messages and behind them its answer, in the order of the calls.

    Args:
        calls: in the order they were answered.
        said: `(key, body)` of their messages, those of one call in order.
    """
    by_key: dict[str, list[str]] = {}
    for key, body in said:
        by_key.setdefault(key, []).append(body)
    found = []
    for call in calls:
        found += [(call.key, _message(call, body)) for body in by_key.get(call.key, ())]
        found.append((call.key, _answer(call)))
    return found


def _message(call: ModelCall, body: str) -> dict[str, Any]:
    try:
        message: dict[str, Any] = load(body)
    except ValueError as error:
        raise StorageError(
            f"A message of the journal is damaged (run {call.run}, model call {call.key}): {error}.",
            "Put a backup of the database in its place.",
            reason="damaged",
            row=call.run,
        ) from error
    return message


def _answer(call: ModelCall) -> dict[str, Any]:
    answer = Completion.from_dict(call.completion)
    return Message("assistant", answer.text, answer.tool_calls).to_dict()
