"""A list of tools, screened before the SDK reads it.

The SDK refuses a whole list for one tool that is not as the protocol says, and reads much that nobody here needs. So of
each tool only that is let through which is looked at later, and what is wrong with it is kept as its reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

UNUSABLE = "x-surefoot-unusable"
"""Key in a schema of ours that stands in for one the SDK would refuse; its value is the reason."""

MAX_LISTED = 1_000
"""Tools of one message that are looked at; we take far fewer, and each costs time."""


@asynccontextmanager
async def screened(
    line: AbstractAsyncContextManager[TransportStreams],
) -> AsyncIterator[TransportStreams]:
    """The same streams, every message that comes in looked at first."""
    async with line as (read, write):
        yield _Screened(read), write


class _Screened:
    """A read stream of the SDK's kind around another. What else the other has (`last_context`) shows through."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return _looked_at(await self._inner.__anext__())

    async def receive(self) -> Any:
        return _looked_at(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._inner.__aexit__(*error)


def _looked_at(item: Any) -> Any:
    result = getattr(getattr(item, "message", None), "result", None)
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = [screened_tool(tool) for tool in result["tools"][:MAX_LISTED]]
    return item


def screened_tool(given: Any) -> dict[str, Any]:
    """The tool with its name, description, schema and read-only hint, each of the right kind; nothing else."""
    given = given if isinstance(given, dict) else {}
    kept: dict[str, Any] = {
        key: given[key] for key, good in _FIELDS.items() if key in given and good(given[key])
    }
    hints = given.get("annotations")
    hinted = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    kept["annotations"] = {"readOnlyHint": hinted}
    reason = "" if "name" in kept else "it has no name"
    kept.setdefault("name", "")
    reason = reason or _wrong(given.get("inputSchema"))
    kept["inputSchema"] = {"type": "object", UNUSABLE: reason} if reason else given["inputSchema"]
    return kept


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "name": lambda value: isinstance(value, str) and value != "",
    "title": lambda value: isinstance(value, str),
    "description": lambda value: isinstance(value, str),
}


def _wrong(schema: Any) -> str:
    """Why the SDK would refuse it, as a sentence without its end; empty where it would not."""
    if not isinstance(schema, dict):
        return f"its schema is {type(schema).__name__}, not an object"
    kind = schema.get("type")
    if kind != "object":
        return f"its schema is of {str(kind)[:40]!r}, not of an object"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(
        isinstance(part, dict | bool) for part in properties.values()
    ):
        return "the properties of its schema are no schemas"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return "what its schema requires is no list of names"
    return "" if isinstance(schema.get("$schema", ""), str) else "its schema does not say which kind it is"
