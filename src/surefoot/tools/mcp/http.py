"""A server at an address: streamable HTTP through the SDK, connections through the address policy.

The SDK's HTTP library is a twin of httpx with names of its own, so the transport of `models` cannot be used for it.
What goes wrong on the way is answered in the server's place with an error of ours: it tells whether the request was
sent, and one broken request does not end the others.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from surefoot.errors import AddressRefusedError
from surefoot.models.address import AddressPolicy
from surefoot.tools.mcp.lines import MAX_MESSAGE_BYTES, MAYBE_SENT, NOT_SENT

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CONNECT_SEC = 10.0
"""As for providers of models: a server that has not taken the connection by then is not there."""

_SESSION = "mcp-session-id"
_NOT_FOUND = 404
_ERROR = 400
_SERVER_ERROR = 500


class HttpLine:
    """Requests to one configured endpoint.

    Args:
        url: the endpoint.
        headers: those of every request, keys included.
        policy: allows this endpoint and nothing else.
    """

    keeps_open = False

    def __init__(self, url: str, headers: Mapping[str, str], policy: AddressPolicy) -> None:
        self._url = url
        self._headers = dict(headers)
        self._policy = policy
        self._open = False

    def alive(self) -> bool:
        """It was opened; whether the server is there shows at the next request."""
        return self._open

    def trouble(self) -> str:
        """Nothing: there is no second stream."""
        return ""

    @asynccontextmanager
    async def opened(self, ended: Callable[[], None]) -> AsyncIterator[TransportStreams]:
        """Open it. No proxy, netrc or cookie of the person is used."""
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(
            transport=_Transport(self._policy),
            headers={
                "Accept-Encoding": "identity",
                **self._headers,
            },  # what is small packed may be huge unpacked
            # No limit for reading: the time of a call is the executor's, and a stream of notices may be silent.
            timeout=httpx2.Timeout(CONNECT_SEC, read=None),
            trust_env=False,
        ) as client:
            line = streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES)
            async with line as streams:
                self._open = True
                try:
                    yield streams
                finally:
                    self._open = False
                    ended()


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class _Transport(httpx2.AsyncHTTPTransport):
    """Checks every request, connects only to addresses that were checked, and answers itself where that fails."""

    def __init__(self, policy: AddressPolicy) -> None:
        super().__init__(verify=_tls())
        self._policy = policy
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=_tls(), network_backend=_Backend(policy))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            self._policy.check(str(request.url))
            response = await super().handle_async_request(request)
        except AddressRefusedError as error:
            return _answer(NOT_SENT, error.message)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return _answer(NOT_SENT, f"it cannot be reached ({_words(error)})")
        except httpx2.TransportError as error:
            return _answer(MAYBE_SENT, f"the connection broke ({_words(error)})")
        if response.status_code == _NOT_FOUND and _SESSION in request.headers:
            await response.aclose()
            return _answer(NOT_SENT, "it has forgotten the session", _NOT_FOUND)
        if response.status_code >= _ERROR and not _is_json(response):
            await response.aclose()
            return _refusal(response.status_code)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            return _answer(MAYBE_SENT, "its answer is compressed, which was not asked for")
        response.stream = _Bounded(response.stream, MAX_MESSAGE_BYTES if _is_json(response) else None)
        return response


def _is_json(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").lower().startswith("application/json"))


def _refusal(status: int) -> httpx2.Response:
    """An HTTP error without a message of the protocol. Of a server's own fault it is not known what it had done."""
    code = MAYBE_SENT if status >= _SERVER_ERROR else -32_600
    return _answer(code, f"it answered with HTTP status {status}", status)


def _answer(code: int, message: str, status: int = 503) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return httpx2.Response(status, content=json.dumps(body), headers={"content-type": "application/json"})


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Bounded(httpx2.AsyncByteStream):
    """A body of which no more than `most` bytes are read; None for a stream of events, which its reader bounds."""

    def __init__(self, inner: Any, most: int | None) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        try:
            async for piece in self._inner:
                read += len(piece)
                if self._most is not None and read > self._most:
                    raise httpx2.StreamError(f"the answer has more than {self._most} bytes")
                yield piece
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"the connection broke ({_words(error)})") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Backend(httpcore2.AsyncNetworkBackend):
    """Connects to the addresses that the policy has resolved and checked, one after the other."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._addresses(host, port)
        share = None if timeout is None else timeout / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(addresses[-1], port, share, local_address, socket_options)

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(CONNECT_SEC):
                return await asyncio.to_thread(self._policy.addresses, host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from error
        except OSError as error:
            raise httpcore2.ConnectError(f"{host} cannot be resolved: {error}") from error
