"""The one flow in a model's answer: taken out of what stands around it, and never mended."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.planning.lines import after_thinking

MAX_TRIES: Final = 50
"""Braces that are tried as the beginning of an object: an answer has one, prose around it a few `${name}` more."""

_OBJECT: Final = re.compile(r"""\{\s*(?:["'“]|\w+["']?\s*:)""")
"""How an object begins, a badly written one too; `{name}` in prose is none."""
_decoder: Final = json.JSONDecoder()


def flow_in(answer: str) -> Any:
    """The JSON value of the flow in an answer: in a fenced block, with prose around it or behind thinking, as it comes.

    The value may be anything; whether it is a flow is `check_flow`'s answer.

    Raises:
        UnreadableInputError: there is no object, it is no JSON, it holds a key twice, or there are several flows.
    """
    text = after_thinking(answer).strip()
    if not text:
        raise UnreadableInputError("There is no flow in it.")
    if text[0] in "{[" and (whole := _value(text)) is not None:
        return whole[0]
    found = _objects(text)
    flows = [one for one in found if "steps" in one[1]] or found
    different = {json.dumps(value, sort_keys=True): written for written, value in flows}
    if len(different) > 1:
        raise UnreadableInputError(f"There are {len(different)} JSON objects in it, and one is wanted.")
    if different:
        return _read(next(iter(different.values())))
    raise UnreadableInputError("There is no JSON object in it.")


def _value(text: str) -> tuple[Any] | None:
    """The value when the whole text is one."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (_read(text),)


def _objects(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The outermost JSON objects of a text, as written and as read; an error where the first begins and is broken."""
    found: list[tuple[str, dict[str, Any]]] = []
    at = text.find("{")
    for _ in range(MAX_TRIES):
        if at < 0:
            break
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if _OBJECT.match(text, at):  # what stands inside it is no flow of its own
                if not found:
                    _read(text[at : text.rfind("}") + 1 or None])
                break
            at = text.find("{", at + 1)
            continue
        found.append((text[at:end], value))
        at = text.find("{", end)
    return found


def _read(text: str) -> Any:
    """The value, with the refusals that a person's file gets: doubled keys, NaN, halves of characters.

    Text that begins like JSON is read as nothing else, so there is no YAML here.
    """
    from surefoot.flows.source import read_flow

    return read_flow(text, name="The JSON").value
