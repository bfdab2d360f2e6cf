"""A model in a loop often says a few words before its calls. They are no answer, so they are not streamed as one."""

from __future__ import annotations

from collections.abc import AsyncIterator

from surefoot.models.types import Capabilities, Completion, LanguageModel, Piece, Request

HELD_CHARS = 160
"""Characters held back until it is known whether calls follow: a sentence or two, where prefaces end. Longer text is an
answer in nearly every case, and waiting for all of it would be silence."""


class WithoutPrefaces:
    """The same model; only its stream is another: the words in front of calls are left out of it.

    What the completion says is not touched.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._model.name

    async def capabilities(self) -> Capabilities:
        """Of the model."""
        return await self._model.capabilities()

    async def complete(self, request: Request) -> Completion:
        """The model's."""
        return await self._model.complete(request)

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The model's pieces, the first ones once it is known that they are an answer."""
        held: list[Piece] | None = []
        stream = self._model.stream(request)
        try:
            async for piece in stream:
                if held is None:
                    yield piece
                    continue
                held.append(piece)
                if piece.completion is not None and piece.completion.tool_calls:
                    yield Piece(completion=piece.completion)
                    return
                if piece.completion is not None or sum(len(one.text) for one in held) > HELD_CHARS:
                    for one in held:
                        yield one
                    held = None
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def warm(self, request: Request, key: str) -> None:
        """The model's."""
        await self._model.warm(request, key)

    async def close(self) -> None:
        """The model's."""
        await self._model.close()
