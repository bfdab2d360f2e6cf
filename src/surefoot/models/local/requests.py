"""From a request to llama.cpp's body, and from its last event to a completion. Nothing here calls anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.errors import EmptyReplyError, MisuseError, OutputCutError, ProviderCapabilityError
from surefoot.models._schema_rules import MAX_ITEMS, MAX_TEXT
from surefoot.models.families import Family, Reading
from surefoot.models.grammar import calls_grammar, schema_grammar
from surefoot.models.types import Completion, FinishReason, Request, Usage

PLANNER_SLOT, REPLY_SLOT = 0, 1
PLANNER_PURPOSES = frozenset({"plan", "resolve", "check"})
"""Calls that share the planner's prefix, and so its slot. Everything else takes the reply's."""
MAX_CALLS = 5
"""Calls in one answer where the request sets no limit: five steps are a plan's limit."""


def slot_of(purpose: str) -> int:
    """The slot for a purpose; a purpose may carry a number (`resolve.2`)."""
    return PLANNER_SLOT if purpose.partition(".")[0] in PLANNER_PURPOSES else REPLY_SLOT


def body_of(request: Request, prompt: str, family: Family | None) -> dict[str, Any]:
    """The body of a streamed completion.

    Raises:
        ProviderCapabilityError: tools, and the family's form of a call is not known.
        MisuseError: more than one thing binds the answer.
    """
    body: dict[str, Any] = {
        "prompt": prompt,
        "n_predict": request.max_tokens,
        "temperature": request.temperature,
        "stop": list(request.stop),
        "id_slot": slot_of(request.purpose),
        "cache_prompt": True,
        "stream": True,
    }
    grammar = grammar_of(request, family)
    return {**body, "grammar": grammar} if grammar else body


def grammar_of(request: Request, family: Family | None) -> str:
    """The one grammar that binds the answer, empty where nothing does."""
    bound = [request.grammar is not None, request.json_schema is not None, bool(request.tools)]
    if sum(bound) > 1:
        raise MisuseError(
            "A request has more than one of grammar, json_schema and tools.", "Give at most one."
        )
    if request.grammar is not None:
        return request.grammar
    if request.json_schema is not None:
        return schema_grammar(request.json_schema)
    if not request.tools:
        return ""
    if family is None:
        raise ProviderCapabilityError(
            "This model's own form of a tool call is not known, so it cannot be given tools.",
            "Plan with a grammar or schema, or use a model of a known family (Qwen2.5).",
        )
    return calls_grammar(
        request.tools,
        form=family.form,
        choice=request.tool_choice,
        only=request.only,
        max_calls=(1 if request.tool_choice.name else MAX_CALLS)
        if request.max_calls is None
        else request.max_calls,
        placeholders=request.placeholders,
        bindings=request.bindings,
    )


def completion_of(
    request: Request, text: str, last: dict[str, Any], family: Family | None, *, model: str, seconds: float
) -> Completion:
    """The whole answer.

    Raises:
        OutputCutError: calls or JSON that the output limit cut; none of the calls is given.
        EmptyReplyError: nothing at all.
    """
    cut = last.get("stop_type") == "limit"
    if request.json_schema is not None and cut:
        raise cut_error(request.max_tokens, text)
    reading = Reading(text)
    if request.tools and family is not None and is_call(text, family):
        if cut:
            raise cut_error(request.max_tokens, text)
        reading = family.read(text)
        refuse_cut_values([call.arguments for call in reading.calls])
    if not text.strip() and not reading.calls:
        raise EmptyReplyError("The embedded model answered with nothing.", "Ask again, or in other words.")
    finish = FinishReason.TOOL_CALLS if reading.calls else FinishReason.LENGTH if cut else FinishReason.STOP
    return Completion(reading.text, reading.calls, finish, usage_of(last, seconds), model)


def is_call(text: str, family: Family) -> bool:
    """The answer is, or begins like, calls: no prose that the family's grammar allows begins that way."""
    return text[:1] == family.form.opening[:1]


def usage_of(last: dict[str, Any], seconds: float) -> Usage:
    """Tokens as llama.cpp counted them."""
    timings = last.get("timings") or {}
    cached = int(timings.get("cache_n", 0))
    return Usage(
        cached + int(timings.get("prompt_n", 0)), cached, int(timings.get("predicted_n", 0)), seconds
    )


def refuse_cut_values(values: Sequence[Any]) -> None:
    """A text or list that filled the grammar's limit was cut by it: half a value is never used."""
    for value in values:
        if isinstance(value, str) and len(value) >= MAX_TEXT:
            raise OutputCutError(
                f"A text of the call reached the limit of {MAX_TEXT:,} characters and may be cut: {value[:60]!r}…",
                "Ask for less at once.",
            )
        if isinstance(value, list):
            if len(value) >= MAX_ITEMS:
                raise OutputCutError(
                    f"A list of the call reached the limit of {MAX_ITEMS} items and may be cut.",
                    "Ask for fewer at once.",
                )
            refuse_cut_values(value)
        if isinstance(value, dict):
            refuse_cut_values(list(value.values()))


def cut_error(limit: int, text: str) -> OutputCutError:
    """The answer met its own limit before its structure was whole."""
    return OutputCutError(
        f"The answer was cut at {limit} tokens, in the middle of {text[-40:]!r}.",
        "Ask for less at once, or allow more tokens.",
        max_tokens=limit,
    )
