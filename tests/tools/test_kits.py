"""The kits that keep rows: what they write, how things are found by name, images and undo."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from surefoot.errors import MisuseError, ToolError
from surefoot.tools import Catalogue, kits
from surefoot.tools.kits import calendar, memory, notes, references, tasks
from surefoot.tools.kits.when import Window
from surefoot.tools.signatures import signature
from surefoot.tools.types import Actor, Effect

from .harness import Bench

TOOLS = {
    "notes": ["addNote", "listNotes", "updateNote", "tagNote", "untagNote", "deleteNote"],
    "tasks": ["addTask", "listTasks", "completeTask", "reopenTask", "updateTask", "deleteTask"],
    "calendar": ["addEvent", "listEvents", "updateEvent", "deleteEvent"],
    "files": ["listFiles", "readFile", "writeFile", "deleteFile"],
    "web": ["fetchPage", "webSearch"],
    "weather": ["getWeather"],
    "memory": ["rememberFact", "forgetFact"],
    "quizzes": [
        "addQuiz",
        "addQuestions",
        "listQuizzes",
        "getQuiz",
        "updateQuestion",
        "deleteQuestion",
        "deleteQuiz",
    ],
    "articles": ["researchNews", "saveArticle", "listArticles", "deleteArticle"],
}
READS = {
    "listNotes",
    "listTasks",
    "listEvents",
    "listFiles",
    "readFile",
    "fetchPage",
    "webSearch",
    "getWeather",
    "listQuizzes",
    "getQuiz",
    "researchNews",
    "listArticles",
}


def refused(bench: Bench, name: str, **arguments: Any) -> ToolError:
    error = bench.call(name, **arguments).error
    assert isinstance(error, ToolError)
    return error


# --- all kits ------------------------------------------------------------------------------------------------


def test_built_in_tools():
    """Exactly these, in this order; reads read, and every other one can be taken back."""
    found = kits.builtin()
    assert [tool.name for tool in found] == [name for names in TOOLS.values() for name in names]
    assert {tool.name for tool in found if tool.effect is Effect.READ} == READS
    for tool in found:
        assert tool.kit in kits.KITS
        assert (tool.effect is Effect.WRITE) == (tool.undo is not None) == (tool.name not in READS)
        assert tool.aliases
        assert 2 <= len(tool.description.split()) <= 10


def test_some_kits():
    """By name, in the kits' own order; a wrong name is met with the right ones."""
    assert [tool.name for tool in kits.builtin(["weather", "notes"])] == [*TOOLS["notes"], *TOOLS["weather"]]
    assert kits.builtin([]) == []
    with pytest.raises(MisuseError, match="no kit 'mail'"):
        kits.builtin(["mail"])


def test_the_whole_catalogue_is_short():
    """It stands in every prompt of a small model: under 1,300 tokens at three characters each."""
    lines = [f"{signature(tool.name, tool.parameters)} - {tool.description}" for tool in kits.builtin()]
    assert len("\n".join(lines)) < 3_900
    assert Catalogue(kits.builtin()).digest() == Catalogue(kits.builtin()).digest()


# --- notes ---------------------------------------------------------------------------------------------------


def test_a_note_is_written_with_who_and_when(bench: Bench):
    """Title, text, tags, version, actor and times; the answer is small."""
    found = bench(
        "addNote", title="  Anna's \n birthday ", text="3 May", tags=["#family", "family", "new year"]
    )
    assert found["title"] == "Anna's birthday"
    assert found["tags"] == ["family", "new year"]
    assert found["message"] == 'note "Anna\'s birthday" added'
    (row,) = json.loads(bench.rows())["notes"]
    assert row == {
        "id": found["id"],
        "title": "Anna's birthday",
        "text": "3 May",
        "tags": '["family", "new year"]',
        "version": 1,
        "actor": "agent:surefoot",
        "created_at": "2026-11-30T17:30:00.000000Z",
        "updated_at": "2026-11-30T17:30:00.000000Z",
        "deleted": 0,
    }


def test_equal_notes_are_allowed(bench: Bench):
    """Two notes may have the same words."""
    assert bench("addNote", title="x")["id"] != bench("addNote", title="x")["id"]
    assert bench("listNotes")["total"] == 2


def test_changes_raise_the_version_and_name_the_actor(bench: Bench):
    """An edit that was made and reverted still shows."""
    bench("addNote", title="Milk")
    bench(
        "updateNote",
        note="milk",
        title="Bread",
        actor=Actor("person", "ann"),
        now=datetime(2027, 1, 1, tzinfo=UTC),
    )
    bench("updateNote", note="bread", title="Milk")
    (row,) = json.loads(bench.rows())["notes"]
    assert (row["title"], row["version"]) == ("Milk", 3)
    assert row["created_at"] < "2026-12"


def test_changing_nothing_writes_nothing(bench: Bench):
    """Equal values leave the row as it is; no values at all are refused."""
    bench("addNote", title="Milk", tags=["a"])
    before = bench.rows()
    bench("updateNote", note="Milk", title="Milk")
    assert "already has" in bench("tagNote", note="Milk", tag="A")["message"]
    assert "has no tag" in bench("untagNote", note="Milk", tag="b")["message"]
    assert bench.rows() == before
    assert "Nothing is to be changed" in refused(bench, "updateNote", note="Milk").message


def test_tags(bench: Bench):
    """Put on, found by, taken off."""
    bench("addNote", title="Milk")
    bench("addNote", title="Bread")
    assert bench("tagNote", note="Milk", tag="#Shop")["tags"] == ["Shop"]
    assert [note["title"] for note in bench("listNotes", tag="shop")["notes"]] == ["Milk"]
    assert "tags" not in bench("untagNote", note="Milk", tag="shop")


@pytest.mark.parametrize("tag", ["#", "x" * 61, " "])
def test_bad_tags(bench: Bench, tag: str):
    """A tag is a word or a few."""
    bench("addNote", title="Milk")
    assert "cannot be a tag" in refused(bench, "tagNote", note="Milk", tag=tag).message


@pytest.mark.parametrize(
    ("search", "titles"),
    [
        ("birthday", {"Anna's birthday", "Ben"}),
        ("anna birthday", {"Anna's birthday"}),
        ("birth", {"Anna's birthday", "Ben"}),
        ("ANNA nobody", {"Anna's birthday"}),
        ("family", {"Anna's birthday"}),
        ("牛乳", {"牛乳を買う"}),
        ("nothing like it", set()),
        ("!!", set()),
    ],
)
def test_search(bench: Bench, search: str, titles: set[str]):
    """All words, else any; in title, text and tags; in any script."""
    bench("addNote", title="Anna's birthday", tags=["family"])
    bench("addNote", title="Ben", text="his birthday is in June")
    bench("addNote", title="牛乳を買う")
    found = bench("listNotes", search=search)
    if search == "!!":
        assert found["total"] == 3
    else:
        assert {note["title"] for note in found["notes"]} == titles


def test_lists_are_bounded(bench: Bench):
    """Fifty at most, with the total; long texts are cut."""
    for number in range(53):
        bench("addNote", title=f"n{number}", text="x" * 600)
    found = bench("listNotes")
    assert (len(found["notes"]), found["total"]) == (50, 53)
    assert found["message"] == "53 notes, the first 50 shown"
    assert len(found["notes"][0]["text"]) == 501


@pytest.mark.parametrize(("field", "value"), [("title", " "), ("title", "x" * 501), ("text", "x" * 100_001)])
def test_limits_of_a_note(bench: Bench, field: str, value: str):
    """Nothing empty, nothing huge."""
    assert refused(bench, "addNote", **{"title": "x", field: value}).next_move


def test_half_characters_are_made_whole(bench: Bench):
    """Half of a surrogate pair reaches no database."""
    assert bench("addNote", title="a\ud800b")["title"] == "a?b"
    assert bench("listNotes", search="\ud800")["total"] >= 0
    assert refused(bench, "deleteNote", note="\ud800\ud800")


def test_a_deleted_note_is_gone_and_kept(bench: Bench):
    """It is not listed or found any more; the row stays as a tombstone."""
    bench("addNote", title="Milk")
    bench("deleteNote", note="Milk")
    assert bench("listNotes") == {"notes": [], "total": 0, "message": "0 notes"}
    assert refused(bench, "deleteNote", note="Milk").details["reason"] == "not_found"
    assert json.loads(bench.rows())["notes"][0]["deleted"] == 1
    assert bench.db.read_sync(notes.list_rows) == []


# --- by name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    [
        "Anna's birthday",
        "anna's  BIRTHDAY",
        '"Anna\'s birthday"',
        "birthday",
        "annas birthday",
        "Ana's birthday",
        "anna",
    ],
)
def test_found_by_title(bench: Bench, reference: str):
    """Exactly, but for case and quotes; by its words; with a letter wrong."""
    made = bench("addNote", title="Anna's birthday")
    bench("addNote", title="Milk and bread")
    assert bench("tagNote", note=reference, tag="x")["id"] == made["id"]
    assert bench("tagNote", note=f" {made['id']} ", tag="y")["id"] == made["id"]


@pytest.mark.parametrize("reference", ["a", "Ben", "xyz", "Milk and butter and eggs"])
def test_not_found(bench: Bench, reference: str):
    """What is not near enough is no match; the nearest are shown."""
    bench("addNote", title="Anna's birthday")
    bench("addNote", title="Milk and bread")
    error = refused(bench, "deleteNote", note=reference)
    assert error.details["reason"] == "not_found"
    assert reference in error.message


def test_not_found_shows_the_nearest(bench: Bench):
    """With titles and ids, to choose from."""
    made = bench("addNote", title="Milk and bread")
    error = refused(bench, "deleteNote", note="Milk and butter")
    assert error.details["candidates"] == [{"id": made["id"], "title": "Milk and bread"}]
    assert "Milk and bread" in error.next_move


def test_nothing_named(bench: Bench):
    """An empty reference means nothing."""
    bench("addNote", title="Milk")
    assert "No note is named" in refused(bench, "deleteNote", note=" '' ").message


@pytest.mark.parametrize(
    ("titles", "reference"),
    [
        (["Milk", "Milk"], "Milk"),
        (["Buy milk", "Milk bread"], "milk"),
        (["Lisbon food", "Lisbon flights"], "Lisbon"),
        (["牛乳を買う", "牛乳を飲む"], "牛乳"),
    ],
)
def test_ambiguous(bench: Bench, titles: list[str], reference: str):
    """Several that fit are a question back, with ids; an id answers it."""
    ids = [bench("addNote", title=title)["id"] for title in titles]
    error = refused(bench, "deleteNote", note=reference)
    assert error.details["reason"] == "ambiguous"
    assert sorted(one["id"] for one in error.details["candidates"]) == sorted(ids)
    assert bench("deleteNote", note=ids[0])["id"] == ids[0]
    assert bench("deleteNote", note=reference)["id"] == ids[1]


def test_many_ambiguous_ones_are_cut(bench: Bench):
    """A message names five."""
    for _ in range(7):
        bench("addNote", title="Milk")
    assert "and 2 more" in refused(bench, "deleteNote", note="Milk").message


def test_scores():
    """All words of the reference beat likeness; one short word says nothing; one Chinese character does."""
    assert references.score("milk", "Buy milk") == references.SAME_WORDS
    assert references.score("a", "Buy a present") < references.CLOSE
    assert references.score("茶", "茶を買う") == references.SAME_WORDS
    assert references.score("!!", "ab") < references.CLOSE


# --- tasks ---------------------------------------------------------------------------------------------------


def test_a_task_shows_its_date(bench: Bench):
    """The resolved date, as it is stored and as the person reads it."""
    found = bench("addTask", title="Buy a present", due="the day before 3 May")
    assert (found["due"], found["due_text"]) == ("2027-05-02", "Sun 2 May 2027")
    assert found["message"] == 'task "Buy a present" due Sun 2 May 2027'
    german = bench("addTask", title="Anruf", due="morgen um 17 Uhr", language="de")
    assert german["due"] == "2026-12-01T17:00:00+01:00"
    assert german["due_text"] == "Di 1. Dez. 2026, 17:00"
    assert bench("addTask", title="x")["message"] == 'task "x"'
    assert "'sometime' cannot be read" in refused(bench, "addTask", title="x", due="sometime").message


def test_open_and_done(bench: Bench):
    """Set, not toggled; twice is said, and changes nothing."""
    bench("addTask", title="Milk")
    assert bench("completeTask", task="milk")["message"] == 'task "Milk" done'
    before = bench.rows()
    assert bench("completeTask", task="milk")["message"] == 'task "Milk" already done'
    assert bench.rows() == before
    assert bench("listTasks")["total"] == 0
    assert [task["status"] for task in bench("listTasks", status="all")["tasks"]] == ["done"]
    assert bench("reopenTask", task="milk")["status"] == "open"
    assert bench("listTasks", status="done")["total"] == 0


def test_update_a_task(bench: Bench):
    """Title and date; nothing given is refused."""
    bench("addTask", title="Milk", due="tomorrow")
    found = bench("updateTask", task="Milk", title="Oat milk", due="next Friday")
    assert found["message"] == 'task "Oat milk" changed, due Fri 11 Dec 2026'
    assert bench("updateTask", task="Oat milk", title="Milk")["due"] == "2026-12-11"
    assert refused(bench, "updateTask", task="Milk")
    assert bench("deleteTask", task="Milk")["message"] == 'task "Milk" deleted'
    assert bench("listTasks", status="all")["total"] == 0


@pytest.mark.parametrize(
    ("since", "until", "titles"),
    [
        (None, None, "day morning noon evening far none"),
        ("1 Dec", "1 Dec", "day morning noon evening"),
        (None, "tomorrow", "day morning noon evening"),
        ("tomorrow at 12:00", "tomorrow", "day noon evening"),
        ("tomorrow", "tomorrow at 12:00", "day morning noon"),
        ("2 Dec", None, "far"),
        ("this week", "this week", "day morning noon evening"),
        ("next month", None, "day morning noon evening far"),
        ("24 Dec", "24 Dec", ""),
    ],
)
def test_tasks_between_dates(bench: Bench, since: str | None, until: str | None, titles: str):
    """Both ends included, a day as a whole; what has no date stands outside every range; earliest first."""
    for title, due in {
        "far": "2027-05-03",
        "evening": "2026-12-01 23:59",
        "none": None,
        "noon": "2026-12-01 12:00",
        "morning": "2026-12-01 00:00",
        "day": "2026-12-01",
    }.items():
        bench("addTask", title=title, due=due)
    found = bench("listTasks", since=since, until=until)
    assert " ".join(task["title"] for task in found["tasks"]) == titles


def test_a_day_is_a_day_in_every_zone(bench: Bench):
    """A date without a time belongs to no zone; a moment is shown in the reader's."""
    bench("addTask", title="day", due="3 May")
    bench("addTask", title="call", due="3 May at 0:30")
    there = {"zone": "America/New_York", "since": "2027-05-03", "until": "2027-05-03"}
    assert [task["title"] for task in bench("listTasks", **there)["tasks"]] == ["day"]
    before = bench("listTasks", zone="America/New_York", since="2027-05-02", until="2027-05-02")["tasks"]
    assert [(task["title"], task["due_text"]) for task in before] == [("call", "Sun 2 May 2027, 18:30")]


def test_rows_for_the_command_line(bench: Bench):
    """Whole rows, without a model."""
    bench("addTask", title="a", due="tomorrow")
    bench("addTask", title="b")
    bench("completeTask", task="b")
    bench("addEvent", title="c", start="tomorrow")
    read = bench.db.read_sync
    assert [row["title"] for row in read(tasks.list_rows)] == ["a", "b"]
    assert [row["title"] for row in read(lambda tx: tasks.list_rows(tx, None, "done"))] == ["b"]
    assert read(lambda tx: calendar.list_rows(tx, Window()))[0]["start"] == "2026-12-01"


# --- calendar ------------------------------------------------------------------------------------------------


def test_an_event(bench: Bench):
    """Start, end and place; the end may be a time of the start's day."""
    found = bench(
        "addEvent", title="Dentist", start="next Friday at 3pm", end="16:00", place=" Main  Street "
    )
    assert found["start_text"] == "Fri 11 Dec 2026, 15:00"
    assert found["end"] == "2026-12-11T16:00:00+01:00"
    assert found["place"] == "Main Street"
    assert found["message"] == 'event "Dentist" Fri 11 Dec 2026, 15:00'
    assert "place" not in bench("addEvent", title="x", start="tomorrow")
    assert refused(bench, "addEvent", title="x", start="tomorrow", place="p" * 301)


@pytest.mark.parametrize(
    ("start", "end", "stored"),
    [
        ("3 May", "5 May", ("2027-05-03", "2027-05-05")),
        ("next week", None, ("2026-12-07", "2026-12-13")),
        ("tomorrow at 3pm", "tomorrow", ("2026-12-01T15:00:00+01:00", None)),
        ("tomorrow at 3pm", "tomorrow at 4pm", ("2026-12-01T15:00:00+01:00", "2026-12-01T16:00:00+01:00")),
        ("in 1 hour", "in 2 hours", ("2026-11-30T19:30:00+01:00", "2026-11-30T20:30:00+01:00")),
        ("tomorrow at 22:00", "2 Dec at 1 am", ("2026-12-01T22:00:00+01:00", "2026-12-02T01:00:00+01:00")),
    ],
)
def test_events_with_ends(bench: Bench, start: str, end: str | None, stored: tuple[str, str | None]):
    """Days, spans, and moments; a day as the end of a moment on it says nothing."""
    bench("addEvent", title="x", start=start, end=end)
    (row,) = json.loads(bench.rows())["calendar_events"]
    assert (row["start"], row["end"]) == stored


@pytest.mark.parametrize(
    ("start", "end"), [("5 May", "3 May"), ("tomorrow at 3pm", "2pm"), ("tomorrow", "today")]
)
def test_an_event_cannot_end_before_it_starts(bench: Bench, start: str, end: str):
    """It is said with both times."""
    assert "before it starts" in refused(bench, "addEvent", title="x", start=start, end=end).message


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({"start": "17:00"}, ("2026-12-11T17:00:00+01:00", "2026-12-11T18:00:00+01:00")),
        ({"start": "12 Dec at 10:00"}, ("2026-12-12T10:00:00+01:00", "2026-12-12T11:00:00+01:00")),
        ({"start": "12 Dec"}, ("2026-12-12T15:00:00+01:00", "2026-12-12T16:00:00+01:00")),
        ({"end": "18:00"}, ("2026-12-11T15:00:00+01:00", "2026-12-11T18:00:00+01:00")),
        ({"start": "14:00", "end": "14:30"}, ("2026-12-11T14:00:00+01:00", "2026-12-11T14:30:00+01:00")),
        ({"place": "Town"}, ("2026-12-11T15:00:00+01:00", "2026-12-11T16:00:00+01:00")),
        ({"title": "Doctor"}, ("2026-12-11T15:00:00+01:00", "2026-12-11T16:00:00+01:00")),
    ],
)
def test_moving_an_event(bench: Bench, change: dict[str, str], stored: tuple[str, str | None]):
    """A new start keeps the length, a bare time keeps the day, a bare day the time."""
    bench("addEvent", title="Dentist", start="2026-12-11 15:00", end="16:00")
    bench("updateEvent", event="dentist", **change)
    (row,) = json.loads(bench.rows())["calendar_events"]
    assert (row["start"], row["end"]) == stored


def test_moving_days(bench: Bench):
    """A trip of three days stays one; an event without an end gets none."""
    bench("addEvent", title="Trip", start="3 May", end="5 May")
    assert bench("updateEvent", event="trip", start="10 May")["end"] == "2027-05-12"
    bench("addEvent", title="Call", start="3 May at 10:00")
    assert "end" not in bench("updateEvent", event="call", start="11:00")
    assert refused(bench, "updateEvent", event="trip")
    assert bench("deleteEvent", event="trip")["message"] == 'event "Trip" deleted'


@pytest.mark.parametrize(
    ("since", "until", "titles"),
    [
        (None, None, "now trip call"),
        ("yesterday", None, "old now trip call"),
        (None, "yesterday", "older old"),
        ("4 Dec", "4 Dec", "trip"),
        ("5 Dec", "6 Dec", "call"),
        ("4 Dec at 10:00", "4 Dec at 11:00", "trip"),
        ("5 Dec at 10:30", "5 Dec at 12:00", "call"),
        ("5 Dec at 11:01", "5 Dec at 12:00", ""),
        ("5 Dec at 8:00", "5 Dec at 10:00", "call"),
        ("Saturday morning", "Saturday morning", "call"),
        ("Saturday afternoon", "Saturday afternoon", ""),
        ("Samstagvormittag", "Samstagvormittag", "call"),
    ],
)
def test_events_between_dates(bench: Bench, since: str | None, until: str | None, titles: str):
    """What touches the range; without one, from today on."""
    bench("addEvent", title="older", start="20 November 2026")
    bench("addEvent", title="old", start="2026-11-29 10:00")
    bench("addEvent", title="now", start="today")
    bench("addEvent", title="trip", start="3 Dec", end="4 Dec")
    bench("addEvent", title="call", start="5 Dec at 10:00", end="11:00")
    found = bench("listEvents", since=since, until=until)
    assert " ".join(event["title"] for event in found["events"]) == titles


def test_places_and_ends_are_listed(bench: Bench):
    """With the texts for people."""
    bench("addEvent", title="x", start="tomorrow at 10:00", end="11:00", place="Town")
    (event,) = bench("listEvents")["events"]
    assert (event["place"], event["end_text"]) == ("Town", "Tue 1 Dec 2026, 11:00")


# --- memory --------------------------------------------------------------------------------------------------


def test_remember_and_forget(bench: Bench):
    """A fact is found by its words, and forgotten with its text."""
    made = bench("rememberFact", fact=" Anna  likes tea ")
    bench("rememberFact", fact="Ben is vegan")
    assert made["fact"] == "Anna likes tea"
    read = bench.db.read_sync
    assert [one["text"] for one in read(lambda tx: memory.search_facts(tx, "does Anna drink tea?"))] == [
        "Anna likes tea"
    ]
    assert read(lambda tx: memory.search_facts(tx, "zebra")) == []
    assert len(read(memory.list_rows)) == 2
    assert bench("forgetFact", fact="tea")["fact"] == "Anna likes tea"
    assert read(lambda tx: memory.search_facts(tx, "Anna tea")) == []
    assert [row["text"] for row in read(memory.list_rows)] == ["Ben is vegan"]
    assert "Anna" not in bench.rows()


@pytest.mark.parametrize("fact", [" ", "x" * 1001])
def test_facts_are_sentences(bench: Bench, fact: str):
    """Not nothing, and not a book."""
    assert "A fact has" in refused(bench, "rememberFact", fact=fact).message


def test_facts_by_id_and_unknown_ones(bench: Bench):
    """An id names a fact; what is not there cannot be forgotten."""
    made = bench("rememberFact", fact="Anna likes tea")
    assert refused(bench, "forgetFact", fact="coffee").details["reason"] == "not_found"
    assert bench("forgetFact", fact=made["id"])["id"] == made["id"]
    assert refused(bench, "forgetFact", fact=made["id"])


def test_a_fact_is_forgotten_once(bench: Bench):
    """The same call again finds it gone."""
    bench("rememberFact", fact="Anna likes tea")
    done = bench.call("forgetFact", fact="tea")
    with pytest.raises(ToolError, match="forgotten already"):
        bench.db.write_sync(lambda tx: done.tool.invoke(replace(done.ctx, tx=tx), done.arguments))


def test_chinese_facts(bench: Bench):
    """Found without spaces between words."""
    bench("rememberFact", fact="安娜喜欢喝茶")
    assert bench.db.read_sync(lambda tx: memory.search_facts(tx, "喝茶"))


# --- images and undo -----------------------------------------------------------------------------------------


WRITES = [
    ("addNote", {"title": "New"}),
    ("updateNote", {"note": "Milk", "title": "Bread", "text": "t"}),
    ("tagNote", {"note": "Milk", "tag": "x"}),
    ("untagNote", {"note": "Milk", "tag": "food"}),
    ("deleteNote", {"note": "Milk"}),
    ("addTask", {"title": "New", "due": "tomorrow"}),
    ("completeTask", {"task": "Call"}),
    ("reopenTask", {"task": "Done"}),
    ("updateTask", {"task": "Call", "title": "Mail", "due": "3 May"}),
    ("deleteTask", {"task": "Call"}),
    ("addEvent", {"title": "New", "start": "tomorrow"}),
    ("updateEvent", {"event": "Trip", "title": "Tour", "start": "4 May"}),
    ("deleteEvent", {"event": "Trip"}),
    ("rememberFact", {"fact": "Anna likes tea"}),
    ("forgetFact", {"fact": "vegan"}),
]


@pytest.fixture
def filled(bench: Bench) -> Bench:
    """Some rows to work on."""
    bench("addNote", title="Milk", tags=["food"])
    bench("addTask", title="Call")
    bench("addTask", title="Done")
    bench("completeTask", task="Done")
    bench("addEvent", title="Trip", start="3 May", end="5 May")
    bench("rememberFact", fact="Ben is vegan")
    return bench


@pytest.mark.parametrize(("name", "arguments"), WRITES)
def test_undo_sets_the_rows_as_they_were(filled: Bench, name: str, arguments: dict[str, Any]):
    """Byte for byte, version, actor and times included; twice is the same as once; redo as well."""
    before = filled.rows()
    done = filled.call(name, **arguments)
    after = filled.rows()
    assert done.error is None
    assert done.before != done.after
    assert after != before
    assert filled.image(done) == done.after
    for image, rows in (
        (done.before, before),
        (done.before, before),
        (done.after, after),
        (done.after, after),
        (done.before, before),
    ):
        filled.restore(done, image)
        assert filled.rows() == rows
        assert filled.image(done) == image


@pytest.mark.parametrize(("name", "arguments"), WRITES)
def test_a_later_edit_shows_in_the_image(filled: Bench, name: str, arguments: dict[str, Any]):
    """Whoever made it, and whether or not it was reverted: then an undo is a conflict."""
    done = filled.call(name, **arguments)
    row_id = next(iter(done.after["rows"]))
    table = {"Note": "notes", "Task": "tasks", "Event": "calendar_events", "Fact": "memories"}[
        name[-4:] if name[-5:] != "Event" else "Event"
    ]
    filled.db.write_sync(
        lambda tx: tx.exec_driver_sql(f"UPDATE {table} SET version = version + 2 WHERE id = ?", (row_id,))
    )
    assert filled.image(done) not in (done.before, done.after)


def test_the_name_means_the_same_row_after_a_rename(bench: Bench):
    """The call itself renames it, and another takes the name: the image stays with the first."""
    first = bench("addNote", title="Milk")
    done = bench.call("updateNote", note="Milk", title="Bread")
    bench("addNote", title="Milk")
    assert list(bench.image(done)["rows"]) == [first["id"]]
    bench.restore(done, done.before)
    titles = sorted(row["title"] for row in json.loads(bench.rows())["notes"])
    assert titles == ["Milk", "Milk"]


def test_a_target_that_is_gone_is_looked_for_again(bench: Bench):
    """The intent named a row; before the call it was deleted; another fits by now."""
    first = bench("addNote", title="Milk")
    done = bench.call("deleteNote", note="Milk")
    second = bench("addNote", title="Milk")
    tool, ctx = done.tool, done.ctx
    result = bench.db.write_sync(lambda tx: tool.invoke(replace(ctx, tx=tx), done.arguments))
    assert result["id"] == second["id"] != first["id"]


@pytest.mark.parametrize(
    ("name", "argument"), [("deleteNote", "note"), ("completeTask", "task"), ("forgetFact", "fact")]
)
def test_a_failed_call_has_an_empty_image(bench: Bench, name: str, argument: str):
    """Nothing was touched, so there is nothing to take back."""
    done = bench.call(name, {argument: "nothing"})
    assert done.error is not None
    assert done.before == done.after == {"rows": {}}


def test_the_tools_need_the_transaction(bench: Bench):
    """Called around the executor they say so."""
    done = bench.call("listNotes")
    with pytest.raises(MisuseError, match="Run it through the executor"):
        done.tool.invoke(done.ctx, {})
