"""Runs in a process of its own, to be killed: asks, resumes or undoes, and says when it has begun.

python victim.py ask|resume|undo FOLDER [RUN]
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from surefoot import Assistant, Context, Effect, ScriptedModel, Undo, load_settings, tool
from surefoot.models.types import Request, ToolCall

STEPS = 10
LOOP = bool(os.environ.get("VICTIM_LOOP"))
"""Without a plan, in the native loop: two rounds of calls."""


def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
    path = Path(ctx.services["shelf"]) / arguments["name"]
    return {"text": path.read_text() if path.exists() else None}


STAYS = float(os.environ.get("VICTIM_STAYS", "0.01"))


def at(place: str, seconds: float = 0.01) -> None:
    """Tell whoever kills us where we are, and stay there for a moment."""
    sys.stdout.write(f"{place}\n")
    sys.stdout.flush()
    time.sleep(seconds)


def restore(ctx: Context, arguments: dict[str, Any], image: Any) -> None:
    at("restore")
    path = Path(ctx.services["shelf"]) / arguments["name"]
    if image["text"] is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(image["text"])


@tool(effect=Effect.WRITE, undo=Undo(capture, restore))
def put(ctx: Context, name: str) -> str:
    """Write outside the database. It appends, so a second time would show."""
    at("before", STAYS)
    with (Path(ctx.services["shelf"]) / name).open("a") as file:
        file.write("once.")
    at("after")
    return name


def answer(request: Request) -> Any:
    rounds = sum(bool(message.tool_calls) for message in request.messages)
    if LOOP and rounds < 2:
        return calls_of(range(rounds * STEPS // 2, (rounds + 1) * STEPS // 2))
    return calls_of(range(STEPS)) if request.purpose == "plan" else "All done."


def calls_of(numbers: range) -> list[ToolCall]:
    calls = []
    for number in numbers:
        calls.append(ToolCall(f"a{number}", "addTask", {"title": f"T{number}"}))
        calls.append(ToolCall(f"b{number}", "put", {"name": f"f{number}"}))
    return calls


def assistant(folder: Path) -> Assistant:
    settings = load_settings(
        data_dir=folder,
        zone="UTC",
        language="en",
        max_steps=2 * STEPS,
        planner_enabled=not LOOP,
        limits={"writes": 100, "calls_per_tool": 100},
    )
    shelf = folder / "shelf"
    shelf.mkdir(exist_ok=True)
    return Assistant(
        model=ScriptedModel(always=answer),
        kits=("tasks",),
        tools=[put],
        settings=settings,
        services={"shelf": str(shelf)},
    )


async def main(what: str, folder: Path, run: str) -> None:
    async with assistant(folder) as ours:
        at("begun")
        if what == "ask":
            await ours.ask("many tasks please")
        elif what == "resume":
            await ours.resume(run)
        else:
            await ours.undo(run)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "last"))
