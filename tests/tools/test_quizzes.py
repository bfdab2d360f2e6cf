"""Quizzes: questions in one call, answers that can be told apart, names within a quiz, images and undo."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from surefoot.errors import ArgumentError, SurefootError, ToolError
from surefoot.tools.kits import quizzes
from surefoot.tools.types import Actor

from .harness import Bench

PERSON = Actor("person", "ann")
PLANETS = [
    {
        "question": "Which planet is the largest?",
        "answers": ["Mars", "Jupiter", "Venus"],
        "correct": "Jupiter",
    },
    {"question": "Which planet is nearest to the Sun?", "answers": ["Mercury", "Earth"], "correct": 0},
    {
        "question": "Which planet has the most moons?",
        "answers": ["Jupiter", "Saturn"],
        "correct": "saturn",
        "explanation": "145 are known.",
    },
]


def question(text: str = "Q?", **more: Any) -> dict[str, Any]:
    return {"question": text, "answers": ["yes", "no"], "correct": "yes", **more}


def refused(bench: Bench, name: str, **arguments: Any) -> SurefootError:
    before = bench.rows()
    error = bench.call(name, **arguments).error
    assert isinstance(error, ToolError)
    assert error.next_move
    assert bench.rows() == before
    return error


@pytest.fixture
def planets(bench: Bench) -> Bench:
    bench("addQuiz", title="Planets", topic="astronomy")
    bench("addQuestions", quiz="planets", questions=PLANETS)
    return bench


def shown(bench: Bench, quiz: str = "Planets") -> list[str]:
    return [one["question"] for one in bench("getQuiz", quiz=quiz)["questions"]]


# --- writing -------------------------------------------------------------------------------------------------


def test_a_quiz_with_its_questions(planets: Bench):
    """One call for all of them; numbered in their order, the right answer as text, only what is there."""
    found = planets("getQuiz", quiz="Planets")
    assert (found["title"], found["topic"], found["total"], found["message"]) == (
        "Planets",
        "astronomy",
        3,
        "3 questions",
    )
    assert [(one["number"], one["correct"]) for one in found["questions"]] == [
        (1, "Jupiter"),
        (2, "Mercury"),
        (3, "Saturn"),
    ]
    assert "explanation" not in found["questions"][0]
    assert found["questions"][2]["explanation"] == "145 are known."
    assert found["questions"][0]["answers"] == ["Mars", "Jupiter", "Venus"]


def test_what_was_taken_as_right_is_told_back(bench: Bench):
    """A place that was meant from 1 shows at once."""
    bench("addQuiz", title="Q")
    told = bench("addQuestions", quiz="Q", questions=[question(correct=1)])
    assert told["message"] == 'quiz "Q" has 1 new question'
    assert told["questions"][0]["correct"] == "no"


def test_rows_have_who_when_and_an_order(planets: Bench):
    """Version, actor, times; the order goes on behind deleted questions too, and belongs to one quiz."""
    planets("deleteQuestion", quiz="Planets", question="3")
    planets("addQuestions", quiz="Planets", questions=[question("New?")], actor=PERSON)
    planets("addQuiz", title="Other")
    planets("addQuestions", quiz="Other", questions=[question("Other?")])
    rows = {row["question"]: row for row in json.loads(planets.rows())["quiz_questions"]}
    assert (rows["New?"]["position"], rows["New?"]["actor"], rows["New?"]["version"]) == (3, "person:ann", 1)
    assert rows["Other?"]["position"] == 0
    assert rows["Which planet has the most moons?"]["deleted"] == 1
    assert shown(planets)[-1] == "New?"


@pytest.mark.parametrize(
    ("correct", "answers", "place"),
    [
        (0, ["a", "b"], 0),
        (1, ["a", "b"], 1),
        ("b", ["a", "b"], 1),
        ("B ", ["a", "b"], 1),
        ("1", ["a", "b"], 1),
        ("2", ["4", "2", "1"], 1),
        (2, ["4", "8", "2"], 2),
        ("2", ["1", "2", "4"], 1),
        ("B", ["b", "B"], 1),
        (4, ["4", "2"], 0),
    ],
)
def test_the_right_answer_by_text_or_place(bench: Bench, correct: Any, answers: list[str], place: int):
    """Text first, exactly before roughly; a place counts from 0, and a text that is an answer is that answer."""
    bench("addQuiz", title="Q")
    bench("addQuestions", quiz="Q", questions=[question(answers=answers, correct=correct)])
    assert json.loads(bench.rows())["quiz_questions"][0]["correct"] == place


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"correct": 2}, "2 is none of the answers"),
        ({"correct": -1}, "-1 is none"),
        ({"correct": "maybe"}, "'maybe' is none"),
        ({"correct": ""}, "is none"),
        ({"correct": "²"}, "is none"),
        ({"answers": ["1", "2", "4"], "correct": 2}, "may be several of the answers"),
        ({"correct": "9" * 5_000}, "is none"),
        ({"answers": ["b", "B"], "correct": " 'b' "}, "may be several"),
        ({"answers": ["yes"]}, "1 answer"),
        ({"answers": []}, "0 answers"),
        ({"answers": [str(n) for n in range(11)], "correct": "0"}, "11 answers"),
        ({"answers": ["yes", " "]}, "cannot be an answer"),
        ({"answers": ["yes", "x" * 301]}, "cannot be an answer"),
        ({"answers": ["yes", "no", " no "]}, "'no' is given twice"),
        ({"question": " "}, "needs a title"),
        ({"question": "x" * 501}, "501 characters"),
        ({"explanation": "x" * 100_001}, "100001 characters"),
    ],
)
def test_one_bad_question_refuses_them_all_and_is_named(bench: Bench, bad: dict[str, Any], said: str):
    """Nothing half: the message says which, what and how to mend it."""
    bench("addQuiz", title="Q")
    error = refused(bench, "addQuestions", quiz="Q", questions=[question("A?"), question(**{"text": "B?", **bad} if "question" not in bad else bad)])  # fmt: skip
    assert error.message.startswith("Question 2: ")
    assert said in error.message
    assert error.message.endswith("None was added.")


@pytest.mark.parametrize("number", [0, 101])
def test_how_many_at_once(bench: Bench, number: int):
    """At least one, a hundred at most."""
    bench("addQuiz", title="Q")
    refused(bench, "addQuestions", quiz="Q", questions=[question(f"{n}?") for n in range(number)])
    bench("addQuestions", quiz="Q", questions=[question(f"{n}?") for n in range(100)])
    found = bench("getQuiz", quiz="Q")
    assert (len(found["questions"]), found["total"]) == (50, 100)
    assert found["message"] == "100 questions, the first 50 shown"


@pytest.mark.parametrize(
    "bad", ["text", [5], [{"question": "A?"}], [{"question": "A?", "answers": "x", "correct": 0}], None]
)
def test_what_is_no_list_of_questions(bench: Bench, bad: Any):
    """Refused by the schema, before anything runs."""
    bench("addQuiz", title="Q")
    with pytest.raises(ArgumentError):
        bench.call("addQuestions", quiz="Q", questions=bad)


def test_a_list_sent_as_text_is_read(bench: Bench):
    """Models send lists as JSON texts; the schema allows no text there."""
    bench("addQuiz", title="Q")
    bench("addQuestions", quiz="Q", questions=json.dumps(PLANETS))
    assert bench("getQuiz", quiz="Q")["total"] == 3


@pytest.mark.parametrize(("title", "topic"), [(" ", ""), ("x" * 501, ""), ("x", "y" * 100_001)])
def test_limits_of_a_quiz(bench: Bench, title: str, topic: str):
    """Nothing empty, nothing huge."""
    refused(bench, "addQuiz", title=title, topic=topic)


# --- finding -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "titles"),
    [
        ("", ["Rivers", "Planets"]),
        ("planets", ["Planets"]),
        ("astronomy", ["Planets"]),
        ("moons", ["Planets"]),
        ("astro", ["Planets"]),
        ("largest river", ["Planets", "Rivers"]),
        ("nothing", []),
        ("?!", ["Rivers", "Planets"]),
    ],
)
def test_search(planets: Bench, search: str, titles: list[str]):
    """In title, topic and questions: all words, else any; newest first."""
    planets("addQuiz", title="Rivers", now=datetime(2026, 12, 1, tzinfo=UTC))
    found = planets("listQuizzes", search=search)
    assert sorted(one["title"] for one in found["quizzes"]) == sorted(titles)
    if not search:
        assert [one["title"] for one in found["quizzes"]] == titles
        assert [one["questions"] for one in found["quizzes"]] == [0, 3]
    assert found["message"] == {0: "0 quizzes", 1: "1 quiz", 2: "2 quizzes"}[len(titles)]


def test_quizzes_are_found_by_near_names_and_asked_back(planets: Bench):
    """Like notes: exact, else the only close one, else a question."""
    assert planets("getQuiz", quiz="planet s")["title"] == "Planets"
    assert "no quiz 'Volcanoes'" in refused(planets, "getQuiz", quiz="Volcanoes").message
    planets("addQuiz", title="Planets")
    error = refused(planets, "addQuestions", quiz="Planets", questions=[question()])
    assert error.details["reason"] == "ambiguous"
    assert len(error.details["candidates"]) == 2


@pytest.mark.parametrize(
    "named",
    [
        "2",
        "#2",
        " 2 ",
        "Which planet is nearest to the Sun?",
        "which planet is nearest to the sun",
        "nearest",
    ],
)
def test_a_question_by_number_text_or_words(planets: Bench, named: str):
    """Within its quiz only."""
    planets("addQuiz", title="Other")
    planets("addQuestions", quiz="Other", questions=[question("Which planet is nearest to the Sun?")])
    assert planets("deleteQuestion", quiz="Planets", question=named)["question"].startswith(
        "Which planet is nearest"
    )
    assert len(shown(planets)) == 2
    assert len(shown(planets, "Other")) == 1


def test_a_question_by_id_and_by_a_text_that_is_a_figure(planets: Bench):
    """An exact text wins over the number of another question."""
    held = planets("getQuiz", quiz="Planets")["questions"]
    assert planets("deleteQuestion", quiz="Planets", question=held[0]["id"])["id"] == held[0]["id"]
    planets("addQuestions", quiz="Planets", questions=[question("1")])
    assert planets("deleteQuestion", quiz="Planets", question="1")["question"] == "1"


@pytest.mark.parametrize("named", ["0", "4", "99", "planet", "", "elephants", "²"])
def test_a_question_that_is_not_meant_for_sure(planets: Bench, named: str):
    """None or several: a question back, nothing done."""
    refused(planets, "deleteQuestion", quiz="Planets", question=named)
    refused(planets, "deleteQuestion", quiz="Nowhere", question=named)


# --- changing ------------------------------------------------------------------------------------------------


def test_parts_of_a_question_change_alone(planets: Bench):
    """The right answer stays the same text when the answers are written anew."""
    told = planets(
        "updateQuestion", quiz="Planets", question="1", answers=["Jupiter", "Neptune"], actor=PERSON
    )
    assert told["correct"] == "Jupiter"
    told = planets("updateQuestion", quiz="Planets", question="1", text="The largest?", correct=1)
    assert (told["question"], told["correct"]) == ("The largest?", "Neptune")
    planets("updateQuestion", quiz="Planets", question="3", explanation="146 since then.")
    assert planets("getQuiz", quiz="Planets")["questions"][2]["explanation"] == "146 since then."
    row = next(
        row for row in json.loads(planets.rows())["quiz_questions"] if row["question"] == "The largest?"
    )
    assert row["version"] == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Nothing is to be changed"),
        ({"answers": ["Mars", "Venus"]}, "'Jupiter' is none of the answers"),
        ({"correct": "Pluto"}, "'Pluto' is none"),
        ({"text": " "}, "needs a title"),
    ],
)
def test_changes_that_cannot_be(planets: Bench, change: dict[str, Any], said: str):
    """A right answer that is gone is asked for."""
    error = refused(planets, "updateQuestion", quiz="Planets", question="1", **change)
    assert said in error.message
    assert "None was added" not in error.message


def test_changing_nothing_writes_nothing(planets: Bench):
    """Equal values leave the row as it is."""
    before = planets.rows()
    planets("updateQuestion", quiz="Planets", question="1", correct="Jupiter")
    assert planets.rows() == before


def test_a_deleted_quiz_is_gone_with_its_questions_and_kept(planets: Bench):
    """A tombstone: not listed, not found, still in the table."""
    assert planets("deleteQuiz", quiz="Planets")["message"] == 'quiz "Planets" deleted'
    assert planets("listQuizzes")["total"] == 0
    refused(planets, "updateQuestion", quiz="Planets", question="1", text="x")
    assert [row["deleted"] for row in json.loads(planets.rows())["quizzes"]] == [1]
    assert len(json.loads(planets.rows())["quiz_questions"]) == 3


# --- undo ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("addQuiz", {"title": "Planets"}),
        ("addQuestions", {"quiz": "Planets", "questions": PLANETS}),
        ("updateQuestion", {"quiz": "Planets", "question": "2", "text": "2?"}),
        ("deleteQuestion", {"quiz": "Planets", "question": "nearest"}),
        ("deleteQuiz", {"quiz": "Planets"}),
    ],
)
def test_every_write_is_taken_back_and_done_again_byte_for_byte(
    planets: Bench, name: str, arguments: dict[str, Any]
):
    """By images alone, however often."""
    before = planets.rows()
    done = planets.call(name, arguments)
    assert done.error is None
    after = planets.rows()
    assert after != before
    assert planets.image(done) == done.after != done.before
    for _ in range(2):
        planets.restore(done, done.before)
        assert planets.rows() == before
        assert planets.image(done) == done.before
    planets.restore(done, done.after)
    assert planets.rows() == after


def test_undo_of_added_questions_leaves_those_a_person_added_since(planets: Bench):
    """Exactly these go; the image does not even see the others, so there is no conflict."""
    done = planets.call("addQuestions", quiz="Planets", questions=[question("Ours 1?"), question("Ours 2?")])
    planets("addQuestions", quiz="Planets", questions=[question("Theirs?")], actor=PERSON, run="other")
    assert planets.image(done) == done.after
    planets.restore(done, done.before)
    assert shown(planets)[3:] == ["Theirs?"]


def test_a_question_edited_since_is_a_conflict(planets: Bench):
    """Also one that was edited and set back: the version tells."""
    done = planets.call("addQuestions", quiz="Planets", questions=[question("Ours?")])
    for text in ("Changed?", "Ours?"):
        planets("updateQuestion", quiz="Planets", question="4", text=text, actor=PERSON)
        assert planets.image(done) != done.after


def test_a_quiz_with_somebodys_question_in_it_is_not_taken_away_under_it(bench: Bench):
    """The image of a new quiz counts the questions that live in it."""
    done = bench.call("addQuiz", title="Q")
    assert bench.image(done) == done.after
    bench("addQuestions", quiz="Q", questions=[question("Theirs?")], actor=PERSON)
    assert bench.image(done) != done.after
    bench("deleteQuestion", quiz="Q", question="1", actor=PERSON)
    assert bench.image(done) == done.after


def test_a_number_means_the_same_question_for_the_whole_life_of_a_call(planets: Bench):
    """The numbers of others move when one is deleted; the undo still looks at the one that was meant."""
    done = planets.call("deleteQuestion", quiz="Planets", question="1")
    assert shown(planets)[0] == "Which planet is nearest to the Sun?"
    planets.restore(done, done.before)
    assert shown(planets)[0] == "Which planet is the largest?"
    done = planets.call(
        "updateQuestion", quiz="Planets", question="Which planet is the largest?", text="Other?"
    )
    planets("addQuestions", quiz="Planets", questions=[question("Which planet is the largest?")])
    assert planets.image(done) == done.after


def test_one_number_in_two_quizzes_is_two_questions(bench: Bench):
    """What a call remembers belongs to the call alone."""
    for title in ("A", "B"):
        bench("addQuiz", title=f"Quiz {title}")
        bench("addQuestions", quiz=f"Quiz {title}", questions=[question(f"{title}?")])
    first = bench.call("deleteQuestion", quiz="Quiz A", question="1")
    second = bench.call("deleteQuestion", quiz="Quiz B", question="1")
    assert first.result["question"] == "A?"
    assert second.result["question"] == "B?"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("addQuestions", {"quiz": "Nowhere", "questions": [question()]}),
        ("updateQuestion", {"quiz": "Nowhere", "question": "1", "text": "x"}),
        ("updateQuestion", {"quiz": "Planets", "question": "9", "text": "x"}),
        ("deleteQuiz", {"quiz": "Nowhere"}),
    ],
)
def test_the_image_of_a_call_that_fails_is_no_failure(planets: Bench, name: str, arguments: dict[str, Any]):
    """`capture` does not raise because something is not there."""
    done = planets.call(name, arguments)
    assert isinstance(done.error, ToolError)
    assert done.before == done.after


def test_a_question_that_is_gone_when_the_call_runs_is_looked_for_again(planets: Bench):
    """Between the intent and the call somebody deleted it: the name may mean another one now."""
    tool = planets.catalogue.get("deleteQuestion")
    done = planets.call("deleteQuestion", quiz="Planets", question="1")

    def again(tx: Any) -> Any:
        return tool.invoke(replace(done.ctx, tx=tx), done.arguments)

    assert planets.db.write_sync(again)["question"] == "Which planet is nearest to the Sun?"


def test_rows_for_other_rooms(planets: Bench):
    """`list_rows` gives quizzes with their questions, as rows."""
    (row,) = planets.db.read_sync(lambda tx: quizzes.list_rows(tx, "moons"))
    assert [one["answers"][one["correct"]] for one in row["questions"]] == ["Jupiter", "Mercury", "Saturn"]
