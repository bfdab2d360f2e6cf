"""Steps, calls and results in one line each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot.cli.shown import one_line, visible
from surefoot.cli.texts import Texts

if TYPE_CHECKING:
    from surefoot.journal.types import Call
    from surefoot.tools.catalogue import Catalogue

RESULT_WIDTH = 200
"""Characters of a result that is no sentence; the whole stands in `show RUN --json`."""


def numbered(steps: Iterable[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """The steps with the numbers that events give them: memory comes before the plan, so it counts as 0."""
    found = []
    number = 0
    for step in steps:
        memory = step["kind"] == "memory"
        number += not memory
        found.append((0 if memory else number, step))
    return found


def in_order(catalogue: Catalogue, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the order of the tool's schema, what it does not name behind; the journal keeps no order."""
    names = list(catalogue.get(tool).parameters.get("properties", {})) if tool in catalogue else []
    place = {name: number for number, name in enumerate(names)}
    return dict(sorted(arguments.items(), key=lambda item: place.get(item[0], len(place))))


def steps_in_order(catalogue: Catalogue, steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same for every step of a plan."""
    return [
        {**step, "arguments": in_order(catalogue, step["tool"] or "", step["arguments"])} for step in steps
    ]


def step_words(step: Mapping[str, Any]) -> str:
    """A step as it is written in a plan: the call with its arguments, `reply`, or its own words."""
    if step["tool"] and step["kind"] == "tool" and _says_all(step):
        return call_words(step["tool"], step["arguments"])
    return "reply" if step["kind"] == "reply" else one_line(step["text"])


def _says_all(step: Mapping[str, Any]) -> bool:
    """Arguments that could not be read stand in the text only."""
    return bool(step["concrete"] or step["arguments"] or step["placeholders"])


def call_words(tool: str, arguments: Mapping[str, Any]) -> str:
    """`addNote(title="Anna's birthday", tags=["family"])`, every argument whole."""
    listed = ", ".join(f"{visible(str(name))}={value_words(value)}" for name, value in arguments.items())
    return f"{visible(tool)}({listed})"


def value_words(value: Any) -> str:
    """A value as JSON in one line, with everything that cannot be seen written out."""
    return visible(json.dumps(value, ensure_ascii=False))


def result_words(texts: Texts, result: Any) -> str:
    """What a call came to: its own sentence where it has one, else how many, else the value."""
    if isinstance(result, dict) and isinstance(result.get("message"), str):
        return one_line(result["message"])
    if result is None or result == "":
        return texts("result.nothing")
    if isinstance(result, list):
        return texts.count("result.items", len(result))
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return one_line(text, RESULT_WIDTH)


def done_words(texts: Texts, call: Call) -> str:
    """What a call did, in its own words, else the call itself."""
    own = call.result.get("message") if isinstance(call.result, dict) else None
    return result_words(texts, call.result) if isinstance(own, str) else call_words(call.tool, call.arguments)


def error_words(error: Mapping[str, Any] | None) -> str:
    """What was wrong and what to do, of an error as JSON."""
    if not error:
        return ""
    return one_line(f"{error.get('message', '')} {error.get('next_move', '')}")


def seconds_words(seconds: float) -> str:
    """`9.1 s`, `2 min 5 s`."""
    if seconds < 99.5:  # noqa: PLR2004 - two digits of seconds read well
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def ms_words(ms: float) -> str:
    """`4 ms`, and seconds from one second on."""
    return f"{ms:.0f} ms" if ms < 1000 else seconds_words(ms / 1000)  # noqa: PLR2004 - a second


def size_words(size: float) -> str:
    """`1.1 GB`, `940 MB`, in powers of ten as disks are sold."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:  # noqa: PLR2004 - SI
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
