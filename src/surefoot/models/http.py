"""The one edge between adapters and a provider's HTTP server: time-outs, retries, framing, errors.

Answers are streamed inside, so that a gateway that gives up after a silent minute does not end them, and gathered
outside. Passing failures are tried again as long as nobody has seen a piece of the answer.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot.errors import (
    ProviderError,
    ProviderRequestError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from surefoot.models.refusals import error_for, not_json, read_refusal, shorten

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

    from surefoot.models.address import AddressPolicy

T = TypeVar("T")

WAITS = (1.0, 2.0, 4.0)
"""Seconds between the four attempts (design of the native loop): long enough for a restart, short for a person."""

LONGEST_WAIT = 60.0
"""A provider that asks for more than this gets no sleeping program: the caller is told how long."""

CONNECT_SECONDS = 10.0
"""A server that has not taken the connection by then is not there."""

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line of a stream; a longer one is no answer of a model."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes read of a refusal; the rest says nothing new."""


class Deadline:
    """The end of one answer's time, its retries included.

    Args:
        seconds: the whole time-out.
        clock: monotonic seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._start = clock()

    def left(self) -> float:
        """Seconds left; 0 or less when it is over."""
        return self.seconds - self.spent()

    def spent(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._start


class ProviderClient:
    """HTTP to one provider.

    Args:
        provider: how messages name it (`Ollama at http://127.0.0.1:11434`).
        base_url: where its paths begin, without a slash at the end.
        policy: which addresses it may connect to.
        headers: made anew for each request, so that no key is kept here.
        local: it runs on this machine; what is not there will not be there a second later.
        sleep: how to wait between attempts.
        clock: monotonic seconds.
        now: Unix time, for `Retry-After` dates.
    """

    def __init__(
        self,
        *,
        provider: str,
        base_url: str,
        policy: AddressPolicy,
        headers: Callable[[], Mapping[str, str]] = dict,
        local: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.provider = provider
        self.base_url = base_url.rstrip("/")
        self._policy = policy
        self._headers = headers
        self._local = local
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def deadline(self, seconds: float) -> Deadline:
        """A deadline by this client's clock."""
        return Deadline(seconds, self._clock)

    async def json(self, method: str, path: str, body: object = None, *, deadline: Deadline) -> Any:
        """One JSON answer, tried again when it passingly fails."""

        async def once() -> Any:
            async with self._response(method, path, body, deadline) as response:
                content = await self._within(response.aread(), deadline)
            return self._parse(content.decode("utf-8", "replace"))

        return await self.retry(once, deadline)

    async def lines(self, path: str, body: object, deadline: Deadline) -> AsyncGenerator[str, None]:
        """The lines of one streamed answer to a POST; one attempt. Empty lines are kept, SSE needs them.

        A server that does not stream gives its whole answer as one line.
        """
        async with self._response("POST", path, body, deadline) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                content = await self._within(response.aread(), deadline)
                yield content.decode("utf-8", "replace")
                return
            async with aclosing(self._chunks(response, deadline)) as chunks:
                async for line in split_lines(chunks):
                    yield line

    async def retry(self, attempt: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """The result of `attempt`, tried up to four times while it fails passingly and time is left."""
        from tenacity import AsyncRetrying, stop_after_attempt

        def again(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            return is_passing(error) and _wait(state) <= min(LONGEST_WAIT, deadline.left())

        async def once() -> T:
            return (
                await attempt()
            )  # tenacity awaits what is a coroutine function itself, and a lambda is none

        retrying = AsyncRetrying(
            sleep=self._sleep, stop=stop_after_attempt(len(WAITS) + 1), wait=_wait, retry=again, reraise=True
        )
        return await retrying(once)

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _open_client(self) -> httpx.AsyncClient:
        """The client of the running loop: connections cannot be used from another one."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = self._policy.client(timeout=CONNECT_SECONDS)
            self._loop = loop
        return self._client

    @asynccontextmanager
    async def _response(
        self, method: str, path: str, body: object, deadline: Deadline
    ) -> AsyncIterator[httpx.Response]:
        import httpx

        left = max(deadline.left(), 0.001)
        client = self._open_client()
        try:
            request = client.build_request(
                method,
                self.base_url + path,
                content=_encoded(body),
                headers={"content-type": "application/json", **self._headers()},
                timeout=httpx.Timeout(left, connect=min(left, CONNECT_SECONDS)),
            )
            response = await self._within(client.send(request, stream=True), deadline)
            try:
                await self._check(response, deadline)
                yield response
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise self._failure(error, deadline) from error

    async def _check(self, response: httpx.Response, deadline: Deadline) -> None:
        if response.is_redirect:
            raise ProviderRequestError(
                f"{self.provider} answered with a redirect to {shorten(response.headers.get('location', 'nowhere'))}.",
                "Set the address it leads to, if you trust it: redirects are not followed, they would carry the key.",
                status=response.status_code,
            )
        if response.is_error:
            raise error_for(
                read_refusal(
                    self.provider,
                    response.status_code,
                    await self._error_body(response, deadline),
                    response.headers,
                    now=self._now(),
                )
            )
        if response.headers.get("content-type", "").startswith("text/html"):
            raise ProviderRequestError(
                f"{self.provider} answered with a web page and not with JSON.",
                "Check the address in the settings.",
            )

    async def _error_body(self, response: httpx.Response, deadline: Deadline) -> object:
        found = bytearray()
        async for chunk in self._chunks(response, deadline):
            found += chunk
            if len(found) >= MAX_ERROR_BODY:
                break
        text = bytes(found[:MAX_ERROR_BODY]).decode("utf-8", "replace")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text

    async def _chunks(self, response: httpx.Response, deadline: Deadline) -> AsyncGenerator[bytes, None]:
        chunks = response.aiter_bytes()
        while True:
            try:
                yield await self._within(anext(chunks), deadline)
            except StopAsyncIteration:
                return

    async def _within(self, work: Awaitable[T], deadline: Deadline) -> T:
        try:
            async with asyncio.timeout(max(deadline.left(), 0)):
                return await work
        except TimeoutError as error:
            raise self._too_late(deadline) from error

    def _too_late(self, deadline: Deadline) -> ProviderTimeoutError:
        return ProviderTimeoutError(
            f"{self.provider} did not answer within {deadline.seconds:g} s.",
            "Try again, or raise the time-out: `local_timeout_sec`, `planner_timeout_sec`.",
            provider=self.provider,
            seconds=deadline.seconds,
            passing=False,
        )

    def _failure(self, error: Exception, deadline: Deadline) -> ProviderError:
        import httpx

        if isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)):
            return self._too_late(deadline)
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
            return self._unreachable(error)
        if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
            return ProviderUnavailableError(
                f"{self.provider} dropped the connection: {shorten(str(error)) or type(error).__name__}.",
                "Try again in a moment.",
                provider=self.provider,
                passing=True,
            )
        return ProviderRequestError(
            f"{self.provider} cannot be asked: {shorten(str(error)) or type(error).__name__}.",
            "Check the address in the settings.",
            provider=self.provider,
        )

    def _unreachable(self, error: Exception) -> ProviderError:
        insecure = _caused_by(error, ssl.SSLError)
        reason = shorten(str(error)) or type(error).__name__
        return ProviderUnavailableError(
            f"{self.provider} cannot be reached: {reason}.",
            "Its certificate is not trusted."
            if insecure
            else "Is it running? Is the address in the settings right?",
            provider=self.provider,
            passing=not self._local and not insecure,
        )

    def _parse(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise not_json(self.provider, text) from error


def _encoded(body: object) -> bytes | None:
    """The body as JSON; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    return None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def is_passing(error: BaseException | None) -> bool:
    """Trying again may help."""
    return isinstance(error, ProviderError) and error.details.get("passing") is True


async def split_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    r"""Lines that end with \n or \r\n and with nothing else: JSON may hold other line ends, such as U+2028, as text.

    Raises:
        ProviderRequestError: a line is longer than `MAX_LINE`.
    """
    rest = bytearray()
    async for chunk in chunks:
        rest += chunk
        *whole, last = rest.split(b"\n") if b"\n" in chunk else (rest,)
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
        rest = last
        if len(rest) > MAX_LINE:
            raise ProviderRequestError(f"A line of the answer is longer than {MAX_LINE} bytes.")
    if rest:
        yield rest.removesuffix(b"\r").decode("utf-8", "replace")


async def sse_data(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """The `data` of each server-sent event, `[DONE]` included; comments and other fields are dropped.

    A line that is no field but an object is the answer of a server that did not stream: it is given as it is.
    """
    data: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif line.lstrip().startswith("{"):
            yield line
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _wait(state: RetryCallState) -> float:
    """Seconds before the next attempt: 1, 2, 4, or what the provider asked for where that is longer."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.details.get("retry_after") if isinstance(error, ProviderError) else None
    step = WAITS[min(state.attempt_number, len(WAITS)) - 1]
    return max(step, float(asked)) if asked is not None else step


def _caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, kind):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
