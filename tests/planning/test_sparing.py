"""What is named only to say that it stays."""

from __future__ import annotations

import pytest

from surefoot.planning.sparing import spared
from surefoot.planning.things import Thing

THINGS = (
    Thing("note", "Umzug Kartons"),
    Thing("note", "Umzug Helfer"),
    Thing("event", "Rendez-vous Camille Dupuis"),
    Thing("event", "Rendez-vous Camille Durand"),
    Thing("task", "Pay rent"),
    Thing("task", "Buy milk"),
)
KNOWN = (
    'note "Umzug Kartons": 25',
    '"erste": note "Umzug Kartons"',
    '"anderen": note "Umzug Helfer", note "Umzug Wagen"',
)


@pytest.mark.parametrize(
    ("said", "titles"),
    [
        ("die erste behalte ich, die anderen beiden kannst du löschen", {"Umzug Kartons"}),
        (
            "supprime le rendez-vous avec Camille Dupuis, pas celui avec Camille Durand",
            {"Rendez-vous Camille Durand"},
        ),
        ("delete buy milk but keep pay rent", {"Pay rent"}),
        ("the milk is bought. leave the rent as it is, pay rent stays", {"Pay rent"}),
        ("borra la leche, deja la de pay rent", {"Pay rent"}),
        ("I keep forgetting: pay rent is done", set()),
        ("keep pay rent, no, delete pay rent", set()),
        ("delete them", set()),
    ],
)
def test_what_stands_with_a_word_such_as_keep_alone_is_spared(said, titles):
    """By title, or by the word that points at it; named elsewhere too it is not spared."""
    assert {title for _, title in spared(said, KNOWN, THINGS)} == titles


def test_of_nothing_there_is_nothing_to_spare():
    """No things, no lines."""
    assert spared("keep the first", (), ()) == frozenset()
