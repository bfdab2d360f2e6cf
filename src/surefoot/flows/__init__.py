"""The flow language: its steps, its one checker, its guide and schema, facts and secrets.

A flow is a script of plain-language steps for web pages and desktop applications. The names in `__all__` load when
first used, so that importing the room costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.flows.checker import check_flow
    from surefoot.flows.facts import FactNames, Facts
    from surefoot.flows.flow import Flow
    from surefoot.flows.guide import flow_guide
    from surefoot.flows.problems import Problem
    from surefoot.flows.schema import flow_schema
    from surefoot.flows.source import read_flow

__all__ = ["FactNames", "Facts", "Flow", "Problem", "check_flow", "flow_guide", "flow_schema", "read_flow"]

_HOME_OF = {
    "FactNames": "surefoot.flows.facts",
    "Facts": "surefoot.flows.facts",
    "Flow": "surefoot.flows.flow",
    "Problem": "surefoot.flows.problems",
    "check_flow": "surefoot.flows.checker",
    "flow_guide": "surefoot.flows.guide",
    "flow_schema": "surefoot.flows.schema",
    "read_flow": "surefoot.flows.source",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
