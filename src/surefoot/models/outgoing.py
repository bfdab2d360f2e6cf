"""What providers get, where they all want the same: mended history, tools, the schema of a choice."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from surefoot.errors import MalformedCallError
from surefoot.models.names import ToolNames
from surefoot.models.refusals import shorten
from surefoot.models.types import Message, Request, ToolCall, ToolSpec

CHOICE_KEY = "answer"
"""Where the chosen text stands in the object that a choice is asked for as: providers want an object at the top."""


def new_call_id() -> str:
    """An id for a call that came without one."""
    return f"call_{uuid.uuid4().hex[:16]}"


def read_arguments(raw: object, name: str) -> dict[str, Any]:
    """A call's arguments as an object, from an object or from JSON text; nothing at all means `{}`.

    Broken text is not mended: what was cut in the middle would become a call that nobody asked for.

    Raises:
        MalformedCallError: they are no object and no JSON text of one.
    """
    value = raw
    if isinstance(raw, str):
        if not raw.strip():
            return {}
        try:
            value = json.loads(raw, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise _malformed(name, raw) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _malformed(name, raw)
    return {str(key): item for key, item in value.items()}


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _malformed(name: str, raw: object) -> MalformedCallError:
    shown = shorten(raw if isinstance(raw, str) else repr(raw))
    return MalformedCallError(
        f"The model called {name!r} with arguments that are no JSON object: {shown}.",
        "No call of this answer is run. Ask again, or use another model.",
        tool=name,
        arguments=shown,
    )


def choice_schema(choices: Sequence[str]) -> dict[str, Any]:
    """The JSON schema that binds an answer to one of these texts."""
    return {
        "type": "object",
        "properties": {CHOICE_KEY: {"type": "string", "enum": list(choices)}},
        "required": [CHOICE_KEY],
        "additionalProperties": False,
    }


def tools_of(request: Request) -> tuple[ToolSpec, ...]:
    """The tools a provider without a grammar is shown: `only` narrows them."""
    return tuple(tool for tool in request.tools if request.only is None or tool.name in request.only)


def tool_json(tool: ToolSpec, names: ToolNames) -> dict[str, Any]:
    """A tool in the form that OpenAI defined and others took over."""
    return {
        "type": "function",
        "function": {
            "name": names.outward(tool.name),
            "description": tool.description,
            "parameters": _whole(tool.parameters),
        },
    }


def _whole(parameters: dict[str, Any]) -> dict[str, Any]:
    """OpenAI refuses an object that declares no properties; tools from elsewhere may leave them out."""
    if "properties" in parameters and "type" in parameters:
        return parameters
    return {"type": "object", "properties": {}, **parameters}


def names_in(request: Request) -> list[str]:
    """Every tool name a request speaks of, those of its history included."""
    called = [call.name for message in request.messages for call in message.tool_calls]
    answered = [message.name for message in request.messages if message.role == "tool" and message.name]
    return [*(tool.name for tool in request.tools), *called, *answered]


def mend_history(messages: Sequence[Message]) -> list[Message]:
    """The history as every provider takes it: arguments are objects, calls have ids, results name their call.

    A result without an id answers the first call of the turn before it that is still open, of its name where it has
    one.
    """
    mended: list[Message] = []
    open_calls: list[ToolCall] = []
    for message in messages:
        if message.role == "assistant":
            calls = tuple(_mended(call) for call in message.tool_calls)
            open_calls = list(calls)
            mended.append(replace(message, tool_calls=calls))
        elif message.role == "tool":
            call = _answered(message, open_calls)
            if call is not None:
                open_calls.remove(call)
            mended.append(
                replace(
                    message,
                    tool_call_id=message.tool_call_id or (call.id if call else new_call_id()),
                    name=message.name or (call.name if call else ""),
                )
            )
        else:
            mended.append(message)
    return mended


def _mended(call: ToolCall) -> ToolCall:
    return replace(call, id=call.id or new_call_id(), arguments=read_arguments(call.arguments, call.name))


def _answered(message: Message, open_calls: Sequence[ToolCall]) -> ToolCall | None:
    if message.tool_call_id:
        return next((call for call in open_calls if call.id == message.tool_call_id), None)
    return next((call for call in open_calls if message.name in {"", call.name}), None)
