"""Whatever a server says of itself: names stay apart, words are harmless, lists are read."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Tool as Offered

from surefoot.assistant.router import Router
from surefoot.models.names import ToolNames
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin
from surefoot.tools.mcp.mapping import map_tools, plain_text, tool_name
from surefoot.tools.mcp.screening import screened_tool
from surefoot.tools.mcp.servers import McpServer
from surefoot.tools.signatures import signature

SERVER = McpServer(command="x", trusted=True)
SERVER_NAMES = st.from_regex(r"[A-Za-z0-9]{1,8}([_-][A-Za-z0-9]{1,6})?", fullmatch=True)
ANY_TEXT = st.text(max_size=90)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=12,
)
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "object", "array", "null", "other", 7, None]
)
PART = st.recursive(
    st.booleans()
    | st.builds(
        lambda kind, more: {"type": kind, **more},
        TYPES,
        st.dictionaries(
            st.sampled_from(["enum", "default", "items", "anyOf", "$ref", "const", "description", "pattern"]),
            JSON,
            max_size=2,
        ),
    ),
    lambda inside: st.builds(
        lambda parts: {"type": "object", "properties": parts},
        st.dictionaries(st.text(max_size=8), inside, max_size=3),
    ),
    max_leaves=8,
)
SCHEMA = JSON | st.builds(
    lambda parts, required: {"type": "object", "properties": parts, "required": required},
    st.dictionaries(st.text(max_size=8), PART, max_size=4),
    JSON | st.lists(st.text(max_size=8), max_size=3),
)
TOOL = JSON | st.fixed_dictionaries(
    {"name": ANY_TEXT, "inputSchema": SCHEMA},
    optional={"description": ANY_TEXT | JSON, "annotations": JSON, "outputSchema": JSON, "title": JSON},
)


async def nothing(tool: str, arguments: Any, *, repeatable: bool) -> Any:
    return None


@given(SERVER_NAMES, SERVER_NAMES, ANY_TEXT, ANY_TEXT)
def test_names_of_different_tools_never_meet(first, second, one, other):
    """Of two servers or of one, whatever they are called; and every provider takes them as they are."""
    names = {tool_name(first, one), tool_name(second, other)}
    assert len(names) == (1 if (first, one) == (second, other) else 2)
    assert all(ToolNames(names).outward(name) == name for name in names)


@given(st.text(max_size=400), st.integers(min_value=1, max_value=200))
def test_words_are_cut_and_nothing_in_them_steers(text, limit):
    """No control, no direction, no hidden tag, and the same again when it is done twice."""
    shown = plain_text(text, limit)
    assert len(shown) <= limit
    assert all(
        character in "\n\u200c\u200d" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
        for character in shown
    )


@given(st.lists(TOOL, max_size=5))
def test_every_list_of_tools_is_read(listed):
    """What can be used is used, the rest is told, and what reads catalogues can read this one."""
    offered = [Offered.model_validate(screened_tool(tool)) for tool in listed]
    mapped = map_tools("s", SERVER, offered, nothing)
    assert len(mapped.tools) + min(len(mapped.notices), 6) >= min(len(listed), 6)
    catalogue = Catalogue([*builtin(["notes"]), *mapped.tools])
    Router(list(catalogue)).rank("anything")
    assert all(signature(tool.name, tool.parameters) for tool in mapped.tools)
    catalogue.digest()
