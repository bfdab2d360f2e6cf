"""From a model's text to an `Outline`: tolerant of how it is written, strict about what may run.

Any text gives an outline. A step is concrete only when every character of its call was understood and every argument
fits the tool's schema; everything else keeps its text and waits for the resolver or the chat model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from surefoot.errors import UnreadableInputError
from surefoot.planning import json_forms, lines, placeholders, tokens
from surefoot.planning.formats import format_call
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.values import typed
from surefoot.planning.vocabulary import MEMORY, REPLY, Named, Vocabulary, vocabulary
from surefoot.planning.words import folded, words

MAX_PROSE: Final = 200
"""Characters a prose step keeps; it is a hint for a model, which a longer one would only distract."""
MAX_CALL: Final = 4000
"""Characters of one call line. A longer one is refused and never cut: half an argument is a wrong argument."""
MAX_LINES: Final = 2000
"""Lines looked at; a plan has a handful, and a runaway answer must not cost seconds."""
MAX_JOINED: Final = 40
"""Lines one call may be spread over."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A step before it has a number. `settled`: its call was read to the end and fits the tool."""

    text: str
    kind: StepKind
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    whole: bool = False


def parse_outline(text: str, catalogue: Iterable[Named] | Vocabulary, max_steps: int = 5) -> Outline:
    """The outline that a model's text spells, at most `max_steps` tool steps long.

    Memory and reply steps do not count; prose is capped at the same number by itself, so a plan that is cut keeps its
    tool steps. Equal writes stay: the executor merges them and says so.

    Args:
        text: free text, a list of call lines, or JSON.
        catalogue: the tools that may be named, or their vocabulary.
        max_steps: tool steps kept.

    Raises:
        UnreadableInputError: a call is longer than 4,000 characters; details hold `reason`, `length` and `limit`.
    """
    known = vocabulary(catalogue)
    drafts = _capped(_drafts(lines.without_tags(lines.after_thinking(text)), known), max_steps)
    return Outline(tuple(_numbered(drafts, known)))


def parse_step(text: str, catalogue: Iterable[Named] | Vocabulary, number: int = 1) -> Step:
    """The one step that a line spells; `number` is its place, which its placeholders must come before.

    Raises:
        UnreadableInputError: the call is longer than 4,000 characters.
    """
    known = vocabulary(catalogue)
    drafts = _from_line(lines.clean(text, known), known)
    return _finished(drafts[0], known, number) if drafts else Step("", StepKind.PROSE)


def outline_of_calls(
    calls: Iterable[tuple[str, dict[str, Any]]], catalogue: Iterable[Named] | Vocabulary, max_steps: int = 5
) -> Outline:
    """The outline of calls that came as names and arguments, from a model's own form.

    Raises:
        UnreadableInputError: a call is longer than 4,000 characters.
    """
    known = vocabulary(catalogue)
    drafts = [_from_json(json_forms.Named(name, arguments), known) for name, arguments in calls]
    return Outline(tuple(_numbered(_capped(drafts, max_steps), known)))


# --- finding the steps ---------------------------------------------------------------------------------------


def _drafts(text: str, known: Vocabulary) -> list[_Draft]:
    """The fenced blocks when they hold calls, else the whole text."""
    blocks = lines.fenced(text)
    if blocks:
        inside = [draft for block in blocks for draft in _from_block(block, known)]
        if any(draft.kind in {StepKind.TOOL, StepKind.MEMORY} for draft in inside):
            return inside
    return _from_block(lines.without_fences(text), known)


def _from_block(block: str, known: Vocabulary) -> list[_Draft]:
    items = json_forms.read_all(block, known)
    if items:
        return [draft for item in items for draft in _from_item(item, known)]
    return _from_lines(block.split("\n")[:MAX_LINES], known)


def _from_item(item: json_forms.Item, known: Vocabulary) -> list[_Draft]:
    if isinstance(item, json_forms.Named):
        return [_from_json(item, known)]
    return _from_line(lines.clean(" ".join(item.split("\n")), known), known)


def _from_lines(written: list[str], known: Vocabulary) -> list[_Draft]:
    drafts: list[_Draft] = []
    at = 0
    while at < len(written):
        line = lines.clean(written[at], known)
        joined, used = _joined(line, written, at, known)
        found = _from_line(joined, known)
        headings = len(found) == 1 and found[0].kind is StepKind.PROSE and lines.is_heading(joined)
        drafts += [] if headings else found
        at += used
    return drafts


def _joined(line: str, written: list[str], at: int, known: Vocabulary) -> tuple[str, int]:
    """The line with those after it that belong to the same call, and how many lines that is."""
    if not _is_open(line, known):
        return line, 1
    whole = line
    for used, following in enumerate(written[at + 1 : at + MAX_JOINED], start=2):
        if len(whole) + len(following) > MAX_CALL or known.name_at(lines.clean(following, known)):
            break
        whole = f"{whole}\n{following}"
        if not _is_open(whole, known):
            return whole, used
    return line, 1


def _is_open(line: str, known: Vocabulary) -> bool:
    """The line starts a call that it does not end."""
    named = known.name_at(line)
    if named is None or len(line) > MAX_CALL:
        return False
    return tokens.read_call(line, 0, named[0], named[1], known.call_at)[0].unfinished


# --- one line ------------------------------------------------------------------------------------------------


def _from_line(line: str, known: Vocabulary) -> list[_Draft]:
    """The steps of one clean line: several when several calls stand in it, none when it is empty."""
    if not line:
        return []
    if line[0] in "[{":
        read = _bracketed(line, known)
        if read:
            return read
    named = known.name_at(line)
    if named is None or (_is_reply(line) and not _is_call(line, named[1])):
        return [_prose(line, known)]
    return _calls(line, 0, known)


def _is_call(line: str, end: int) -> bool:
    """Behind the name at the start a call goes on, or nothing follows: a tool may be named `answer`."""
    return "=" in line or line[end:].lstrip()[:1] in {"(", "（", "{", ""}


def _bracketed(line: str, known: Vocabulary) -> list[_Draft]:
    """A JSON call on a line of its own, or `[first(x=1), second(y=2)]`."""
    items = json_forms.read_all(line, known)
    if items:
        return [draft for item in items for draft in _from_item(item, known)]
    inner = line[1:].lstrip()
    if line.endswith("]") and known.name_at(inner):
        return _calls(inner[:-1].rstrip(), 0, known)
    return []


def _calls(line: str, at: int, known: Vocabulary) -> list[_Draft]:
    drafts: list[_Draft] = []
    while True:
        named = known.name_at(line, at)
        if named is None:
            return drafts
        call, end = tokens.read_call(line, at, *named, known.call_at)
        drafts.append(_from_call(call, known))
        if end >= len(line):
            return drafts
        at = end + len(line[end:]) - len(line[end:].lstrip(" \t\n,，、;"))


def _from_call(call: tokens.Call, known: Vocabulary) -> _Draft:
    if len(call.written) > MAX_CALL:
        raise _too_long(call.name, len(call.written))
    if call.name == REPLY:
        return _Draft(_shortened(call.written), StepKind.REPLY, whole=True)
    if call.name == MEMORY:
        return _Draft(call.written, StepKind.MEMORY, arguments={"topic": _topic(call)}, whole=True)
    arguments = _arguments(call, known) if call.whole else None
    return _Draft(call.written, StepKind.TOOL, call.name, arguments or {}, arguments is not None)


def _too_long(name: str, length: int) -> UnreadableInputError:
    return UnreadableInputError(
        f"The step that calls {name!r} has {length:,} characters; {MAX_CALL:,} are the most one step may have.",
        "Put long text into a file, or split it over several steps.",
        reason="step_too_long",
        tool=name,
        length=length,
        limit=MAX_CALL,
    )


def _topic(call: tokens.Call) -> str:
    """What to look for: the topic, a positional value, or whatever was written."""
    pairs = dict(reversed(call.pairs))
    value = pairs.get("topic", pairs.get(None, pairs.get("query", call.rest)))
    return str(value).strip(" '\"()")


def _arguments(call: tokens.Call, known: Vocabulary) -> dict[str, Any] | None:
    """The call's arguments, typed; None when a positional value or a repeated key leaves open what is meant."""
    shape = known.shapes[call.name]
    given: dict[str, Any] = {}
    for key, value in call.pairs:
        if (
            key is None
            and isinstance(value, dict)
            and len(call.pairs) == 1
            and set(value) <= _keys(shape.properties, value)
        ):
            given = value
            break
        name = shape.sole_required if key is None else key
        if name is None or name in given:
            return None
        given[name] = value
    return {key: typed(value, shape.properties.get(key, {}), shape.schema) for key, value in given.items()}


def _keys(properties: dict[str, Any], value: dict[str, Any]) -> set[str]:
    """The keys an object may have to be the arguments themselves: the declared ones, or any where none is declared."""
    return set(properties) or set(value)


def _from_json(call: json_forms.Named, known: Vocabulary) -> _Draft:
    if call.name == REPLY:
        return _Draft(f"{REPLY}()", StepKind.REPLY, whole=True)
    text = format_call(call.name, call.arguments)
    if len(text) > MAX_CALL:
        raise _too_long(call.name, len(text))
    if call.name == MEMORY:
        topic = str(call.arguments.get("topic", call.arguments.get("", "")))
        return _Draft(text, StepKind.MEMORY, arguments={"topic": topic}, whole=True)
    shape = known.shapes.get(call.name)
    if shape is None or "" in call.arguments:
        return _Draft(_shortened(text), StepKind.PROSE)
    arguments = {
        key: typed(item, shape.properties.get(key, {}), shape.schema) for key, item in call.arguments.items()
    }
    return _Draft(format_call(call.name, arguments), StepKind.TOOL, call.name, arguments, whole=True)


def _prose(line: str, known: Vocabulary) -> _Draft:
    """A line without a call: a reply, a sentence that names a tool, or plain prose."""
    if _is_reply(line):
        return _Draft(_shortened(line), StepKind.REPLY, whole=True)
    tool = known.mentioned(line)
    return _Draft(_shortened(line), StepKind.TOOL if tool else StepKind.PROSE, tool)


def _is_reply(line: str) -> bool:
    """The step says that the person is answered, in one of the languages of the word list."""
    if line.startswith(f"{REPLY}("):
        return True
    said = folded(line[:MAX_PROSE]).strip("*_ ")
    listed = words()
    return (
        said.rstrip(".!。！|।") in listed.reply_exact
        or said.startswith(listed.reply_starts)
        or any(all(part in said for part in group) for group in listed.reply_together)
    )


def _shortened(line: str) -> str:
    """At most 200 characters, an ellipsis being the last, on one line."""
    line = " ".join(line.split())
    return line if len(line) <= MAX_PROSE else line[: MAX_PROSE - 1].rstrip() + "…"


# --- numbering and cutting -----------------------------------------------------------------------------------


def _capped(drafts: list[_Draft], max_steps: int) -> list[_Draft]:
    """At most `max_steps` tool steps, and as many of prose, one memory and one reply step."""
    left = {
        StepKind.TOOL: max_steps,
        StepKind.PROSE: max_steps,
        StepKind.MEMORY: 1,
        StepKind.REPLY: 1,
    }
    kept = []
    for draft in drafts:
        left[draft.kind] -= 1
        if left[draft.kind] >= 0:
            kept.append(draft)
    return kept


def _numbered(drafts: list[_Draft], known: Vocabulary) -> list[Step]:
    return [_finished(draft, known, number) for number, draft in enumerate(drafts, start=1)]


def _finished(draft: _Draft, known: Vocabulary, number: int) -> Step:
    """The step with its placeholders found, and concrete when nothing is left open."""
    step = Step(draft.text, draft.kind, draft.tool, draft.arguments)
    if draft.kind in {StepKind.MEMORY, StepKind.REPLY}:
        return replace(step, concrete=draft.kind is StepKind.MEMORY)
    if draft.kind is StepKind.PROSE:
        return step
    found, astray = placeholders.find(draft.arguments if draft.whole else draft.text, number)
    concrete = draft.whole and not found and not astray and known.shapes[draft.tool].accepts(draft.arguments)
    return replace(step, placeholders=tuple(item.text for item in found), concrete=concrete)
