"""One GET: within a size, a time and an address policy."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from surefoot.errors import ToolError

if TYPE_CHECKING:
    import httpx

    from surefoot.models.address import AddressPolicy

MAX_BYTES = 2_000_000
"""A page's text is a small part of that; what is larger is a download."""
SECONDS = 20.0
"""For the whole answer: a slow page is as good as none in a conversation."""

_HEADERS = {
    "User-Agent": "surefoot",
    "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity",  # so that the size limit counts what is sent
}
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)
_HEAD = 4096
"""Bytes in which a page names its charset (HTML asks for the first 1,024)."""
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NO_CHARSETS = frozenset({"idna", "punycode", "utf-7", "unicode-escape", "raw-unicode-escape", "undefined"})
"""Python knows these as encodings; no page is written in them, and some take quadratic time."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: its final address, its type without parameters (lower case, empty where none is named), its bytes."""

    url: str
    kind: str
    charset: str
    data: bytes

    @property
    def text(self) -> str:
        """The bytes as text: by byte order mark, header, the page's own word, else UTF-8, else Windows-1252."""
        for mark, name in _BOMS:
            if self.data.startswith(mark):
                return self.data.decode(name, "replace")
        named = _META.search(self.data[:_HEAD])
        for name in (self.charset, named.group(1).decode("ascii", "replace") if named else ""):
            if is_charset(name):
                try:
                    return self.data.decode(name, "replace")
                except (LookupError, ValueError):
                    continue
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return self.data.decode("cp1252", "replace")

    def json(self, whose: str) -> Any:
        """The bytes as JSON; ToolError."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise ToolError(
                f"{whose} answered with something that is no JSON.", "Try again later."
            ) from error


def is_charset(name: str) -> bool:
    """A name that a page may give for its encoding; Python may still not know it."""
    return bool(name) and name.casefold().replace("_", "-") not in _NO_CHARSETS


async def get(
    policy: AddressPolicy,
    url: str,
    *,
    whose: str,
    params: Mapping[str, str] | None = None,
    redirects: bool = False,
    fail: bool = True,
    accept: str = "",
) -> tuple[int, Fetched]:
    """Status and answer of one GET.

    Args:
        policy: which addresses may be connected to, at each redirect.
        url: the address.
        whose: what it is called in messages.
        params: of the query.
        redirects: follow them.
        fail: raise for a status of 400 and above.
        accept: which types are asked for; pages and JSON unless given.

    Raises:
        ToolError: no answer, too slow, too large, or a failure status.
        AddressRefusedError: the policy refuses the address.
    """
    import httpx

    headers = {**_HEADERS, "Accept": accept} if accept else _HEADERS
    try:
        async with (
            asyncio.timeout(SECONDS),
            policy.client(timeout=SECONDS, follow_redirects=redirects, headers=headers) as client,
            client.stream("GET", url, params=dict(params) if params else None) as answer,
        ):
            if fail and answer.status_code >= HTTPStatus.BAD_REQUEST:
                raise ToolError(
                    f"{whose} answered {answer.status_code} {answer.reason_phrase}.".replace(" .", "."),
                    "Try another address, or later.",
                    status=answer.status_code,
                )
            return answer.status_code, await _fetched(answer, whose)
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ToolError(f"{whose} took longer than {SECONDS:g} s.", "Try again later.") from error
    except httpx.TooManyRedirects as error:
        raise ToolError(f"{whose} redirects without end.", "Try another address.") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise ToolError(
            f"{whose} cannot be reached: {reason}.", "See whether the address is right."
        ) from error


async def _fetched(answer: httpx.Response, whose: str) -> Fetched:
    data = bytearray()
    async for piece in answer.aiter_raw():
        data += piece
        if len(data) > MAX_BYTES:
            raise _too_large(whose)
    content = answer.headers.get("content-type", "")
    kind = content.partition(";")[0].strip().casefold()
    plain = _plain(bytes(data), answer.headers.get("content-encoding", ""), whose)
    return Fetched(str(answer.url), kind, answer.charset_encoding or "", plain)


def _plain(data: bytes, encoding: str, whose: str) -> bytes:
    """Without compression, which a server may use unasked; a small file that unpacks to a huge one is refused."""
    name = encoding.strip().casefold()
    if name in {"", "identity"}:
        return data
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise ToolError(
            f"{whose} is packed as {encoding!r}, which was not asked for.", "Try another address."
        )
    try:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
        plain = unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise ToolError(f"{whose} cannot be unpacked: {error}.", "Try another address.") from error
    if len(plain) > MAX_BYTES:
        raise _too_large(whose)
    return plain


def _too_large(whose: str) -> ToolError:
    return ToolError(f"{whose} is larger than {MAX_BYTES} bytes.", "Fetch a smaller page.", allowed=MAX_BYTES)
