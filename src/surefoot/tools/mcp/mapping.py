"""From what a server says of its tools to tools of ours: names, effects, descriptions, schemas."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import SurefootError, ToolDefinitionError
from surefoot.models.names import LIMIT
from surefoot.tools.mcp.screening import UNUSABLE
from surefoot.tools.mcp.servers import McpServer, kit_of
from surefoot.tools.types import Effect, Tool

if TYPE_CHECKING:
    from mcp_types import Tool as Offered

Caller = Callable[..., Awaitable[Any]]
"""`call(tool, arguments, repeatable=...)`: the server's own name of the tool."""

MAX_TOOLS = 128
"""Of one server: the most that any provider takes in a request (OpenAI), and far more than a model can choose among."""

MAX_DESCRIPTION = 600
"""Characters: three times the longest of ours. What is longer is mostly a lecture to some other model."""

MAX_SCHEMA = 20_000
"""Characters of JSON, about 6,000 tokens: a schema over this takes most of a local model's context."""

MAX_TOLD = 5
"""Tools left out that are told one by one; the others are counted."""

_ALLOWED = re.compile(rf"[a-zA-Z0-9_-]{{1,{LIMIT}}}")
_OTHER = re.compile(r"[^a-zA-Z0-9_-]+")
_MARK = 8
"""Hex digits of the mark that keeps apart names that had to be changed."""

_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?|\x1b.?")
"""Escape sequences of a terminal: colours, titles, links, and a lone escape."""

_KEPT_FORMATS = frozenset("\u200c\u200d")
"""Of the invisible characters the two that Persian, Indic scripts and emoji are written with."""


class Mapped(NamedTuple):
    """Tools in the server's order, and a sentence for each thing that the person should know."""

    tools: tuple[Tool, ...]
    notices: tuple[str, ...]


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, as every provider takes it: what is not allowed or too long gets a mark made from the name.

    It depends on nothing but the two names, so it is the same whatever else the server offers.
    """
    name = f"{server}__{tool}"
    if tool and _ALLOWED.fullmatch(name):
        return name
    digest = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    plain = _OTHER.sub("_", tool)[: LIMIT - len(server) - _MARK - 3].strip("_")
    return f"{server}__{plain}_{digest}" if plain else f"{server}__{digest}"


def effect_of(server: McpServer, offered: Offered) -> Effect:
    """Nothing is assumed harmless: `read` when the person says so, or trusts the server and it says so."""
    chosen = server.effects.get(offered.name)
    if chosen is not None:
        return Effect(chosen)
    hinted = offered.annotations is not None and offered.annotations.read_only_hint is True
    return Effect.READ if hinted and server.trusted else Effect.EXTERNAL


def plain_text(text: str, limit: int) -> str:
    """Text of a server as it may stand in a prompt or a terminal: nothing steers or hides, and it ends somewhere."""
    bare = _STEERING.sub("", text[: limit * 4])
    kept = "".join(character for character in bare if _is_shown(character))
    kept = re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", kept)).strip()
    return kept if len(kept) <= limit else f"{kept[: limit - 1]}…"


def _is_shown(character: str) -> bool:
    if character in "\n\t":
        return True
    category = unicodedata.category(character)
    return category not in {"Cc", "Cf", "Cs", "Co", "Cn"} or character in _KEPT_FORMATS


def map_tools(name: str, server: McpServer, offered: Iterable[Offered], call: Caller) -> Mapped:
    """Every tool that can be used, and why the others cannot."""
    every = list(offered)
    tools: dict[str, Tool] = {}
    left_out: list[str] = []
    for one in every[:MAX_TOOLS]:
        try:
            tool = _tool(name, server, one, call)
            if tool.name in tools:
                raise ToolDefinitionError("the server offers two tools of that name.")
        except SurefootError as error:
            left_out.append(f"{_shown(one.name)} ({plain_text(error.message, 200).rstrip('.')})")
            continue
        tools[tool.name] = tool
    return Mapped(tuple(tools.values()), tuple(_notices(name, server, every, left_out)))


def _notices(name: str, server: McpServer, every: list[Offered], left_out: list[str]) -> Iterable[str]:
    if len(every) > MAX_TOOLS:
        yield f"MCP server {name!r} offers more than {MAX_TOOLS} tools; only the first {MAX_TOOLS} are taken."
    for text in left_out[:MAX_TOLD]:
        yield f"MCP server {name!r}: a tool is left out: {text}."
    if len(left_out) > MAX_TOLD:
        yield f"MCP server {name!r}: tools left out besides: {len(left_out) - MAX_TOLD}."
    if len(every) <= MAX_TOOLS:
        for missing in sorted(server.effects.keys() - {one.name for one in every}):
            yield f"The settings name {missing!r} in `mcp.{name}.effects`, and the server offers no such tool."


def _shown(name: str) -> str:
    return repr(plain_text(name, LIMIT))


def _tool(name: str, server: McpServer, offered: Offered, call: Caller) -> Tool:
    effect = effect_of(server, offered)
    tool = Tool(
        name=tool_name(name, offered.name),
        description=plain_text(offered.description or offered.title or "", MAX_DESCRIPTION),
        parameters=_schema(offered.input_schema),
        effect=effect,
        fn=_function(call, offered.name, repeatable=effect is Effect.READ),
        kit=kit_of(name),
        where="loop",
        timeout=server.timeout,
    )
    _check_readable(tool)
    return tool


def _function(call: Caller, own_name: str, *, repeatable: bool) -> Callable[..., Awaitable[Any]]:
    async def run(**arguments: Any) -> Any:
        return await call(own_name, arguments, repeatable=repeatable)

    return run


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as the server gave it, but for `true` and `false` in place of a property's schema.

    Raises:
        ToolDefinitionError: it is too long or too deep, or not of an object.
    """
    try:
        size = len(json.dumps(given, ensure_ascii=False))
        schema: dict[str, Any] = _spelt_out(given)
    except (RecursionError, ValueError, TypeError) as error:
        raise ToolDefinitionError("its schema is nested too deep.") from error
    if size > MAX_SCHEMA:
        raise ToolDefinitionError(f"its schema has {size} characters, and {MAX_SCHEMA} are allowed.")
    if UNUSABLE in schema:
        raise ToolDefinitionError(f"{schema[UNUSABLE]}.")
    return schema


def _spelt_out(schema: Any) -> Any:
    """Programs that show a schema expect an object for each property, which `{}` and `{"not": {}}` are."""
    if isinstance(schema, list):
        return [_spelt_out(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    spelt = {key: _spelt_out(value) for key, value in schema.items()}
    properties = spelt.get("properties")
    if isinstance(properties, dict):
        forms: dict[bool, dict[str, Any]] = {True: {}, False: {"not": {}}}
        spelt["properties"] = {
            name: forms[part] if isinstance(part, bool) else part for name, part in properties.items()
        }
    return spelt


def _check_readable(tool: Tool) -> None:
    """Everything that reads a schema later reads it here once: a broken one is found before a plan needs it."""
    from surefoot.tools.signatures import signature

    try:
        _ = tool.reader
        signature(tool.name, tool.parameters)
    except (AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise ToolDefinitionError(f"its schema cannot be read: {error}.") from error
