"""What a model makes up is taken out; what was said in other words is not."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Capabilities, ToolCall
from surefoot.planning.grounding import Ground, grounded, titles_in
from surefoot.planning.parse import outline_of_calls
from surefoot.planning.planner import OutlinePlanner
from surefoot.planning.things import Thing
from surefoot.planning.vocabulary import vocabulary
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())


MONDAY = datetime(2026, 5, 4, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


def kept(said, *calls, language="en", now=MONDAY, **there):
    outline = outline_of_calls(list(calls), vocabulary(TOOLS), 9)
    found = grounded(outline, TOOLS, Ground(said, now=now, language=language, **there))
    return [(step.tool, step.arguments) for step in found.steps if step.tool]


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
            {"title": "x", "start": "morgen", "place": "Mühle"},
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
@pytest.mark.parametrize("now", [MONDAY, None])
def test_optional_texts_that_nobody_said_are_dropped(said, arguments, left, now):
    """Required ones, figures and dates stay, whatever was said, with a clock and without."""
    assert set(kept(said, ("addEvent", arguments), now=now)[0][1]) == left


def test_tags_stay_when_one_of_them_was_said():
    """A list goes only as a whole."""
    assert kept("note it, tag home", ("addNote", {"title": "x", "tags": ["home", "idea"]}))[0][1]["tags"]
    assert "tags" not in kept("note it", ("addNote", {"title": "x", "tags": ["home", "idea"]}))[0][1]


def test_what_is_already_there_is_not_made_again_unless_it_was_named():
    """A title that was only copied from the list of what is there; one word of it is not its name."""
    known = ['task "Fix bike light", due Tue 3 Nov', 'note "Tea": green']
    new = ("addTask", {"title": "Buy milk"})
    copied = ("addTask", {"title": "Fix bike light"})
    assert kept("buy milk", new, copied, known=known) == [new]
    assert kept("buy milk and for the bike", new, copied, known=known) == [new]
    assert kept("buy milk and fix the bike's light again", new, copied, known=known) == [new, copied]
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
    for now in (None, MONDAY):
        assert grounded(outline, foreign, Ground("how warm is it in Rome", now=now)) == outline
    assert kept("x", ("listNotes", {"search": "travel"})) == [("listNotes", {"search": "travel"})]


@pytest.mark.parametrize(("grammar", "place"), [(True, False), (False, True)])
async def test_only_the_bound_form_is_looked_at(grammar, place):
    """Larger models are trusted with what they write."""
    call = ToolCall("c", "addEvent", {"title": "Dentist", "start": "friday", "place": "Mill"})
    able = Capabilities(tools=True, grammar=grammar, encoding="own")
    planner = OutlinePlanner(ScriptedModel([call], capabilities=able), Settings(), TOOLS)
    result = await planner.plan("dentist on friday")
    assert ("place" in result.outline.steps[0].arguments) is place


# --- one wish, one thing; what was meant ---------------------------------------------------------------------------

THINGS = (
    Thing("task", "Pay rent", date(2026, 5, 4)),
    Thing("task", "Post parcel", date(2026, 5, 4)),
    Thing("task", "Paint balcony", date(2026, 5, 23)),
    Thing("event", "Dentist", date(2026, 5, 8)),
    Thing("event", "Dentist check", date(2026, 5, 11)),
    Thing("note", "Tea", text="green"),
)
TITLES = ["Pay rent", "Post parcel", "Paint balcony"]


@pytest.mark.parametrize(
    ("language", "said", "left"),
    [
        ("en", "everything that was due today is done, tick it off", TITLES[:2]),
        ("de", "Alles, was heute fällig war, ist erledigt", TITLES[:2]),
        ("fr", "Tout ce qui était pour aujourd'hui est fait", TITLES[:2]),
        ("es", "Lo que vencía hoy ya está hecho", TITLES[:2]),
        ("en", "today and tomorrow are done", TITLES[:2]),
        ("en", "today is done, and the balcony too", TITLES),
        ("en", "today is done, and that of Saturday the 23rd of May", TITLES),
        ("en", "all my tasks are done", TITLES),
        ("de", "Aufgaben sind fertig", TITLES),
        ("en", "the parcel is on its way", TITLES[1:2]),
        ("en", "good morning to you", []),
    ],
)
def test_a_thing_that_nobody_named_and_of_another_day_is_left_alone(language, said, left):
    """Where something else of the plan is meant, or nothing of its kind was named."""
    plan = [("completeTask", {"task": title}) for title in TITLES]
    found = kept(said, *plan, language=language, things=THINGS)
    assert [arguments["task"] for _, arguments in found] == left


def test_without_a_clock_nothing_is_known_to_be_meant():
    """So nothing is taken out for it."""
    plan = [("completeTask", {"task": title}) for title in TITLES]
    assert kept("good morning to you", *plan, things=THINGS, now=None) == plan


def test_the_only_thing_of_a_plan_stays_whatever_its_day():
    """Nothing else is of the day that was said, and the kind of thing was."""
    call = ("completeTask", {"task": "Paint balcony"})
    assert kept("what I had to do for today is done", call, things=THINGS) == [call]


@pytest.mark.parametrize("talk", ["Your balcony is due on Saturday.", "balcón... Paint?"])
def test_what_was_talked_about_is_meant(talk):
    """A word of the conversation names it as well."""
    call = ("deleteTask", {"task": "Paint balcony"})
    assert kept("off with it", call, things=THINGS, talk=talk) == [call]
    assert kept("off with it", call, things=THINGS) == []


def test_the_date_that_a_change_sets_says_not_which_thing_is_meant():
    """What is on Monday already is not meant by "to Monday", but by "of Monday"."""
    things = (*THINGS[:4], Thing("event", "Choir", date(2026, 5, 11)))
    dentist = ("updateEvent", {"event": "Dentist", "start": "to monday"})
    choir = ("deleteEvent", {"event": "Choir"})
    assert kept("the dentist goes to monday", dentist, choir, things=things) == [dentist]
    tuesday = ("updateEvent", {"event": "Dentist", "start": "tuesday"})
    said = "the dentist goes to tuesday, and away with that thing of monday"
    assert kept(said, tuesday, choir, things=things)[1:] == [choir]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "when is the dentist?"),
        ("de", "Wann ist der Termin beim Dentist?"),
        ("fr", "Qu'est-ce que j'ai vendredi ?"),
        ("es", "¿Cuándo es la cita?"),
    ],
)
def test_a_question_changes_nothing(language, said):
    """What a plan lists for it stays."""
    listed = ("listEvents", {"since": "friday"})
    changes = (
        ("updateEvent", {"event": "Dentist", "start": "friday"}),
        ("addEvent", {"title": "Dentist", "start": "friday"}),
    )
    assert kept(said, changes[0], listed, changes[1], language=language, things=THINGS) == [listed]
    assert kept(said.replace("?", ""), listed, changes[1], language=language, things=THINGS) != [listed]


def test_a_title_that_is_only_a_date_makes_nothing():
    """It was copied into both."""
    assert kept("the milk by friday", ("addTask", {"title": "Friday", "due": "friday"})) == []


def test_what_belongs_to_a_new_thing_is_done_to_it():
    """A bound model can name only what is there already."""
    note = ("addNote", {"title": "Paint", "text": "The paint is matt."})
    found = kept(
        "note that the paint is matt. label it home",
        note,
        ("tagNote", {"note": "Tea", "tag": "home"}),
        things=THINGS,
    )
    assert found == [note, ("tagNote", {"note": "Paint", "tag": "home"})]


def test_another_call_is_meant_by_what_is_there():
    """A note is not written twice, whatever the case of its title; of a task with that title nothing follows."""
    call = ("addNote", {"title": "tea", "text": "green, mint"})
    assert kept("add mint to tea", call, things=THINGS) == [
        ("updateNote", {"note": "Tea", "text": "green, mint"})
    ]
    assert kept("add mint to tea", call, things=(Thing("task", "Tea"),)) == [call]


def test_titles_are_those_of_the_lines():
    """Lines of another form have none."""
    lines = [
        'task "Pay rent", due today',
        'note "Thé": vert',
        'note "a" [home]: x',
        'note "say "hi""',
        '"first": task "Pay rent"',
        "nothing",
        "",
    ]
    assert titles_in(lines) == ["Pay rent", "Thé", "a", 'say "hi"']


@pytest.mark.parametrize(
    ("tags", "left"),
    [
        (["<tag from step 1>"], {"title", "tags"}),
        (["room 3"], {"title", "tags"}),
        ([], {"title", "tags"}),
        (["tomorrow"], {"title", "tags"}),
        (["..."], {"title", "tags"}),
        (["travel"], {"title"}),
    ],
)
def test_what_may_have_been_said_in_other_words_stays(tags, left):
    """Placeholders, figures, dates and what has no words."""
    assert set(kept("note it", ("addNote", {"title": "x", "tags": tags}))[0][1]) == left


def test_one_wish_makes_one_thing():
    """A note with the title of the task before it is one too many; two tasks of one title are the executor's to merge."""
    calls = [
        ("addTask", {"title": "Second tin", "due": "the 14th"}),
        ("addNote", {"title": "second tin", "text": "one for my to-dos"}),
        ("addTask", {"title": "Second tin", "due": "the 15th"}),
    ]
    found = kept("a second tin by the 14th, one for my to-dos", *calls)
    assert [name for name, _ in found] == ["addTask", "addTask"]


def test_a_wish_about_one_thing_is_not_turned_to_another_of_the_day():
    """The day was said of the parcel, and the rent by its name."""
    things = (THINGS[0], Thing("task", "Post parcel", date(2026, 5, 8)))
    plan = [
        ("completeTask", {"task": "Pay rent"}),
        ("updateTask", {"task": "Post parcel", "due": "monday"}),
    ]
    assert kept("the rent is paid, and move the parcel of friday to monday", *plan, things=things) == plan


MEETING = Thing("event", "Jour fixe", date(2026, 5, 6))


@pytest.mark.parametrize(
    ("said", "call", "left"),
    [
        ("the Jour fixe is in Room 204 now", {}, {"place": "Room 204"}),
        (
            "move the Jour fixe from Wednesday to Friday",
            {"start": "Wednesday", "end": "Friday"},
            {"start": "Friday"},
        ),
        (
            "Jour fixe Tuesday to Friday",
            {"start": "Tuesday", "end": "Friday"},
            {"start": "Tuesday", "end": "Friday"},
        ),
        (
            "Jour fixe 14:00 until 15:00",
            {"start": "14:00", "end": "15:00"},
            {"start": "14:00", "end": "15:00"},
        ),
    ],
)
def test_a_change_of_an_appointment_has_the_place_and_the_day_that_were_said(said, call, left):
    """A place that was left out is found; "from Monday to Tuesday" of what is on Monday is a move."""
    found = kept(said, ("updateEvent", {"event": "Jour fixe", **call}), things=(MEETING,))
    assert [arguments for _, arguments in found] == [{"event": "Jour fixe", **left}]


def test_with_several_changes_the_sentence_about_the_appointment_says_its_place():
    """A place that was said of something else is none of it."""
    calls = (
        ("updateEvent", {"event": "Jour fixe", "start": "Tuesday"}),
        ("addTask", {"title": "Call"}),
    )
    said = "Jour fixe goes to Tuesday in Room 204. And I have to call in Berlin"
    assert kept(said, *calls, things=(MEETING,))[0][1]["place"] == "Room 204"
    said = "Jour fixe goes to Tuesday. And I have to call in Berlin"
    assert "place" not in kept(said, *calls, things=(MEETING,))[0][1]
    said = "Jour fixe goes to Tuesday. And I have to call in Berlin. Jour fixe it is"
    assert "place" not in kept(said, *calls, things=(MEETING,))[0][1]


def test_a_change_that_changes_nothing_is_left_out():
    """What it should become was not said; ticking off and deleting need no more than a name."""
    things = (Thing("task", "Gutters"),)
    assert kept("put the gutters back", ("updateTask", {"task": "Gutters"}), things=things) == []
    done = ("completeTask", {"task": "Gutters"})
    assert kept("the gutters are clean", done, things=things) == [done]


def test_what_stays_is_neither_deleted_nor_ticked_off():
    """Who keeps it names it; a new date for it is another matter."""
    things = (Thing("task", "Gutters"), Thing("task", "Oven"))
    calls = [("deleteTask", {"task": "Gutters"}), ("deleteTask", {"task": "Oven"})]
    assert kept("delete gutters, keep oven", *calls, things=things) == calls[:1]
    later = ("updateTask", {"task": "Oven", "due": "friday"})
    assert kept("delete gutters, leave oven for friday", calls[0], later, things=things) == [calls[0], later]


def test_a_new_title_is_spelt_as_it_was_said():
    """The model made a longer word of it."""
    call = ("addEvent", {"title": "Kindergartenarzt", "start": "mittwoch"})
    assert kept("mittwoch kinderarzt", call, language="de") == [
        ("addEvent", {"title": "Kinderarzt", "start": "mittwoch"})
    ]


def test_done_tasks_are_cleared_and_not_ticked_off_again():
    """Ticking off what is done would change nothing."""
    calls = [("listTasks", {"status": "done"}), ("completeTask", {"task": "<each task id from step 1>"})]
    assert [tool for tool, _ in kept("clear out my completed tasks", *calls)] == ["listTasks", "deleteTask"]
    calls[0] = ("listTasks", {"status": "overdue"})
    assert [tool for tool, _ in kept("tick off the overdue ones", *calls)] == ["listTasks", "completeTask"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The door of the shed is 38B14.", "The door of the shed"),
        ("The key hangs in Oslo", None),
        ("It is it", None),
    ],
)
def test_a_note_whose_title_was_copied_is_called_by_its_text(text, title):
    """The text was said; where it was not either, the note is made up."""
    call = ("addNote", {"title": "Cellar code", "text": text})
    found = kept("note: the door of the shed is 38B14", call, known=['note "Cellar code": 1207'])
    assert [arguments["title"] for _, arguments in found] == ([title] if title else [])


def test_a_step_that_names_a_result_of_a_change_is_made_up():
    """A change reveals nothing; a new note has an id."""
    things = (Thing("task", "Slides"), Thing("note", "Tea"))
    calls = [("completeTask", {"task": "Slides"}), ("deleteTask", {"task": "<lenses, from step 1>"})]
    assert kept("slides are done", *calls, things=things) == calls[:1]
    calls = [
        ("addNote", {"title": "Paint", "text": "matt"}),
        ("tagNote", {"note": "<note id, from step 1>", "tag": "home"}),
    ]
    assert kept("note paint matt, label it home", *calls) == calls
