"""Reads one feed with feedparser, in a process of its own: `{"text", "url"}` comes in, its entries go out, as JSON.

feedparser is made of patterns that are quadratic or worse on texts made for them: 200 kB of empty lines in front of a
feed, or of one letter in an author, keep it busy for minutes. A process can be stopped, a thread cannot.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from calendar import timegm
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from surefoot.errors import ToolError
from surefoot.tools.kits.pages import page_of

CPU_SECONDS = 10
"""Of the reader: two megabytes of a real feed take 3 to 6 on a slow machine."""
MEMORY_BYTES = 1_500_000_000
"""Of address space; what a feed of two megabytes needs is a tenth of it."""
MAX_ENTRIES = 500
"""Of one feed, the first ones: feeds begin with what is newest."""
MAX_HTML = 20_000
"""Characters of an entry's text that are looked at: a summary is cut far earlier."""
MAX_URL = 2_000
"""Browsers and servers stop there."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main() -> int:
    """One feed from standard input to standard output."""
    _limit()
    asked = json.load(sys.stdin)
    json.dump(read(asked["text"], asked["url"]), sys.stdout)
    return 0


def _limit() -> None:
    """Processor time and memory, where the system can limit them; elsewhere the caller's clock stops it."""
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_AS, MEMORY_BYTES)):
        with contextlib.suppress(ValueError, OSError):  # not on this system, or a lower limit holds already
            resource.setrlimit(what, (most, most))


def read(text: str, url: str) -> dict[str, Any]:
    """`{"title", "known", "total", "entries"}`; an entry has title, url, published (seconds or null) and summary.

    `known` is false where the text is no feed. All texts are plain. Broken XML gives what can be read of it.
    """
    import feedparser

    data = ('<?xml version="1.0" encoding="utf-8"?>\n' + without_prolog(text)).encode("utf-8", "replace")
    found = feedparser.parse(
        io.BytesIO(data),  # a stream: a text is taken for an address or a file name
        response_headers={"content-type": "application/xml; charset=utf-8", "content-location": url},
        sanitize_html=False,  # everything becomes plain text below
        resolve_relative_uris=False,
    )
    entries = list(found.get("entries") or [])
    return {
        "title": plain(str(found.feed.get("title") or "")),
        "known": bool(found.get("version")) or bool(entries),
        "total": len(entries),
        "entries": [_entry(one, url) for one in entries[:MAX_ENTRIES]],
    }


def without_prolog(text: str) -> str:
    """From the first element on: without declarations, comments, and a document type with entities of its own."""
    at = text.find("<")
    while at >= 0:
        if text.startswith("<!--", at):
            at = _behind(text, "-->", at)
        elif text.startswith("<?", at):
            at = _behind(text, "?>", at)
        elif text.startswith("<!", at):
            at = _behind_doctype(text, at)
        else:
            return text[at:]
        at = text.find("<", at) if at >= 0 else at
    return ""


def _behind(text: str, mark: str, at: int) -> int:
    found = text.find(mark, at)
    return -1 if found < 0 else found + len(mark)


def _behind_doctype(text: str, at: int) -> int:
    end, subset = text.find(">", at), text.find("[", at)
    if 0 <= subset < end:
        at = text.find("]", subset)
    return _behind(text, ">", at) if at >= 0 else -1


def _entry(given: dict[str, Any], base: str) -> dict[str, Any]:
    # By `dict.get`: feedparser's own reading falls back from one date to another, with a warning.
    moment = dict.get(given, "published_parsed") or dict.get(given, "updated_parsed")
    return {
        "title": plain(str(given.get("title") or "")),
        "url": _address(given, base),
        "published": None if moment is None else timegm(moment),
        "summary": plain(_text_of(given)),
    }


def _text_of(given: Mapping[str, Any]) -> str:
    """The summary, else the content."""
    content: Mapping[str, Any] = next(iter(given.get("content") or []), {})
    return str(given.get("summary") or content.get("value") or "")


def _address(given: Mapping[str, Any], base: str) -> str:
    """Where the entry leads: absolute, http or https; empty where it names nothing of the kind."""
    link = str(given.get("link") or "").strip()
    if not link or len(link) > MAX_URL or _CONTROLS.search(link):
        return ""
    try:
        whole = urljoin(base, link)
        parts = urlsplit(whole)
    except ValueError:
        return ""
    usable = parts.scheme in {"http", "https"} and parts.hostname and parts.username is None
    return whole if usable else ""


def plain(html: str) -> str:
    """HTML, or plain text, as one line of text: no markup, no script, no control characters."""
    text = html[:MAX_HTML]
    if "<" in text or "&" in text:
        try:
            text = page_of(text).text
        except ToolError:  # it nests too deep to be read
            text = ""
    return " ".join(_CONTROLS.sub(" ", text).split())


if __name__ == "__main__":
    sys.exit(main())
