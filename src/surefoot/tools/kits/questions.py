"""A question as a model writes it, checked and turned into the columns that are kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.errors import ToolError
from surefoot.tools.kits import references
from surefoot.tools.kits.rows import clean, count, text_of, title_of

MIN_ANSWERS, MAX_ANSWERS = 2, 10
MAX_ANSWER = 300
"""Characters: an answer is a word or a sentence, to be told apart at a glance."""


@dataclass(frozen=True, slots=True)
class Question:
    """`correct` is the right answer's text, or its place from 0."""

    question: str
    answers: list[str]
    correct: int | str
    explanation: str = field(default_factory=str)
    """By a factory, since a plain default would stand in the schema and so in the prompt."""


def columns_of(given: Question, number: int) -> dict[str, Any]:
    """The columns of a question; ToolError, which names the question by its number (0: the only one)."""
    try:
        question = title_of(given.question, "question")
        answers = _answers(given.answers)
        return {
            "question": question,
            "answers": json.dumps(answers, ensure_ascii=False),
            "correct": _place(given.correct, answers),
            "explanation": text_of(given.explanation, "question").strip(),
        }
    except ToolError as error:
        where = f"Question {number}: " if number else ""
        nothing = " None was added." if number else ""
        raise ToolError(f"{where}{error.message}{nothing}", error.next_move, **error.details) from error


def _answers(given: Sequence[str]) -> list[str]:
    answers = [" ".join(clean(one).split()) for one in given]
    if not MIN_ANSWERS <= len(answers) <= MAX_ANSWERS:
        raise ToolError(
            f"It has {count(len(answers), 'answer')}.",
            f"Give {MIN_ANSWERS} to {MAX_ANSWERS} different answers.",
        )
    for one in answers:
        if not 0 < len(one) <= MAX_ANSWER:
            raise ToolError(
                f"{one[:MAX_ANSWER]!r} cannot be an answer.", f"An answer has 1 to {MAX_ANSWER} characters."
            )
    if len(set(answers)) < len(answers):
        twice = next(one for one in answers if answers.count(one) > 1)
        raise ToolError(f"The answer {twice!r} is given twice.", "Give different answers.")
    return answers


def _place(correct: int | str, answers: list[str]) -> int:
    """Where the right answer stands: by its text, exactly before roughly, or by its place from 0; ToolError.

    A number that fits one answer by its text and another by its place is neither.
    """
    text = " ".join(clean(str(correct)).split())
    by_text = [place for place, one in enumerate(answers) if one == text] or [
        place for place, one in enumerate(answers) if references.fold(one) == references.fold(text)
    ]
    places = {str(place): [place] for place in range(len(answers))}.get(text, [])
    meant = by_text if isinstance(correct, str) and by_text else sorted({*by_text, *places})
    if len(meant) == 1:
        return meant[0]
    shown = ", ".join(repr(one) for one in answers)
    wrong = "may be several of the answers" if meant else "is none of the answers"
    raise ToolError(f"The correct answer {correct!r} {wrong}.", f"Give the text of one: {shown}.")
