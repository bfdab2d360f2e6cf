"""One question, five ways to have it answered: the model's own form, free or bound, call lines, JSON Schema, free text.

All give the same `Outline`. The prompt is laid out for the prefix cache: rules and the whole catalogue stand in the
system message and never change; the date, the hint, the conversation and, last, the request stand behind them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal, Protocol

from surefoot.errors import OutputCutError
from surefoot.models.types import (
    AUTO,
    Binding,
    Capabilities,
    Completion,
    FinishReason,
    Message,
    Request,
    ToolSpec,
)
from surefoot.planning import parse, schemas
from surefoot.planning._prompts import prompt
from surefoot.planning.examples import Example, examples, nearest
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.things import Thing
from surefoot.planning.vocabulary import MEMORY, REPLY, Named, vocabulary
from surefoot.redaction import redact
from surefoot.tools.signatures import signature

Encoding = Literal["bound", "own", "lines", "schema", "text"]
"""`own`: the provider writes the tools and reads the calls. `bound`: the same form, bound by a grammar here, so that
the tools can be written as signatures and shown with examples."""
Layout = Literal["signatures", "schemas"]

ENCODINGS: Final[tuple[Encoding, ...]] = ("bound", "own", "schema", "lines", "text")
"""From the most to the least that binds the answer of a hosted model; the first that a model can do is tried when the
one measured for it is not available."""
CALLS: Final[frozenset[Encoding]] = frozenset({"bound", "own"})
"""The encodings that are answered with calls."""
MAX_PLAN_TOKENS: Final = 1024
"""Of an answer: five calls take 150 to 250; the rest is room for one long text."""
DIALOGUE_MESSAGES: Final = 6
"""Messages of the conversation that a plan sees: pronouns reach back two or three turns, hardly further."""
DIALOGUE_CHARS: Final = 600
"""Of each message; a long answer names what it is about at its start."""
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Tools(Protocol):
    """What is needed of a catalogue here."""

    def __iter__(self) -> Iterator[Named]:
        """The same tools, in the same order."""
        ...

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of the tools, in a stable order."""
        ...


@dataclass(frozen=True, slots=True)
class Prefix:
    """The part of a planner's prompt that never changes for a catalogue.

    `tools` are handed to the model beside the message where its own form is used, and its adapter writes them down.
    `turns` are examples, as turns of an earlier conversation.
    `key` covers prompt versions, encoding, layout and the tools; the model's part of a cache key is its adapter's.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    key: str
    turns: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prefix as messages."""
        return (Message("system", self.system), *self.turns)


@dataclass(frozen=True, slots=True)
class Question:
    """What changes from one plan to the next.

    `hint` are names of tools that probably matter; `only` narrows what may be called without changing the prompt.
    `known` are lines about things the person already has, data that calls may name. `bindings` say what arguments may
    be, for a model that a grammar binds; `things` are all that the person has, for checking the plan. Without
    `placeholders` no step can name the result of another.
    """

    query: str
    dialogue: Sequence[Message] = ()
    hint: Sequence[str] = ()
    only: Sequence[str] | None = None
    now: datetime | None = None
    known: Sequence[str] = ()
    bindings: Mapping[str, Mapping[str, Binding]] = field(default_factory=dict)
    things: Sequence[Thing] = ()
    placeholders: bool = True


def choose(capabilities: Capabilities) -> Encoding:
    """The encoding measured for the model's family if the model can do it, else the best that it can."""
    able = {
        "bound": capabilities.tools and capabilities.grammar,
        "own": capabilities.tools,
        "schema": capabilities.json_schema,
        "lines": capabilities.grammar,
        "text": True,
    }
    measured: Encoding = capabilities.encoding
    if measured == "own" and able["bound"]:
        return "bound"
    if able[measured]:
        return measured
    return next(encoding for encoding in ENCODINGS if able[encoding])


def prefix(
    catalogue: Tools, encoding: Encoding, *, max_steps: int = 5, layout: Layout = "signatures"
) -> Prefix:
    """Rules and catalogue as this encoding shows them.

    Args:
        catalogue: the whole catalogue, not the narrowed one.
        encoding: see the module.
        max_steps: named in the rules.
        layout: how the text encodings list the tools, one line of signature or JSON Schema each; the model's own form
            is always written by its adapter.
    """
    rules, form = prompt("rules"), prompt(f"form_{encoding}")
    specs = offered_specs(catalogue)
    parts = [rules.fill(max_steps=str(max_steps)), form.text]
    if encoding != "own":
        parts.insert(1, "Tools:\n" + "\n".join(described(spec, layout) for spec in specs))
    system = "\n\n".join(parts)
    tools = specs if encoding == "own" else ()
    turns = _example_turns(frozenset(spec.name for spec in specs)) if encoding == "bound" else ()
    shown = [[spec.name, spec.description, spec.parameters] for spec in tools]
    told = [turn.to_dict() for turn in turns]
    covered = [rules.version, form.version, encoding, layout, system, shown, told]
    text = json.dumps(covered, ensure_ascii=False, separators=(",", ":"))
    return Prefix(system, tools, hashlib.sha256(text.encode()).hexdigest(), turns)


@lru_cache(maxsize=8)
def _example_turns(names: frozenset[str]) -> tuple[Message, ...]:
    return _turns(examples(names))


def _turns(shown: Sequence[Example]) -> tuple[Message, ...]:
    """Each example as it would have been asked and answered."""
    return tuple(
        turn
        for one in shown
        for turn in (
            Message("user", _asked(Question(one.request, dialogue=one.dialogue, known=one.known))),
            one.answer,
        )
    )


def _near_turns(names: frozenset[str], question: Question) -> tuple[Message, ...]:
    return _turns(nearest(names, question.query, in_talk=bool(question.dialogue)))


def described(spec: ToolSpec, layout: Layout) -> str:
    """A tool in one line. A signature costs about a third of the tokens of a schema."""
    if layout == "schemas":
        shown = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    lines = spec.description.strip().splitlines()
    summary = f" - {lines[0].strip()}" if lines else ""
    return f"{signature(spec.name, spec.parameters)}{summary}"


def today(now: datetime) -> str:
    """`Sunday 2026-05-03`, the same in every locale of the process."""
    return f"{_DAYS[now.weekday()]} {now.date().isoformat()}"


def plan_request(
    catalogue: Tools,
    encoding: Encoding,
    question: Question,
    *,
    max_steps: int,
    timeout: float,
    num_ctx: int,
    layout: Layout = "signatures",
) -> Request:
    """The one model call of a plan."""
    head = prefix(catalogue, encoding, max_steps=max_steps, layout=layout)
    specs = offered_specs(catalogue)
    offered = schemas.among(specs, _allowed(question.only))
    schema, grammar = None, None
    if encoding == "schema":
        schema = schemas.plan_schema(offered, max_steps)
    elif encoding == "lines":
        grammar = lines_grammar_of(offered, max_steps + 1, placeholders=True)
    near = _near_turns(frozenset(spec.name for spec in specs), question) if encoding == "bound" else ()
    return Request(
        messages=(*head.messages, *near, Message("user", _asked(question))),
        tools=specs if encoding in CALLS else (),
        tools_shown=encoding == "bound",
        tool_choice=AUTO,
        only=_narrowed(offered) if encoding in CALLS and question.only is not None else None,
        max_calls=max_steps + 1,
        placeholders=question.placeholders,
        bindings=question.bindings if encoding == "bound" else {},
        json_schema=schema,
        grammar=grammar,
        max_tokens=MAX_PLAN_TOKENS,
        timeout=timeout,
        num_ctx=num_ctx,
        purpose="plan",
    )


def offered_specs(catalogue: Tools) -> tuple[ToolSpec, ...]:
    """The directive, then the tools."""
    return (schemas.memory_spec(prompt("memory").text), *catalogue.specs())


def _allowed(only: Sequence[str] | None) -> tuple[str, ...] | None:
    """The directive is always allowed."""
    return None if only is None else (MEMORY, *only)


def _narrowed(offered: Sequence[ToolSpec]) -> tuple[str, ...]:
    """Names that the request really has: a router may know tools that this catalogue does not."""
    return tuple(spec.name for spec in offered)


def lines_grammar_of(tools: Sequence[ToolSpec], max_calls: int, *, placeholders: bool = False) -> str:
    """GBNF that binds an answer to call lines of these tools, at most `max_calls` of them."""
    from surefoot.models.grammar import lines_grammar

    return lines_grammar(tools, max_calls=max_calls, placeholders=placeholders)


def _asked(question: Question) -> str:
    """Everything that changes, the request last."""
    return prompt("question").fill_paragraphs(
        today=today(question.now) if question.now else "",
        hint=", ".join(question.hint),
        known="\n".join(f"- {_short(line)}" for line in question.known),
        dialogue=_told(question.dialogue),
        query=redact(question.query.strip()),
    )


def _told(dialogue: Sequence[Message]) -> str:
    """The last messages of the conversation, each on a line of its own."""
    spoken = [
        message for message in dialogue if message.role in {"user", "assistant"} and message.content.strip()
    ]
    return "\n".join(f"{message.role}: {_short(message.content)}" for message in spoken[-DIALOGUE_MESSAGES:])


def _short(content: str) -> str:
    line = " ".join(redact(content).split())
    return line if len(line) <= DIALOGUE_CHARS else line[: DIALOGUE_CHARS - 1] + "…"


# --- reading the answer --------------------------------------------------------------------------------------


def read_plan(completion: Completion, catalogue: Tools, encoding: Encoding, *, max_steps: int) -> Outline:
    """The outline that an answer spells; empty when it says nothing.

    Prose in the model's own form is its decision that nothing is to be called.

    Raises:
        OutputCutError: the answer was cut, so its last call may be half a call; none of it is used.
        UnreadableInputError: a call is longer than one step may be.
    """
    if completion.finish_reason is FinishReason.LENGTH:
        raise OutputCutError("The plan was cut at the output limit.", "Ask for less at once.")
    known = vocabulary(catalogue)
    if completion.tool_calls:
        calls = [(call.name, call.arguments) for call in completion.tool_calls]
        return with_reply(parse.outline_of_calls(calls, known, max_steps))
    outline = parse.parse_outline(completion.text, known, max_steps)
    if encoding in CALLS and not any(_is_called(step) for step in outline.steps):
        said = completion.text.strip()
        return Outline((Step(f"{REPLY}()", StepKind.REPLY),)) if said else Outline()
    return with_reply(outline)


def _is_called(step: Step) -> bool:
    """A call, and not a sentence that names a tool: some models write their own form as text."""
    return step.kind is StepKind.MEMORY or bool(step.arguments or step.concrete)


def with_reply(outline: Outline) -> Outline:
    """The outline with a reply step behind it, when something is looked up or called and none is there."""
    kinds = {step.kind for step in outline.steps}
    if StepKind.REPLY in kinds or not kinds & {StepKind.TOOL, StepKind.MEMORY}:
        return outline
    return Outline((*outline.steps, Step(f"{REPLY}()", StepKind.REPLY)))
