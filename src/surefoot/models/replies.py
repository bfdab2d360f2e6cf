"""From what a provider sent to an answer that may be used: calls are gathered and read, bad endings become errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.errors import (
    ContentFilterError,
    EmptyReplyError,
    MalformedCallError,
    OutputCutError,
    ProviderUnavailableError,
    ReplyError,
)
from surefoot.models.names import ToolNames
from surefoot.models.outgoing import CHOICE_KEY, new_call_id, read_arguments
from surefoot.models.refusals import shorten
from surefoot.models.types import Completion, FinishReason, Request, ToolCall, Usage


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    text: str = ""
    value: Any = None
    indexes: set[int] = field(default_factory=set)

    def take(self, name: str, arguments: object) -> None:
        if name and name != self.name:
            self.name += name
        if isinstance(arguments, str):
            self.text += arguments
        elif arguments is not None:
            self.value = arguments

    @property
    def whole(self) -> bool:
        """Its arguments are complete: what follows under the same index is another call."""
        if self.value is not None:
            return True
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return True


class CallGatherer:
    """Joins the pieces of streamed tool calls.

    An id that is known wins over the index; a new id begins a new call, whatever the index says. Without an id the
    index decides, and where it is new, a piece with a name begins a call and a piece without continues the last one.
    """

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, *, call_id: str, index: int | None, name: str, arguments: object) -> None:
        """One piece. Empty id, name and arguments mean that the piece does not have them."""
        call = self._find(call_id, index, name) or self._begin(call_id)
        if index is not None:
            for other in self._calls:
                other.indexes.discard(index)
            call.indexes.add(index)
        if call_id and not call.id:
            call.id = call_id
        call.take(name, arguments)

    def add_whole(self, *, call_id: str, name: str, arguments: object) -> None:
        """One call that came in one piece. An id that another call of this answer has is not taken again."""
        taken = any(call.id == call_id for call in self._calls)
        self._begin("" if taken else call_id).take(name, arguments)

    def calls(self, names: ToolNames) -> tuple[ToolCall, ...]:
        """The whole calls, ids made where there are none.

        Raises:
            MalformedCallError: one of them cannot be read; none of them may be run.
        """
        found = []
        for call in self._calls:
            if not call.name:
                raise MalformedCallError(
                    f"The model wrote a call without a name, with arguments {shorten(call.text)!r}.",
                    "No call of this answer is run. Ask again, or use another model.",
                )
            name = names.inward(call.name)
            raw = call.text if call.value is None else call.value
            found.append(ToolCall(call.id or new_call_id(), name, read_arguments(raw, name)))
        return tuple(found)

    def _find(self, call_id: str, index: int | None, name: str) -> _OpenCall | None:
        if call_id:
            known = next((call for call in self._calls if call.id == call_id), None)
            return known or self._at(index, name, without_id=True)
        found = self._at(index, name)
        if found or name or any(index in call.indexes for call in self._calls):
            return found
        return self._calls[-1] if self._calls else None

    def _at(self, index: int | None, name: str, *, without_id: bool = False) -> _OpenCall | None:
        """The call at this index, unless a name behind complete arguments says that the next one begins.

        `without_id`: only one that has no id yet, for some servers send the id after the first piece.
        """
        call = next((call for call in self._calls if index in call.indexes), None)
        if call is None or (without_id and call.id) or (name and call.name and call.whole):
            return None
        return call

    def _begin(self, call_id: str) -> _OpenCall:
        call = _OpenCall(id=call_id)
        self._calls.append(call)
        return call


@dataclass(slots=True)
class Gathered:
    """What one attempt has gathered so far."""

    text: list[str] = field(default_factory=list)
    calls: CallGatherer = field(default_factory=CallGatherer)
    reason: FinishReason | None = None
    usage: Usage = Usage()
    model: str = ""


def finish(gathered: Gathered, request: Request, names: ToolNames, model: str, seconds: float) -> Completion:
    """The whole answer, where it may be used.

    Raises:
        ContentFilterError: the provider's filter stopped it, whatever came before.
        OutputCutError: it was cut while calling tools, while choosing, or before its first word.
        MalformedCallError: a call cannot be read.
        EmptyReplyError: there is nothing in it.
        ReplyError: it is prose where a call was required, or none of the choices.
        ProviderUnavailableError: it ended with an error.
    """
    text = "".join(gathered.text)
    _check_ending(gathered, request, model, text)
    calls = gathered.calls.calls(names)
    if not calls and not text.strip():
        raise EmptyReplyError(
            f"{model} answered with nothing.", "Ask again, or use another model.", model=model
        )
    if not calls and request.tools and request.tool_choice.mode == "required":
        raise ReplyError(
            f"{model} answered with prose where a tool call was required: {shorten(text)}",
            "Ask again, or use a model that holds to `tool_choice`.",
            model=model,
        )
    reason = FinishReason.TOOL_CALLS if calls else gathered.reason or FinishReason.STOP
    usage = replace(gathered.usage, seconds=seconds)
    if request.choices:
        text = read_choice(text, request.choices, model)
    return Completion(text, calls, reason, usage, gathered.model or model)


def _check_ending(gathered: Gathered, request: Request, model: str, text: str) -> None:
    if gathered.reason is FinishReason.CONTENT_FILTER:
        raise ContentFilterError(
            f"The provider's filter stopped the answer of {model} after {len(text)} characters.",
            "Word the request differently, or use another model.",
            model=model,
        )
    if gathered.reason is FinishReason.ERROR:
        raise ProviderUnavailableError(
            f"{model} ended its answer with an error.", "Try again in a moment.", model=model, passing=True
        )
    if gathered.reason is not FinishReason.LENGTH:
        return
    wanted = bool(request.tools) and request.tool_choice.mode == "required"
    cut = (
        "a tool call"
        if gathered.calls or wanted
        else "a choice"
        if request.choices
        else ""
        if text.strip()
        else "the answer"
    )
    if cut:
        raise OutputCutError(
            f"{model} was cut at the output limit (at most {request.max_tokens} tokens) in the middle of {cut}; "
            "nothing of it is used.",
            "Raise `max_tokens`, or ask for less at once.",
            model=model,
            max_tokens=request.max_tokens,
        )


def read_choice(text: str, choices: Sequence[str], model: str) -> str:
    """The chosen text out of the object that `choice_schema` asked for.

    Raises:
        ReplyError: it is none of them.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text.strip()
    chosen = value.get(CHOICE_KEY) if isinstance(value, dict) else value
    if isinstance(chosen, str) and chosen in choices:
        return chosen
    raise ReplyError(
        f"{model} was to answer with one of {', '.join(map(repr, choices))} and answered {shorten(text)!r}.",
        "Ask again, or use a model that holds to a schema.",
        model=model,
    )
