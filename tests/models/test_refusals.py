"""What a provider's refusal means: one answer with an error status becomes one of our errors."""

from __future__ import annotations

import json

import pytest

from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    ModelNotFoundError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderRequestError,
    ProviderUnavailableError,
)
from surefoot.models.http import is_passing
from surefoot.models.refusals import SHOWN, error_for, read_object, read_refusal, read_retry_after
from surefoot.redaction import secrets


def meaning(status: int, body: object, **headers: str):
    return error_for(read_refusal("P", status, body, headers))


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            429,
            {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
            ProviderQuotaError,
        ),
        (429, {"error": {"message": "Try again in 1s", "code": "insufficient_quota"}}, ProviderQuotaError),
        (429, {"error": {"message": "x", "type": "billing_hard_limit_reached"}}, ProviderQuotaError),
        (429, {"error": {"message": "You exceeded your current quota, check your plan"}}, ProviderQuotaError),
        (402, {"error": {"message": "Insufficient credits", "code": 402}}, ProviderQuotaError),
        (402, {"error": {"message": "Insufficient Balance"}}, ProviderQuotaError),
        (
            429,
            {"error": {"message": "Rate limit reached for m on requests per min (RPM): Limit 3"}},
            ProviderRateLimitError,
        ),
        (
            429,
            [
                {
                    "error": {
                        "message": "You exceeded your current quota. Please retry in 34s.",
                        "status": "RESOURCE_EXHAUSTED",
                    }
                }
            ],
            ProviderRateLimitError,
        ),
        (429, {"error": {"message": "slow down"}}, ProviderRateLimitError),
        (429, "Too Many Requests", ProviderRateLimitError),
    ],
)
def test_which_429_it_is(status, body, kind):
    """Fault kind "which 429": a spent account stops, a limit of a minute passes, whatever words they share."""
    error = meaning(status, body)
    assert type(error) is kind
    assert is_passing(error) is (kind is ProviderRateLimitError)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "m", "code": "context_length_exceeded"}}, ContextLengthError),
        (
            400,
            {"error": {"message": "This model's maximum context length is 8192 tokens"}},
            ContextLengthError,
        ),
        (
            413,
            {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
            ContextLengthError,
        ),
        (
            400,
            {"error": "the prompt is longer than the context length currently available"},
            ContextLengthError,
        ),
        (
            400,
            {"error": {"code": "content_filter", "message": "The response was filtered"}},
            ContentFilterError,
        ),
        (
            403,
            {"error": {"code": 403, "message": "x requires moderation. Your input was flagged"}},
            ContentFilterError,
        ),
        (400, {"error": "registry/gemma:2b does not support tools"}, ProviderCapabilityError),
        (404, {"error": {"message": "No endpoints found that support tool use."}}, ProviderCapabilityError),
        (
            500,
            {"error": {"code": 500, "message": "tools param requires --jinja flag"}},
            ProviderCapabilityError,
        ),
        (404, {"error": 'model "llama9" not found, try pulling it first'}, ModelNotFoundError),
        (
            404,
            {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}},
            ModelNotFoundError,
        ),
        (
            404,
            {"object": "error", "message": "The model `x` does not exist.", "code": 404},
            ModelNotFoundError,
        ),
        (400, {"error": {"message": "x/y is not a valid model ID", "code": 400}}, ModelNotFoundError),
        (404, "404 page not found", ProviderRequestError),
        (401, {"error": {"message": "Incorrect API key provided"}}, ProviderAuthError),
        (418, {}, ProviderRequestError),
        (504, "", ProviderUnavailableError),
        (507, {}, ProviderUnavailableError),
    ],
)
def test_each_refusal_becomes_the_error_for_who_must_act(status, body, kind):
    """Statuses and words of the providers, as they publish or send them."""
    assert type(meaning(status, body)) is kind


def test_numbers_and_fields_of_a_refusal_are_kept():
    """What a program needs to act: the counts, the field, the floor."""
    error = meaning(
        400,
        {
            "error": {
                "code": 400,
                "message": "request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 13392,
                "n_ctx": 8192,
            }
        },
    )
    assert isinstance(error, ContextLengthError)
    assert (error.details["n_prompt_tokens"], error.details["n_ctx"]) == (13392, 8192)
    unsupported = meaning(400, {"error": {"message": "Unsupported parameter", "param": "max_tokens"}})
    assert unsupported.details["param"] == "max_tokens"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 429, "message": "slow"}}, ProviderRateLimitError),
        ({"error": {"code": "502", "message": "bad gateway"}}, ProviderUnavailableError),
        ({"error": {"type": "insufficient_quota", "message": "spent"}}, ProviderQuotaError),
        ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, ProviderRateLimitError),
        ({"error": "an error was encountered while running the model"}, ProviderUnavailableError),
        ({"error": {"code": 12, "message": "odd"}}, ProviderUnavailableError),
    ],
)
def test_an_error_inside_a_stream_says_itself_what_it_is(body, kind):
    """The status was 200 long ago; the error's own code counts."""
    with pytest.raises(kind):
        read_object("P", json.dumps(body))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "5", "[" * 100_000])
def test_what_is_no_object_is_an_answer_that_was_cut(text):
    """Only an object is an answer; the rest may be better the next time."""
    with pytest.raises(ProviderUnavailableError, match="not the JSON it should be"):
        read_object("P", text)
    assert read_object("P", '{"a": 1}') == {"a": 1}


def test_a_refusal_is_masked_and_short():
    """A provider that repeats the key, or sends a page, does not get either into our message."""
    with secrets("sk-verysecret"):
        error = meaning(401, {"error": {"message": "bad key sk-verysecret", "param": "sk-verysecret"}})
        assert "verysecret" not in json.dumps(error.to_dict())
        assert "[secret]" in error.message
    long = meaning(400, "<html>\n" + "x" * 5000)
    assert len(long.message) < SHOWN + 60
    assert "\n" not in long.message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10", 10),
        ("1.5", 1.5),
        ("0", 0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("Mon, 30 Nov 2026 12:00:00 GMT", 60),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        ("Mon, 99 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_reading_retry_after(text, seconds):
    """Seconds, a date, a date that has passed, and nonsense."""
    now = 1796039940.0  # 11:59:00 of that day
    assert read_retry_after(text, now) == seconds
