"""Messages, tools and answers in the form of Gemini's `generateContent`, there and back. No network, no SDK.

Everything here is the JSON that Google publishes: `contents` with `parts`, `functionCall` and `functionResponse`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.errors import (
    ContentFilterError,
    MalformedCallError,
    MisuseError,
    ProviderRequestError,
    ProviderUnavailableError,
)
from surefoot.models.gemini_schema import parameters_form, schema_form
from surefoot.models.names import LIMIT, ToolNames
from surefoot.models.outgoing import choice_schema, names_in
from surefoot.models.refusals import shorten
from surefoot.models.replies import Gathered, finish
from surefoot.models.types import Completion, FinishReason, Message, Request, ToolCall, ToolSpec, Usage

Json = dict[str, Any]

SIGNATURE = "thought_signature"
"""Where `ToolCall.extra` keeps the signature of the thoughts before a call, in base64. It must come back with the
history: Gemini 3 refuses a call without it."""

NO_SIGNATURE = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""Base64 of `skip_thought_signature_validator`, which Google documents for calls that another model made."""

REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "CONTINUATION": FinishReason.LENGTH,
}
"""`finishReason` to ours, where the answer may be used or is only cut."""

FILTERS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "MODEL_ARMOR",
    }
)
"""Endings by which a filter took the answer away, whatever came before."""

MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
"""Endings by which a call cannot be read, or is of a tool that is not there."""


class GeminiNames(ToolNames):
    """Tool names as Gemini allows them: as elsewhere, and they begin with a letter or an underscore."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        taken = set(self._outward.values())
        for name in sorted(name for name, outward in self._outward.items() if not _may_begin(outward)):
            self._outward[name] = _begun(self._outward[name], taken)
            taken.add(self._outward[name])
        self._inward = {outward: name for name, outward in self._outward.items()}

    def outward(self, name: str) -> str:
        """The name as Gemini gets it."""
        outward = super().outward(name)
        return outward if _may_begin(outward) else _begun(outward, set())


def _may_begin(name: str) -> bool:
    return name[:1].isalpha() or name[:1] == "_"


def _begun(name: str, taken: set[str]) -> str:
    tries = (
        f"_{name[: LIMIT - 1 - len(mark)]}{mark}" for mark in ("", *(f"_{n}" for n in range(len(taken))))
    )
    return next(outward for outward in tries if outward not in taken)


@dataclass(slots=True)
class Answer:
    """What has come of one answer: the usual gathering, and what a call must come back with."""

    gathered: Gathered = field(default_factory=Gathered)
    extras: list[Json] = field(default_factory=list)

    def completion(self, request: Request, names: ToolNames, model: str, seconds: float) -> Completion:
        """The whole answer, where it may be used; see `replies.finish` for what may not."""
        found = finish(self.gathered, request, names, model, seconds)
        pairs = zip(found.tool_calls, self.extras, strict=True)
        return replace(found, tool_calls=tuple(replace(call, extra=extra) for call, extra in pairs))

    def take(self, chunk: Mapping[str, Any], model: str) -> str:
        """Put one `GenerateContentResponse` to the rest; the text it adds.

        Raises:
            ContentFilterError: the prompt or the answer was blocked.
            MalformedCallError: the model wrote a call that cannot be read.
            ProviderRequestError: the history lacks a signature.
            ProviderUnavailableError: it ended for a reason that another attempt may not meet.
        """
        _check_prompt(chunk.get("promptFeedback") or {}, model)
        if chunk.get("usageMetadata"):
            self.gathered.usage = read_usage(chunk["usageMetadata"])
        self.gathered.model = self.gathered.model or str(chunk.get("modelVersion") or "")
        candidates = chunk.get("candidates") or [{}]
        text = "".join(map(self._part, (candidates[0].get("content") or {}).get("parts") or ()))
        self.gathered.text.append(text)
        reason = candidates[0].get("finishReason")
        if reason:
            message = shorten(str(candidates[0].get("finishMessage") or ""))
            self.gathered.reason = read_reason(str(reason).upper(), message, model)
        return text

    def _part(self, part: Mapping[str, Any]) -> str:
        """One part; the text it is. What the model thinks is no text of its answer."""
        call = part.get("functionCall")
        if call is not None:
            self.gathered.calls.add_whole(
                call_id=str(call.get("id") or ""),
                name=str(call.get("name") or ""),
                arguments=call.get("args"),
            )
            signature = part.get("thoughtSignature")
            self.extras.append({SIGNATURE: signature} if signature else {})
        return "" if part.get("thought") else str(part.get("text") or "")


def read_reason(reason: str, message: str, model: str) -> FinishReason:
    """Our reason for one of theirs. `message` is what the provider adds to it, possibly nothing.

    Raises:
        ReplyError: a filter, or a call that cannot be read.
        ProviderRequestError: a signature is missing.
        ProviderUnavailableError: anything else, a reason that is new included: such an answer may not be used.
    """
    if reason in REASONS:
        return REASONS[reason]
    said = f"{model} ended its answer with {reason}" + (f": {message}" if message else "")
    said = said if said.endswith(".") else f"{said}."
    details = {"model": model, "reason": reason}
    if reason in FILTERS:
        raise ContentFilterError(said, "Word the request differently, or use another model.", **details)
    if reason in MALFORMED:
        raise MalformedCallError(
            said, "No call of this answer is run. Ask again, or use another model.", **details
        )
    if reason == "MISSING_THOUGHT_SIGNATURE":
        raise ProviderRequestError(said, "The history was made by another model; begin anew.", **details)
    raise ProviderUnavailableError(said, "Try again in a moment.", passing=True, **details)


def _check_prompt(feedback: Mapping[str, Any], model: str) -> None:
    reason = feedback.get("blockReason")
    if reason:
        message = shorten(str(feedback.get("blockReasonMessage") or ""))
        raise ContentFilterError(
            f"{model} did not take the prompt: {reason}" + (f", {message}" if message else "") + ".",
            "Word the request differently, or use another model.",
            model=model,
            reason=str(reason),
        )


def read_usage(data: Mapping[str, Any]) -> Usage:
    """`usageMetadata` as ours: what was thought is output that is paid for; what a cache held is part of the prompt."""
    count = {key: value for key, value in data.items() if isinstance(value, int)}
    return Usage(
        count.get("promptTokenCount", 0) + count.get("toolUsePromptTokenCount", 0),
        count.get("cachedContentTokenCount", 0),
        count.get("candidatesTokenCount", 0) + count.get("thoughtsTokenCount", 0),
    )


# --- outward -------------------------------------------------------------------------------------------------


def names_for(request: Request) -> GeminiNames:
    """The names of everything this request speaks of."""
    return GeminiNames(names_in(request))


def config_of(request: Request, names: ToolNames) -> Json:
    """`generationConfig`, `tools`, `toolConfig` and `systemInstruction` in one, as the SDK takes them."""
    config: Json = {"temperature": request.temperature, "maxOutputTokens": request.max_tokens}
    if request.stop:
        config["stopSequences"] = list(request.stop)
    schema = choice_schema(request.choices) if request.choices else request.json_schema
    if schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseSchema"] = schema_form(schema)
    elif request.tools:
        config["tools"] = [{"functionDeclarations": [declaration(tool, names) for tool in request.tools]}]
        config["toolConfig"] = {"functionCallingConfig": _calling(request, names)}
    elif request.json_object:
        config["responseMimeType"] = "application/json"
    system, _ = _split(request.messages)
    if system:
        config["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    return config


def declaration(tool: ToolSpec, names: ToolNames) -> Json:
    """A tool as a `FunctionDeclaration`."""
    found: Json = {"name": names.outward(tool.name), "description": tool.description}
    parameters = parameters_form(tool.parameters)
    return found if parameters is None else {**found, "parameters": parameters}


def _calling(request: Request, names: ToolNames) -> Json:
    choice = request.tool_choice
    if choice.name:
        return {"mode": "ANY", "allowedFunctionNames": [names.outward(choice.name)]}
    return {"mode": {"auto": "AUTO", "required": "ANY", "none": "NONE"}[choice.mode]}


def contents_of(messages: Sequence[Message], names: ToolNames, *, unsigned: bool = False) -> list[Json]:
    """The conversation as `contents`: turns of `user` and `model`, the results of a turn all in one behind it.

    `unsigned`: calls that come without a signature are marked as made by another model.

    Raises:
        MisuseError: there is nothing said in any of the messages.
    """
    _, rest = _split(messages)
    contents: list[Json] = []
    for turn in _turns(rest):
        speaker, behind = (turn[0], turn[1:]) if turn[0].role == "assistant" else (None, turn)
        calls = speaker.tool_calls if speaker else ()
        if speaker and (calls or speaker.content.strip()):
            contents.append({"role": "model", "parts": _model_parts(speaker, names, unsigned=unsigned)})
        if calls:
            contents.append({"role": "user", "parts": [_result(call, behind, names) for call in calls]})
        answered = {call.id for call in calls}
        for message in behind:
            if message.role == "tool" and message.tool_call_id in answered:
                continue
            _say(contents, message)
    if not contents:
        raise MisuseError("Nothing is said in any message of this request.", "Give one with text.")
    return contents


def _split(messages: Sequence[Message]) -> tuple[list[str], Sequence[Message]]:
    """The system messages at the beginning, and the rest; where there is no rest, they are what is said."""
    count = next((n for n, message in enumerate(messages) if message.role != "system"), len(messages))
    if count == len(messages):
        return [], messages
    return [message.content for message in messages[:count] if message.content.strip()], messages[count:]


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Cut in front of every message of the model."""
    turns: list[list[Message]] = []
    for message in messages:
        if not turns or message.role == "assistant":
            turns.append([])
        turns[-1].append(message)
    return turns


def _model_parts(message: Message, names: ToolNames, *, unsigned: bool) -> list[Json]:
    parts: list[Json] = [{"text": message.content}] if message.content.strip() else []
    calls = [_call(call, names) for call in message.tool_calls]
    if unsigned and calls and not any("thoughtSignature" in part for part in calls):
        calls[0]["thoughtSignature"] = NO_SIGNATURE  # of calls made side by side, only the first one has one
    return parts + calls


def _call(call: ToolCall, names: ToolNames) -> Json:
    part: Json = {
        "functionCall": {"id": call.id, "name": names.outward(call.name), "args": call.arguments},
    }
    if call.extra.get(SIGNATURE):
        part["thoughtSignature"] = call.extra[SIGNATURE]
    return part


def _result(call: ToolCall, behind: Sequence[Message], names: ToolNames) -> Json:
    """The answer to one call. Gemini refuses a turn that answers fewer calls than it made."""
    found = next((one for one in behind if one.role == "tool" and one.tool_call_id == call.id), None)
    response = {"error": "There is no result."} if found is None else _response(found.content)
    return {"functionResponse": {"id": call.id, "name": names.outward(call.name), "response": response}}


def _response(content: str) -> Json:
    """A result as the object it must be; JSON text of an object goes out as that object."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) and value else {"output": content}


def _say(contents: list[Json], message: Message) -> None:
    """Put a person's text, a reminder, or the result of a call nobody knows behind the rest, as the user's."""
    if not message.content.strip():
        return
    text = (
        f"Result of {message.name or 'a tool'}: {message.content}"
        if message.role == "tool"
        else message.content
    )
    last = contents[-1] if contents else {}
    if last.get("role") == "user" and "text" in last["parts"][-1]:
        last["parts"].append({"text": text})
    else:
        contents.append({"role": "user", "parts": [{"text": text}]})
