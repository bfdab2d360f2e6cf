"""Words in, words out: one language model behind one protocol, one file a provider.

The names in `__all__` load when first used, so that importing the room costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.models.address import AddressPolicy
    from surefoot.models.registry import default_model, open_model, planner_model
    from surefoot.models.scripted import ScriptedModel

__all__ = ["AddressPolicy", "ScriptedModel", "default_model", "open_model", "planner_model"]

_HOME_OF = {
    "AddressPolicy": "surefoot.models.address",
    "ScriptedModel": "surefoot.models.scripted",
    "default_model": "surefoot.models.registry",
    "open_model": "surefoot.models.registry",
    "planner_model": "surefoot.models.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
