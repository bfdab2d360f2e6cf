"""The edge to Gemini: google-genai writes and reads the wire, over an HTTP client of ours.

The SDK gets no key, no proxy, no retries and no redirects of its own. It is handed a client that connects only where
the `AddressPolicy` allows, that puts the key on each request, and that looks at each answer before the SDK does.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from surefoot.errors import NoModelError
from surefoot.models.gemini_errors import gemini_error
from surefoot.models.http import CONNECT_SECONDS, Deadline, ProviderClient
from surefoot.models.refusals import not_json

if TYPE_CHECKING:
    import httpx
    from google.genai import Client

API_VERSION = "v1beta"
"""Where tools, schemas and signatures are; said here so that no variable of the environment changes it."""

KEY_HEADER = "x-goog-api-key"
NO_KEY = "on-each-request"
"""What the SDK is told for a key: it wants one, and the real one is on each request and nowhere else."""

NOT_TRUE = {
    "google_genai._api_client": "Both GOOGLE_API_KEY and GEMINI_API_KEY are set",  # it is handed neither
    "google_genai.types": "Warning: there are non-text parts",  # they are calls, and are read
}
"""What the SDK's loggers say for people who call it themselves, and what would be wrong or noise on ours."""

LISTED = 200
"""Models asked for in one page; Google has some dozens."""


_answers: ContextVar[list[httpx.Response] | None] = ContextVar("gemini_answers", default=None)
"""The HTTP answers to what is being asked. The SDK keeps an answer in a cycle of its own, so that one nobody reads on
would stay open, and go on being written and paid for, until the garbage collector comes by."""


class GeminiClient(ProviderClient):
    """`ProviderClient` whose requests are made by google-genai. `headers` gives the key anew for each of them."""

    _sdk: Client | None = None
    _sdk_of: httpx.AsyncClient | None = None
    _unused: httpx.Client | None = None

    async def model(self, name: str, deadline: Deadline) -> dict[str, Any]:
        """What the provider says of one model, as published (`inputTokenLimit`, `supportedGenerationMethods`, ...)."""

        async def once() -> dict[str, Any]:
            async with self._told(deadline):
                asked = self._open_sdk().aio.models.get(model=name, config=_timed({}, deadline))
                return _published(await self._within(asked, deadline))

        return await self.retry(once, deadline)

    async def models(self, deadline: Deadline) -> list[dict[str, Any]]:
        """The models it has."""

        async def once() -> list[dict[str, Any]]:
            async with self._told(deadline):
                config = _timed({"page_size": LISTED}, deadline)
                pager = await self._within(self._open_sdk().aio.models.list(config=config), deadline)
                return [_published(model) for model in pager.page]

        return await self.retry(once, deadline)

    async def generate(
        self, model: str, contents: list[dict[str, Any]], config: dict[str, Any], deadline: Deadline
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The pieces of one streamed answer (`GenerateContentResponse`); one attempt."""
        async with self._told(deadline):
            sdk = self._open_sdk()
            asked = sdk.aio.models.generate_content_stream(
                model=model, contents=_contents(contents), config=_config(config, deadline)
            )
            stream = cast("AsyncGenerator[Any, None]", await self._within(asked, deadline))
            async with aclosing(stream) as chunks:
                while True:
                    try:
                        chunk = await self._within(anext(chunks), deadline)
                    except StopAsyncIteration:
                        return
                    yield _published(chunk)

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._sdk = self._sdk_of = None
        if self._unused is not None:
            self._unused.close()
            self._unused = None
        await super().close()

    def _open_sdk(self) -> Client:
        """The SDK over the client of the running loop."""
        http = self._open_client()
        if self._sdk is None or self._sdk_of is not http:
            genai, types = _import()
            http.auth = self._sign
            http.event_hooks = {"response": [self._look]}
            self._unused = self._unused or self._policy.sync_client(timeout=CONNECT_SECONDS)
            self._sdk_of = http
            self._sdk = genai.Client(
                api_key=NO_KEY,
                vertexai=False,
                http_options=types.HttpOptions(
                    base_url=self.base_url,
                    api_version=API_VERSION,
                    httpx_client=self._unused,  # else it makes one that may connect anywhere
                    httpx_async_client=http,
                ),
            )
        return self._sdk

    def _sign(self, request: httpx.Request) -> httpx.Request:
        """Put the key on a request, and our time to connect in place of the SDK's one time for everything."""
        request.headers.pop(KEY_HEADER, None)
        request.headers.update(self._headers())
        times = request.extensions["timeout"]
        times["connect"] = min(CONNECT_SECONDS, times.get("connect") or CONNECT_SECONDS)
        return request

    async def _look(self, response: httpx.Response) -> None:
        answers = _answers.get()
        if answers is not None:
            answers.append(response)
        await self._check(response, self.deadline(CONNECT_SECONDS))

    async def _check(self, response: httpx.Response, deadline: Deadline) -> None:
        if response.is_error:
            body = await self._error_body(response, deadline)
            raise gemini_error(self.provider, response.status_code, body, response.headers, now=self._now())
        await super()._check(response, deadline)

    @asynccontextmanager
    async def _told(self, deadline: Deadline) -> AsyncIterator[None]:
        """What the SDK and its HTTP client raise, as errors of ours. Their own texts hold whole answers, unmasked."""
        import httpx

        _import()
        from google.genai.errors import APIError

        answers: list[httpx.Response] = []
        _answers.set(answers)
        try:
            yield
        except APIError as error:
            raise gemini_error(self.provider, error.code or 0, error.details, now=self._now()) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise self._failure(error, deadline) from error
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            # What the SDK raises on an answer that is not in the published form: pydantic's errors and slips of its own
            raise not_json(self.provider, str(error)) from None
        finally:
            for response in answers:
                await response.aclose()


def _import() -> tuple[Any, Any]:
    try:
        from google import genai
        from google.genai import types
    except ImportError as error:
        raise NoModelError(
            "Gemini models need the package google-genai, which is not installed.",
            'Install it with: pip install "surefoot[gemini]"',
        ) from error
    _quieten()
    return genai, types


def _quieten() -> None:
    """Silence what it says beside its answers; a reason that is new to it comes as a warning, and is read by us."""
    warnings.filterwarnings("ignore", message=r".* is not a valid \w+", module=r"google\.genai")
    for name in NOT_TRUE:
        logging.getLogger(name).addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(NOT_TRUE[record.name])


def _timed(config: dict[str, Any], deadline: Deadline) -> Any:
    """The SDK counts in whole milliseconds, and takes 0 for no limit."""
    return {**config, "http_options": {"timeout": max(1, int(deadline.left() * 1000))}}


def _config(config: dict[str, Any], deadline: Deadline) -> Any:
    """The configuration of one answer. The SDK runs no tools, and asks for no second answer behind a long one."""
    from google.genai import types

    whole = {
        **config,
        "automaticFunctionCalling": {"disable": True},
        "automaticContinuation": False,
        "httpOptions": {"timeout": max(1, int(deadline.left() * 1000))},
    }
    return types.GenerateContentConfig.model_validate_json(_encoded(whole))


def _contents(contents: list[dict[str, Any]]) -> list[Any]:
    from google.genai import types

    return [types.Content.model_validate_json(_encoded(content)) for content in contents]


def _encoded(value: Any) -> bytes:
    """JSON; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _published(value: Any) -> dict[str, Any]:
    """An object of the SDK as the JSON that was sent; bytes are base64 again."""
    dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
