"""The Ollama adapter against a loopback server that replays the documented wire format."""

from __future__ import annotations

import json
import threading

import pytest

from models.servers import Answer, Clock, LoopbackServer, as_json, client_for, free_port, ndjson
from surefoot.errors import (
    ContextLengthError,
    EmptyReplyError,
    MalformedCallError,
    MisuseError,
    ModelNotFoundError,
    OutputCutError,
    ProviderCapabilityError,
    ProviderError,
    ProviderRequestError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    ReplyError,
    SettingsError,
)
from surefoot.models.ollama import HOSTED_SECONDS, OllamaModel, first_model, installed, open_ollama
from surefoot.models.types import (
    NONE,
    REQUIRED,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    ToolCall,
    ToolChoice,
    ToolSpec,
    Usage,
)
from surefoot.settings import Settings

HI = Request((Message("user", "why is the sky blue?"),))
WEATHER = ToolSpec(
    "get_current_weather",
    "Get the current weather for a location",
    {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
)
NOTE = ToolSpec("notes.add", "Adds a note")
SHOW = {
    "capabilities": ["completion", "tools", "thinking"],
    "details": {"family": "qwen3", "parameter_size": "4.0B"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
}
TAGS = {"models": [{"name": "qwen3:4b", "model": "qwen3:4b"}, {"name": "gemma4:e2b", "model": "gemma4:e2b"}]}
END = {
    "model": "llama3.2",
    "created_at": "2023-08-04T19:22:45.499127Z",
    "message": {"role": "assistant", "content": ""},
    "done": True,
    "done_reason": "stop",
    "total_duration": 4883583458,
    "prompt_eval_count": 26,
    "eval_count": 282,
}

PREFIX = Request((Message("system", "Be brief."),))


def said(text: str, **message) -> dict:
    return {"model": "llama3.2", "message": {"role": "assistant", "content": text, **message}, "done": False}


def called(name: str, arguments, **call) -> dict:
    return said("", tool_calls=[{"function": {"name": name, "arguments": arguments}, **call}])


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on("/api/show", as_json(SHOW))
        yield running


@pytest.fixture
async def model(server):
    opened = OllamaModel("llama3.2", client_for(server, local=True), local=True, default_seconds=60)
    yield opened
    await opened.close()


def tools(**options) -> Request:
    return Request(HI.messages, (WEATHER, NOTE), **options)


# --- the request ---------------------------------------------------------------------------------------------


async def test_num_ctx_is_always_sent_and_thinking_is_off(server, model):
    """Fault kind "Ollama context": the context is asked for, and nothing is cut in silence."""
    server.on("/api/chat", ndjson(said("Hi"), END))
    await model.complete(Request(HI.messages, max_tokens=99, temperature=0.5, stop=("END",)))
    await model.complete(Request(HI.messages, num_ctx=2048))
    first, second = server.bodies("/api/chat")
    assert first["options"] == {"num_ctx": 8192, "num_predict": 99, "temperature": 0.5, "stop": ["END"]}
    assert (first["think"], first["stream"], first["truncate"], first["shift"]) == (False, True, False, False)
    assert first["messages"] == [{"role": "user", "content": "why is the sky blue?"}]
    assert "tools" not in first
    assert "format" not in first
    assert second["options"]["num_ctx"] == 2048
    assert "stop" not in second["options"]


async def test_thinking_can_be_asked_for_and_is_not_the_answer(server):
    """The model's thoughts are no part of the text."""
    server.on("/api/chat", ndjson(said("", thinking="Rayleigh..."), said("Scattering."), END))
    model = OllamaModel("q", client_for(server), think=True)
    assert (await model.complete(HI)).text == "Scattering."
    assert server.bodies("/api/chat")[0]["think"] is True
    await model.close()


async def test_num_ctx_is_never_more_than_the_model_has(server):
    """Ollama would lower it without a word, and then cut."""
    server._answers["/api/show"].clear()
    server.on(
        "/api/show", as_json({**SHOW, "model_info": {"general.architecture": "x", "x.context_length": 4096}})
    )
    server.on("/api/chat", ndjson(said("Hi"), END))
    model = OllamaModel("q", client_for(server))
    await model.complete(HI)
    assert server.bodies("/api/chat")[0]["options"]["num_ctx"] == 4096
    await model.close()


async def test_arguments_go_out_as_objects_and_string_arguments_of_the_history_are_mended(server, model):
    """Fault kind "Ollama arguments": a history from elsewhere holds JSON text and no ids."""
    server.on("/api/chat", ndjson(said("22 degrees"), END))
    history = (
        Message("user", "Weather in Paris?"),
        Message(
            "assistant",
            tool_calls=(ToolCall("", WEATHER.name, '{"location": "Paris"}'), ToolCall("c2", NOTE.name)),
        ),
        Message("tool", "22", name=NOTE.name),
        Message("tool", "21"),
        Message("tool", "lost"),
    )
    await model.complete(Request(history, (WEATHER, NOTE)))
    _, assistant, note, weather, lost = server.bodies("/api/chat")[0]["messages"]
    first, second = assistant["tool_calls"]
    assert first["function"] == {"name": WEATHER.name, "arguments": {"location": "Paris"}}
    assert first["id"].startswith("call_")
    assert second == {"id": "c2", "function": {"name": "notes_add", "arguments": {}}}
    assert (note["tool_call_id"], note["tool_name"]) == ("c2", "notes_add")
    assert (weather["tool_call_id"], weather["tool_name"]) == (first["id"], WEATHER.name)
    assert lost["tool_call_id"].startswith("call_")


async def test_tools_go_out_with_names_that_are_allowed(server, model):
    """Each tool in the documented form."""
    server.on("/api/chat", ndjson(said("no"), END))
    await model.complete(tools())
    sent = server.bodies("/api/chat")[0]["tools"]
    assert sent[0] == {
        "type": "function",
        "function": {
            "name": "get_current_weather",
            "description": "Get the current weather for a location",
            "parameters": WEATHER.parameters,
        },
    }
    assert sent[1]["function"]["name"] == "notes_add"


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, [WEATHER.name, "notes_add"]),
        ({"tool_choice": NONE}, None),
        ({"tool_choice": ToolChoice("required", WEATHER.name)}, [WEATHER.name]),
        ({"only": ("notes.add",)}, ["notes_add"]),
        ({"only": ()}, None),
    ],
)
async def test_what_may_not_be_called_is_not_shown(server, model, options, shown):
    """Ollama has no `tool_choice`; what the request forbids is left out of the prompt."""
    server.on("/api/chat", ndjson(called(shown[0] if shown else "x", {}), END))
    await model.complete(tools(**options))
    sent = server.bodies("/api/chat")[0].get("tools")
    assert (sent and [tool["function"]["name"] for tool in sent]) == shown


async def test_a_schema_goes_out_as_format(server, model):
    """Structured output is bound by the schema itself."""
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    server.on("/api/chat", ndjson(said('{"age": 22}'), END))
    answer = await model.complete(Request(HI.messages, json_schema=schema))
    assert json.loads(answer.text) == {"age": 22}
    assert server.bodies("/api/chat")[0]["format"] == schema


async def test_a_choice_is_one_of_the_texts(server, model):
    """The choice is asked for as an object and comes back as the text; no piece of the object is streamed."""
    server.on("/api/chat", ndjson(said('{"answer"'), said(': "no"}'), END))
    request = Request(HI.messages, choices=("yes", "no"))
    assert (await model.complete(request)).text == "no"
    assert server.bodies("/api/chat")[0]["format"]["properties"]["answer"]["enum"] == ["yes", "no"]
    pieces = [piece async for piece in model.stream(request)]
    assert [piece.text for piece in pieces] == [""]


@pytest.mark.parametrize("text", ['{"answer": "maybe"}', '{"other": "no"}', "[]", "42", '{"answer": ["no"]}'])
async def test_a_choice_that_is_none_of_them_is_an_error(server, model, text):
    """What is not among the choices is never used."""
    server.on("/api/chat", ndjson(said(text), END))
    with pytest.raises(ReplyError, match="'yes', 'no'"):
        await model.complete(Request(HI.messages, choices=("yes", "no")))


async def test_a_choice_written_plainly_counts(server, model):
    """An older server may ignore the schema; a plain word that is a choice is one."""
    server.on("/api/chat", ndjson(said(" yes\n"), END))
    assert (await model.complete(Request(HI.messages, choices=("yes", "no")))).text == "yes"


# --- the answer ----------------------------------------------------------------------------------------------


async def test_a_streamed_answer_is_gathered(server, model):
    """The documented stream: text in pieces, counts at the end."""
    server.on("/api/chat", ndjson(said("The"), said(" sky"), {**END, "prompt_eval_cached_count": 20}))
    answer = await model.complete(HI)
    assert (answer.text, answer.finish_reason, answer.model) == ("The sky", FinishReason.STOP, "llama3.2")
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens, answer.usage.output_tokens) == (
        26,
        20,
        282,
    )


async def test_the_same_answer_in_pieces(server, model):
    """`stream` yields what came as it came, then the completion."""
    lines = ndjson(said("The"), said(""), said(" sky"), END)
    server.on("/api/chat", Answer(200, [b"\n", *lines.chunks], lines.headers))
    pieces = [piece async for piece in model.stream(HI)]
    assert [piece.text for piece in pieces] == ["The", " sky", ""]
    assert pieces[-1].completion.text == "The sky"


async def test_text_with_odd_line_ends_arrives_whole(server, model):
    """A line separator inside the text is text."""
    server.on("/api/chat", ndjson(said("a\u2028b\x85c"), END))
    assert (await model.complete(HI)).text == "a\u2028b\x85c"


@pytest.mark.parametrize("arguments", [{"location": "Paris"}, '{"location": "Paris"}'])
async def test_a_call_with_an_object_or_text_and_no_id(server, model, arguments):
    """Fault kind "Ollama arguments": both are accepted inward, and an id is made and kept."""
    server.on("/api/chat", ndjson(called(WEATHER.name, arguments), END))
    answer = await model.complete(tools())
    (call,) = answer.tool_calls
    assert (call.name, call.arguments) == (WEATHER.name, {"location": "Paris"})
    assert call.id.startswith("call_")
    assert answer.finish_reason is FinishReason.TOOL_CALLS


@pytest.mark.parametrize("arguments", [None, "", " ", {}, "{}", "null"])
async def test_no_arguments_are_an_empty_object(server, model, arguments):
    """Null, nothing and {} are the same."""
    server.on("/api/chat", ndjson(called(WEATHER.name, arguments), END))
    assert (await model.complete(tools())).tool_calls[0].arguments == {}


@pytest.mark.parametrize(
    "arguments", [[], 5, 0, False, "[]", "5", '{"location": "Par', "Paris", '{"n": NaN}']
)
async def test_arguments_that_are_no_object_run_nothing(server, model, arguments):
    """A list, a number, half an object: no call of that message is run."""
    server.on(
        "/api/chat", ndjson(called(WEATHER.name, {"location": "Paris"}), called(NOTE.name, arguments), END)
    )
    with pytest.raises(MalformedCallError):
        await model.complete(tools())


async def test_several_calls_keep_their_order_names_and_ids(server, model):
    """Calls come whole, in one message or several; our names come back; equal ids do not fall together."""
    both = said(
        "I look.",
        tool_calls=[
            {"id": "a", "function": {"index": 0, "name": WEATHER.name, "arguments": {"location": "Paris"}}},
            {"id": "a", "function": {"index": 1, "name": "notes_add", "arguments": {}}},
        ],
    )
    server.on("/api/chat", ndjson(both, called(WEATHER.name, {"location": "Rome"}, id="b"), END))
    answer = await model.complete(tools())
    assert [call.name for call in answer.tool_calls] == [WEATHER.name, "notes.add", WEATHER.name]
    assert answer.tool_calls[2].arguments == {"location": "Rome"}
    assert len({call.id for call in answer.tool_calls}) == 3
    assert answer.text == "I look."


async def test_a_call_without_a_name_runs_nothing(server, model):
    """Half a call is no call."""
    server.on("/api/chat", ndjson(called("", {"a": 1}), END))
    with pytest.raises(MalformedCallError, match="without a name"):
        await model.complete(tools())


async def test_prose_where_a_call_was_required_is_an_error(server, model):
    """`required` means calls; prose in their place is not handed on as if it were an answer."""
    server.on("/api/chat", ndjson(said("I cannot."), END))
    with pytest.raises(ReplyError, match=r"prose where a tool call was required: I cannot\."):
        await model.complete(tools(tool_choice=REQUIRED))


# --- endings -------------------------------------------------------------------------------------------------


async def test_cut_at_the_output_limit(server, model):
    """Text that was cut says so; a call that was cut is not run; nothing at all is an error."""
    cut = {**END, "done_reason": "length"}
    server.on(
        "/api/chat", ndjson(said("The sky is"), cut), ndjson(called(WEATHER.name, {}), cut), ndjson(cut)
    )
    answer = await model.complete(HI)
    assert (answer.text, answer.finish_reason) == ("The sky is", FinishReason.LENGTH)
    with pytest.raises(OutputCutError, match="a tool call"):
        await model.complete(tools())
    with pytest.raises(OutputCutError, match="the answer"):
        await model.complete(HI)


async def test_a_cut_choice_is_an_error(server, model):
    """Half an object is no choice."""
    server.on("/api/chat", ndjson(said('{"answer": "ye'), {**END, "done_reason": "length"}))
    with pytest.raises(OutputCutError, match="a choice"):
        await model.complete(Request(HI.messages, choices=("yes", "no")))


@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_answer_is_an_error(server, model, text):
    """Nothing is never the text of an answer."""
    server.on("/api/chat", ndjson(said(text), END))
    with pytest.raises(EmptyReplyError):
        await model.complete(HI)


async def test_a_stream_without_its_end_is_tried_again(server, model):
    """A stream that stops before `done` was dropped, even when the server closed it in order."""
    server.on("/api/chat", ndjson(said("The sk")), ndjson(said("The sky"), END))
    assert (await model.complete(HI)).text == "The sky"
    assert len(server.bodies("/api/chat")) == 2


async def test_an_error_inside_the_stream(server, model):
    """A line with an error ends the answer; as a server error it is tried again."""
    broken = {"error": "an error was encountered while running the model: CUDA error"}
    server.on("/api/chat", ndjson(said("The"), broken), ndjson(said("Sky"), END))
    assert (await model.complete(HI)).text == "Sky"


async def test_nothing_is_tried_again_once_a_piece_was_passed_on(server, model):
    """What the person has seen is not said twice: the stream ends with the error."""
    server.on("/api/chat", ndjson(said("The"), drop=True), ndjson(said("again"), END))
    stream = model.stream(HI)
    assert [(await anext(stream)).text] == ["The"]
    with pytest.raises(ProviderUnavailableError):
        await anext(stream)
    assert len(server.bodies("/api/chat")) == 1


async def test_a_stream_that_fails_before_its_first_piece_is_tried_again(server, model):
    """Nobody has seen anything yet."""
    server.on("/api/chat", as_json({"error": "loading"}, 503), ndjson(said("Sky"), END))
    assert [piece.text async for piece in model.stream(HI)] == ["Sky", ""]


async def test_leaving_a_stream_early_closes_the_connection(server, model):
    """A consumer that stops is no reason to let the model write on."""
    held = threading.Event()
    endless = Answer(200, [json.dumps(said("a")).encode() + b"\n"] * 500, {}, hold=held, hold_after=2)
    server.on("/api/chat", endless)
    stream = model.stream(HI)
    assert (await anext(stream)).text == "a"
    await stream.aclose()
    held.set()
    assert server.dropped.wait(10)


async def test_a_time_out_ends_it(server):
    """The request's own time-out counts, for the whole answer."""
    from surefoot.models.address import AddressPolicy
    from surefoot.models.http import ProviderClient

    held = threading.Event()
    server.on("/api/chat", ndjson(said("The"), END, hold=held))
    client = ProviderClient(
        provider="Ollama", base_url=server.url, policy=AddressPolicy(allowed=[server.url])
    )
    model = OllamaModel("q", client)
    await model.capabilities()
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.1 s"):
        await model.complete(Request(HI.messages, timeout=0.1))
    held.set()
    await model.close()


async def test_a_time_out_of_zero_is_a_misuse(server, model):
    """Fault kind "time-outs": 0 is not unset."""
    with pytest.raises(MisuseError, match="timeout is 0"):
        await model.complete(Request(HI.messages, timeout=0))
    assert server.seen == []


# --- what it can do, what there is ---------------------------------------------------------------------------


async def test_capabilities_are_asked_of_the_server_once(server, model):
    """Tools, context and family come from /api/show."""
    found = await model.capabilities()
    assert await model.capabilities() is found
    assert (found.tools, found.json_schema, found.grammar) == (True, True, False)
    assert (found.context_length, found.family, found.local, found.encoding) == (
        40960,
        "qwen3",
        True,
        "schema",
    )
    assert server.bodies("/api/show") == [{"model": "llama3.2"}]
    assert isinstance(model, LanguageModel)
    assert model.name == "ollama:llama3.2"


@pytest.mark.parametrize("shown", [{}, {"model_info": None, "details": None, "capabilities": None}])
async def test_capabilities_that_are_not_said_are_not_there(server, shown):
    """An old server says nothing: no tools, an unknown context."""
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json(shown))
    model = OllamaModel("q", client_for(server))
    found = await model.capabilities()
    assert (found.tools, found.context_length, found.family) == (False, 0, "")
    await model.close()


async def test_a_show_that_is_no_object_is_an_error(server):
    """Something else answers at this address."""
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json([1]))
    model = OllamaModel("q", client_for(server))
    with pytest.raises(ProviderError, match="no object"):
        await model.capabilities()
    await model.close()


async def test_tools_on_a_model_without_them_are_refused_before_any_call(server):
    """Provider-strict: no downgrade, no call."""
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json({**SHOW, "capabilities": ["completion"]}))
    model = OllamaModel("q", client_for(server))
    with pytest.raises(ProviderCapabilityError, match="ollama:q does not support tool calls"):
        await model.complete(tools())
    assert server.bodies("/api/chat") == []
    await model.close()


async def test_a_grammar_is_refused(model):
    """Ollama takes schemas and no grammars."""
    with pytest.raises(ProviderCapabilityError, match="grammar"):
        await model.complete(Request(HI.messages, grammar="root ::= [a]"))


async def test_a_model_that_is_not_there_lists_what_is(server, isolated):
    """The error names the model, what there is, and how to get it."""
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json({"error": "model 'llama9' not found"}, 404))
    server.on("/api/tags", as_json(TAGS))
    model = open_ollama("llama9", Settings(ollama_url=server.url))
    with pytest.raises(ModelNotFoundError) as caught:
        await model.complete(HI)
    await model.close()
    assert caught.value.message == f'Ollama at {server.url} has no model "llama9".'
    assert caught.value.next_move == "It has: qwen3:4b, gemma4:e2b. Pull it with: ollama pull llama9"
    assert caught.value.exit_code == 3


async def test_a_model_that_went_away_in_between(server, model):
    """The same error, when the model was deleted after it was asked for; and an empty server says so."""
    server.on("/api/chat", as_json({"error": "model 'llama3.2' not found"}, 404))
    server.on("/api/tags", as_json({"models": None}))
    with pytest.raises(ModelNotFoundError, match="It has no models yet"):
        await model.complete(HI)


async def test_a_prompt_that_cannot_fit_is_refused_with_numbers_before_any_call(server, model):
    """Fault kind "Ollama context": it is not sent at all."""
    long = Request((Message("user", "many words of prose " * 4000),))
    with pytest.raises(ContextLengthError, match=r"at least \d+ tokens .* 8192"):
        await model.complete(long)
    assert server.bodies("/api/chat") == []


async def test_a_prompt_that_the_server_refuses_as_too_long_gets_numbers(server, model):
    """The server's own words have none."""
    server.on(
        "/api/chat",
        as_json({"error": "the prompt is longer than the context length currently available"}, 400),
    )
    with pytest.raises(ContextLengthError, match=r"at least \d+ tokens, and num_ctx is 8192"):
        await model.complete(HI)


async def test_a_prompt_that_was_cut_is_noticed(server, model):
    """An older server cuts and says nothing; its small count of the prompt gives it away."""
    long = Request((Message("user", "many words of prose " * 1500),))
    server.on("/api/chat", ndjson(said("The sky"), {**END, "prompt_eval_count": 1026}))
    with pytest.raises(ContextLengthError, match=r"read only 1026 tokens .* num_ctx is 8192") as caught:
        await model.complete(long)
    assert caught.value.details["prompt_tokens_read"] == 1026


@pytest.mark.parametrize(
    "counts", [{"prompt_eval_count": 6000}, {"prompt_eval_count": 0}, {"prompt_eval_count": None}]
)
async def test_a_prompt_that_was_read_is_not_suspected(server, model, counts):
    """A full count is right, and a missing one says nothing."""
    long = Request((Message("user", "many words of prose " * 1500),))
    server.on("/api/chat", ndjson(said("The sky"), {**END, **counts}))
    assert (await model.complete(long)).text == "The sky"


async def test_tools_that_were_not_sent_do_not_count_as_cut(server, model):
    """Only what was sent can have been read."""
    big = ToolSpec("big", "words of a description " * 800)
    request = Request(HI.messages, (big, WEATHER), only=(WEATHER.name,))
    server.on("/api/chat", ndjson(said("ok"), END))
    assert (await model.complete(request)).text == "ok"


async def test_warming_loads_the_model_with_our_context(server, model):
    """The load uses the same context as the questions, else the server would load it twice."""
    server.on("/api/generate", as_json({"done": True}))
    await model.warm(PREFIX, "key")
    assert server.bodies("/api/generate") == [
        {"model": "llama3.2", "stream": False, "options": {"num_ctx": 8192}}
    ]
    await model.warm(PREFIX, "another")
    assert len(server.bodies("/api/generate")) == 1


async def test_a_load_that_failed_is_tried_again(server, model):
    """Only what was loaded is not loaded again."""
    server.on("/api/generate", as_json({"error": "model is damaged"}, 400), as_json({"done": True}))
    with pytest.raises(ProviderRequestError):
        await model.warm(PREFIX, "key")
    await model.warm(PREFIX, "key")
    assert len(server.bodies("/api/generate")) == 2


async def test_the_models_of_a_server(server, model):
    """In the server's order; entries that are none are left out."""
    server.on("/api/tags", as_json({"models": [*TAGS["models"], None, {"model": "x"}]}))
    assert await model.models() == ["qwen3:4b", "gemma4:e2b", "x"]


# --- opening -------------------------------------------------------------------------------------------------


async def test_ollama_on_loopback_counts_as_local(server):
    """Local time-out and local limits; another machine gets the hosted ones."""
    near = open_ollama("q", Settings(ollama_url=server.url, local_timeout_sec=77, num_ctx=4096))
    assert (await near.capabilities()).local is True
    assert near._default_seconds == 77
    server.on("/api/chat", ndjson(said("Hi"), END))
    await near.complete(HI)
    assert server.bodies("/api/chat")[0]["options"]["num_ctx"] == 4096
    await near.close()
    far = open_ollama("q", Settings(ollama_url="http://gpu.example.com:11434"))
    assert far._default_seconds == HOSTED_SECONDS
    assert far._local is False


async def test_what_is_installed(server):
    """The names of a running server, and an error where none runs."""
    server.on("/api/tags", as_json(TAGS))
    assert await installed(Settings(ollama_url=server.url)) == ["qwen3:4b", "gemma4:e2b"]
    with pytest.raises(ProviderUnavailableError, match="cannot be reached"):
        await installed(Settings(ollama_url=f"http://127.0.0.1:{free_port()}"))


async def test_the_first_model_is_one_with_tools(server):
    """Embedding models are passed over; without any tools the first that chats is taken."""
    plain, embed = {"capabilities": ["completion"]}, {"capabilities": ["embedding"]}
    settings = Settings(ollama_url=server.url)
    server.on("/api/tags", as_json({"models": [{"name": name} for name in ("embed", "plain", "able")]}))
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json(embed), as_json(plain), as_json(SHOW))
    assert await first_model(settings) == "able"
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json(embed), as_json(plain))
    assert await first_model(settings) == "plain"
    server._answers["/api/show"].clear()
    server.on("/api/show", as_json(embed))
    assert await first_model(settings) == ""


async def test_usage_has_the_seconds_of_the_answer(server):
    """By the client's clock."""
    clock = Clock()
    server.on("/api/chat", as_json({"error": "busy"}, 503), ndjson(said("Hi"), END))
    model = OllamaModel("q", client_for(server, clock))
    answer = await model.complete(HI)
    assert answer.usage == Usage(26, 0, 282, 0.0)
    assert clock.slept == [1]
    await model.close()


def test_a_password_in_ollama_url_is_not_shown():
    """The setting is refused before its text gets into any message."""
    with pytest.raises(SettingsError) as caught:
        open_ollama("q", Settings(ollama_url="http://ann:hunter22@127.0.0.1:11434"))
    assert "hunter22" not in str(caught.value.to_dict())
