"""What the planner is shown of what is already there."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from surefoot import ScriptedModel
from surefoot.assistant import context
from surefoot.assistant.context import MAX_LINES, MAX_NEAR, ranked
from surefoot.planning.examples import NEAREST

from .support import NOW, assistant, plan

ZONE = ZoneInfo("Europe/Berlin")


def task(title, due=None, status="open"):
    return context._task({"title": title, "due": due, "status": status}, NOW)


def event(title, start, end=None, place=""):
    return context._event({"title": title, "start": start, "end": end, "place": place}, NOW)


def note(title, text="", tags=()):
    return context._note({"title": title, "text": text, "tags": list(tags)})


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (task("Pay rent", "2026-04-27"), 'task "Pay rent", due today'),
        (task("Pay rent", "2026-04-28T17:00:00+02:00"), 'task "Pay rent", due tomorrow 17:00'),
        (task("Pay rent", "2026-04-20"), 'task "Pay rent", overdue since Mon 20 Apr'),
        (task("Pay rent", "2026-04-20", "done"), 'task "Pay rent", done'),
        (task("Pay rent"), 'task "Pay rent"'),
        (task("Pay rent", "2027-05-01"), 'task "Pay rent", due Sat 1 May 2027'),
        (event("Gym", "2026-05-01T07:00:00+02:00"), 'event "Gym", Fri 1 May 07:00'),
        (event("Fair", "2026-05-01", "2026-05-03"), 'event "Fair", Fri 1 May'),
        (event("Night", "2026-05-01T22:00:00+00:00"), 'event "Night", Sat 2 May 00:00'),
        (note("Plumber", "Dave,\n0161 496"), 'note "Plumber": Dave, 0161 496'),
        (note("Plumber", "x" * 500, ["house"]), f'note "Plumber" [house]: {"x" * 120}…'),
        (note("Plumber"), 'note "Plumber"'),
    ],
)
def test_a_row_in_one_line(row, line):
    """Title as it is, dates as the person would say them, in the person's zone."""
    assert row.timed == line


def test_what_is_named_is_shown_without_its_clock_time():
    """A small model would copy the old time; what is near in time keeps it, because it may be meant by it."""
    rows = [event("Gym", "2026-05-01T07:00:00+02:00"), event("Choir", "2026-04-28T19:00:00+02:00")]
    assert ranked(rows, "move the gym to 8", "") == (
        'event "Gym", Fri 1 May',
        'event "Choir", tomorrow 19:00',
    )


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("cancel the dentist", 'event "Dentist'),
        ("Geburtstagsgeschenk für Oma besorgt", 'note "Geburtstag'),
        ("取消牙医预约", 'event "牙医'),
        ("el análisis ya está", 'task "Recoger ANALISIS'),
        ("the plumbers number", 'note "Plumber'),
    ],
)
def test_rows_that_share_words_are_shown_wherever_they_lie_in_time(request_text, first):
    """Whole words or beginnings, without case and accents, Chinese by pairs of characters."""
    rows = [
        event("Dentist", "2026-09-01"),
        note("Geburtstag", "Oma"),
        event("牙医", "2026-09-01"),
        task("Recoger ANALISIS", "2026-08-01"),
        note("Plumber"),
        task("Wash the car", "2026-08-01"),
    ]
    lines = ranked(rows, request_text, "")
    assert len(lines) == 1
    assert lines[0].startswith(first)


def test_a_note_is_not_found_by_its_tag():
    """A tag that is named is mostly one that a new note shall get."""
    assert ranked([note("Boiler manual", "page 12", ["house"])], "write that down, label it house", "") == ()


def test_the_conversation_counts_less_than_the_request():
    """What the request names comes first when there is no room for all."""
    rows = [task(f"Buy milk {n}", "2026-08-01") for n in range(20)] + [task("Call Rosa", "2026-08-01")]
    assert 'task "Call Rosa", due Sat 1 Aug' in ranked(rows, "Rosa is done", "buy milk")
    assert len(ranked(rows, "Rosa is done", "buy milk")) == MAX_LINES


def test_without_a_word_in_common_only_what_is_near_in_time_is_shown():
    """Open tasks and coming events of the next days, overdue ones too; nothing done, past or far away."""
    rows = [
        task("A", "2026-04-27"),
        task("B", "2026-04-20"),
        event("C", "2026-05-01"),
        task("D", "2026-06-20"),
        task("E", "2026-04-27", "done"),
        event("F", "2026-04-26"),
        task("G"),
        note("H"),
        task("I", "2025-01-01"),
    ]
    shown = ranked(rows, "do the thing", "")
    assert [line[6] for line in shown if line.startswith("task")] == ["A", "B"]
    assert [line[7] for line in shown if line.startswith("event")] == ["C"]


def test_a_long_request_is_shown_only_what_it_names():
    """It says itself what it is about."""
    rows = [task("Pay rent", "2026-04-28"), task("Call Rosa", "2026-08-01")]
    long = "note that the boiler comes in may and the meter has to be read by friday and tell rosa about all of that too"
    assert ranked(rows, long, "") == ('task "Call Rosa", due Sat 1 Aug',)


def test_the_number_of_lines_is_bounded():
    """However much there is: near ones fill up to their own bound."""
    soon = [task(f"T{n}", (NOW + timedelta(days=n % 5)).date().isoformat()) for n in range(200)]
    assert len(ranked(soon, "x", "")) == MAX_NEAR
    assert len(ranked([note(f"Garden {n}") for n in range(50)] + soon, "garden", "")) == MAX_LINES
    assert ranked([], "garden", "") == ()


async def test_the_planner_sees_it_and_the_answer_does_not():
    """Through the assistant: rows of the kits stand in the plan's prompt, behind what never changes."""
    model = ScriptedModel(
        plan(("addTask", {"title": "Call the bank", "due": "tomorrow"})), "Done.", "Ok.", "Ok."
    )
    async with assistant(model) as opened:
        await opened.ask("remind me to call the bank tomorrow")
        await opened.ask("the bank can wait")
    asked = [request for request in model.requests if request.purpose == "plan"]
    assert "Already there" not in asked[0].messages[-1].content
    assert '- task "Call the bank", due tomorrow' in asked[1].messages[-1].content
    stable = -1 - 2 * NEAREST  # the request, and the examples picked for it
    assert asked[0].messages[:stable] == asked[1].messages[:stable]


async def test_kits_that_are_not_offered_are_not_shown():
    """No tool could do anything with such a row."""
    model = ScriptedModel(plan(("addTask", {"title": "Call the bank"})), "Done.", "Ok.", "Ok.")
    async with assistant(model) as opened:
        await opened.ask("remind me to call the bank")
        journal = opened._journal
        async with assistant(model, kits=("notes",), journal=journal) as other:
            await other.ask("the bank can wait")
    assert "Call the bank" not in [r for r in model.requests if r.purpose == "plan"][-1].messages[-1].content
