"""openai-agents: its runner with a model that is scripted; tracing, which sends over the network, is off."""

from __future__ import annotations

import json
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from worker import DESCRIPTION, DONE, GOAL, NAME, PARAMETERS, SYSTEM, Clock, Task, arguments, serve

set_tracing_disabled(disabled=True)


class Script(Model):
    """What the model says next."""

    def __init__(self) -> None:
        self.rounds = self.asked = 0

    async def get_response(self, *given: Any, **more: Any) -> ModelResponse:
        """A call, and at the end words."""
        del given, more
        number = self.asked
        self.asked += 1
        output: Any = _words() if number == self.rounds else _call(number)
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **more: Any) -> Any:
        """Not asked for."""
        raise NotImplementedError


def _call(number: int) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call",
        id=f"f{number}",
        call_id=f"c{number}",
        name=NAME,
        arguments=json.dumps(arguments(number)),
    )


def _words() -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text=DONE, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[text]
    )


async def add_task(context: Any, given: str) -> str:
    """The tool, with its arguments as text: the cheapest form it offers."""
    del context
    return json.dumps(Task.add(**json.loads(given)))


SCRIPT = Script()
AGENT = Agent(
    name="lists",
    instructions=SYSTEM,
    model=SCRIPT,
    tools=[
        FunctionTool(
            name=NAME, description=DESCRIPTION, params_json_schema=PARAMETERS, on_invoke_tool=add_task
        )
    ],
)


async def agent(rounds: int) -> float:
    """A whole run."""
    SCRIPT.rounds, SCRIPT.asked = rounds, 0
    with Clock() as clock:
        result = await Runner.run(AGENT, GOAL, max_turns=rounds + 5)
    assert result.final_output == DONE
    return clock.seconds


if __name__ == "__main__":
    serve({"agent": agent}, ("openai-agents",))
