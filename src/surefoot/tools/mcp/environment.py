"""What a server gets to know: the variables and headers that were named for it, and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from surefoot.models.keys import Key, need_key
from surefoot.tools.mcp.servers import McpServer

INHERITED = (
    ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
    if os.name == "posix"
    else ("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT",
          "TEMP", "USERNAME", "USERPROFILE")
)  # fmt: skip
"""Variables without which programs do not find themselves, their home or their language. None holds a secret."""

_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|(^|_)(PASS|PAT|PIN|DSN|URL|URI)(_|$)",
    re.IGNORECASE,
)
"""Names of variables whose value is masked wherever it turns up. Rather one too many: addresses of databases carry
passwords. What is not masked are values like `production` or a path, which would black out half of every text."""


class Given(NamedTuple):
    """Values by the name of the variable or header, and the keys among them."""

    values: dict[str, str]
    keys: tuple[Key, ...]


def variables(name: str, server: McpServer) -> Given:
    """The whole environment of a started server.

    Raises:
        ProviderAuthError: a key or variable that was named is not there.
        SettingsError: a name cannot be one of a key.
    """
    plain = {variable: os.environ[variable] for variable in INHERITED if variable in os.environ}
    named = _looked_up(name, server.env)
    return Given(plain | named.values, named.keys)


def headers(name: str, server: McpServer) -> Given:
    """The headers of a server that is reached over HTTP; raises as `variables`."""
    bearer = (need_key(server.key, _who(name)),) if server.key else ()
    others = {header: need_key(key, _who(name)) for header, key in server.headers.items()}
    values = {header: key.reveal() for header, key in others.items()}
    for key in bearer:
        values["Authorization"] = f"Bearer {key.reveal()}"
    return Given(values, (*bearer, *others.values()))


def _looked_up(who: str, names: Mapping[str, str]) -> Given:
    values: dict[str, str] = {}
    keys: list[Key] = []
    for variable, name in names.items():
        hidden = _SECRET.search(variable) or _SECRET.search(name)
        plain = "" if hidden else os.environ.get(name, "")
        if plain:
            values[variable] = plain
            continue
        keys.append(need_key(name, _who(who)))
        values[variable] = keys[-1].reveal()
    return Given(values, tuple(keys))


def _who(name: str) -> str:
    return f"The MCP server {name!r}"
