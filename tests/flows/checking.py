"""What the tests of the checker share: flows in one line, and problems as codes."""

from __future__ import annotations

from typing import Any

from surefoot.flows.checker import check_flow
from surefoot.flows.facts import FactNames
from surefoot.flows.problems import Problem

CARD = "4111 1111 1111 1111"
"""The networks' published number for tests."""
NAMES = FactNames(("email", "city", "first name"), ("card number", "card cvv", "access key"))


def flow(*steps: Any, app: Any = "browser", **more: Any) -> dict[str, Any]:
    return {"app": app, **more, "steps": list(steps)}


def found(*steps: Any, names: FactNames = NAMES, app: Any = "browser", **more: Any) -> list[Problem]:
    return check_flow(flow(*steps, app=app, **more), names)


def codes(*steps: Any, **more: Any) -> list[str]:
    return [problem.code for problem in found(*steps, **more)]


def at(*steps: Any, **more: Any) -> list[tuple[str, str]]:
    return [(problem.path, problem.code) for problem in found(*steps, **more)]
