"""Qwen2.5 and Qwen2.5-Coder, instruction-tuned.

The template of the family is ChatML. It asks for calls in `<tool_call>` tags, but the Coder models answer with a fenced
JSON block instead, so the tools block asks for that block and a grammar binds it.

Right of 12 rows each of BFCL v4 with Qwen2.5-Coder-1.5B-Instruct Q4_K_M (multiple, parallel, parallel_multiple,
irrelevance): tags read strictly 0, 0, 0, 12; its text form read tolerantly 12, 0, 2, 6; call lines bound by a grammar
7, 11, 8, 0; its own form bound by a grammar 12, 12, 9, 1. Hence `encoding = "own"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from surefoot.models.families import ModelFacts, Reading, neutral
from surefoot.models.families.reading import read_answer
from surefoot.models.grammar import CallForm
from surefoot.models.types import Message, ToolCall, ToolSpec

DEFAULT_SYSTEM = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
"""What the family's own template puts where there is no system message."""

_PROSE = r'[^`\[{<\x00-\x20] ([^`] | "`" [^`] | "``" [^`] | "```" [^`j])* ("`" | "``" | "```")?'
"""No prose begins like a block of calls, and none holds a ```json block; any other fenced code is prose."""


class Qwen25:
    """See `Family` for what each part means."""

    name = "qwen2.5"
    encoding: Literal["own", "lines", "schema", "text"] = "own"
    form = CallForm(opening="```json\n[", separator=", ", closing="]\n```", prose=_PROSE)

    def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, answer: bool = True) -> str:
        """ChatML. The tools stand behind the system text, where the family was trained to find them."""
        system, rest = _split(messages)
        turns = [_turn("system", "\n\n".join(part for part in (system, _tools_block(tools)) if part))]
        for number, message in enumerate(rest):
            if message.role != "tool":
                turns.append(_turn(message.role, _plain(message)))
            elif number == 0 or rest[number - 1].role != "tool":
                turns.append(_turn("user", _results(rest[number:])))
        return "".join(turns) + ("<|im_start|>assistant\n" if answer else "")

    def read(self, text: str) -> Reading:
        """Prose and calls."""
        return read_answer(text)


FAMILY = Qwen25()


def fits(facts: ModelFacts) -> bool:
    """The model is of this family: its architecture, its name, and a ChatML template with this family's tools block."""
    named = re.search(r"qwen[\s._-]?2\.5", facts.name, re.IGNORECASE) is not None
    template = facts.chat_template
    return (
        facts.architecture == "qwen2" and named and "<|im_start|>" in template and "<tool_call>" in template
    )


def _split(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    if messages and messages[0].role == "system":
        return messages[0].content, list(messages[1:])
    return DEFAULT_SYSTEM, list(messages)


def _turn(role: str, content: str) -> str:
    return f"<|im_start|>{role}\n{neutral(content)}<|im_end|>\n"


def _plain(message: Message) -> str:
    """The text of a turn; calls made earlier stand there as the model writes them."""
    return "\n".join(part for part in (message.content, _written(message.tool_calls)) if part)


def _written(calls: Sequence[ToolCall]) -> str:
    if not calls:
        return ""
    shown = [
        json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False) for call in calls
    ]
    return FAMILY.form.opening + FAMILY.form.separator.join(shown) + FAMILY.form.closing


def _results(messages: list[Message]) -> str:
    """The run of tool results at the start of `messages`, as one turn of the user."""
    found = []
    for message in messages:
        if message.role != "tool":
            break
        found.append(f"<tool_response>\n{message.content}\n</tool_response>")
    return "\n".join(found)


def _tools_block(tools: Sequence[ToolSpec]) -> str:
    if not tools:
        return ""
    lines = [_described(tool) for tool in tools]
    return _block_text().replace("{tools}", "\n".join(lines))


def _described(tool: ToolSpec) -> str:
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps({"type": "function", "function": shown}, ensure_ascii=False)


@lru_cache(maxsize=1)
def _block_text() -> str:
    text = files("surefoot.models").joinpath("prompts/qwen2_5_tools.md").read_text(encoding="utf-8")
    return text.partition("---\n")[2].strip()
