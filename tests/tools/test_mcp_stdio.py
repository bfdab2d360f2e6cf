"""Servers as programs: sessions that stay open, deaths, changes, cancelling, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

import pytest

from surefoot.errors import OutcomeUnknownError, ToolError
from surefoot.tools.mcp import session, stdio
from surefoot.tools.mcp.client import McpTools
from surefoot.tools.types import Effect

from .mcp_support import SERVERS, by_hand, eventually, helpful, is_running, opened, settings_with


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that do not leave by themselves are ended soon, or these tests take a minute."""
    monkeypatch.setattr(stdio, "LEAVE_SEC", 0.3)


async def test_a_server_of_the_sdk_is_listed_called_and_closed():
    """One session for all calls; structure as it is, text joined, pictures named, an error as an error."""
    async with opened(hi=helpful(trusted=True, env={"SHOWN": "LANG"})) as servers:
        assert servers.notices == ()
        assert servers.tools["hi__send"].effect is Effect.EXTERNAL
        assert servers.tools["hi__look"].effect is Effect.READ
        assert {tool.kit for tool in servers.tools.values()} == {"mcp-hi"}
        assert await servers.call("hi__look", word="Grüße 日本", times=2) == {
            "result": "Grüße 日本 Grüße 日本"
        }
        assert await servers.call("hi__send", to="Anna", text="hello") == {
            "sent": True,
            "to": "Anna",
            "text": "hello",
        }
        with pytest.raises(ToolError, match=r"hi__fail failed: .*no: reason"):
            await servers.call("hi__fail", why="reason")
        first, second = await servers.call("hi__whoami"), await servers.call("hi__whoami")
        assert first["pid"] == second["pid"]
        long = await servers.call("hi__big", characters=5_000_000)
        assert 100_000 < len(long) < 101_000
        assert "cut here" in long
        shown = str(await servers.call("hi__picture"))
        assert "[image, image/png, 6 bytes]" in shown
        assert "QUJDREVG" not in shown


async def test_a_program_gets_an_environment_and_a_folder_of_its_own(monkeypatch):
    """Nothing of the person's environment but what programs need and what was named; its folder is its own."""
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("SOMETHING_ELSE", "private matters")
    async with opened(hi=helpful(trusted=True)) as servers:
        known = await servers.call("hi__whoami")
        assert "sk-planted" not in str(known)
        assert "private matters" not in str(known)
        assert set(known["variables"]) <= {
            "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
        }  # fmt: skip
        folder = servers.folder("hi")
        assert known["folder"] == str(folder)
        assert folder.stat().st_mode & 0o077 == 0


async def test_the_tools_are_listed_again_when_the_server_says_that_they_changed():
    """Between runs, by the notice of the newer protocol, which is asked for."""
    async with opened(hi=helpful()) as servers:
        assert await eventually(lambda: servers.mcp.servers[0]._connection.watched)
        same = await servers.refresh()
        before = same.tools["hi__look"]
        await servers.refresh()
        assert servers.tools["hi__look"] is before  # nothing changed: the same tools, so prompts are kept
        await servers.call("hi__grow", name="later")
        assert await eventually(lambda: servers.mcp.servers[0]._stale)
        assert "hi__later" not in servers.tools
        await servers.refresh()
        assert await servers.call("hi__later") == "grown"


async def test_the_notice_of_the_older_protocol_is_heard_too():
    """It comes unasked."""
    async with opened(old=by_hand("grows")) as servers:
        assert set(servers.tools) == {"old__go", "old__act"}
        await servers.call("old__go")
        assert await eventually(lambda: servers.mcp.servers[0]._stale)
        await servers.refresh()
        assert set(servers.tools) == {"old__go", "old__act", "old__later"}


async def test_a_server_killed_between_calls_is_opened_again():
    """Nothing was under way: the next call goes through, whatever its effect."""
    async with opened(a=by_hand("plain", trusted=True)) as servers:
        assert await servers.call("a__act", n=1) == 'act {"n": 1}'
        first = servers.pid("a")
        os.kill(first, signal.SIGKILL)
        assert await eventually(lambda: not is_running(first))
        assert await servers.call("a__act", n=2) == 'act {"n": 2}'
        assert servers.pid("a") != first


async def test_a_read_that_met_its_servers_death_is_repeated():
    """Once, on a new process."""
    async with opened(a=by_hand("dies", trusted=True)) as servers:
        assert await servers.call("a__go") == "go {}"
        assert [line for line in servers.said("a") if line == "go"] == ["go", "go"]


async def test_a_call_that_met_its_servers_death_is_unknown_and_not_repeated():
    """It may have had its effect; the next call finds the server again."""
    async with opened(a=by_hand("dies")) as servers:
        with pytest.raises(OutcomeUnknownError, match="a__act took effect is not known"):
            await servers.call("a__act")
        with pytest.raises(OutcomeUnknownError):
            await servers.call("a__go")  # not trusted, so not known to be a read
        assert servers.said("a").count("act") == 1
        assert servers.said("a").count("go") == 1


async def test_a_read_whose_server_dies_each_time_fails():
    """It is repeated once and not for ever."""
    async with opened(a=by_hand("dies", effects={"act": "read"})) as servers:
        with pytest.raises(ToolError, match="a__act failed"):
            await servers.call("a__act")
        assert servers.said("a").count("act") == 2


async def test_of_two_calls_under_way_each_is_told_of_the_death():
    """Nobody waits for an answer that cannot come."""
    async with opened(a=by_hand("mute", trusted=True)) as servers:
        calls = [asyncio.ensure_future(servers.call(name)) for name in ("a__act", "a__act")]
        await asyncio.sleep(0.2)
        os.kill(servers.pid("a"), signal.SIGKILL)
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(result) for result in results] == [OutcomeUnknownError, OutcomeUnknownError]


async def test_a_cancelled_call_is_cancelled_at_the_server_and_the_session_goes_on():
    """The same process answers the next call."""
    async with opened(hi=helpful(trusted=True)) as servers:
        pid = (await servers.call("hi__whoami"))["pid"]
        task = asyncio.ensure_future(servers.call("hi__wait", seconds=600))
        assert await eventually(lambda: "wait begins" in servers.said("hi", "sent.txt"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await servers.call("hi__whoami"))["pid"] == pid
        assert await eventually(lambda: "wait cancelled" in servers.said("hi", "sent.txt"))


async def test_an_older_server_is_told_of_the_cancelling_by_a_notice():
    """`notifications/cancelled`; an answer that never comes does not block the next call."""
    async with opened(a=by_hand("mute")) as servers:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await servers.call("a__act")
        assert await eventually(lambda: "notifications/cancelled" in servers.said("a"))
        assert servers.mcp.servers[0].up


async def test_many_calls_at_once_share_one_session():
    """Answers are paired by id."""
    async with opened(a=by_hand("plain")) as servers:
        results = await asyncio.gather(*(servers.call("a__go", n=number) for number in range(50)))
        assert results == [f'go {{"n": {number}}}' for number in range(50)]


@pytest.mark.parametrize("mode", ["family", "stubborn"])
async def test_what_a_server_started_ends_with_it(mode):
    """A child that ignores SIGTERM and outlives its parent is ended too, and so is a server that does not leave."""
    async with opened(a=by_hand(mode)) as servers:
        await servers.call("a__go")
        child = int(servers.said("a", "child.txt")[0])
        assert is_running(child)
    assert not is_running(child)


async def test_the_death_of_a_server_whose_child_holds_its_output_is_noticed():
    """The output does not end, and the call does."""
    async with opened(a=by_hand("family", timeout=600)) as servers:
        server = servers.mcp.servers[0]
        os.kill(servers.pid("a"), signal.SIGKILL)
        assert await eventually(lambda: not server.up)
        assert await servers.call("a__go") == "go {}"


async def test_a_server_that_does_not_come_up_is_left_alone_for_a_while():
    """Longer each time, a minute at most; what it wrote and why is said."""
    now = [1000.0]
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    tools = McpTools(settings_with(a=by_hand("broken")))
    (server,) = tools.servers
    server._clock = lambda: now[0]
    server._sleep = sleep
    rests = []
    for _ in range(8):
        (notice,) = (await tools.tools()).notices
        assert "MCP server 'a' cannot be used: " in notice
        assert "ModuleNotFoundError" in notice
        (again,) = (await tools.tools()).notices
        assert "is tried again in" in again
        rests.append(server._not_before - now[0])
        now[0] = server._not_before
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]
    assert waited == [0.0] * 8
    with pytest.raises(ToolError, match="cannot be used"):
        await server.call("go", {}, repeatable=True)
    assert waited[8:] == [0.0, 0.5, 2.0]
    await tools.close()


async def test_closing_twice_and_closing_what_was_never_open_is_nothing():
    """And a closed one is opened again by the next use."""
    tools = McpTools(settings_with(a=by_hand("plain")))
    await tools.close()
    assert len((await tools.tools()).tools) == 2
    await tools.close()
    await tools.close()
    assert not tools.servers[0].up
    assert len((await tools.tools()).tools) == 2
    await tools.close()


async def test_a_call_under_way_when_everything_is_closed_ends():
    """As unknown: it had been sent."""
    async with opened(a=by_hand("mute")) as servers:
        call = asyncio.ensure_future(servers.call("a__act"))
        await asyncio.sleep(0.2)
        await servers.mcp.close()
        with pytest.raises(OutcomeUnknownError):
            await call


async def test_opening_that_is_cancelled_leaves_no_program():
    """Ctrl-C while a server starts."""
    tools = McpTools(settings_with(a=by_hand("silent")))
    task = asyncio.ensure_future(tools.tools())
    pid = tools.servers[0]._settings.data_dir / "mcp" / "a" / "pid.txt"
    assert await eventually(lambda: pid.exists() and pid.read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await eventually(lambda: not is_running(int(pid.read_text())))
    await tools.close()


async def test_an_owner_that_is_cancelled_twice_still_ends_its_program():
    """Ending a program is not left half done, however impatient somebody is."""
    async with opened(a=by_hand("deaf")) as servers:
        owner, pid = servers.mcp.servers[0]._connection._owner, servers.pid("a")
        for _ in range(3):
            owner.cancel()
            await asyncio.sleep(0.02)
        await asyncio.wait({owner})
        assert not is_running(pid)
        assert await servers.call("a__go") == "go {}"


async def test_without_process_groups_the_program_itself_is_ended(monkeypatch):
    """On a system that has none, and does not tell of a death before the event loop hears of it."""
    monkeypatch.delattr(os, "killpg")
    monkeypatch.delattr(os, "waitid")
    async with opened(a=by_hand("deaf")) as servers:
        assert await servers.call("a__go") == "go {}"
        pid = servers.pid("a")
    assert not is_running(pid)


async def test_calls_that_wait_for_a_session_that_ends_are_told():
    """They were not sent, so they may be sent again."""
    async with opened(a=by_hand("plain")) as servers:
        connection = servers.mcp.servers[0]._connection
        waiting = asyncio.ensure_future(connection.do(lambda client: client.list_tools()))
        await asyncio.sleep(0)  # it stands in the queue now
        connection._ended()
        with pytest.raises(session.NotSentError):
            await waiting
        with pytest.raises(session.NotSentError):
            await connection.do(lambda client: client.list_tools())


async def test_the_persons_home_is_meant_by_its_sign(tmp_path, monkeypatch):
    """In the command and its arguments, where it leads; elsewhere the sign is itself."""
    (tmp_path / "python").symlink_to(sys.executable)
    (tmp_path / "server.py").write_text(
        (SERVERS / "by_hand.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    async with opened(a={"command": "~/python", "args": ["~/server.py", "a~b"]}) as servers:
        assert servers.notices == ()
        assert await servers.call("a__go") == "go {}"
