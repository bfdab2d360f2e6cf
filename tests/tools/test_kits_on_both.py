"""Each kit on SQLite and on PostgreSQL: the same calls give the same answers, images and rows, and are taken back."""

from __future__ import annotations

import json

import pytest

from .harness import Bench

STORIES = {
    "notes": [
        ("addNote", {"title": "Größe", "text": "Crème brûlée 喝茶", "tags": ["b", "A"]}),
        ("addNote", {"title": "alpha"}),
        ("addNote", {"title": "Beta\x00\ud800", "text": "half"}),
        ("listNotes", {"search": "creme"}),
        ("listNotes", {"search": "喝茶"}),
        ("updateNote", {"note": "grosse", "title": "größe", "text": "new"}),
        ("tagNote", {"note": "alpha", "tag": "x"}),
        ("untagNote", {"note": "alpha", "tag": "x"}),
        ("deleteNote", {"note": "Beta"}),
        ("deleteNote", {"note": "nothing of the kind " * 400}),
        ("listNotes", {}),
    ],
    "tasks": [
        ("addTask", {"title": "Buy milk", "due": "2026-12-05"}),
        ("addTask", {"title": "buy bread", "due": "2026-12-05 17:00"}),
        ("addTask", {"title": "Ärger"}),
        ("listTasks", {}),
        ("completeTask", {"task": "milk"}),
        ("reopenTask", {"task": "milk"}),
        ("updateTask", {"task": "bread", "due": "2026-12-04"}),
        ("deleteTask", {"task": "Ärger"}),
        ("listTasks", {"until": "2026-12-31"}),
    ],
    "calendar": [
        ("addEvent", {"title": "Dentist", "start": "2026-12-05 09:00"}),
        ("addEvent", {"title": "Holiday", "start": "2026-12-05"}),
        ("listEvents", {"from": "2026-12-05"}),
        ("updateEvent", {"event": "Dentist", "start": "2026-12-06 09:00"}),
        ("deleteEvent", {"event": "Holiday"}),
        ("listEvents", {}),
    ],
    "memory": [
        ("rememberFact", {"fact": "Anna likes tea"}),
        ("rememberFact", {"fact": "お茶が好きです"}),
        ("forgetFact", {"fact": "tea"}),
    ],
    "quizzes": [
        ("addQuiz", {"title": "Milk"}),
        (
            "addQuestions",
            {"quiz": "Milk", "questions": [{"question": "2?", "answers": ["1", "2"], "correct": "2"}] * 2},
        ),
        ("updateQuestion", {"quiz": "Milk", "question": "1", "text": "How much?"}),
        ("deleteQuestion", {"quiz": "Milk", "question": "2"}),
        ("listQuizzes", {}),
        ("deleteQuiz", {"quiz": "Milk"}),
    ],
    "articles": [
        ("saveArticle", {"title": "Rates", "url": "https://a.b/" + "x" * 1_900, "published": "2026-11-30"}),
        ("saveArticle", {"title": "rates fall", "url": "https://a.b/2"}),
        ("listArticles", {}),
        ("deleteArticle", {"article": "https://a.b/2"}),
    ],
}


def _told(done) -> str:
    error = None if done.error is None else done.error.to_dict()
    return json.dumps([done.result, error, done.before, done.after], ensure_ascii=False, sort_keys=True)


def _unnumbered(rows: str):
    """A row that was deleted and made again has another number; that is the database's own."""
    return {
        name: [{key: value for key, value in row.items() if key != "number"} for row in found]
        for name, found in json.loads(rows).items()
    }


@pytest.mark.parametrize("kit", sorted(STORIES))
def test_a_kit_is_the_same_on_both(tmp_path, postgres_url, kit):
    """Answers, errors, images and rows; then each call is taken back, the last one first, and made again."""
    benches = [Bench(tmp_path), Bench(tmp_path, postgres_url)]
    try:
        empty = [bench.rows() for bench in benches]
        made = [[bench.call(name, dict(arguments)) for name, arguments in STORIES[kit]] for bench in benches]
        assert [_told(done) for done in made[0]] == [_told(done) for done in made[1]]
        assert sum(done.error is None for done in made[0]) >= 3
        rows = [bench.rows() for bench in benches]
        assert rows[0] == rows[1] != empty[0]
        for bench, calls in zip(benches, made, strict=True):
            writes = [done for done in calls if done.error is None and done.tool.undo]
            for done in reversed(writes):
                assert bench.image(done) == done.after
                bench.restore(done, done.before)
            assert bench.rows() == empty[0]
            for done in writes:
                bench.restore(done, done.after)
        assert [_unnumbered(bench.rows()) for bench in benches] == [_unnumbered(rows[0])] * 2
    finally:
        for bench in benches:
            bench.close()
