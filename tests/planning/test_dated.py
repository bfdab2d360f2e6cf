"""The dates of a planned call are put right by what was said."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from surefoot.planning.dated import Look, completed
from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.grounding import _find
from surefoot.planning.outline import Step, StepKind
from surefoot.planning.things import Thing
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

MONDAY = datetime(2026, 5, 4, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
TOOLS = {tool.name: tool for tool in Catalogue(builtin())}
THINGS = (Thing("note", "Tea", text="green"), Thing("note", "Thé", text="vert à midi"), Thing("task", "Tea"))


def put_right(said, tool, language="en", tools=TOOLS, **arguments):
    dates = DatesSaid(said, MONDAY, language)
    look = Look(dates.read, partial(_find, THINGS))
    step = completed(Step("", StepKind.TOOL, tool, arguments), tools, dates, look)
    return (step.tool, step.arguments)


@pytest.mark.parametrize(
    ("language", "said", "due", "found"),
    [
        ("en", "pack by friday at nine", "friday", "friday at nine"),
        ("en", "pack by friday at nine", "friday at nine", "friday at nine"),
        ("de", "packen bis Freitag um neun", "Freitag", "Freitag um neun"),
        ("fr", "faire la valise vendredi à neuf heures", "vendredi", "vendredi à neuf heures"),
        ("es", "hacer la maleta el viernes a las nueve", "viernes", "viernes a las nueve"),
        ("en", "an hour before the flight", "the flight", "an hour before the flight"),
        ("de", "zwei Tage vor der Hochzeit packen", "Hochzeit", "zwei Tage vor der Hochzeit"),
        ("en", "the report is for Tom by friday", "Tom by friday", "by friday"),
        ("de", "Bericht bis Freitag", "Bericht bis Freitag", "bis Freitag"),
        ("en", "pack", "<date, from step 1>", "<date, from step 1>"),
    ],
)
def test_a_date_reaches_as_far_as_it_was_said(language, said, due, found):
    """Longer than what was copied, hanging on a thing, or shorter."""
    assert put_right(said, "addTask", language, title="x", due=due) == (
        "addTask",
        {"title": "x", "due": found},
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "left"),
    [
        ("addTask", {"title": "x", "due": "blue"}, {"title": "x"}),
        ("addTask", {"title": "x", "due": 7}, {"title": "x", "due": 7}),
        ("updateEvent", {"event": "x", "start": "mill"}, {"event": "x", "place": "mill"}),
        ("updateEvent", {"event": "x", "start": "room 3"}, {"event": "x"}),
        (
            "updateEvent",
            {"event": "x", "start": "mill", "place": "town"},
            {"event": "x", "place": "town"},
        ),
        ("addEvent", {"title": "x", "start": "mill"}, {"title": "x", "start": "mill"}),
        ("listTasks", {"since": "blue", "until": "friday"}, {"until": "friday"}),
    ],
)
def test_what_is_no_date_is_left_out_or_was_said_of_the_place(tool, arguments, left):
    """A required argument stays: without it there would be no call; a figure names no place."""
    assert put_right("meet in the mill", tool, **arguments) == (tool, left)


@pytest.mark.parametrize(
    ("language", "said", "start", "day", "both"),
    [
        ("en", "friday we meet, at 3pm", "3pm", "friday", "friday 3pm"),
        ("de", "Freitag treffen wir uns, und zwar 15 Uhr", "15 Uhr", "Freitag", "Freitag 15 Uhr"),
        ("fr", "vendredi on se voit, à 15h", "15h", "vendredi", "vendredi 15h"),
        ("es", "el viernes nos vemos, a las 15:00", "15:00", "viernes", "viernes 15:00"),
    ],
)
def test_a_day_that_stands_for_the_place_is_the_day_of_the_start(language, said, start, day, both):
    """A clock time needs it."""
    found = put_right(said, "addEvent", language, title="x", start=start, place=day)
    assert found == ("addEvent", {"title": "x", "start": both})


@pytest.mark.parametrize(
    ("start", "place", "left"),
    [
        ("friday", "friday", {"start": "friday at nine"}),
        ("nine", "Friday", {"start": "friday at nine"}),
        ("friday", "town", {"start": "friday at nine", "place": "town"}),
        ("friday", "monday", {"start": "friday at nine", "place": "monday"}),
        ("friday", 7, {"start": "friday at nine", "place": 7}),
        (7, "friday", {"start": 7, "place": "friday"}),
    ],
)
def test_a_day_is_not_said_twice(start, place, left):
    """What the start says already is no place."""
    assert put_right("dentist on friday at nine", "addEvent", title="x", start=start, place=place) == (
        "addEvent",
        {"title": "x", **left},
    )


@pytest.mark.parametrize(
    ("language", "said", "tool", "day", "left"),
    [
        ("en", "dentist until friday", "updateEvent", "friday", "end"),
        ("en", "dentist friday", "updateEvent", "friday", "start"),
        ("de", "Zahnarzt bis Freitag", "updateEvent", "Freitag", "end"),
        ("fr", "dentiste jusqua vendredi", "updateEvent", "vendredi", "end"),
        ("es", "dentista hasta viernes", "updateEvent", "viernes", "end"),
        ("en", "dentist until friday", "addEvent", "friday", "start"),
    ],
)
def test_a_start_and_an_end_of_the_same_words_are_one(language, said, tool, day, left):
    """The end behind "until", the start elsewhere and where there must be one."""
    key = "title" if tool == "addEvent" else "event"
    found = put_right(said, tool, language, **{key: "x"}, start=day, end=day)
    assert found == (tool, {key: "x", left: day})


def test_a_list_from_a_day_to_the_same_day_keeps_both():
    """It is a day, as it was asked for."""
    found = put_right("what is due friday", "listTasks", since="friday", until="friday")
    assert found == ("listTasks", {"since": "friday", "until": "friday"})


@pytest.mark.parametrize(
    ("language", "title", "due", "tool"),
    [
        ("de", "Termin Bank", "morgen um neun", "addEvent"),
        ("en", "Meeting with Ana", "tomorrow at nine", "addEvent"),
        ("fr", "Rendez-vous avec Léa", "demain à 9h", "addEvent"),
        ("es", "Reunión con Íñigo", "mañana a las nueve", "addEvent"),
        ("de", "Termin Bank", "morgen", "addTask"),
        ("de", "Bank", "morgen um neun", "addTask"),
        ("en", "Prepare meeting", "tomorrow at nine", "addTask"),
    ],
)
def test_a_task_that_is_called_an_appointment_and_has_a_time_is_an_event(language, title, due, tool):
    """By its first word; a day alone may be when it is to be arranged."""
    found, arguments = put_right(f"{title} {due}", "addTask", language, title=title, due=due)
    assert found == tool
    assert arguments == {"title": title, "due" if tool == "addTask" else "start": due}


def test_another_call_is_made_only_by_a_tool_that_is_there():
    """A catalogue without a calendar keeps the task."""
    some = {name: tool for name, tool in TOOLS.items() if name != "addEvent"}
    found = put_right("Termin Bank morgen um neun", "addTask", "de", some, title="Termin Bank", due="morgen")
    assert found == ("addTask", {"title": "Termin Bank", "due": "morgen um neun"})


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("tea", "green, mint", ("updateNote", {"note": "Tea", "text": "green, mint"})),
        ("THÉ", "vert à midi, menthe", ("updateNote", {"note": "Thé", "text": "vert à midi, menthe"})),
        ("tea", "mint", ("addNote", {"title": "tea", "text": "mint"})),
        ("coffee", "green", ("addNote", {"title": "coffee", "text": "green"})),
    ],
)
def test_a_note_with_the_whole_text_of_one_that_is_there_changes_it(title, text, found):
    """A thing of another kind with that title does not count."""
    assert put_right("add mint", "addNote", title=title, text=text) == found


def test_steps_without_a_known_tool_and_right_ones_stay_as_they_are():
    """The very same step."""
    dates = DatesSaid("friday", MONDAY, "en")
    look = Look(dates.read, partial(_find, THINGS))
    for step in (
        Step("reply", StepKind.REPLY),
        Step("", StepKind.TOOL, "webSearch9", {"query": "friday"}),
        Step("", StepKind.TOOL, "addTask", {"title": "x", "due": "friday"}),
        Step("", StepKind.TOOL, "completeTask", {"task": "x"}),
    ):
        assert completed(step, TOOLS, dates, look) is step


@pytest.mark.parametrize(
    ("language", "said", "start", "left"),
    [
        ("en", "block 2 to 4pm on the 14th", "14th 2 to 4pm", {"start": "14th 2:00", "end": "4pm"}),
        ("de", "der Jour fixe ist Donnerstag erst um 11", "Donnerstag 11", {"start": "Donnerstag um 11"}),
        ("en", "dentist thursday, four-ish: thursday 4", "thursday 4", {"start": "thursday 4:00"}),
        ("de", "der Ort am Montag ist ab jetzt wieder Raum 310", "Montag 310", {"start": "Montag"}),
        ("de", "es dauert bis viertel vor fünf", "viertel vor fünf", {"end": "viertel vor fünf"}),
        ("fr", "ça finit, jusqu'à 18h", "18h", {"start": "18h"}),
        ("en", "move it to 5pm", "5pm", {"start": "5pm"}),
    ],
)
def test_an_appointments_times_are_told_apart(language, said, start, left):
    """Two times are a start and an end; "until" says an end; left-out words are put back; a bare figure is an hour."""
    assert put_right(said, "updateEvent", language, event="x", start=start) == (
        "updateEvent",
        {"event": "x", **left},
    )


@pytest.mark.parametrize(
    ("said", "language", "place", "left"),
    [
        ("mittwoch kinderarzt mit lena", "de", "lena", {}),
        ("lunch wednesday with Omar", "en", "Omar", {}),
        ("déjeuner mercredi avec Inès", "fr", "Inès", {}),
        ("lunch wednesday at Omar's", "en", "Omar's", {"place": "Omar's"}),
    ],
)
def test_who_comes_along_is_no_place(said, language, place, left):
    """Behind "with" stands a person."""
    start = "mercredi" if language == "fr" else "mittwoch" if language == "de" else "wednesday"
    found = put_right(said, "addEvent", language, title="x", start=start, place=place)
    assert found == ("addEvent", {"title": "x", "start": start, **left})


def test_tags_may_stand_behind_with():
    """To tag it "with spring" names a tag."""
    found = put_right("tag tea with spring", "tagNote", note="Tea", tag="spring")
    assert found == ("tagNote", {"note": "Tea", "tag": "spring"})
