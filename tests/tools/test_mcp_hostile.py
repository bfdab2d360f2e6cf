"""Servers that mean no good, or are broken: what they say is data, and it ends somewhere."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest

from surefoot.assistant.router import Router
from surefoot.errors import OutcomeUnknownError, ToolError
from surefoot.models.types import Capabilities
from surefoot.planning import encodings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin
from surefoot.tools.mcp import client, lines, stdio
from surefoot.tools.mcp.client import McpTools
from surefoot.tools.mcp.mapping import MAX_DESCRIPTION, MAX_TOOLS
from surefoot.tools.types import Effect

from .mcp_support import by_hand, opened, settings_with


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "LEAVE_SEC", 0.3)


async def test_of_ten_thousand_tools_the_first_are_taken():
    """And it is said."""
    async with opened(a=by_hand("many")) as servers:
        assert len(servers.tools) == MAX_TOOLS
        assert servers.notices == (
            "MCP server 'a' offers more than 128 tools; only the first 128 are taken.",
        )


async def test_a_list_without_an_end_is_not_read_for_ever():
    """Each page names a next one."""
    async with opened(a=by_hand("pages")) as servers:
        assert 0 < len(servers.tools) <= MAX_TOOLS


async def test_tools_with_schemas_that_cannot_be_used_are_left_out():
    """Each with its reason, a few by name; the others work, and everything that reads schemas can read theirs."""
    async with opened(a=by_hand("schemas")) as servers:
        assert set(servers.tools) >= {"a__good", "a__boolean_properties", "a__far", "a__twice"}
        assert not {"a__bad_type", "a__list_of_text", "a__huge", "a__numbers"} & set(servers.tools)
        told = " ".join(servers.notices)
        assert "'bad_type'" in told
        assert "is of 'array', not of an object" in told
        assert "20000 are allowed" in told
        assert "tools left out besides: 1." in told
        catalogue = Catalogue([*builtin(), *servers.tools.values()])
        Router(list(catalogue)).rank("anything good")
        for encoding in ("own", "lines", "schema", "text"):
            able = Capabilities(
                tools=True, json_schema=True, grammar=True, encoding=encoding, family="qwen2.5"
            )
            encodings.prefix(catalogue, encodings.choose(able), max_steps=5)
        assert await servers.call("a__good", n=1) == 'good {"n": 1}'


async def test_names_are_kept_apart_and_words_cannot_steer():
    """A tool called like a built-in one, names that differ in forbidden characters only, escapes, hidden characters."""
    async with opened(a=by_hand("words", trusted=True), b=by_hand("words")) as servers:
        names = list(servers.tools)
        assert len(names) == 12
        assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in names)
        assert {"a__addNote", "b__addNote", "a__a_b", "b__a_b", "a__-"} <= set(names)
        Catalogue([*builtin(), *servers.tools.values()])
        described = servers.tools["a__addNote"].description
        assert len(described) <= MAX_DESCRIPTION
        assert "\x1b" not in described
        assert described.startswith("red ")
        dotted = next(name for name in names if name.startswith("a__a_b_"))
        assert servers.tools[dotted].description == "hidden"
        assert await servers.call(dotted) == "a.b {}"
        japanese = next(tool for tool in servers.tools.values() if "日本語" in tool.description)
        assert japanese.description == "日本語の説明 🎉"
        assert servers.tools["a__a_b"].effect is Effect.READ
        assert servers.tools["b__a_b"].effect is Effect.EXTERNAL


async def test_what_a_server_says_of_itself_reaches_no_prompt():
    """Its instructions are not read at all."""
    async with opened(a=by_hand("plain")) as servers:
        assert "Ignore previous" not in str([vars(tool) for tool in servers.tools.values()])


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("silent", "did not answer within 1.5 s"),
        ("no_list", "it took too long|did not answer within"),
        ("nonsense", "did not list its tools: its answer is not as the protocol says"),
        ("broken", "cannot be used"),
    ],
)
async def test_a_server_that_cannot_be_used_is_a_notice(mode, why, monkeypatch):
    """And nothing else: the other server's tools are there."""
    async with opened(good=by_hand("plain")) as servers:
        good = servers.mcp.servers[0]
        if mode in {"silent", "no_list"}:
            monkeypatch.setattr(client, "OPEN_SEC", 1.5)
        tools = McpTools(settings_with(bad=by_hand(mode), good=by_hand("plain")))
        tools.servers[1] = good
        found = await tools.tools()
        assert {tool.name for tool in found.tools} == {"good__go", "good__act"}
        (notice,) = found.notices
        assert re.search(why, notice)
        assert notice.endswith("The run goes on without its tools.")
        await tools.close()


async def test_a_program_that_is_not_there_is_named():
    """The command as it was written."""
    async with opened(a={"command": "/no/such/program"}, b={"command": "no-such-program"}) as servers:
        first, second = servers.notices
        assert "'/no/such/program' is not there to be started" in first
        assert "'no-such-program' is not there to be started" in second


async def test_a_call_that_is_never_answered_ends_with_its_time():
    """The time of the tool is the table's, and the executor keeps it."""
    async with opened(a=by_hand("mute", timeout=7)) as servers:
        assert servers.tools["a__go"].timeout == 7
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await servers.call("a__go")
        assert servers.mcp.servers[0].up


async def test_a_message_over_the_limit_ends_the_line(monkeypatch):
    """It is not kept in memory; the next call opens the server anew."""
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 1_000_000)
    async with opened(a=by_hand("long")) as servers:
        with pytest.raises(OutcomeUnknownError):
            await servers.call("a__act")
    assert lines.MAX_MESSAGE_BYTES > 5_000_000


async def test_an_answer_that_is_no_result_leaves_the_outcome_unknown():
    """For a read it is a failure."""
    async with opened(a=by_hand("unreadable"), b=by_hand("unreadable", trusted=True)) as servers:
        with pytest.raises(OutcomeUnknownError):
            await servers.call("a__go")
        with pytest.raises(ToolError, match="b__go failed") as failed:
            await servers.call("b__go")
        assert type(failed.value) is ToolError


async def test_a_refusal_of_the_protocol_is_a_failure_with_its_words():
    """The code that the SDK uses for a closed line is a common one, and says nothing here."""
    async with opened(a=by_hand("refuses")) as servers:
        with pytest.raises(ToolError, match="a__act failed: not today") as refused:
            await servers.call("a__act")
        assert type(refused.value) is ToolError


async def test_a_server_gets_nothing_that_it_asks_for():
    """No model, no folders, no input of the person: only a ping is answered."""
    async with opened(a=by_hand("asks")) as servers:
        assert await servers.call("a__act") == (
            "sampling/createMessage: error, roots/list: error, elicitation/create: error, ping: answer"
        )


async def test_what_is_written_beside_the_protocol_reaches_no_screen(capfd, caplog):
    """Chatter on its output is passed over, a flood on its errors does not block it."""
    caplog.set_level(logging.WARNING)
    async with opened(a=by_hand("chatter")) as servers:
        assert await servers.call("a__go") == "go {}"
        assert await servers.call("a__go") == "go {}"
        assert len(servers.mcp.servers[0]._connection.line.trouble()) <= stdio.KEPT_TROUBLE
    written = capfd.readouterr()
    assert (written.out, written.err) == ("", "")
    assert caplog.records == []
