"""The router."""

from __future__ import annotations

import pytest

from surefoot.assistant.router import FEW, Router, terms
from surefoot.tools.types import Effect, Tool


def tool(
    name: str, description: str = "", kit: str = "", aliases: tuple[str, ...] = (), **arguments: str
) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    return Tool(
        name,
        description,
        {"type": "object", "properties": properties},
        Effect.READ,
        lambda: None,
        kit=kit,
        aliases=aliases,
    )


MANY = [
    tool("addNote", "Write a note down.", "notes", ("notiz", "笔记", "メモ")),
    tool("listNotes", "List notes.", "notes"),
    tool("addTask", "Add a task.", "tasks", ("aufgabe", "erinnern")),
    tool("completeTask", "Tick a task off.", "tasks"),
    tool("getWeather", "Weather of a place.", "weather", ("wetter", "météo"), place="a city"),
    tool("fetchPage", "Read a web page.", "web", url="address"),
    *(tool(f"spare{n}", "Nothing of the kind.") for n in range(6)),
]


def test_few_tools_pass_as_they_are():
    """Eight or fewer are never ranked."""
    route = Router(MANY[:FEW]).route("what is the weather")
    assert route.names == tuple(t.name for t in MANY[:FEW])
    assert route.ranked == ()


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("weather in Paris", "getWeather"),
        ("Wie wird das Wetter?", "getWeather"),
        ("quelle météo demain", "getWeather"),
        ("Notiz: Anna mag Tee", "addNote"),
        ("写笔记", "addNote"),
        ("メモして", "addNote"),
        ("tick off my tasks", "completeTask"),
        ("read that page", "fetchPage"),
    ],
)
def test_a_larger_catalogue_is_ranked_by_names_descriptions_arguments_and_aliases(query, best):
    """In several languages, the matching tool comes first, with its whole kit."""
    route = Router(MANY).route(query)
    assert route.ranked[0] == best
    assert best in route.names
    assert set(route.names) < {t.name for t in MANY}


def test_the_kit_of_a_match_comes_along_in_the_catalogues_order():
    """A plan that finds a page may have to read it."""
    assert Router([*MANY, tool("webSearch", "Search.", "web")]).route("page").names[-2:] == (
        "fetchPage",
        "webSearch",
    )


@pytest.mark.parametrize(
    "query", ["weather in Rome", "und das andere am Freitag, wie das Wetter", "read that page"]
)
def test_the_persons_own_kits_always_pass(query):
    """Everyday requests name them without a word that is in their tools; the other kits need a match."""
    names = Router(MANY).route(query).names
    assert {"addNote", "listNotes", "addTask", "completeTask"} < set(names)
    assert not any(name.startswith("spare") for name in names)


@pytest.mark.parametrize("query", ["", "???", "xyzzy", '" OR *', "NEAR(a b)"])
def test_nothing_matches_means_nothing_is_taken_away(query):
    """The query is words, never syntax of the index."""
    assert len(Router(MANY).route(query).names) == len(MANY)


def test_the_conversation_counts_too():
    """A pronoun's meaning stands in the turn before."""
    assert "getWeather" in Router(MANY).route("and there?", "weather in Rome").names


def test_words_are_taken_apart():
    """camelCase, digits, Chinese and Japanese as pairs."""
    assert terms("addNote x2 写笔记 a写b") == ["add", "note", "x2", "写笔", "笔记", "写", "a", "b"]
