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
from surefoot.planning.unserved import _kin, left_over, parts_of
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
            "remind me tomorrow of the ITV, the cat foods have been buyed",
            [("addTask", {"title": "ITV", "due": "tomorrow"})],
            "the cat foods have been buyed",
            ["Buy cat food"],
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


ABLE = Capabilities(tools=True, grammar=True, encoding="own")


async def planned_with(model, said, *, things=THINGS, known=(), only=None):
    planner = OutlinePlanner(model, Settings(language="en"), TOOLS)
    options = {"updateTask": {"task": [thing.title for thing in things if thing.kind == "task"]}}
    return await planner.plan(
        said, now=NOW, known=known, options=options, things=things, only=only, check=model.complete
    )


@pytest.mark.parametrize("broken", ["left_over", "bindings"])
async def test_a_second_call_that_fails_does_not_cost_the_first_plan(broken, monkeypatch):
    """Whatever goes wrong when it is looked for, or asked about, what is left over: the plan stays."""
    model = ScriptedModel(answer(("addTask", {"title": "Deworming", "due": "tomorrow"})), capabilities=ABLE)
    planner, calls = OutlinePlanner(model, Settings(language="en"), TOOLS), []

    def fail(*_):
        calls.append(broken)
        raise RuntimeError("broken")

    said = "remind me tomorrow of the deworming, and the cat food is bought"
    if broken == "left_over":
        monkeypatch.setattr("surefoot.planning.planner.left_over", fail)
        result = await planner.plan(said, now=NOW, options={}, things=THINGS, check=model.complete)
    else:
        monkeypatch.setattr("surefoot.planning.planner.bindings", fail)
        result = await planner.plan(said, now=NOW, things=THINGS, check=model.complete)
    assert calls == [broken]
    assert [step.tool for step in result.outline.steps if step.tool] == ["addTask"]
    assert result.failed is None


async def test_a_plan_of_which_nothing_is_left_is_made_again_without_its_tools():
    """A change that changes nothing was another call; the tool that was tried cannot be named again."""
    model = ScriptedModel(
        answer(("updateTask", {"task": "Buy cat food", "due": "open"})),
        answer(("reopenTask", {"task": "Buy cat food"})),
        capabilities=ABLE,
    )
    result = await planned_with(model, "put the cat food back to open please")
    assert [step.tool for step in result.outline.steps if step.tool] == ["reopenTask"]
    assert "updateTask" not in model.requests[1].only
    assert "reopenTask" in model.requests[1].only


async def test_what_was_copied_is_hidden_and_the_tool_may_make_it_again():
    """A new appointment with the title of an old one is asked for without the line it came from."""
    model = ScriptedModel(
        answer(("addTask", {"title": "Send invoice to Dmitri", "due": "friday"})),
        answer(("addTask", {"title": "Physio", "due": "friday"})),
        capabilities=ABLE,
    )
    known = ['task "Send invoice to Dmitri"', 'task "Buy cat food"']
    result = await planned_with(model, "physio on friday", known=known, only=["addTask", "updateTask"])
    assert [step.arguments.get("title") for step in result.outline.steps if step.tool] == ["Physio"]
    asked = model.requests[1].messages[-1].content
    assert "Dmitri" not in asked
    assert "Buy cat food" in asked
    assert "addTask" in model.requests[1].only


async def test_a_second_refusal_ends_it():
    """It is asked once more, and no further."""
    call = answer(("updateTask", {"task": "Buy cat food", "due": "open"}))
    model = ScriptedModel(call, call, capabilities=ABLE)
    result = await planned_with(model, "put the cat food back to open please")
    assert len(model.requests) == 2
    assert not any(step.tool for step in result.outline.steps)


def test_a_greeting_is_no_date():
    """Who says "Guten Morgen" names no day."""
    calls = [("addTask", {"title": "Wurmkur", "due": "freitag"})]
    assert left("Guten Morgen! Wären Sie so freundlich? Wurmkur am freitag", *calls, language="de") == (
        "",
        [],
    )
    assert left("Good morning! wormkur on friday", ("addTask", {"title": "x", "due": "friday"})) == ("", [])


@pytest.mark.parametrize(
    ("word", "other", "kin"),
    [
        ("llamar", "llamado", True),
        ("anrufen", "anruf", True),
        ("llamar", "llover", False),
        ("bank", "banco", False),
    ],
)
def test_forms_of_a_word_name_a_thing(word, other, kin):
    """With endings of their own, not only longer ones."""
    assert _kin(word, other) is kin
    assert _kin(other, word) is kin
