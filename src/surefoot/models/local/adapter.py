"""The embedded model as a `LanguageModel`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import ProviderCapabilityError, ProviderTimeoutError, ProviderUnavailableError
from surefoot.models import weights
from surefoot.models.families import Family, family_of, neutral
from surefoot.models.local import engine
from surefoot.models.local.choices import bound_to, probabilities
from surefoot.models.local.gguf import read_facts
from surefoot.models.local.requests import body_of, completion_of, is_call, usage_of
from surefoot.models.local.session import Session
from surefoot.models.local.wire import EngineGoneError, Wire
from surefoot.models.types import Capabilities, Completion, FinishReason, Message, Piece, Request, Usage

if TYPE_CHECKING:
    from surefoot.settings import Settings


class LocalModel:
    """A GGUF model run by llama.cpp, loaded at the first call and shared with the person's other processes.

    A request's `purpose` picks the slot: `plan`, `resolve` and `check` share the planner's, everything else the
    reply's, so that each keeps its own prefix. The context is `settings.num_ctx`; a request's own `num_ctx` cannot
    change what is loaded.

    Args:
        path: the GGUF file.
        settings: context, threads, time limit and cache folder are taken from it.
        name: `local:` and what the person called it.
        start: loads the model; another function in tests.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        *,
        name: str = "",
        start: Callable[[engine.Options], engine.Engine] = engine.start,
    ) -> None:
        self._name = name or f"local:{path}"
        self._facts = read_facts(path)
        self._family: Family | None = family_of(self._facts)
        self._limit = settings.local_timeout_sec
        context = min(settings.num_ctx, self._facts.context_length or settings.num_ctx)
        self._session = Session(
            path,
            weights.fingerprint(path),
            num_ctx=context,
            cache_dir=settings.cache_dir,
            configured_threads=settings.threads,
            start=start,
        )

    @property
    def name(self) -> str:
        """`local:` and the model's name or path."""
        return self._name

    async def capabilities(self) -> Capabilities:
        """From the file's own facts; nothing is loaded for it."""
        family = self._family
        return Capabilities(
            tools=family is not None,
            json_schema=True,
            grammar=True,
            logprobs=True,
            context_length=self._session.num_ctx,
            family=family.name if family else "",
            encoding=family.encoding if family else "schema",
            local=True,
        )

    async def complete(self, request: Request) -> Completion:
        """The whole answer.

        Raises:
            ContextLengthError: the prompt does not fit; said before it is read.
            OutputCutError: calls or JSON cut by the output limit.
            ProviderTimeoutError: it took longer than the request's limit or `local_timeout_sec`.
            ProviderUnavailableError: the process that holds the model went away twice.
            NoModelError, ModelFileError: it cannot be loaded.
        """
        async with aclosing(self.stream(request)) as pieces:
            async for piece in pieces:
                if piece.completion is not None:
                    return piece.completion
        raise ProviderUnavailableError("The embedded model ended without an answer.", "Try again.")

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """The answer in pieces; calls come whole, in the last one. Closing the iterator stops the model."""
        limit = self._limit if request.timeout is None else request.timeout
        end = asyncio.get_running_loop().time() + limit
        async with aclosing(self._pieces(request)) as pieces:
            while (piece := await self._next(pieces, end, limit)) is not None:
                yield piece

    async def warm(self, request: Request, key: str) -> None:
        """Keep the state of this prompt on disk; later requests that begin with it restore it, in any process."""
        try:
            await self._warm(request, key)
        except EngineGoneError as error:
            await self._session.lost(error.address)
            try:
                await self._warm(request, key)
            except EngineGoneError as again:
                raise _gone() from again

    async def close(self) -> None:
        """Let go of the model; one of the processes that share it takes over."""
        await asyncio.to_thread(self._session.close)

    async def _pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        """The answer; begun once more where the process that held the model goes away in the middle."""
        said = ""
        for last_try in (False, True):
            try:
                async with aclosing(self._attempt(request)) as pieces:
                    async for piece in _unsaid(pieces, said):
                        said += piece.text
                        yield piece
            except EngineGoneError as error:
                await self._session.lost(error.address)
                if last_try:
                    raise _gone() from error
            else:
                return

    async def _next(self, pieces: AsyncGenerator[Piece, None], end: float, limit: float) -> Piece | None:
        """The next piece, None behind the last. Only our own waiting is timed: between two pieces the caller works."""
        try:
            async with asyncio.timeout_at(end):
                return await anext(pieces, None)
        except TimeoutError as error:
            raise ProviderTimeoutError(
                f"The embedded model took longer than {limit:g} seconds.",
                "Raise local_timeout_sec, or close what else keeps the machine busy.",
                seconds=limit,
            ) from error

    async def _warm(self, request: Request, key: str) -> None:
        text = await self._prefix_text(request)
        prefix = self._session.add_prefix(request.purpose, text, key, self._facts.chat_template)
        if not await self._session.on_disk(prefix):
            await self._session.keep_prefix(await self._session.wire(), request.purpose, prefix)

    async def _attempt(self, request: Request) -> AsyncGenerator[Piece, None]:
        started = time.monotonic()
        wire = await self._session.wire()
        body = body_of(request, await self._prompt(wire, request), self._family)
        await self._session.ready(wire, body)
        if request.choices:
            yield await self._choice(wire, request, body, started)
            return
        text, last = "", {}
        async with aclosing(wire.events(body)) as events:
            async for event in events:
                last = event
                text += event.get("content", "")
                if event.get("content") and not self._hidden(request, text):
                    yield Piece(str(event["content"]))
        seconds = time.monotonic() - started
        done = completion_of(request, text, last, self._family, model=self._name, seconds=seconds)
        yield Piece(completion=done)

    async def _choice(self, wire: Wire, request: Request, body: dict[str, Any], started: float) -> Piece:
        usage = Usage()

        async def ask(asked: dict[str, Any]) -> dict[str, Any]:
            nonlocal usage
            last = await wire.post("/completion", asked)
            usage += usage_of(last, 0.0)
            return last

        found = await probabilities(ask, body, request.choices)
        if found is None:
            bound = {**body, **bound_to(request.choices)}
            text = str((await ask(bound))["content"])
        else:
            text = request.choices[found.index(max(found))]
        usage += Usage(seconds=time.monotonic() - started)
        return Piece(text, Completion(text, (), FinishReason.STOP, usage, self._name, found))

    def _hidden(self, request: Request, text: str) -> bool:
        """The answer is calls: nobody wants to read those as they are written."""
        return bool(request.tools) and self._family is not None and is_call(text, self._family)

    async def _prompt(self, wire: Wire, request: Request) -> str:
        if self._family is not None:
            return self._family.prompt(request.messages, () if request.tools_shown else request.tools)
        return await self._templated(wire, request.messages)

    async def _templated(self, wire: Wire, messages: tuple[Message, ...]) -> str:
        """The prompt by the template inside the model's file."""
        if any(message.tool_calls or message.role == "tool" for message in messages):
            raise ProviderCapabilityError(
                f"{self._name} is of no family whose tool calls are known, and the conversation holds some.",
                "Use a model of a known family (Qwen2.5).",
            )
        plain = [{"role": message.role, "content": neutral(message.content)} for message in messages]
        answer = await wire.post("/apply-template", {"messages": plain})
        return str(answer["prompt"])

    async def _prefix_text(self, request: Request) -> str:
        if self._family is not None:
            return self._family.prompt(request.messages, request.tools, answer=False)
        wire = await self._session.wire()
        ends = [await self._templated(wire, (*request.messages, Message("user", end))) for end in ("A", "b")]
        return _shared(ends[0], ends[1])


def _gone() -> ProviderUnavailableError:
    return ProviderUnavailableError("The process that held the embedded model ended, twice.", "Try again.")


def _shared(first: str, second: str) -> str:
    """What two texts begin with."""
    length = min(len(first), len(second))
    return first[: next((at for at in range(length) if first[at] != second[at]), length)]


async def _unsaid(pieces: AsyncIterator[Piece], said: str) -> AsyncIterator[Piece]:
    """The pieces without what was given before the answer had to begin again.

    Raises:
        ProviderUnavailableError: it goes another way this time, and what was given cannot be taken back.
    """
    again = ""
    async for piece in pieces:
        if piece.completion is not None or len(again) >= len(said):
            yield piece
            continue
        again += piece.text
        shared = min(len(again), len(said))
        if again[:shared] != said[:shared]:
            raise ProviderUnavailableError(
                "The process that held the embedded model ended in the middle of an answer.", "Ask again."
            )
        if len(again) > len(said):
            yield Piece(again[len(said) :])
