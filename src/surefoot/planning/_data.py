"""The data files of the room, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """The TOML file of that name, `prompts/` in front of a prompt's. Not to be changed: everybody gets the same one."""
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))
