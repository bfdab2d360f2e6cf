"""What a tool of a server gave, as data: text joined, structure preferred, everything else named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from surefoot.errors import ToolError
from surefoot.tools.mcp.mapping import plain_text

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MAX_RESULT = 100_000
"""Characters, about 25,000 tokens: more does not fit beside anything else into most models, and the journal keeps it
all. What is longer is cut, and says so."""

MAX_ERROR = 2_000
"""Characters of an error's text: enough for its reason and the end of a trace."""

_BASE64 = 3 / 4
"""Bytes for each character of base64."""


def data_of(tool: str, result: CallToolResult) -> Any:
    """The result as JSON.

    Raises:
        ToolError: the server says that the tool failed; the message is its text.
    """
    text = "\n".join(_said(part) for part in result.content)
    if result.is_error:
        said = plain_text(text, MAX_ERROR) or "it did not say why"
        raise ToolError(f"{tool} failed: {said}", tool=tool)
    if result.structured_content is None:
        return _cut(text)
    structure = _without_bytes(result.structured_content)
    whole = json.dumps(structure, ensure_ascii=False, default=str)
    return structure if len(whole) <= MAX_RESULT else _cut(whole)


def _cut(text: str) -> str:
    if len(text) <= MAX_RESULT:
        return text
    return f"{text[:MAX_RESULT]}\n[cut here: {MAX_RESULT} of {len(text)} characters]"


def _said(part: ContentBlock) -> str:
    """The text of a part, or what kind of thing it is: pictures and files are named, not carried along."""
    if part.type == "text":
        return part.text
    if part.type == "resource":
        inside = part.resource
        size = f"{len(inside.text)} characters" if hasattr(inside, "text") else f"{_bytes(inside.blob)} bytes"
        return _named("resource", str(inside.uri), inside.mime_type, size)
    if part.type == "resource_link":
        return _named("resource", str(part.uri), part.mime_type, plain_text(part.name, 100))
    return _named(part.type, part.mime_type, f"{_bytes(part.data)} bytes")


def _without_bytes(value: Any) -> Any:
    """The structure with its pictures named: some servers repeat their parts in it, bytes and all."""
    if isinstance(value, list):
        return [_without_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("data"), str) and value.get("type") in {"image", "audio"}:
        return _named(value["type"], str(value.get("mimeType", "")), f"{_bytes(value['data'])} bytes")
    return {
        key: f"[{_bytes(item)} bytes]" if key == "blob" and isinstance(item, str) else _without_bytes(item)
        for key, item in value.items()
    }


def _bytes(base64: str) -> int:
    return int(len(base64.rstrip("=")) * _BASE64)


def _named(*words: str | None) -> str:
    return f"[{', '.join(plain_text(word, 500) for word in words if word)}]"
