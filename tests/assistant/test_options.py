"""What arguments can be right now, from the kits through the plan's request to its grammar."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from models.gbnf import Grammar
from surefoot import ScriptedModel, tool
from surefoot.errors import StorageError
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.local.requests import grammar_of
from surefoot.models.types import Binding, Capabilities, Request
from surefoot.tools.types import Context

from .support import assistant, plan, titles


def plans(model: ScriptedModel) -> list[Request]:
    return [request for request in model.requests if request.purpose == "plan"]


def writes(request: Request, *made: tuple[str, dict[str, Any]]) -> bool:
    """A model that this request binds may answer with these calls."""
    shown = [json.dumps({"name": n, "arguments": a}, ensure_ascii=False) for n, a in made]
    return Grammar.parse(grammar_of(request, FAMILY)).accepts("```json\n[" + ", ".join(shown) + "]\n```")


async def test_with_nothing_there_nothing_can_be_named():
    """The first plan can only make things; of the dates of the request it can only copy."""
    model = ScriptedModel(plan(("addTask", {"title": "Call Rosa", "due": "Friday"})), "Done.")
    async with assistant(model) as opened:
        await opened.ask("remind me to call Rosa on Friday, at noon")
    asked = plans(model)[0]
    assert asked.bindings["completeTask"] == {"task": Binding()}
    assert not writes(asked, ("completeTask", {"task": "Call Rosa"}))
    assert not writes(asked, ("deleteTask", {"task": "Call Rosa"}))
    assert writes(asked, ("addTask", {"title": "Call Rosa", "due": "on Friday, at noon"}))
    assert not writes(asked, ("addTask", {"title": "Call Rosa", "due": "2026-05-01"}))


@pytest.mark.parametrize(
    ("language", "first", "second", "title", "due", "other"),
    [
        (
            "en",
            "remind me to pay the rent",
            "pay the rent on 3 May instead",
            "Pay the rent",
            "3 May",
            "4 May",
        ),
        ("de", "erinnere mich an die Miete", "die Miete erst am 3. Mai", "Miete", "3. Mai", "4. Mai"),
        ("fr", "rappelle-moi de payer le loyer", "le loyer le 3 mai", "Payer le loyer", "3 mai", "demain"),
        (
            "es",
            "recuérdame pagar el alquiler",
            "el alquiler el 3 de mayo",
            "Pagar el alquiler",
            "3 de mayo",
            "hoy",
        ),
    ],
)
async def test_what_is_there_can_be_named_and_nothing_else(
    language: str, first: str, second: str, title: str, due: str, other: str
):
    """A plan of the second turn names the task of the first one, and copies the date; the change is made."""
    model = ScriptedModel(
        plan(("addTask", {"title": title})),
        "Ok.",
        plan(("updateTask", {"task": title, "due": due})),
        "Ok.",
        always="Ok.",
    )
    async with assistant(model, settings={"language": language}) as opened:
        await opened.ask(first)
        await opened.ask(second)
        rows = await _tasks(opened)
    asked = plans(model)[1]
    assert asked.bindings["updateTask"]["task"] == Binding(texts=(title,))
    assert asked.bindings["reopenTask"]["task"] == Binding()
    assert writes(asked, ("updateTask", {"task": title, "due": due}))
    assert not writes(asked, ("updateTask", {"task": f"{title}!", "due": due}))
    assert not writes(asked, ("updateTask", {"task": title, "due": other}))
    assert not writes(asked, ("reopenTask", {"task": title}))
    assert rows == [(title, "2026-05-03")]


async def _tasks(opened: Any) -> list[tuple[str, str]]:
    from surefoot.tools.kits import tasks

    journal = await opened.journal()
    return [(row["title"], row["due"]) for row in await journal.transact(tasks.list_rows)]


async def test_a_task_that_is_an_appointment_becomes_an_event():
    """The small model called `addTask`; the tool says that an event is meant."""
    model = ScriptedModel(
        plan(("addTask", {"title": "Termin beim Zahnarzt", "due": "morgen um 8 Uhr"})), "Ok.", always="Ok."
    )
    async with assistant(model, settings={"language": "de"}) as opened:
        result = await opened.ask("Termin beim Zahnarzt morgen um 8 Uhr")
        assert await titles(opened, "tasks") == []
    assert [step.tool for step in result.outline.steps if step.tool] == ["addEvent"]


async def test_a_misspelt_day_is_read():
    """The model copied the person's word as it is."""
    model = ScriptedModel(plan(("addTask", {"title": "Call Rosa", "due": "thurday"})), "Ok.", always="Ok.")
    async with assistant(model) as opened:
        await opened.ask("remind me to call Rosa on thurday")
        assert await _tasks(opened) == [("Call Rosa", "2026-04-30")]
    assert writes(plans(model)[0], ("addTask", {"title": "Call Rosa", "due": "thurday"}))


async def test_a_tool_of_ones_own_is_asked_for_its_names():
    """With the context of the run; None leaves the argument free."""
    seen: list[Context] = []

    def lamps(ctx: Context) -> Sequence[str]:
        seen.append(ctx)
        return ["kitchen", 'the "big" one']

    @tool(effect="read", dates=("due",), said=("moods",), options={"lamp": lamps, "room": lambda ctx: None})
    def dim_lamp(lamp: str, due: date | None = None, room: str = "", moods: list[str] | None = None) -> str:
        """Dim a lamp."""
        return f"{lamp} {due} {room} {moods}"

    model = ScriptedModel(plan(("dim_lamp", {"lamp": "kitchen"})), "Ok.", always="Ok.")
    async with assistant(model, dim_lamp, kits=("tasks",)) as opened:
        await opened.ask("dim the lamp in the kitchen tomorrow, warm and cosy")
    asked = plans(model)[0]
    assert set(asked.bindings["dim_lamp"]) == {"lamp", "due", "moods"}
    assert seen[0].tx is not None
    assert seen[0].zone == "Europe/Berlin"
    whole = {"lamp": 'the "big" one', "due": "tomorrow", "room": "anywhere", "moods": ["warm", "cosy"]}
    assert writes(asked, ("dim_lamp", whole))
    for wrong in ({"lamp": "desk"}, {"due": "2026-04-28"}, {"moods": ["cold"]}, {"moods": []}):
        assert not writes(asked, ("dim_lamp", {**whole, **wrong}))


async def test_a_tool_that_cannot_say_what_there_is_leaves_the_name_free():
    """Whatever it raises, the plan is made; a failing database is no matter of the tool's."""

    def broken(ctx: Context) -> Sequence[str]:
        raise LookupError(ctx.run)

    @tool(effect="read", options={"lamp": broken})
    def dim_lamp(lamp: str) -> str:
        """Dim a lamp."""
        return lamp

    model = ScriptedModel(plan(("dim_lamp", {"lamp": "kitchen"})), "Ok.", always="Ok.")
    async with assistant(model, dim_lamp, kits=("tasks",)) as opened:
        await opened.ask("dim the lamp in the kitchen")
    assert "dim_lamp" not in plans(model)[0].bindings

    def failing(ctx: Context) -> Sequence[str]:
        raise StorageError(f"no disk for {ctx.call}")

    @tool(effect="read", options={"lamp": failing})
    def light(lamp: str) -> str:
        """Light a lamp."""
        return lamp

    async with assistant(ScriptedModel(always="Ok."), light, kits=("tasks",)) as opened:
        with pytest.raises(StorageError, match="no disk"):
            await opened.ask("light the lamp in the kitchen")


async def test_without_tools_that_name_things_nothing_is_asked():
    """Dates are bound all the same."""

    @tool(effect="read", dates=("day",))
    def tide(day: date) -> str:
        """When the tide is high."""
        return f"{day}"

    model = ScriptedModel(plan(("tide", {"day": "tomorrow"})), "Ok.", always="Ok.")
    async with assistant(model, tide, kits=()) as opened:
        await opened.ask("when is the tide high tomorrow?")
    asked = plans(model)[0]
    assert asked.bindings == {"tide": {"day": Binding(spans=("when is the tide high tomorrow?",))}}


async def test_a_model_that_no_grammar_binds_is_not_told():
    """A hosted model reads the titles in its prompt, as ever."""
    model = ScriptedModel(
        plan(("addTask", {"title": "Call Rosa"})), "Ok.", always="Ok.", capabilities=Capabilities(tools=True)
    )
    async with assistant(model) as opened:
        await opened.ask("remind me to call Rosa")
    assert {len(request.bindings) for request in plans(model)} == {0}


async def test_the_page_on_writing_tools_is_true():
    """Its program runs: what is there is named, the date is copied, a known plant is watered, and all is undone."""
    page = (Path(__file__).parents[2] / "docs" / "writing-tools.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    made = _module("written_tools", program)
    model = ScriptedModel(plan(("add_plant", {"plant": "Fern", "day": "Friday"})), always="Ok.")
    async with assistant(model, made.water_plant, made.add_plant, kits=()) as opened:
        result = await opened.ask("add the Fern, water it on Friday in the kitchen")
        assert made.watering == {"Fern": "2026-05-01", "Basil": ""}
        await opened.undo(result)
        assert made.watering == {"Fern": "", "Basil": ""}
    asked = plans(model)[0]
    assert writes(asked, ("water_plant", {"plant": "Basil", "day": "on Friday"}))
    assert writes(asked, ("add_plant", {"plant": "Mint", "room": "kitchen", "day": "Friday"}))
    for wrong in ({"plant": "Mint"}, {"day": "2026-05-01"}, {"day": "tomorrow"}):
        assert not writes(asked, ("water_plant", {"plant": "Fern", "day": "Friday", **wrong}))
    assert not writes(asked, ("add_plant", {"plant": "Mint", "room": "bathroom"}))


def _module(name: str, source: str) -> ModuleType:
    made = ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(made))
    return made
