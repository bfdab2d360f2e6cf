"""The built-in kits, each imported when it is asked for.

Notes, tasks, calendar, memory, quizzes and articles keep their rows in the journal's database, so that what they write
commits together with the journal's entry, and is taken back by setting rows as they were.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from surefoot.errors import MisuseError

if TYPE_CHECKING:
    from surefoot.tools.types import Tool

KITS = ("notes", "tasks", "calendar", "files", "web", "weather", "memory", "quizzes", "articles")
"""In this order their tools stand in the prompt; the order is part of the cached prefix."""


def builtin(names: Iterable[str] | None = None) -> list[Tool]:
    """The tools of these kits (of all, by default), in the order of `KITS`.

    Raises:
        MisuseError: there is no kit of a name.
    """
    wanted = KITS if names is None else tuple(names)
    for name in wanted:
        if name not in KITS:
            raise MisuseError(f"There is no kit {name!r}.", f"There are: {', '.join(KITS)}.", name=name)
    return [tool for kit in KITS if kit in wanted for tool in import_module(f"{__name__}.{kit}").TOOLS]
