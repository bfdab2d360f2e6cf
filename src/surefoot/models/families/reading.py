"""Reading calls out of an answer, whichever of the usual ways they were written in."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from surefoot.errors import MalformedCallError
from surefoot.models.families import Reading
from surefoot.models.types import ToolCall

SHOWN = 200
"""Characters of a broken call in an error: enough to recognise it."""

_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(\w*)[ \t]*\n?(.*?)(?:^[ \t]*```[ \t]*$|```[ \t]*\Z|\Z)", re.MULTILINE | re.DOTALL
)
_TAG = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_CALL_LIKE = re.compile(r'^\s*\[?\s*\{\s*"(?:name|function|arguments)"\s*:')


def read_answer(text: str) -> Reading:
    """Prose and calls of an answer: calls in tags, in a fenced JSON block, or bare.

    Only what follows the last `</think>` counts. Tags win over fences and fences over bare JSON; behind the first
    fenced block of calls nothing else is read. JSON that is no call stays prose.

    Raises:
        MalformedCallError: something that begins like a call cannot be read as one.
    """
    body = text.rpartition("</think>")[2]
    tags = list(_TAG.finditer(body))
    if tags:
        calls = [call for tag in tags for call in _calls(tag[1], sure=True)]
        return Reading(_without(body, tags[0].start(), tags[-1].end()), tuple(calls))
    for fence in _FENCE.finditer(body):
        if fence[1].lower() in {"", "json"}:
            calls = _calls(fence[2], sure=False)
            if calls:
                return Reading(body[: fence.start()].strip(), tuple(calls))
    bare = body.strip()
    calls = _calls(bare, sure=False) if bare[:1] in {"{", "["} else []
    return Reading("" if calls else bare, tuple(calls))


def _without(body: str, start: int, end: int) -> str:
    return "\n".join(part for part in (body[:start].strip(), body[end:].strip()) if part)


def _calls(source: str, *, sure: bool) -> list[ToolCall]:
    """The calls of one block; none where it is JSON of another kind, unless a call is `sure`."""
    values = _values(source)
    if values is None:
        if sure or _CALL_LIKE.match(source):
            raise _malformed(source, "it is no whole JSON")
        return []
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    named = [_named(one) for one in flat]
    if all(one is None for one in named):
        if sure:
            raise _malformed(source, "it names no tool")
        return []
    if any(one is None for one in named):
        raise _malformed(source, "one of its parts names no tool")
    return [_call(one, source) for one in named if one is not None]


def _values(source: str) -> list[Any] | None:
    """The JSON values of a block, one after another as some models write them; None: not JSON."""
    decoder, values, at = json.JSONDecoder(strict=False), [], 0
    source = source.strip()
    while at < len(source):
        try:
            value, at = decoder.raw_decode(source, at)
        except (json.JSONDecodeError, RecursionError):
            return None
        values.append(value)
        at += len(source[at:]) - len(source[at:].lstrip(" \t\r\n,;"))
    return values or None


def _named(value: Any) -> dict[str, Any] | None:
    """The object that holds name and arguments, in the plain or the `{"function": …}` spelling."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    return value if {"arguments", "parameters"} & set(value) or set(value) == {"name"} else None


def _call(named: dict[str, Any], source: str) -> ToolCall:
    arguments = named.get("arguments", named.get("parameters"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False) if arguments.strip() else {}
        except (json.JSONDecodeError, RecursionError) as error:
            raise _malformed(source, "its arguments are no whole JSON") from error
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise _malformed(source, f"its arguments are {arguments!r} and no object")
    return ToolCall(new_call_id(), named["name"], arguments)


def new_call_id() -> str:
    """An id for a call whose provider gives none."""
    return f"call_{secrets.token_hex(6)}"


def _malformed(source: str, why: str) -> MalformedCallError:
    shown = source.strip()[:SHOWN]
    return MalformedCallError(
        f"The model wrote a tool call that cannot be read, {why}: {shown!r}.", "Ask again.", text=shown
    )
