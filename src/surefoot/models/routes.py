"""Routes: the servers that speak OpenAI's chat form. The built-in ones are rows of data/routes.toml.

A route of one's own is a table `routes.NAME` of the settings file and of nothing else. It may not take the name of
another provider; of a built-in route on this machine it changes where that listens.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from surefoot.errors import SettingsError
from surefoot.models.networks import is_local_host

if TYPE_CHECKING:
    from surefoot.models.openai_compatible import OpenAICompatibleModel
    from surefoot.settings import Settings
    from surefoot.settings_tables import RouteSettings

OPENAI = "openai"
"""The route whose address `openai_url` changes."""


@dataclass(frozen=True, slots=True)
class Route:
    """One server of OpenAI's chat form; the fields are those of data/routes.toml."""

    name: str
    title: str
    base_url: str
    key_name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    bound_body: Mapping[str, Any] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    effort: str = "reasoning_effort"

    def effort_fields(self, effort: str) -> dict[str, Any]:
        """The fields that say how much a reasoning model may think."""
        field_name, _, inner = self.effort.partition(".")
        return {field_name: {inner: effort} if inner else effort}

    @property
    def local(self) -> bool:
        """It is on this machine."""
        return is_local_host(self.base_url)

    @property
    def built_in(self) -> bool:
        """It is as data/routes.toml has it: no setting changed it."""
        return self == built_in().get(self.name)

    @property
    def shown(self) -> str:
        """How messages name it: with its address, unless everybody knows that."""
        return self.title if self.built_in and not self.local else f"{self.title} at {self.base_url}"


@lru_cache(maxsize=1)
def built_in() -> dict[str, Route]:
    """The routes of data/routes.toml, by name."""
    rows = tomllib.loads((files("surefoot.models") / "data" / "routes.toml").read_text("utf-8"))
    return {name: _row(name, row) for name, row in rows.items()}


def _row(name: str, row: dict[str, Any]) -> Route:
    return Route(name=name, **{**row, "facts": tuple(row.get("facts", ()))})


def names(settings: Settings) -> list[str]:
    """Names of all routes: built-in ones first, then the person's."""
    return list(dict.fromkeys([*built_in(), *settings.routes]))


def key_names(settings: Settings) -> tuple[str, ...]:
    """Names of the keys that a model's route may need, so that their values can be masked from the start."""
    known = [route.key_name for route in built_in().values() if route.key_name]
    return tuple(dict.fromkeys([*settings.key_names, *known]))


def find_route(name: str, settings: Settings) -> Route | None:
    """The route of this name, None where there is none.

    Raises:
        SettingsError: a table of the settings file takes the name of a hosted route or of another provider.
    """
    own, known = settings.routes.get(name), built_in().get(name)
    if own is not None:
        _check_free(name, known)
        return _own(name, own, known)
    if name == OPENAI and known is not None and settings.openai_url:
        url = settings.openai_url.rstrip("/")
        return replace(known, title="The server", base_url=url, key_name=settings.openai_key_name)
    return known


def _own(name: str, own: RouteSettings, known: Route | None) -> Route:
    if known is None:
        return Route(name, name, own.base_url, own.key_name, own.headers)
    return replace(
        known,
        base_url=own.base_url,
        key_name=own.key_name or known.key_name,
        headers={**known.headers, **own.headers},
    )


def _check_free(name: str, known: Route | None) -> None:
    from surefoot.models.registry import PROVIDERS

    if name in PROVIDERS or (known is not None and not known.local):
        raise SettingsError(
            f"The table 'routes.{name}' of the settings file takes the name of a provider that is there already.",
            "Give it another name; its models are then `NAME:model`.",
            key=f"routes.{name}",
        )


def open_route(name: str, model: str, settings: Settings) -> OpenAICompatibleModel:
    """A model behind this route.

    Raises:
        SettingsError: there is no such route, its table cannot be used, or its address is none.
        ProviderAuthError: it is not on this machine and its key is not there.
    """
    route = find_route(name, settings)
    if route is None:
        raise SettingsError(
            f"There is no route {name!r}.",
            f"The routes are {', '.join(names(settings))}; add one as a table `routes.{name}` of the settings file.",
            key=f"routes.{name}",
        )
    return model_behind(route, model, settings)


def model_behind(route: Route, model: str, settings: Settings) -> OpenAICompatibleModel:
    """A model behind a route that was found; the same errors."""
    from surefoot.models.address import AddressPolicy
    from surefoot.models.http import ProviderClient
    from surefoot.models.keys import find_key, need_key
    from surefoot.models.openai_compatible import HOSTED_SECONDS, OpenAICompatibleModel

    policy = AddressPolicy.for_endpoint(route.base_url, settings)
    need = find_key if route.local else lambda key_name: need_key(key_name, route.shown)
    key = need(route.key_name) if route.key_name else None
    root, prefix = _split(route.base_url)

    def headers() -> dict[str, str]:
        return {**route.headers, **({"authorization": f"Bearer {key.reveal()}"} if key else {})}

    client = ProviderClient(
        provider=route.shown, base_url=root, policy=policy, headers=headers, local=route.local
    )
    return OpenAICompatibleModel(
        model,
        client,
        route=route,
        prefix=prefix,
        default_seconds=settings.local_timeout_sec if route.local else HOSTED_SECONDS,
    )


def _split(base_url: str) -> tuple[str, str]:
    """The server's root, where its own paths begin, and the prefix of the chat form's paths."""
    return (base_url.removesuffix("/v1"), "/v1") if base_url.endswith("/v1") else (base_url, "")
