"""What was said to models in a run and what they answered, as a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from surefoot.cli.out import Channel, Line, Piece
from surefoot.cli.sentences import call_words, value_words
from surefoot.cli.shown import cells, cut, folded, one_line, prose, visible
from surefoot.cli.texts import Texts

Said = Sequence[tuple[str, dict[str, Any]]]
"""As `Journal.run_messages` returns them: the key of the model call, and the message."""

SYSTEM_WIDTH = 160
"""Characters of a system text. It is the same in every run of a version and thousands of characters long."""

MARGIN = "  "
COLOURS = {"user": "cyan", "assistant": "green", "tool": "dim", "system": "dim"}


def as_json(said: Said) -> dict[str, Any]:
    """`{"messages": [{"call", "role", "content", ...}]}`, everything whole."""
    return {"messages": [{"call": key, **message} for key, message in said]}


def answers_only(said: Said) -> bool:
    """No model call has more than its answer: the run is older than the messages that are kept."""
    return all(len(list(group)) == 1 for _, group in groupby(said, key=lambda one: one[0]))


def shortened(said: Said) -> bool:
    """Something is left out when it is shown to a person."""
    return any(message["role"] == "system" and len(message["content"]) > SYSTEM_WIDTH for _, message in said)


def conversation_lines(channel: Channel, texts: Texts, said: Said) -> Iterator[Line]:
    """A heading for each model call; below it its messages, each beside who said it."""
    column = max(cells(texts(f"role.{role}")) for role in COLOURS) + 2
    for number, (key, group) in enumerate(groupby(said, key=lambda one: one[0])):
        if number:
            yield ""
        yield [(f"{MARGIN}{visible(key)}", "bold")]
        for _, message in group:
            yield from _message_lines(channel, texts, message, column)


def _message_lines(channel: Channel, texts: Texts, message: dict[str, Any], column: int) -> Iterator[Line]:
    role = str(message["role"])
    word = texts(f"role.{role}") if role in COLOURS else visible(role)
    before = f"{MARGIN}{MARGIN}{word}{' ' * (column - cells(word))}"
    hang = " " * cells(before)
    width = channel.width - len(hang) if channel.width else 0
    for number, text in enumerate(_words(texts, message, width)):
        piece: Piece = (before, COLOURS.get(role, "")) if number == 0 else (hang, "")
        yield [piece, (text, "")] if text else [(piece[0].rstrip(), piece[1])]


def _words(texts: Texts, message: dict[str, Any], width: int) -> list[str]:
    parts = [call_words(call["name"], call["arguments"]) for call in message.get("tool_calls", ())]
    content = _content(texts, message)
    if content or not parts:
        parts = [content or value_words(""), *parts]
    lines: list[str] = []
    for part in parts:
        lines += folded(part, width) if width else part.split("\n")
    return lines


def _content(texts: Texts, message: dict[str, Any]) -> str:
    text = str(message.get("content", ""))
    if message["role"] == "system" and len(text) > SYSTEM_WIDTH:
        short = cut(one_line(text), SYSTEM_WIDTH)
        return f"{short} {texts.count('show.characters', len(text))}"
    if message["role"] == "tool" and message.get("name"):
        return f"{visible(str(message['name']))}: {prose(text)}"
    return prose(text)
