"""The Gemini adapter against a loopback server that replays the published wire format: what is asked, what is read."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys

import pytest

from models.gemini_wire import (
    ASK,
    CARD,
    CARD_PATH,
    EMBEDDER,
    HI,
    KEY,
    LIST,
    NAME,
    NOTE,
    THINKS,
    USAGE,
    WEATHER,
    answer,
    call,
    chunk,
    client_for,
    model_for,
    refusal,
    tools,
)
from models.servers import LoopbackServer, as_json
from surefoot.errors import (
    AddressRefusedError,
    ContextLengthError,
    MisuseError,
    ModelNotFoundError,
    NoModelError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderRequestError,
    ReplyError,
    SettingsError,
)
from surefoot.models import open_model
from surefoot.models.address import AddressPolicy
from surefoot.models.gemini import HOSTED_SECONDS, THINKING_ROOM, GeminiModel, open_gemini
from surefoot.models.gemini_client import GeminiClient
from surefoot.models.gemini_wire import NO_SIGNATURE, SIGNATURE, GeminiNames
from surefoot.models.types import (
    NONE,
    REQUIRED,
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
from surefoot.settings import load_settings, settings_file

SIGNED = base64.b64encode(b"what it thought").decode()


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on(CARD_PATH, as_json(CARD))
        yield running


@pytest.fixture
async def model(server):
    opened = model_for(server)
    yield opened
    await opened.close()


def said(text: str = "Hi", **usage) -> object:
    return answer(chunk({"text": text}, finish="STOP", usage=usage or None))


def body_of(server, place: int = -1) -> dict:
    return server.bodies(ASK)[place]


def roles(body: dict) -> list[str]:
    return [content["role"] for content in body["contents"]]


# --- the request ---------------------------------------------------------------------------------------------


async def test_a_question_goes_out_as_google_publishes_it(server, model):
    """System text apart, turns as contents, limits in the generation config, the key as a header and nowhere else."""
    server.on(ASK, said())
    await model.complete(Request(HI.messages, max_tokens=99, temperature=0.5, stop=("END",)))
    body = body_of(server)
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hello!"}]}]
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["generationConfig"] == {"temperature": 0.5, "maxOutputTokens": 99, "stopSequences": ["END"]}
    assert not {"tools", "toolConfig"} & body.keys()
    asked = server.seen[-1]
    assert asked.headers["x-goog-api-key"] == KEY
    assert KEY not in asked.path


async def test_a_schema_goes_out_rewritten(server, model):
    """Fault kind "Gemini schemas": structured output is bound by the rewritten schema, in the order it was written."""
    schema = {
        "type": "object",
        "properties": {"why": {"type": ["string", "null"]}, "age": {"$ref": "#/$defs/age"}},
        "required": ["why"],
        "additionalProperties": False,
        "$defs": {"age": {"type": "integer"}},
    }
    server.on(ASK, said('{"why": null}'))
    assert json.loads((await model.complete(Request(HI.messages, json_schema=schema))).text) == {"why": None}
    config = body_of(server)["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    sent = config["responseSchema"]
    assert sent["properties"] == {"why": {"type": "STRING", "nullable": True}, "age": {"type": "INTEGER"}}
    assert sent.get("propertyOrdering", sent.get("property_ordering")) == ["why", "age"]


async def test_a_choice_is_bound_and_read(server, model):
    """One of several texts, as an object with one key."""
    server.on(ASK, said('{"answer": "yes"}'))
    assert (await model.complete(Request(HI.messages, choices=("yes", "no")))).text == "yes"
    sent = body_of(server)["generationConfig"]["responseSchema"]
    assert sent["properties"]["answer"] == {"type": "STRING", "enum": ["yes", "no"]}
    server._answers[ASK].clear()
    server.on(ASK, said('{"answer": "perhaps"}'))
    with pytest.raises(ReplyError, match="perhaps"):
        await model.complete(Request(HI.messages, choices=("yes", "no")))


@pytest.mark.parametrize(
    ("options", "shown", "calling"),
    [
        ({}, ["get_weather", "notes_add"], {"mode": "AUTO"}),
        ({"tool_choice": NONE}, ["get_weather", "notes_add"], {"mode": "NONE"}),
        ({"tool_choice": REQUIRED}, ["get_weather", "notes_add"], {"mode": "ANY"}),
        (
            {"tool_choice": ToolChoice("required", "notes.add")},
            ["get_weather", "notes_add"],
            {"mode": "ANY", "allowedFunctionNames": ["notes_add"]},
        ),
        ({"only": ("notes.add",)}, ["notes_add"], {"mode": "AUTO"}),
        ({"only": ()}, None, None),
    ],
)
async def test_tool_choice_becomes_the_calling_config(server, model, options, shown, calling):
    """Rule: auto, required, none and one tool, each in Gemini's own form."""
    server.on(ASK, answer(chunk(call("notes_add", {}), finish="STOP")))
    await model.complete(tools(**options))
    body = body_of(server)
    declared = body.get("tools") and body["tools"][0]["functionDeclarations"]
    assert (declared and [tool["name"] for tool in declared]) == shown
    config = body.get("toolConfig") and body["toolConfig"]["functionCallingConfig"]
    assert {
        key.replace("allowed_function_names", "allowedFunctionNames"): v for key, v in (config or {}).items()
    } == (calling or {})


async def test_a_tool_without_parameters_has_none(server, model):
    """Gemini refuses an object without properties."""
    server.on(ASK, said())
    await model.complete(tools())
    weather, note = body_of(server)["tools"][0]["functionDeclarations"]
    assert note == {"name": "notes_add", "description": "Adds a note"}
    assert weather["parameters"] == {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}},
        "required": ["city"],
    }


async def test_a_schema_and_forbidden_tools_leave_the_tools_out(server, model):
    """Gemini takes no tools beside a bound answer, not even such as may not be called."""
    server.on(ASK, said("{}"))
    await model.complete(tools(json_schema={"type": "object"}, tool_choice=NONE))
    assert "tools" not in body_of(server)


# --- the history ---------------------------------------------------------------------------------------------


async def test_all_results_of_a_turn_are_answered_together(server, model):
    """Fault kind "several calls in one turn": one user content, paired by id, in the model's order."""
    server.on(ASK, said())
    history = (
        Message("user", "Notes and weather?"),
        Message(
            "assistant",
            "I look.",
            (
                ToolCall("c1", "get_weather", {"city": "Rome"}),
                ToolCall("c2", "notes.add"),
                ToolCall("c3", "gone"),
            ),
        ),
        Message("tool", '{"success": true, "id": 7}', tool_call_id="c2", name="notes.add"),
        Message("tool", "22 degrees", tool_call_id="c1", name="get_weather"),
        Message("system", "One round is left."),
        Message("tool", "late", tool_call_id="c9", name="lost"),
    )
    await model.complete(Request(history, (WEATHER, NOTE)))
    asked, called, results, after = body_of(server)["contents"]
    assert asked["role"] == "user"
    assert called["parts"][0] == {"text": "I look."}
    assert [part["functionCall"]["name"] for part in called["parts"][1:]] == [
        "get_weather",
        "notes_add",
        "gone",
    ]
    assert results == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "c1", "name": "get_weather", "response": {"output": "22 degrees"}}},
            {"functionResponse": {"id": "c2", "name": "notes_add", "response": {"success": True, "id": 7}}},
            {"functionResponse": {"id": "c3", "name": "gone", "response": {"error": "There is no result."}}},
        ],
    }
    assert after["parts"] == [{"text": "One round is left."}, {"text": "Result of lost: late"}]


@pytest.mark.parametrize("content", ["[1]", "5", "null", "{}", "", '{"cut": ', "{" * 5000])
async def test_a_result_that_is_no_object_goes_out_as_output(server, model, content):
    """`response` must be an object."""
    server.on(ASK, said())
    history = (
        Message("user", "x"),
        Message("assistant", tool_calls=(ToolCall("c1", "notes.add"),)),
        Message("tool", content, tool_call_id="c1"),
    )
    await model.complete(Request(history, (NOTE,)))
    part = body_of(server)["contents"][-1]["parts"][0]
    assert part["functionResponse"]["response"] == {"output": content}


async def test_a_history_from_elsewhere_is_mended(server, model):
    """Arguments as JSON text and calls without ids are what other providers leave behind."""
    server.on(ASK, said())
    history = (
        Message("user", "x"),
        Message("assistant", tool_calls=(ToolCall("", "get_weather", '{"city": "Rome"}'),)),
        Message("tool", "22"),
    )
    await model.complete(Request(history, (WEATHER,)))
    _, called, results = body_of(server)["contents"]
    sent = called["parts"][0]["functionCall"]
    assert sent["args"] == {"city": "Rome"}
    assert results["parts"][0]["functionResponse"]["id"] == sent["id"] != ""


async def test_what_says_nothing_is_left_out(server, model):
    """Empty parts are refused by Gemini; texts of one person behind one another are one turn."""
    server.on(ASK, said())
    history = (
        Message("system", " "),
        Message("user", ""),
        Message("user", "a"),
        Message("assistant", " "),
        Message("user", "b"),
        Message("system", "reminder"),
    )
    await model.complete(Request(history))
    assert body_of(server)["contents"] == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}, {"text": "reminder"}]}
    ]
    assert "systemInstruction" not in body_of(server)


async def test_system_text_alone_is_what_is_said(server, model):
    """Gemini needs contents; nothing at all is refused before any call."""
    server.on(ASK, said())
    await model.complete(Request((Message("system", "Say hi."),)))
    assert body_of(server)["contents"] == [{"role": "user", "parts": [{"text": "Say hi."}]}]
    with pytest.raises(MisuseError, match="Nothing is said"):
        await model.complete(Request((Message("user", " "),)))
    assert len(server.bodies(ASK)) == 1


async def test_half_a_surrogate_pair_goes_out_as_a_question_mark(server, model):
    """A text cut in the middle of an emoji must not end the run."""
    server.on(ASK, said())
    await model.complete(Request((Message("user", "a\ud83d"),)))
    assert body_of(server)["contents"][0]["parts"] == [{"text": "a?"}]


# --- names ---------------------------------------------------------------------------------------------------


async def test_names_go_there_and_back_without_two_falling_together(server, model):
    """Fault kind "provider name rules"."""
    names = ("tool.name", "tool_name", "7zip", "_7zip", "-x", "日本", "a" * 80, "chrome-devtools__open")
    specs = tuple(ToolSpec(name, name) for name in names)
    server.on(ASK, answer(chunk(finish="STOP")), said())
    with pytest.raises(ReplyError):
        await model.complete(Request(HI.messages, specs))
    declared = [tool["name"] for tool in body_of(server)["tools"][0]["functionDeclarations"]]
    assert len(set(declared)) == len(names)
    for name in declared:
        assert name[0].isalpha() or name[0] == "_"
        assert name.isascii()
        assert len(name) <= 64
    server._answers[ASK].clear()
    server.on(ASK, answer(chunk(*(call(name, {}) for name in declared), finish="STOP")))
    found = await model.complete(Request(HI.messages, specs))
    assert tuple(one.name for one in found.tool_calls) == names


def test_a_name_nobody_gave_is_made_allowed_and_comes_back_as_it_is():
    """A history may speak of tools that are gone; a model may invent one."""
    names = GeminiNames(["_1", "1"])
    assert names.outward("_1") == "_1"
    assert names.outward("1") == "_1_0"
    assert names.inward("_1_0") == "1"
    assert names.outward("2x") == "_2x"
    assert names.inward("invented") == "invented"


# --- signatures ----------------------------------------------------------------------------------------------


async def test_signatures_come_back_with_the_history(server, model):
    """Rule: what a model thought before a call is sent back as it came, through journal and resume."""
    calls = (call("get_weather", {"city": "Rome"}, "c1", SIGNED), call("notes_add", {}, "c2"))
    server.on(ASK, answer(chunk(*calls), chunk(finish="STOP")), said())
    found = Completion.from_dict(json.loads(json.dumps((await model.complete(tools())).to_dict())))
    assert [one.id for one in found.tool_calls] == ["c1", "c2"]
    assert found.tool_calls[1].to_dict() == {"id": "c2", "name": "notes.add", "arguments": {}}
    said_before = Message.from_dict(Message("assistant", tool_calls=found.tool_calls).to_dict())
    results = tuple(Message("tool", "ok", tool_call_id=one.id, name=one.name) for one in found.tool_calls)
    await model.complete(Request((*HI.messages, said_before, *results), (WEATHER, NOTE)))
    first, second = body_of(server)["contents"][1]["parts"]
    assert base64.urlsafe_b64decode(first["thoughtSignature"]) == b"what it thought"
    assert "thoughtSignature" not in second


async def test_calls_of_another_model_are_marked_only_when_gemini_asks_for_it(server, model):
    """Gemini 3 refuses a call without a signature; Google documents the mark, and older models are not sent it."""
    told = "Function call is missing a thought_signature in functionCall parts."
    server.on(ASK, refusal(400, "INVALID_ARGUMENT", told), said(), said())
    history = (
        Message("user", "x"),
        Message("assistant", tool_calls=(ToolCall("a", "notes.add"), ToolCall("b", "notes.add"))),
        Message("tool", "ok", tool_call_id="a"),
        Message("tool", "ok", tool_call_id="b"),
        Message("assistant", tool_calls=(ToolCall("c", "notes.add", {}, {SIGNATURE: SIGNED}),)),
        Message("tool", "ok", tool_call_id="c"),
    )
    assert (await model.complete(Request(history, (NOTE,)))).text == "Hi"
    before, after = (body["contents"] for body in server.bodies(ASK))
    assert "thoughtSignature" not in json.dumps(before[1])
    marked, not_marked = after[1]["parts"]
    assert base64.urlsafe_b64decode(marked["thoughtSignature"]) == base64.b64decode(NO_SIGNATURE)
    assert base64.b64decode(NO_SIGNATURE) == b"skip_thought_signature_validator"
    assert "thoughtSignature" not in not_marked
    assert base64.urlsafe_b64decode(after[3]["parts"][0]["thoughtSignature"]) == b"what it thought"


async def test_a_refusal_that_no_other_form_answers_is_told(server, model):
    """What was adapted once and is refused again is an error and no endless loop."""
    told = "Function call is missing a thought_signature in functionCall parts."
    server.on(ASK, refusal(400, "INVALID_ARGUMENT", told))
    with pytest.raises(ProviderRequestError, match="thought_signature"):
        await model.complete(HI)
    assert len(server.bodies(ASK)) == 2


async def test_an_ending_that_asks_for_signatures_is_answered_with_the_mark(server, model):
    """The same refusal, said as the reason of an empty answer."""
    server.on(ASK, answer({"candidates": [{"finishReason": "MISSING_THOUGHT_SIGNATURE"}]}), said())
    history = (
        Message("user", "x"),
        Message("assistant", tool_calls=(ToolCall("a", "notes.add"),)),
        Message("tool", "ok", tool_call_id="a"),
    )
    assert (await model.complete(Request(history, (NOTE,)))).text == "Hi"
    assert "thoughtSignature" in body_of(server)["contents"][1]["parts"][0]


# --- the answer ----------------------------------------------------------------------------------------------


async def test_text_comes_in_pieces_and_thoughts_are_none_of_it(server, model):
    """Rule: thinking parts are not text; tokens of thoughts are output that is counted."""
    server.on(
        ASK,
        answer(
            chunk({"text": "Let me think", "thought": True}),
            chunk({"text": "Hel"}, {"text": "lo\u2028"}),
            chunk({"text": "", "thoughtSignature": SIGNED}, finish="STOP", usage=USAGE),
        ),
    )
    pieces = [piece async for piece in model.stream(HI)]
    assert [piece.text for piece in pieces] == ["Hello\u2028", ""]
    found = pieces[-1].completion
    assert found == Completion(
        "Hello\u2028", (), FinishReason.STOP, Usage(21, 16, 37, found.usage.seconds), f"{NAME}-001"
    )
    assert found.usage.cost is None


async def test_parallel_calls_come_whole_each_with_an_id(server, model):
    """Ids are kept where there are any, made where there are none, and never the same twice."""
    server.on(
        ASK,
        answer(
            chunk(call("get_weather", {"city": "Rome"}), call("get_weather", {"city": "Oslo"}, "x")),
            chunk(call("notes_add", None, "x"), finish="STOP"),
        ),
    )
    found = await model.complete(tools())
    assert found.finish_reason is FinishReason.TOOL_CALLS
    assert [(one.name, one.arguments) for one in found.tool_calls] == [
        ("get_weather", {"city": "Rome"}),
        ("get_weather", {"city": "Oslo"}),
        ("notes.add", {}),
    ]
    assert len({one.id for one in found.tool_calls}) == 3
    assert found.tool_calls[1].id == "x"


async def test_text_beside_calls_is_kept(server, model):
    """A model may say what it is about to do."""
    server.on(ASK, answer(chunk({"text": "I look."}, call("notes_add", {}), finish="STOP")))
    found = await model.complete(tools())
    assert (found.text, len(found.tool_calls)) == ("I look.", 1)


async def test_an_answer_without_usage_or_version_is_an_answer(server, model):
    """What a proxy leaves out is not made up."""
    server.on(
        ASK,
        answer(
            {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}], "newField": 1}
        ),
    )
    found = await model.complete(HI)
    assert (found.text, found.model) == ("Hi", f"gemini:{NAME}")
    assert found.usage.output_tokens == 0


# --- what a model can do -------------------------------------------------------------------------------------


async def test_capabilities_are_asked_of_the_provider_once(server, model):
    """Rule: asked and not guessed."""
    server.on(ASK, said())
    assert isinstance(model, LanguageModel)
    able = await model.capabilities()
    assert (able.tools, able.json_schema, able.grammar, able.context_length) == (True, True, False, 1048576)
    assert (able.family, able.encoding, able.local) == ("gemini", "schema", False)
    await model.complete(HI)
    assert await model.capabilities() is able
    assert [request.path for request in server.seen] == [CARD_PATH, ASK]


async def test_a_model_that_writes_nothing_is_refused_before_any_call(server):
    """An embedding model has no answers."""
    server.on("/v1beta/models/gemini-embedding-001", as_json(EMBEDDER))
    model = GeminiModel("gemini-embedding-001", client_for(server))
    assert (await model.capabilities()).tools is False
    with pytest.raises(ProviderCapabilityError, match="tool calls"):
        await model.complete(tools())
    with pytest.raises(ProviderCapabilityError, match="embedContent, countTextTokens"):
        await model.complete(HI)
    assert len(server.seen) == 1
    await model.close()


async def test_what_gemini_cannot_do_is_refused_before_any_call(server, model):
    """A grammar is for local models."""
    with pytest.raises(ProviderCapabilityError, match="grammar"):
        await model.complete(Request(HI.messages, grammar="root ::= 'x'"))
    assert server.bodies(ASK) == []


async def test_a_prompt_that_cannot_fit_is_refused_with_the_numbers(server):
    """Rule: never cut silently, and not sent to be refused elsewhere."""
    server._answers[CARD_PATH].clear()
    server.on(CARD_PATH, as_json({**CARD, "inputTokenLimit": 100}))
    model = model_for(server)
    with pytest.raises(ContextLengthError) as caught:
        await model.complete(Request((Message("user", "many words " * 200),), max_tokens=20))
    assert caught.value.details["context_length"] == 100
    assert caught.value.details["prompt_tokens_at_least"] > 100
    assert server.bodies(ASK) == []
    await model.close()


async def test_a_model_that_thinks_gets_room_for_its_thoughts(server):
    """Thoughts count as output: without room, a short answer would be all thought and no text."""
    server._answers[CARD_PATH].clear()
    server.on(CARD_PATH, as_json(THINKS))
    server.on(ASK, said())
    model = model_for(server)
    await model.complete(Request(HI.messages, max_tokens=100))
    config = body_of(server)["generationConfig"]
    assert config["maxOutputTokens"] == 100 + THINKING_ROOM
    assert 512 <= next(iter(config["thinkingConfig"].values())) < THINKING_ROOM
    await model.complete(Request(HI.messages, max_tokens=65_000))
    assert body_of(server)["generationConfig"]["maxOutputTokens"] == 65_536
    await model.close()


async def test_a_thinking_budget_that_is_refused_is_left_out_from_then_on(server):
    """A later model may not take it."""
    server._answers[CARD_PATH].clear()
    server.on(CARD_PATH, as_json(THINKS))
    server.on(
        ASK, refusal(400, "INVALID_ARGUMENT", "Thinking budget is not supported for this model."), said()
    )
    model = model_for(server)
    await model.complete(HI)
    await model.complete(HI)
    configs = [body["generationConfig"] for body in server.bodies(ASK)]
    assert ["thinkingConfig" in config for config in configs] == [True, False, False]
    await model.close()


async def test_a_model_that_is_not_there_is_told_with_those_that_are(server):
    """The message lists what there is."""
    gone = refusal(
        404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta, or is not supported."
    )
    server.on("/v1beta/models/gemini-9", gone)
    server.on(
        LIST, as_json({"models": [CARD, EMBEDDER, *({**CARD, "name": f"models/m{n}"} for n in range(20))]})
    )
    model = GeminiModel("gemini-9", client_for(server))
    with pytest.raises(ModelNotFoundError, match=r"gemini-9.*gemini-2.5-flash.*…"):
        await model.capabilities()
    names = await model.models()
    assert names[0] == NAME
    assert "gemini-embedding-001" not in names
    server._answers[LIST].clear()
    server.on(LIST, refusal(403, "PERMISSION_DENIED", "no"))
    with pytest.raises(ModelNotFoundError, match="is not found for API version"):
        await model.capabilities()
    await model.close()


# --- opening -------------------------------------------------------------------------------------------------


def configured(url: str):
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(f'gemini_url = "{url}"\n')
    return load_settings()


async def test_it_opens_by_name_at_the_configured_address(server, monkeypatch):
    """Rule: one line of the registry; the address from the settings file, the key by its name."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key-0000")
    server.on(ASK, said())
    model = await open_model(f"gemini:{NAME}", configured(server.url + "/"))
    assert model.name == f"gemini:{NAME}"
    assert (await model.complete(HI)).text == "Hi"
    assert {request.headers["x-goog-api-key"] for request in server.seen} == {KEY}
    assert (await model.capabilities()).local
    await model.warm(HI, "key")
    await model.close()
    await model.close()
    assert len(server.seen) == 2


async def test_the_environment_moves_no_request(server, monkeypatch, caplog):
    """Rule: the SDK's own reading of the environment changes nothing, and says nothing untrue."""
    for name, value in {
        "GOOGLE_API_KEY": "sdk-key-00000000",
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_CLOUD_PROJECT": "p",
        "GOOGLE_CLOUD_LOCATION": "europe-west1",
        "GOOGLE_GEMINI_BASE_URL": "https://evil.example",
        "GOOGLE_GENAI_API_VERSION": "v9",
        "GOOGLE_GENAI_HTTP_CLIENT": "httpx2",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }.items():
        monkeypatch.setenv(name, value)
    server.on(ASK, answer(chunk({"text": "x"}, call("notes_add"), finish="STOP")))
    model = open_gemini(NAME, configured(server.url))
    await model.complete(tools())
    assert [request.path for request in server.seen] == [CARD_PATH, ASK]
    assert {request.headers["x-goog-api-key"] for request in server.seen} == {KEY}
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]
    await model.close()


async def test_the_second_key_name_serves_and_a_local_proxy_needs_none(server, monkeypatch):
    """GEMINI_API_KEY, then GOOGLE_API_KEY; a proxy on this machine may hold the key itself."""
    server.on(ASK, said())
    settings = configured(server.url)
    model = open_gemini(NAME, settings)
    await model.complete(HI)
    assert "x-goog-api-key" not in server.seen[-1].headers
    await model.close()
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    model = open_gemini(NAME, settings)
    await model.complete(HI)
    assert server.seen[-1].headers["x-goog-api-key"] == KEY
    await model.close()


def test_what_cannot_be_opened_says_why(monkeypatch):
    """No key, a name that is none, an address that would carry the key unencrypted, a variable for the address."""
    with pytest.raises(ProviderAuthError, match=r"Gemini needs a key.*GEMINI_API_KEY"):
        open_gemini(NAME, load_settings())
    for name in ("", "../x", "a b", "models/", "a?key=1", "x&y", "tunedModels/../x", "a" * 300):
        with pytest.raises(ModelNotFoundError):
            open_gemini(name, load_settings())
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with pytest.raises(SettingsError, match="unencrypted"):
        open_gemini(NAME, configured("http://gemini.example"))
    with pytest.raises(SettingsError):
        open_gemini(NAME, configured("https://u:p@gemini.example"))
    monkeypatch.setenv("SUREFOOT_GEMINI_URL", "https://evil.example")
    with pytest.raises(SettingsError, match="settings file only"):
        load_settings()


async def test_only_the_configured_endpoint_is_connected_to(server):
    """Rule: the address policy holds inside the SDK's client too."""
    client = GeminiClient(
        provider="Gemini", base_url=server.url, policy=AddressPolicy(allowed=["127.0.0.1:1"], public=False)
    )
    with pytest.raises(AddressRefusedError, match="not the configured endpoint"):
        await GeminiModel(NAME, client).capabilities()
    assert server.seen == []
    await client.close()


def test_offline_allows_no_hosted_model(monkeypatch):
    """`offline` is held by the policy, before any name is looked up."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    model = open_gemini(NAME, load_settings(offline=True))
    with pytest.raises(AddressRefusedError, match="offline"):
        model._client._policy.addresses("93.184.216.34", 443)


def test_without_the_extra_the_way_out_is_named(server, monkeypatch):
    """The package is optional."""
    monkeypatch.setitem(sys.modules, "google.genai", None)
    monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(NoModelError, match=r"surefoot\[gemini\]"):
        asyncio.run(model_for(server).capabilities())


def test_a_model_serves_one_loop_after_another(server):
    """Connections belong to a loop; a program may run several, one after another."""
    server.on(ASK, said())
    model = model_for(server)

    async def ask() -> str:
        found = await model.complete(HI)
        await model.close()
        return found.text

    assert [asyncio.run(ask()), asyncio.run(ask())] == ["Hi", "Hi"]


def test_the_sdk_is_not_loaded_until_it_is_used():
    """Rule: imported only when used; opening a model does not call for it."""
    code = (
        "import sys, surefoot.models.gemini, surefoot.models.registry\n"
        "sys.exit(any(name.startswith('google') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert HOSTED_SECONDS > 60
