"""The part that adapters for HTTP providers share: one attempt is a stream; `complete` and `stream` are made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from surefoot.errors import ProviderRequestError, ProviderUnavailableError
from surefoot.models.checks import check_request, seconds_allowed
from surefoot.models.http import Deadline, ProviderClient
from surefoot.models.types import Capabilities, Completion, Piece, Request

Pieces = AsyncGenerator[Piece, None]


async def adapting(once: Callable[[], Pieces], adapts: Callable[[ProviderRequestError], bool]) -> Pieces:
    """One attempt, made again as long as nothing has come and a refusal can be adapted to.

    Args:
        once: asks the provider.
        adapts: leaves out what the provider refused; False when there is nothing to leave out.
    """
    begun = False
    while True:
        try:
            async with aclosing(once()) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
        except ProviderRequestError as error:
            if begun or not adapts(error):
                raise
        else:
            return


class StreamedModel(ABC):
    """A `LanguageModel` over a `ProviderClient`.

    Args:
        name: `provider:model`.
        client: the edge to the provider; closed with the model.
        default_seconds: the time-out of a request that names none.
    """

    def __init__(self, name: str, client: ProviderClient, default_seconds: float) -> None:
        self._name = name
        self._client = client
        self._default_seconds = default_seconds
        self._capabilities: Capabilities | None = None

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._name

    async def capabilities(self) -> Capabilities:
        """What the provider says of this model; asked once and kept.

        Raises:
            ModelNotFoundError: it has no such model.
            ProviderError: it cannot be asked.
        """
        return await self._known(self._client.deadline(self._default_seconds))

    async def complete(self, request: Request) -> Completion:
        """The whole answer, streamed inside; passing failures are tried again."""
        deadline = self._deadline(request)
        check_request(request, await self._known(deadline), self._name)
        return await self._client.retry(lambda: self._gather(request, deadline), deadline)

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The answer in pieces; nothing is tried again once the first piece is out."""
        deadline = self._deadline(request)
        check_request(request, await self._known(deadline), self._name)
        first, rest = await self._client.retry(lambda: self._begin(request, deadline), deadline)
        async with aclosing(rest):
            yield first
            async for piece in rest:
                yield piece

    @abstractmethod
    async def warm(self, request: Request, key: str) -> None:
        """Have the model ready, where the provider can."""

    async def close(self) -> None:
        """Close the connections. Calling it again does nothing."""
        await self._client.close()

    @abstractmethod
    async def _ask_capabilities(self, deadline: Deadline) -> Capabilities:
        """Ask the provider what is true of the model."""

    @abstractmethod
    def _attempt(self, request: Request, deadline: Deadline) -> Pieces:
        """One attempt: pieces of text that are not empty, then one with the completion, or an error."""

    def _deadline(self, request: Request) -> Deadline:
        return self._client.deadline(seconds_allowed(request.timeout, self._default_seconds))

    async def _known(self, deadline: Deadline) -> Capabilities:
        if self._capabilities is None:
            self._capabilities = await self._ask_capabilities(deadline)
        return self._capabilities

    async def _gather(self, request: Request, deadline: Deadline) -> Completion:
        async with aclosing(self._attempt(request, deadline)) as pieces:
            async for piece in pieces:
                if piece.completion is not None:
                    return piece.completion
        raise AssertionError(
            "an attempt ends with its completion or raises"
        )  # pragma: no cover - a broken adapter

    async def _begin(self, request: Request, deadline: Deadline) -> tuple[Piece, Pieces]:
        pieces = self._attempt(request, deadline)
        return await anext(pieces), pieces

    def _dropped(self) -> ProviderUnavailableError:
        return ProviderUnavailableError(
            f"{self._client.provider} ended the answer before its end.",
            "Try again in a moment.",
            provider=self._client.provider,
            passing=True,
        )
