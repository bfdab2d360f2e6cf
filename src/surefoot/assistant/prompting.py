"""Prompts are files with a version; this reads them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


def one_line(text: str) -> str:
    """Data on one line: only we begin a line of a prompt, so no data can pass for a heading or another entry."""
    return " ".join(text.split())


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md` without its header."""
    text = files("surefoot.assistant").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return text.split("---", 2)[2].strip()
