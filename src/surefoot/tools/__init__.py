"""What a plan may call: tools made from functions, their arguments, the catalogue, dates, and the built-in kits.

`tool` makes one from a typed function; `catalogue.Catalogue` holds them; `arguments.prepare` coerces and validates what
a model wrote; `dates.resolve_date` reads a date as a person says it; `kits.builtin` gives the built-in ones.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.tools.arguments import prepare
    from surefoot.tools.catalogue import Catalogue
    from surefoot.tools.dates import Moment, resolve_date
    from surefoot.tools.decorator import tool
    from surefoot.tools.types import Actor, Context, Effect, Tool, Undo

__all__ = [
    "Actor",
    "Catalogue",
    "Context",
    "Effect",
    "Moment",
    "Tool",
    "Undo",
    "prepare",
    "resolve_date",
    "tool",
]

_HOMES = {
    "Actor": "types",
    "Catalogue": "catalogue",
    "Context": "types",
    "Effect": "types",
    "Moment": "dates",
    "Tool": "types",
    "Undo": "types",
    "prepare": "arguments",
    "resolve_date": "dates",
    "tool": "decorator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
