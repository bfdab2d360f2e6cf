"""Gemini through Google's own API, streamed.

What is sent and read is in gemini_wire.py, schemas in gemini_schema.py, the edge to the network in gemini_client.py.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot.errors import (
    ModelNotFoundError,
    ProviderCapabilityError,
    ProviderError,
    ProviderRequestError,
    SettingsError,
)
from surefoot.models.address import AddressPolicy
from surefoot.models.checks import check_fits
from surefoot.models.gemini_client import KEY_HEADER, GeminiClient
from surefoot.models.gemini_wire import Answer, config_of, contents_of, names_for
from surefoot.models.http import Deadline
from surefoot.models.keys import Key, find_key, need_key
from surefoot.models.networks import is_local_host
from surefoot.models.outgoing import mend_history, tools_of
from surefoot.models.streamed import Pieces, StreamedModel, adapting
from surefoot.models.types import Capabilities, Piece, Request

if TYPE_CHECKING:
    from surefoot.settings import Settings

KEY_NAMES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Names of the key, the first that exists; both are Google's own."""

HOSTED_SECONDS = 120.0
"""Time-out where a request names none: a model that thinks takes a minute before the first word."""

THINKING_TOKENS = 1024
"""Budget of thoughts asked of a model that thinks. Every such model takes it: the least ranges published are 128 to
32,768 (2.5 Pro), 0 to 24,576 (2.5 Flash) and 512 to 24,576 (2.5 Flash-Lite)."""

THINKING_ROOM = 2 * THINKING_TOKENS
"""Added to the output limit of such a model, for thoughts count as output there and may exceed their budget; without
it a short answer is all thought and no text."""

GENERATES = "generateContent"
"""The method, among those a model lists, by which it is asked here."""

SHOWN = 20
"""Models named in a message."""

_NAME = re.compile(r"(models/|tunedModels/)?[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_UNSIGNED = re.compile(r"thought.?signature", re.IGNORECASE)
_THINKING = re.compile(r"thinking.?(config|budget|level)|thinking is not", re.IGNORECASE)


class GeminiModel(StreamedModel):
    """One model of the Gemini API.

    Args:
        model: its name there (`gemini-2.5-flash`).
        client: the edge to the provider.
        default_seconds: time-out where a request names none.
        local: the server is on this machine, a proxy for example.
    """

    _client: GeminiClient

    def __init__(
        self,
        model: str,
        client: GeminiClient,
        *,
        default_seconds: float = HOSTED_SECONDS,
        local: bool = False,
    ) -> None:
        super().__init__(f"gemini:{model}", client, default_seconds)
        self._model = model
        self._local = local
        self._card: dict[str, Any] = {}
        self._unsigned = False
        self._no_budget = False

    async def models(self) -> list[str]:
        """The names of the models that can be asked."""
        listed = await self._client.models(self._client.deadline(self._default_seconds))
        return [
            str(card.get("name")).removeprefix("models/") for card in listed if GENERATES in _methods(card)
        ]

    async def warm(self, request: Request, key: str) -> None:
        """Nothing: prefixes are kept by the provider itself, and asking would cost."""

    async def _ask_capabilities(self, deadline: Deadline) -> Capabilities:
        try:
            self._card = await self._client.model(self._model, deadline)
        except ModelNotFoundError as error:
            raise await self._not_found(error, deadline) from error
        return read_capabilities(self._card, local=self._local)

    async def _not_found(self, error: ModelNotFoundError, deadline: Deadline) -> ModelNotFoundError:
        try:
            listed = await self._client.models(deadline)
        except ProviderError:
            return error
        names = [str(card.get("name")).removeprefix("models/") for card in listed]
        return ModelNotFoundError(
            f'{self._client.provider} has no model "{self._model}".',
            f"It has: {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}.",
            model=self._model,
            models=names,
        )

    async def _attempt(self, request: Request, deadline: Deadline) -> Pieces:
        self._check_generates()
        async with aclosing(adapting(lambda: self._once(request, deadline), self._adapts)) as pieces:
            async for piece in pieces:
                yield piece

    def _check_generates(self) -> None:
        methods = _methods(self._card)
        if GENERATES not in methods:
            raise ProviderCapabilityError(
                f"{self._name} writes no answers; it can only {', '.join(methods) or 'do nothing that is known'}.",
                "Use a model that does.",
                model=self._name,
                capability="text",
            )

    def _adapts(self, error: ProviderRequestError) -> bool:
        """The refusal is one that another form of the request answers: it is sent in that form from now on."""
        if _UNSIGNED.search(error.message) and not self._unsigned:
            self._unsigned = True
            return True
        if _THINKING.search(error.message) and not self._no_budget:
            self._no_budget = True
            return True
        return False

    async def _once(self, request: Request, deadline: Deadline) -> Pieces:
        start = deadline.spent()
        sent = replace(request, messages=tuple(mend_history(request.messages)), tools=tools_of(request))
        check_fits(sent, self._capabilities.context_length if self._capabilities else 0, self._name)
        names = names_for(sent)
        contents = contents_of(sent.messages, names, unsigned=self._unsigned)
        config = {**config_of(sent, names), **self._output(request.max_tokens)}
        answer = Answer()
        async with aclosing(self._client.generate(self._model, contents, config, deadline)) as chunks:
            async for chunk in chunks:
                text = answer.take(chunk, self._name)
                if text and not request.choices:
                    yield Piece(text)
        if answer.gathered.reason is None:
            raise self._dropped()
        yield Piece(completion=answer.completion(request, names, self._name, deadline.spent() - start))

    def _output(self, max_tokens: int) -> dict[str, Any]:
        """The output limit, with room for thoughts where the model thinks, and never more than the model has."""
        thinks = self._card.get("thinking") is True
        wanted = max_tokens + THINKING_ROOM if thinks else max_tokens
        most = self._card.get("outputTokenLimit") or wanted
        output: dict[str, Any] = {"maxOutputTokens": min(wanted, most)}
        if thinks and not self._no_budget:
            output["thinkingConfig"] = {"thinkingBudget": THINKING_TOKENS}
        return output


def open_gemini(model: str, settings: Settings) -> GeminiModel:
    """A model of the Gemini API at `gemini_url`.

    Raises:
        ModelNotFoundError: the name is none that a model can have.
        ProviderAuthError: there is no key of either name.
        SettingsError: `gemini_url` is no address, or one that would carry the key unencrypted to another machine.
    """
    url = settings.gemini_url.rstrip("/")
    local = is_local_host(url)
    policy = AddressPolicy.for_endpoint(url, settings)
    if not local and not url.startswith("https://"):
        raise SettingsError(
            f"`gemini_url` is {url!r}, and the key would go there unencrypted.",
            "Use https.",
            key="gemini_url",
        )
    provider = f"Gemini at {url}" if url != type(settings).model_fields["gemini_url"].default else "Gemini"
    if not _NAME.fullmatch(model):
        raise ModelNotFoundError(
            f"{model!r} is no name of a Gemini model.", "One is `gemini:gemini-2.5-flash`.", model=model
        )
    key = _find_key(provider, local=local)
    client = GeminiClient(
        provider=provider,
        base_url=url,
        policy=policy,
        headers=lambda: {KEY_HEADER: key.reveal()} if key else {},
        local=local,
    )
    return GeminiModel(model, client, local=local)


def _find_key(provider: str, *, local: bool) -> Key | None:
    found = next((key for key in map(find_key, KEY_NAMES) if key is not None), None)
    return found if found or local else need_key(KEY_NAMES[0], provider)


def read_capabilities(card: dict[str, Any], *, local: bool) -> Capabilities:
    """What `models.get` says of a model.

    It lists neither tools nor schemas: every model that generates is asked with them, and the provider's refusal of one
    that cannot becomes a `ProviderCapabilityError`.
    """
    generates = GENERATES in _methods(card)
    length = card.get("inputTokenLimit")
    return Capabilities(
        tools=generates,
        json_schema=generates,
        context_length=length if isinstance(length, int) else 0,
        family="gemini",
        encoding="schema" if generates else "text",
        local=local,
    )


def _methods(card: dict[str, Any]) -> list[str]:
    """What a model can do. The SDK renames the published `supportedGenerationMethods`."""
    return list(card.get("supportedGenerationMethods") or card.get("supportedActions") or ())
