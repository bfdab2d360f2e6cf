"""An assistant on real kits and a real journal, with a scripted model."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from surefoot import Assistant, ScriptedModel
from surefoot.models.types import ToolCall
from surefoot.settings import load_settings
from surefoot.tools.types import Tool

NOW = datetime(2026, 4, 27, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


def plan(*calls: tuple[str, dict[str, Any]]) -> list[ToolCall]:
    """What a planner's model answers: these calls."""
    return [ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(calls)]


def assistant(
    model: ScriptedModel, *tools: Tool, settings: dict[str, Any] | None = None, **extra: Any
) -> Assistant:
    """With the person's data folder of the test, and a clock that stands."""
    chosen = load_settings(**{"zone": "Europe/Berlin", "language": "en", **(settings or {})})
    extra = {"kits": ("notes", "tasks", "calendar", "memory"), "clock": lambda: NOW, **extra}
    return Assistant(model=model, tools=tools, settings=chosen, **extra)


async def titles(opened: Assistant, kind: str) -> list[str]:
    """Titles of the living rows."""
    from surefoot.tools.kits import notes, tasks

    kit = {"notes": notes, "tasks": tasks}[kind]
    journal = await opened.journal()
    return sorted(row["title"] for row in await journal.transact(kit.list_rows))
