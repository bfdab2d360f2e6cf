"""Articles: looked for in RSS and Atom feeds, and kept. What a feed says is data, labelled so, never an instruction."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlalchemy import bindparam, select

from surefoot.errors import SurefootError, ToolError
from surefoot.storage import Prepared
from surefoot.storage.words import query_words
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.decorator import tool
from surefoot.tools.kits import feeds as reading
from surefoot.tools.kits import fetching, when
from surefoot.tools.kits.feeds import Entry, Feed
from surefoot.tools.kits.ranking import different, ranked_by, shared
from surefoot.tools.kits.rows import (
    LIST_LIMIT,
    Row,
    Rows,
    clean,
    count,
    listed,
    text_of,
    title_of,
    undo_add,
    undo_of,
)
from surefoot.tools.kits.tables import articles
from surefoot.tools.types import Context

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.models.address import AddressPolicy

MAX_FEEDS = 20
"""In one call: each is a request to somebody's server."""
SIDE_BY_SIDE = 4
"""Feeds at once; each is read by a process of its own."""
FOUND, MAX_FOUND = 10, 30
"""Articles in an answer, and at most: ten summaries are a quarter of a small model's context."""
SHOWN_SUMMARY = 300
"""Characters, in answers of both kinds."""
MAX_SUMMARY = 5_000
MAX_SOURCE = 200
MAX_URL = 2_000
AHEAD = timedelta(days=1)
"""How far in the future a date may lie: clocks and zones differ. A later one is wrong, or there to stay on top."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Feeds with an earlier date have a broken one."""

_YEAR_BACK = timedelta(days=366)
_WEEK_BACK = timedelta(days=7)
_LIVING = Prepared(
    select(articles)
    .where(articles.c.deleted == bindparam("gone"))
    .order_by(articles.c.created_at.desc(), articles.c.id)
)
_BY_URL = Prepared(
    select(articles.c.id)
    .where(articles.c.url == bindparam("wanted"), articles.c.deleted == bindparam("gone"))
    .order_by(articles.c.id)
)

_ALIASES = ("article", "news", "feed", "rss", "artikel", "nachrichten", "neuigkeiten", "noticias", "artículo",
            "actualités", "खबर", "समाचार", "लेख", "新闻", "文章", "ニュース", "記事")  # fmt: skip


class _Articles(Rows):
    """Rows that are also found by their address."""

    def find(self, tx: Connection, reference: str) -> Row:
        by_url = _BY_URL.row(tx, wanted=clean(reference).strip(), gone=False)
        return super().find(tx, reference if by_url is None else str(by_url[0]))


ROWS = _Articles(articles, "article")


def list_rows(tx: Connection, search: str = "", since: datetime | None = None) -> list[Row]:
    """Saved articles that are not deleted, the last saved first.

    `search` finds those with all its words in title, summary or source; if none has all, those with any of them.
    `since` leaves out what was published before it, or saved before it where no date is known.
    """
    found = [dict(zip(ROWS.columns, row, strict=True)) for row in _LIVING.rows(tx, gone=False)]
    if since is not None:
        found = [row for row in found if _came_after(row, since)]
    asked = query_words(search)
    if not asked:
        return found
    held = [(len(shared(asked, f"{row['title']} {row['summary']} {row['source']}")), row) for row in found]
    best = max((hits for hits, _ in held), default=0)
    least = len(asked) if best == len(asked) else 1
    return [row for hits, row in held if hits >= least]


def _came_after(row: Row, since: datetime) -> bool:
    if row["published"] and not row["published_at"]:
        return bool(row["published"] >= since.date().isoformat())
    at = datetime.fromisoformat(row["published_at"] or row["created_at"])
    return at >= since


# --- looking for them ------------------------------------------------------------------------------------------


@tool(
    name="researchNews",
    kit="articles",
    effect="read",
    timeout=fetching.SECONDS + reading.READ_SECONDS,
    aliases=("research", "headlines", "what is new", "recherchieren", *_ALIASES),
)
async def research_news(
    ctx: Context, query: str, feeds: list[str] | None = None, since: str | None = None, limit: int = FOUND
) -> dict[str, Any]:
    """Find articles in news feeds."""
    addresses = _addresses(ctx, feeds)
    start = _past(ctx, since).first if since else None
    read, failed = await _fetched(ctx, addresses)
    held = different([entry for feed in read for entry in feed.entries])
    known = [_dated(ctx, entry) for entry in held]
    wanted = [one for one in known if start is None or (one.published is not None and one.published >= start)]
    ranked = ranked_by(query, wanted)
    shown = ranked[: max(1, min(limit, MAX_FOUND))]
    undated = sum(one.published is None for one in known) if start else 0
    told = listed("articles", [_told_entry(one) for one in shown], len(ranked), "article")
    return {
        "untrusted": True,
        **told,
        **({"failed": failed} if failed else {}),
        "message": f"{told['message']} of {count(len(read), 'feed')}"
        + (f", {undated} without a date left out" if undated else "")
        + (f", {count(len(failed), 'feed')} failed" if failed else ""),
    }


def _addresses(ctx: Context, feeds: list[str] | None) -> list[str]:
    named = [clean(one).strip() for one in feeds or () if one.strip()]
    addresses = list(dict.fromkeys(named or ctx.settings.feeds))
    if not addresses:
        raise ToolError(
            "No feed is named, and none is set up.",
            "Give addresses of RSS or Atom feeds, or set `feeds` in the settings.",
        )
    if len(addresses) > MAX_FEEDS:
        raise ToolError(
            f"{len(addresses)} feeds were named.", f"Name {MAX_FEEDS} at most.", allowed=MAX_FEEDS
        )
    return addresses


async def _fetched(ctx: Context, addresses: list[str]) -> tuple[list[Feed], list[dict[str, str]]]:
    """What could be read, and why the rest could not; ToolError where nothing could."""
    gate = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(address: str) -> Feed | SurefootError:
        async with gate:
            try:
                return await reading.fetch(_policy(ctx, address), address)
            except SurefootError as error:
                return error

    outcomes = await asyncio.gather(*(one(address) for address in addresses))
    errors = [found for found in outcomes if isinstance(found, SurefootError)]
    if len(errors) == len(outcomes):
        if len(errors) == 1:
            raise errors[0]
        raise ToolError(
            f"None of {len(errors)} feeds could be read: {' '.join(error.message for error in errors)}",
            errors[0].next_move,
        )
    failed = [
        {"feed": reading.shown(address), "reason": found.message}
        for address, found in zip(addresses, outcomes, strict=True)
        if isinstance(found, SurefootError)
    ]
    return [found for found in outcomes if isinstance(found, Feed)], failed


def _policy(ctx: Context, address: str) -> AddressPolicy:
    """A feed of the settings is a configured endpoint, one that a model named is not."""
    given: AddressPolicy | None = ctx.services.get("address_policy")
    if given is not None:
        return given
    from surefoot.models.address import AddressPolicy

    configured = [address] if address in ctx.settings.feeds else []
    return AddressPolicy(allowed=configured, offline=ctx.settings.offline)


def _dated(ctx: Context, entry: Entry) -> Entry:
    """Without a date that cannot be true."""
    if entry.published is not None and not EARLIEST < entry.published <= ctx.now + AHEAD:
        return Entry(entry.title, entry.url, entry.source, entry.summary, None)
    return entry


def _told_entry(entry: Entry) -> dict[str, str]:
    published = "" if entry.published is None else entry.published.isoformat(timespec="seconds")
    told = {
        "title": _cut(entry.title, SHOWN_SUMMARY),
        "url": entry.url,
        "source": _cut(entry.source, MAX_SOURCE),
        "published": published,
        "summary": _cut(entry.summary, SHOWN_SUMMARY),
    }
    return {key: value for key, value in told.items() if value}


# --- keeping them ----------------------------------------------------------------------------------------------


@tool(
    name="saveArticle",
    kit="articles",
    effect="write",
    where="writer",
    undo=undo_add(ROWS),
    aliases=("save", "keep", "bookmark", "speichern", *_ALIASES),
)
def save_article(
    ctx: Context, title: str, url: str, summary: str = "", source: str = "", published: str | None = None
) -> dict[str, Any]:
    """Save an article."""
    address = _address_of(url)
    known = _BY_URL.row(ctx.open_tx, wanted=address, gone=False)
    if known is not None:
        row = ROWS.find(ctx.open_tx, str(known[0]))
        return _told(ctx, row, "is already saved")
    day, at = when.stored(_published(ctx, published) if published else None)
    row = ROWS.add(
        ctx,
        title=title_of(title, "article"),
        url=address,
        summary=_bounded(summary, MAX_SUMMARY, "summary"),
        source=_bounded(source, MAX_SOURCE, "source"),
        published=day,
        published_at=at,
    )
    return _told(ctx, row, "saved")


@tool(
    name="listArticles",
    kit="articles",
    effect="read",
    where="writer",
    aliases=("saved articles", "reading list", "find", "suchen", "leseliste", *_ALIASES),
)
def list_articles(ctx: Context, search: str = "", since: str | None = None) -> dict[str, Any]:
    """Find saved articles by words."""
    found = list_rows(ctx.open_tx, search, _past(ctx, since).first if since else None)
    items = [
        {
            "id": row["id"],
            "title": row["title"],
            "url": row["url"],
            **({"source": row["source"]} if row["source"] else {}),
            **when.told(ctx, row, "published"),
            **({"summary": _cut(row["summary"], SHOWN_SUMMARY)} if row["summary"] else {}),
        }
        for row in found[:LIST_LIMIT]
    ]
    return {"untrusted": True, **listed("articles", items, len(found), "article")}


@tool(
    name="deleteArticle",
    kit="articles",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "article"),
    options={"article": ROWS.titles},
    aliases=("remove", "löschen", *_ALIASES),
)
def delete_article(ctx: Context, article: str) -> dict[str, Any]:
    """Delete a saved article."""
    return _told(ctx, ROWS.change(ctx, ROWS.target(ctx, article), deleted=True), "deleted")


def _told(ctx: Context, row: Row, what: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "url": row["url"],
        **when.told(ctx, row, "published"),
        "message": f'article "{row["title"]}" {what}',
    }


def _address_of(url: str) -> str:
    address = clean(url).strip()
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        usable = False
    if not usable or len(address) > MAX_URL or len(address.split()) != 1:
        raise ToolError(
            f"{reading.shown(address)!r} is no address of an article.",
            "Give its whole http or https address, without a user name.",
        )
    return address


def _published(ctx: Context, text: str) -> Moment:
    """ISO and the form of mail and RSS (`Mon, 27 Apr 2026 09:00:00 GMT`) first, then as a person says it."""
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        moment = _past(ctx, text)
    else:
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        moment = resolve_date(at.isoformat(), ctx.now, ctx.zone, ctx.language)
    if moment.first > ctx.now + AHEAD:
        raise ToolError(
            f"The date {text!r} lies in the future.", "Give the date of publication, or leave it out."
        )
    return moment


def _past(ctx: Context, text: str) -> Moment:
    """A date that has been: `Monday` is the last one, `3 May` the last one too; ToolError."""
    moment = resolve_date(text, ctx.now, ctx.zone, ctx.language)
    for back in (_WEEK_BACK, _YEAR_BACK):
        if moment.first <= ctx.now:
            break
        earlier = resolve_date(text, ctx.now - back, ctx.zone, ctx.language)
        moment = earlier if earlier.first <= ctx.now else moment
    return moment


def _bounded(text: str, most: int, what: str) -> str:
    whole = " ".join(text_of(text, "article").split())
    if len(whole) > most:
        raise ToolError(
            f"The {what} has {len(whole)} characters; {most} are allowed.", "Make it shorter.", allowed=most
        )
    return whole


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


TOOLS = [research_news, save_article, list_articles, delete_article]
