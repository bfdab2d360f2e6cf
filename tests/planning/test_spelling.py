"""A word that the model wrote longer or shorter than it was said."""

from __future__ import annotations

import pytest

from surefoot.planning.spelling import respelt


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        ("Kindergartenarzt", "mittwoch kinderarzt mit lena", "Kinderarzt"),
        ("réunion parententionnels", "parentionnels et professeurs", "réunion parentionnels"),
    ],
)
def test_a_long_word_much_like_one_that_was_said_is_written_as_said(text, said, right):
    """Letters were put in between; its capital stays."""
    assert respelt(text, said) == right


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Book the restaurant", "the restaraunt please"),
        ("Sortieren der Belege", "die belege sortiert"),
        ("Buy milk", "get milk"),
        ("Kinderarzt", "kinderarzt"),
        ("Fahrrad", "fahrradschloss"),
    ],
)
def test_other_forms_and_misspelt_words_that_were_put_right_stay(text, said):
    """Short words, other endings, and a letter or two."""
    assert respelt(text, said) == text
