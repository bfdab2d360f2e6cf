"""Chat completions in the form OpenAI defined, streamed: llama.cpp's server, vLLM, LM Studio, OpenAI and others.

What the servers differ in is found out and not guessed: `/models` and `/props` say what a model can do, and an optional
field that a server refuses is left out from then on.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from surefoot.errors import (
    ContentFilterError,
    ModelNotFoundError,
    ProviderAuthError,
    ProviderError,
    ProviderRequestError,
)
from surefoot.models.checks import check_fits
from surefoot.models.http import Deadline, ProviderClient, sse_data
from surefoot.models.listings import Prices, find_entry, read_amount, read_entry, read_own_list, read_props
from surefoot.models.names import ToolNames
from surefoot.models.outgoing import choice_schema, mend_history, names_in, tool_json, tools_of
from surefoot.models.refusals import read_object, shorten
from surefoot.models.replies import Gathered, finish
from surefoot.models.routes import Route
from surefoot.models.streamed import Pieces, StreamedModel, adapting
from surefoot.models.types import Capabilities, FinishReason, Message, Piece, Request, ToolCall, Usage

HOSTED_SECONDS = 120.0
"""Time-out of a hosted model where a request names none: reasoning models take a minute before the first word."""

FORBIDDEN = 403
"""A good key that may not do this; a bad one is 401."""

DONE = "[DONE]"
"""The last event of a stream, as OpenAI defined it; some servers leave it out."""

REASONS = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
    "recitation": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,
}
"""`finish_reason` to ours, in lower case; the first of each are OpenAI's, the others what servers send instead."""

OPTIONAL = (
    "stream_options",
    "parallel_tool_calls",
    "temperature",
    "max_tokens",
    "reasoning_effort",
    "reasoning",
)
"""Fields a server may refuse: left out from then on, `max_tokens` sent as `max_completion_tokens` instead."""

ANY_OBJECT = "response_format"
"""The same holds for it where it asks for any object; one that brings a schema is never left out in silence."""

PLAIN = Route("openai", "An OpenAI-compatible server", "")
"""The route of a model that was made without one: nothing but the form itself is known of its server."""


class OpenAICompatibleModel(StreamedModel):
    """One model behind a server that speaks chat completions.

    Args:
        model: its name there.
        client: the edge to the server.
        route: what is known of the server; its name is the provider's.
        prefix: path in front of `/chat/completions` and `/models` (`/v1`).
        default_seconds: time-out where a request names none.
    """

    def __init__(
        self,
        model: str,
        client: ProviderClient,
        *,
        route: Route = PLAIN,
        prefix: str = "/v1",
        default_seconds: float = HOSTED_SECONDS,
    ) -> None:
        super().__init__(f"{route.name}:{model}", client, default_seconds)
        self._model = model
        self._route = route
        self._prefix = prefix
        self._prices: Prices | None = None
        self._refused: set[str] = set()

    async def models(self) -> list[str]:
        """The names of the models the server lists."""
        listed = await self._listed(self._client.deadline(self._default_seconds))
        return [str(entry.get("id")) for entry in listed]

    async def warm(self, request: Request, key: str) -> None:
        """Nothing: these servers keep their own prefixes, and a hosted one would charge for it."""

    async def _ask_capabilities(self, deadline: Deadline) -> Capabilities:
        """What `/models` says of this model. Where a server lists nothing, what the form itself defines holds."""
        listed = await self._listed_if_any(deadline)
        entry = find_entry(listed, self._model)
        found = read_entry(entry, local=self._route.local)
        self._prices = found.prices
        self._refused |= found.left_out
        able = await self._own_facts(found.capabilities, deadline)
        if (entry or (listed[0] if len(listed) == 1 else {})).get("owned_by") == "llamacpp":
            able = read_props(await self._asked("/props", deadline), able)
        return able

    async def _listed_if_any(self, deadline: Deadline) -> list[dict[str, Any]]:
        try:
            return await self._listed(deadline)
        except ProviderRequestError:
            return []  # no such path: many gateways have none
        except ProviderAuthError as error:
            if error.details.get("status") != FORBIDDEN:
                raise
            return []  # a key that may ask models and not list them

    async def _own_facts(self, known: Capabilities, deadline: Deadline) -> Capabilities:
        """What the server's own list says, from the first of its paths that is there."""
        for path in self._route.facts:
            found = read_own_list(await self._asked(path, deadline), self._model, known)
            if found is not None:
                return found
        return known

    async def _listed(self, deadline: Deadline) -> list[dict[str, Any]]:
        data = await self._client.json("GET", f"{self._prefix}/models", deadline=deadline)
        entries = data.get("data") if isinstance(data, dict) else data
        return (
            [entry for entry in entries or () if isinstance(entry, dict)] if isinstance(entries, list) else []
        )

    async def _asked(self, path: str, deadline: Deadline) -> Any:
        """What a path of the server's own says; None where there is no such path."""
        try:
            return await self._client.json("GET", path, deadline=deadline)
        except (ProviderRequestError, ModelNotFoundError):
            return None

    async def _attempt(self, request: Request, deadline: Deadline) -> Pieces:
        def once() -> Pieces:
            return self._once(request, deadline)

        try:
            async with aclosing(adapting(once, partial(self._adapts, request))) as pieces:
                async for piece in pieces:
                    yield piece
        except ModelNotFoundError as error:
            raise await self._not_found(error, deadline) from error

    def _adapts(self, request: Request, error: ProviderRequestError) -> bool:
        """The server refused an optional field that was sent; it is left out from now on."""
        for name in (*OPTIONAL, ANY_OBJECT) if _wants_any_object(request) else OPTIONAL:
            named = error.details.get("param") == name or name in error.message
            if named and name not in self._refused:
                self._refused.add(name)
                return True
        return False

    async def _not_found(self, error: ModelNotFoundError, deadline: Deadline) -> ModelNotFoundError:
        try:
            names = [str(entry.get("id")) for entry in await self._listed(deadline)]
        except ProviderError:
            return error
        return ModelNotFoundError(
            f'{self._client.provider} has no model "{self._model}".',
            f"It has: {', '.join(names)}." if names else "It lists no models.",
            model=self._model,
            models=names,
        )

    async def _once(self, request: Request, deadline: Deadline) -> Pieces:
        start = deadline.spent()
        sent = replace(request, messages=tuple(mend_history(request.messages)), tools=tools_of(request))
        check_fits(sent, self._capabilities.context_length if self._capabilities else 0, self._name)
        names = ToolNames(names_in(sent))
        gathered = Gathered()
        done = False
        async with aclosing(self._events(self._body(sent, names), deadline)) as events:
            async for event in events:
                done = event == DONE
                if done:
                    break
                text = _take(read_object(self._client.provider, event), gathered, self._name)
                if text and not request.choices:
                    yield Piece(text)
        if gathered.reason is None and not done:
            raise self._dropped()
        if gathered.usage.cost is None and self._prices is not None:
            gathered.usage = replace(gathered.usage, cost=self._prices.cost(gathered.usage))
        yield Piece(completion=finish(gathered, request, names, self._name, deadline.spent() - start))

    async def _events(self, body: dict[str, Any], deadline: Deadline) -> AsyncGenerator[str, None]:
        path = f"{self._prefix}/chat/completions"
        async with aclosing(self._client.lines(path, body, deadline)) as lines:
            async for data in sse_data(lines):
                if data.strip():
                    yield data.strip()

    def _body(self, request: Request, names: ToolNames) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message, names) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if request.grammar is not None:
            body["grammar"] = request.grammar
        schema = choice_schema(request.choices) if request.choices else request.json_schema
        if schema is not None:
            body["response_format"] = _response_format(schema)
        elif _wants_any_object(request) and ANY_OBJECT not in self._refused:
            body["response_format"] = {"type": "json_object"}
        if request.effort:
            body |= self._route.effort_fields(request.effort)
        if request.tools:
            body.update(_tools(request, names))
        body |= self._route.body
        if request.tools or schema is not None:
            body |= self._route.bound_body
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = request.max_tokens
        return {key: value for key, value in body.items() if key not in self._refused - {ANY_OBJECT}}


def _take(chunk: dict[str, Any], gathered: Gathered, model: str) -> str:
    """Put one chunk to the rest; the text it adds. A server that did not stream sends `message` for `delta`."""
    if isinstance(chunk.get("usage"), dict):
        gathered.usage = _usage(chunk["usage"])
    gathered.model = gathered.model or str(chunk.get("model") or "")
    choices = chunk.get("choices")
    if not isinstance(choices, list) or not choices:
        return ""
    choice = choices[0] if isinstance(choices[0], dict) else {}
    delta = choice.get("delta") or choice.get("message") or {}
    if delta.get("refusal"):
        raise ContentFilterError(
            f"{model} refused: {shorten(str(delta['refusal']))}", "Word the request differently.", model=model
        )
    for call in delta.get("tool_calls") or ():
        _take_call(call, gathered, whole="message" in choice)
    if choice.get("finish_reason"):
        gathered.reason = REASONS.get(str(choice["finish_reason"]).lower(), FinishReason.STOP)
    text = _text(delta.get("content"))
    gathered.text.append(text)
    return text


def _take_call(call: dict[str, Any], gathered: Gathered, *, whole: bool) -> None:
    function = call.get("function") or {}
    call_id, name, arguments = call.get("id") or "", function.get("name") or "", function.get("arguments")
    if whole:
        gathered.calls.add_whole(call_id=str(call_id), name=str(name), arguments=arguments)
    else:
        index = call.get("index")
        gathered.calls.add(
            call_id=str(call_id),
            index=index if isinstance(index, int) else None,
            name=str(name),
            arguments=arguments,
        )


def _text(content: object) -> str:
    """Content as text; some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(data: dict[str, Any]) -> Usage:
    details = data.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or data.get("prompt_cache_hit_tokens") or 0
    return Usage(
        int(data.get("prompt_tokens") or 0),
        int(cached),
        int(data.get("completion_tokens") or 0),
        cost=read_amount(data.get("cost")),
    )


def _tools(request: Request, names: ToolNames) -> dict[str, Any]:
    fields: dict[str, Any] = {"tools": [tool_json(tool, names) for tool in request.tools]}
    choice = request.tool_choice
    if choice.name:
        fields["tool_choice"] = {"type": "function", "function": {"name": names.outward(choice.name)}}
    elif choice.mode != "auto":
        fields["tool_choice"] = choice.mode
    if request.max_calls == 1:
        fields["parallel_tool_calls"] = False
    return fields


def _wants_any_object(request: Request) -> bool:
    """Any JSON object is wished for, and nothing else says what the answer is."""
    bound = request.json_schema is not None or request.grammar is not None or request.choices or request.tools
    return request.json_object and not bound


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"name": "answer", "schema": schema}
    if is_strict(schema):
        form["strict"] = True
    return {"type": "json_schema", "json_schema": form}


def is_strict(schema: object) -> bool:
    """The schema is one that OpenAI's strict mode takes: every object closed, every property required."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or set(schema.get("required") or ()) != set(
            properties
        ):
            return False
        return all(is_strict(part) for part in properties.values())
    return all(is_strict(part) for part in schema.values())


def _message(message: Message, names: ToolNames) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["content"] = message.content or None
        data["tool_calls"] = [_call(call, names) for call in message.tool_calls]
    return data


def _call(call: ToolCall, names: ToolNames) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": names.outward(call.name), "arguments": arguments},
    }
