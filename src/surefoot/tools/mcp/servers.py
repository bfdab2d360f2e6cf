"""What a person says of an MCP server: a table `mcp.NAME` of the settings file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from surefoot.errors import SettingsError
from surefoot.settings import settings_file

_NAME = re.compile(r"(?=.{1,24}\Z)[A-Za-z0-9]+([_-][A-Za-z0-9]+)*")
"""Short, for the tool's own name must fit behind it into the 64 characters of a provider; never `__` in it, nor `_` at
its end, so that `server__tool` can be read in one way only."""

DEFAULT_TIMEOUT_SEC = 60.0
"""As for every other tool that names no time."""


def _as_table(value: Any) -> Any:
    """A list of names stands for variables that are called like their keys."""
    return {name: name for name in value} if isinstance(value, list) else value


class McpServer(BaseModel):
    """One server: a program that is started (`command`), or an address (`url`).

    Everything secret is given by the name of its key; no key stands in the settings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = ""
    """The program that speaks MCP over its standard streams."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    url: str = ""
    """The address of a server that speaks streamable HTTP."""
    env: Annotated[dict[str, str], BeforeValidator(_as_table)] = Field(default_factory=dict)
    """Variables that the program gets: the variable, and the name of the key or variable it is taken from."""
    key: str = ""
    """Name of the key that is sent to `url` as a bearer token."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers for `url`, each with the name of its key."""
    trusted: bool = False
    """Believe its word that a tool only reads."""
    effects: dict[str, Literal["read", "external"]] = Field(default_factory=dict)
    """What a tool does, by the server's own name of it; wins over what the server says."""
    timeout: float = Field(DEFAULT_TIMEOUT_SEC, gt=0)
    """Seconds for one call."""
    enabled: bool = True
    """Off: as if it were not there."""

    @model_validator(mode="after")
    def _one_way_to_it(self) -> Self:
        if bool(self.command.strip()) == bool(self.url):
            raise ValueError("a server has either a `command` or a `url`")
        if self.url and (self.args or self.env):
            raise ValueError("`args` and `env` belong to a `command`; a `url` takes `key` and `headers`")
        if self.command and (self.key or self.headers):
            raise ValueError("`key` and `headers` belong to a `url`; a `command` takes `env`")
        if self.url:
            _check_url(self.url)
        return self


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("a `url` looks like https://example.com/mcp")
    if parts.username is not None:
        raise ValueError("a user name or password does not belong into a `url`; give the name of a `key`")


def read_servers(tables: Mapping[str, Any]) -> dict[str, McpServer]:
    """The servers that are enabled, by name, in the order of the settings.

    Raises:
        SettingsError: a name or a table cannot be used; the message names the place and never a value, which may be a
            key that somebody wrote there.
    """
    read = {name: _read(name, table) for name, table in tables.items()}
    folded = [name.casefold() for name in read]
    for name in read:
        if folded.count(name.casefold()) > 1:
            raise _unusable(f"mcp.{name}", "there is another server of that name, upper and lower case apart")
    return {name: server for name, server in read.items() if server.enabled}


def is_of_server(name: str, servers: Iterable[str]) -> bool:
    """A name of the policy that speaks of one of these servers: its kit, or a tool of it, whether or not it is up."""
    folded = name.casefold()
    return any(
        folded == kit_of(server).casefold() or folded.startswith(f"{server.casefold()}__")
        for server in servers
    )


def kit_of(server: str) -> str:
    """The kit of a server's tools, as the policy names it; prefixed, so that none takes a built-in kit's policy."""
    return f"mcp-{server}"


def _read(name: str, table: Any) -> McpServer:
    if not _NAME.fullmatch(name):
        raise _unusable(
            f"mcp.{name}",
            "a server's name has at most 24 letters and digits, with single - or _ between them",
        )
    try:
        return McpServer.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in ("mcp", name, *first["loc"]))
        reason = str(first["msg"]).removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = f"there is no such setting of a server; it has {', '.join(McpServer.model_fields)}"
        raise _unusable(place, reason) from None  # pydantic's own text repeats the value


def _unusable(place: str, reason: str) -> SettingsError:
    path = settings_file()
    return SettingsError(
        f"Setting {place!r} cannot be used: {reason}.", f"Change it in {path}.", key=place, file=str(path)
    )
