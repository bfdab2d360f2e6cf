"""A model that answers what it was told to, for tests of everything that talks to a model. It needs no network."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from surefoot.errors import MisuseError
from surefoot.models.checks import LETTERS_PER_TOKEN, check_request, least_tokens
from surefoot.models.types import Capabilities, Completion, FinishReason, Piece, Request, ToolCall, Usage

Said: TypeAlias = "str | ToolCall | Completion | Sequence[str | ToolCall]"
Answer: TypeAlias = "Said | BaseException"
"""A text; one call; a whole completion; an error to raise; or a list of texts (streamed as these pieces) and calls."""

AnswerFunction: TypeAlias = Callable[[Request], "Answer | Awaitable[Answer]"]
"""Makes the answer from the request; may be async."""

ABLE = Capabilities(tools=True, json_schema=True, grammar=True, logprobs=True, encoding="own")
"""A scripted model can do everything unless it is told otherwise: what it answers is written by hand anyway."""


class ScriptedModel:
    """A `LanguageModel` that gives queued answers in order, keeps every request and refuses an unexpected call.

    Args:
        answers: what to answer, one for each call; a function makes the answer from the request.
        always: answers every call once the queue is empty. Without it an unexpected call is a `MisuseError`.
        name: `provider:model`, as everything that reports the model shows it.
        capabilities: what is said to be true of it; what is not is refused as a real adapter refuses it.
        usage: tokens of each call. None: 1 token for each 7 letters, prompt and answer.
        delay: seconds each answer takes; a time-out or a cancel during it works as with a real model.
        piece: characters of one streamed piece, where the answer does not say its pieces itself.

    Example:
        ```python
        model = ScriptedModel("Hello.", ToolCall("c1", "addTask", {"title": "Milk"}))
        await model.complete(Request((Message("user", "Hi"),)))
        model.assert_done()  # MisuseError: 1 answer was never asked for
        ```
    """

    def __init__(
        self,
        *answers: Answer | AnswerFunction,
        always: Answer | AnswerFunction | None = None,
        name: str = "scripted:model",
        capabilities: Capabilities = ABLE,
        usage: Usage | None = None,
        delay: float = 0.0,
        piece: int = 8,
    ) -> None:
        self._answers = deque(answers)
        self._always = always
        self._name = name
        self._capabilities = capabilities
        self._usage = usage
        self._delay = delay
        self._piece = max(1, piece)
        self.requests: list[Request] = []
        """Every request, in order, the refused ones included."""
        self.warmed: list[tuple[Request, str]] = []
        """What `warm` was called with: request and key."""
        self.closed = False

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._name

    @property
    def unused(self) -> tuple[Answer | AnswerFunction, ...]:
        """Answers that no call has asked for yet."""
        return tuple(self._answers)

    def add(self, *answers: Answer | AnswerFunction) -> None:
        """Queue more answers behind the others."""
        self._answers.extend(answers)

    def assert_done(self) -> None:
        """Every queued answer was asked for.

        Raises:
            MisuseError: it names those that were not.
        """
        if self._answers:
            listed = "; ".join(_short(answer) for answer in self._answers)
            raise MisuseError(
                f"{len(self._answers)} of the answers queued for {self._name} were never asked for: {listed}.",
                f"It got {len(self.requests)} calls. Take the extra answers away, or find why the call is missing.",
                unused=len(self._answers),
                calls=len(self.requests),
            )

    async def capabilities(self) -> Capabilities:
        """What it was said to be able to."""
        return self._capabilities

    async def complete(self, request: Request) -> Completion:
        """The next answer, whole."""
        completion, _ = await self._next(request)
        return completion

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The next answer in pieces; the last carries the completion."""
        completion, pieces = await self._next(request)
        for text in pieces:
            yield Piece(text)
            await asyncio.sleep(0)
        yield Piece(completion=completion)

    async def warm(self, request: Request, key: str) -> None:
        """Remember that it was asked to keep this prefix ready."""
        self.warmed.append((request, key))

    async def close(self) -> None:
        """Nothing is held; only remembered."""
        self.closed = True

    async def _next(self, request: Request) -> tuple[Completion, list[str]]:
        self.requests.append(request)
        check_request(request, self._capabilities, self._name)
        answer = self._take(request)
        if self._delay:
            await asyncio.sleep(self._delay)
        if callable(answer):
            made = answer(request)
            answer = await made if inspect.isawaitable(made) else made
        if isinstance(answer, BaseException):
            raise answer
        return self._completion(answer, request)

    def _take(self, request: Request) -> Answer | AnswerFunction:
        if self._answers:
            return self._answers.popleft()
        if self._always is not None:
            return self._always
        raise MisuseError(
            f"{self._name} got call {len(self.requests)} and has no answer for it: purpose {request.purpose!r}, "
            f"last message {_short(request.messages[-1].content)}.",
            "Queue an answer, or give `always`.",
            call=len(self.requests),
            purpose=request.purpose,
        )

    def _completion(self, answer: Said, request: Request) -> tuple[Completion, list[str]]:
        if isinstance(answer, Completion):
            return replace(answer, model=answer.model or self._name), self._cut(answer.text)
        parts: Sequence[str | ToolCall] = [answer] if isinstance(answer, (str, ToolCall)) else answer
        texts = [part for part in parts if isinstance(part, str)]
        calls = tuple(part for part in parts if isinstance(part, ToolCall))
        text = "".join(texts)
        usage = self._usage or Usage(least_tokens(request) + 1, 0, len(text) // LETTERS_PER_TOKEN + 1)
        reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        pieces = self._cut(text) if isinstance(answer, str) else texts
        return Completion(text, calls, reason, usage, self._name), pieces

    def _cut(self, text: str) -> list[str]:
        return [text[start : start + self._piece] for start in range(0, len(text), self._piece)]


def _short(answer: object, limit: int = 60) -> str:
    text = repr(answer)
    return text if len(text) <= limit else text[: limit - 1] + "…"
