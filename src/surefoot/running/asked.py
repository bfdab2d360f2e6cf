"""What a model was asked, as it was sent: masked, and known to begin where an earlier call ended.

A history only grows at its end, so nothing is done to its old messages: what was masked stays masked, and only what is
new is kept with the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import redaction
from surefoot.models.types import Completion, Message, ToolCall

KEPT = 8
"""Calls that a later one may follow: of the loop the last, and a few that run side by side with it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The messages of one call, as given and as sent."""

    given: tuple[Message, ...]
    sent: tuple[Message, ...]
    new: int
    """Place of the first message that the call it follows did not have."""
    mark: int
    """Which secrets were masked (`redaction.mark`)."""
    answer: Message | None = None

    def answered(self, completion: Completion) -> Asked:
        """With the answer, which the call that follows begins with."""
        answer = Message("assistant", completion.text, completion.tool_calls)
        return Asked(self.given, self.sent, self.new, self.mark, answer)

    def to_keep(self, before: Asked | None) -> list[dict[str, Any]]:
        """The new messages as JSON. The answer of the call before is kept with that call."""
        new: Sequence[Message] = self.sent[self.new :]
        if before is not None and new and _same(new[0], before.answer):
            new = new[1:]
        return [message.to_dict() for message in new]


def asked(messages: tuple[Message, ...], before: Asked | None) -> Asked:
    """The messages masked; of those shared with the call before, only if secrets were learned since."""
    mark = redaction.mark()
    if before is None:
        return Asked(messages, tuple(map(masked, messages)), 0, mark)
    shared = _shared(before.given, messages)
    old = before.sent[:shared] if before.mark == mark else tuple(map(masked, messages[:shared]))
    return Asked(messages, (*old, *map(masked, messages[shared:])), shared, mark)


def continued(earlier: Iterable[Asked], messages: Sequence[Message]) -> Asked | None:
    """The newest call that these messages go on from: they begin as it did, and then comes its answer."""
    for before in reversed(list(earlier)):
        place = _shared(before.given, messages)
        if 0 < place < len(messages) and _same(messages[place], before.answer):
            return before
    return None


def masked(message: Message) -> Message:
    """Without the run's secrets: results that a prompt quotes are not yet masked as the journal's are.

    The message itself where it holds none, which is nearly always.
    """
    content, name = redaction.redact(message.content), redaction.redact(message.name)
    calls = tuple(map(masked_call, message.tool_calls))
    if (content, name, calls) == (message.content, message.name, message.tool_calls):
        return message
    return replace(message, content=content, name=name, tool_calls=calls)


def masked_call(call: ToolCall) -> ToolCall:
    """The same for a call and its arguments."""
    name, arguments = redaction.redact(call.name), redaction.redact_json(call.arguments)
    if (name, arguments) == (call.name, call.arguments):
        return call
    return replace(call, name=name, arguments=arguments)


def _shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages both begin with, looked for from the end: only what was laid behind the history differs."""
    place = min(len(before), len(now))
    while place and before[place - 1] is not now[place - 1] and before[place - 1] != now[place - 1]:
        place -= 1
    return place


def _same(message: Message, answer: Message | None) -> bool:
    """The answer as it went into the history: ids may have been given to its calls, white space around it cut."""
    if answer is None or message.role != "assistant":
        return False
    return _gist(message) == _gist(answer)


def _gist(message: Message) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    return message.content.strip(), [(call.name, call.arguments) for call in message.tool_calls]
