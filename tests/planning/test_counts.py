"""How many items were asked for is read from the request."""

from __future__ import annotations

import pytest

from surefoot.models.types import Binding
from surefoot.planning.binding import bindings
from surefoot.planning.counts import counted
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())
ADD = TOOLS.get("addQuestions")


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("Make a quiz about the planets with eight questions", 8),
        ("a quiz, 12 easy questions please", 12),
        ("Erstelle ein Quiz mit fünf Fragen zur Optik", 5),
        ("un cuestionario con diez preguntas", 10),
        ("two quizzes with four questions each", 4),
        ("fünfzehn Fragen", 15),
    ],
)
def test_a_number_in_front_of_what_the_list_holds(said: str, count: int):
    """In words or figures, with a word between."""
    assert counted(ADD, said) == {"questions": count}


@pytest.mark.parametrize(
    "said",
    [
        "a quiz with questions about the 8 planets",
        "3 questions, no, 5 questions",
        "a question about 1984",
        "400 questions",
        "2026 questions",
        "0 questions",
        "one question",
        "",
    ],
)
def test_nothing_is_read_from_other_numbers(said: str):
    """Two numbers, one that counts something else, or one that no call can hold."""
    assert counted(ADD, said) == {}


def test_other_tools_have_no_such_list():
    """Lists of texts are copied; a tool with two lists of objects could mean either."""
    for name in ("addNote", "listTasks"):
        assert counted(TOOLS.get(name), "eight notes, nine tasks") == {}
    rows = {"type": "array", "items": {"type": "object"}}
    schema = {"name": "mix", "parameters": {"type": "object", "properties": {"mix": rows, "more": rows}}}
    assert counted(Catalogue.from_function_schemas([schema]).get("mix"), "five mix") == {}


def test_the_number_binds_the_list():
    """Beside what else is bound."""
    found = bindings(TOOLS, {}, ["Add six questions to the quiz on Friday"])
    assert found["addQuestions"] == {"questions": Binding(items=6)}
    assert "addQuestions" not in bindings(TOOLS, {}, [])
