"""The same endings and errors through both HTTP adapters: OpenAI's form and Ollama's, each in its own wire format."""

from __future__ import annotations

import json
import threading
from email.utils import formatdate

import pytest

from models import openai_wire as openai
from models.servers import Answer, Clock, LoopbackServer, as_json, client_for, ndjson, sse
from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    MalformedCallError,
    MisuseError,
    OutputCutError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderRequestError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from surefoot.models.ollama import OllamaModel
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.types import REQUIRED, FinishReason, Message, Request, ToolCall, ToolSpec

HI = Request((Message("user", "Hello!"),))
DOT, BAR = ToolSpec("tool.name", "With a dot"), ToolSpec("tool_name", "With a bar")
SHOWN = {
    "capabilities": ["completion", "tools"],
    "model_info": {"general.architecture": "q", "q.context_length": 8192},
}
BOTH = Request(HI.messages, (DOT, BAR))


class OpenAI:
    """OpenAI's form: server-sent events with deltas."""

    path = openai.CHAT
    abilities = "/v1/models"
    able = openai.MODELS

    def make(self, client, **options):
        return OpenAICompatibleModel("gpt-test", client, **options)

    def text(self, *parts, finish="stop", **options):
        return sse(
            *(openai.delta(content=part) for part in parts), openai.delta(finish), openai.USAGE, **options
        )

    def calls(self, *calls, finish="tool_calls"):
        chunks = [
            openai.call(arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments),
                        index=place, call_id=call_id or None, name=name)
            for place, (call_id, name, arguments) in enumerate(calls)
        ]  # fmt: skip
        return sse(*chunks, openai.delta(finish))

    def broken_off(self):
        return sse(openai.delta(content="Hal"), drop=True, done=False)

    def shown(self, body):
        return [tool["function"]["name"] for tool in body["tools"]]

    def nothing(self):
        nulls = [
            {"choices": None},
            {"choices": [{"delta": {"content": None, "tool_calls": None}, "finish_reason": None}]},
        ]
        return sse(openai.delta(content="Hi"), *nulls, openai.delta("stop"), {"choices": [], "usage": None})


class Ollama:
    """Ollama's form: one object a line."""

    path = "/api/chat"
    abilities = "/api/show"
    able = SHOWN

    def make(self, client, **options):
        return OllamaModel("gpt-test", client, **options)

    @staticmethod
    def end(finish="stop"):
        return {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": finish}

    def text(self, *parts, finish="stop", **options):
        lines = [{"message": {"role": "assistant", "content": part}, "done": False} for part in parts]
        return ndjson(*lines, self.end(finish), **options)

    def calls(self, *calls, finish="stop"):
        made = [
            {**({"id": call_id} if call_id else {}), "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
        return ndjson({"message": {"content": "", "tool_calls": made}, "done": False}, self.end(finish))

    def broken_off(self):
        return ndjson({"message": {"content": "Hal"}, "done": False}, drop=True)

    def shown(self, body):
        return [tool["function"]["name"] for tool in body["tools"]]

    def nothing(self):
        nulls = [{"message": None}, {"message": {"content": None, "tool_calls": None}, "done": None}]
        hi = {"message": {"content": "Hi"}, "done": False}
        last = {"done": True, "done_reason": None, "prompt_eval_count": None, "eval_count": None}
        return ndjson(hi, *nulls, last)


@pytest.fixture(params=[OpenAI(), Ollama()], ids=["openai", "ollama"])
def wire(request):
    return request.param


@pytest.fixture
def server(wire):
    with LoopbackServer().running() as running:
        running.on(wire.abilities, as_json(wire.able))
        yield running


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def model(wire, server, clock):
    opened = wire.make(client_for(server, clock))
    await opened.capabilities()
    yield opened
    await opened.close()


# --- refusals ----------------------------------------------------------------------------------------------------

QUOTA = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota", "type": "x"}}
MINUTE = {
    "error": {"message": "Rate limit reached: 3 requests per minute. Please try again in 20s.", "code": "x"}
}
PLAIN = {"error": "too many requests"}


@pytest.mark.parametrize(
    ("body", "headers", "kind", "slept"),
    [
        (QUOTA, {}, ProviderQuotaError, []),
        (QUOTA, {"retry_after": "1"}, ProviderQuotaError, []),
        (
            {"error": "You exceeded your current quota, please check your plan and billing"},
            {},
            ProviderQuotaError,
            [],
        ),
        (MINUTE, {}, ProviderRateLimitError, [1, 2, 4]),
        (PLAIN, {}, ProviderRateLimitError, [1, 2, 4]),
        (PLAIN, {"retry_after": "3"}, ProviderRateLimitError, [3, 3, 4]),
        (PLAIN, {"retry_after": "10800"}, ProviderRateLimitError, []),
        (PLAIN, {"retry_after": "soon"}, ProviderRateLimitError, [1, 2, 4]),
    ],
)
async def test_which_429(wire, server, model, clock, body, headers, kind, slept):
    """Fault kind "which 429": a spent account stops at once; Retry-After is a floor, handed over when it is long."""
    server.on(wire.path, as_json(body, 429, **headers))
    with pytest.raises(kind) as caught:
        await model.complete(HI)
    assert clock.slept == slept
    assert len(server.bodies(wire.path)) == len(slept) + 1
    if headers.get("retry_after") == "10800":
        assert caught.value.retry_after == 10800


async def test_a_429_with_a_date(wire, server, model, clock):
    """Fault kind "which 429": a date counts from now."""
    limited = as_json(PLAIN, 429, retry_after=formatdate(clock.now + 7, usegmt=True))
    server.on(wire.path, limited, wire.text("Hi"))
    assert (await model.complete(HI)).text == "Hi"
    assert clock.slept == [7]


@pytest.mark.parametrize(
    ("status", "message", "kind", "attempts"),
    [
        (401, "Incorrect API key provided", ProviderAuthError, 1),
        (403, "You are not allowed to use this model", ProviderAuthError, 1),
        (402, "Insufficient credits", ProviderQuotaError, 1),
        (400, "messages: must not be empty", ProviderRequestError, 1),
        (400, "this model does not support tools", ProviderCapabilityError, 1),
        (400, "The response was filtered by the content management policy", ContentFilterError, 1),
        (400, "This model's maximum context length is 8192 tokens", ContextLengthError, 1),
        (500, "model requires more system memory than is available", ProviderUnavailableError, 1),
        (500, "internal error", ProviderUnavailableError, 4),
        (502, "bad gateway", ProviderUnavailableError, 4),
        (503, "loading model", ProviderUnavailableError, 4),
        (504, "", ProviderUnavailableError, 4),
        (529, "overloaded", ProviderUnavailableError, 4),
    ],
)
async def test_each_refusal_is_the_error_of_who_must_act(
    wire, server, model, clock, status, message, kind, attempts
):
    """Only what may pass is tried again, 4 times, 1, 2 and 4 seconds apart."""
    server.on(wire.path, as_json({"error": {"message": message}}, status))
    with pytest.raises(kind) as caught:
        await model.complete(HI)
    assert type(caught.value) is kind
    assert len(server.bodies(wire.path)) == attempts
    assert clock.slept == ([1, 2, 4] if attempts == 4 else [])


async def test_a_silent_gateway(wire, server, model, clock):
    """Fault kind "silent gateway": the question asks for a stream, a 504 passes, the answer comes in one piece."""
    server.on(wire.path, Answer(504, [b"<html>Gateway Time-out</html>"]), wire.text("Hel", "lo"))
    assert (await model.complete(HI)).text == "Hello"
    assert [body["stream"] for body in server.bodies(wire.path)] == [True, True]
    assert clock.slept == [1]


async def test_a_connection_that_drops_is_tried_again(wire, server, model):
    """What came of the first attempt is no part of the answer."""
    server.on(wire.path, wire.broken_off(), wire.text("Hello"))
    assert (await model.complete(HI)).text == "Hello"


async def test_a_stream_that_was_seen_is_not_begun_anew(wire, server, model):
    """A piece is out: the error is told, nothing is asked again."""
    server.on(wire.path, wire.broken_off(), wire.text("Hello"))
    stream = model.stream(HI)
    assert (await anext(stream)).text == "Hal"
    with pytest.raises(ProviderUnavailableError):
        await anext(stream)
    assert len(server.bodies(wire.path)) == 1


# --- time-outs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0, 0.0, -1, float("nan"), float("inf")])
async def test_no_time_out_of_nothing_and_none_without_end(wire, server, model, seconds):
    """Fault kind "time-outs": 0 is not unset, and nothing waits for ever."""
    with pytest.raises(MisuseError, match="timeout is"):
        await model.complete(Request(HI.messages, timeout=seconds))
    assert server.bodies(wire.path) == []


@pytest.mark.parametrize("timeout", [None, 0.2])
async def test_there_is_always_a_limit(wire, server, timeout):
    """Fault kind "time-outs": unset means the default, and a server that goes silent in the middle meets it."""
    from surefoot.models.address import AddressPolicy
    from surefoot.models.http import ProviderClient

    held = threading.Event()
    server.on(wire.path, wire.text("Hel", "lo", hold=held, hold_after=1))
    client = ProviderClient(provider="It", base_url=server.url, policy=AddressPolicy(allowed=[server.url]))
    model = wire.make(client, default_seconds=0.2)
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.2 s"):
        await model.complete(Request(HI.messages, timeout=timeout))
    held.set()
    await model.close()


# --- names, ids, fields ------------------------------------------------------------------------------------------


async def test_names_go_there_and_back_and_stay_two(wire, server, model):
    """Fault kind "provider name rules": `tool.name` beside `tool_name` are two names outside and the two inside."""
    server.on(wire.path, wire.text("no"))
    await model.complete(BOTH)
    dotted, barred = wire.shown(server.bodies(wire.path)[0])
    assert barred == "tool_name"
    assert dotted != barred
    server._answers[wire.path].clear()
    server.on(wire.path, wire.calls(("a", dotted, {}), ("b", barred, {})))
    assert [(made.id, made.name) for made in (await model.complete(BOTH)).tool_calls] == [
        ("a", "tool.name"),
        ("b", "tool_name"),
    ]


@pytest.mark.parametrize("name", ["calendar.createEvent", "über tool", "a/b", "x" * 80])
async def test_a_name_that_is_not_allowed_comes_back_as_ours(wire, server, model, name):
    """Fault kind "provider name rules", with one name at a time."""
    server.on(wire.path, wire.text("no"))
    request = Request(HI.messages, (ToolSpec(name),))
    await model.complete(request)
    (outward,) = wire.shown(server.bodies(wire.path)[0])
    server._answers[wire.path].clear()
    server.on(wire.path, wire.calls(("a", outward, {"n": 1})))
    (made,) = (await model.complete(request)).tool_calls
    assert (made.name, made.arguments) == (name, {"n": 1})


async def test_a_call_without_an_id_gets_one_and_keeps_it(wire, server, model):
    """Fault kind "deltas without id": made once, another for each call, and it pairs the result."""
    server.on(wire.path, wire.calls(("", "tool_name", {"n": 1}), ("", "tool_name", {"n": 2})))
    made = (await model.complete(BOTH)).tool_calls
    assert [one.arguments for one in made] == [{"n": 1}, {"n": 2}]
    assert len({one.id for one in made}) == 2
    assert all(one.id.startswith("call_") for one in made)
    results = tuple(Message("tool", str(place), tool_call_id=one.id) for place, one in enumerate(made))
    server._answers[wire.path].clear()
    server.on(wire.path, wire.text("done"))
    await model.complete(Request((*HI.messages, Message("assistant", tool_calls=made), *results), (DOT, BAR)))
    _, asked, *answered = server.bodies(wire.path)[-1]["messages"]
    assert [one["id"] for one in asked["tool_calls"]] == [one["tool_call_id"] for one in answered]


async def test_all_results_of_a_turn_go_out_together_paired_by_id(wire, server, model):
    """Fault kind "several calls in one turn": whatever their order, each result names its call."""
    server.on(wire.path, wire.text("done"))
    turn = Message("assistant", tool_calls=(ToolCall("a", "tool.name", {}), ToolCall("b", "tool_name", {})))
    results = (Message("tool", "of b", tool_call_id="b"), Message("tool", "of a", tool_call_id="a"))
    await model.complete(Request((*HI.messages, turn, *results), (DOT, BAR)))
    sent = server.bodies(wire.path)[0]["messages"][2:]
    assert [(one["tool_call_id"], one["content"]) for one in sent] == [("b", "of b"), ("a", "of a")]


async def test_equal_calls_of_one_message_keep_their_ids(wire, server, model):
    """Fault kind "the same write twice in one message": both are there to be answered; the executor merges them."""
    server.on(wire.path, wire.calls(("a", "tool_name", {"n": 1}), ("b", "tool_name", {"n": 1})))
    assert [one.id for one in (await model.complete(BOTH)).tool_calls] == ["a", "b"]


async def test_null_fields_are_skipped(wire, server, model):
    """Fault kind "null fields": nothing in a chunk changes nothing, and counts that are null are not counted."""
    server.on(wire.path, wire.nothing())
    answer = await model.complete(HI)
    assert (answer.text, answer.usage.prompt_tokens, answer.finish_reason) == ("Hi", 0, FinishReason.STOP)


@pytest.mark.parametrize("arguments", [None, "", "{}", "null"])
async def test_null_arguments_are_an_empty_object(wire, server, model, arguments):
    """Fault kind "null fields", in a call."""
    server.on(wire.path, wire.calls(("a", "tool_name", arguments)))
    assert (await model.complete(BOTH)).tool_calls[0].arguments == {}


# --- endings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ['{"text": "hal', '{"text": "whole"}', '{"a": [1, 2'])
async def test_a_limit_in_the_middle_of_calls_runs_none(wire, server, model, arguments):
    """Fault kind "cut in the middle of arguments", finish length: a whole call beside it is lost too."""
    server.on(wire.path, wire.calls(("a", "tool_name", "{}"), ("b", "tool_name", arguments), finish="length"))
    with pytest.raises(OutputCutError, match="a tool call"):
        await model.complete(BOTH)


async def test_prose_that_was_cut_where_a_call_was_required(wire, server, model):
    """Fault kind "cut in the middle of arguments", before the first of them: the limit is the reason, not the model."""
    server.on(wire.path, wire.text("I shall", finish="length"))
    with pytest.raises(OutputCutError, match="a tool call"):
        await model.complete(Request(HI.messages, (DOT, BAR), tool_choice=REQUIRED))
    assert (await model.complete(BOTH)).finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize("arguments", ['{"text": "hal', '{"a": [1, 2', '{"a": 1}}', "[]", "text"])
async def test_half_an_argument_under_a_good_finish_runs_none(wire, server, model, arguments):
    """Fault kind "cut in the middle of arguments", with the finish of a whole answer."""
    server.on(wire.path, wire.calls(("a", "tool_name", "{}"), ("b", "tool_name", arguments)))
    with pytest.raises(MalformedCallError):
        await model.complete(BOTH)
