"""What is checked before a model is called, the same for every adapter: nothing is downgraded in silence."""

from __future__ import annotations

import math
import re

from surefoot.errors import ContextLengthError, MisuseError, ProviderCapabilityError
from surefoot.models.types import Capabilities, Request

LETTERS_PER_TOKEN = 7
"""A bound, not an average. Counted with Qwen2.5's merges: 5.0 letters a token in a licence text, 4.5 in Python, 4.0
in terse English, 3.6 in German, 3.2 in Russian, 3.4 in JSON schemas. Only a text of nothing but long words has fewer
tokens than letters / 7 (a made-up sentence of them had 9.3 a token)."""

WIDE_FROM = "\u2e80"
"""Chinese, Japanese and Korean begin here: 2.1, 1.6 and 1.6 of their characters make a token, so each counts twice."""

_RUN = re.compile(r"(\s)\s+|(.)\2{3,}", re.DOTALL)
"""Runs of spaces or of one character are few tokens (10,000 spaces are 79), so they count once."""


def least_tokens(request: Request) -> int:
    """A number of tokens that the prompt of this request has at least, without a tokenizer."""
    import json

    texts = [message.content for message in request.messages]
    texts += [
        json.dumps(call.arguments, ensure_ascii=False) for m in request.messages for call in m.tool_calls
    ]
    texts += [f"{tool.name} {tool.description}" for tool in request.tools]
    return sum(_letters(text) for text in texts) // LETTERS_PER_TOKEN


def _letters(text: str) -> int:
    short = _RUN.sub(r"\1\2", text)
    return len(short) + sum(character >= WIDE_FROM for character in short)


def check_request(request: Request, capabilities: Capabilities, name: str) -> None:
    """Refuse what this model cannot do, before any call.

    Raises:
        MisuseError: several things bind the answer at once, or a number cannot be used.
        ProviderCapabilityError: the model has no tools, grammar or JSON schema, and the request needs it.
    """
    _check_form(request)
    needs = {
        "tools": bool(request.tools) and request.tool_choice.mode != "none",
        "grammar": request.grammar is not None,
        "json_schema": request.json_schema is not None or bool(request.choices and request.grammar is None),
    }
    able = {
        "tools": capabilities.tools,
        "grammar": capabilities.grammar,
        "json_schema": capabilities.json_schema or bool(request.choices and capabilities.grammar),
    }
    for need, needed in needs.items():
        if needed and not able[need]:
            raise ProviderCapabilityError(
                f"{name} does not support {_WORDS[need]}, and this request needs that.",
                "Use a model that does: `surefoot models list` shows what each can do.",
                model=name,
                capability=need,
            )


_WORDS = {
    "tools": "tool calls",
    "grammar": "answers bound by a grammar",
    "json_schema": "answers bound by a schema",
}


def _check_form(request: Request) -> None:
    bound = [
        word
        for word, given in (
            ("grammar", request.grammar is not None),
            ("json_schema", request.json_schema is not None),
            ("choices", bool(request.choices)),
            ("tools", bool(request.tools) and request.tool_choice.mode != "none"),
        )
        if given
    ]
    if len(bound) > 1:
        raise MisuseError(
            f"One request is bound by {' and '.join(bound)} at once.", "Give one of them.", bound=bound
        )
    if not request.messages:
        raise MisuseError("A request without messages.", "Give at least one message.")
    known = {tool.name for tool in request.tools}
    if request.tool_choice.name and request.tool_choice.name not in known:
        raise MisuseError(
            f"tool_choice names {request.tool_choice.name!r}, which is not among the request's tools.",
            "Add the tool, or choose another.",
            tools=sorted(known),
        )
    if request.max_tokens < 1:
        raise MisuseError(
            f"max_tokens is {request.max_tokens}.", "Give at least 1.", max_tokens=request.max_tokens
        )


def seconds_allowed(timeout: float | None, default: float) -> float:
    """The time-out in force: `timeout`, or `default` where it is None. There is always one.

    Raises:
        MisuseError: it is 0, negative or no number. 0 is a value, not "unset", and no answer comes in no time.
    """
    value = default if timeout is None else timeout
    if not math.isfinite(value) or value <= 0:
        raise MisuseError(
            f"timeout is {value!r}; an answer needs a positive number of seconds.",
            "Give seconds, or None for the default.",
            timeout=str(value),
        )
    return float(value)


def check_fits(request: Request, window: int, name: str) -> None:
    """Refuse a prompt that cannot fit into `window` tokens; 0 means unknown and refuses nothing.

    Raises:
        ContextLengthError: with the numbers in message and details.
    """
    least = least_tokens(request)
    if window and least + request.max_tokens > window:
        raise ContextLengthError(
            f"The prompt has at least {least} tokens and the answer may take {request.max_tokens}, "
            f"together more than the {window} of {name}.",
            "Shorten the prompt, raise `num_ctx`, or use a model with a longer context.",
            prompt_tokens_at_least=least,
            max_tokens=request.max_tokens,
            context_length=window,
            model=name,
        )
