"""What is checked before any call."""

from __future__ import annotations

import math

import pytest

from surefoot.errors import ContextLengthError, MisuseError, ProviderCapabilityError
from surefoot.models.checks import check_fits, check_request, least_tokens, seconds_allowed
from surefoot.models.types import REQUIRED, Capabilities, Message, Request, ToolCall, ToolChoice, ToolSpec

HI = (Message("user", "Hi"),)
ALL = Capabilities(tools=True, json_schema=True, grammar=True)
TOOLS = (ToolSpec("addTask"),)


@pytest.mark.parametrize(
    ("request_", "able"),
    [
        (Request(HI, TOOLS), Capabilities(json_schema=True, grammar=True)),
        (Request(HI, TOOLS, REQUIRED), Capabilities()),
        (Request(HI, grammar="root ::= [a]"), Capabilities(tools=True, json_schema=True)),
        (Request(HI, json_schema={}), Capabilities(tools=True, grammar=True)),
        (Request(HI, choices=("a", "b")), Capabilities(tools=True)),
    ],
)
def test_provider_strict_means_no_silent_downgrade(request_, able):
    """Seed, decision 2 and 3: what the model cannot do is an error before any call, never left away."""
    with pytest.raises(ProviderCapabilityError, match="test:m does not support"):
        check_request(request_, able, "test:m")
    check_request(request_, ALL, "test:m")


def test_choices_need_a_schema_or_a_grammar():
    """A choice can be bound by either."""
    for able in (Capabilities(json_schema=True), Capabilities(grammar=True)):
        check_request(Request(HI, choices=("a",)), able, "test:m")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(HI, TOOLS, json_schema={}), "json_schema and tools"),
        (Request(HI, grammar="x", choices=("a",)), "grammar and choices"),
        (Request(()), "without messages"),
        (Request(HI, TOOLS, ToolChoice("required", "other")), "'other', which is not among"),
        (Request(HI, max_tokens=0), "max_tokens is 0"),
    ],
)
def test_a_request_that_makes_no_sense_is_a_misuse(request_, message):
    """Two things that bind at once, no messages, an unknown tool, no room for an answer."""
    with pytest.raises(MisuseError, match=message):
        check_request(request_, ALL, "test:m")


def test_tools_that_may_not_be_called_bind_nothing():
    """`tool_choice` none shows the tools and leaves the answer to a schema."""
    check_request(Request(HI, TOOLS, ToolChoice("none"), json_schema={}), ALL, "test:m")


@pytest.mark.parametrize("seconds", [0, 0.0, -1, math.nan, math.inf])
def test_there_is_always_a_time_out_and_zero_is_not_unset(seconds):
    """0 is a value that cannot be used, None is the default, and no time-out is endless."""
    with pytest.raises(MisuseError, match="positive number of seconds"):
        seconds_allowed(seconds, 30)
    assert seconds_allowed(None, 30) == 30
    assert seconds_allowed(2, 30) == 2


def test_a_prompt_that_cannot_fit_is_refused_with_the_numbers():
    """The refusal names the prompt's tokens, the answer's, and the window."""
    request = Request((Message("user", "some words of text " * 3000),), max_tokens=200)
    least = least_tokens(request)
    with pytest.raises(
        ContextLengthError, match=rf"{least} tokens .* 200, together more than the 4096 of test:m"
    ) as caught:
        check_fits(request, 4096, "test:m")
    assert caught.value.details["context_length"] == 4096
    check_fits(request, least + 200, "test:m")
    check_fits(request, 0, "test:m")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 201),
        ("Все люди рождаются свободными и равными в своём достоинстве и правах. " * 5, 107),
        ("すべての人間は、生まれながらにして自由であり、" * 5, 55),
        ("今天天气很好，我们去公园散步吧。" * 5, 50),
        (" " * 10_000, 79),
        ("=" * 10_000, 156),
    ],
)
def test_the_count_is_a_lower_bound(text, tokens):
    """It never says more tokens than Qwen2.5's merges make of such text (counted once, the counts stand beside it)."""
    assert 0 <= least_tokens(Request((Message("user", text),))) <= tokens


def test_the_count_includes_tools_and_calls():
    """Everything that goes into the prompt counts."""
    plain = least_tokens(Request(HI))
    with_tool = least_tokens(Request(HI, (ToolSpec("addTask", "adds a task to the list of the person"),)))
    call = ToolCall("1", "addTask", {"title": "buy milk and bread and cheese"})
    with_call = least_tokens(Request((*HI, Message("assistant", tool_calls=(call,)))))
    assert with_tool > plain < with_call
