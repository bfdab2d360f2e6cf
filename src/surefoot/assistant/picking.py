"""A `router_model` picks among the tools that the router ranks best; whatever goes wrong, the ranking stands."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from surefoot.assistant.prompting import prompt
from surefoot.assistant.router import BEST, Route, Router
from surefoot.models.types import Capabilities, Completion, LanguageModel, Message, Request
from surefoot.planning.planner import time_out
from surefoot.running.models import call_model
from surefoot.running.session import Session
from surefoot.tools.signatures import signature
from surefoot.tools.types import Tool

MAX_TOKENS = 256
"""Twenty names of 64 signs at most are fewer."""

log = logging.getLogger(__name__)


async def picked(session: Session, model: LanguageModel | None, route: Route, query: str) -> Route:
    """The route with the model's picks in place of the best of the ranking, in one model call under the key "route".

    Without a model, or where nothing was ranked (few tools, no match), the route as it is; also when the model fails or
    picks nothing that is there: a tool too many costs little, the one that is missing costs the request.
    """
    best = route.ranked[:BEST]
    if model is None or not best:
        return route
    tools = [session.catalogue.get(name) for name in best]
    try:
        able = await model.capabilities()
        request = _request(session, tools, query, able)
        names = read_names(await call_model(session, model, request, "route"), best)
    except Exception as error:  # noqa: BLE001 - fail open: whatever is wrong, the ranking is there
        log.debug("no pick: %s", error)
        return route
    return replace(route, names=Router(list(session.catalogue)).among(names)) if names else route


def _request(session: Session, tools: Sequence[Tool], query: str, able: Capabilities) -> Request:
    names = [tool.name for tool in tools]
    listed = "\n".join(f"{signature(tool.name, tool.parameters)} - {_first_line(tool)}" for tool in tools)
    schema = {"type": "array", "items": {"enum": names}, "maxItems": len(names)}
    whole = {"type": "object", "properties": {"tools": schema}, "required": ["tools"]}
    return Request(
        messages=(
            Message("system", prompt("route")),
            Message("user", f"TOOLS\n{listed}\n\nREQUEST\n{query}"),
        ),
        json_schema=whole if able.json_schema else None,
        grammar=_grammar(whole) if able.grammar and not able.json_schema else None,
        max_tokens=MAX_TOKENS,
        timeout=time_out(session.settings, able),
        num_ctx=session.settings.num_ctx,
        purpose="route",
    )


def _grammar(schema: dict[str, Any]) -> str:
    from surefoot.models.grammar import schema_grammar

    return schema_grammar(schema)


def _first_line(tool: Tool) -> str:
    return (tool.description.strip().splitlines() or [""])[0]


def read_names(completion: Completion, known: Sequence[str]) -> tuple[str, ...]:
    """The known names that an answer gives, as JSON or in any text, in the order of `known`."""
    try:
        value = json.loads(completion.text)
    except ValueError:
        words = {name for name in known if _stands_in(name, completion.text)}
    else:
        value = value.get("tools", ()) if isinstance(value, dict) else value
        words = {str(item) for item in value} if isinstance(value, list) else {str(value)}
    return tuple(name for name in known if name in words)


def _stands_in(name: str, text: str) -> bool:
    """As a whole name: neither `a` in `a.b`, nor missed in front of a full stop."""
    return re.search(rf"(?<![\w$-])(?<!\w\.){re.escape(name)}(?![\w$-]|\.\w)", text) is not None
