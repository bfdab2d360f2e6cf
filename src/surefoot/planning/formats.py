"""Steps and outlines as text, so that parsing the text gives the same steps again."""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal

from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.vocabulary import MEMORY

Spelling = Literal["call", "keyword"]
_PLAIN_KEY: Final = re.compile(r"[\w.$-]+")
_CLOSING_TAG: Final = re.compile(r"</(?=think)", re.IGNORECASE)


def format_step(step: Step, spelling: Spelling = "call") -> str:
    """The step as one line. A tool step whose call could not be read keeps its text."""
    if step.kind is StepKind.MEMORY:
        return format_call(MEMORY, step.arguments, spelling)
    if step.kind is StepKind.TOOL and (step.arguments or step.concrete):
        return format_call(step.tool, step.arguments, spelling)
    return " ".join(step.text.split())


def format_outline(outline: Outline, spelling: Spelling = "call") -> str:
    """One line for each step, without numbers; empty for the empty outline."""
    return "\n".join(format_step(step, spelling) for step in outline.steps)


def format_call(name: str, arguments: dict[str, Any], spelling: Spelling = "call") -> str:
    """`name(key="v", n=2)`, or `name key="v" n=2`; values are JSON."""
    pairs = [f"{_key(key)}={_json(value)}" for key, value in arguments.items()]
    if spelling == "call":
        return f"{name}({', '.join(pairs)})"
    return " ".join([name, *pairs])


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _json(key)


def _json(value: Any) -> str:
    """JSON on one line. A closing tag of thinking is escaped, as everything before it would be dropped."""
    return _CLOSING_TAG.sub(r"<\\/", json.dumps(value, ensure_ascii=False))
