"""What a model makes up is taken out; what was said in other words is not."""

from __future__ import annotations

import pytest

from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Capabilities, ToolCall
from surefoot.planning.grounding import grounded
from surefoot.planning.parse import outline_of_calls
from surefoot.planning.planner import OutlinePlanner
from surefoot.planning.vocabulary import vocabulary
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())


def kept(said, *calls, known=()):
    outline = grounded(outline_of_calls(list(calls), vocabulary(TOOLS), 9), TOOLS, said, known)
    return [(step.tool, step.arguments) for step in outline.steps if step.tool]


@pytest.mark.parametrize(
    ("said", "arguments", "left"),
    [
        (
            "dentist on friday",
            {"title": "Dentist", "start": "friday", "place": "St Mary's"},
            {"title", "start"},
        ),
        (
            "dentist at the mill",
            {"title": "Dentist", "start": "friday", "place": "Mill"},
            {"title", "start", "place"},
        ),
        (
            "Zahnarzt in den Mühlen",
            {"title": "x", "start": "y", "place": "Mühle"},
            {"title", "start", "place"},
        ),
        (
            "dentist for an hour",
            {"title": "Dentist", "start": "3pm", "end": "4pm"},
            {"title", "start", "end"},
        ),
        (
            "dentist till noon",
            {"title": "Dentist", "start": "9am", "end": "midday"},
            {"title", "start", "end"},
        ),
        ("医者 明日 銀座", {"title": "医者", "start": "明日", "place": "銀座"}, {"title", "start", "place"}),
        ("医者 明日", {"title": "医者", "start": "明日", "place": "新宿"}, {"title", "start"}),
    ],
)
def test_optional_texts_that_nobody_said_are_dropped(said, arguments, left):
    """Required ones, figures and dates stay, whatever was said."""
    assert set(kept(said, ("addEvent", arguments))[0][1]) == left


def test_tags_stay_when_one_of_them_was_said():
    """A list goes only as a whole."""
    assert kept("note it, tag home", ("addNote", {"title": "x", "tags": ["home", "idea"]}))[0][1]["tags"]
    assert "tags" not in kept("note it", ("addNote", {"title": "x", "tags": ["home", "idea"]}))[0][1]


def test_what_is_already_there_is_not_made_again_unless_it_was_named():
    """A title that was only copied from the list of what is there."""
    known = ['task "Fix bike light", due Tue 3 Nov', 'note "Tea": green']
    new = ("addTask", {"title": "Buy milk"})
    copied = ("addTask", {"title": "Fix bike light"})
    assert kept("buy milk", new, copied, known=known) == [new]
    assert kept("buy milk and the bike again", new, copied, known=known) == [new, copied]
    assert kept("buy milk", new, copied) == [new, copied]


def test_a_step_for_each_item_needs_a_step_that_lists():
    """A write lists nothing; numbers of later placeholders follow."""
    calls = (
        ("addTask", {"title": "Buy milk"}),
        ("updateTask", {"task": "<each task id from step 1>", "due": "Friday"}),
        ("listNotes", {"search": "milk"}),
        ("tagNote", {"note": "<each note id from step 3>", "tag": "milk"}),
    )
    assert kept("buy milk", *calls) == [
        calls[0],
        calls[2],
        ("tagNote", {"note": "<each note id from step 2>", "tag": "milk"}),
    ]


def test_reads_and_foreign_tools_are_left_alone():
    """Their optional texts may be units or languages that nobody has to say."""
    weather = {
        "name": "forecast",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        },
    }
    foreign = Catalogue.from_function_schemas([weather])
    outline = outline_of_calls([("forecast", {"city": "Rome", "unit": "celsius"})], vocabulary(foreign), 5)
    assert grounded(outline, foreign, "how warm is it in Rome", ()) is outline
    assert kept("x", ("listNotes", {"search": "travel"})) == [("listNotes", {"search": "travel"})]


@pytest.mark.parametrize(("grammar", "place"), [(True, False), (False, True)])
async def test_only_the_bound_form_is_looked_at(grammar, place):
    """Larger models are trusted with what they write."""
    call = ToolCall("c", "addEvent", {"title": "Dentist", "start": "friday", "place": "Mill"})
    able = Capabilities(tools=True, grammar=grammar, encoding="own")
    planner = OutlinePlanner(ScriptedModel([call], capabilities=able), Settings(), TOOLS)
    result = await planner.plan("dentist on friday")
    assert ("place" in result.outline.steps[0].arguments) is place


# --- one wish, one thing; the day that was said ------------------------------------------------------------------

KNOWN_DAYS = (
    'task "Pay rent", due today',
    'task "Post parcel", due today',
    'task "Paint balcony", due Sat 23 May',
)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("everything that was due today is done, tick it off", ["Pay rent", "Post parcel"]),
        ("Alles, was heute fällig war, ist erledigt", ["Pay rent", "Post parcel"]),
        ("today is done, and the balcony too", ["Pay rent", "Post parcel", "Paint balcony"]),
        ("all of it is done", ["Pay rent", "Post parcel", "Paint balcony"]),
        ("today and tomorrow are done", ["Pay rent", "Post parcel", "Paint balcony"]),
    ],
)
def test_a_thing_of_another_day_that_nobody_named_is_left_alone(said, left):
    """Only where one day was said, and something else of the plan is of that day."""
    titles = ("Pay rent", "Post parcel", "Paint balcony")
    plan = [("completeTask", {"task": title}) for title in titles]
    found = kept(said, *plan, known=KNOWN_DAYS)
    assert [arguments["task"] for _, arguments in found] == left


def test_the_only_thing_of_a_plan_stays_whatever_its_day():
    """Nothing else is of the day that was said, so the day says nothing."""
    call = ("completeTask", {"task": "Paint balcony"})
    assert kept("what I had for today is done", call, known=KNOWN_DAYS) == [call]


def test_one_wish_makes_one_thing():
    """A note with the title of the task before it is one too many; two tasks of one title are the executor's to merge."""
    calls = [
        ("addTask", {"title": "Second tin", "due": "the 14th"}),
        ("addNote", {"title": "second tin", "text": "one for my to-dos"}),
        ("addTask", {"title": "Second tin", "due": "the 15th"}),
    ]
    found = kept("a second tin by the 14th, one for my to-dos", *calls)
    assert [name for name, _ in found] == ["addTask", "addTask"]
