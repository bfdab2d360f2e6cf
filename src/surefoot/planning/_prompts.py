"""Prompts are files with a version, so that what was asked can be told apart in a journal and in a cache key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

_FIELD: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text and version."""

    text: str
    version: str

    def fill(self, **fields: str) -> str:
        """The text with `{name}` replaced. What is put in is not looked at again, whatever it holds."""
        return _FIELD.sub(lambda found: fields.get(found.group(1), found.group()), self.text)

    def fill_paragraphs(self, **fields: str) -> str:
        """The same, without the paragraphs whose field is empty."""
        kept = [
            part
            for part in self.text.split("\n\n")
            if all(fields.get(name, name) for name in _FIELD.findall(part))
        ]
        return Prompt("\n\n".join(kept), self.version).fill(**fields)


@lru_cache(maxsize=32)
def prompt(name: str) -> Prompt:
    """The prompt `prompts/<name>.md`; its head is `version: N` and a line of dashes."""
    source = (
        resources.files("surefoot.planning").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    )
    head, _, text = source.partition("\n---\n")
    return Prompt(text.strip(), head.removeprefix("version:").strip())
