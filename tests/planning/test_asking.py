"""A question changes nothing."""

from __future__ import annotations

import pytest

from surefoot.planning.asking import is_question


@pytest.mark.parametrize(
    "text",
    [
        "what's on my list?",
        "When is the dentist?",
        "  who am I seeing on Friday?  ",
        "so, when is the dentist?",
        "quick one: how long do I boil an egg?",
        "Tell me - where did I put it?",
        "what is due tomorrow??",
        "Was steht morgen an?",
        "Wann ist der Zahnarzt?",
        "Du, wie heißt der Hausmeister?",
        "WELCHE Termine habe ich am Freitag?",
        "Qu'est-ce que j'ai samedi ?",
        "Où est la clé ?",
        "Dis-moi, quand est le dentiste ?",
        "combien d'œufs ?",
        "¿Qué tengo apuntado sobre la mudanza?",
        "¿Cuándo es la cita?",
        "¿Por qué flota el hielo?",
        "¿Cuántas tareas hay?",
        "do i have anything on saturday?",
        "so is there anything left?",
        "sag mal hab ich den Hausmeister schon angerufen?",
        "Ist der Termin am Freitag?",
        "Est-ce que j'ai rendez-vous lundi ?",
        "¿tengo algo el lunes?",
    ],
)
def test_one_sentence_that_asks_is_a_question(text):
    """In each language, accents and capitals or not, with something before the comma."""
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "...?",
        "what a day",
        "do you mind moving it?",
        "hey can you move it?",
        "sag mal kannst du das löschen?",
        "Est-ce que tu peux noter ça ?",
        "hola puedes moverlo?",
        "what time, then",
        "add milk to my list",
        "can you move it to Monday?",
        "move the dentist to Monday, ok?",
        "why don't you move it to Monday?",
        "why not move it to Monday?",
        "what about Monday?",
        "how about Friday at nine?",
        "Kannst du das verschieben?",
        "Was ist mit Montag?",
        "Wie wäre es mit Freitag?",
        "Warum nicht am Freitag?",
        "Pourquoi pas vendredi ?",
        "Tu peux le déplacer ?",
        "¿Puedes moverlo?",
        "¿Por qué no lo mueves al lunes?",
        "Por favor, ¿lo mueves?",
        "Buy milk. What is due today?",
        "What is due today? Buy milk",
        "Buy milk! Wann ist der Zahnarzt?",
        "note it\nwhat is due?",
        "when is it? and who comes?",
    ],
)
def test_a_wish_is_no_question_whatever_mark_it_ends_with(text):
    """A question with a wish beside it is none either."""
    assert not is_question(text)
