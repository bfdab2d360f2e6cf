"""What people say where a date is asked, from the table `tests/data/dates.toml`: read, or refused, never guessed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from surefoot.errors import ToolError
from surefoot.tools.dates import resolve_date

from .harness import NOW, ZONE, Bench

TABLE = tomllib.loads((Path(__file__).parents[1] / "data" / "dates.toml").read_text("utf-8"))
LANGUAGES = ("en", "de", "fr", "es", "hi", "zh", "ja")
REFUSED = "refused"
THINGS = (
    ("Marathon", "2026-12-14"),
    ("Départ à Lisbonne", "2026-12-18 11:20"),
    ("Janas Hochzeit", "2026-12-19 14:00"),
    ("Reunión con el banco", "2026-12-09 11:00"),
)


def rows(section: str = "") -> list[tuple[str, str, str]]:
    table = TABLE[section] if section else {code: TABLE[code] for code in LANGUAGES}
    return [(code, text, meant) for code, texts in table.items() for text, meant in texts.items()]


@pytest.mark.parametrize(("language", "text", "meant"), rows())
def test_dates_as_they_are_copied_out_of_a_request(language: str, text: str, meant: str):
    """With the words around them; what says no date of its own, or two, is refused."""
    try:
        moment = resolve_date(text, NOW, ZONE, language)
    except ToolError:
        assert meant == REFUSED
        return
    several = moment.day != moment.last_day
    assert (f"{moment.day}/{moment.last_day}" if several else moment.iso[:16]) == meant


@pytest.mark.parametrize("tag", ["en-GB", "de", "fr-CA", "es", "zh", "it"])
def test_in_another_language_they_mean_the_same_or_are_refused(tag: str):
    """The person's language need not be that of the interface; never something else."""
    for language, text, meant in rows():
        if language == tag[:2]:
            continue
        try:
            moment = resolve_date(text, NOW, ZONE, tag)
        except ToolError:
            continue
        several = moment.day != moment.last_day
        assert meant == (f"{moment.day}/{moment.last_day}" if several else moment.iso[:16]), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_enough_of_them(language: str):
    """Sixty in the four that are spoken most with the assistant, twenty in the others."""
    assert len(TABLE[language]) >= (60 if language in {"en", "de", "fr", "es"} else 20)


def times(bench: Bench, name: str, **arguments: str) -> list[str]:
    done = bench.call(name, **arguments)
    if done.error is not None:
        assert isinstance(done.error, ToolError)
        return [REFUSED]
    return [done.result["start"][:16], done.result.get("end", "none")[:16]]


@pytest.mark.parametrize(("language", "text", "meant"), rows("moves"))
def test_a_new_start_for_an_event(bench: Bench, language: str, text: str, meant: str):
    """It stays as long as it was; a day keeps the time, a time keeps the day, and the rest counts from the old start."""
    bench.call("addEvent", title="Coffee", start="2026-12-10 15:30", end="16:00")
    found = times(bench, "updateEvent", event="Coffee", start=text, language=language)
    assert found[0] == meant
    if meant != REFUSED:
        hour, minute = divmod(int(meant[11:13]) * 60 + int(meant[14:]) + 30, 60)
        assert found[1] == f"{meant[:10]}T{hour:02}:{minute:02}"


@pytest.mark.parametrize(("language", "text", "meant"), rows("ends"))
def test_a_new_end_for_an_event(bench: Bench, language: str, text: str, meant: str):
    """The start stays; a clock time is the first such time behind it."""
    bench.call("addEvent", title="Coffee", start="2026-12-10 14:00", end="15:00")
    found = times(bench, "updateEvent", event="Coffee", end=text, language=language)
    assert found == ([REFUSED] if meant == REFUSED else ["2026-12-10T14:00", meant])


@pytest.mark.parametrize(("language", "text", "meant"), rows("things"))
def test_a_date_by_a_thing_the_person_has(bench: Bench, language: str, text: str, meant: str):
    """The day before it, its morning, the evening before it; what nothing is called is refused."""
    for title, start in THINGS:
        bench.call("addEvent", title=title, start=start)
    bench.call("addTask", title="Hand in the thesis", due="2026-12-15")
    done = bench.call("addTask", title="x", due=text, language=language)
    if done.error is not None:
        assert isinstance(done.error, ToolError)
    assert (REFUSED if done.error else done.result["due"][:16]) == meant


@pytest.mark.parametrize(
    ("change", "start", "end"),
    [
        ({"start": "Friday", "end": "Friday"}, "2026-12-04T15:30", "2026-12-04T16:00"),
        ({"start": "an hour later", "end": "An hour  later"}, "2026-12-10T16:30", "2026-12-10T17:00"),
        ({"start": "17:00", "end": "17:00"}, "2026-12-10T17:00", "2026-12-10T17:30"),
        ({"start": "Friday 17:00", "end": "2026-12-04 17:00"}, "2026-12-04T17:00", "2026-12-04T17:30"),
        ({"start": "Friday", "end": "same time"}, "2026-12-04T15:30", "2026-12-04T16:00"),
        ({"start": "same time", "end": "18:00"}, "2026-12-10T15:30", "2026-12-10T18:00"),
        ({"start": "Friday", "end": "Saturday"}, "2026-12-04", "2026-12-05"),
        ({"start": "Friday", "end": "17:00"}, "2026-12-04T15:30", "2026-12-04T17:00"),
        ({"start": "in the evening at 9", "end": "2am"}, "2026-12-10T21:00", "2026-12-11T02:00"),
        ({"start": "14:00", "end": "half past four"}, "2026-12-10T14:00", "2026-12-10T16:30"),
        ({"start": "Friday 14:00", "end": "two hours"}, "2026-12-04T14:00", "2026-12-04T16:00"),
        ({"end": "04:30"}, REFUSED, ""),
        ({"start": "gibberish", "end": "gibberish"}, REFUSED, ""),
        ({"start": "Friday", "end": "gibberish"}, REFUSED, ""),
    ],
)
def test_start_and_end_together(bench: Bench, change: dict[str, str], start: str, end: str):
    """The same said twice, or an end at the start, is no end: the event stays as long as it was."""
    bench.call("addEvent", title="Coffee", start="2026-12-10 15:30", end="16:00")
    found = times(bench, "updateEvent", event="Coffee", **change)
    assert found == ([REFUSED] if start == REFUSED else [start, end])


def test_a_start_that_is_not_said_stays(bench: Bench):
    """A far end alone does not move a morning to the evening."""
    bench.call("addEvent", title="Fair", start="2026-12-10 08:00")
    assert times(bench, "updateEvent", event="Fair", end="21:00") == ["2026-12-10T08:00", "2026-12-10T21:00"]


def test_a_new_event_with_the_same_start_and_end_has_no_end(bench: Bench):
    """Only the start counts."""
    found = times(bench, "addEvent", title="Call", start="tomorrow at 5pm", end="Tomorrow at 5pm")
    assert found == ["2026-12-01T17:00", "none"]


@pytest.mark.parametrize(
    ("due", "stored"),
    [
        ("17:00", "2026-12-15T17:00"),
        ("same day at 9am", "2026-12-15T09:00"),
        ("Friday, same time", "2026-12-04"),
        ("the day after", "2026-12-16"),
        ("the Friday before", "2026-12-11"),
        ("two weeks", "2026-12-29"),
        ("an hour later", REFUSED),
        ("in 999999 days", REFUSED),
        ("999999 weeks later", REFUSED),
        ("this weekend, same time", REFUSED),
    ],
)
def test_a_day_gets_a_new_date(bench: Bench, due: str, stored: str):
    """A task due on a day: hours cannot be counted from it, days and weeks can."""
    bench.call("addTask", title="Thesis", due="2026-12-15")
    done = bench.call("updateTask", task="Thesis", due=due)
    assert (REFUSED if isinstance(done.error, ToolError) else done.result["due"][:16]) == stored


def test_what_is_over_gets_no_time_of_its_day(bench: Bench):
    """A clock time for a task of last week is one that lies ahead."""
    bench.call("addTask", title="Thesis", due="2026-11-20")
    assert bench.call("updateTask", task="Thesis", due="20:00").result["due"][:16] == "2026-11-30T20:00"


def test_a_date_that_counts_from_another_says_so():
    """The person learns why `the day after` is not read."""
    with pytest.raises(ToolError, match="counts from another date"):
        resolve_date("the day after", NOW, ZONE, "en")
    with pytest.raises(ToolError, match="more than one thing"):
        resolve_date("dans huit jours", NOW, ZONE, "fr")
    with pytest.raises(ToolError, match="has no 61 minutes"):
        resolve_date("61 minutes past five", NOW, ZONE, "en")
