"""Refuses every connection and name look-up that leaves the machine, loudly."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class NetworkBlockedError(RuntimeError):
    """A test tried to leave the machine. It is no OSError: code that handles a dead network must not hide it."""


def _host_of(address: Any) -> str | None:
    """The host of an IP address tuple; None for what never leaves the machine, such as Unix sockets."""
    return str(address[0]) if isinstance(address, tuple) and address else None


def _numeric(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _stays_here(host: str | None) -> bool:
    if host is None or host in {"", "localhost"}:
        return True
    address = _numeric(host)
    return address is not None and address.is_loopback


_open = False
"""Lifted for a moment, for the smoke tests that ask a real provider with a key of the person's."""


@contextmanager
def allow_network() -> Iterator[None]:
    """Inside, the guard lets everything through."""
    global _open  # noqa: PLW0603 - worker threads look names up, so no context variable would reach them
    _open = True
    try:
        yield
    finally:
        _open = False


def _refuse(what: str, host: str | None) -> None:
    if _open:
        return
    raise NetworkBlockedError(
        f"A test may not {what} {host!r}, only loopback. Use a loopback server or pass a scripted part."
    )


@contextmanager
def block_network() -> Iterator[None]:
    """Inside, sockets connect to loopback only and only local names and numeric addresses are looked up."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        look_up = socket.getaddrinfo

        def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
            name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
            if not _stays_here(name) and _numeric(name) is None:
                _refuse("look up", name)
            return look_up(host, *args, **kwargs)

        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def _guarded(method: Any) -> Any:
    def guarded(self: socket.socket, *args: Any) -> Any:
        host = _host_of(args[-1]) if args else None
        if not _stays_here(host):
            _refuse("connect to", host)
        return method(self, *args)

    return guarded
