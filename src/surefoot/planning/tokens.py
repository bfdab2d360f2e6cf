"""The tokenizer of call lines: `tool key='v' n=2` and `tool(key="v", n=2)`, values of any JSON or Python spelling.

It never guesses where a value ends. What cannot be read to its end is left over (`Call.rest`), and a call with
something left over is not run as it is. Unquoted scalars stay `Bare` until a schema says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from surefoot.planning.literals import Bare, unescaped, unwrapped

MAX_DEPTH: Final = 32
"""Nesting of lists and objects; deeper is left over, so that no text can exhaust the stack."""


@dataclass(frozen=True, slots=True)
class Call:
    """What one call line says.

    `pairs` are keys and values in order; the key of a positional value is None. `rest` is what could not be read,
    `unfinished` says that the text ended inside the call, `written` is the part of the line it was read from.
    """

    name: str
    pairs: tuple[tuple[str | None, Any], ...]
    rest: str = ""
    unfinished: bool = False
    written: str = ""

    @property
    def whole(self) -> bool:
        """Everything was read."""
        return not self.rest and not self.unfinished


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, *, unfinished: bool = False) -> None:
        self.unfinished = unfinished
        super().__init__()


_Context = Literal["keyword", "call", "list", "object", "alone"]

# Opening quotes and what may close them. Where both are the same, or the closing one is also an apostrophe, the text
# around it decides (`_apostrophe_quoted`); the other pairs may nest.
_DOUBLE: Final = {'"': '"', "＂": "＂", "`": "`"}
_APOSTROPHES: Final = {"'": "'", "＇": "＇", "‘": "’", "‚": "‘’", "’": "’"}
_PAIRS: Final = {
    "“": "”",
    "„": "“”",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
}
_OPENERS: Final = frozenset(_DOUBLE) | frozenset(_APOSTROPHES) | frozenset(_PAIRS)

_SPACE: Final = re.compile(r"\s*")
_KEY: Final = re.compile(r"([\w.$-]+|\"(?:[^\"\\]|\\.)*\")\s*(?:[=＝](?!=)|[:：](?=[\s\"'\[{\d]))\s*")
_COMMAS: Final = re.compile(r"[\s,，、;]*")
_COMMA: Final = re.compile(r"\s*[,，、]\s*")
_TAIL: Final = re.compile(r"\s*[.;,。；，]*\s*\Z")
_QUOTED: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ANGLE: Final = re.compile(r"<[^<>\n]{1,200}>")
_BARE: Final = {
    "keyword": re.compile(r"[^\s\"'\[\]{},;<>]+"),
    "call": re.compile(r"[^\s\"'\[\]{}(),;<>]+"),
    "list": re.compile(r"[^\s\"'\[\]{}(),;<>]+"),
    "object": re.compile(r"[^\s\"'\[\]{}(),;<>]+"),
    "alone": re.compile(r"[^\s\"'\[\]{}(),;<>]+"),
}
# What must follow an apostrophe for it to close the value, by where the value stands.
_KEY_AHEAD: Final = r"(?:[\w.$-]+|\"[^\"]*\")\s*[=＝:：]"
_CLOSES: Final = {
    "keyword": re.compile(rf"\s*(?:[.;,。]*\s*\Z|[\s,，;]\s*{_KEY_AHEAD})"),
    "call": re.compile(
        rf"\s*(?:[)）]\s*(?:[\].;,。\s]*\Z|[,;]\s*[\w.-]+\s*\()|[,，]\s*(?:{_KEY_AHEAD}|[)）]|[\"'‘“\[{{\d]))"
    ),
    "list": re.compile(
        r"\s*(?:[\])]|[,，、]\s*(?:[\"'‘“\[{\d<\])-]|(?:true|false|null|none)\b))", re.IGNORECASE
    ),
    "object": re.compile(r"\s*(?:\}|[:：]|[,，]\s*(?:[\"'‘“}]|[\w.$-]+\s*[:：]))"),
    "alone": re.compile(r"\s*\Z"),
}


def read_call(
    text: str, start: int, name: str, after_name: int, next_name: Callable[[str, int], bool]
) -> tuple[Call, int]:
    """The call at `start`, whose name ends at `after_name`, and where it ended.

    Args:
        text: the whole line.
        start: where the name begins.
        name: the known name that was found there.
        after_name: index behind the name.
        next_name: says whether a known name with an opening parenthesis stands at an index (several calls in a line).
    """
    at = _skip(text, after_name)
    if text.startswith("(", at) or text.startswith("（", at):
        pairs, rest, unfinished, end = _inside_parentheses(text, at + 1, next_name)
    else:
        pairs, rest, unfinished, end = _keywords(text, after_name)
    return Call(name, tuple(pairs), rest, unfinished, text[start:end].strip()), end


def read_value(text: str, start: int = 0) -> tuple[Any, int] | None:
    """The JSON or Python value at `start` and where it ended; None when there is none that can be read.

    Unquoted scalars come as plain values, since no schema is known here.
    """
    try:
        value, end = _value(text, _skip(text, start), "alone", 0)
    except _Unreadable:
        return None
    return unwrapped(value), end


_Read = tuple[list[tuple[str | None, Any]], str, bool, int]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _keywords(text: str, at: int) -> _Read:
    """Pairs of the keyword spelling: `key='v' n=2`, commas between them tolerated."""
    pairs: list[tuple[str | None, Any]] = []
    at = _optional_colon(text, at)
    while True:
        at = _separators(text, at)
        if _TAIL.match(text, at):
            return pairs, "", False, len(text)
        try:
            pair, end = _pair(text, at, "keyword")
        except _Unreadable as error:
            return pairs, text[at:], error.unfinished, len(text)
        if end < len(text) and not (text[end].isspace() or text[end] in ",，;.。；"):
            return pairs, text[at:], False, len(text)
        pairs.append(pair)
        at = end


def _separators(text: str, at: int) -> int:
    found = _COMMAS.match(text, at)
    return found.end() if found else at


def _optional_colon(text: str, at: int) -> int:
    """`webSearch: query='x'`: the colon behind a name means nothing."""
    behind = _skip(text, at)
    return behind + 1 if text.startswith((":", "："), behind) else at


def _inside_parentheses(text: str, at: int, next_name: Callable[[str, int], bool]) -> _Read:
    """Pairs of the call spelling up to its `)`, and what stands behind that."""
    pairs: list[tuple[str | None, Any]] = []
    while True:
        at = _separators(text, at)
        if at >= len(text):
            return pairs, "", True, len(text)
        if text[at] in ")）":
            return _behind_call(text, at + 1, pairs, next_name)
        try:
            pair, end = _pair(text, at, "call")
        except _Unreadable as error:
            return pairs, text[at:], error.unfinished, len(text)
        pairs.append(pair)
        behind = _skip(text, end)
        if behind < len(text) and text[behind] not in ",，、;)）":
            return pairs, text[behind:], False, len(text)
        at = end


def _behind_call(
    text: str, at: int, pairs: list[tuple[str | None, Any]], next_name: Callable[[str, int], bool]
) -> _Read:
    """Nothing may stand behind a call but punctuation, or the next call."""
    if _TAIL.match(text, at):
        return pairs, "", False, len(text)
    following = _separators(text, at)
    if following > at and next_name(text, following):
        return pairs, "", False, at
    return pairs, text[at:].strip(), False, len(text)


def _pair(text: str, at: int, context: _Context) -> tuple[tuple[str | None, Any], int]:
    """`key=value`, or a value alone (its key is None)."""
    found = _KEY.match(text, at)
    if found:
        value, end = _value(text, found.end(), context, 0)
        return (_key_text(found.group(1)), value), end
    if text[at] in _OPENERS or text[at] in "[{<" or (context == "call" and text[at] != ")"):
        value, end = _value(text, at, context, 0)
        return (None, value), end
    raise _Unreadable


def _key_text(written: str) -> str:
    return unescaped(written[1:-1]) if written.startswith('"') else written


def _value(text: str, at: int, context: _Context, depth: int) -> tuple[Any, int]:
    if at >= len(text):
        raise _Unreadable(unfinished=True)
    if depth > MAX_DEPTH:
        raise _Unreadable
    mark = text[at]
    if mark in _OPENERS:
        return _quoted(text, at, context)
    if mark == "[" or (mark == "(" and context != "keyword"):
        return _list(text, at, depth)
    if mark == "{":
        return _object(text, at, depth)
    if mark == "<":
        return _angle(text, at)
    found = _BARE[context].match(text, at)
    if not found:
        raise _Unreadable
    return _bare(found.group(), found.end(), text)


def _bare(written: str, end: int, text: str) -> tuple[Bare, int]:
    """An unquoted scalar; a full stop that ends the line is no part of a number."""
    if end == len(text) and written.endswith(".") and written[:-1].isdigit():
        return Bare(written[:-1]), end - 1
    return Bare(written), end


def _angle(text: str, at: int) -> tuple[str, int]:
    """`<what it is, from step 1>` without quotes."""
    found = _ANGLE.match(text, at)
    if not found:
        raise _Unreadable
    return found.group(), found.end()


def _quoted(text: str, at: int, context: _Context) -> tuple[str, int]:
    mark = text[at]
    if mark == '"':
        found = _QUOTED.match(text, at)
        if not found:
            raise _Unreadable(unfinished=True)
        return unescaped(found.group(1)), found.end()
    if mark in _APOSTROPHES:
        return _apostrophe_quoted(text, at, context)
    if mark in _DOUBLE:
        end = text.find(mark, at + 1)
        if end < 0:
            raise _Unreadable(unfinished=True)
        return text[at + 1 : end], end + 1
    return _paired(text, at)


def _paired(text: str, at: int) -> tuple[str, int]:
    """A value in quotes that open and close differently; they may nest."""
    opener, closers, depth = text[at], _PAIRS[text[at]], 0
    for index in range(at, len(text)):
        mark = text[index]
        if mark in closers and (index > at or mark != opener):
            depth -= 1
            if depth == 0:
                return text[at + 1 : index], index + 1
        elif mark == opener:
            depth += 1
    raise _Unreadable(unfinished=True)


def _apostrophe_quoted(text: str, at: int, context: _Context) -> tuple[str, int]:
    """A value in single quotes, where the same sign is also an apostrophe.

    It ends at the first sign that something follows which may follow a value here. Signs inside that look like the
    end of one quotation and the start of another (`'a' and 'b'`) make it unreadable instead of half a value.
    """
    closers, closes = _APOSTROPHES[text[at]], _CLOSES[context]
    index, end_seen = at + 1, False
    while index < len(text):
        mark = text[index]
        if mark == "\\" and text[at] == "'":
            index += 2
            continue
        if mark in closers:
            if closes.match(text, index + 1):
                return _apostrophe_value(text, at, index), index + 1
            inside_word = _is_word(text, index - 1) and _is_word(text, index + 1)
            starts_word = not inside_word and _is_word(text, index + 1) and not _is_word(text, index - 1)
            if starts_word and end_seen:
                raise _Unreadable
            end_seen = end_seen or not (inside_word or starts_word)
        index += 1
    raise _Unreadable(unfinished=True)


def _apostrophe_value(text: str, at: int, end: int) -> str:
    inner = text[at + 1 : end]
    return unescaped(inner) if text[at] == "'" else inner


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum()


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    closer = "]" if text[at] == "[" else ")"
    items: list[Any] = []
    at = _skip(text, at + 1)
    while True:
        if at >= len(text):
            raise _Unreadable(unfinished=True)
        if text[at] == closer:
            return items, at + 1
        value, at = _value(text, at, "list", depth + 1)
        items.append(value)
        at = _next_item(text, at, closer)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while True:
        if at >= len(text):
            raise _Unreadable(unfinished=True)
        if text[at] == "}":
            return members, at + 1
        key, at = _member_key(text, at)
        value, at = _value(text, at, "object", depth + 1)
        members[key] = value
        at = _next_item(text, at, "}")


def _member_key(text: str, at: int) -> tuple[str, int]:
    if text[at] in _OPENERS:
        key, at = _quoted(text, at, "object")
    else:
        found = re.compile(r"[\w.$-]+").match(text, at)
        if not found:
            raise _Unreadable
        key, at = found.group(), found.end()
    at = _skip(text, at)
    if at >= len(text):
        raise _Unreadable(unfinished=True)
    if text[at] not in ":：=":
        raise _Unreadable
    return key, _skip(text, at + 1)


def _next_item(text: str, at: int, closer: str) -> int:
    """Behind the comma, or at the closing bracket."""
    found = _COMMA.match(text, at)
    if found:
        return found.end()
    at = _skip(text, at)
    if at >= len(text):
        raise _Unreadable(unfinished=True)
    if text[at] != closer:
        raise _Unreadable
    return at
