"""Where everything is kept: one database, one writer thread, one set of tables, migrations from the first day.

`metadata` holds every table; rooms register theirs there. `Database` opens a file and runs functions in transactions.
`Prepared` is a statement that is compiled once. Each loads when first used: SQLAlchemy costs more than `--help` may.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.storage.database import Database
    from surefoot.storage.prepared import Prepared
    from surefoot.storage.schema import metadata

__all__ = ["Database", "Prepared", "metadata"]

_HOMES = {"Database": "database", "Prepared": "prepared", "metadata": "schema"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
