"""langgraph: a graph of two nodes written by hand, its prebuilt agent, and the graph with its SQLite checkpointer.

Saving at exit writes once, when the run is over; `sync` writes every step before the next one begins, which is the
nearest to an intent and a result for every call. Invoked without an event loop, which is its faster way; the graph also
on one, as a program does that works on several things at once.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from functools import cache
from itertools import count
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from worker import DESCRIPTION, DONE, GOAL, NAME, SYSTEM, Clock, Task, arguments, folder, serve

_numbers = count()


class Script:
    """What the model says next."""

    def __init__(self) -> None:
        self.rounds = self.asked = 0

    def start(self, rounds: int) -> None:
        """A new run."""
        self.rounds, self.asked = rounds, 0

    def next(self) -> AIMessage:
        """A call, and at the end words."""
        number = self.asked
        self.asked += 1
        if number == self.rounds:
            return AIMessage(DONE)
        call = {"id": f"c{number}", "name": NAME, "args": arguments(number), "type": "tool_call"}
        return AIMessage("", tool_calls=[call])


SCRIPT = Script()


class ScriptedChat(BaseChatModel):
    """The script as a chat model, for the prebuilt agent."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> ScriptedChat:
        """It knows what it will call."""
        del tools, more
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        del messages, stop, run_manager, more
        return ChatResult(generations=[ChatGeneration(message=SCRIPT.next())])


def ask(state: MessagesState) -> dict[str, Any]:
    """The node of the model."""
    del state
    return {"messages": [SCRIPT.next()]}


def act(state: MessagesState) -> dict[str, Any]:
    """The node of the tools."""
    calls = state["messages"][-1].tool_calls
    return {
        "messages": [
            ToolMessage(json.dumps(Task.add(**call["args"])), tool_call_id=call["id"]) for call in calls
        ]
    }


def after(state: MessagesState) -> str:
    """Where it goes on."""
    return "act" if state["messages"][-1].tool_calls else END


def built() -> StateGraph:
    """The graph before it is compiled."""
    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("act", act)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", after, ["act", END])
    graph.add_edge("act", "ask")
    return graph


def add_task(title: str, due: str) -> str:
    """Add a task."""
    return json.dumps(Task.add(title, due))


GRAPH = built().compile()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it moved to another package; it is still this one's prebuilt agent
    AGENT = create_react_agent(
        ScriptedChat(), [StructuredTool.from_function(add_task, name=NAME, description=DESCRIPTION)]
    )


def begin() -> dict[str, Any]:
    """What a run begins with."""
    return {"messages": [SystemMessage(SYSTEM), HumanMessage(GOAL)]}


def run(graph: Any, rounds: int, **how: Any) -> float:
    """A whole run."""
    SCRIPT.start(rounds)
    config = {"recursion_limit": 2 * rounds + 10, "configurable": {"thread_id": f"t{next(_numbers)}"}}
    with Clock() as clock:
        end = graph.invoke(begin(), config, **how)
    assert end["messages"][-1].content == DONE
    return clock.seconds


async def on_loop(rounds: int) -> float:
    """Nothing is kept; on the event loop, as ours."""
    SCRIPT.start(rounds)
    with Clock() as clock:
        end = await GRAPH.ainvoke(begin(), {"recursion_limit": 2 * rounds + 10})
    assert end["messages"][-1].content == DONE
    return clock.seconds


async def graph(rounds: int) -> float:
    """Nothing is kept."""
    return run(GRAPH, rounds)


async def agent(rounds: int) -> float:
    """Nothing is kept."""
    return run(AGENT, rounds)


@cache
def saving() -> Any:
    """The graph with a file; its runs are threads of one file."""
    connection = sqlite3.connect(folder() / "langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA synchronous=NORMAL")  # as all durable sides; it sets WAL itself
    saver = SqliteSaver(connection)
    saver.setup()
    return built().compile(checkpointer=saver)


async def at_exit(rounds: int) -> float:
    """Saved when it is over."""
    return run(saving(), rounds, durability="exit")


async def each_step(rounds: int) -> float:
    """Saved at every step."""
    return run(saving(), rounds, durability="sync")


if __name__ == "__main__":
    serve(
        {"graph": graph, "on_loop": on_loop, "agent": agent, "exit": at_exit, "step": each_step},
        ("langgraph", "langgraph-prebuilt", "langgraph-checkpoint-sqlite"),
    )
