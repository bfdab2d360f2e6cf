"""Quizzes: a title and questions with their answers, one of them right.

A question is named by its text, its number in the quiz or its id, and only within its quiz. The undo of a quiz looks at
its questions too: a quiz to which somebody added one since is not taken away under it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, func, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.storage.words import may_be_prefix, query_words, words
from surefoot.tools.decorator import tool
from surefoot.tools.kits import references
from surefoot.tools.kits.questions import Question, columns_of
from surefoot.tools.kits.rows import (
    LIST_LIMIT,
    Image,
    Row,
    Rows,
    clean,
    count,
    listed,
    row_undo,
    text_of,
    title_of,
    undo_of,
)
from surefoot.tools.kits.tables import quiz_questions, quizzes
from surefoot.tools.types import Context, Undo

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_QUESTIONS = 100
"""In one call: more would not fit into one answer of a model, and one bad question refuses them all."""

ROWS = Rows(quizzes, "quiz")
QUESTIONS = Rows(quiz_questions, "question", "question")

_LIVING = Prepared(
    select(quizzes)
    .where(quizzes.c.deleted == bindparam("gone"))
    .order_by(quizzes.c.created_at.desc(), quizzes.c.id)
)
_OF_QUIZ = Prepared(
    select(quiz_questions)
    .where(quiz_questions.c.quiz == bindparam("of_quiz"), quiz_questions.c.deleted == bindparam("gone"))
    .order_by(quiz_questions.c.position, quiz_questions.c.id)
)
_LAST = Prepared(
    select(func.max(quiz_questions.c.position)).where(quiz_questions.c.quiz == bindparam("of_quiz"))
)

_ALIASES = ("quiz", "questions", "test", "fragen", "cuestionario", "preguntas", "questionnaire", "क्विज़", "प्रश्नोत्तरी",
            "测验", "题目", "クイズ", "問題")  # fmt: skip


# --- reading -------------------------------------------------------------------------------------------------


def list_rows(tx: Connection, search: str = "") -> list[Row]:
    """Quizzes that are not deleted, newest first, each with `questions` as its list of rows.

    `search` finds those with all its words in title, topic or questions; if none has all, those with any of them.
    """
    found = [dict(zip(ROWS.columns, row, strict=True)) for row in _LIVING.rows(tx, gone=False)]
    for row in found:
        row["questions"] = questions_of(tx, row["id"])
    asked = query_words(search)
    if not asked:
        return found
    held = [(_hits(asked, row), row) for row in found]
    best = max((hits for hits, _ in held), default=0)
    least = len(asked) if best == len(asked) else 1
    return [row for hits, row in held if hits >= least]


def questions_of(tx: Connection, quiz_id: str) -> list[Row]:
    """The living questions of a quiz, in order; `answers` is a list."""
    found = [
        dict(zip(QUESTIONS.columns, row, strict=True))
        for row in _OF_QUIZ.rows(tx, of_quiz=quiz_id, gone=False)
    ]
    return [{**row, "answers": json.loads(row["answers"])} for row in found]


def _hits(asked: list[str], row: Row) -> int:
    there = set(words(" ".join([row["title"], row["topic"], *(one["question"] for one in row["questions"])])))
    return sum(
        word in there or (may_be_prefix(word) and any(one.startswith(word) for one in there))
        for word in asked
    )


def _find(tx: Connection, quiz_id: str, reference: str) -> str:
    """The id of the question that is meant: by id, by number, by text; ToolError."""
    found = questions_of(tx, quiz_id)
    wanted = clean(reference).strip()
    if any(row["id"] == wanted for row in found):
        return wanted
    number = wanted.lstrip("#")
    exact = [row for row in found if references.fold(row["question"]) == references.fold(wanted)]
    if number.isdecimal() and not exact and 1 <= int(number) <= len(found):
        return str(found[int(number) - 1]["id"])
    return references.choose("question", reference, [(row["id"], row["question"]) for row in found])


def _target(ctx: Context, quiz: str, question: str) -> Row:
    """The question this call means, the same for its whole life; ToolError."""
    quiz_id = ROWS.target(ctx, quiz)["id"]
    row_id = references.remembered(
        ctx,
        "question",
        question,
        lambda: _find(ctx.open_tx, quiz_id, question),
        lambda known: QUESTIONS.living(ctx.open_tx, known) is not None,
    )
    return cast("Row", QUESTIONS.get(ctx.open_tx, row_id))


# --- undo ----------------------------------------------------------------------------------------------------


def _capture_new(ctx: Context, arguments: dict[str, Any]) -> Image:
    del arguments
    own = ctx.new_id()
    held = [row["id"] for row in questions_of(ctx.open_tx, own)]
    return {**ROWS.image(ctx.open_tx, [own]), "questions": held}


def _restore_new(ctx: Context, arguments: dict[str, Any], image: Image) -> None:
    del arguments
    ROWS.restore(ctx.open_tx, image)


def _new_question_ids(ctx: Context, arguments: dict[str, Any]) -> list[str]:
    return [ctx.new_id(number) for number in range(len(arguments.get("questions") or ()))]


def _target_ids(ctx: Context, arguments: dict[str, Any]) -> list[str]:
    """The question a call means, deleted or not; empty where there is none (the call itself will say so)."""
    quiz_ids = ROWS.target_ids(ctx, str(arguments.get("quiz", "")))
    question = str(arguments.get("question", ""))
    if not quiz_ids:
        return []
    try:
        return [
            references.remembered(
                ctx, "question", question, lambda: _find(ctx.open_tx, quiz_ids[0], question)
            )
        ]
    except ToolError:
        return []


_UNDO_QUESTION = row_undo(QUESTIONS, _target_ids)


# --- tools ---------------------------------------------------------------------------------------------------


@tool(
    name="addQuiz",
    kit="quizzes",
    effect="write",
    where="writer",
    undo=Undo(_capture_new, _restore_new),
    aliases=("create", "make", "erstellen", *_ALIASES),
)
def add_quiz(ctx: Context, title: str, topic: str = "") -> dict[str, Any]:
    """Make a new, empty quiz."""
    row = ROWS.add(ctx, title=title_of(title, "quiz"), topic=" ".join(text_of(topic, "quiz").split()))
    return _told(row, "added")


@tool(
    name="addQuestions",
    kit="quizzes",
    effect="write",
    where="writer",
    undo=row_undo(QUESTIONS, _new_question_ids),
    aliases=("add", "ask", "fragen hinzufügen", *_ALIASES),
)
def add_questions(ctx: Context, quiz: str, questions: list[Question]) -> dict[str, Any]:
    """Add questions to a quiz, all in one call."""
    row = ROWS.target(ctx, quiz)
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        raise ToolError(
            f"{len(questions)} questions were given.",
            f"Give 1 to {MAX_QUESTIONS} in one call.",
            allowed=MAX_QUESTIONS,
        )
    checked = [columns_of(one, number) for number, one in enumerate(questions, 1)]
    last = cast("tuple[int | None]", _LAST.row(ctx.open_tx, of_quiz=row["id"]))[0]
    start = 0 if last is None else last + 1
    added = [
        QUESTIONS.add(ctx, number, quiz=row["id"], position=start + number, **values)
        for number, values in enumerate(checked)
    ]
    return {
        **_told(row, f"has {count(len(added), 'new question')}"),
        "questions": [
            {
                "id": one["id"],
                "question": one["question"],
                "correct": json.loads(one["answers"])[one["correct"]],
            }
            for one in added
        ],
    }


@tool(
    name="listQuizzes",
    kit="quizzes",
    effect="read",
    where="writer",
    aliases=("search quizzes", "find", "suchen", *_ALIASES),
)
def list_quizzes(ctx: Context, search: str = "") -> dict[str, Any]:
    """Find quizzes by words."""
    found = list_rows(ctx.open_tx, search)
    items = [
        {
            "id": row["id"],
            "title": row["title"],
            **({"topic": row["topic"]} if row["topic"] else {}),
            "questions": len(row["questions"]),
        }
        for row in found[:LIST_LIMIT]
    ]
    told = listed("quizzes", items, len(found), "quiz")
    return told if len(found) == 1 else {**told, "message": told["message"].replace("quizs", "quizzes", 1)}


@tool(
    name="getQuiz",
    kit="quizzes",
    effect="read",
    where="writer",
    aliases=("show", "open", "read", "zeigen", *_ALIASES),
)
def get_quiz(ctx: Context, quiz: str) -> dict[str, Any]:
    """Show a quiz with its questions."""
    row = ROWS.target(ctx, quiz)
    found = questions_of(ctx.open_tx, row["id"])
    return {
        "id": row["id"],
        "title": row["title"],
        **({"topic": row["topic"]} if row["topic"] else {}),
        **listed(
            "questions",
            [_shown(one, n) for n, one in enumerate(found[:LIST_LIMIT], 1)],
            len(found),
            "question",
        ),
    }


@tool(
    name="updateQuestion",
    kit="quizzes",
    effect="write",
    where="writer",
    undo=_UNDO_QUESTION,
    options={"quiz": ROWS.titles},
    aliases=("edit", "correct", "ändern", *_ALIASES),
)
def update_question(
    ctx: Context,
    quiz: str,
    question: str,
    text: str | None = None,
    answers: list[str] | None = None,
    correct: int | str | None = None,
    explanation: str | None = None,
) -> dict[str, Any]:
    """Change a question, named by its text or number."""
    row = _target(ctx, quiz, question)
    if all(value is None for value in (text, answers, correct, explanation)):
        raise ToolError(
            f'Nothing is to be changed at "{row["question"]}".', "Give a text, answers or what is right."
        )
    old = json.loads(row["answers"])
    new = Question(
        row["question"] if text is None else text,
        old if answers is None else answers,
        old[row["correct"]] if correct is None else correct,
        row["explanation"] if explanation is None else explanation,
    )
    changed = QUESTIONS.change(ctx, row, **columns_of(new, 0))
    return _told_question(changed, "changed")


@tool(
    name="deleteQuestion",
    kit="quizzes",
    effect="write",
    where="writer",
    undo=_UNDO_QUESTION,
    options={"quiz": ROWS.titles},
    aliases=("remove", "löschen", *_ALIASES),
)
def delete_question(ctx: Context, quiz: str, question: str) -> dict[str, Any]:
    """Delete a question of a quiz."""
    row = _target(ctx, quiz, question)
    return _told_question(QUESTIONS.change(ctx, row, deleted=True), "deleted")


@tool(
    name="deleteQuiz",
    kit="quizzes",
    effect="write",
    where="writer",
    undo=undo_of(ROWS, "quiz"),
    options={"quiz": ROWS.titles},
    aliases=("remove", "löschen", *_ALIASES),
)
def delete_quiz(ctx: Context, quiz: str) -> dict[str, Any]:
    """Delete a quiz with its questions."""
    # The questions are reached through their quiz only, so its tombstone is theirs.
    return _told(ROWS.change(ctx, ROWS.target(ctx, quiz), deleted=True), "deleted")


def _told(row: Row, what: str) -> dict[str, Any]:
    return {"id": row["id"], "title": row["title"], "message": f'quiz "{row["title"]}" {what}'}


def _told_question(row: Row, what: str) -> dict[str, Any]:
    return {
        "id": row["id"],
        "question": row["question"],
        "correct": json.loads(row["answers"])[row["correct"]],
        "message": f'question "{row["question"]}" {what}',
    }


def _shown(row: Row, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "id": row["id"],
        "question": row["question"],
        "answers": row["answers"],
        "correct": row["answers"][row["correct"]],
        **({"explanation": row["explanation"]} if row["explanation"] else {}),
    }


TOOLS = [
    add_quiz,
    add_questions,
    list_quizzes,
    get_quiz,
    update_question,
    delete_question,
    delete_quiz,
]
