"""The planner's stable prefix: computed before it is needed, and kept by the model where it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.models.types import LanguageModel
    from surefoot.settings import Settings
    from surefoot.tools.catalogue import Catalogue


async def warm_planner(model: LanguageModel, settings: Settings, catalogue: Catalogue) -> bool:
    """Let a local model read the part of the planner's prompt that never changes. False: there is nothing to gain.

    Raises:
        ProviderError: the model cannot be loaded.
    """
    from surefoot.models.types import Request
    from surefoot.planning import encodings

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
