"""From a model's text to clean lines: thinking dropped, fences opened, list markers and wrapping quotes taken off."""

from __future__ import annotations

import re
from typing import Final

from surefoot.planning.vocabulary import Vocabulary
from surefoot.planning.words import words

_THINKING: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPEN_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>", re.IGNORECASE)
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_BOLD: Final = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_WRAPPING: Final = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」"}
_TAGS: Final = re.compile(r"</?tool_calls?>|\[/?TOOL_CALLS\]", re.IGNORECASE)
_TAGGED: Final = re.compile(
    rf"^[ \t]*(?:{_TAGS.pattern}).*$|^.*(?:{_TAGS.pattern})[ \t]*$", re.IGNORECASE | re.MULTILINE
)
MAX_MARKERS: Final = 4
"""`1. - [ ] **a)** x` has four; more are text."""


def after_thinking(text: str) -> str:
    """What follows the last closing tag of thinking; nothing when thinking was opened and never closed."""
    closing = list(_THINKING.finditer(text))
    if closing:
        return text[closing[-1].end() :]
    return "" if _OPEN_THINKING.match(text) else text


def fenced(text: str) -> list[str]:
    """The contents of the fenced blocks, in order. A fence counts only at the start of a line; the last may be open."""
    marks = list(_FENCE.finditer(text))
    blocks = []
    for index in range(0, len(marks), 2):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        blocks.append(text[marks[index].end() : end])
    return blocks


def without_fences(text: str) -> str:
    """The text without the fence lines themselves."""
    return _FENCE.sub("", text)


def without_tags(text: str) -> str:
    """The text without the tags some models put around a call, in the lines that start or end with one."""
    if "tool_call" not in text.casefold():
        return text
    return _TAGGED.sub(lambda line: _TAGS.sub("\n", line.group()), text)


def clean(line: str, known: Vocabulary) -> str:
    """A line without list markers, emphasis, wrapping quotes and backticks; a known name at the start stops it."""
    line = line.strip()
    for _ in range(MAX_MARKERS):
        if known.name_at(line):
            return line
        shorter = _unwrapped(_without_marker(line), known)
        if shorter == line:
            return line
        line = shorter
    return line


def _without_marker(line: str) -> str:
    if line.startswith(("**", "__")):
        line = _BOLD.sub(r"\2", line, count=1)
    found = words().marker.match(line)
    return line[found.end() :].lstrip() if found else line


def _unwrapped(line: str, known: Vocabulary) -> str:
    """The line without quotes around all of it, or backticks around it or its first word."""
    if line.startswith("`"):
        end = line.find("`", 1)
        return (line[1:end] + line[end + 1 :]).strip() if end > 0 else line[1:].strip()
    inner = line[1:-1].strip() if len(line) > 1 and _WRAPPING.get(line[0]) == line[-1] else ""
    if inner and (known.name_at(inner) or not set(inner) & {line[0], line[-1]}):
        return inner
    return line


def is_heading(line: str) -> bool:
    """A title or a rule, not a step: `ACTION PLAN:`, `# Plan`, `---`."""
    return line.endswith((":", "：")) or line.startswith("#") or not any(mark.isalnum() for mark in line)
