"""Dates that hang on something: on a date in another language, on what is in the calendar, on an old date."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.errors import ToolError
from surefoot.tools.dates import resolve_date
from surefoot.tools.dates.relative import moved, names_half_of_day

from .harness import NOW, ZONE, Bench


def read(text: str, language: str = "en") -> str:
    return resolve_date(text, NOW, ZONE, language).iso


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("two days before Sat 19 Dec", "en", "2026-12-17"),
        ("zwei Tage vor Sat 19 Dec", "de", "2026-12-17"),
        ("dos días antes del 19 Dec", "es", "2026-12-17"),
        ("deux jours avant le 19 Dec", "fr", "2026-12-17"),
        ("an hour before Friday 11:00", "en", "2026-12-04T10:00:00+01:00"),
        ("half an hour after 2026-12-04 11:00", "en", "2026-12-04T11:30:00+01:00"),
        ("una hora antes de Fri 4 Dec 11:00", "es", "2026-12-04T10:00:00+01:00"),
        ("eine Stunde vor Freitag 11 Uhr", "de", "2026-12-04T10:00:00+01:00"),
        ("the last day of this month", "en", "2026-11-30"),
        ("letzter Tag im Dezember", "de", "2026-12-31"),
        ("el último día del mes", "es", "2026-11-30"),
        ("le dernier jour du mois", "fr", "2026-11-30"),
        ("the rest of the week", "en", "2026-11-30"),
        ("Rest der Woche", "de", "2026-11-30"),
        ("lo que queda de semana", "es", "2026-11-30"),
        ("le reste de la semaine", "fr", "2026-11-30"),
        ("Thursday 4 in the afternoon", "en", "2026-12-03T16:00:00+01:00"),
        ("Dienstag neun abends", "de", "2026-12-01T21:00:00+01:00"),
        ("sábado nueve y media de la noche", "es", "2026-12-05T21:30:00+01:00"),
        ("pour le 20", "fr", "2026-12-20"),
        ("de aquí al domingo", "es", "2026-12-06"),
    ],
)
def test_dates_inside_dates(text, language, day):
    """A copied date keeps its language; hours count from moments; spans have a last day."""
    assert read(text, language) == day


@pytest.mark.parametrize(
    "text", ["an hour before", "two days before nothing at all", "an hour before Friday"]
)
def test_what_hangs_on_nothing_is_refused(text):
    """No guess."""
    with pytest.raises(ToolError):
        read(text)


@pytest.mark.parametrize(
    ("text", "language", "moment"),
    [
        ("half an hour later", "en", "2026-12-04T15:30:00+01:00"),
        ("30 minutes earlier", "en", "2026-12-04T14:30:00+01:00"),
        ("eine Stunde später", "de", "2026-12-04T16:00:00+01:00"),
        ("una hora más tarde", "es", "2026-12-04T16:00:00+01:00"),
        ("une heure plus tard", "fr", "2026-12-04T16:00:00+01:00"),
        ("two days later", "en", "2026-12-06T15:00:00+01:00"),
        ("a week earlier", "en", "2026-11-27T15:00:00+01:00"),
    ],
)
def test_later_and_earlier_count_from_the_old_date(text, language, moment):
    """And keep the time of day where they count in days."""
    old = resolve_date("2026-12-04 15:00", NOW, ZONE, language)
    found = moved(text, old, ZONE, language)
    assert found is not None
    assert found.iso == moment


@pytest.mark.parametrize("text", ["Friday", "in two hours", "15:30", "tomorrow", "later"])
def test_other_dates_do_not_count_from_the_old_one(text):
    """They say themselves when."""
    assert moved(text, resolve_date("2026-12-04 15:00", NOW, ZONE, "en"), ZONE, "en") is None


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("7am", True),
        ("7 p.m.", True),
        ("19:30", True),
        ("07:30", True),
        ("8 in the morning", True),
        ("halb acht abends", True),
        ("Friday 7:30", False),
        ("halb acht", False),
        ("a las nueve", False),
    ],
)
def test_the_half_of_the_day_is_said_or_not(text, known):
    """In figures or words of any language."""
    assert names_half_of_day(text) is known


def put(bench: Bench) -> None:
    bench.call("addEvent", title="Flight to Lisbon", start="2026-12-18 11:20")
    bench.call("addEvent", title="Reunión con el banco", start="2026-12-09 11:00")
    bench.call("addEvent", title="Omas Geburtstagsfeier", start="2026-12-22 15:00")
    bench.call("addEvent", title="Team meeting", start="2026-12-10 09:00")
    bench.call("addEvent", title="Budget meeting", start="2026-12-11 09:00")
    bench.call("addTask", title="Hand in the thesis", due="2026-12-15")


@pytest.mark.parametrize(
    ("due", "language", "stored"),
    [
        ("the day before my Lisbon flight", "en", "2026-12-17"),
        ("two days before the flight", "en", "2026-12-16"),
        ("the day after my flight to lisbon", "en", "2026-12-19"),
        ("zwei Tage vor Omas Geburtstagsfeier", "de", "2026-12-20"),
        ("el miércoles, justo una hora antes de la reunión con el banco", "es", "2026-12-09T10:00:00+01:00"),
        ("a week before the thesis", "en", "2026-12-08"),
        ("the day before the budget meeting", "en", "2026-12-10"),
    ],
)
def test_a_date_may_hang_on_what_is_in_the_calendar_or_on_the_list(bench: Bench, due, language, stored):
    """By the words of its title; days count as days, hours from its time."""
    put(bench)
    assert bench.call("addTask", title="x", due=due, language=language).result["due"] == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Anna's birthday is on 20 December.", "2026-12-19"),
        ("She was born in 1990; we celebrate on 2026-12-24, at 8", "2026-12-23"),
        ("21.12., wie immer", "2026-12-20"),
        ("she likes tea", None),
        ("", None),
    ],
)
def test_a_date_may_hang_on_what_a_note_says(bench: Bench, text, stored):
    """The first date in figures in the one note that is called so; a note without one says nothing."""
    bench.call("addNote", title="Anna's birthday", text=text)
    made = bench.call("addTask", title="x", due="the day before Anna's birthday")
    if stored:
        assert made.result["due"] == stored
    else:
        assert "cannot be read" in made.error.message


@pytest.mark.parametrize(
    "due", ["the day before the meeting", "the day before the concert", "before my flight"]
)
def test_what_several_things_or_none_are_called_is_refused(bench: Bench, due):
    """Two meetings, no concert, no number of days: the person is told."""
    put(bench)
    assert isinstance(bench.call("addTask", title="x", due=due).error, ToolError)


def changed(bench: Bench, name: str, **arguments: Any) -> dict[str, Any]:
    done = bench.call(name, **arguments)
    assert done.error is None, done.error
    return dict(done.result)


def test_an_event_is_moved_by_what_the_person_says(bench: Bench):
    """Later and earlier count from its start, and it keeps its length."""
    bench.call("addEvent", title="Coffee", start="2026-12-10 15:30", end="16:00")
    assert (
        changed(bench, "updateEvent", event="Coffee", start="half an hour later")["start"][11:16] == "16:00"
    )
    moved_on = changed(bench, "updateEvent", event="Coffee", start="a day earlier")
    assert (moved_on["start"][:16], moved_on["end"][:16]) == ("2026-12-09T16:00", "2026-12-09T16:30")


@pytest.mark.parametrize(
    ("start", "end", "language", "hours"),
    [
        ("Dienstag halb acht", "neun abends", "de", ("19:30", "21:00")),
        ("Friday 8", "11pm", "en", ("20:00", "23:00")),
        ("Friday 8am", "11pm", "en", ("08:00", "23:00")),
        ("Friday 08:00", "23:00", "en", ("08:00", "23:00")),
        ("Friday 9", "5pm", "en", ("09:00", "17:00")),
        ("Friday 4", "4:45 in the afternoon", "en", ("16:00", "16:45")),
    ],
)
def test_the_half_of_the_day_may_be_said_once(bench: Bench, start, end, language, hours):
    """An event of more than half a day whose start may be either begins in the evening."""
    made = changed(bench, "addEvent", title="x", start=start, end=end, language=language)
    assert (made["start"][11:16], made["end"][11:16]) == hours


def test_a_done_task_with_a_new_date_is_open_again(bench: Bench):
    """What gets a new date is to be done again; another title alone changes no status."""
    bench.call("addTask", title="Tax form", due="2026-12-01")
    bench.call("completeTask", task="Tax form")
    assert changed(bench, "updateTask", task="Tax form", title="Tax forms")["status"] == "done"
    assert changed(bench, "updateTask", task="Tax forms", due="2026-12-20")["status"] == "open"
    assert changed(bench, "updateTask", task="Tax forms", due="a week later")["due"] == "2026-12-27"


def test_an_event_moves_to_a_weekday_with_a_date(bench: Bench):
    """The two agree this year, and need not agree in another."""
    bench.call("addEvent", title="Coffee", start="2026-12-10 15:30", end="16:00")
    moved_to = changed(bench, "updateEvent", event="Coffee", start="Fri 11 Dec 11:00", end="Fri 11 Dec 11:45")
    assert (moved_to["start"][:16], moved_to["end"][:16]) == ("2026-12-11T11:00", "2026-12-11T11:45")
