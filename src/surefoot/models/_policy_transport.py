"""httpx transports whose connections are made by an `AddressPolicy`: checked, then pinned to the checked address."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

if TYPE_CHECKING:
    from surefoot.models.address import AddressPolicy

KEEPALIVE_SECONDS = 5.0
"""As httpx: long enough for the next request of one task, shorter than servers keep theirs."""


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """One context for all clients: reading the certificates takes longer than a request to loopback."""
    return httpx.create_ssl_context()


class AsyncPolicyTransport(httpx.AsyncHTTPTransport):
    """Checks the URL of each request, a redirect's too, and connects only to addresses that were checked."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__(verify=_tls())
        self._policy = policy
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls(), keepalive_expiry=KEEPALIVE_SECONDS, network_backend=_AsyncBackend(policy)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Check, then send.

        Raises:
            AddressRefusedError: the policy does not allow the address.
        """
        self._policy.check(request.url)
        return await super().handle_async_request(request)


class PolicyTransport(httpx.HTTPTransport):
    """The same for a sync client."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__(verify=_tls())
        self._policy = policy
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls(), keepalive_expiry=KEEPALIVE_SECONDS, network_backend=_Backend(policy)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Check, then send.

        Raises:
            AddressRefusedError: the policy does not allow the address.
        """
        self._policy.check(request.url)
        return super().handle_request(request)


class _AsyncBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._addresses(host, port, timeout)
        share = _share(timeout, len(addresses))
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(addresses[-1], port, share, local_address, socket_options)

    async def _addresses(self, host: str, port: int, seconds: float | None) -> list[str]:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(self._policy.addresses, host, port)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{host} was not resolved in time") from error
        except OSError as error:
            raise httpcore.ConnectError(f"{host} cannot be resolved: {error}") from error


class _Backend(httpcore.NetworkBackend):
    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            addresses = self._policy.addresses(host, port)
        except OSError as error:
            raise httpcore.ConnectError(f"{host} cannot be resolved: {error}") from error
        share = _share(timeout, len(addresses))
        for address in addresses[:-1]:
            try:
                return self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._inner.connect_tcp(addresses[-1], port, share, local_address, socket_options)


def _share(timeout: float | None, count: int) -> float | None:
    """Seconds for each of several addresses, so that together they keep the limit."""
    return None if timeout is None else timeout / count
