"""`surefoot runs`, `show`, and the lists of what the kits keep."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from surefoot.errors import ProviderUnavailableError
from surefoot.journal.owner import current_owner
from surefoot.journal.types import RunStatus
from surefoot.running import lifecycle

from .support import BIRTHDAY, plan


@pytest.fixture
def noted(cli):
    """A run that made a note and a task, its clock that of today."""
    cli.clock = lambda: datetime.now(UTC)
    cli.answers(BIRTHDAY, "I noted it.", always="Hm.")
    cli("ask", "note Anna's birthday")
    return cli


def test_no_runs_yet(cli):
    """An empty list is no error; what to try stands on standard error."""
    ran = cli("runs")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing was run yet" in ran.err
    assert cli("runs", "--json").json == []


def test_runs_are_listed_newest_first(noted):
    """Short id, time, status, what was asked; an undo says what it took back."""
    noted("undo")
    first, second = noted("runs").out.splitlines()
    assert re.fullmatch(r"  [0-9a-f]{4}  today \d\d:\d\d  done    undo of [0-9a-f]{8}", first)
    assert re.fullmatch(r"  [0-9a-f]{4}  today \d\d:\d\d  undone  note Anna's birthday", second)
    assert len(noted("runs", "--limit", "1").out.splitlines()) == 1


def test_runs_in_json(noted):
    """Everything a program needs to pick one."""
    (run,) = noted("runs", "--json").json
    assert run["goal"] == "note Anna's birthday"
    assert (run["kind"], run["status"], run["undoable"], run["undone"]) == ("ask", "done", 2, 0)
    assert run["run"].startswith(run["short"])


def test_every_status_has_words(cli):
    """In both languages."""
    from surefoot.cli.texts import LANGUAGES, Texts

    for language in LANGUAGES:
        texts = Texts(language)
        assert all(texts(f"status_of.{status}") for status in RunStatus)


def test_show_is_the_timeline(noted):
    """Plan, each call with arguments and what it came to, model calls, reply."""
    text = noted("show", "last").out
    assert '  plan   1  addNote(title="Anna\'s birthday", text="3 May")' in text
    assert "  ✓  1  addNote(title=" in text
    assert re.search(r"        note \"Anna's birthday\" added +changes +\d+ ms  undoable", text)
    assert re.search(r"        1 task +reads +\d+ ms", text)
    assert "model: plan, scripted:model," in text
    assert text.rstrip().endswith("I noted it.")


def test_show_after_an_undo_says_undone_and_how_to_redo(noted):
    """The calls carry it, and the way on stands below."""
    noted("undo")
    ran = noted("show", noted("runs", "--json").json[-1]["short"])
    assert re.search(r"added +changes +\d+ ms  undone", ran.out)
    assert "takes the undo back" in ran.err


def test_show_in_json_holds_the_events(noted):
    """The whole record."""
    shown = noted("show", "--json").json
    assert shown["reply"] == "I noted it."
    types = [event["type"] for event in shown["events"]]
    assert types[0] == "run.created"
    assert {"plan.made", "call.intended", "call.done", "reply"} <= set(types)
    assert [event["seq"] for event in shown["events"]] == list(range(1, len(types) + 1))


def test_show_of_a_failed_run_names_the_error(cli):
    """What went wrong stands in its head."""
    cli.answers(always=lambda _: ProviderUnavailableError("Nobody answers."))
    cli("ask", "hello there")
    ran = cli("show")
    assert ran.code == 0
    assert "error  unavailable: Nobody answers." in ran.out
    assert "failed" in ran.out.splitlines()[0]


def test_show_of_an_interrupted_run_offers_resume(noted):
    """A run whose process died is resumable, and resume goes on with it."""

    async def interrupt(journal):
        run = (await journal.runs(limit=1))[0]
        left = lifecycle.new_run(
            "say hello",
            kind="ask",
            actor=run.actor,
            now=datetime.now(UTC),
            zone="UTC",
            language="en",
            owner=f"{current_owner()}-another-start",
        )
        await journal.create_run(left)

    noted.journal(interrupt)
    ran = noted("show", "last")
    assert "interrupted" in ran.out
    assert "surefoot resume" in ran.err
    noted.answers("reply()", "Hello again.")
    ran = noted("resume", "last")
    assert (ran.code, ran.out) == (0, "Hello again.\n")
    assert "there is nothing to go on with" in noted("resume", "last").err


def test_lists_for_the_persons_own_eyes(noted):
    """Notes, tasks and events, with dates in the person's words; `--all` shows what is done."""
    assert noted("notes", "list").out == "  Anna's birthday  3 May\n"
    assert noted("notes", "list", "--search", "nothing").out == ""
    assert re.fullmatch(r"  Buy a present  due \w+ 2 May( \d{4})?\n", noted("tasks", "list").out)
    noted.answers(
        plan(
            (
                "addEvent",
                {"title": "Lunch", "start": "2031-05-03 12:00", "end": "2031-05-03 13:30", "place": "Rome"},
            ),
            ("addEvent", {"title": "Trip", "start": "2031-06-01", "end": "2031-06-03"}),
            ("completeTask", {"task": "Buy a present"}),
        ),
        "Entered.",
    )
    noted("ask", "lunch in Rome on 3 May 2031; the present is bought")
    assert noted("calendar", "list").out.splitlines() == [
        "  Lunch  Sat 3 May 2031 12:00 to 13:30  Rome",
        "  Trip  Sun 1 Jun 2031 to Tue 3 Jun 2031",
    ]
    assert noted("tasks", "list").out == ""
    assert "done" in noted("tasks", "list", "--all").out
    assert noted("calendar", "list", "--json").json[0]["place"] == "Rome"


def test_empty_lists_say_so_on_standard_error(cli):
    """A pipe gets nothing."""
    for kind, words in (("notes", "No notes."), ("tasks", "No tasks."), ("calendar", "No events.")):
        ran = cli(kind, "list")
        assert (ran.code, ran.out) == (0, "")
        assert words in ran.err


def test_tools_are_listed_with_their_effect(cli):
    """By kit, each with its signature and what it does to the world."""
    text = cli("tools").out
    assert "  notes\n    addNote(title: text" in text
    assert "(changes)" in text
    assert "(reads)" in text
    (first, *_) = cli("tools", "--json").json
    assert set(first) == {"name", "kit", "description", "effect", "policy", "parameters"}


def test_tools_can_be_searched(cli):
    """By words of any language that a tool is known by; nothing found is exit 1 and says what a tool is."""
    assert cli("tools", "--search", "Aufgabe", "--json").json[0]["kit"] == "tasks"
    ran = cli("tools", "--search", "teleport")
    assert ran.code == 1
    assert "No tool has to do with 'teleport'" in ran.out
    assert cli("tools", "--search", "teleport", "--json").json == []


def test_the_policy_shows_in_the_list_of_tools(cli, monkeypatch):
    """What asks first, and what is denied."""
    monkeypatch.setenv("SUREFOOT_POLICY", '{"deleteNote": "confirm", "web": "deny"}')
    text = cli("tools").out
    assert "(changes, asks first)" in text
    assert "denied)" in text
