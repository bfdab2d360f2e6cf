"""Ollama's own API: `/api/chat` streamed, `/api/show` for what a model can do, `/api/tags` for what there is.

The OpenAI form that Ollama also speaks cannot set the context, and then cuts a longer prompt without a word. Here the
context is always sent, a prompt that cannot fit is refused, and one that was cut after all is noticed. Schemas need
Ollama 0.5, streamed tool calls 0.8.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.errors import ContextLengthError, ModelNotFoundError, ProviderError
from surefoot.models.address import AddressPolicy
from surefoot.models.checks import check_fits, least_tokens
from surefoot.models.http import Deadline, ProviderClient
from surefoot.models.names import ToolNames
from surefoot.models.networks import is_local_host
from surefoot.models.outgoing import choice_schema, mend_history, names_in, tool_json, tools_of
from surefoot.models.refusals import read_object
from surefoot.models.replies import Gathered, finish
from surefoot.models.streamed import Pieces, StreamedModel
from surefoot.models.types import Capabilities, FinishReason, Message, Piece, Request, ToolSpec, Usage

if TYPE_CHECKING:
    from surefoot.settings import Settings

LOOK_SECONDS = 2.0
"""Time to see whether an Ollama is there at all, when nobody named one; loopback answers in milliseconds."""

HOSTED_SECONDS = 120.0
"""Time-out of an Ollama on another machine where a request names none; one on this machine has `local_timeout_sec`."""

MAX_LOOKED_AT = 20
"""Models asked for their capabilities when a default is chosen; a person with more names one."""

REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
"""`done_reason` to ours; others (`load`, `unload`) come with empty answers."""


class OllamaModel(StreamedModel):
    """One model of an Ollama server.

    Args:
        model: its name there, with or without a tag (`qwen3:4b`).
        client: the edge to the server.
        num_ctx: context to ask for, in tokens, where a request names none.
        default_seconds: time-out where a request names none.
        local: the server is on this machine.
        think: whether a model that can think does; its thinking is not part of the answer.
    """

    def __init__(
        self,
        model: str,
        client: ProviderClient,
        *,
        num_ctx: int = 8192,
        default_seconds: float = HOSTED_SECONDS,
        local: bool = False,
        think: bool = False,
    ) -> None:
        super().__init__(f"ollama:{model}", client, default_seconds)
        self._model = model
        self._num_ctx = num_ctx
        self._loaded = False
        self._local = local
        self._think = think

    async def models(self) -> list[str]:
        """The names of the models the server has, as it orders them."""
        return await list_models(self._client, self._client.deadline(self._default_seconds))

    async def warm(self, request: Request, key: str) -> None:  # noqa: ARG002 - the server keeps its own prefixes
        """Have the server load the model with our context, so that the first question does not wait for it.

        Asked once: every turn warms its prompts, and the server keeps them and the loaded model by itself.
        """
        if self._loaded:
            return
        await self.capabilities()
        body = {"model": self._model, "stream": False, "options": {"num_ctx": self._window(None)}}
        deadline = self._client.deadline(self._default_seconds)
        await self._client.json("POST", "/api/generate", body, deadline=deadline)
        self._loaded = True

    async def _ask_capabilities(self, deadline: Deadline) -> Capabilities:
        try:
            shown = await self._client.json("POST", "/api/show", {"model": self._model}, deadline=deadline)
        except ModelNotFoundError as error:
            raise await self._not_found(deadline) from error
        return read_capabilities(shown, local=self._local)

    async def _not_found(self, deadline: Deadline) -> ModelNotFoundError:
        names = await list_models(self._client, deadline)
        have = f"It has: {', '.join(names)}." if names else "It has no models yet."
        return ModelNotFoundError(
            f'{self._client.provider} has no model "{self._model}".',
            f"{have} Pull it with: ollama pull {self._model}",
            model=self._model,
            models=names,
        )

    def _window(self, wanted: int | None) -> int:
        """The context to ask for: never more than the model has, for Ollama lowers it without a word."""
        asked = wanted or self._num_ctx
        most = self._capabilities.context_length if self._capabilities else 0
        return min(asked, most) if most else asked

    async def _attempt(self, request: Request, deadline: Deadline) -> Pieces:
        start = deadline.spent()
        sent = replace(request, messages=tuple(mend_history(request.messages)), tools=_tools_of(request))
        window = self._window(request.num_ctx)
        check_fits(sent, window, self._name)
        names = ToolNames(names_in(sent))
        gathered = Gathered()
        async with aclosing(self._objects(sent, window, names, deadline)) as objects:
            async for data in objects:
                text = _take(data, gathered)
                if text and not request.choices:
                    yield Piece(text)
        if gathered.reason is None:
            raise self._dropped()
        self._check_not_cut(gathered.usage, sent, window)
        yield Piece(completion=finish(gathered, request, names, self._name, deadline.spent() - start))

    async def _objects(
        self, request: Request, window: int, names: ToolNames, deadline: Deadline
    ) -> AsyncGenerator[dict[str, Any], None]:
        body = self._body(request, window, names)
        try:
            async with aclosing(self._client.lines("/api/chat", body, deadline)) as lines:
                async for line in lines:
                    if line.strip():
                        yield read_object(self._client.provider, line)
        except ModelNotFoundError as error:
            raise await self._not_found(deadline) from error
        except ContextLengthError as error:
            raise self._too_long(error.message, request, window) from error

    def _body(self, request: Request, window: int, names: ToolNames) -> dict[str, Any]:
        options: dict[str, Any] = {
            "num_ctx": window,
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.stop:
            options["stop"] = list(request.stop)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message, names) for message in request.messages],
            "stream": True,
            "think": self._think,
            "truncate": False,  # refuse what does not fit, where the server is new enough to know these two
            "shift": False,
            "options": options,
        }
        schema = choice_schema(request.choices) if request.choices else request.json_schema
        if schema is not None:
            body["format"] = schema
        elif request.json_object and not request.tools:
            body["format"] = "json"
        if request.tools:
            body["tools"] = [tool_json(tool, names) for tool in request.tools]
        return body

    def _check_not_cut(self, usage: Usage, request: Request, window: int) -> None:
        """An older server drops the first messages and says so nowhere; only its count of the prompt is too small."""
        least = least_tokens(request)
        if 0 < usage.prompt_tokens + usage.cached_tokens < least:
            read = f"{self._client.provider} cut the prompt and read only {usage.prompt_tokens} tokens of it."
            raise self._too_long(read, request, window, prompt_tokens_read=usage.prompt_tokens)

    def _too_long(self, what: str, request: Request, window: int, **details: int) -> ContextLengthError:
        """Ollama's own words have no numbers, so they are added."""
        least = least_tokens(request)
        return ContextLengthError(
            f"{what} It has at least {least} tokens, and num_ctx is {window}.",
            "Shorten the prompt, raise `num_ctx`, or use a model with a longer context.",
            prompt_tokens_at_least=least,
            context_length=window,
            model=self._name,
            **details,
        )


def open_ollama(model: str, settings: Settings) -> OllamaModel:
    """A model of the Ollama that `ollama_url` names."""
    local = is_local_host(settings.ollama_url)
    return OllamaModel(
        model,
        _client(settings),
        num_ctx=settings.num_ctx,
        default_seconds=settings.local_timeout_sec if local else HOSTED_SECONDS,
        local=local,
    )


async def first_model(settings: Settings) -> str:
    """The first model of a running Ollama that supports tools, else the first that chats; empty where it has none.

    Raises:
        ProviderError: no Ollama answers.
    """
    client = _client(settings)
    try:
        deadline = client.deadline(LOOK_SECONDS)
        names = await list_models(client, deadline)
        chatting = ""
        for name in names[:MAX_LOOKED_AT]:
            shown = await client.json("POST", "/api/show", {"model": name}, deadline=deadline)
            if read_capabilities(shown, local=True).tools:
                return name
            if not chatting and "embedding" not in (shown.get("capabilities") or ()):
                chatting = name
        return chatting
    finally:
        await client.close()


async def installed(settings: Settings) -> list[str]:
    """Names of all models of a running Ollama.

    Raises:
        ProviderError: no Ollama answers.
    """
    client = _client(settings)
    try:
        return await list_models(client, client.deadline(LOOK_SECONDS))
    finally:
        await client.close()


async def list_models(client: ProviderClient, deadline: Deadline) -> list[str]:
    """Names of the models, from `/api/tags`."""
    data = await client.json("GET", "/api/tags", deadline=deadline)
    models = data.get("models") if isinstance(data, dict) else None
    return [str(entry.get("name") or entry.get("model")) for entry in models or () if isinstance(entry, dict)]


def read_capabilities(shown: Any, *, local: bool) -> Capabilities:
    """What `/api/show` says: `capabilities`, and `<architecture>.context_length` in `model_info`."""
    if not isinstance(shown, dict):
        raise ProviderError("Ollama's /api/show answered with no object.")
    info = shown.get("model_info") or {}
    length = info.get(f"{info.get('general.architecture')}.context_length")
    return Capabilities(
        tools="tools" in (shown.get("capabilities") or ()),
        json_schema=True,
        context_length=length if isinstance(length, int) else 0,
        family=str((shown.get("details") or {}).get("family") or ""),
        encoding="schema",
        local=local,
    )


def _client(settings: Settings) -> ProviderClient:
    url = settings.ollama_url.rstrip("/")
    return ProviderClient(
        provider=f"Ollama at {url}",
        base_url=url,
        policy=AddressPolicy.for_endpoint(url, settings),
        local=is_local_host(url),
    )


def _take(data: dict[str, Any], gathered: Gathered) -> str:
    """Put one object of the stream to the rest; the text it adds."""
    message = data.get("message") or {}
    text = message.get("content") or ""
    gathered.text.append(text)
    gathered.model = gathered.model or str(data.get("model") or "")
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        gathered.calls.add_whole(
            call_id=str(call.get("id") or ""),
            name=str(function.get("name") or ""),
            arguments=function.get("arguments"),
        )
    if data.get("done"):
        gathered.reason = REASONS.get(str(data.get("done_reason") or "stop"), FinishReason.STOP)
        gathered.usage = Usage(
            int(data.get("prompt_eval_count") or 0),
            int(data.get("prompt_eval_cached_count") or 0),
            int(data.get("eval_count") or 0),
        )
    return text


def _tools_of(request: Request) -> tuple[ToolSpec, ...]:
    """The tools to send. Ollama has no `tool_choice`, so what may not be called is not shown."""
    if request.tool_choice.mode == "none":
        return ()
    if request.tool_choice.name:
        return tuple(tool for tool in request.tools if tool.name == request.tool_choice.name)
    return tools_of(request)


def _message(message: Message, names: ToolNames) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": call.id, "function": {"name": names.outward(call.name), "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        data["tool_name"] = names.outward(message.name) if message.name else ""
        data["tool_call_id"] = message.tool_call_id
    return data
