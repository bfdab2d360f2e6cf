"""What "the second one" and "the others" mean: counted by code, in the order of the last answer."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from surefoot import ScriptedModel
from surefoot.assistant.called import called
from surefoot.models.types import Message
from surefoot.planning.things import Thing
from surefoot.storage.words import common_words, words

from .support import assistant, plan

MILK, RENT, ROSA = Thing("task", "Buy milk"), Thing("task", "Pay rent"), Thing("event", "Dinner with Rosa")
THINGS = (ROSA, MILK, RENT)
ANSWER = "You have three: buy milk, PAY RENT and then Dinner with Rosa."


def said(request: str, answer: str = ANSWER, things: tuple[Thing, ...] = THINGS) -> tuple[str, ...]:
    return called(request, [Message("user", "what is there?"), Message("assistant", answer)], things)


@pytest.mark.parametrize(
    ("request_text", "lines"),
    [
        ("the first one is done", ['"first": task "Buy milk"']),
        ("move the 2nd to friday", ['"2nd": task "Pay rent"']),
        ("cancel the third", ['"third": event "Dinner with Rosa"']),
        ("delete the last one", ['"last": event "Dinner with Rosa"']),
        ("die zweite ist erledigt", ['"zweite": task "Pay rent"']),
        ("das letzte bitte löschen", ['"letzte": event "Dinner with Rosa"']),
        ("la première est faite", ['"premiere": task "Buy milk"']),
        ("supprime la dernière", ['"derniere": event "Dinner with Rosa"']),
        ("borra el último", ['"ultimo": event "Dinner with Rosa"']),
        ("la segunda ya está", ['"segunda": task "Pay rent"']),
        (
            "the first is done, the others can wait",
            ['"first": task "Buy milk"', '"others": task "Pay rent", event "Dinner with Rosa"'],
        ),
        (
            "das erste ist fertig, die übrigen morgen",
            ['"erste": task "Buy milk"', '"ubrigen": task "Pay rent", event "Dinner with Rosa"'],
        ),
        (
            "la primera y la última hoy, las otras mañana",
            [
                '"primera": task "Buy milk"',
                '"ultima": event "Dinner with Rosa"',
                '"otras": task "Pay rent"',
            ],
        ),
        (
            "le premier demain, les autres vendredi",
            ['"premier": task "Buy milk"', '"autres": task "Pay rent", event "Dinner with Rosa"'],
        ),
    ],
)
def test_words_that_count_mean_what_was_named(request_text: str, lines: list[str]):
    """In the answer's order, not in the order of what is there; accents and case do not matter."""
    assert list(said(request_text)) == lines


@pytest.mark.parametrize(
    "request_text",
    ["buy milk is done", "the others can wait", "the rest", "the fourth one", "firstly, and seconds", ""],
)
def test_words_that_mean_nothing_here_add_no_line(request_text: str):
    """No such place, or others than none."""
    assert said(request_text) == ()


@pytest.mark.parametrize(
    ("answer", "things"),
    [
        ("You have Buy milk.", THINGS),
        ("Nothing is due.", THINGS),
        (ANSWER, ()),
        (ANSWER, (MILK,)),
        (ANSWER, (MILK, MILK)),
        ("", THINGS),
    ],
)
def test_of_one_thing_or_none_nothing_is_counted(answer: str, things: tuple[Thing, ...]):
    """Nobody says "the first" of a single thing."""
    assert said("the first one is done", answer, things) == ()


def test_without_an_answer_before_nothing_is_counted():
    """The person's own words are not an answer; the last answer counts, not an earlier one."""
    assert called("the first", [], THINGS) == ()
    assert called("the first", [Message("user", ANSWER)], THINGS) == ()
    talk = [Message("assistant", ANSWER), Message("user", "ok"), Message("assistant", "Fine.")]
    assert called("the first", talk, THINGS) == ()


def test_everything_named_leaves_no_others():
    """First, second and third are all there are."""
    assert len(said("the first, the second, the third and the rest")) == 3


def test_a_title_inside_a_longer_one_was_not_named():
    """`Milk` is not what "Buy milk" speaks of, unless it stands there on its own too."""
    things = (Thing("note", "Milk"), *THINGS)
    assert said("the second one", things=things) == ('"second": task "Pay rent"',)
    assert said("the second one", f"Milk. {ANSWER}", things) == ('"second": task "Buy milk"',)


def test_two_things_of_one_title_are_two():
    """A task and an event of the same title."""
    both = (Thing("task", "Gym"), Thing("event", "Gym"))
    assert said("the second", "Gym, twice.", both) == ('"second": event "Gym"',)


def test_the_words_are_written_as_they_are_compared():
    """Folded, each with one place; otherwise they would never be found."""
    table = tomllib.loads(files("surefoot.assistant").joinpath("ordinals.toml").read_text(encoding="utf-8"))
    every = [word for found in table.values() for word in found]
    assert len(every) == len(set(every))
    assert [word for word in every if words(word) != [word]] == []
    assert set(table) == {"-1", "0", "1", "2", "3", "4"}


def test_common_words_say_nothing_and_are_folded():
    """Of four languages; no word that a title is about."""
    found = common_words()
    assert {"the", "der", "los", "pour"} <= found
    assert not {"milk", "arzt", "banco", "loyer"} & found
    assert [word for word in found if words(word) != [word]] == []
    assert common_words() is found


async def test_the_planner_is_told_what_they_mean():
    """Through the assistant: the line stands in the plan's prompt."""
    model = ScriptedModel(
        plan(("addTask", {"title": "Buy milk"}), ("addTask", {"title": "Pay rent"})),
        "I added Pay rent and Buy milk.",
        plan(("completeTask", {"task": "Buy milk"})),
        "Done.",
    )
    async with assistant(model) as opened:
        await opened.ask("remind me to buy milk and to pay the rent")
        await opened.ask("the second one is done")
    asked = [request for request in model.requests if request.purpose == "plan"]
    assert '"second": task "Buy milk"' in asked[1].messages[-1].content
