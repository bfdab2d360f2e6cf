"""The floor in memory: the loop that anybody would write by hand in twenty lines, with nothing kept or checked."""

from __future__ import annotations

import json
from typing import Any

from worker import DONE, GOAL, NAME, SYSTEM, Clock, Task, arguments, serve

TOOLS = {NAME: Task.add}


class Script:
    """A model on which nobody waits."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.asked = 0

    async def complete(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """A call with its arguments as JSON text, as providers send them; at the end words."""
        del messages
        number = self.asked
        self.asked += 1
        if number == self.rounds:
            return {"role": "assistant", "content": DONE}
        call = {"id": f"c{number}", "name": NAME, "arguments": json.dumps(arguments(number))}
        return {"role": "assistant", "content": "", "tool_calls": [call]}


async def loop(rounds: int) -> float:
    """Ask, call, tell, until it answers."""
    model = Script(rounds)
    with Clock() as clock:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOAL}]
        while True:
            answer = await model.complete(messages)
            messages.append(answer)
            if not answer.get("tool_calls"):
                break
            for call in answer["tool_calls"]:
                result = TOOLS[call["name"]](**json.loads(call["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
    assert answer["content"] == DONE
    return clock.seconds


if __name__ == "__main__":
    serve({"loop": loop})
