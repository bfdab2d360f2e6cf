"""From a server's words to ours: names, effects, descriptions, results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import CallToolResult
from mcp_types import Tool as Offered

from surefoot.errors import ToolError
from surefoot.models.names import ToolNames
from surefoot.tools.mcp.mapping import MAX_DESCRIPTION, effect_of, map_tools, plain_text, tool_name
from surefoot.tools.mcp.results import MAX_ERROR, MAX_RESULT, data_of
from surefoot.tools.mcp.screening import UNUSABLE, screened_tool
from surefoot.tools.mcp.servers import McpServer
from surefoot.tools.types import Effect


async def nothing(tool: str, arguments: Any, *, repeatable: bool) -> Any:
    return (tool, arguments, repeatable)


def offered(name: str = "t", **more: Any) -> Offered:
    return Offered.model_validate({"name": name, "inputSchema": {"type": "object"}, **more})


def server(**more: Any) -> McpServer:
    return McpServer(command="x", **more)


# --- names ---------------------------------------------------------------------------------------------------


def test_a_name_that_is_allowed_stays():
    """Behind its server's."""
    assert tool_name("files", "read-file_2") == "files__read-file_2"


@pytest.mark.parametrize("tool", ["a.b", "a b", "日本", "", "x" * 100, "/../etc", "a\x1b[31m", "ä" * 200])
def test_every_name_becomes_one_that_providers_take(tool):
    """It is the same again, differs from its neighbours', and needs no further change on the way."""
    name = tool_name("s" * 24, tool)
    assert name == tool_name("s" * 24, tool)
    assert name not in {tool_name("s" * 24, tool + "x"), tool_name("t" * 24, tool)}
    assert ToolNames([name]).outward(name) == name


def test_names_that_differ_in_forbidden_characters_stay_apart():
    """Whatever else is offered."""
    names = [tool_name("s", tool) for tool in ("a.b", "a_b", "a b", "a/b", "A.b")]
    assert len(set(names)) == 5


# --- effects -------------------------------------------------------------------------------------------------

HINTS: list[dict[str, Any]] = [
    {},
    {"annotations": {}},
    {"annotations": {"readOnlyHint": False}},
    {"annotations": {"readOnlyHint": True}},
    {"annotations": {"destructiveHint": False, "idempotentHint": True}},
]


@pytest.mark.parametrize("hints", HINTS)
@pytest.mark.parametrize("trusted", [True, False])
def test_a_tool_reads_only_when_it_says_so_and_is_believed(hints, trusted):
    """Else it is external, never a write: nobody promises an undo (decision 14)."""
    reads = trusted and hints == HINTS[3]
    assert effect_of(server(trusted=trusted), offered(**hints)) is (Effect.READ if reads else Effect.EXTERNAL)


@pytest.mark.parametrize("hints", HINTS)
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("chosen", ["read", "external"])
def test_the_persons_word_for_a_tool_wins(hints, trusted, chosen):
    """Over trust and hints."""
    assert effect_of(server(trusted=trusted, effects={"t": chosen}), offered(**hints)) is Effect(chosen)


async def test_a_read_may_be_repeated_and_nothing_else():
    """The call is made with the server's own name of the tool."""
    mapped = map_tools("s", server(effects={"a.b": "read"}), [offered("a.b"), offered("c")], nothing)
    assert mapped.notices == ()
    assert await mapped.tools[0].fn(x=1) == ("a.b", {"x": 1}, True)
    assert await mapped.tools[1].fn() == ("c", {}, False)


def test_an_effect_for_a_tool_that_is_not_offered_is_told():
    """It may be misspelt."""
    (notice,) = map_tools("s", server(effects={"tt": "read"}), [offered("t")], nothing).notices
    assert notice == "The settings name 'tt' in `mcp.s.effects`, and the server offers no such tool."


# --- words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;never ends", ""),
        ("a\x9b31mb\x00c\x7f", "a31mbc"),
        ("abc\u202etxt.exe\u2066\ufeff", "abctxt.exe"),
        ("hi\U000e0041\U000e0042", "hi"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("  a \t b \n\n\n c ", "a b\nc"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("", ""),
    ],
)
def test_words_of_a_server_steer_and_hide_nothing(given, shown):
    """Escapes, controls, directions, tags go; scripts and emoji stay whole."""
    assert plain_text(given, 100) == shown


def test_a_description_is_cut():
    """At a length that a prompt can bear; without one the title stands in."""
    tools = map_tools(
        "s", server(), [offered("a", description="word " * 5_000), offered("b", title="Does b")], nothing
    ).tools
    assert len(tools[0].description) <= MAX_DESCRIPTION
    assert tools[0].description.endswith("…")
    assert tools[1].description == "Does b"


@pytest.mark.parametrize(
    ("tool", "kept"),
    [
        ({"name": "a", "inputSchema": {"type": "object"}, "icons": "x", "outputSchema": 7}, True),
        ({"name": "a", "inputSchema": {"type": "object"}, "annotations": "no"}, True),
        ({"name": "a", "description": 7, "title": [], "inputSchema": {"type": "object"}}, True),
        ({"name": "a"}, False),
        ({"name": "a", "inputSchema": []}, False),
        ({"name": "a", "inputSchema": {"type": "string"}}, False),
        ({"name": "a", "inputSchema": {"type": "object", "properties": []}}, False),
        ({"name": "a", "inputSchema": {"type": "object", "required": [1]}}, False),
        ({"name": "a", "inputSchema": {"type": "object", "$schema": 7}}, False),
        ({"name": "", "inputSchema": {"type": "object"}}, False),
        ({"inputSchema": {"type": "object"}}, False),
        ("a", False),
        (None, False),
    ],
)
def test_one_broken_tool_does_not_cost_the_list(tool, kept):
    """What is wrong in the parts that are not used is passed over; else the tool is marked with its reason."""
    screened = screened_tool(tool)
    assert (UNUSABLE not in screened["inputSchema"]) is kept
    mapped = map_tools("s", server(), [Offered.model_validate(screened)], nothing)
    assert (len(mapped.tools), len(mapped.notices)) == ((1, 0) if kept else (0, 1))


# --- results -------------------------------------------------------------------------------------------------


def result(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": list(content), **more})


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_texts_are_joined_and_structure_is_preferred():
    """As data, unchanged."""
    assert data_of("t", result(said("a"), said("b\x1b[0m"))) == "a\nb\x1b[0m"
    assert data_of("t", result(said("a"), structuredContent={"n": [1, None]})) == {"n": [1, None]}
    assert data_of("t", result()) == ""


@pytest.mark.parametrize("empty", [{}, [], 0, False, ""])
def test_an_empty_structure_is_a_structure(empty):
    """Not the same as none."""
    assert data_of("t", result(said("text"), structuredContent=empty)) == empty


def test_pictures_sounds_and_files_are_named():
    """With their kind and size, not carried along."""
    shown = data_of(
        "t",
        result(
            said("see"),
            {"type": "image", "data": "QUJDREU=", "mimeType": "image/png"},
            {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
            {
                "type": "resource",
                "resource": {"uri": "file:///a.txt", "text": "secret text", "mimeType": "text/plain"},
            },
            {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "QUJD"}},
            {"type": "resource_link", "uri": "https://example.com/x", "name": "the x"},
        ),
    )
    assert shown.splitlines() == [
        "see",
        "[image, image/png, 5 bytes]",
        "[audio, audio/wav, 3 bytes]",
        "[resource, file:///a.txt, text/plain, 11 characters]",
        "[resource, file:///b.bin, 3 bytes]",
        "[resource, https://example.com/x, the x]",
    ]


def test_bytes_inside_a_structure_are_named_too():
    """Some servers repeat their parts there."""
    given = {
        "parts": [{"type": "image", "data": "QUJD", "mimeType": "image/png"}, {"blob": "QUJD", "name": "b"}]
    }
    assert data_of("t", result(structuredContent=given)) == {
        "parts": ["[image, image/png, 3 bytes]", {"blob": "[3 bytes]", "name": "b"}]
    }


def test_a_long_result_is_cut_and_says_so():
    """Text and structure."""
    text = data_of("t", result(said("x" * 300_000)))
    assert text.endswith("[cut here: 100000 of 300000 characters]")
    structure = data_of("t", result(structuredContent={"rows": ["x" * 300_000]}))
    assert structure.startswith('{"rows": ["xx')
    assert len(structure) < MAX_RESULT + 100
    small = {"rows": ["x" * 90_000]}
    assert json.dumps(data_of("t", result(structuredContent=small))) == json.dumps(small)


def test_an_error_is_an_error_with_its_words():
    """Cleaned, for it is shown; also where it has none."""
    with pytest.raises(ToolError, match=r"^t failed: no \(really\)$"):
        data_of("t", result(said("\x1b[31mno (really)"), isError=True))
    with pytest.raises(ToolError, match="it did not say why"):
        data_of("t", result(isError=True))
    with pytest.raises(ToolError) as error:
        data_of("t", result(said("x" * 50_000), isError=True))
    assert len(error.value.message) < MAX_ERROR + 50


def test_a_schema_too_deep_to_be_read_leaves_its_tool_out():
    """Deeper than a program can follow."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(20_000):
        deep = {"type": "object", "properties": {"a": deep}}
    given = Offered.model_construct(name="deep", input_schema=deep)
    mapped = map_tools("s", server(), [given, offered("good")], nothing)
    assert [tool.name for tool in mapped.tools] == ["s__good"]
    assert mapped.notices == ("MCP server 's': a tool is left out: 'deep' (its schema is nested too deep).",)
