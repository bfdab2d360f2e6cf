"""A model that picks among the best of the ranking."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surefoot import ScriptedModel, tool
from surefoot.assistant.picking import read_names
from surefoot.assistant.router import BEST, FEW
from surefoot.errors import ProviderUnavailableError
from surefoot.models.types import Capabilities, Completion, Usage

from .support import assistant


def zoo(number: int) -> Any:
    @tool(name=f"zebra{number}", effect="read", kit=f"zoo{number}")
    def zebra(count: int) -> int:
        """Count the stripes of a zebra."""
        return count

    return zebra


ZOO = [zoo(number) for number in range(30)]


def routed(monkeypatch: pytest.MonkeyPatch, router: ScriptedModel) -> None:
    async def open_model(name: str, settings: Any) -> Any:
        assert name == "scripted:router"
        return router

    monkeypatch.setattr("surefoot.models.open_model", open_model, raising=False)


async def offered(
    monkeypatch: pytest.MonkeyPatch, router: ScriptedModel, *, tools: Any = ZOO, query: str = "zebra stripes"
) -> tuple[set[str], Any]:
    """The zebras that the planner may call, and the result."""
    routed(monkeypatch, router)
    model = ScriptedModel("Nothing.", "ok")
    async with assistant(
        model, *tools, kits=("tasks",), settings={"router_model": "scripted:router"}
    ) as ours:
        result = await ours.ask(query)
        events = [event.data for event in await (await ours.journal()).events(result.id)]
        result.run.context["purposes"] = [data["purpose"] for data in events if "purpose" in data]
    only = model.requests[0].only
    return set(only or ()), result


async def test_it_picks_among_the_twenty_best_in_one_counted_and_journaled_call(monkeypatch):
    """The person's own kits stay; the call is bound by a schema of exactly those names."""
    router = ScriptedModel('{"tools": ["zebra3", "zebra5", "invented"]}', usage=Usage(50, 0, 7))
    names, result = await offered(monkeypatch, router)
    assert {name for name in names if name.startswith("zebra")} == {"zebra3", "zebra5"}
    assert "addTask" in names
    (request,) = router.requests
    assert request.json_schema is not None
    listed = request.json_schema["properties"]["tools"]["items"]["enum"]
    assert len(listed) == BEST
    assert all(f"{name}(" in request.messages[1].content for name in listed)
    assert result.run.context["purposes"] == ["route", "plan", "reply"]
    assert result.model_calls == 3
    assert result.usage.prompt_tokens >= 50
    assert router.closed


@pytest.mark.parametrize(
    "answer",
    ["", "none of them", '{"tools": []}', "[1, null]", ProviderUnavailableError("down"), RuntimeError("odd")],
)
async def test_whatever_goes_wrong_the_ranking_stands(monkeypatch, answer):
    """Fail-open: what is ranked best passes, and the turn goes on."""
    names, result = await offered(monkeypatch, ScriptedModel(answer))
    assert len([name for name in names if name.startswith("zebra")]) == BEST
    assert result.exit_code == 0


async def test_a_slow_router_is_not_waited_for(monkeypatch):
    """It has the planner's time."""
    routed(monkeypatch, ScriptedModel(always="{}", delay=5))
    model = ScriptedModel("Nothing.", "ok")
    settings = {"router_model": "scripted:router", "planner_timeout_sec": 0.05}
    async with assistant(model, *ZOO, kits=(), settings=settings) as ours:
        assert (await ours.ask("zebra stripes")).reply == "ok"


@pytest.mark.parametrize(("tools", "query"), [(ZOO[: FEW - 6], "zebra stripes"), (ZOO, "xyzzy"), (ZOO, "ok")])
async def test_nothing_is_asked_where_nothing_is_to_be_picked(monkeypatch, tools, query):
    """Few tools, no match, or no plan at all."""
    router = ScriptedModel()
    await offered(monkeypatch, router, tools=tools, query=query)
    assert router.requests == []


@pytest.mark.parametrize("grammar", [True, False])
async def test_a_model_without_schemas_is_bound_by_a_grammar_or_read_tolerantly(monkeypatch, grammar):
    """The same names, whatever it can do."""
    able = Capabilities(grammar=grammar, encoding="lines" if grammar else "text")
    router = ScriptedModel("I pick zebra3, and zebra5.", capabilities=able)
    names, _ = await offered(monkeypatch, router)
    assert {name for name in names if name.startswith("zebra")} == {"zebra3", "zebra5"}
    (request,) = router.requests
    assert request.json_schema is None
    assert bool(request.grammar and "zebra3" in request.grammar) is grammar


async def test_the_model_that_answers_may_route_too(monkeypatch):
    """It is opened once."""
    model = ScriptedModel('{"tools": ["zebra3"]}', "Nothing.", "ok")
    async with assistant(model, *ZOO, kits=(), settings={"router_model": model.name}) as ours:
        await ours.ask("zebra stripes")
    assert [request.purpose for request in model.requests] == ["route", "plan", "reply"]
    assert not model.closed


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (json.dumps({"tools": ["b", "a"]}), ("a", "b")),
        (json.dumps(["b"]), ("b",)),
        (json.dumps("a.b-c"), ("a.b-c",)),
        ("a.b-c and b", ("b", "a.b-c")),
        ('```json\n["b"]\n```', ("b",)),
        ("ab", ()),
        (json.dumps({"tools": {"a": 1}}), ()),
        (json.dumps({"other": ["a"]}), ()),
    ],
)
def test_names_are_read_whole_from_json_or_text(text, names):
    """Only names that are there, each whole."""
    assert read_names(Completion(text), ("a", "b", "a.b-c")) == names
