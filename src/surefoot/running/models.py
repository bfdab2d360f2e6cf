"""A model call of a run: answered from the journal when it was made before, counted, journaled, streamed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from surefoot import redaction
from surefoot.errors import EmptyReplyError, ProviderError, ProviderTimeoutError
from surefoot.events import EventType
from surefoot.journal.types import ModelCall
from surefoot.models.types import Completion, LanguageModel, Request, Usage
from surefoot.running.asked import asked, continued, masked_call
from surefoot.running.session import Session


async def call_model(
    session: Session,
    model: LanguageModel,
    request: Request,
    key: str,
    *,
    stream: bool = False,
    follows: str = "",
) -> Completion:
    """The model's answer under this key. With `stream`, listeners get its text as it comes.

    The messages that are new since the call it follows are kept with it (all of them when it follows none).

    Args:
        session: the run in work.
        model: who is asked.
        request: what is asked.
        key: the place in the run, the same again on resume.
        stream: tell listeners of the text as it comes.
        follows: key of an earlier call with whose messages, and then its answer, this request begins. A reminder that
            stood behind that call's history and is not in this request is no hindrance. Left out, it is looked for
            among the last calls.

    Raises:
        BudgetExceededError: before the call, when a limit is reached.
        ProviderError: from the model, ProviderTimeoutError after `request.timeout` seconds.
    """
    before = session.asked.get(follows) or continued(session.asked.values(), request.messages)
    asking = asked(request.messages, before)

    async def recall() -> Completion | None:
        known = session.known_model_calls.get(key)
        return None if known is None else Completion.from_dict(known.completion)

    async def work() -> Completion:
        session.budget.reserve_model_call()
        start = time.monotonic()
        sent = request if asking.sent == request.messages else replace(request, messages=asking.sent)
        completion = await _answered(session, model, sent, key, stream=stream)
        usage = replace(completion.usage, seconds=time.monotonic() - start)
        completion = _as_kept(completion, usage)
        session.count(usage)
        await _write(session, model, request, key, completion, asking.to_keep(before))
        return completion

    completion = await session.steps.run(key, recall, work)
    session.remember(key, asking.answered(completion))
    return completion


async def _answered(
    session: Session, model: LanguageModel, request: Request, key: str, *, stream: bool
) -> Completion:
    """Ask it; what its provider fails with is told to those who watch."""
    began = datetime.now(UTC)
    try:
        return await _within(session, model, request, stream=stream)
    except ProviderError as error:
        session.provider_failed(error, key=key, purpose=request.purpose, model=model.name, began=began)
        raise


def _as_kept(completion: Completion, usage: Usage) -> Completion:
    """The answer as the journal keeps it, so that a resumed run goes on with the same.

    What a server echoes of a key, or a model guesses, reaches no tool either.
    """
    calls = tuple(map(masked_call, completion.tool_calls))
    return replace(completion, text=redaction.redact(completion.text), tool_calls=calls, usage=usage)


async def _within(session: Session, model: LanguageModel, request: Request, *, stream: bool) -> Completion:
    work = _streamed(session, model, request) if stream else model.complete(request)
    if request.timeout is None:
        return await work
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
    completion: Completion | None = None
    held = ""
    stream = model.stream(request)
    try:
        async for piece in stream:
            held += piece.text
            ready = redaction.unfinished(held)  # a secret may come in two pieces
            if ready:
                session.live(EventType.TOKEN, text=held[:ready])
            held = held[ready:]
            completion = piece.completion or completion
    finally:  # a cancelled answer stops the model there and then
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    if held:
        session.live(EventType.TOKEN, text=held)
    if completion is None:
        raise EmptyReplyError(f"{model.name} ended its answer without saying that it is whole.", "Try again.")
    return completion


async def _write(
    session: Session,
    model: LanguageModel,
    request: Request,
    key: str,
    completion: Completion,
    messages: list[dict[str, Any]],
) -> None:
    usage = completion.usage
    name = completion.model or model.name
    data = {
        "key": key,
        "purpose": request.purpose,
        "model": name,
        "asked": model.name,
        "finish": str(completion.finish_reason),
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "seconds": round(usage.seconds, 3),
        "cost": usage.cost,
    }
    entry = ModelCall(session.run.id, key, request.purpose, name, completion.to_dict())
    events = [(EventType.MODEL_CALLED, data)]
    await session.journal.add_model_call(entry, events, fence=session.run.fence, messages=messages)
    session.told(events)
