"""The OpenAI-compatible adapter: streams, calls in pieces and endings, against a loopback server."""

from __future__ import annotations

import json

import pytest

from models.openai_wire import CHAT, HI, MODELS, USAGE, call, delta, tools
from models.servers import Answer, Clock, LoopbackServer, as_json, client_for, sse
from surefoot.errors import (
    ContentFilterError,
    EmptyReplyError,
    MalformedCallError,
    OutputCutError,
    ReplyError,
)
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.types import (
    REQUIRED,
    FinishReason,
    ToolCall,
)


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/v1/models", as_json(MODELS))
        yield running


@pytest.fixture
async def model(server):
    opened = OpenAICompatibleModel("gpt-test", client_for(server))
    yield opened
    await opened.close()


# --- the answer ----------------------------------------------------------------------------------------------


async def test_the_published_stream_is_gathered(server, model):
    """Role, text, the finish, the usage in a last chunk without choices."""
    server.on(
        CHAT,
        sse(
            delta(role="assistant", content=""),
            delta(content="Hel"),
            delta(content="lo"),
            delta("stop"),
            USAGE,
        ),
    )
    answer = await model.complete(HI)
    assert (answer.text, answer.finish_reason, answer.model) == ("Hello", FinishReason.STOP, "gpt-test-2026")
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (
        19,
        16,
        10,
    )


async def test_the_same_in_pieces(server, model):
    """Pieces as they came, then the completion."""
    server.on(CHAT, sse(delta(role="assistant"), delta(content="Hel"), delta(content="lo"), delta("stop")))
    pieces = [piece async for piece in model.stream(HI)]
    assert [piece.text for piece in pieces] == ["Hel", "lo", ""]
    assert pieces[-1].completion.text == "Hello"


async def test_a_server_without_usage_and_without_done(server, model):
    """Missing usage counts as nothing; a finish without [DONE] is an end."""
    server.on(CHAT, sse(delta(content="Hi"), delta("stop"), done=False))
    answer = await model.complete(HI)
    assert (answer.text, answer.usage.prompt_tokens) == ("Hi", 0)


async def test_a_server_that_never_says_why_it_ended(server, model):
    """[DONE] without a finish reason is an end too."""
    server.on(CHAT, sse(delta(content="Hi")))
    assert (await model.complete(HI)).finish_reason is FinishReason.STOP


async def test_a_server_that_does_not_stream(server, model):
    """A whole completion in place of a stream is taken as it is, calls and usage included."""
    whole = {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "a",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": '{"city": "X"}'},
                        },
                        {
                            "id": "b",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": '{"city": "Y"}'},
                        },
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6, "prompt_cache_hit_tokens": 4},
    }
    pretty = Answer(
        200, [json.dumps(whole, indent=2).encode()], {"content-type": "application/json; charset=utf-8"}
    )
    server.on(CHAT, pretty)
    answer = await model.complete(tools())
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [
        ("a", {"city": "X"}),
        ("b", {"city": "Y"}),
    ]
    assert (answer.usage.cached_tokens, answer.usage.output_tokens) == (4, 6)


async def test_comments_and_content_in_parts(server, model):
    """Keep-alive comments are no answer; a list of parts is text."""
    parts = delta(content=[{"type": "text", "text": "He"}, {"type": "text", "text": "y"}, "odd"])
    stream = sse(parts, delta("stop"))
    server.on(CHAT, Answer(200, [b": PROCESSING\n\n", b"data:\n\n", *stream.chunks], stream.headers))
    assert (await model.complete(HI)).text == "Hey"


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": None, "tool_calls": None}}]},
        {"choices": None, "usage": None},
    ],
)
async def test_null_fields_are_skipped(server, model, chunk):
    """Fault kind "null fields": a chunk without anything in it changes nothing."""
    server.on(CHAT, sse(delta(content="Hi"), chunk, delta("stop")))
    assert (await model.complete(HI)).text == "Hi"


async def test_null_arguments_are_an_empty_object(server, model):
    """Fault kind "null fields", in a call."""
    server.on(CHAT, sse(call(None, call_id="c", name="get_weather"), delta("tool_calls")))
    assert (await model.complete(tools())).tool_calls == (ToolCall("c", "get_weather", {}),)


# --- calls in pieces -----------------------------------------------------------------------------------------


async def gathered(server, model, *chunks) -> list[tuple[str, str, dict]]:
    server.on(CHAT, sse(*chunks, delta("tool_calls"), USAGE))
    answer = await model.complete(tools())
    assert answer.finish_reason is FinishReason.TOOL_CALLS
    return [(each.id, each.name, each.arguments) for each in answer.tool_calls]


async def test_calls_in_the_published_form(server, model):
    """Id and name once, then arguments by index; two calls side by side; our names back."""
    chunks = [
        call("", call_id="call_a", name="get_weather"),
        call('{"ci'),
        call("", index=1, call_id="call_b", name="notes_add"),
        call('ty": "X"}'),
        call('{"n": 1}', index=1),
    ]
    assert await gathered(server, model, *chunks) == [
        ("call_a", "get_weather", {"city": "X"}),
        ("call_b", "notes.add", {"n": 1}),
    ]


async def test_deltas_without_an_id(server, model):
    """Fault kind "deltas without id": one id is made and kept for each call."""
    chunks = [
        call("", name="get_weather"),
        call('{"city":'),
        call('"X"}'),
        call('{"city":"Y"}', index=1, name="get_weather"),
    ]
    found = await gathered(server, model, *chunks)
    assert [arguments for _, _, arguments in found] == [{"city": "X"}, {"city": "Y"}]
    assert len({call_id for call_id, _, _ in found if call_id.startswith("call_")}) == 2


async def test_a_known_id_wins_over_the_index(server, model):
    """Fault kind "deltas joined by index only": call b starts at index 0, its tail says index 1."""
    chunks = [
        call('{"city": "X"}', call_id="a", name="get_weather"),
        call('{"city": ', call_id="b", name="get_weather"),
        call('"Y"', index=1, call_id="b"),
        call("}", index=1),
    ]
    assert await gathered(server, model, *chunks) == [
        ("a", "get_weather", {"city": "X"}),
        ("b", "get_weather", {"city": "Y"}),
    ]


async def test_all_calls_at_index_zero_with_ids_of_their_own(server, model):
    """A server that numbers nothing: every new id is a new call."""
    chunks = [
        call('{"city": "X"}', call_id="a", name="get_weather"),
        call('{"city": "Y"}', call_id="b", name="get_weather"),
    ]
    assert [arguments for _, _, arguments in await gathered(server, model, *chunks)] == [
        {"city": "X"},
        {"city": "Y"},
    ]


@pytest.mark.parametrize("index", [0, None])
async def test_whole_calls_at_one_index_without_ids(server, model, index):
    """No ids and one index, or none: a name behind complete arguments begins the next call."""
    chunks = [
        call({"city": "X"}, index=index, name="get_weather"),
        call('{"n": 1}', index=index, name="notes_add"),
        call({"city": "Z"}, index=index, name="get_weather"),
    ]
    found = await gathered(server, model, *chunks)
    assert [(name, arguments) for _, name, arguments in found] == [
        ("get_weather", {"city": "X"}),
        ("notes.add", {"n": 1}),
        ("get_weather", {"city": "Z"}),
    ]


async def test_a_call_with_an_id_behind_a_whole_one_without(server, model):
    """The new id is the new call's, not the late id of the one before it."""
    chunks = [
        call('{"city": "X"}', name="get_weather"),
        call('{"city": "Y"}', call_id="b", name="get_weather"),
    ]
    found = await gathered(server, model, *chunks)
    assert [arguments for _, _, arguments in found] == [{"city": "X"}, {"city": "Y"}]
    assert found[1][0] == "b"


async def test_a_tail_without_id_and_index_continues_the_last_call(server, model):
    """Where nothing says whose it is, it is the last one's."""
    chunks = [call('{"city":', index=None, call_id="a", name="get_weather"), call('"X"}', index=None)]
    assert await gathered(server, model, *chunks) == [("a", "get_weather", {"city": "X"})]


async def test_the_name_again_in_every_piece_and_the_id_late(server, model):
    """A repeated name is not written twice; a name in pieces is put together; a late id is taken."""
    chunks = [
        call("", name="get_weather"),
        call('{"city":"X"', name="get_weather", call_id="late"),
        call("}", name="get_weather"),
    ]
    assert await gathered(server, model, *chunks) == [("late", "get_weather", {"city": "X"})]
    server._answers[CHAT].clear()
    assert await gathered(
        server, model, call(None, name="get_", call_id="c"), call('{"city":"X"}', name="weather")
    ) == [("c", "get_weather", {"city": "X"})]


async def test_arguments_as_an_object(server, model):
    """Some servers send the object itself."""
    assert await gathered(server, model, call({"city": "X"}, call_id="c", name="get_weather")) == [
        ("c", "get_weather", {"city": "X"})
    ]


async def test_text_beside_calls_is_kept(server, model):
    """Prose in front of a call belongs to the answer."""
    server.on(
        CHAT, sse(delta(content="Let me look."), call("{}", call_id="c", name="get_weather"), delta("stop"))
    )
    answer = await model.complete(tools())
    assert (answer.text, answer.finish_reason) == ("Let me look.", FinishReason.TOOL_CALLS)


# --- endings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
@pytest.mark.parametrize("arguments", ['{"city": "Par', '{"city": "Paris"}'])
async def test_length_with_calls_runs_none_of_them(server, model, reason, arguments):
    """Fault kind "cut in the middle of arguments": a limit and a call make no call, even a complete one."""
    server.on(CHAT, sse(call(arguments, call_id="c", name="get_weather"), delta(reason)))
    with pytest.raises(OutputCutError, match="a tool call"):
        await model.complete(tools())


@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call"])
async def test_half_an_argument_under_any_finish_runs_nothing(server, model, reason):
    """Fault kind "cut in the middle of arguments", with finish tool_calls: the whole call beside it is lost too."""
    server.on(
        CHAT,
        sse(
            call("{}", call_id="a", name="get_weather"),
            call('{"city": "Par', index=1, call_id="b", name="get_weather"),
            delta(reason),
        ),
    )
    with pytest.raises(MalformedCallError, match="Par"):
        await model.complete(tools())


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "RECITATION"])
async def test_a_filtered_answer_is_an_error_whatever_came_before(server, model, reason):
    """Half an answer that the filter stopped is not an answer."""
    server.on(CHAT, sse(delta(content="First, you"), delta(reason)))
    with pytest.raises(ContentFilterError, match="after 10 characters"):
        await model.complete(HI)


async def test_a_refusal_is_an_error(server, model):
    """What the model says in place of a structured answer is not its text."""
    server.on(CHAT, sse(delta(refusal="I'm sorry, I cannot help with that."), delta("stop")))
    with pytest.raises(ContentFilterError, match="I cannot help"):
        await model.complete(HI)


@pytest.mark.parametrize(
    "chunks", [[delta("stop")], [delta(content=""), delta("stop")], [delta(content="\n"), delta("stop")], []]
)
async def test_an_empty_answer_is_an_error(server, model, chunks):
    """Nothing is an error, never an empty text."""
    server.on(CHAT, sse(*chunks))
    with pytest.raises(EmptyReplyError):
        await model.complete(HI)


@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn", "something_new"])
async def test_other_reasons_are_an_end(server, model, reason):
    """Unknown words for an end do not fail an answer that is whole."""
    server.on(CHAT, sse(delta(content="Hi"), delta(reason)))
    assert (await model.complete(HI)).finish_reason is FinishReason.STOP


async def test_text_that_was_cut_says_so(server, model):
    """The text is there, and the reason with it."""
    server.on(CHAT, sse(delta(content="The sky is"), delta("length")))
    answer = await model.complete(HI)
    assert (answer.text, answer.finish_reason) == ("The sky is", FinishReason.LENGTH)


async def test_an_error_at_the_end_and_a_stream_that_breaks_off_are_tried_again(server, model):
    """Finish "error", an error object, a missing end, half a line: all are passing."""
    server.on(
        CHAT,
        sse(delta(content="Hi"), delta("error")),
        sse(delta(content="Hi"), {"error": {"code": 502, "message": "upstream"}}, done=False),
        sse(delta(content="Hi"), done=False),
        sse(delta(content="Hi there"), delta("stop")),
    )
    assert (await model.complete(HI)).text == "Hi there"
    assert len(server.bodies(CHAT)) == 4


async def test_half_a_chunk_is_a_dropped_connection(server, model):
    """What cannot be read is not skipped: a piece of the answer would be missing."""
    server.on(
        CHAT, sse(delta(content="Hi"), '{"choices": [{"del'), sse(delta(content="Whole"), delta("stop"))
    )
    assert (await model.complete(HI)).text == "Whole"


async def test_a_gateway_that_gives_up_is_tried_again(server):
    """Fault kind "silent gateway": a 504 passes, and the answer is streamed and gathered."""
    clock = Clock()
    server.on(CHAT, Answer(504, [b"<html>Gateway Time-out</html>"]), sse(delta(content="Hi"), delta("stop")))
    model = OpenAICompatibleModel("gpt-test", client_for(server, clock))
    assert (await model.complete(HI)).text == "Hi"
    assert clock.slept == [1]
    assert server.bodies(CHAT)[0]["stream"] is True
    await model.close()


async def test_prose_where_a_call_was_required(server, model):
    """A server that does not hold to `tool_choice` is told on."""
    server.on(CHAT, sse(delta(content="No."), delta("stop")))
    with pytest.raises(ReplyError, match="prose where a tool call was required"):
        await model.complete(tools(tool_choice=REQUIRED))
