"""Every ending and error of the Gemini API over real HTTP: none of them is an answer, and none runs a call."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import pickle
import threading
import traceback
from email.utils import formatdate

import pytest

from models.gemini_wire import (
    ASK,
    CARD,
    CARD_PATH,
    HI,
    KEY,
    answer,
    call,
    chunk,
    ended,
    model_for,
    quota,
    reason,
    refusal,
    retry_in,
    tools,
)
from models.servers import Answer, Clock, LoopbackServer, as_json, free_port
from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    EmptyReplyError,
    MalformedCallError,
    MisuseError,
    ModelNotFoundError,
    OutputCutError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderRequestError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    ReplyError,
)
from surefoot.models.address import AddressPolicy
from surefoot.models.gemini import GeminiModel, open_gemini
from surefoot.models.gemini_client import GeminiClient
from surefoot.models.types import REQUIRED, FinishReason, Request
from surefoot.settings import load_settings, settings_file

TEXT, CALL = chunk({"text": "Half an ans"}), chunk(call("notes_add", {"title": "x"}, "c1"))
MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
SPENT = "You exceeded your current quota, please check your plan and billing details."


@pytest.fixture
def server():
    with LoopbackServer().running() as running:
        running.on(CARD_PATH, as_json(CARD))
        yield running


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def model(server, clock):
    opened = model_for(server, clock)
    yield opened
    await opened.close()


async def fails(model, request: Request = HI) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await model.complete(request)
    return caught.value


# --- endings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [[], [TEXT], [CALL], [TEXT, CALL]])
@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("MALFORMED_FUNCTION_CALL", MalformedCallError),
        ("UNEXPECTED_TOOL_CALL", MalformedCallError),
        ("TOO_MANY_TOOL_CALLS", MalformedCallError),
        ("SAFETY", ContentFilterError),
        ("RECITATION", ContentFilterError),
        ("BLOCKLIST", ContentFilterError),
        ("PROHIBITED_CONTENT", ContentFilterError),
        ("SPII", ContentFilterError),
        ("LANGUAGE", ContentFilterError),
        ("IMAGE_SAFETY", ContentFilterError),
    ],
)
async def test_a_bad_ending_is_a_typed_error_whatever_came_before(server, model, clock, before, finish, kind):
    """Fault kind "Gemini endings": empty content or not, the error is typed, says the reason, and no call is run."""
    server.on(ASK, answer(*before, ended(finish)))
    error = await fails(model, tools())
    assert type(error) is kind
    assert finish in error.message
    assert error.details["reason"] == finish
    assert len(server.bodies(ASK)) == 1
    assert clock.slept == []


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "CONTINUATION"])
@pytest.mark.parametrize("before", [[], [CALL], [TEXT, CALL]])
async def test_an_answer_cut_before_its_text_or_in_a_call_is_an_error(server, model, finish, before):
    """Fault kind "Gemini endings": MAX_TOKENS with no parts, as when thoughts took everything; calls are not run."""
    server.on(ASK, answer(*before, ended(finish)))
    error = await fails(model, tools(max_tokens=77))
    assert type(error) is OutputCutError
    assert "77" in error.message
    assert len(server.bodies(ASK)) == 1


async def test_a_text_that_was_cut_says_so(server, model):
    """Half a text is an answer with the reason `length`; half a choice is none."""
    server.on(ASK, answer(TEXT, ended("MAX_TOKENS")))
    found = await model.complete(HI)
    assert (found.text, found.finish_reason) == ("Half an ans", FinishReason.LENGTH)
    with pytest.raises(OutputCutError):
        await model.complete(Request(HI.messages, choices=("yes", "no")))


@pytest.mark.parametrize(
    "body",
    [
        [chunk(finish="STOP")],
        [{"candidates": [{"finishReason": "STOP"}]}],
        [{"candidates": [{"content": {}, "finishReason": "STOP"}]}],
        [{"candidates": [{"content": {"parts": None}, "finishReason": "STOP"}]}],
        [chunk({"text": " \n"}, finish="STOP")],
        [chunk({"text": "I think", "thought": True}, finish="STOP")],
    ],
)
async def test_an_answer_of_nothing_is_an_error(server, model, body):
    """Fault kind "Gemini endings": empty content is never an empty text."""
    server.on(ASK, answer(*body))
    assert type(await fails(model, tools())) is EmptyReplyError


@pytest.mark.parametrize("why", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "A_NEW_ONE"])
async def test_a_prompt_that_is_blocked_is_a_filter_s_error(server, model, why):
    """`promptFeedback.blockReason` comes with no candidates at all."""
    server.on(ASK, answer({"promptFeedback": {"blockReason": why}, "usageMetadata": {"promptTokenCount": 9}}))
    error = await fails(model)
    assert type(error) is ContentFilterError
    assert error.details["reason"] == why
    assert error.kind == "safety"


@pytest.mark.parametrize("finish", ["OTHER", "MALFORMED_RESPONSE", "FINISH_REASON_UNSPECIFIED", "NEXT_YEARS"])
async def test_an_ending_nobody_explains_is_tried_again_and_never_used(server, model, clock, finish):
    """A reason that is unknown to us must not pass for a whole answer."""
    server.on(ASK, answer(TEXT, ended(finish)))
    error = await fails(model)
    assert type(error) is ProviderUnavailableError
    assert finish in error.message
    assert clock.slept == [1.0, 2.0, 4.0]


async def test_an_unknown_ending_that_passes_leaves_a_whole_answer(server, model):
    """The text of the failed attempt is not in front of the second one's."""
    server.on(ASK, answer(TEXT, ended("OTHER")), answer(chunk({"text": "Whole."}, finish="STOP")))
    assert (await model.complete(HI)).text == "Whole."


async def test_prose_where_a_call_is_required_is_an_error(server, model):
    """`tool_choice` required binds."""
    server.on(ASK, answer(chunk({"text": "No."}, finish="STOP")))
    assert type(await fails(model, tools(tool_choice=REQUIRED))) is ReplyError


@pytest.mark.parametrize("name", [None, ""])
async def test_a_call_without_a_name_runs_none_of_the_answer(server, model, name):
    """One call that cannot be read takes the others with it."""
    broken = {"functionCall": {"name": name, "args": {"a": 1}}}
    server.on(ASK, answer(chunk(call("notes_add", {}), broken, finish="STOP")))
    assert type(await fails(model, tools())) is MalformedCallError


# --- streams that break --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        answer(TEXT),
        answer(TEXT, drop=True),
        answer(),
        answer(TEXT, '{"candidates": [{"content": {"par'),
        answer(TEXT, "[1, 2]"),
        answer({"candidates": [{"content": {"parts": "text"}}]}),
        answer({"candidates": [{"content": {"parts": [{"functionCall": {"name": "x", "args": "{}"}}]}}]}),
        answer({"candidates": 5}),
        answer({"error": "no object"}),
        answer({"error": {"message": "no code"}}),
    ],
)
async def test_a_stream_that_breaks_is_tried_again(server, model, clock, broken):
    """Dropped, cut inside an event, or not in the published form: passing, and no half of it is used."""
    server.on(ASK, broken, answer(chunk({"text": "Whole."}, finish="STOP")))
    assert (await model.complete(HI)).text == "Whole."
    assert clock.slept == [1.0]


async def test_an_error_inside_the_stream_is_the_error_it_says(server, model, clock):
    """The status is 200 by then; the code is in the event."""
    busy = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    bad = {
        "error": {
            "code": 400,
            "message": "Request contains an invalid argument.",
            "status": "INVALID_ARGUMENT",
        }
    }
    server.on(ASK, answer(TEXT, busy), answer(bad))
    error = await fails(model)
    assert type(error) is ProviderRequestError
    assert "invalid argument" in error.message
    assert clock.slept == [1.0]


async def test_what_was_shown_is_not_asked_again(server, model):
    """A stream whose first piece is out ends with the error; its reader has seen half of it."""
    server.on(ASK, answer(TEXT, drop=True))
    stream = model.stream(HI)
    assert (await anext(stream)).text == "Half an ans"
    with pytest.raises(ProviderUnavailableError):
        await anext(stream)
    assert len(server.bodies(ASK)) == 1


async def test_a_refusal_behind_the_first_piece_is_not_adapted_to(server, model):
    """Another form of the request would say the first piece twice."""
    server.on(ASK, answer(TEXT, ended("MISSING_THOUGHT_SIGNATURE")))
    stream = model.stream(HI)
    await anext(stream)
    with pytest.raises(ProviderRequestError):
        await anext(stream)
    assert len(server.bodies(ASK)) == 1


async def test_a_reader_that_leaves_hangs_up(server, model):
    """Closing the stream early closes the connection: nothing more is written or paid for."""
    gate = threading.Event()
    many = [chunk({"text": "x" * 10_000}) for _ in range(500)]
    server.on(ASK, answer(TEXT, *many, hold=gate, hold_after=1))
    stream = model.stream(HI)
    assert (await anext(stream)).text == "Half an ans"
    await stream.aclose()
    gate.set()
    assert await asyncio.to_thread(server.dropped.wait, 10)


async def test_a_silent_gateway_is_no_answer_and_a_slow_one_is(server, model, clock):
    """Fault kind "silent gateway": streamed and gathered, 504 is tried again."""
    server.on(
        ASK,
        refusal(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        answer(chunk({"text": "At "}), chunk({"text": "last."}, finish="STOP")),
    )
    assert (await model.complete(HI)).text == "At last."
    assert clock.slept == [1.0]


# --- time ----------------------------------------------------------------------------------------------------


async def test_there_is_always_a_limit_and_0_is_not_unset(server):
    """Fault kind "time-outs"."""
    gate = threading.Event()
    server.on(ASK, answer(TEXT, ended("STOP"), hold=gate, hold_after=1))
    client = GeminiClient(
        provider="Gemini",
        base_url=server.url,
        policy=AddressPolicy(allowed=[(server.host, server.port)], public=False),
    )
    model = GeminiModel("gemini-2.5-flash", client)
    await model.capabilities()
    with pytest.raises(ProviderTimeoutError, match=r"0\.2 s"):
        await model.complete(Request(HI.messages, timeout=0.2))
    with pytest.raises(MisuseError, match="timeout is 0"):
        await model.complete(Request(HI.messages, timeout=0))
    gate.set()
    assert len(server.bodies(ASK)) == 1
    assert server.seen[0].headers["x-server-timeout"] == "120"
    await model.close()


# --- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "kind", "waits"),
    [
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE), retry_in("36s")), ProviderRateLimitError, [36.0] * 3),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE)), ProviderRateLimitError, [1.0, 2.0, 4.0]),
        (refusal(429, "RESOURCE_EXHAUSTED", f"{SPENT} Please retry in 1.5s.", retry_in("1.5s")),
         ProviderRateLimitError, [1.5, 2.0, 4.0]),
        (refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
         ProviderRateLimitError, [1.0, 2.0, 4.0]),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE), retry_in("3h")), ProviderRateLimitError,
         [1.0, 2.0, 4.0]),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, retry_in("2s"), retry_after="30"), ProviderRateLimitError,
         [30.0] * 3),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE), retry_after="10800"), ProviderRateLimitError, []),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE), retry_in("900s")), ProviderRateLimitError, []),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(DAY), retry_in("36s")), ProviderQuotaError, []),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE, DAY), retry_in("36s")), ProviderQuotaError, []),
        (refusal(429, "RESOURCE_EXHAUSTED", f"{SPENT}\n* Quota exceeded for metric: x, limit: 0\nPlease retry in 2s.",
                 retry_in("2s")), ProviderQuotaError, []),
        (refusal(429, "RESOURCE_EXHAUSTED", SPENT), ProviderQuotaError, []),
        (refusal(403, "PERMISSION_DENIED", "This API method requires billing to be enabled. Please enable billing on "
                 "project #1.", reason("BILLING_DISABLED")), ProviderQuotaError, []),
        (refusal(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable "
                 "billing on your project in Google AI Studio."), ProviderQuotaError, []),
        (refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
                 reason("API_KEY_INVALID")), ProviderAuthError, []),
        (refusal(400, "INVALID_ARGUMENT", "API key expired.", reason("API_KEY_INVALID")), ProviderAuthError, []),
        (refusal(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."), ProviderAuthError, []),
        (refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."), ProviderAuthError, []),
        (refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument."), ProviderRequestError, []),
        (refusal(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
         ProviderRequestError, []),
        (refusal(400, "INVALID_ARGUMENT", "Function calling is not enabled for models/gemma-3-27b-it"),
         ProviderCapabilityError, []),
        (refusal(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens "
                 "allowed (1048576)."), ContextLengthError, []),
        (refusal(404, "NOT_FOUND", "models/gemini-2.5-flash is not found for API version v1beta, or is not supported "
                 "for generateContent."), ModelNotFoundError, []),
        (refusal(500, "INTERNAL", "An internal error has occurred."), ProviderUnavailableError, [1.0, 2.0, 4.0]),
        (refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), ProviderUnavailableError,
         [1.0, 2.0, 4.0]),
        (as_json([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}], 503),
         ProviderUnavailableError, [1.0, 2.0, 4.0]),
        (as_json({"error": {"code": 429, "message": "slow", "details": [None, {"violations": 5}, {"violations": [1]}]}},
                 429), ProviderRateLimitError, [1.0, 2.0, 4.0]),
        (Answer(502, [b"<html>Bad gateway</html>"], {"content-type": "text/html"}), ProviderUnavailableError,
         [1.0, 2.0, 4.0]),
        (Answer(200, [b"<html>Log in</html>"], {"content-type": "text/html"}), ProviderRequestError, []),
        (Answer(302, [], {"location": "https://elsewhere.example/"}), ProviderRequestError, []),
    ],
)  # fmt: skip
async def test_each_refusal_means_one_thing(server, model, clock, refused, kind, waits):
    """Fault kind "which 429", and the others: passing ones wait at least as long as asked, the rest are told at once."""
    server.on(ASK, refused)
    error = await fails(model, tools())
    assert type(error) is kind
    assert clock.slept == waits
    assert len(server.bodies(ASK)) == len(waits) + 1


async def test_a_long_wait_is_handed_to_the_caller(server, model):
    """Fault kind "which 429": nobody sleeps for hours."""
    server.on(ASK, refusal(429, "RESOURCE_EXHAUSTED", SPENT, quota(MINUTE), retry_after="10800"))
    error = await fails(model)
    assert isinstance(error, ProviderRateLimitError)
    assert error.retry_after == 10800.0


async def test_a_date_is_a_floor_too(server, model, clock):
    """Fault kind "which 429": Retry-After as a date."""
    server.on(
        ASK,
        refusal(429, "RESOURCE_EXHAUSTED", "slow", retry_after=formatdate(clock.now + 20, usegmt=True)),
        answer(chunk({"text": "Hi"}, finish="STOP")),
    )
    assert (await model.complete(HI)).text == "Hi"
    assert clock.slept == [20.0]


async def test_a_prompt_the_provider_counts_too_long_says_the_numbers(server, model):
    """Rule: a context that does not fit is refused with the numbers."""
    told = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    server.on(ASK, refusal(400, "INVALID_ARGUMENT", told))
    details = (await fails(model)).details
    assert (details["prompt_tokens"], details["context_length"]) == (1200000, 1048576)


async def test_refusals_hold_when_capabilities_are_asked(server, clock):
    """The first request of all is the model's card: the same retries, the same errors."""
    server._answers[CARD_PATH].clear()
    server.on(CARD_PATH, refusal(503, "UNAVAILABLE", "busy"), as_json(CARD))
    model = model_for(server, clock)
    assert (await model.capabilities()).tools
    assert clock.slept == [1.0]
    await model.close()
    server._answers[CARD_PATH].clear()
    server.on(CARD_PATH, refusal(400, "INVALID_ARGUMENT", "API key not valid.", reason("API_KEY_INVALID")))
    model = model_for(server, clock)
    with pytest.raises(ProviderAuthError, match="GEMINI_API_KEY"):
        await model.capabilities()
    await model.close()


async def test_nobody_there_is_unavailable(clock):
    """A port nobody listens on; on this machine it is not waited for."""
    port = free_port()
    client = GeminiClient(
        provider="Gemini",
        base_url=f"http://127.0.0.1:{port}",
        policy=AddressPolicy(allowed=[("127.0.0.1", port)], public=False),
        local=True,
        sleep=clock.sleep,
    )
    with pytest.raises(ProviderUnavailableError, match="cannot be reached"):
        await GeminiModel("gemini-2.5-flash", client).capabilities()
    assert clock.slept == []
    await client.close()


# --- the key -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "refused",
    [
        refusal(
            400,
            "INVALID_ARGUMENT",
            f"API key {KEY} not valid.",
            {**reason("API_KEY_INVALID"), "metadata": {KEY: KEY}},
        ),
        refusal(403, "PERMISSION_DENIED", f"key={KEY}"),
        refusal(429, "RESOURCE_EXHAUSTED", f"quota of {KEY}", quota(KEY, DAY)),
        answer({"error": {"code": 400, "message": f"bad key {KEY}", "status": KEY}}),
        answer(f'{{"candidates": "{KEY}"}}'),
        answer(f"not json {KEY}"),
        answer({"promptFeedback": {"blockReason": "OTHER"}, "modelVersion": KEY}),
        Answer(302, [], {"location": f"https://elsewhere.example/?key={KEY}"}),
        answer(TEXT, drop=True),
    ],
)
async def test_a_planted_key_is_in_no_sink(server, monkeypatch, refused):
    """Rule: never printed and never journaled, not in an error, its trace, its JSON, a log of anyone, or a repr."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.DEBUG)
    root.addHandler(handler)
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(f'gemini_url = "{server.url}"\n')
    model = open_gemini("gemini-2.5-flash", load_settings())
    model._client._sleep = Clock().sleep
    server.on(ASK, refused)
    try:
        error = await fails(model, tools())
    finally:
        root.removeHandler(handler)
    assert server.seen[-1].headers["x-goog-api-key"] == KEY
    client = model._client
    sinks = [
        str(error), repr(error), json.dumps(error.to_dict()), "".join(traceback.format_exception(error)),
        repr(pickle.dumps(error)), written.getvalue(),
        repr(model), repr(vars(model)), repr(client), repr(vars(client)), repr(client._sdk),
        repr(vars(client._sdk._api_client)), repr(client._client.headers),
    ]  # fmt: skip
    for place, text in enumerate(sinks):
        assert KEY not in text, f"sink {place}"
    await model.close()
