"""smolagents: its agent that calls tools by name, with a scripted model, silent and with its own log."""

from __future__ import annotations

import json
from typing import Any

from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from worker import DESCRIPTION, DONE, GOAL, NAME, SYSTEM, Clock, Task, arguments, serve


class Script(Model):
    """What the model says next."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = self.asked = 0

    def generate(self, messages: Any, **more: Any) -> ChatMessage:
        """A call; at the end the call by which its agents answer."""
        del messages, more
        number = self.asked
        self.asked += 1
        if number == self.rounds:
            function = ChatMessageToolCallFunction(arguments={"answer": DONE}, name="final_answer")
        else:
            function = ChatMessageToolCallFunction(arguments=arguments(number), name=NAME)
        call = ChatMessageToolCall(function=function, id=f"c{number}", type="function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call])


class AddTask(Tool):  # type: ignore[misc]
    """The tool."""

    name = NAME
    description = DESCRIPTION
    inputs = {  # noqa: RUF012 - its own form of a tool
        "title": {"type": "string", "description": "What to do."},
        "due": {"type": "string", "description": "The day."},
    }
    output_type = "string"

    def forward(self, title: str, due: str) -> str:
        """Do it."""
        return json.dumps(Task.add(title, due))


def run(rounds: int, level: LogLevel) -> float:
    """A whole run. The agent keeps its history, so each run has a new one; making it is not timed."""
    script = Script()
    script.rounds = rounds
    one = ToolCallingAgent(
        [AddTask()], script, instructions=SYSTEM, max_steps=rounds + 5, verbosity_level=level
    )
    with Clock() as clock:
        answer = one.run(GOAL)
    assert answer == DONE
    return clock.seconds


async def agent(rounds: int) -> float:
    """Silent: its fastest."""
    return run(rounds, LogLevel.OFF)


async def logged(rounds: int) -> float:
    """As it comes: every step is drawn for a terminal. It goes to a file here."""
    return run(rounds, LogLevel.INFO)


if __name__ == "__main__":
    serve({"agent": agent, "logged": logged}, ("smolagents",))
