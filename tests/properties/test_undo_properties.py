"""Any sequence of calls of the real kits, taken back by the real executor, leaves the data byte for byte as it was."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from postgres_server import Server
from surefoot import Assistant, ScriptedModel
from surefoot.journal import SqlJournal
from surefoot.journal.owner import current_owner
from surefoot.journal.types import RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.session import Session
from surefoot.running.undo import Undoer, calls_to_undo, undo_catalogue
from surefoot.settings import load_settings
from surefoot.storage import Database, memories
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin
from surefoot.tools.kits.tables import articles, calendar_events, notes, quiz_questions, quizzes, tasks
from surefoot.tools.types import Actor

NOW = datetime(2026, 4, 27, 9, 0, tzinfo=UTC)
TOOLS = builtin(["notes", "tasks", "calendar", "memory", "quizzes", "articles"])
TABLES = {
    table.name: table
    for table in (notes, tasks, calendar_events, quizzes, quiz_questions, articles, memories.memories)
}

TITLES = st.sampled_from(["Milk", "Anna’s birthday", "買い物", "Lisbon flights", "Lisbon food"])
DATES = st.sampled_from(["3 May", "tomorrow at 5pm", "2026-05-03", "nonsense"])
CALLS = st.one_of(
    st.tuples(
        st.just("addNote"), st.fixed_dictionaries({"title": TITLES}, optional={"text": st.text(max_size=20)})
    ),
    st.tuples(st.just("updateNote"), st.fixed_dictionaries({"note": TITLES, "title": TITLES})),
    st.tuples(
        st.just("tagNote"), st.fixed_dictionaries({"note": TITLES, "tag": st.sampled_from(["a", "b"])})
    ),
    st.tuples(
        st.just("untagNote"), st.fixed_dictionaries({"note": TITLES, "tag": st.sampled_from(["a", "b"])})
    ),
    st.tuples(st.just("deleteNote"), st.fixed_dictionaries({"note": TITLES})),
    st.tuples(st.just("addTask"), st.fixed_dictionaries({"title": TITLES}, optional={"due": DATES})),
    st.tuples(st.just("completeTask"), st.fixed_dictionaries({"task": TITLES})),
    st.tuples(st.just("reopenTask"), st.fixed_dictionaries({"task": TITLES})),
    st.tuples(st.just("updateTask"), st.fixed_dictionaries({"task": TITLES, "due": DATES})),
    st.tuples(st.just("deleteTask"), st.fixed_dictionaries({"task": TITLES})),
    st.tuples(st.just("addEvent"), st.fixed_dictionaries({"title": TITLES, "start": DATES})),
    st.tuples(st.just("updateEvent"), st.fixed_dictionaries({"event": TITLES, "start": DATES})),
    st.tuples(st.just("deleteEvent"), st.fixed_dictionaries({"event": TITLES})),
    st.tuples(st.just("rememberFact"), st.fixed_dictionaries({"fact": TITLES})),
    st.tuples(st.just("forgetFact"), st.fixed_dictionaries({"fact": TITLES})),
    st.tuples(st.just("listTasks"), st.just({})),
)

QUESTION = st.fixed_dictionaries(
    {
        "question": st.sampled_from(["How much milk?", "2", "いくら？"]),
        "answers": st.lists(st.sampled_from(["1", "2", "much", "もっと"]), max_size=3),
        "correct": st.sampled_from([0, 1, "2", "much", "none"]),
    }
)
NAMED = st.sampled_from(["1", "2", "milk", "いくら"])
URLS = st.sampled_from(["https://a.b/1", "https://a.b/2", "no address"])
LATER_KITS = st.one_of(
    st.tuples(st.just("addQuiz"), st.fixed_dictionaries({"title": TITLES})),
    st.tuples(
        st.just("addQuestions"),
        st.fixed_dictionaries({"quiz": TITLES, "questions": st.lists(QUESTION, max_size=3)}),
    ),
    st.tuples(
        st.just("updateQuestion"),
        st.fixed_dictionaries(
            {"quiz": TITLES, "question": NAMED}, optional={"text": TITLES, "correct": NAMED}
        ),
    ),
    st.tuples(st.just("deleteQuestion"), st.fixed_dictionaries({"quiz": TITLES, "question": NAMED})),
    st.tuples(st.just("deleteQuiz"), st.fixed_dictionaries({"quiz": TITLES})),
    st.tuples(
        st.just("saveArticle"),
        st.fixed_dictionaries({"title": TITLES, "url": URLS}, optional={"published": DATES}),
    ),
    st.tuples(st.just("deleteArticle"), st.fixed_dictionaries({"article": st.one_of(TITLES, URLS)})),
)


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """An empty database, migrated once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        Database(path).close()
        yield path


@pytest.fixture(params=["sqlite", "postgresql"])
def each_template(request: pytest.FixtureRequest, template: Path) -> Path | Server:
    """What a database of each kind is copied from."""
    if request.param == "sqlite":
        return template
    server: Server = request.getfixturevalue("postgres_server")
    server.template = request.getfixturevalue("migrated_template")
    return server


def canonical(database: Database, *, only: str = "") -> bytes:
    """Every row of every kit, ordered by key, as canonical JSON.

    `number` and `undone` are the database's and the journal's own, not the kit's.
    """

    def read(tx: Any) -> bytes:
        found = {}
        for name, table in TABLES.items():
            rows = [dict(row) for row in tx.execute(table.select().order_by(table.c.id)).mappings()]
            kept = [{k: v for k, v in row.items() if k not in {"number", "undone"}} for row in rows]
            found[name] = [row for row in kept if only in json.dumps(row, ensure_ascii=False)]
        return json.dumps(found, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")

    return database.read_sync(read)


async def a_run(journal: SqlJournal, kind: str = "ask") -> Session:
    run = lifecycle.new_run(
        "p", kind=kind, actor=Actor(), now=NOW, zone="UTC", language="en", owner=current_owner()
    )
    run = await journal.create_run(run.with_(status=RunStatus.RUNNING))
    catalogue = Catalogue(TOOLS) if kind == "ask" else undo_catalogue(Catalogue(TOOLS))
    return Session(run, journal, catalogue, load_settings(), Budget(NO_LIMITS))


async def make(session: Session, calls: list[tuple[str, dict[str, Any]]]) -> None:
    executor = Executor(session)
    for number, (name, arguments) in enumerate(calls):
        await executor.call(CallRequest(f"step.{number}", name, arguments, scope=str(number)))


class Scene:
    """A database with something in it already, and what it looked like."""

    def __init__(self, place: Path | str) -> None:
        self.database = Database(place)
        self.journal = SqlJournal(self.database)

    async def close(self) -> None:
        await self.journal.close()
        self.database.close()


@contextmanager
def copied(template: Path | Server) -> Iterator[Path | str]:
    """A database of its own for each example: a copy of the file, or one of the server."""
    if not isinstance(template, Path):
        name = template.new(template.template)
        yield template.url(name)
        template.drop(name)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield shutil.copy(template, Path(folder) / "journal.db")


def run_scene(template: Path | Server, work: Any) -> None:
    async def inside() -> None:
        with copied(template) as place:
            scene = Scene(place)
            try:
                await work(scene)
            finally:
                await scene.close()

    asyncio.run(inside())


SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(before=st.lists(CALLS, max_size=5), calls=st.lists(CALLS, max_size=10))
def test_calls_then_undo_restores_the_kits_data_byte_for_byte(each_template, before, calls):
    """Whatever was there before, and whatever failed on the way."""
    run_scene(each_template, lambda scene: undone_whole(scene, before, calls))


@SLOW
@given(before=st.lists(LATER_KITS, max_size=8), calls=st.lists(LATER_KITS, max_size=12))
@example(
    before=[("addQuiz", {"title": "Milk"})],
    calls=[
        (
            "addQuestions",
            {"quiz": "Milk", "questions": [{"question": "2", "answers": ["1", "2"], "correct": "2"}] * 2},
        ),
        ("addQuiz", {"title": "買い物"}),
        (
            "addQuestions",
            {"quiz": "買い物", "questions": [{"question": "?", "answers": ["1", "2"], "correct": 0}]},
        ),
        ("deleteQuestion", {"quiz": "Milk", "question": "1"}),
        ("updateQuestion", {"quiz": "Milk", "question": "1", "text": "Milk"}),
        ("deleteQuiz", {"quiz": "Milk"}),
        ("saveArticle", {"title": "Milk", "url": "https://a.b/1"}),
        ("deleteArticle", {"article": "https://a.b/1"}),
    ],
)
def test_quizzes_and_articles_are_restored_byte_for_byte(each_template, before, calls):
    """Their calls alone, so that they meet each other's rows more often."""
    run_scene(each_template, lambda scene: undone_whole(scene, before, calls))


async def undone_whole(scene: Scene, before: list[Any], calls: list[Any]) -> None:
    """Make the calls, take them back, and compare every row."""
    await make(await a_run(scene.journal), before)
    start = canonical(scene.database)
    session = await a_run(scene.journal)
    await make(session, calls)
    made = await scene.journal.calls(session.run.id)
    items = await Undoer(await a_run(scene.journal, "undo")).run(calls_to_undo(made))
    assert all(str(item.verdict) in {"take_back", "already"} for item in items)
    assert canonical(scene.database) == start


@SLOW
@given(
    before=st.lists(CALLS | LATER_KITS, max_size=4),
    calls=st.lists(CALLS | LATER_KITS, max_size=8),
    cut=st.integers(0, 8),
)
def test_an_undo_interrupted_anywhere_and_run_again_ends_the_same(template, before, calls, cut):
    """Between any two calls of the undo, and once more after it was whole; redo brings everything back."""

    async def work(scene: Scene) -> None:
        await make(await a_run(scene.journal), before)
        start = canonical(scene.database)
        session = await a_run(scene.journal)
        await make(session, calls)
        end = canonical(scene.database)
        undos = []
        for part in (cut, len(calls), len(calls)):
            made = calls_to_undo(await scene.journal.calls(session.run.id))
            undos.append(await a_run(scene.journal, "undo"))
            await Undoer(undos[-1]).run(made[:part])
        assert canonical(scene.database) == start
        undone = [c for undo in undos for c in await scene.journal.calls(undo.run.id) if c.undoable]
        await Undoer(await a_run(scene.journal, "redo")).run(calls_to_undo(undone))
        assert canonical(scene.database) == end

    run_scene(template, work)


@SLOW
@given(calls=st.lists(CALLS, min_size=1, max_size=6), seed=st.integers(0, 10_000))
def test_another_runs_writes_in_between_stay(template, calls, seed):
    """Rows of another run, written between the calls and between the steps of the undo, are untouched by it."""

    async def work(scene: Scene) -> None:
        order = random.Random(seed)
        session, other = await a_run(scene.journal), await a_run(scene.journal)
        theirs = 0

        async def they_write() -> None:
            nonlocal theirs
            for _ in range(order.randint(0, 2)):
                theirs += 1
                request = CallRequest(
                    f"their.{theirs}", "addTask", {"title": f"THEIRS {theirs} {order.random()}"}
                )
                assert (await Executor(other).call(request)).ok

        executor = Executor(session)
        for number, (name, arguments) in enumerate(calls):
            await executor.call(CallRequest(f"step.{number}", name, arguments, scope=str(number)))
            await they_write()
        made = calls_to_undo(await scene.journal.calls(session.run.id))
        for call in made:
            undo = await a_run(scene.journal, "undo")
            await Undoer(undo).run([call])
            await they_write()
        assert canonical(scene.database, only="THEIRS").count(b"THEIRS") == theirs
        assert json.loads(canonical(scene.database)) == json.loads(canonical(scene.database, only="THEIRS"))

    run_scene(template, work)


def test_undo_of_a_thousand_calls_is_whole(template):
    """Size does not matter: no limit stops an undo half-way, and nothing is compared with everything."""

    async def work(scene: Scene) -> None:
        ours = Assistant(
            model=ScriptedModel(), journal=scene.journal, kits=("tasks",), settings=load_settings(zone="UTC")
        )
        start = canonical(scene.database)
        session = await a_run(scene.journal)
        many = 1_000
        executor = Executor(session)
        for number in range(many):
            await executor.call(
                CallRequest(f"step.{number}", "addTask", {"title": f"T{number}"}, scope=str(number))
            )
        await session.rest(RunStatus.DONE)
        assert (await ours.undo(session.run.id, preview=True)).taken_back == many
        report = await ours.undo(session.run.id)
        assert (report.taken_back, report.complete) == (many, True)
        assert canonical(scene.database) == start

    run_scene(template, work)
