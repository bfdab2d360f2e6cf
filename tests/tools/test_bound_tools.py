"""What tools say about their arguments for plans: dates, words that were said, names that there are, other calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import ToolDefinitionError
from surefoot.settings import Settings
from surefoot.tools import Catalogue, kits, tool
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.kits.folder import TEMPORARY
from surefoot.tools.kits.rows import MOST_OFFERED, offered
from surefoot.tools.types import Context, Tool

from .harness import NOW, ZONE, Bench, context


@dataclass(frozen=True)
class Thing:
    title: str
    text: str = ""


@dataclass(frozen=True)
class Seen:
    """A `Look` on these notes."""

    notes: tuple[Thing, ...] = ()
    language: str = "en"
    said: str = ""
    listed: dict[str, Any] = field(default_factory=dict)

    def source(self, text: str) -> dict[str, Any]:
        return self.listed if text.startswith("<") else {}

    def read(self, text: str) -> Moment | None:
        try:
            return resolve_date(text, NOW, ZONE, self.language)
        except Exception:  # noqa: BLE001 - no date, as the protocol says
            return None

    def find(self, kind: str, title: str) -> Thing | None:
        assert kind == "note"
        return next((one for one in self.notes if one.title.casefold() == title.casefold()), None)


def named(name: str) -> Tool:
    return Catalogue(kits.builtin(["notes", "tasks", "calendar", "files"])).get(name)


def options(bench: Bench, name: str, key: str) -> Any:
    """What the argument can be now, asked as before a plan."""
    asked = named(name).options[key]
    return bench.db.write_sync(lambda tx: asked(replace(context(bench.folder), tx=tx)))


# --- @tool -------------------------------------------------------------------------------------------------------


def test_a_tool_says_what_its_arguments_may_be() -> None:
    """As it was written; other tools say nothing."""

    def names(ctx: Context) -> list[str]:
        return [ctx.run]

    def instead(arguments: dict[str, Any], look: Any) -> None:
        del arguments, look

    @tool(effect="read", dates=["due"], said=("room",), options={"lamp": names}, rather=instead)
    def dim(ctx: Context, lamp: str, due: date, room: str = "") -> str:
        """Dim a lamp."""
        return f"{lamp} {due} {room} {ctx.run}"

    assert (dim.dates, dim.said) == (frozenset({"due"}), frozenset({"room"}))
    assert dim.options == {"lamp": names}
    assert dim.rather is instead

    @tool
    def plain(lamp: str) -> str:
        """Plain."""
        return lamp

    assert (plain.dates, plain.said, plain.options, plain.rather) == (frozenset(), frozenset(), {}, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dates": ("until",)}, "dates names 'until'"),
        ({"dates": "due"}, "dates names 'd'"),
        ({"said": ["due", "ctx"]}, "said names 'ctx'"),
        ({"options": {"task": list}}, "options names 'task'"),
    ],
)
def test_an_argument_that_it_does_not_have_is_refused(given: dict[str, Any], message: str) -> None:
    """A name that is written wrong would bind nothing, and nobody would see it. A text is no list of names."""

    def late(ctx: Context, due: str) -> str:
        """Late."""
        return due

    with pytest.raises(ToolDefinitionError, match=message) as refused:
        tool(effect="read", **given)(late)
    assert "It has: due." in refused.value.next_move


def test_a_tool_without_parameters_has_none_to_name() -> None:
    """The message says so."""
    with pytest.raises(ToolDefinitionError) as refused:

        @tool(dates=("due",))
        def nothing() -> str:
            """Nothing."""
            return ""

    assert "It has: none." in refused.value.next_move


@pytest.mark.parametrize(
    ("name", "dates", "said", "named_by"),
    [
        ("addTask", {"due"}, set(), set()),
        ("listTasks", {"since", "until"}, set(), set()),
        ("completeTask", set(), set(), {"task"}),
        ("reopenTask", set(), set(), {"task"}),
        ("updateTask", {"due"}, set(), {"task"}),
        ("deleteTask", set(), set(), {"task"}),
        ("addEvent", {"start", "end"}, {"place"}, set()),
        ("listEvents", {"since", "until"}, set(), set()),
        ("updateEvent", {"start", "end"}, {"place"}, {"event"}),
        ("deleteEvent", set(), set(), {"event"}),
        ("addNote", set(), {"tags"}, set()),
        ("updateNote", set(), set(), {"note"}),
        ("tagNote", set(), {"tag"}, {"note"}),
        ("untagNote", set(), set(), {"note"}),
        ("deleteNote", set(), set(), {"note"}),
        ("readFile", set(), set(), {"path"}),
        ("writeFile", set(), set(), set()),
    ],
)
def test_what_the_kits_say(name: str, dates: set[str], said: set[str], named_by: set[str]) -> None:
    """Dates and places are copied; what names a thing names one that is there; new titles are free."""
    one = named(name)
    assert (one.dates, one.said, set(one.options)) == (dates, said, named_by)


# --- names that there are ----------------------------------------------------------------------------------------


def test_open_tasks_are_completed_and_done_ones_reopened(bench: Bench) -> None:
    """Changing and deleting may name any; what is deleted cannot be named."""
    for title in ("Buy milk", "Müll raus", "Appeler Zoé", "Comprar pan"):
        bench("addTask", title=title)
    bench("completeTask", task="Müll raus")
    bench("deleteTask", task="Comprar pan")
    assert sorted(options(bench, "completeTask", "task")) == ["Appeler Zoé", "Buy milk"]
    assert options(bench, "reopenTask", "task") == ["Müll raus"]
    for name in ("updateTask", "deleteTask"):
        assert sorted(options(bench, name, "task")) == ["Appeler Zoé", "Buy milk", "Müll raus"]


def test_without_any_there_is_nothing_to_name(bench: Bench) -> None:
    """An empty list: the tool cannot be called; that is not the same as any name."""
    for name, key in (("completeTask", "task"), ("deleteEvent", "event"), ("tagNote", "note")):
        assert options(bench, name, key) == []


def test_events_and_notes_by_title_each_once(bench: Bench) -> None:
    """Two of one title are one name; the call will say that it is not clear which."""
    bench("addEvent", title="Gym", start="tomorrow at 7")
    bench("addEvent", title="Gym", start="friday at 7")
    bench("addNote", title="Boiler")
    assert options(bench, "updateEvent", "event") == ["Gym"]
    for name in ("updateNote", "tagNote", "untagNote", "deleteNote"):
        assert options(bench, name, "note") == ["Boiler"]


@pytest.mark.parametrize("titles", [[], ["a"], ["b", "a", "b"], [str(n) for n in range(MOST_OFFERED)]])
def test_few_titles_are_offered_in_their_order(titles: list[str]) -> None:
    """Each once."""
    assert offered(titles) == list(dict.fromkeys(titles))


def test_with_too_many_any_name_will_do(bench: Bench) -> None:
    """None, not a part of them."""
    assert offered(["a"] * (MOST_OFFERED + 1)) is None
    for number in range(MOST_OFFERED):
        bench("addTask", title=f"T{number}")
    assert len(options(bench, "completeTask", "task")) == MOST_OFFERED
    bench("addTask", title="One more")
    assert options(bench, "completeTask", "task") is None
    assert options(bench, "deleteTask", "task") is None
    assert options(bench, "reopenTask", "task") == []


def paths(folder: Path) -> list[str] | None:
    settings = Settings(data_dir=folder, files_dir=folder / "files")
    found = named("readFile").options["path"](context(folder, settings=settings))
    return None if found is None else list(found)


def test_files_are_named_by_their_path(tmp_path: Path) -> None:
    """In order, those of folders too; no folder, no link, no half-written file."""
    assert paths(tmp_path) == []
    root = tmp_path / "files"
    (root / "häuser" / "Berlin").mkdir(parents=True)
    for path in ("z.txt", "a b.md", "häuser/Berlin/Miete.txt", f"häuser/{TEMPORARY}x"):
        (root / path).write_text("x", encoding="utf-8")
    (root / "link.txt").symlink_to(root / "z.txt")
    assert paths(tmp_path) == ["a b.md", "häuser/Berlin/Miete.txt", "z.txt"]


def test_with_too_many_files_any_path_will_do(tmp_path: Path) -> None:
    """A full folder is not walked to its end."""
    root = tmp_path / "files"
    root.mkdir()
    for number in range(MOST_OFFERED):
        (root / f"{number}.txt").touch()
    assert len(paths(tmp_path) or []) == MOST_OFFERED
    (root / "more.txt").touch()
    assert paths(tmp_path) is None


# --- overdue tasks -----------------------------------------------------------------------------------------------


def listed(bench: Bench, **arguments: str) -> list[str]:
    return [row["title"] for row in bench("listTasks", **arguments)["tasks"]]


@pytest.fixture
def late(bench: Bench) -> Bench:
    """Tasks around today, the 30th of November 2026, 18:30 in Berlin."""
    for title, due in (
        ("long ago", "2026-10-01"),
        ("yesterday", "2026-11-29"),
        ("last night", "2026-11-29 23:30"),
        ("this morning", "2026-11-30 08:00"),
        ("today", "2026-11-30"),
        ("tomorrow", "2026-12-01"),
        ("done", "2026-11-02"),
    ):
        bench("addTask", title=title, due=due)
    bench("addTask", title="some day")
    bench("completeTask", task="done")
    return bench


@pytest.mark.parametrize(
    ("asked", "titles"),
    [
        ({}, ["long ago", "yesterday", "last night"]),
        ({"until": "2026-11-15"}, ["long ago"]),
        ({"since": "2026-11-15"}, ["yesterday", "last night"]),
        ({"since": "2026-11-29", "until": "2026-11-29"}, ["yesterday", "last night"]),
        ({"until": "next friday"}, ["long ago", "yesterday", "last night"]),
        ({"since": "tomorrow"}, []),
    ],
)
def test_overdue_are_open_tasks_of_days_that_are_over(
    late: Bench, asked: dict[str, str], titles: list[str]
) -> None:
    """Nothing done, nothing of today, nothing without a date; a time that is asked for makes it less, never more."""
    assert listed(late, status="overdue", **asked) == titles


def test_the_day_is_over_where_the_person_is(late: Bench) -> None:
    """At half past midnight in Berlin it is still the 30th in London."""
    midnight = NOW.replace(hour=23, minute=30)
    assert "today" in [row["title"] for row in late("listTasks", status="overdue", now=midnight)["tasks"]]
    assert "today" not in [
        row["title"]
        for row in late("listTasks", status="overdue", now=midnight, zone="Europe/London")["tasks"]
    ]


def test_the_other_lists_are_as_they_were(late: Bench) -> None:
    """Open, done and all."""
    assert listed(late, status="done") == ["done"]
    assert len(listed(late, status="all")) == 8
    assert listed(late) == listed(late, status="open")
    assert listed(late, until="2026-11-30", status="open") == [
        "long ago",
        "yesterday",
        "last night",
        "today",
        "this morning",
    ]


# --- the call that is meant instead ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "title", "due"),
    [
        ("en", "Appointment with Dr Lee", "tomorrow at 5pm"),
        ("en", "meeting", "friday 9:30"),
        ("de", "Termin beim Zahnarzt", "morgen um 8 Uhr"),
        ("de", "Besprechung", "Freitag 14:00"),
        ("de", "Treffen mit Jana", "Freitag um 19 Uhr"),
        ("fr", "Rendez-vous chez le dentiste", "demain à 10h"),
        ("fr", "RDV banque", "vendredi à midi"),
        ("fr", "Réunion d'équipe", "demain à 10h"),
        ("es", "Reunión con el banco", "mañana a las 4"),
        ("es", "Cita con el médico", "viernes a las 10"),
    ],
)
def test_an_appointment_at_a_clock_time_is_an_event(language: str, title: str, due: str) -> None:
    """It is called one, and it has a time."""
    instead = named("addTask").rather
    assert instead is not None
    assert instead({"title": title, "due": due}, Seen(language=language)) == (
        "addEvent",
        {"title": title, "start": due},
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "Appointment with Dr Lee", "due": "tomorrow"},
        {"title": "Appointment with Dr Lee", "due": "soonish"},
        {"title": "Appointment with Dr Lee"},
        {"title": "Appointment with Dr Lee", "due": None},
        {"title": "Prepare the meeting", "due": "tomorrow at 5pm"},
        {"title": "Termine absagen", "due": "tomorrow at 5pm"},
        {"title": "", "due": "tomorrow at 5pm"},
        {"due": "tomorrow at 5pm"},
        {"title": ["Meeting"], "due": "tomorrow at 5pm"},
    ],
)
def test_all_else_stays_a_task(arguments: dict[str, Any]) -> None:
    """Without a time, with a title that only mentions one, or with what is no text."""
    instead = named("addTask").rather
    assert instead is not None
    assert instead(arguments, Seen()) is None


@pytest.mark.parametrize(
    ("there", "arguments"),
    [
        (Thing("Shopping", "milk, bread"), {"title": "Shopping", "text": "Milk, bread, eggs"}),
        (Thing("Einkauf", "Brot und Käse"), {"title": "einkauf", "text": "Brot und Käse und Äpfel"}),
        (Thing("Courses", "pain"), {"title": "courses", "text": "du pain et du thé"}),
        (Thing("Compra"), {"title": "Compra", "text": "té"}),
    ],
)
def test_a_note_that_is_there_is_made_longer(there: Thing, arguments: dict[str, Any]) -> None:
    """The new text has all words of the old one; the title is written as it stands there."""
    instead = named("addNote").rather
    assert instead is not None
    assert instead(arguments, Seen((there,))) == (
        "updateNote",
        {"note": there.title, "text": arguments["text"]},
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "Shopping", "text": "eggs"},
        {"title": "Shopping", "text": "bread, eggs"},
        {"title": "Shopping list", "text": "milk, bread, eggs"},
        {"title": "Shopping", "text": ""},
        {"title": "Shopping", "text": "milk, bread, eggs", "tags": ["food"]},
        {"title": "Shopping"},
        {"text": "milk, bread, eggs"},
        {"title": 5, "text": "milk, bread"},
    ],
)
def test_a_note_of_other_words_is_a_new_one(arguments: dict[str, Any]) -> None:
    """What would be lost is not replaced."""
    instead = named("addNote").rather
    assert instead is not None
    assert instead(arguments, Seen((Thing("Shopping", "milk, bread"),))) is None


@pytest.mark.parametrize(
    ("listed", "task", "instead"),
    [
        ({"status": "done"}, "<each task id from step 1>", "deleteTask"),
        ({"status": "overdue"}, "<each task id from step 1>", None),
        ({"status": "done"}, "Pay rent", None),
    ],
)
def test_what_is_done_already_is_cleared_away(listed: dict[str, Any], task: str, instead: str | None) -> None:
    """Ticking off each done task would change nothing."""
    found = named("completeTask").rather
    assert found is not None
    assert found({"task": task}, Seen(listed=listed)) == (
        None if instead is None else (instead, {"task": task})
    )


LASAGNE = Thing("Lasagne", "thin sauce")


@pytest.mark.parametrize(
    ("said", "arguments", "tag"),
    [
        ("put the tag Favourite on it", {"note": "Lasagne", "text": "thin sauce, Favourite"}, "Favourite"),
        ("häng das Schlagwort „küche“ dran", {"note": "Lasagne", "text": "thin sauce küche"}, "küche"),
        ("mets l'étiquette repas", {"note": "Lasagne", "text": "thin sauce, repas"}, "repas"),
        ("add salt to it", {"note": "Lasagne", "text": "thin sauce, salt"}, None),
        ("the tag salt and pepper", {"note": "Lasagne", "text": "thin sauce, salt, pepper"}, None),
        ("tag salt", {"note": "Lasagne", "title": "L", "text": "thin sauce, salt"}, None),
        ("tag salt", {"note": "Soup", "text": "thin sauce, salt"}, None),
        ("tag salt", {"note": "Lasagne", "title": "salt"}, None),
    ],
)
def test_a_word_that_was_called_a_tag_is_no_text(
    said: str, arguments: dict[str, Any], tag: str | None
) -> None:
    """The note is tagged where one word more was to be written, behind "tag"."""
    found = named("updateNote").rather
    assert found is not None
    expected = None if tag is None else ("tagNote", {"note": "Lasagne", "tag": tag})
    assert found(arguments, Seen((LASAGNE,), said=said)) == expected


@pytest.mark.parametrize(
    ("kit", "tool", "key"),
    [
        ("quizzes", "updateQuestion", "quiz"),
        ("quizzes", "deleteQuestion", "quiz"),
        ("quizzes", "deleteQuiz", "quiz"),
        ("articles", "deleteArticle", "article"),
    ],
)
def test_quizzes_and_articles_that_are_changed_are_there(kit: str, tool: str, key: str) -> None:
    """Where there is none, none can be named."""
    assert list(Catalogue(kits.builtin([kit])).get(tool).options) == [key]
