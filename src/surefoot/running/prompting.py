"""Prompts are files with a version; this reads those of the loop."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_FIELD = re.compile(r"\{([a-z_]+)\}")


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md` without its header."""
    text = files("surefoot.running").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return text.split("---", 2)[2].strip()


def filled(name: str, **fields: str) -> str:
    """The same with `{name}` replaced; what is put in is not looked at again, whatever it holds."""
    return _FIELD.sub(lambda found: fields.get(found.group(1), found.group()), prompt(name))
