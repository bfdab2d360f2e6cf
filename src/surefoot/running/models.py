"""A model call of a run: answered from the journal when it was made before, counted, journaled, streamed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from surefoot.errors import ProviderTimeoutError
from surefoot.events import EventType
from surefoot.journal.types import ModelCall
from surefoot.models.types import Completion, LanguageModel, Request
from surefoot.running.session import Session


async def call_model(
    session: Session, model: LanguageModel, request: Request, key: str, *, stream: bool = False
) -> Completion:
    """The model's answer under this key. With `stream`, listeners get its text as it comes.

    Raises:
        BudgetExceededError: before the call, when a limit is reached.
        ProviderError: from the model, ProviderTimeoutError after `request.timeout` seconds.
    """

    async def recall() -> Completion | None:
        known = session.known_model_calls.get(key)
        return None if known is None else Completion.from_dict(known.completion)

    async def work() -> Completion:
        session.budget.reserve_model_call()
        start = time.monotonic()
        completion = await _within(session, model, request, stream=stream)
        usage = replace(completion.usage, seconds=time.monotonic() - start)
        completion = replace(completion, usage=usage)
        session.count(usage)
        await _write(session, model, request, key, completion)
        return completion

    return await session.steps.run(key, recall, work)


async def _within(session: Session, model: LanguageModel, request: Request, *, stream: bool) -> Completion:
    work = _streamed(session, model, request) if stream else model.complete(request)
    try:
        async with asyncio.timeout(request.timeout):
            return await work
    except TimeoutError as error:
        raise ProviderTimeoutError(
            f"{model.name} did not answer within {request.timeout:g} s.",
            "Try again, or raise `planner_timeout_sec` or `local_timeout_sec`.",
            seconds=request.timeout,
        ) from error


async def _streamed(session: Session, model: LanguageModel, request: Request) -> Completion:
    completion = Completion()
    async for piece in model.stream(request):
        if piece.text:
            session.live(EventType.TOKEN, text=piece.text)
        if piece.completion is not None:
            completion = piece.completion
    return completion


async def _write(
    session: Session, model: LanguageModel, request: Request, key: str, completion: Completion
) -> None:
    usage = completion.usage
    name = completion.model or model.name
    data = {
        "purpose": request.purpose,
        "model": name,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "seconds": round(usage.seconds, 3),
    }
    entry = ModelCall(session.run.id, key, request.purpose, name, completion.to_dict())
    events = [(EventType.MODEL_CALLED, data)]
    await session.journal.add_model_call(entry, events, fence=session.run.fence)
    session.told(events)
