"""Feeds: fetched within the address policy, decoded here, read in a process that can be stopped."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from surefoot import redaction
from surefoot.errors import ToolError
from surefoot.tools.kits import fetching
from surefoot.tools.kits.fetching import Fetched, is_charset

if TYPE_CHECKING:
    from surefoot.models.address import AddressPolicy

READ_SECONDS = 40.0
"""For the reader as a whole; its processor time has a limit of its own (`_feed_reader`), this one is for systems that
know none."""
SHOWN_URL = 100
ACCEPT = "application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"

_READER = "surefoot.tools.kits._feed_reader"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
"""Marks, and the first character of XML in two bytes."""
_DECLARED = re.compile(rb"\s{0,20}<\?xml[^>]{0,100}encoding\s{0,5}=\s{0,5}[\"']([\w.:-]{1,40})")
_ESCAPE = b"\x1b"
"""Switches alphabets in encodings of seven bits (ISO-2022-JP), whose bytes are valid UTF-8 too."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One article of a feed. Texts are plain; `url` and `source` may be empty; `published` is aware, or not known."""

    title: str
    url: str
    source: str
    summary: str
    published: datetime | None


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed holds: its first entries, and how many there are in all."""

    url: str
    title: str
    entries: tuple[Entry, ...]
    total: int


async def fetch(policy: AddressPolicy, url: str) -> Feed:
    """The feed at an address.

    Raises:
        ToolError: no answer, too large, no feed, or nothing that can be read in time.
        AddressRefusedError: the policy refuses the address, or one that it redirects to.
    """
    whose = f"The feed {shown(url)}"
    _, answer = await fetching.get(policy, url, whose=whose, redirects=True, accept=ACCEPT)
    return await asyncio.to_thread(_read, answer, whose)


def shown(url: str) -> str:
    """An address as a message shows it: without its query, which may hold a key."""
    short = re.sub(r"//[^/?#]*@", "//", url).partition("?")[0].partition("#")[0]
    return short if len(short) <= SHOWN_URL else f"{short[:SHOWN_URL]}…"


def text_of(answer: Fetched) -> str:
    """The bytes as text: by mark; as UTF-8 where they are that, whatever the header says; as declared; as Windows-1252.

    Bytes that are no text in one of these are replaced in the first that is known.
    """
    for mark, name in _BOMS:
        if answer.data.startswith(mark):
            return answer.data.decode(name, "replace")
    declared = _DECLARED.match(answer.data)
    named = [declared.group(1).decode("ascii") if declared else "", answer.charset]
    first = [] if _ESCAPE in answer.data else ["utf-8"]
    names = [*first, *(name for name in named if is_charset(name))]
    for name in names:
        try:
            return answer.data.decode(name)
        except (LookupError, ValueError):
            continue
    return answer.data.decode("utf-8" if _mostly_utf8(answer.data) else "cp1252", "replace")


def _mostly_utf8(data: bytes) -> bool:
    """A few wrong bytes in a text that is UTF-8 otherwise: more characters of several bytes than broken ones."""
    text = data.decode("utf-8", "replace")
    return sum(sign > "\x7f" for sign in text) > 2 * text.count("\ufffd")


def _read(answer: Fetched, whose: str) -> Feed:
    text = redaction.redact(text_of(answer))  # before any cut: half a secret is not known any more
    found = _apart(text, answer.url, whose)
    if not found["known"]:
        kind = answer.kind or "no XML"
        raise ToolError(
            f"{whose} is no RSS or Atom feed ({kind}).", _advice(text, answer.url), kind=answer.kind
        )
    host = urlsplit(answer.url).hostname or ""
    source = found["title"] or host
    entries = tuple(
        Entry(one["title"] or one["url"], one["url"], source, one["summary"], _moment(one["published"]))
        for one in found["entries"]
        if one["title"] or one["url"]
    )
    return Feed(answer.url, source, entries, int(found["total"]))


def _apart(text: str, url: str, whose: str) -> dict[str, Any]:
    """What the reader's process says."""
    asked = json.dumps({"text": text, "url": url}).encode()
    slow = ToolError(f"{whose} takes too long to read.", "Name another feed.")
    try:
        done = subprocess.run(  # noqa: S603 - our own module in our own interpreter; nothing of the feed is in the command
            [sys.executable, "-P", "-W", "ignore", "-m", _READER],
            input=asked,
            capture_output=True,
            timeout=READ_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise slow from error
    except OSError as error:
        raise ToolError(
            f"{whose} cannot be read: no Python to start ({error}).", "Run `surefoot doctor`."
        ) from error
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        raise slow
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        raise ToolError(f"{whose} cannot be read: {reason}.", "Name another feed.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _advice(text: str, url: str) -> str:
    """A page often names its feed."""
    from urllib.parse import urljoin

    for tag in re.findall(r"<link\b[^<>]{1,1000}>", text[:200_000], re.IGNORECASE):
        href = re.search(r"\bhref\s{0,3}=\s{0,3}[\"']?([^\"'\s>]{1,500})", tag, re.IGNORECASE)
        if href and re.search(r"application/(?:rss|atom)\+xml", tag, re.IGNORECASE):
            return f"Its feed may be {urljoin(url, href.group(1))}."
    return "Name the address of a feed; sites often have one at /feed or /rss."


def _moment(seconds: int | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
