"""From a name to a model: `provider:model`, and the model that is used when nobody names one."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from surefoot.errors import ModelFileError, ModelNotFoundError, NoModelError, ProviderError
from surefoot.models.routes import find_route, model_behind
from surefoot.models.routes import names as route_names

if TYPE_CHECKING:
    from surefoot.models.types import LanguageModel
    from surefoot.settings import Settings

PROVIDERS = {
    "gemini": "surefoot.models.gemini:open_gemini",
    "local": "surefoot.models.local:open_local",
    "ollama": "surefoot.models.ollama:open_ollama",
}
"""Provider to the function that opens one of its models: `(model, settings) -> LanguageModel`, sync or async. A new
provider is one file and one line here; a server of OpenAI's chat form is a row of data/routes.toml instead."""

EMBEDDED = "qwen2.5-coder-1.5b"
"""The model whose weights `surefoot models pull` fetches."""


async def open_model(name: str, settings: Settings) -> LanguageModel:
    """The model of this name: `ollama:qwen3:4b`, `openrouter:openai/gpt-oss-120b`, `local:/a/file.gguf`.

    Opening does not call the model; what is wrong with it (not pulled, not running) shows at its first call.

    Raises:
        ModelNotFoundError: no such provider, or no model behind it.
        SettingsError: the provider needs a setting that is not there, or a route of the settings cannot be used.
        ProviderAuthError: a hosted provider's key is not there.
    """
    provider, _, model = name.strip().partition(":")
    route = None if provider in PROVIDERS else find_route(provider, settings)
    if not model or (route is None and provider not in PROVIDERS):
        raise _unknown(name, provider, model, [*PROVIDERS, *route_names(settings)])
    if route is not None:
        return model_behind(route, model, settings)
    module, _, function = PROVIDERS[provider].partition(":")
    opened = getattr(import_module(module), function)(model, settings)
    found: LanguageModel = await opened if inspect.isawaitable(opened) else opened
    return found


async def default_model(settings: Settings) -> LanguageModel:
    """The configured model, else a running Ollama's first, else the embedded one.

    Raises:
        NoModelError: there is none; the message names the three ways out.
    """
    if settings.model:
        return await open_model(settings.model, settings)
    found = await _running_ollama(settings)
    if found:
        return await open_model(f"ollama:{found}", settings)
    if local_ready(settings):
        return await open_model(f"local:{EMBEDDED}", settings)
    raise NoModelError(
        f"There is no language model: SUREFOOT_MODEL is not set, no Ollama with a model answers at "
        f"{settings.ollama_url}, and the embedded model is not here.",
        "One of three: `surefoot models pull` fetches the embedded model; start Ollama and `ollama pull qwen3:4b`; "
        "or set SUREFOOT_MODEL to a `provider:model`.",
        ollama_url=settings.ollama_url,
    )


async def planner_model(settings: Settings, chat: LanguageModel) -> LanguageModel:
    """The model that plans: `planner_model` if set, else the one that chats."""
    if not settings.planner_model or settings.planner_model == chat.name:
        return chat
    return await open_model(settings.planner_model, settings)


def local_ready(settings: Settings) -> bool:
    """The embedded model can run here: the extra `local` is installed and its weights are on the disk."""
    if find_spec("xllamacpp") is None:
        return False
    from surefoot.models import weights

    try:
        weights.require(EMBEDDED, settings)
    except ModelFileError:
        return False
    return True


async def _running_ollama(settings: Settings) -> str:
    from surefoot.models.ollama import first_model

    try:
        return await first_model(settings)
    except ProviderError:
        return ""


def _unknown(name: str, provider: str, model: str, providers: list[str]) -> ModelNotFoundError:
    listed = ", ".join(f"{known}:…" for known in providers)
    if provider in providers:
        return ModelNotFoundError(
            f"{name!r} names the provider {provider!r} and no model.",
            f"Write it as `{provider}:model`. `surefoot models list` shows what there is.",
            name=name,
        )
    near = get_close_matches(provider.lower(), providers, n=1)
    guess = f"{near[0]}:{model}" if near and model else f"ollama:{name}"
    return ModelNotFoundError(
        f"There is no provider {provider!r} for the model {name!r}.",
        f"Did you mean {guess!r}? A model is named `provider:model`; the providers are {listed}",
        name=name,
        providers=providers,
        suggestion=guess,
    )
