"""The parts of the prompts that never change: read before they are needed, and kept by the model where it can."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from surefoot.assistant.prompting import prompt
from surefoot.errors import ProviderError
from surefoot.models.types import LanguageModel, Message, Request
from surefoot.planning import encodings
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue


async def warm_planner(model: LanguageModel, settings: Settings, catalogue: Catalogue) -> bool:
    """Let a local model read the stable part of the planner's prompt. False: there is nothing to gain.

    Raises:
        ProviderError: the model cannot be loaded.
    """
    able = await model.capabilities()
    if not able.local or not settings.planner_enabled:
        return False
    prefix = encodings.prefix(catalogue, encodings.choose(able), max_steps=settings.max_steps)
    request = Request(
        messages=prefix.messages,
        tools=prefix.tools,
        num_ctx=settings.num_ctx,
        timeout=settings.local_timeout_sec,
        purpose="plan",
    )
    await model.warm(request, prefix.key)
    return True


async def warm_reply(model: LanguageModel, settings: Settings) -> bool:
    """The same for the prompt of the answer."""
    if not (await model.capabilities()).local:
        return False
    text = prompt("answer")
    request = Request(
        messages=(Message("system", text),),
        num_ctx=settings.num_ctx,
        timeout=settings.local_timeout_sec,
        purpose="reply",
    )
    await model.warm(request, hashlib.sha256(text.encode()).hexdigest())
    return True


async def warm_quietly(
    planner: LanguageModel, model: LanguageModel, settings: Settings, catalogue: Catalogue
) -> None:
    """Both, before a turn. What is wrong with a model shows at its first call, and is told there."""
    with suppress(ProviderError):
        await warm_planner(planner, settings, catalogue)
        await warm_reply(model, settings)
