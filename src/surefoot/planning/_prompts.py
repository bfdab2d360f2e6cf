"""Prompts are files with a version, so that what was asked can be told apart in a journal and in a cache key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text and version."""

    text: str
    version: str


@lru_cache(maxsize=32)
def prompt(name: str) -> Prompt:
    """The prompt `prompts/<name>.md`; its head is `version: N` and a line of dashes."""
    source = (
        resources.files("surefoot.planning").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    )
    head, _, text = source.partition("\n---\n")
    return Prompt(text.strip(), head.removeprefix("version:").strip())
