"""One conversation: route -> plan -> remember -> run -> answer, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.assistant.assistant import Assistant
    from surefoot.assistant.handle import RunHandle, RunResult

__all__ = ["Assistant", "RunHandle", "RunResult"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    homes = {"Assistant": "assistant", "RunHandle": "handle", "RunResult": "handle"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"surefoot.assistant.{homes[name]}"), name)
