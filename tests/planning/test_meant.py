"""Which of several changes were asked for."""

from __future__ import annotations

from datetime import date

import pytest

from surefoot.planning.meant import Meant, new_dates, same, shares, telling, writes
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.things import Thing
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = {tool.name: tool for tool in Catalogue(builtin())}
FRIDAY = date(2026, 5, 8)
THINGS = (
    Thing("task", "Pay rent", date(2026, 5, 4)),
    Thing("task", "Zaun streichen", FRIDAY),
    Thing("event", "Dentist", FRIDAY),
    Thing("event", "Dentist check", date(2026, 5, 9)),
    Thing("note", "Thé à la menthe"),
    Thing("note", "Ölwechsel"),
)


def call(tool, **arguments):
    return Step("", StepKind.TOOL, tool, arguments)


def meant(said, *days):
    return Meant(said, frozenset(days), THINGS, TOOLS)


def unmeant(said, *steps, days=()):
    """Places of the steps that nobody meant."""
    found, outline = meant(said, *days), Outline(steps)
    return [at for at, step in enumerate(steps) if found.is_unmeant(step, outline)]


@pytest.mark.parametrize(
    ("text", "words"),
    [("TV reparieren", ["tv", "reparieren"]), ("PC to the shop", ["pc", "shop"]), ("go to it", [])],
)
def test_short_names_in_capitals_tell(text, words):
    """`TV` names a thing; articles and prepositions of two letters do not."""
    assert telling(text) == words


RENT, FENCE = call("completeTask", task="Pay rent"), call("completeTask", task="Zaun streichen")


@pytest.mark.parametrize(
    ("said", "steps", "days", "places"),
    [
        ("the rent is paid", (RENT, FENCE), (), [1]),
        ("der Zaunn ist gestrichen, streichn fertig", (RENT, FENCE), (), [0]),
        ("Die Zäune sind gestrichen, der Zaun ist fertig", (RENT, FENCE), (), [0]),
        ("what was for friday is done", (RENT, FENCE), (FRIDAY,), [0]),
        ("rent and friday", (RENT, FENCE), (FRIDAY,), []),
        ("my tasks are done", (RENT, FENCE), (), []),
        ("meine Aufgaben sind erledigt", (FENCE,), (), []),
        ("toutes mes tâches", (RENT,), (), []),
        ("mis tareas", (RENT,), (), []),
        ("hello there", (RENT,), (), [0]),
        ("hello there", (RENT, FENCE), (), [0, 1]),
        ("der ÖLWECHSEL ist fertig", (call("deleteNote", note="Ölwechsel"),), (), []),
        ("la menthe", (call("deleteNote", note="Thé à la menthe"),), (), []),
        ("the", (call("deleteNote", note="Thé à la menthe"),), (), [0]),
    ],
)
def test_a_change_is_meant_by_a_name_a_day_or_its_kind(said, steps, days, places):
    """By its kind only while no other change of the plan is meant."""
    assert unmeant(said, *steps, days=days) == places


def test_only_changes_of_things_that_are_there_are_looked_at():
    """New things, lists, unknown titles and tools, and words for the person."""
    steps = (
        call("addTask", title="Buy milk"),
        call("listTasks", since="friday"),
        call("completeTask", task="Nothing of the kind"),
        call("completeTask", task="<each task id from step 2>"),
        call("another", task="Pay rent"),
        Step("reply", StepKind.REPLY, arguments={"task": "Pay rent"}),
    )
    assert unmeant("hello there", *steps) == []
    assert all(meant("hello").thing_of(step) is None for step in steps)


@pytest.mark.parametrize(
    ("said", "steps", "places"),
    [
        (
            "move the dentist to monday",
            (
                call("updateEvent", event="Dentist", start="monday"),
                call("updateEvent", event="Dentist check", start="monday"),
            ),
            [1],
        ),
        (
            "dentist lunch on monday",
            (
                call("addEvent", title="Dentist lunch", start="monday"),
                call("updateEvent", event="Dentist check", start="monday"),
            ),
            [1],
        ),
        (
            "the dentist check and the dentist to monday",
            (
                call("updateEvent", event="Dentist", start="monday"),
                call("updateEvent", event="Dentist check", start="monday"),
            ),
            [],
        ),
        (
            "move the dentist to monday and the other dentist to friday",
            (
                call("updateEvent", event="Dentist", start="monday"),
                call("updateEvent", event="Dentist check", start="friday"),
            ),
            [],
        ),
        (
            "away with the dentist",
            (call("deleteEvent", event="Dentist"), call("deleteEvent", event="Dentist check")),
            [],
        ),
        (
            "dentist things on monday",
            (
                call("addEvent", start="monday"),
                Step("reply", StepKind.REPLY, arguments={"start": "monday"}),
                call("updateEvent", event="Dentist check", start="monday"),
            ),
            [],
        ),
    ],
)
def test_one_wish_does_not_become_two_changes_for_a_word_that_two_share(said, steps, places):
    """The same date for a thing that was named in full, or a new one, and for another that shares a word."""
    assert unmeant(said, *steps) == places


NOTE = call("addNote", title="Paint", text="The paint is matt.")


@pytest.mark.parametrize(
    ("said", "steps", "note"),
    [
        ("the paint is matt. label it home", (NOTE, call("tagNote", note="Ölwechsel", tag="home")), "Paint"),
        ("the paint is matt. label oil", (NOTE, call("tagNote", note="Ölwechsel", tag="home")), "Paint"),
        ("paint. label olwechsel", (NOTE, call("tagNote", note="Ölwechsel", tag="home")), "Ölwechsel"),
        ("label it home", (call("tagNote", note="Ölwechsel", tag="home"), NOTE), "Ölwechsel"),
        ("two", (NOTE, NOTE, call("tagNote", note="Ölwechsel", tag="home")), "Ölwechsel"),
        ("a task", (call("addTask", title="x"), call("tagNote", note="Ölwechsel", tag="home")), "Ölwechsel"),
        (
            "old",
            (call("updateNote", note="x", title="y"), call("tagNote", note="Ölwechsel", tag="home")),
            "Ölwechsel",
        ),
        (
            "none",
            (call("addNote"), call("another"), call("tagNote", note="Ölwechsel", tag="home")),
            "Ölwechsel",
        ),
    ],
)
def test_it_is_the_thing_that_was_just_made(said, steps, note):
    """When the plan makes one thing of the kind before, and nobody named what the step changes."""
    outline = Outline(steps)
    step = next(one for one in steps if one.tool == "tagNote")
    assert meant(said).of_new_thing(step, outline).arguments == {"note": note, "tag": "home"}


def test_a_step_that_changes_nothing_is_about_nothing_new():
    """The very same step."""
    for step in (NOTE, call("listNotes", search="oil"), Step("reply", StepKind.REPLY)):
        assert meant("hello").of_new_thing(step, Outline((NOTE, step))) is step


def test_new_dates_are_those_that_writes_set():
    """What a list asks for says which things are meant."""
    steps = (
        call("listTasks", since="friday"),
        call("addEvent", title="x", start="monday", end="noon"),
        call("updateTask", task="x", due=7),
        call("completeTask", task="x"),
        call("another", due="sunday"),
        Step("reply", StepKind.REPLY),
    )
    assert sorted(new_dates(Outline(steps), TOOLS)) == ["monday", "noon"]


@pytest.mark.parametrize(("name", "found"), [("addTask", True), ("listTasks", False), ("another", False)])
def test_writes_can_be_taken_back(name, found):
    """An unknown tool writes nothing."""
    assert writes(TOOLS.get(name)) is found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dentist, at St Mary's", ["dentist", "mary"]),
        ("der Zahnarzt in Köln", ["zahnarzt", "koln"]),
        ("les clés du café", ["cles", "cafe"]),
        ("la cita con Íñigo", ["cita", "inigo"]),
        ("医者", ["医者"]),
        ("a 7 of", []),
        ("", []),
    ],
)
def test_telling_words_are_those_that_say_something(text, words):
    """No articles, nothing short in scripts with spaces."""
    assert telling(text) == words


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ("Fix bike light", ["bike"], True),
        ("Fix bike light", ["light", "milk"], True),
        ("Fix bike light", ["milk"], False),
        ("the", ["milk"], True),
        ("", [], True),
    ],
)
def test_a_text_shares_a_word_or_has_none(text, said, found):
    """One without telling words cannot be foreign."""
    assert shares(text, said) is found


@pytest.mark.parametrize(
    ("word", "other", "found"),
    [
        ("bike", "bike", True),
        ("task", "tasks", True),
        ("zaun", "zaune", True),
        ("tea", "team", False),
        ("bike", "like", False),
    ],
)
def test_a_longer_form_is_the_same_word(word, other, found):
    """Both ways round; three letters begin too many words."""
    assert same(word, other) is same(other, word) is found


@pytest.mark.parametrize(
    ("said", "step", "days", "title"),
    [
        ("cancel the dentist of saturday", call("deleteEvent", event="Dentist check"), (), "Dentist check"),
        ("the check on friday", call("deleteEvent", event="Dentist check"), (FRIDAY,), "Dentist check"),
        ("the dentist on friday", call("deleteEvent", event="Dentist check"), (FRIDAY,), "Dentist"),
        ("le dentiste: dentist vendredi", call("deleteEvent", event="Dentist check"), (FRIDAY,), "Dentist"),
        (
            "the dentist check on friday",
            call("deleteEvent", event="Dentist check"),
            (FRIDAY,),
            "Dentist check",
        ),
        ("that thing on friday", call("deleteEvent", event="Dentist check"), (FRIDAY,), "Dentist check"),
        ("the rent, and the zaun on friday", call("completeTask", task="Pay rent"), (FRIDAY,), "Pay rent"),
        ("the dentist on friday", call("listEvents", since="friday"), (FRIDAY,), None),
    ],
)
def test_of_two_that_share_a_word_the_one_of_the_day_is_meant(said, step, days, title):
    """Not one that another word of the request names, and not when the title was said in full."""
    found = meant(said, *days).of_said_day(step)
    assert found.arguments == (
        {"event" if step.tool == "deleteEvent" else "task": title} if title else step.arguments
    )


def test_with_two_of_the_day_the_step_stays():
    """Nobody can say which."""
    two = (Thing("event", "Dentist Ana", FRIDAY), Thing("event", "Dentist Bo", FRIDAY), *THINGS[3:])
    step = call("deleteEvent", event="Dentist check")
    found = Meant("the dentist on friday", frozenset({FRIDAY}), two, TOOLS)
    assert found.of_said_day(step) is step


@pytest.mark.parametrize(
    ("word", "other", "alike"),
    [
        ("stromrechnugn", "stromrechnung", True),
        ("dentits", "dentist", True),
        ("dentst", "dentist", True),
        ("dentisst", "dentist", True),
        ("dentost", "dentist", True),
        ("dintest", "dentist", False),
        ("rant", "rent", False),
        ("denits", "dentist", False),
    ],
)
def test_a_long_word_with_one_letter_wrong_is_the_same_word(word, other, alike):
    """Missing, too many, another one, or two that changed places; in short words each letter tells."""
    assert same(word, other) is alike
    assert same(other, word) is alike


OPTIONS = {
    "completeTask": {"task": ["Pay rent", "Zaun streichen"]},
    "deleteEvent": {"event": ["Dentist", "Dentist check"]},
    "deleteNote": {"note": None},
    "listTasks": {"task": ["Pay rent"]},
}


@pytest.mark.parametrize(
    ("said", "days", "tasks", "events"),
    [
        ("the rent is paid", (), ["Pay rent"], []),
        ("optician on thursday at four", (), [], []),
        ("what is on friday is off", (FRIDAY,), ["Zaun streichen"], ["Dentist"]),
        ("cancel my next appointment", (), [], ["Dentist", "Dentist check"]),
        ("new appointment: grill", (), [], []),
        ("my tasks are done", (), ["Pay rent", "Zaun streichen"], []),
    ],
)
def test_changes_can_name_only_what_is_meant(said, days, tasks, events):
    """By word, by day, or as "my appointment"; a tool that changes nothing, or takes any name, is left alone."""
    found = meant(said, *days).narrowed(OPTIONS)
    assert found["completeTask"]["task"] == tasks
    assert found["deleteEvent"]["event"] == events
    assert found["deleteNote"] == {"note": None}
    assert found["listTasks"] == OPTIONS["listTasks"]
