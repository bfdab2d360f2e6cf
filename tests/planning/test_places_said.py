"""A new place that was said and left out."""

from __future__ import annotations

import pytest

from surefoot.planning.places_said import new_place

DAYS = {"Friday", "Freitag", "Montag", "Mai"}


@pytest.mark.parametrize(
    ("said", "title", "place"),
    [
        ("the review has moved to Room 204", "Review", "Room 204"),
        ("move it to room 12 please", "Lunch", "room 12"),
        ("the standup is in the Blue Room now", "Standup", "Blue Room"),
        ("beim Teammeeting am Montag den Ort auf Raum 310 ändern", "Teammeeting", "Raum 310"),
        ("Die Probe ist jetzt in der Praxis Nord", "Probe", "Praxis Nord"),
        ("ce sera au Café Mistral", "Déjeuner", "Café Mistral"),
        ("cambia el lugar a Sala 3", "Reunión con Lucía", "Sala 3"),
    ],
)
def test_a_name_or_a_numbered_room_behind_a_preposition_is_a_place(said, title, place):
    """In each language."""
    assert new_place(said, title, DAYS.__contains__) == place


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("move it to Friday", "Lunch"),
        ("verschieb den Termin bei Frau Weiß auf Freitag", "Termin bei Frau Weiß"),
        ("leg es in den Mai", "Probe"),
        ("at the mill", "Lunch"),
        ("from Room 3 to Room 4, or to Room 5", "Lunch"),
    ],
)
def test_days_words_of_the_title_and_several_places_are_none(said, title):
    """With two of them nobody knows which one is meant."""
    assert new_place(said, title, DAYS.__contains__) == ""
