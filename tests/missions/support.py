"""Missions on real kits, a real journal and a scripted model."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from surefoot import Assistant, ScriptedModel
from surefoot.missions import store
from surefoot.missions.execution import open_tx
from surefoot.missions.rows import new_id
from surefoot.missions.types import Agent, Mission
from surefoot.models.types import ToolCall
from surefoot.settings import load_settings
from surefoot.tools.types import Actor, Tool

NOW = datetime(2026, 4, 27, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
ME = Actor("person", "me")
KITS = ("notes", "tasks", "memory")


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(f"id {name} {sorted(map(str, arguments.values()))}", name, arguments)


def assistant(model: ScriptedModel, *tools: Tool, **extra: Any) -> Assistant:
    """With the person's data folder of the test, and a clock that stands."""
    settings = extra.pop("settings", {})
    chosen = load_settings(**{"zone": "Europe/Berlin", "language": "en", **settings})
    return Assistant(
        model=model, tools=tools, settings=chosen, **{"kits": KITS, "clock": lambda: NOW, **extra}
    )


async def write(ours: Assistant, work: Any) -> Any:
    """In one transaction of the journal's database."""
    return await (await ours.journal()).transact(lambda tx: work(open_tx(tx)))


async def mission(ours: Assistant, **fields: Any) -> Mission:
    """A mission that is there."""
    made = Mission(
        new_id(), **{"title": "Shopping", "goal": "Put milk on the list", "kits": ("tasks",), **fields}
    )
    return await write(ours, lambda tx: store.create(tx, made, actor=ME, now=NOW))


async def agent(ours: Assistant, **fields: Any) -> Agent:
    """An agent that is there."""
    made = Agent(new_id(), **{"name": "Ada", **fields})
    return await write(ours, lambda tx: store.create_agent(tx, made, actor=ME, now=NOW))


async def titles(ours: Assistant) -> list[str]:
    """Titles of the tasks there are."""
    from surefoot.tools.kits import tasks

    return sorted(row["title"] for row in await write(ours, tasks.list_rows))
