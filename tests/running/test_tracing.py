"""Spans: made from what is journaled, by the conventions for generative AI, without content unless asked for."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import surefoot
from surefoot import redaction
from surefoot.errors import ProviderRateLimitError, ToolError
from surefoot.events import EventType
from surefoot.journal.owner import current_owner
from surefoot.journal.types import Memory, RunStatus
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Completion, Message, Request, ToolCall, Usage
from surefoot.running import lifecycle, tracing, watching
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.models import call_model
from surefoot.settings import load_settings
from surefoot.tools.types import Actor, Effect

from .support import again, new_session, open_journal, plain_tool

SECRET = "hunter2-hunter2"
CONTENT = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
)
"""Attributes that the conventions leave out unless they are asked for."""


@pytest.fixture
async def journal(tmp_path: Path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


class Exported:
    """What the SDK's exporter got."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def __call__(self, name: str):
        """The one span of that name."""
        (span,) = [span for span in self.all if span.name == name]
        return span

    @property
    def all(self):
        return self._exporter.get_finished_spans()

    @property
    def names(self) -> list[str]:
        return sorted(span.name for span in self.all)

    def text(self) -> str:
        """All that would leave the process."""
        return "\n".join(span.to_json() for span in self.all)


@pytest.fixture
def spans():
    exported = Exported()
    yield exported
    tracing.stop()
    exported.provider.shutdown()


def fails(q: str = "") -> str:
    raise ToolError(f"no {q}")


TOOLS = (
    plain_tool("find", lambda q="": f"found {q}"),
    plain_tool("break", fails),
    plain_tool("send", lambda q="": "sent", Effect.EXTERNAL),
)


async def a_session(journal, **options):
    options = {"context": {"dialogue": "d1"}, "goal": "look for tea", **options}
    session = await new_session(journal, TOOLS, **options)
    await session.tell((EventType.RUN_CREATED, {"goal": "look for tea", "kind": "ask"}))
    return session


async def call(session, key, tool, **arguments):
    return await Executor(session).call(CallRequest(key, tool, arguments, scope=key))


async def ask(session, key, answer, *, name="gemini:flash", messages=(), purpose="round"):
    model = answer if isinstance(answer, ScriptedModel) else ScriptedModel(answer, name=name)
    request = Request(messages or (Message("system", "be brief"), Message("user", "tea?")), purpose=purpose)
    return await call_model(session, model, request, key)


async def a_whole_run(journal, secret: str = "tea"):
    """A round with a call, its result, an answer."""
    session = await a_session(journal)
    usage = Usage(100, 40, 7)
    answer = Completion("", (ToolCall("c1", "find", {"q": secret}),), usage=usage, model="flash-001")
    first = await ask(session, "round.1", answer)
    await call(session, "round.1/0", "find", q=secret)
    said = Message("assistant", first.text, first.tool_calls)
    result = Message("tool", f"found {secret}", tool_call_id="c1", name="find")
    goal = (Message("system", "be brief"), Message("user", "tea?"))
    await ask(
        session, "round.2", Completion("There is tea.", usage=Usage(10, 0, 3)), messages=(*goal, said, result)
    )
    diary = Memory("m1", "diary", "tea", session.run.id)
    await session.end_turn("There is tea.", messages=[], diary=diary, incomplete=True, stopped_by="rounds")
    return session


# --- the tree ------------------------------------------------------------------------------------------------


async def test_a_run_is_a_span_with_its_model_and_tool_calls_in_it(journal, spans):
    """invoke_agent over chat and execute_tool, one trace, each inside its run's time."""
    tracing.start(provider=spans.provider)
    await a_whole_run(journal)
    assert spans.names == ["chat flash", "chat flash", "execute_tool find", "invoke_agent surefoot"]
    run = spans("invoke_agent surefoot")
    assert run.parent is None
    for span in spans.all:
        assert span.context.trace_id == run.context.trace_id
        if span is not run:
            assert span.parent.span_id == run.context.span_id
            assert run.start_time - 10**9 <= span.start_time <= span.end_time <= run.end_time
    assert run.instrumentation_scope.name == "surefoot"
    assert run.instrumentation_scope.version == surefoot.__version__


async def test_the_spans_times_are_the_journals(journal, spans):
    """From the first event to the last, and of a call from its intent to its result."""
    tracing.start(provider=spans.provider)
    session = await a_whole_run(journal)
    events = await journal.events(session.run.id)
    at = {str(event.type): round(event.at.timestamp() * 1_000_000) * 1_000 for event in events}
    run, tool = spans("invoke_agent surefoot"), spans("execute_tool find")
    assert (run.start_time, run.end_time) == (at["run.created"], at["run.status"])
    assert (tool.start_time, tool.end_time) == (at["call.intended"], at["call.done"])


async def test_a_run_lies_in_the_span_that_was_open_when_it_began(journal, spans):
    """A request of a program's own server shows what it caused."""
    tracing.start(provider=spans.provider)
    with spans.provider.get_tracer("app").start_as_current_span("GET /ask") as outer:
        await a_whole_run(journal)
    assert spans("invoke_agent surefoot").parent.span_id == outer.get_span_context().span_id


async def test_two_runs_side_by_side_do_not_mix(journal, spans):
    """Each has its own trace."""
    tracing.start(provider=spans.provider)
    sessions = [await a_session(journal) for _ in range(3)]
    await asyncio.gather(*(call(session, "1", "find", q=str(n)) for n, session in enumerate(sessions)))
    await asyncio.gather(*(session.rest(RunStatus.DONE) for session in sessions))
    traces: dict[int, list[str]] = {}
    for span in spans.all:
        traces.setdefault(span.context.trace_id, []).append(span.name)
    assert [sorted(names) for names in traces.values()] == [
        ["execute_tool find", "invoke_agent surefoot"]
    ] * 3


# --- attributes ----------------------------------------------------------------------------------------------


async def test_the_attributes_of_a_run(journal, spans):
    """Names of the conventions; what is ours begins with our name."""
    tracing.start(provider=spans.provider)
    session = await a_whole_run(journal)
    run = spans("invoke_agent surefoot")
    assert run.kind is SpanKind.INTERNAL
    assert dict(run.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "surefoot",
        "gen_ai.agent.version": surefoot.__version__,
        "gen_ai.conversation.id": "d1",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "flash",
        "gen_ai.usage.input_tokens": 110,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.output_tokens": 10,
        "surefoot.run.id": session.run.id,
        "surefoot.run.kind": "ask",
        "surefoot.run.status": "done",
        "surefoot.run.incomplete": True,
        "surefoot.run.stopped_by": "rounds",
    }
    assert run.status.status_code is StatusCode.UNSET


async def test_the_attributes_of_a_model_call(journal, spans):
    """Provider and model asked, model that answered, tokens, why it ended."""
    tracing.start(provider=spans.provider)
    await a_whole_run(journal)
    first, second = [span for span in spans.all if span.name == "chat flash"]
    assert first.kind is SpanKind.CLIENT
    assert dict(first.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "flash",
        "gen_ai.response.model": "flash-001",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.conversation.id": "d1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.output_tokens": 7,
        "surefoot.purpose": "round",
        "surefoot.model_call": "round.1",
    }
    assert "gen_ai.usage.cache_read.input_tokens" not in second.attributes


async def test_the_attributes_of_a_tool_call(journal, spans):
    """Its name, id, description and effect."""
    tracing.start(provider=spans.provider)
    session = await a_whole_run(journal)
    (made,) = await journal.calls(session.run.id)
    tool = spans("execute_tool find")
    assert tool.kind is SpanKind.INTERNAL
    assert dict(tool.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "gen_ai.tool.call.id": made.id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "find.",
        "gen_ai.conversation.id": "d1",
        "surefoot.effect": "read",
    }


@pytest.mark.parametrize(
    ("name", "provider", "model", "kind"),
    [
        ("local:qwen2.5-coder-1.5b", "local", "qwen2.5-coder-1.5b", SpanKind.INTERNAL),
        ("ollama:qwen3:4b", "ollama", "qwen3:4b", SpanKind.CLIENT),
        ("openai:gpt-x", "openai", "gpt-x", SpanKind.CLIENT),
        ("mine", "surefoot", "mine", SpanKind.CLIENT),
    ],
)
async def test_providers_by_the_conventions_names(journal, spans, name, provider, model, kind):
    """A model in this process is an internal span; a name without a provider is a program's own model."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal, context={})
    await ask(session, "plan", "ok", name=name)
    await session.rest(RunStatus.DONE)
    chat = spans(f"chat {model}")
    assert (chat.attributes["gen_ai.provider.name"], chat.kind) == (provider, kind)
    assert "gen_ai.conversation.id" not in chat.attributes


# --- errors --------------------------------------------------------------------------------------------------


async def test_what_failed_has_a_type_and_no_text(journal, spans):
    """error.type is the error's code; its message may quote content, so it is left out."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal)
    await call(session, "1", "break", q="tea")
    with pytest.raises(ProviderRateLimitError):
        await ask(session, "plan", ScriptedModel(ProviderRateLimitError("slow down"), name="openai:gpt-x"))
    await session.rest(RunStatus.FAILED, error=ProviderRateLimitError("slow down").to_dict())
    found = {span.name: span for span in spans.all}
    assert {name: span.attributes["error.type"] for name, span in found.items()} == {
        "execute_tool break": "tool_failed",
        "chat gpt-x": "rate_limit",
        "invoke_agent surefoot": "rate_limit",
    }
    for span in found.values():
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert found["chat gpt-x"].attributes["surefoot.model_call"] == "plan"
    assert found["chat gpt-x"].parent.span_id == found["invoke_agent surefoot"].context.span_id


async def test_a_call_that_was_refused_or_merged_has_a_span_of_its_moment(journal, spans):
    """It never ran, and is seen all the same; a name that a model made up is not."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal, policy={"send": "deny"})
    await call(session, "1", "send", q="x")
    await call(session, "2", f"invented {SECRET}", q="x")
    executor = Executor(session)
    for key in ("3", "4"):
        await executor.call(CallRequest(key, "find", {"q": "x"}))
    await session.rest(RunStatus.DONE)
    assert spans("execute_tool send").attributes["error.type"] == "denied"
    assert spans("execute_tool unknown").attributes["error.type"] == "not_found"
    assert SECRET not in spans.text()
    merged = [span for span in spans.all if "surefoot.merged_into" in span.attributes]
    assert [(span.name, span.attributes["surefoot.merged_into"]) for span in merged] == [
        ("execute_tool find", 3)
    ]


async def test_a_call_whose_end_never_came_ends_with_its_run(journal, spans):
    """No span is left open when nobody works on the run."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal)
    data = {"call": "lost", "tool": "find", "arguments": {}}
    await session.tell((EventType.CALL_INTENDED, data))
    await session.rest(RunStatus.DONE)
    lost = spans("execute_tool find")
    assert lost.attributes["error.type"] == "_OTHER"
    assert lost.end_time == spans("invoke_agent surefoot").end_time


async def test_a_cancelled_run_says_so(journal, spans):
    """Its span is an error of that name."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal)
    await session.rest(RunStatus.CANCELLED)
    assert spans("invoke_agent surefoot").attributes["error.type"] == "cancelled"


async def test_a_run_that_waits_has_a_span_for_each_part(journal, spans):
    """The time a person takes is in none; both have the run's id."""
    tracing.start(provider=spans.provider)
    session = await a_session(journal)
    await call(session, "1", "send")
    await session.rest(RunStatus.NEEDS_APPROVAL)
    await lifecycle.approve(journal, session.run, None, Actor())
    answered = (await journal.events(session.run.id))[-1]
    session.run = await journal.claim(session.run.id, current_owner())
    taken = await again(session)
    await taken.set(status=RunStatus.RUNNING)
    await call(taken, "1", "send")
    await taken.rest(RunStatus.DONE)
    first, second = [span for span in spans.all if span.name == "invoke_agent surefoot"]
    assert first.attributes["surefoot.run.status"] == "needs_approval"
    assert second.attributes["surefoot.run.status"] == "done"
    assert first.attributes["surefoot.run.id"] == second.attributes["surefoot.run.id"]
    assert second.start_time >= answered.at.timestamp() * 1e9 - 1_000 >= first.end_time - 2_000
    assert spans("execute_tool send").parent.span_id == second.context.span_id


# --- content -------------------------------------------------------------------------------------------------


async def test_content_is_off_by_default(journal, spans):
    """Nothing that was said, given to a tool or come from one leaves the process."""
    tracing.start(provider=spans.provider)
    await a_whole_run(journal, secret="oolong-in-everything")
    assert not [name for span in spans.all for name in span.attributes if name in CONTENT]
    for text in ("oolong", "tea?", "be brief", "There is tea", "look for tea"):
        assert text not in spans.text()


async def test_content_follows_the_conventions_form(journal, spans):
    """Roles and parts, as JSON: what was new in each call, and its answer with its reason."""
    tracing.start(content=True, provider=spans.provider)
    await a_whole_run(journal)
    first, second = [span for span in spans.all if span.name == "chat flash"]
    said = {"system": "be brief", "user": "tea?"}
    assert json.loads(first.attributes["gen_ai.input.messages"]) == [
        {"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said.items()
    ]
    called = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"q": "tea"}}
    assert json.loads(first.attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [called], "finish_reason": "stop"}
    ]
    answered = {"type": "tool_call_response", "id": "c1", "response": "found tea"}
    assert json.loads(second.attributes["gen_ai.input.messages"]) == [{"role": "tool", "parts": [answered]}]
    tool, run = spans("execute_tool find"), spans("invoke_agent surefoot")
    assert json.loads(tool.attributes["gen_ai.tool.call.arguments"]) == {"q": "tea"}
    assert json.loads(tool.attributes["gen_ai.tool.call.result"]) == "found tea"
    assert json.loads(run.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"] == "look for tea"
    assert json.loads(run.attributes["gen_ai.output.messages"])[0]["finish_reason"] == "stop"


async def test_a_reason_to_end_is_the_conventions_word(journal, spans):
    """They have the singular for calls."""
    tracing.start(content=True, provider=spans.provider)
    session = await a_session(journal)
    await ask(session, "round.1", [ToolCall("c", "find", {})])
    await session.rest(RunStatus.DONE)
    chat = spans("chat flash")
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert json.loads(chat.attributes["gen_ai.output.messages"])[0]["finish_reason"] == "tool_call"


async def test_no_secret_reaches_a_span_with_content(journal, spans):
    """In goals, prompts, arguments, results, errors, names: masked in each."""
    tracing.start(content=True, provider=spans.provider)
    with redaction.secrets(SECRET):
        session = await a_session(journal, goal=f"use {SECRET}")
        calls = [ToolCall("c1", "find", {"q": SECRET})]
        await ask(session, "plan", calls, messages=(Message("user", SECRET),))
        await call(session, "1", "find", q=SECRET)
        await call(session, "2", "break", q=SECRET)
        await call(session, "3", SECRET, q=SECRET)
        failing = ScriptedModel(ProviderRateLimitError(f"{SECRET} is slow"), name=f"x:{SECRET}")
        with pytest.raises(ProviderRateLimitError):
            await ask(session, "reply", failing)
        diary = Memory("m1", "diary", "tea", session.run.id)
        await session.end_turn(f"It is {SECRET}.", messages=[], diary=diary, incomplete=False, stopped_by="")
    assert len(spans.all) == 6
    assert SECRET not in spans.text()
    assert "[secret]" in spans.text()
    assert spans("execute_tool break").status.description == "no [secret]"


# --- on and off ----------------------------------------------------------------------------------------------


async def test_without_the_api_nothing_happens(journal, monkeypatch):
    """No error: a program that sets up no spans needs no library for them."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert tracing.start() is False
    assert not watching.anybody()
    session = await a_session(journal, settings=load_settings(trace=True))
    await session.rest(RunStatus.DONE)
    assert session._watch is None


async def test_starting_twice_makes_each_span_once(journal, spans):
    """And stopping ends it."""
    assert tracing.start(provider=spans.provider)
    assert tracing.start(provider=spans.provider)
    await (await a_session(journal)).rest(RunStatus.DONE)
    assert spans.names == ["invoke_agent surefoot"]
    tracing.stop()
    await (await a_session(journal)).rest(RunStatus.DONE)
    assert spans.names == ["invoke_agent surefoot"]


@pytest.mark.parametrize("content", [False, True])
async def test_settings_turn_it_on(journal, spans, monkeypatch, content):
    """`trace` and `trace_content`, for a program that runs under a tracer; without an SDK the spans go nowhere."""
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: spans.provider)
    settings = load_settings(trace=True, trace_content=content)
    session = await a_session(journal, settings=settings)
    await session.rest(RunStatus.DONE)
    assert ("gen_ai.input.messages" in spans("invoke_agent surefoot").attributes) is content


async def test_settings_leave_it_off(journal):
    """Spans are a thing to ask for."""
    session = await a_session(journal)
    assert (session.settings.trace, session.settings.trace_content) == (False, False)
    assert not watching.anybody()
