"""Talking to a loaded model over loopback, in this process or another of the same person."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from surefoot.errors import ContextLengthError, ProviderRequestError

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 2.0
"""Loopback answers at once or not at all."""
ALIVE_SECONDS = 5.0
"""How long a busy owner may take to say that it lives."""

SETTLE_SECONDS = 60.0
"""For the first answer of a model just loaded, which is given without reading anything."""


class EngineGoneError(Exception):
    """The process that held the model at `address` is gone. Who sees it takes over or says so in our errors."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(address)


class Wire:
    """The calls of llama.cpp's server that are needed here.

    Each call opens its own connection: cheap on loopback, bound to no event loop, and closing it stops the call.
    """

    def __init__(self, address: str, key: str) -> None:
        self.address = address
        self._headers = {"Authorization": f"Bearer {key}"}

    def alive(self) -> bool:
        """The server answers and takes the key. Blocks for a moment."""
        import httpx

        try:
            with httpx.Client(**self._options(), timeout=ALIVE_SECONDS) as client:
                return client.get("/v1/models").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def settle(self) -> None:
        """Wait until the server's loop works on what it is asked. Blocks."""
        import httpx

        with httpx.Client(**self._options(), timeout=SETTLE_SECONDS) as client:
            client.get("/slots").raise_for_status()

    async def events(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a streamed completion; the last has `"stop": true`. Closing the iterator stops the model.

        Raises:
            ContextLengthError: the prompt does not fit; said before it is read.
            ProviderRequestError: the server rejects the request.
            EngineGoneError: the server is gone, at the start or in the middle.
        """
        import httpx

        try:
            async with self._client() as client, client.stream("POST", "/completion", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    raise refusal(response)
                async for line in _lines(response):
                    if line.startswith(b"data: {"):
                        yield _event(line.removeprefix(b"data: "))
        except httpx.TransportError as error:
            raise EngineGoneError(self.address) from error

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One call without streaming; the same errors."""
        import httpx

        try:
            async with self._client() as client:
                response = await client.post(path, json=body)
        except httpx.TransportError as error:
            raise EngineGoneError(self.address) from error
        if response.status_code != httpx.codes.OK:
            raise refusal(response)
        data: dict[str, Any] = response.json()
        return data

    async def slot(self, number: int, action: str, filename: str) -> dict[str, Any]:
        """Save a slot's state to a file of the states folder, or restore it from there; how much it was."""
        return await self.post(f"/slots/{number}?action={action}", {"filename": filename})

    def _client(self) -> httpx.AsyncClient:
        import httpx

        limits = httpx.Timeout(
            None, connect=CONNECT_SECONDS
        )  # the caller's time limit covers the whole answer
        return httpx.AsyncClient(**self._options(), timeout=limits)

    def _options(self) -> dict[str, Any]:
        # No proxy of the environment may come between, and loopback needs no certificates.
        return {
            "base_url": self.address,
            "headers": self._headers,
            "trust_env": False,
            "verify": _no_certificates(),
        }


@lru_cache(maxsize=1)
def _no_certificates() -> ssl.SSLContext:
    """A context without the system's certificates: reading those would cost more than the call."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Lines as the event stream means them. httpx's own lines also end at U+0085 and U+2028, which are text here."""
    rest = b""
    async for block in response.aiter_bytes():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line
    yield rest


def _event(text: bytes) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(text)
    if "error" in event:
        raise _refused(event["error"])
    return event


def refusal(response: httpx.Response) -> Exception:
    """The error that an answer with an error status means."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = {"message": f"status {response.status_code}"}
    if response.status_code in {401, 403}:  # the port belongs to somebody else by now
        return EngineGoneError(str(response.request.url.copy_with(raw_path=b"/")).rstrip("/"))
    return _refused(error if isinstance(error, dict) else {"message": str(error)})


def _refused(error: dict[str, Any]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        return too_long(int(error.get("n_prompt_tokens", 0)), int(error.get("n_ctx", 0)))
    return ProviderRequestError(
        f"llama.cpp refused the request: {error.get('message', 'no reason given')}.",
        "Check the grammar or schema that the request carries.",
    )


def too_long(prompt_tokens: int, context: int) -> ContextLengthError:
    """The error for a prompt that does not fit."""
    return ContextLengthError(
        f"The prompt has {prompt_tokens} tokens and the model's context {context}.",
        "Shorten it, or raise the setting num_ctx.",
        prompt_tokens=prompt_tokens,
        context=context,
    )
