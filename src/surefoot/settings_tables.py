"""Tables of the settings file that name a server: what may stand in them."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
"""Names of headers that carry secrets; a settings file holds none, and keys have a place of their own."""


def _checked_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not (text.isascii() and text.isprintable()):
            raise ValueError(f"{name!r} is no header that can be sent")
        if _SECRET_HEADER.search(name):
            raise ValueError(f"{name!r} would carry a secret; give the name of the key as key_name")
    return headers


class RouteSettings(BaseModel):
    """A server of one's own that speaks OpenAI's chat form, as a table `routes.NAME` of the settings file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str
    """Where its paths begin (`https://gateway.example.com/v1`)."""
    key_name: str = ""
    """Name of its key; empty where it takes none."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Fixed headers of every request; nothing secret."""

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        from urllib.parse import urlsplit

        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("a base URL looks like https://gateway.example.com/v1")
        if parts.username is not None:
            raise ValueError("a user name or password does not belong into an address; use key_name")
        return value.rstrip("/")

    @field_validator("headers")
    @classmethod
    def _nothing_secret(cls, value: dict[str, str]) -> dict[str, str]:
        return _checked_headers(value)


class RescueRoute(BaseModel):
    """A complete route of the rescue model's own, the table `flow_rescue_route`: nothing of another route is in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    """Name of a route there is: a built-in one, or a table `routes.NAME`."""
    base_url: str = ""
    """May only repeat that route's address; empty: the same."""
    key_name: str = ""
    """Name of the key for it; empty where the server takes none."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Fixed headers of every request; nothing secret."""

    @field_validator("headers")
    @classmethod
    def _nothing_secret(cls, value: dict[str, str]) -> dict[str, str]:
        return _checked_headers(value)
