"""An assistant with real MCP servers: planned, asked, approved, called, journaled; and servers that fail it."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

from assistant.support import plan
from surefoot import Assistant, ScriptedModel
from surefoot.events import EventType
from surefoot.journal.types import CallStatus, RunStatus
from surefoot.settings import Settings
from surefoot.tools.mcp.servers import kit_of
from tools.mcp_support import by_hand, eventually, helpful, is_running, settings_with


def assistant(model: ScriptedModel, settings: Settings, **more: Any) -> Assistant:
    return Assistant(model=model, settings=settings, kits=("notes",), **more)


async def notices(ours: Assistant, run: str) -> list[str]:
    events = await (await ours.journal()).events(run)
    return [event.data["text"] for event in events if event.type is EventType.NOTICE]


async def test_a_call_that_cannot_be_taken_back_asks_first_and_is_journaled():
    """Plan, rest in front of it, approve in another process, done: the message is sent once."""
    settings = settings_with(mail=helpful())
    message = {"to": "Anna", "text": "Grüße 🎉"}
    async with assistant(ScriptedModel(plan(("mail__send", message))), settings) as ours:
        asked = await ours.ask("send Anna my greetings")
        assert asked.status is RunStatus.NEEDS_APPROVAL
        (call,) = asked.calls
        assert (call.tool, call.arguments, call.effect, call.status) == (
            "mail__send",
            message,
            "external",
            CallStatus.WAITING,
        )
        folder = settings.data_dir / "mcp" / "mail"
        assert not (folder / "sent.txt").exists()
    async with assistant(ScriptedModel("I sent it."), settings) as ours:
        done = await (await ours.approve(asked.id))
        assert (done.status, done.reply) == (RunStatus.DONE, "I sent it.")
        (call,) = await (await ours.journal()).calls(asked.id)
        assert (call.status, call.result) == (CallStatus.DONE, {"sent": True, **message})
    assert (folder / "sent.txt").read_text(encoding="utf-8") == "send Anna: Grüße 🎉\n"


async def test_the_tools_of_servers_stand_behind_the_built_in_ones():
    """Opened by the first run; the catalogue is the same object until something changes."""
    settings = settings_with(a=by_hand("grows", effects={"go": "read"}))
    model = ScriptedModel(plan(("a__go", {})), "one", "Nothing to do.", "two")
    async with assistant(model, settings) as ours:
        built_in = ours.catalogue.names
        assert "a__go" not in built_in
        await ours.ask("let a go somewhere")
        assert ours.catalogue.names == (*built_in, "a__go", "a__act")
        before = ours.catalogue
        server = ours._servers._tools.servers[0]
        assert await eventually(lambda: server._stale)
        assert ours.catalogue is before
        result = await ours.ask("what can you do now?")
        assert ours.catalogue.names == (*built_in, "a__go", "a__act", "a__later")
        assert await notices(ours, result.id) == []
        assert await ours.open_tools() is ours.catalogue


async def test_a_server_that_does_not_come_up_is_a_notice_and_the_run_goes_on():
    """With the other tools; its names in the policy are no mistake."""
    settings = settings_with(bad=by_hand("broken"), good=by_hand("plain", effects={"go": "read"}))
    settings = settings.model_copy(
        update={"policy": {kit_of("bad"): "deny", "bad__x": "deny", "good__go": "auto"}}
    )
    async with assistant(ScriptedModel(plan(("good__go", {"n": 1})), "Done."), settings) as ours:
        result = await ours.ask("let good go to one")
        assert result.status is RunStatus.DONE
        assert [call.result for call in result.calls] == ['go {"n": 1}']
        (notice,) = await notices(ours, result.id)
        assert "MCP server 'bad' cannot be used" in notice
        assert notice.endswith("The run goes on without its tools.")


async def test_a_server_that_dies_over_a_call_leaves_it_unknown():
    """In the journal and to the model; it is not repeated, also not when the run is taken up."""
    settings = settings_with(a=by_hand("dies"))
    settings = settings.model_copy(update={"policy": {kit_of("a"): "auto"}})
    model = ScriptedModel(plan(("a__act", {"n": 1})), "I do not know whether it worked.")
    async with assistant(model, settings) as ours:
        result = await ours.ask("let a act on one")
        (call,) = result.calls
        assert call.status is CallStatus.UNKNOWN
        assert "is not known" in call.error["message"]
        assert result.run.incomplete
    said = (settings.data_dir / "mcp" / "a" / "said.txt").read_text().splitlines()
    assert said.count("act") == 1


async def test_a_call_that_is_never_answered_ends_with_its_time_as_unknown():
    """And the run with it."""
    settings = settings_with(a=by_hand("mute", timeout=0.5, effects={"go": "read"}))
    settings = settings.model_copy(update={"policy": {"a__act": "auto"}})
    model = ScriptedModel(plan(("a__act", {}), ("a__go", {})), "It did not answer.")
    async with assistant(model, settings) as ours:
        result = await ours.ask("let a act, then go")
        assert [call.status for call in result.calls] == [CallStatus.UNKNOWN, CallStatus.FAILED]


async def test_a_server_killed_between_two_runs_serves_the_second():
    """Nobody is told: nothing was lost."""
    settings = settings_with(a=by_hand("plain", effects={"go": "read"}))
    model = ScriptedModel(plan(("a__go", {"n": 1})), "one", plan(("a__go", {"n": 2})), "two")
    async with assistant(model, settings) as ours:
        await ours.ask("let a go to one")
        pid = int((settings.data_dir / "mcp" / "a" / "pid.txt").read_text())
        os.kill(pid, signal.SIGKILL)
        assert await eventually(lambda: not is_running(pid))
        result = await ours.ask("let a go to two")
        assert [call.result for call in result.calls] == ['go {"n": 2}']
        assert await notices(ours, result.id) == []


async def test_a_key_that_a_server_says_is_masked_in_every_sink(monkeypatch):
    """It was given the key, so it may tell it: journal, events, prompts and reply hold the mask."""
    secret = "tok-planted-0123456789"
    monkeypatch.setenv("HELPFUL_TOKEN", secret)
    settings = settings_with(hi=helpful(trusted=True, env=["HELPFUL_TOKEN"]))
    model = ScriptedModel(plan(("hi__whoami", {})), f"It knows {secret}.")
    async with assistant(model, settings) as ours:
        result = await ours.ask("who does hi think it is?")
        (call,) = result.calls
        assert call.result["variables"]["HELPFUL_TOKEN"] == "[secret]"
        journal = await ours.journal()
        events = [event.to_dict() for event in await journal.events(result.id)]
        kept = [entry.completion for entry in await journal.model_calls(result.id)]
        prompts = [message.content for request in model.requests for message in request.messages]
        assert secret not in json.dumps([events, kept, prompts, result.reply, call.result], default=str)
    for path in settings.data_dir.glob("*.db*"):
        assert secret.encode() not in path.read_bytes()


async def test_closing_the_assistant_ends_the_programs():
    """Also those of a run that is still under way."""
    settings = settings_with(a=by_hand("mute", timeout=600))
    settings = settings.model_copy(update={"policy": {"a__act": "auto"}})
    async with assistant(ScriptedModel(plan(("a__act", {}))), settings) as ours:
        handle = ours.ask("let a act now")
        async for event in handle:
            if event.type is EventType.CALL_INTENDED:
                break
        pid = int((settings.data_dir / "mcp" / "a" / "pid.txt").read_text())
    assert await eventually(lambda: not is_running(pid))


async def test_a_tool_of_ones_own_keeps_its_name():
    """The server's is left out, and it is said once."""
    from surefoot import tool

    @tool(effect="read", name="a__go")
    def mine() -> str:
        """Goes by itself."""
        return "mine"

    settings = settings_with(a=by_hand("plain"))
    model = ScriptedModel(plan(("a__go", {})), "ok", "Nothing to do.", "ok")
    async with assistant(model, settings, tools=[mine]) as ours:
        first = await ours.ask("let a go there")
        assert [call.result for call in first.calls] == ["mine"]
        assert await notices(ours, first.id) == [
            "Tool 'a__go' of an MCP server is left out: one of yours has its name."
        ]
