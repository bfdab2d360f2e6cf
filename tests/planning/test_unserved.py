"""Wishes that a plan has no call for are found, and asked about once more."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Capabilities, Completion, FinishReason, ToolCall
from surefoot.planning.grounding import Ground
from surefoot.planning.outline import Outline
from surefoot.planning.parse import outline_of_calls
from surefoot.planning.planner import OutlinePlanner
from surefoot.planning.queries import joined
from surefoot.planning.things import Thing
from surefoot.planning.unserved import left_over, parts_of
from surefoot.planning.vocabulary import vocabulary
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())
NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)  # a Monday
THINGS = (
    Thing("task", "Buy cat food"),
    Thing("task", "Katzenfutter kaufen"),
    Thing("event", "Lab meeting", date(2026, 3, 3)),
    Thing("event", "Jour fixe Vertrieb", date(2026, 3, 5)),
    Thing("task", "Send invoice to Dmitri"),
)


def plan_of(*calls):
    return outline_of_calls(list(calls), vocabulary(TOOLS), 9)


def left(said, *calls, language="en"):
    found = left_over(plan_of(*calls), Ground(said, things=THINGS, now=NOW, language=language), TOOLS)
    return found.text, [thing.title for thing in found.things]


@pytest.mark.parametrize(
    ("said", "calls", "text", "things"),
    [
        (
            "note that the paint is matt, and the cat food is bought",
            [("addNote", {"title": "Paint", "text": "the paint is matt"})],
            "and the cat food is bought",
            ["Buy cat food"],
        ),
        (
            "erinner mich morgen an die Wurmkur, ach ja katzenfutter kaufen ist erledigt",
            [("addTask", {"title": "Wurmkur", "due": "morgen"})],
            "ach ja katzenfutter kaufen ist erledigt",
            ["Katzenfutter kaufen"],
        ),
        (
            "block out tomorrow afternoon for the report, and tick off the cat food",
            [("completeTask", {"task": "Buy cat food"})],
            "block out tomorrow afternoon for the report",
            [],
        ),
        (
            "der Jour fixe ist Donnerstag erst um 11, und Anna anrufen als Aufgabe",
            [("addTask", {"title": "Anna anrufen"})],
            "der Jour fixe ist Donnerstag erst um 11",
            ["Jour fixe Vertrieb"],
        ),
    ],
)
def test_a_named_thing_or_a_said_date_without_a_call_is_left_over(said, calls, text, things):
    """The part of the request that names it, and what is named there."""
    assert left(said, *calls) == (text, things)


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("cat food is bought", [("completeTask", {"task": "Buy cat food"})]),
        ("cancel tomorrow's meeting", [("deleteEvent", {"event": "Lab meeting"})]),
        ("dentist on friday at 3", [("addEvent", {"title": "Dentist", "start": "friday at 3"})]),
        (
            "send Anna the invoice by friday",
            [("addTask", {"title": "Send Anna the invoice", "due": "friday"})],
        ),
        ("what is on tomorrow?", [("listEvents", {})]),
        ("thanks, see you tomorrow", []),
    ],
)
def test_what_a_call_serves_is_not_left_over(said, calls):
    """A named thing that is changed, a day that a changed thing lies on, a date that was copied; and no plan at all."""
    assert left(said, *calls) == ("", [])


def test_a_plan_that_missed_most_of_a_request_is_left_alone():
    """With more than two parts left over, asking again would be planning again."""
    said = "lunch on friday, gym on tuesday, choir on wednesday, milk"
    assert left(said, ("addTask", {"title": "Milk"})) == ("", [])


def test_without_a_clock_nothing_is_left_over():
    """Dates cannot be read then."""
    outline = plan_of(("addTask", {"title": "Milk"}))
    assert left_over(outline, Ground("milk. cat food is bought", things=THINGS), TOOLS).text == ""


def test_values_inside_lists_and_objects_count_as_served():
    """Whatever a call holds, its words were used."""
    calls = [("addQuestions", {"quiz": "x", "questions": [{"question": "cat food?", "answers": ["bought"]}]})]
    assert left("ask about the cat food bought", *calls) == ("", [])


def test_parts_end_at_marks_and_joining_words():
    """A figure's full stop ends no part."""
    assert parts_of("am 3. Mai Oma anrufen, und Brot holen. Danke") == [
        "am 3. Mai Oma anrufen",
        "und Brot holen",
        "Danke",
    ]


def test_joined_plans_keep_their_numbers_and_their_limit():
    """Calls about the same thing are not made twice; placeholders follow; the reply stays last."""
    first = plan_of(("listTasks", {}), ("completeTask", {"task": "<each task id from step 1>"}))
    more = plan_of(
        ("listTasks", {}),
        ("listNotes", {"search": "x"}),
        ("tagNote", {"note": "<each note id from step 2>", "tag": "y"}),
    )
    whole = joined(first, more, 5)
    assert [step.tool for step in whole.steps] == ["listTasks", "completeTask", "listNotes", "tagNote"]
    assert whole.steps[3].arguments["note"] == "<each note id from step 3>"
    assert [step.tool for step in joined(first, more, 3).steps] == ["listTasks", "completeTask", "listNotes"]
    assert joined(first, more, 2) == first
    assert joined(first, Outline(), 5) == first


def answer(*calls):
    made = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(calls))
    return Completion("", made, FinishReason.TOOL_CALLS)


async def test_what_is_left_over_is_asked_once_more_and_joined():
    """The second call has the part alone, may name only what is named there, and no placeholders."""
    model = ScriptedModel(
        answer(("addTask", {"title": "Wurmkur", "due": "morgen"})),
        answer(("completeTask", {"task": "Katzenfutter kaufen"})),
        capabilities=Capabilities(tools=True, grammar=True, encoding="own"),
    )
    planner = OutlinePlanner(model, Settings(language="de"), TOOLS)
    options = {"completeTask": {"task": ["Katzenfutter kaufen", "Buy cat food"]}, "deleteNote": {"note": []}}
    result = await planner.plan(
        "erinner mich morgen an die Wurmkur, ach ja katzenfutter kaufen ist erledigt",
        now=NOW,
        known=['task "Katzenfutter kaufen"', 'task "Buy cat food"'],
        options=options,
        things=THINGS,
        check=model.complete,
    )
    assert [step.tool for step in result.outline.steps if step.tool] == ["addTask", "completeTask"]
    again = model.requests[1]
    assert again.messages[-1].content.endswith("The request: ach ja katzenfutter kaufen ist erledigt")
    assert again.bindings["completeTask"]["task"].texts == ("Katzenfutter kaufen",)
    assert not again.placeholders
    assert "Buy cat food" not in again.messages[-1].content


async def test_without_a_second_asker_nothing_is_asked_again():
    """A planner used alone makes one call."""
    model = ScriptedModel(
        answer(("addTask", {"title": "Wurmkur", "due": "morgen"})),
        capabilities=Capabilities(tools=True, grammar=True, encoding="own"),
    )
    planner = OutlinePlanner(model, Settings(language="de"), TOOLS)
    said = "erinner mich morgen an die Wurmkur, ach ja katzenfutter kaufen ist erledigt"
    result = await planner.plan(said, now=NOW, options={}, things=THINGS)
    assert [step.tool for step in result.outline.steps if step.tool] == ["addTask"]
