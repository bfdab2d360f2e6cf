"""What happened: runs, calls with their images, model calls, events, messages, memories.

`SqlJournal` keeps it in a database, `MemoryJournal` in this process only. The contract is `journal.types.Journal`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.journal.memory import MemoryJournal
    from surefoot.journal.sql import SqlJournal

__all__ = ["MemoryJournal", "SqlJournal"]

_HOMES = {"MemoryJournal": "memory", "SqlJournal": "sql"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
