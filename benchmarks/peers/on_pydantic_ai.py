"""pydantic-ai: its agent with its own scripted model (`FunctionModel`)."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from worker import DONE, GOAL, NAME, SYSTEM, Clock, Task, arguments, serve


class Script:
    """What the model says next."""

    def __init__(self) -> None:
        self.rounds = self.asked = 0

    async def next(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        """A call, and at the end words."""
        del messages, info
        number = self.asked
        self.asked += 1
        if number == self.rounds:
            return ModelResponse([TextPart(DONE)])
        return ModelResponse([ToolCallPart(NAME, arguments(number), tool_call_id=f"c{number}")])


SCRIPT = Script()
AGENT = Agent(FunctionModel(SCRIPT.next), instructions=SYSTEM)


@AGENT.tool_plain(name=NAME)
async def add_task(title: str, due: str) -> dict[str, Any]:
    """Add a task."""
    return Task.add(title, due)


async def agent(rounds: int) -> float:
    """A whole run."""
    SCRIPT.rounds, SCRIPT.asked = rounds, 0
    with Clock() as clock:
        result = await AGENT.run(GOAL, usage_limits=UsageLimits(request_limit=None))
    assert result.output == DONE
    return clock.seconds


if __name__ == "__main__":
    serve({"agent": agent}, ("pydantic-ai-slim",))
