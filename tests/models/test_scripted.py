"""The scripted model: queued answers, kept requests, no unexpected call, no unused answer."""

from __future__ import annotations

import asyncio

import pytest

from surefoot import ScriptedModel
from surefoot.errors import MisuseError, ProviderCapabilityError, ProviderUnavailableError
from surefoot.models.types import (
    Capabilities,
    Completion,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    ToolCall,
    ToolChoice,
    ToolSpec,
    Usage,
)

HI = Request((Message("user", "Hi there"),))
CALL = ToolCall("c1", "addTask", {"title": "Milk"})

PREFIX = Request((Message("system", "Be brief."),))


async def test_answers_come_in_their_order_and_requests_are_kept():
    """Texts, calls, lists of both and whole completions are all answers, given in the order they were queued."""
    whole = Completion("cut", finish_reason=FinishReason.LENGTH, usage=Usage(7, 3, 2), model="other:x")
    model = ScriptedModel("Hello.", CALL, ["One", "Two", CALL], whole)
    first, second, third, fourth = [await model.complete(HI) for _ in range(4)]
    assert (first.text, first.tool_calls, first.finish_reason) == ("Hello.", (), FinishReason.STOP)
    assert (second.text, second.tool_calls, second.finish_reason) == ("", (CALL,), FinishReason.TOOL_CALLS)
    assert (third.text, third.tool_calls) == ("OneTwo", (CALL,))
    assert fourth == whole
    assert model.requests == [HI] * 4
    assert first.model == model.name == "scripted:model"
    model.assert_done()


async def test_an_unexpected_call_is_refused_and_says_which():
    """Without an answer the call is a misuse that names its number, purpose and last message."""
    model = ScriptedModel("only one")
    await model.complete(HI)
    with pytest.raises(MisuseError, match=r"call 2 .*'plan'.*'Hi there'"):
        await model.complete(Request(HI.messages, purpose="plan"))
    assert len(model.requests) == 2


async def test_unused_answers_are_reported():
    """`assert_done` names the answers that nobody asked for."""
    model = ScriptedModel("used", "left", CALL)
    await model.complete(HI)
    assert model.unused == ("left", CALL)
    with pytest.raises(MisuseError, match=r"2 of the answers .*'left'.*addTask"):
        model.assert_done()


async def test_an_error_is_an_answer_too():
    """A queued error is raised, and the next answer still comes."""
    model = ScriptedModel(ProviderUnavailableError("gone"), "back")
    with pytest.raises(ProviderUnavailableError, match="gone"):
        await model.complete(HI)
    assert (await model.complete(HI)).text == "back"


async def test_a_function_answers_from_the_request():
    """A function, sync or async, makes one answer, or all of them as `always`."""

    async def later(request: Request) -> str:
        await asyncio.sleep(0)
        return f"async {request.messages[0].content}"

    model = ScriptedModel(later, always=lambda request: f"echo {request.messages[-1].content}")
    assert [(await model.complete(HI)).text for _ in range(3)] == [
        "async Hi there",
        "echo Hi there",
        "echo Hi there",
    ]
    model.assert_done()


async def test_a_function_may_answer_with_an_error():
    """What a function returns is an answer like any other, an error included."""
    model = ScriptedModel(lambda request: ProviderUnavailableError("no"))
    with pytest.raises(ProviderUnavailableError):
        await model.complete(HI)


async def test_it_streams_in_pieces_and_ends_with_the_completion():
    """The pieces make up the text; the last carries the whole answer."""
    model = ScriptedModel("Hello world", ["as ", "", "given"], piece=4)
    pieces = [piece async for piece in model.stream(HI)]
    assert [piece.text for piece in pieces] == ["Hell", "o wo", "rld", ""]
    assert pieces[-1].completion is not None
    assert pieces[-1].completion.text == "Hello world"
    assert [piece.text async for piece in model.stream(HI)] == ["as ", "", "given", ""]


async def test_usage_is_counted_or_given():
    """Usage follows the size of the prompt unless it is set."""
    long = Request((Message("user", "word " * 100),))
    counted = await ScriptedModel("ok").complete(long)
    assert counted.usage.prompt_tokens > 50
    assert counted.usage.output_tokens == 1
    given = await ScriptedModel("ok", usage=Usage(1, 2, 3)).complete(long)
    assert given.usage == Usage(1, 2, 3)


async def test_what_it_is_said_not_to_support_is_refused():
    """A model without tools refuses a request with tools, as a real adapter does, and keeps the answer."""
    model = ScriptedModel("x", capabilities=Capabilities())
    tools = (ToolSpec("addTask"),)
    with pytest.raises(ProviderCapabilityError, match="does not support tool calls"):
        await model.complete(Request(HI.messages, tools))
    assert (await model.capabilities()).tools is False
    allowed = await model.complete(Request(HI.messages, tools, ToolChoice("none")))
    assert allowed.text == "x"


async def test_a_delay_can_be_cancelled():
    """A slow answer is one that a time-out reaches."""
    model = ScriptedModel("late", delay=30)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await model.complete(HI)
    assert model.requests == [HI]


async def test_it_is_a_language_model_and_remembers_warming_and_closing():
    """It fits the protocol; `warm` and `close` are only remembered; answers can be queued later."""
    model = ScriptedModel()
    assert isinstance(model, LanguageModel)
    model.add("later")
    await model.warm(PREFIX, "key")
    await model.close()
    assert model.warmed == [(PREFIX, "key")]
    assert model.closed
    assert (await model.complete(HI)).text == "later"
