"""What a person can set: environment variables `SUREFOOT_*` and a TOML file in the platform's config folder.

The environment wins over the file. `docs/settings.md` is generated from this module.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as UnreadableSettingError

from surefoot.errors import SettingsError, UnreadableInputError
from surefoot.settings_tables import RescueRoute, RouteSettings

Policy = Literal["auto", "confirm", "deny"]


def config_folder() -> Path:
    """The platform's config folder for Surefoot, or `SUREFOOT_CONFIG_DIR`."""
    import platformdirs

    given = os.environ.get("SUREFOOT_CONFIG_DIR")
    return Path(given) if given else Path(platformdirs.user_config_dir("surefoot", appauthor=False))


def settings_file() -> Path:
    """Where the settings file lies, whether or not it exists."""
    return config_folder() / "settings.toml"


def _default_data_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("surefoot", appauthor=False))


def _default_cache_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("surefoot", appauthor=False))


class AnyCase(dict[str, Policy]):
    """Policies by name, whatever the case of the name: an environment variable loses it on the way in."""

    def __init__(self, given: dict[str, Policy]) -> None:
        super().__init__({name.casefold(): policy for name, policy in given.items()})

    def __getitem__(self, name: str) -> Policy:
        return super().__getitem__(name.casefold())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.casefold())

    def get(self, name: str, default: Any = None) -> Any:
        """The policy of that name, else `default`."""
        return super().get(name.casefold(), default)


FILE_ONLY = frozenset({"flow_rescue_route", "gemini_url", "mcp", "routes"})
"""Settings that count in the settings file and nowhere else: where a prompt is sent, and which programs are started, is
not for a variable to say."""

_NOT_SHOWN = FILE_ONLY | {"database_url"}
"""Settings whose values stay out of errors: a password may stand in them."""

_DATABASE = re.compile(r"(postgres(ql)?(\+psycopg)?|sqlite)://\S+")

_ROUTE_NAME = re.compile(r"[a-z][a-z0-9_-]*")


class _WithoutFileOnly(PydanticBaseSettingsSource):
    """A source whose values for the settings that belong to the file are refused."""

    def __init__(self, source: PydanticBaseSettingsSource, where: str) -> None:
        super().__init__(source.settings_cls)
        self._source = source
        self._where = where

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return self._source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        values = self._source()
        for name in sorted(FILE_ONLY & values.keys()):
            raise SettingsError(
                f"{name!r} is set by {self._where}, and it counts in the settings file only.",
                f"Write it into {settings_file()}.",
                key=name,
                file=str(settings_file()),
            )
        return values


class Settings(BaseSettings):
    """Every setting, with its default and what it does."""

    model_config = SettingsConfigDict(
        env_prefix="SUREFOOT_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        hide_input_in_errors=True,
    )

    model: str = Field(
        "",
        description="The model that answers, as `provider:name` (`ollama:qwen3:4b`, `local:qwen2.5-coder-1.5b`). "
        "Empty: a running Ollama's first model, else the embedded one.",
    )
    planner_enabled: bool = Field(
        True,
        description="Plan before answering. Off: a model with tool calls works in rounds (docs/loop.md).",
    )
    planner_model: str = Field(
        "", description="Another model for planning only. Empty: the one that answers."
    )
    flow_model: str = Field(
        "",
        description="The model that plans flows, or `none`. Empty: `openrouter:anthropic/claude-sonnet-5` where its "
        "key is, else the one that answers (docs/flow-planning.md).",
    )
    flow_rescue_model: str = Field(
        "openrouter:openai/gpt-6-luna",
        description="The model that helps a flow over a step that failed, or `none`.",
    )
    flow_output_model: str = Field(
        "openrouter:openai/gpt-6-luna",
        description="The model that puts what a flow read into the form that was asked for, or `none`.",
    )
    flow_rescue_route: RescueRoute | None = Field(
        None,
        description="A whole route of the rescue model's own, as a table with `provider`, `base_url`, `key_name` and "
        "`headers`. In the settings file only.",
    )
    planner_timeout_sec: float = Field(
        6.0,
        gt=0,
        description="Seconds a hosted model may take for a plan or a step; a local model gets `local_timeout_sec`.",
    )
    local_timeout_sec: float = Field(
        300.0,
        gt=0,
        description="Seconds a local model (embedded, or Ollama on loopback) may take for one answer.",
    )
    router_model: str = Field(
        "", description="A model that picks among the tools the router ranks. Empty: none."
    )
    max_steps: int = Field(
        5, ge=1, le=20, description="Tool steps in one plan; memory and reply do not count."
    )
    min_query_chars: int = Field(4, ge=0, description="Shorter requests are not planned.")
    min_query_chars_cjk: int = Field(
        2, ge=0, description="The same for requests in Chinese, Japanese or Korean writing."
    )
    num_ctx: int = Field(8192, ge=1024, description="Context asked of a local model, in tokens.")
    zone: str = Field("", description="Your time zone (`Europe/Berlin`). Empty: the system's.")
    language: str = Field("", description="Language of the interface, `en` or `de`. Empty: by locale.")
    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Where the journal and your data lie."
    )
    database_url: SecretStr = Field(
        SecretStr(""),
        description="A PostgreSQL database for the journal and your data, as "
        "`postgresql://user:password@host/database` (docs/postgres.md). Empty: the file `surefoot.db` in the data "
        "folder.",
    )
    cache_dir: Path = Field(
        default_factory=_default_cache_dir, description="Where the weights of models lie."
    )
    files_dir: Path | None = Field(
        None, description="The one folder the files kit may use. Empty: `files` inside the data folder."
    )
    ollama_url: str = Field("http://127.0.0.1:11434", description="Where Ollama listens.")
    openai_url: str = Field(
        "",
        description="Base URL that `openai:` models are asked at in place of OpenAI's (`http://127.0.0.1:8080/v1`).",
    )
    openai_key_name: str = Field(
        "OPENAI_API_KEY",
        description="Name of the key for `openai_url`: an environment variable or keyring entry.",
    )
    gemini_url: str = Field(
        "https://generativelanguage.googleapis.com",
        description="Where `gemini:` models are asked, Google's own API or a proxy of it. In the settings file only.",
    )
    routes: dict[str, RouteSettings] = Field(
        default_factory=dict,
        description="Servers of your own that speak OpenAI's chat form, one table `routes.NAME` each with `base_url`, "
        "`key_name` and `headers`; their models are `NAME:model`. In the settings file only.",
    )
    searxng_url: str = Field("", description="A SearXNG instance for web search. Empty: no web search.")
    feeds: list[str] = Field(
        default_factory=list,
        description="RSS and Atom feeds that news are looked up in when a request names none, as a list of addresses.",
    )
    weather_url: str = Field("https://api.open-meteo.com", description="Open-Meteo, or your own copy of it.")
    geocoding_url: str = Field(
        "https://geocoding-api.open-meteo.com",
        description="Open-Meteo's place search, or your own copy of it.",
    )
    threads: int = Field(0, ge=0, description="Threads for the embedded model. 0: measured once, then kept.")
    policy: dict[str, Policy] = Field(
        default_factory=dict,
        description="What may run, by tool, kit or effect: `auto`, `confirm` or `deny` "
        '(`policy.deleteNote = "confirm"`).',
    )
    limits: dict[str, float] = Field(
        default_factory=dict,
        description="Limits of a run that differ from the defaults (`limits.writes = 10`); docs/limits.md lists them.",
    )
    mcp: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Servers whose tools a plan may call, one table `mcp.NAME` each with `command` or `url` "
        "(docs/mcp.md). In the settings file only.",
    )
    trace: bool = Field(
        False,
        description="Make OpenTelemetry spans of every run, for a program that has set up where they go "
        "(docs/watching.md).",
    )
    trace_content: bool = Field(
        False, description="Write what was said, arguments and results into the spans, with secrets masked."
    )
    offline: bool = Field(False, description="Never use the network, loopback excepted.")

    @field_validator("policy")
    @classmethod
    def _names_in_any_case(cls, value: dict[str, Policy]) -> dict[str, Policy]:
        return AnyCase(value)

    @field_validator("routes")
    @classmethod
    def _names_of_routes(cls, value: dict[str, RouteSettings]) -> dict[str, RouteSettings]:
        for name in value:
            if not _ROUTE_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a route: small letters, digits, - and _")
        return value

    @field_validator("feeds")
    @classmethod
    def _addresses_of_feeds(cls, value: list[str]) -> list[str]:
        from urllib.parse import urlsplit

        for one in value:
            parts = urlsplit(one)
            if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
                raise ValueError(
                    "each is an address such as https://example.org/feed.xml, without a user name"
                )
        return value

    @field_validator("data_dir", "cache_dir", "files_dir", mode="before")
    @classmethod
    def _whole_path(cls, value: object, info: ValidationInfo) -> object:
        """Empty is unset, as for the XDG variables: an empty path would mean the folder one happens to stand in."""
        if value is None or value == "":
            return cls.model_fields[str(info.field_name)].get_default(call_default_factory=True)
        return Path(value).expanduser().absolute() if isinstance(value, (str, Path)) else value

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        import zoneinfo

        if value:
            try:
                zoneinfo.ZoneInfo(value)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
                msg = f"{value!r} is no time zone of the IANA list, such as Europe/Berlin"
                raise ValueError(msg) from error
        return value

    @field_validator("database_url")
    @classmethod
    def _url_of_a_database(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value().strip()
        if text and not _DATABASE.fullmatch(text):
            raise ValueError("it looks like postgresql://user:password@host:5432/database")
        return SecretStr(text)

    @property
    def database(self) -> str:
        """URL of the journal and the kits' data, for `Database`; it may hold a password."""
        return self.database_url.get_secret_value() or f"sqlite:///{self.data_dir / 'surefoot.db'}"

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the keys that these settings speak of."""
        rescue = (self.flow_rescue_route.key_name,) if self.flow_rescue_route else ()
        named = (self.openai_key_name, *(route.key_name for route in self.routes.values()), *rescue)
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def files_folder(self) -> Path:
        """The folder of the files kit."""
        return self.files_dir or self.data_dir / "files"

    @cached_property
    def zone_name(self) -> str:
        """The person's time zone: the setting, else the system's, else UTC."""
        if self.zone:
            return self.zone
        import tzlocal

        try:
            return tzlocal.get_localzone_name() or "UTC"
        except Exception:  # noqa: BLE001 - a broken system zone file must not stop the person
            return "UTC"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What the caller gives wins over the environment, the environment over the file."""
        del dotenv_settings, file_secret_settings
        return (
            _WithoutFileOnly(init_settings, "the program"),
            _WithoutFileOnly(env_settings, "the environment"),
            TomlConfigSettingsSource(settings_cls, settings_file()),
        )


def load_settings(**overrides: Any) -> Settings:
    """The settings in force: `overrides` over the environment over the file.

    Raises:
        UnreadableInputError: the file is not TOML.
        SettingsError: a key is unknown or a value cannot be used; the message names the key, value and place.
    """
    path = settings_file()
    if path.is_dir():  # the reader would pass over it, and the person's settings with it
        raise UnreadableInputError(f"The settings file {path} is a folder.", "Move it away.", path=str(path))
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise _settings_error(error, path) from error
    except UnreadableSettingError as error:
        raise SettingsError(
            f"A setting in the environment is no JSON: {error}.", "Write it as JSON, or in the settings file."
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UnreadableInputError(
            f"The settings file {path} cannot be read: {error}.", "Mend it or move it away.", path=str(path)
        ) from error


def _settings_error(error: ValidationError, path: Path) -> SettingsError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        from difflib import get_close_matches

        near = get_close_matches(key, list(Settings.model_fields), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "docs/settings.md lists every setting."
        fields = {"routes": RouteSettings.model_fields, "flow_rescue_route": RescueRoute.model_fields}
        if known := fields.get(str(first["loc"][0])):
            hint = f"A route has {', '.join(known)}; a key itself never stands in the file."
        return SettingsError(f"There is no setting {key!r}.", hint, key=key, file=str(path))
    reason = str(first["msg"]).removeprefix("Value error, ")
    only_file = first["loc"][0] in FILE_ONLY
    elsewhere = "" if only_file else f" or in SUREFOOT_{key.upper().replace('.', '__')}"
    shown = "cannot be used" if first["loc"][0] in _NOT_SHOWN else f"is {first.get('input')!r}"
    return SettingsError(
        f"Setting {key!r} {shown}: {reason}.",
        f"Change it in {path}{elsewhere}.",
        key=key,
        file=str(path),
    )
