"""The web: fetch a page, search. What comes from there is data, labelled so, and never an instruction."""

from __future__ import annotations

import asyncio
import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from surefoot import redaction
from surefoot.errors import ToolError
from surefoot.tools.decorator import tool
from surefoot.tools.kits import fetching
from surefoot.tools.kits.fetching import Fetched
from surefoot.tools.kits.pages import Page, page_of, tidy
from surefoot.tools.kits.rows import count
from surefoot.tools.types import Context

if TYPE_CHECKING:
    from surefoot.models.address import AddressPolicy

SHOWN_TEXT = 8_000
"""Characters of a page in an answer: about a quarter of a small model's context."""
SHOWN_HIT = 300
SHOWN_URL = 100
HITS = 5

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = re.compile(
    r"text/[\w.+-]+|application/(?:[\w.-]+\+)?(?:json|xml)|application/(?:x-)?(?:javascript|yaml|toml)"
)


@tool(
    name="fetchPage",
    kit="web",
    effect="read",
    timeout=fetching.SECONDS + 5,
    aliases=(
        "open",
        "read",
        "website",
        "page",
        "url",
        "webseite",
        "seite",
        "site",
        "página",
        "网页",
        "ページ",
    ),
)
async def fetch_page(ctx: Context, url: str) -> dict[str, Any]:
    """Fetch a web page as text."""
    whose = f"The page {_short(url)}"
    _, answer = await fetching.get(_policy(ctx), url, whose=whose, redirects=True)
    page = await asyncio.to_thread(_readable, answer, whose)
    cut = {"cut": True} if len(page.text) > SHOWN_TEXT else {}
    return {
        "untrusted": True,
        "url": answer.url,
        "title": page.title,
        "text": page.text[:SHOWN_TEXT],
        **cut,
        "message": f"page {page.title or answer.url}, {count(len(page.text), 'character')}",
    }


def _policy(ctx: Context) -> AddressPolicy:
    given: AddressPolicy | None = ctx.services.get("address_policy")
    if given is not None:
        return given
    from surefoot.models.address import AddressPolicy

    return AddressPolicy.for_model_addresses(ctx.settings)


def _readable(answer: Fetched, whose: str) -> Page:
    kind = answer.kind
    if not kind:
        kind = "text/html" if answer.data.lstrip()[:1] == b"<" else "text/plain"
    if not _TEXT.fullmatch(kind) and kind not in _HTML:
        raise ToolError(f"{whose} is {kind}, no text.", "Fetch a page of text.", kind=kind)
    text = answer.text
    if "\0" in text[:1000]:
        raise ToolError(f"{whose} is no text.", "Fetch a page of text.", kind=kind)
    text = redaction.redact(text)  # before any cut: half a secret is not known any more
    return page_of(text) if kind in _HTML else Page("", tidy(text) if kind == "text/plain" else text.strip())


def _short(url: str) -> str:
    return url if len(url) <= SHOWN_URL else f"{url[:SHOWN_URL]}…"


@tool(
    name="webSearch",
    kit="web",
    effect="read",
    timeout=fetching.SECONDS + 5,
    aliases=(
        "search",
        "look up",
        "google",
        "internet",
        "suchen",
        "chercher",
        "buscar",
        "खोज",
        "搜索",
        "検索",
    ),
)
async def web_search(ctx: Context, query: str) -> dict[str, Any]:
    """Search the web."""
    base = ctx.settings.searxng_url
    if not base:
        raise ToolError(
            "There is no web search: no search engine is set up.",
            "Set SUREFOOT_SEARXNG_URL to a SearXNG instance with the JSON format enabled.",
        )
    if not query.strip():
        raise ToolError("The search has no words.", "Give what is to be searched for.")
    from surefoot.models.address import AddressPolicy

    policy = AddressPolicy.for_endpoint(base, ctx.settings)
    status, answer = await fetching.get(
        policy,
        f"{base.rstrip('/')}/search",
        whose="The search engine",
        params={"q": query, "format": "json"},
        fail=False,
    )
    return _hits(status, answer, query)


def _hits(status: int, answer: Fetched, query: str) -> dict[str, Any]:
    if status == HTTPStatus.FORBIDDEN:  # how SearXNG says that JSON is off
        raise ToolError(
            "The search engine refuses answers in JSON.",
            "Add `json` to `search.formats` in its settings.yml.",
            status=status,
        )
    if status >= HTTPStatus.BAD_REQUEST:
        raise ToolError(f"The search engine answered {status}.", "Try again later.", status=status)
    data = answer.json("The search engine")
    found = data.get("results") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise ToolError(
            "The search engine answered without results.", "See whether it is a SearXNG instance."
        )
    hits = [_hit(one) for one in found if isinstance(one, dict) and isinstance(one.get("url"), str)][:HITS]
    return {
        "untrusted": True,
        "results": hits,
        "message": f"{count(len(hits), 'result')} for {json.dumps(query, ensure_ascii=False)}",
    }


def _hit(one: dict[str, Any]) -> dict[str, str]:
    text = redaction.redact(tidy(str(one.get("content") or "")))
    return {
        "title": " ".join(str(one.get("title") or "").split()),
        "url": str(one["url"]),
        "text": text if len(text) <= SHOWN_HIT else f"{text[:SHOWN_HIT]}…",
    }


TOOLS = [fetch_page, web_search]
