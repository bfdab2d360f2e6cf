"""Which models plan flows, help over a failed step and shape what was read, and where each of them is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from surefoot.errors import NoModelError, PlannerNotConfiguredError, SettingsError
from surefoot.models.keys import find_key
from surefoot.models.registry import default_model, open_model
from surefoot.models.routes import Route, built_in, find_route, model_behind
from surefoot.models.routes import names as route_names
from surefoot.planning.flow_plan import Note

if TYPE_CHECKING:
    from surefoot.models.types import LanguageModel
    from surefoot.settings import Settings
    from surefoot.settings_tables import RescueRoute

PLANNER: Final = "openrouter:anthropic/claude-sonnet-5"
"""Plans flows where nothing else is set and its key is there."""
NONE: Final = "none"
"""As a model's name: there is to be none."""
EFFORT: Final = "low"
"""How much the rescue and the output model, which reason, may think before they answer."""
SDK_HEADER: Final = "x-sdk-name"
SDK_ROUTE: Final = "tinyhumans"
"""The one route that gets the header."""

Role = Literal["planner", "rescue", "output"]
_HINT: Final = (
    "Set `flow_model` to a `provider:model`, or write the flow by hand (`surefoot flow guide` tells how) and check it "
    "with `surefoot flow check`."
)


async def flow_model(settings: Settings) -> tuple[LanguageModel, Note | None]:
    """The model that plans flows, and what to know of the choice.

    It is `flow_model` of the settings, else the one of OpenRouter where its key is, else the one that answers, with a
    note: a small one plans worse.

    Raises:
        PlannerNotConfiguredError: it is `none`, or there is no model at all.
        ProviderError, SettingsError: the chosen one cannot be opened.
    """
    chosen = _chosen(settings)
    if chosen:
        return await open_model(chosen, settings), None
    try:
        model = await default_model(settings)
    except NoModelError as error:
        raise PlannerNotConfiguredError(f"No model plans flows: {error.message}", _HINT) from error
    return model, Note(
        "default_model",
        f"Planned by {model.name}, the model that answers: no other is set for flows. A larger one plans better; "
        "`flow_model` names it.",
    )


def _chosen(settings: Settings) -> str:
    """The name that the settings come to; empty for the model that answers."""
    if settings.flow_model.strip().casefold() == NONE:
        raise PlannerNotConfiguredError("No model plans flows: `flow_model` is `none`.", _HINT)
    if settings.flow_model.strip():
        return settings.flow_model.strip()
    route = built_in()["openrouter"]
    return PLANNER if not settings.offline and find_key(route.key_name) else ""


async def rescue_model(settings: Settings) -> LanguageModel | None:
    """The model that helps over a failed step, behind its own route where it has one; None where it is `none`.

    Raises:
        ProviderError, SettingsError: it cannot be opened.
    """
    if _is_none(settings.flow_rescue_model):
        return None
    if settings.flow_rescue_route is None:
        return await open_model(settings.flow_rescue_model, settings)
    return model_behind(
        rescue_route(settings.flow_rescue_route, settings), _bare(settings.flow_rescue_model), settings
    )


async def output_model(settings: Settings) -> LanguageModel | None:
    """The model that shapes what was read; None where it is `none`.

    Raises:
        ProviderError, SettingsError: it cannot be opened.
    """
    if _is_none(settings.flow_output_model):
        return None
    return await open_model(settings.flow_output_model, settings)


def rescue_route(own: RescueRoute, settings: Settings) -> Route:
    """The route of this table: the server of an allowed route, and the key and headers of the table alone.

    Raises:
        SettingsError: there is no such route, the address is another than its own, it names no key, or it brings a
            header that belongs to another route.
    """
    route = find_route(own.provider, settings)
    if route is None:
        raise _refused(
            "provider", f"There is no route {own.provider!r}.", f"One of {', '.join(route_names(settings))}."
        )
    if own.base_url and own.base_url.rstrip("/") != route.base_url:
        raise _refused(
            "base_url",
            f"{own.base_url!r} is not the address of the route {route.name!r}.",
            f"It may only be {route.base_url}. A server of your own is a table `routes.NAME`.",
        )
    if not own.key_name and not route.local:
        raise _refused(
            "key_name",
            f"The route {route.name!r} needs a key, and none is named.",
            "Name it: nothing is inherited.",
        )
    if route.name != SDK_ROUTE and SDK_HEADER in {name.casefold() for name in own.headers}:
        raise _refused(
            "headers", f"{SDK_HEADER!r} is for the route {SDK_ROUTE!r} only.", "Take it out of `headers`."
        )
    return replace(route, key_name=own.key_name, headers=_merged(_fixed(route.name), own.headers))


def _fixed(name: str) -> Mapping[str, str]:
    """The headers that the form of a built-in route has; a person's own table gives none to another."""
    known = built_in().get(name)
    return known.headers if known else {}


def _merged(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    return {key.casefold(): text for headers in (first, second) for key, text in headers.items()}


def _refused(key: str, message: str, hint: str) -> SettingsError:
    return SettingsError(message, hint, key=f"flow_rescue_route.{key}")


def _bare(name: str) -> str:
    return name.strip().partition(":")[2] or name.strip()


def _is_none(name: str) -> bool:
    return name.strip().casefold() in {NONE, ""}


# --- what is in force ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Configured:
    """One of the three models as it is in force. It holds the name of a key and whether it is there, never the key.

    `route` is the provider, `base_url` where it is asked (empty: inside this program); `wrong` says why it cannot be.
    """

    role: Role
    model: str = ""
    route: str = ""
    base_url: str = ""
    key_name: str = ""
    key_found: bool | None = None
    effort: str = ""
    note: str = ""
    wrong: str = ""

    def to_dict(self) -> dict[str, Any]:
        """It as JSON, what is empty as null."""
        return {
            "model": self.model or None,
            "route": self.route or None,
            "base_url": self.base_url or None,
            "key_name": self.key_name or None,
            "key_found": self.key_found,
            "reasoning_effort": self.effort or None,
            "note": self.note or None,
            "wrong": self.wrong or None,
        }


async def configuration(settings: Settings) -> dict[Role, Configured]:
    """The models in force for planning, rescue and output: route, model, address, name of the key. None is called."""
    return {
        "planner": await _planner(settings),
        "rescue": _named("rescue", settings.flow_rescue_model, settings, settings.flow_rescue_route),
        "output": _named("output", settings.flow_output_model, settings),
    }


async def _planner(settings: Settings) -> Configured:
    try:
        chosen, note = _chosen(settings), ""
        if not chosen:
            model, said = await flow_model(settings)
            chosen, note = model.name, said.text if said else ""
            await model.close()
    except PlannerNotConfiguredError as error:
        return Configured("planner", wrong=error.message)
    return replace(_named("planner", chosen, settings), note=note)


def _named(role: Role, name: str, settings: Settings, own: RescueRoute | None = None) -> Configured:
    effort = "" if role == "planner" else EFFORT
    if _is_none(name):
        return Configured(role, wrong=f"`flow_{role}_model` is `none`.")
    provider, _, model = name.strip().partition(":")
    try:
        route = rescue_route(own, settings) if own else find_route(provider, settings)
    except SettingsError as error:
        return Configured(role, name, provider, effort=effort, wrong=str(error))
    if route is None:
        return replace(_of_provider(role, name, provider, settings), effort=effort)
    found = find_key(route.key_name) is not None if route.key_name else None
    wrong = f"There is no key named {route.key_name}." if found is False and not route.local else ""
    shown = f"{route.name}:{model}"
    return Configured(role, shown, route.name, route.base_url, route.key_name, found, effort, wrong=wrong)


def _of_provider(role: Role, name: str, provider: str, settings: Settings) -> Configured:
    """A model of a provider that is no route: embedded, Ollama, Gemini."""
    from surefoot.models.registry import PROVIDERS

    if provider not in PROVIDERS:
        return Configured(role, name, provider, wrong=f"There is no provider {provider!r}.")
    address = {"ollama": settings.ollama_url, "gemini": settings.gemini_url}.get(provider, "")
    if provider != "gemini":
        return Configured(role, name, provider, address)
    from surefoot.models.gemini import KEY_NAMES

    key_name = next((key for key in KEY_NAMES if find_key(key)), KEY_NAMES[0])
    found = find_key(key_name) is not None
    wrong = "" if found else f"There is no key named {key_name}."
    return Configured(role, name, provider, address, key_name, found, wrong=wrong)
