"""DBOS: the bare loop as a durable workflow, each model call and each tool call a step, on SQLite."""

from __future__ import annotations

import atexit
import json
from typing import Any

import sqlalchemy
from dbos import DBOS, DBOSConfig
from worker import DONE, GOAL, NAME, SYSTEM, Clock, Task, arguments, folder, serve

TOOLS = {NAME: Task.add}


class Script:
    """What the model says next."""

    rounds = 0


@DBOS.step()
async def ask(number: int) -> dict[str, Any]:
    """A call, and at the end words."""
    if number == Script.rounds:
        return {"role": "assistant", "content": DONE}
    call = {"id": f"c{number}", "name": NAME, "arguments": json.dumps(arguments(number))}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


@DBOS.step()
async def act(name: str, given: str) -> str:
    """The tool."""
    return json.dumps(TOOLS[name](**json.loads(given)))


@DBOS.workflow()
async def loop() -> str:
    """Ask, call, tell, until it answers."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": GOAL},
    ]
    number = 0
    while True:
        answer = await ask(number)
        number += 1
        messages.append(answer)
        if not answer.get("tool_calls"):
            return str(answer["content"])
        for call in answer["tool_calls"]:
            result = await act(call["name"], call["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


async def workflow(rounds: int) -> float:
    """A whole run."""
    Script.rounds = rounds
    with Clock() as clock:
        answer = await loop()
    assert answer == DONE
    return clock.seconds


@sqlalchemy.event.listens_for(sqlalchemy.Engine, "connect")
def cheap(connection: Any, record: Any) -> None:
    """As all durable sides: its own choice waits for the disk at every commit and is several times slower."""
    del record
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def launch() -> None:
    """The engine with a file of its own."""
    url = f"sqlite:///{folder() / 'dbos.db'}"
    config: DBOSConfig = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
    DBOS(config=config)
    DBOS.launch()
    atexit.register(DBOS.destroy)


if __name__ == "__main__":
    launch()
    serve({"workflow": workflow}, ("dbos",))
