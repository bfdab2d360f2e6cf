"""The examples of the pool: each is right, and a request finds those that are like it."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import resources

import pytest

from surefoot.models._span_rules import _ELIDED, pieces_of
from surefoot.planning.examples import NEAREST, nearest
from surefoot.planning.grounding import titles_in
from surefoot.planning.nearest import Nearness
from surefoot.planning.vocabulary import vocabulary
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TOOLS = Catalogue(builtin())
SHAPES = vocabulary(TOOLS).shapes
ROWS = 3
"""Rows of words of which a value is put together at most, as the grammar allows."""


def _read(file: str) -> list[dict]:
    source = resources.files("surefoot.planning").joinpath("prompts", file).read_text(encoding="utf-8")
    return tomllib.loads(source)["example"]


POOL = _read("example_pool.toml")
EXAMPLES = [*POOL, *_read("examples.toml")]
LANGUAGE = {one["request"]: one["language"] for one in POOL}
each = pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one["request"][:40])


def rows_of(texts: list[str]) -> set[str]:
    """Every row of words of one of the texts; one that begins with an elided word also without that."""
    found = set()
    for text in texts:
        pieces = pieces_of(text)
        for first in range(len(pieces)):
            row = ""
            for word, gap in pieces[first:]:
                row += word
                found.update({row, row[elided.end() :] if (elided := _ELIDED.match(row)) else row})
                if not gap:
                    break
                row += gap
    return found


def is_copied(value: str, rows: set[str], count: int = ROWS) -> bool:
    """The value is at most `count` rows with a space between two."""
    if value in rows:
        return True
    spaces = [at for at, sign in enumerate(value) if sign == " "] if count > 1 else []
    return any(value[:at] in rows and is_copied(value[at + 1 :], rows, count - 1) for at in spaces)


def arguments_of(one: dict, field: str) -> Iterator[str]:
    """The texts of arguments that the tools' `field` names."""
    for call in one.get("calls", ()):
        keys = getattr(TOOLS.get(call["name"]), field)
        for key in call["arguments"].keys() & set(keys):
            value = call["arguments"][key]
            yield from value if isinstance(value, list) else [value]


def test_the_check_of_copies_can_fail():
    """Two rows fit, words that were not said do not, nor more rows than the grammar has."""
    rows = rows_of(["on friday we meet at nine", "tout d'aujourd'hui"])
    assert is_copied("friday at nine", rows)
    assert is_copied("aujourd'hui", rows)
    assert not is_copied("saturday at nine", rows)
    assert not is_copied("on we at nine", {"on", "we", "at", "nine"})


@each
def test_every_example_is_calls_that_the_tools_accept_or_prose(one):
    """Names of tools and arguments, and their types."""
    assert bool(one.get("calls")) != bool(one.get("reply"))
    assert one["request"].strip() == one["request"] != ""
    for call in one.get("calls", ()):
        assert SHAPES[call["name"]].accepts(call["arguments"]), call
        assert call["arguments"].keys() <= TOOLS.get(call["name"]).parameters["properties"].keys()


@each
def test_every_date_of_an_example_can_be_copied(one):
    """From the request and the titles of what is there, as the grammar has it."""
    rows = rows_of([one["request"], *titles_in(one.get("known", ()))])
    for field in ("dates", "said"):
        for value in arguments_of(one, field):
            assert is_copied(value, rows), value


@each
def test_every_name_of_an_example_is_there(one):
    """Among the known lines of its kind, or it is what an earlier step lists."""
    for call in one.get("calls", ()):
        for key in call["arguments"].keys() & set(TOOLS.get(call["name"]).options):
            value = call["arguments"][key]
            lines = [line for line in one.get("known", ()) if line.split()[0] == key]
            assert value in titles_in(lines) or value.startswith(f"<each {key} id from step "), value


@each
def test_every_turn_before_an_example_is_one_of_a_conversation(one):
    """It ends with the assistant's words, before the person speaks again."""
    turns = one.get("dialogue", ())
    assert all(turn["role"] in {"user", "assistant"} and turn["content"].strip() for turn in turns)
    assert not turns or turns[-1]["role"] == "assistant"


def test_no_language_of_the_pool_has_much_more_than_another():
    """No more than half as many again, and each with prose, conversations and every kind of thing."""
    counts = Counter(LANGUAGE.values())
    assert counts.keys() == {"en", "de", "fr", "es"}
    assert max(counts.values()) <= 1.5 * min(counts.values())
    for language in counts:
        own = [one for one in POOL if one["language"] == language]
        assert any(one.get("reply") for one in own)
        assert any(one.get("dialogue") for one in own)
        called = {call["name"] for one in own for call in one.get("calls", ())}
        assert {"addTask", "addEvent", "addNote", "listTasks", "listEvents", "updateEvent"} <= called


def test_no_request_stands_in_the_pool_twice():
    """Nor in both files."""
    assert max(Counter(one["request"].casefold() for one in EXAMPLES).values()) == 1


@pytest.mark.parametrize(
    ("language", "request_text"),
    [
        ("en", "remind me to water the plants by Sunday"),
        ("en", "the meeting with Tim is on Thursday at 3 now"),
        ("en", "what do I have on Saturday?"),
        ("de", "Erinnere mich bis Sonntag an die Blumen"),
        ("de", "Das Treffen mit Tim ist jetzt am Donnerstag um drei"),
        ("de", "notiere: der Schlüssel hängt im Flur"),
        ("fr", "rappelle-moi d'arroser les plantes avant dimanche"),
        ("fr", "la réunion avec Tim passe à jeudi 15h"),
        ("fr", "qu'est-ce que j'ai de prévu demain ?"),
        ("es", "recuérdame regar las plantas antes del domingo"),
        ("es", "la reunión con Tim pasa al jueves a las tres"),
        ("es", "¿qué tengo mañana?"),
    ],
)
@pytest.mark.parametrize("in_talk", [True, False])
def test_a_request_finds_an_example_of_its_own_language_first(language, request_text, in_talk):
    """The first one found stands last, where it is followed most closely."""
    found = nearest(TOOLS.names, request_text, in_talk=in_talk)
    assert 0 < len(found) <= NEAREST
    assert LANGUAGE[found[-1].request] == language
    assert in_talk or not any(one.dialogue for one in found)


@pytest.mark.parametrize("one", POOL, ids=lambda one: one["request"][:40])
def test_an_example_is_most_like_itself(one):
    """In capitals too."""
    found = nearest(TOOLS.names, one["request"].upper(), in_talk=True, count=1)
    assert [example.request for example in found] == [one["request"]]


def test_a_conversation_is_shown_only_in_one():
    """An example that points back needs something to point at."""
    text = "oh wait, can you move it to Monday?"
    assert nearest(TOOLS.names, text, in_talk=True)[-1].dialogue
    assert not any(one.dialogue for one in nearest(TOOLS.names, text, in_talk=False))


def test_examples_of_other_tools_are_left_out():
    """And there is none at all where no call could be shown."""
    found = nearest(["addTask", "another"], "note the code and remind me by friday", in_talk=False, count=9)
    assert found
    assert {call.name for one in found for call in one.calls} <= {"addTask"}
    assert nearest(["another"], "thanks so much, you're a star!", in_talk=True) == ()
    assert nearest([], "remind me", in_talk=True) == ()


@pytest.mark.parametrize("text", ["", "?!", "zzzzqqqq", "\u0000", "𝔘𝔫𝔦"])
def test_a_request_like_no_other_may_find_nothing(text):
    """No example is better than any."""
    assert nearest(TOOLS.names, text, in_talk=False) == ()


class TestNearness:
    """Texts by their pieces."""

    def test_rare_pieces_count_more_and_what_is_covered_no_more(self):
        """The second one is chosen for what the first does not share."""
        near = Nearness(["move the dentist", "move the lunch", "note the code", "note the door code"])
        assert near.best("move the dentist and note the code", 2, range(4)) == [0, 2]
        assert near.best("move the dentist and note the code", 1, range(4)) == [0]
        assert near.best("move the dentist", 3, range(4)) == [0]

    def test_only_some_texts_are_looked_at(self):
        """Of equals the first one."""
        near = Nearness(["milk", "milk", "tea"])
        assert near.best("milk", 1, range(3)) == [0]
        assert near.best("milk", 1, [1, 2]) == [1]
        assert near.best("milk", 1, [2]) == []
        assert near.best("milk", 1, []) == []
        assert near.best("milk", 0, range(3)) == []

    def test_inflected_forms_and_other_scripts_are_like_each_other(self):
        """Pieces of words, accents and case left out."""
        near = Nearness(["Verschiebe die Blumen", "明日の会議", "Lösche Übungen"])
        assert near.best("verschieben", 1, range(3)) == [0]
        assert near.best("会議", 1, range(3)) == [1]
        assert near.best("UBUNG", 1, range(3)) == [2]

    def test_no_texts_at_all(self):
        """Nor one without words."""
        assert Nearness([]).best("milk", 2, []) == []
        assert Nearness(["", "!"]).best("milk", 2, range(2)) == []
