"""Grammars that bind what a model writes: calls in its own form, call lines, JSON, one of several choices.

One writer serves native tool calls and plans. A bound answer cannot have a wrong tool name, a wrong key, a value of a
wrong type or one call too many, because the sampler never offers such a token. The notation is GBNF, as llama.cpp and
its relatives read it; nothing of llama.cpp is needed to write it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.errors import MisuseError
from surefoot.models._schema_rules import RuleBook, ValueRules, json_literal, literal
from surefoot.models._span_rules import spans_rule
from surefoot.models.types import AUTO, Binding, ToolChoice, ToolSpec

PLACEHOLDER_NOTE = r'[^<>"\\\x00-\x1F\x7F]{1,80}'
"""What a placeholder says it stands for. 80 characters: the longest that was useful had 41."""


@dataclass(frozen=True, slots=True)
class CallForm:
    """How a model family writes its calls, and how it writes prose that is no call.

    `opening`, `separator` and `closing` stand around the calls; `prose` is the body of a GBNF rule whose sentences
    cannot begin like `opening`.
    """

    opening: str
    separator: str
    closing: str
    prose: str


def calls_grammar(
    tools: Sequence[ToolSpec],
    *,
    form: CallForm,
    choice: ToolChoice = AUTO,
    only: Sequence[str] | None = None,
    max_calls: int = 5,
    placeholders: bool = False,
    bindings: Mapping[str, Mapping[str, Binding]] | None = None,
) -> str:
    """The grammar of an answer that may call tools.

    Args:
        tools: what may be called.
        form: the family's way to write a call.
        choice: `auto` (calls or prose), `required` (calls), `none` (prose) or one tool by name.
        only: names that may be called; None: all.
        max_calls: at most this many.
        placeholders: `"<what it is, from step N>"` may stand for any value behind the first call.
        bindings: by tool and argument, what the argument may be beyond its schema.

    Raises:
        MisuseError: a name is unknown, or calls are required and there is none to make.
    """
    allowed = _allowed(tools, choice, only)
    book = RuleBook()
    possible = choice.mode != "none" and allowed and max_calls > 0
    calls = (
        _sequence(book, allowed, form.separator, max_calls, placeholders, bindings or {}) if possible else ""
    )
    if not calls:
        if choice.mode == "required" or choice.name:
            raise MisuseError(
                "A tool call is required, and no tool may be called.", "Give tools, or allow prose."
            )
        return f"root ::= {form.prose}\n"
    root = f"{literal(form.opening)} {calls} {literal(form.closing)}"
    if choice.mode == "auto" and not choice.name:
        root += f" | {book.add('prose', form.prose)}"
    return book.text(root)


def lines_grammar(
    tools: Sequence[ToolSpec],
    *,
    only: Sequence[str] | None = None,
    max_calls: int = 5,
    placeholders: bool = False,
    reply: str = "reply()",
) -> str:
    """The grammar of call lines, `addNote(title="…", tags=["a"])`, ended by the line `reply` unless that is empty.

    Raises:
        MisuseError: a name is unknown, or there is nothing to write at all.
    """
    allowed = _allowed(tools, AUTO, only)
    if not reply and (not allowed or max_calls < 1):
        raise MisuseError(
            "No tool may be called and no reply line is allowed.", "Give tools, or a reply line."
        )
    if not allowed or max_calls < 1:
        return f"root ::= {literal(reply)}\n"
    book = RuleBook()
    first, later = _positions(book, placeholders=placeholders, max_calls=max_calls)
    lines = [
        book.add("line", " | ".join(_line(book, tool, mark, placeholders) for tool in allowed))
        for mark in (first, later)
    ]
    if reply:
        return book.text(f'({lines[0]} "\\n" ({lines[1]} "\\n"){{0,{max_calls - 1}}})? {literal(reply)}')
    return book.text(f'{lines[0]} ("\\n" {lines[1]}){{0,{max_calls - 1}}}')


def schema_grammar(schema: dict[str, Any]) -> str:
    """The grammar of one JSON value that fits `schema`, as far as a grammar can say it."""
    book = RuleBook()
    return book.text(ValueRules(book, schema).value(schema))


def choice_grammar(choices: Sequence[str]) -> str:
    """The grammar of exactly one of these texts.

    Raises:
        MisuseError: there is none, or one is empty.
    """
    if not choices or not all(choices):
        raise MisuseError(
            f"The choices are {list(choices)!r}.", "Give at least one text, none of them empty."
        )
    return f"root ::= {' | '.join(literal(one) for one in choices)}\n"


def _allowed(tools: Sequence[ToolSpec], choice: ToolChoice, only: Sequence[str] | None) -> list[ToolSpec]:
    known = {tool.name: tool for tool in tools}
    wanted = [choice.name] if choice.name else list(known) if only is None else list(only)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise MisuseError(
            f"No tool is named {unknown[0]!r}.", f"The request has: {', '.join(known) or 'none'}."
        )
    return [tool for name, tool in known.items() if name in wanted]


def _positions(book: RuleBook, *, placeholders: bool, max_calls: int) -> tuple[None, str | None]:
    """The placeholder rule of the first call, which has no step before it, and of the later ones."""
    if not placeholders or max_calls < 2:  # noqa: PLR2004 - a single call has no earlier step
        return None, None
    steps = " | ".join(literal(str(number)) for number in range(1, max_calls))
    return None, book.add("placeholder", rf'"\"<" {PLACEHOLDER_NOTE} " from step " ({steps}) ">\""')


def _sequence(
    book: RuleBook,
    tools: list[ToolSpec],
    separator: str,
    most: int,
    placeholders: bool,
    bindings: Mapping[str, Mapping[str, Binding]],
) -> str:
    """The calls, one behind the other; empty where no tool can come first."""
    names = []
    for mark in _positions(book, placeholders=placeholders, max_calls=most):
        bodies = [_call(book, tool, mark, placeholders, bindings.get(tool.name, {})) for tool in tools]
        if not any(bodies):
            return ""
        names.append(book.add("call", " | ".join(body for body in bodies if body)))
    return f"{names[0]} ({literal(separator)} {names[1]}){{0,{most - 1}}}" if most > 1 else names[0]


def _call(
    book: RuleBook, tool: ToolSpec, mark: str | None, placeholders: bool, bindings: Mapping[str, Binding]
) -> str:
    """One call of the tool; empty where an argument that it needs can have no value at this place."""
    bound, lacking = {}, []
    parameters = _counted(tool.parameters, bindings)
    for key, binding in bindings.items():
        if binding.items:
            continue
        rule = _bound(book, binding) or mark
        if rule:
            bound[key] = rule
        else:
            lacking.append(key)
    if any(key in parameters.get("required", ()) for key in lacking):
        return ""
    parameters = _without(parameters, lacking)
    rules = ValueRules(book, parameters, mark, angle=not placeholders, bound=bound)
    head = f'{{"name": {json.dumps(tool.name, ensure_ascii=False)}, "arguments": '
    return f'{literal(head)} {rules.arguments(parameters)} "}}"'


def _counted(parameters: dict[str, Any], bindings: Mapping[str, Binding]) -> dict[str, Any]:
    """The parameters with the lengths of lists that are known."""
    lengths = {
        key: {"minItems": one.items, "maxItems": one.items} for key, one in bindings.items() if one.items
    }
    properties = parameters.get("properties", {})
    known = {key: {**properties[key], **both} for key, both in lengths.items() if key in properties}
    return {**parameters, "properties": {**properties, **known}} if known else parameters


def _without(parameters: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    if not keys:
        return parameters
    properties = {key: one for key, one in parameters.get("properties", {}).items() if key not in keys}
    return {**parameters, "properties": properties}


def _bound(book: RuleBook, binding: Binding) -> str:
    """The rule of a bound argument; empty where nothing is left to write."""
    found = [json_literal(text) for text in dict.fromkeys(binding.texts)]
    if span := spans_rule(book, binding.spans):
        more = f' (" " {span}){{0,{binding.rows - 1}}}' if binding.rows > 1 else ""
        found.append(rf'"\"" {span}{more} "\""')
    return book.add("bound", " | ".join(found)) if found else ""


def _rules(book: RuleBook, tool: ToolSpec, placeholder: str | None, possible: bool) -> ValueRules:
    """Where placeholders are possible, the first call included, no other text may look like one."""
    return ValueRules(book, tool.parameters, placeholder, angle=not possible)


def _line(book: RuleBook, tool: ToolSpec, placeholder: str | None, possible: bool) -> str:
    rules = _rules(book, tool, placeholder, possible)
    members = rules.members(rules.object_of(tool.parameters))
    pairs = [(f"{literal(key + '=')} {rule}", must) for key, rule, must in members]
    return " ".join(part for part in (literal(tool.name + "("), rules.listed(pairs), '")"') if part)


__all__ = [
    "CallForm",
    "RuleBook",
    "calls_grammar",
    "choice_grammar",
    "json_literal",
    "lines_grammar",
    "literal",
    "schema_grammar",
    "spans_rule",
]
