"""Placeholders: what is one, what it is replaced by, and when code alone can tell."""

from __future__ import annotations

import copy

import pytest

from surefoot.planning.placeholders import (
    Found,
    NeedsModel,
    Placeholder,
    fill,
    find,
    read,
    renumbered,
    resolve,
)


@pytest.mark.parametrize(
    ("text", "what", "step", "each"),
    [
        ("<director name, from step 2>", "director name", 2, False),
        ("<director name from step 2>", "director name", 2, False),
        ("<Director Name From Step 2>", "Director Name", 2, False),
        ("<each note id from step 1>", "note id", 1, True),
        ("<every note id, from step 12>", "note id", 12, True),
        ("<result of step 1>", "result", 1, False),
        ("<from step 1>", "", 1, False),
        ("<step 1 result>", "result", 1, False),
        ("<step 1's title>", "title", 1, False),
        ("<title, from the results of step 3>", "title", 3, False),
        ("<Name aus Schritt 2>", "Name", 2, False),
        ("<jede Notiz-ID, aus Schritt 2>", "Notiz-ID", 2, True),
        ("<titre de l'étape 2>", "titre", 2, False),
        ("<chaque titre, de l’étape 2>", "titre", 2, True),
        ("<nombre del paso 2>", "nombre", 2, False),
        ("<cada nombre del paso 2>", "nombre", 2, True),
        ("<चरण 2 से शीर्षक>", "शीर्षक", 2, False),
        ("<शीर्षक चरण 2 से>", "शीर्षक", 2, False),
        ("<步骤2的标题>", "标题", 2, False),
        ("<第二步的标题>", "标题", 2, False),
        ("<来自步骤2的每个标题>", "标题", 2, True),
        ("<ステップ2のタイトル>", "タイトル", 2, False),
        ("<ステップ２からの各タイトル>", "タイトル", 2, True),
    ],
)
def test_forms_of_a_placeholder(text, what, step, each):
    """`<what, from step N>` in seven languages, the comma optional, `each` for a fan-out."""
    assert read(text) == Placeholder(text, what, step, each)


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "<b>x</b>",
        "<5 and rating>",
        "<https://a.b>",
        "<name@example.com>",
        "<step>",
        "< >",
        "x <step one> y",
        "<from step>",
        "price <5, step> 3",
    ],
)
def test_things_that_only_look_like_placeholders_are_text(text):
    """Comparisons, markup and addresses are text."""
    assert find({"q": text}, 9) == ((), False)


def test_placeholders_are_found_anywhere_in_a_value():
    """In lists, objects, their keys, and inside longer texts; each once, in order."""
    value = {
        "a": ["<n from step 1>", {"b": "x <m, from step 2> y <n from step 1>"}],
        "<k from step 1>": 5,
        "c": None,
    }
    found, astray = find(value, 3)
    assert [item.text for item in found] == ["<n from step 1>", "<m, from step 2>", "<k from step 1>"]
    assert not astray
    assert find(value, 2)[1]
    assert find("<x from step 0>", 1)[0][0].step == 0


def test_placeholders_in_structures_are_replaced_inside_and_keep_their_type():
    """The kind "placeholders in structures": replaced inside, type kept, the plan object unchanged."""
    plan = {
        "numbers": ["<n from step 1>", "<n from step 2>"],
        "deep": {"x": [" <n from step 1> "]},
        "text": "got <n from step 1>!",
        "k": 5,
    }
    before = copy.deepcopy(plan)
    filled = fill(plan, {"<n from step 1>": 1, "<n from step 2>": [2.5, None]})
    assert filled == {"numbers": [1, [2.5, None]], "deep": {"x": [1]}, "text": "got 1!", "k": 5}
    assert plan == before
    assert fill("a, <l from step 1>", {"<l from step 1>": ["x", 2]}) == "a, x, 2"
    assert fill("<other from step 1> <b>", {"<n from step 1>": 1}) == "<other from step 1> <b>"


def test_what_is_put_in_is_never_read_again():
    """A result that holds a placeholder is data."""
    found = {"<a from step 1>": "<b from step 2>", "<b from step 2>": "secret"}
    assert fill({"x": "see <a from step 1>"}, found) == {"x": "see <b from step 2>"}


def test_renumbering_leaves_other_text_alone():
    """Only placeholders change; one whose step is gone becomes step 0."""
    assert renumbered("<b>x</b> <n from step 3>", {3: 2}) == "<b>x</b> <n from step 2>"
    assert renumbered("<n, from step 3>", {3: 3}) == "<n, from step 3>"
    assert renumbered("<from step 2>", {}) == "<result from step 0>"
    assert renumbered(["plain", 5], {}) == ["plain", 5]


NOTES = {"notes": [{"id": "a1", "title": "A", "tags": ["x"]}, {"id": "b2", "title": "B", "tags": []}]}
ONE = {"id": "a1", "title": "A", "due": "2026-05-03", "tags": ["x", "y"], "place": None}


def resolved(text, result, tool=""):
    wanted, _ = find(text, 99)
    found = resolve({"v": text}, wanted, {1: result}, {1: tool})
    return [call["v"] for call in found.calls] if isinstance(found, Found) else None


@pytest.mark.parametrize(
    ("text", "result", "tool", "value"),
    [
        ("<note id from step 1>", ONE, "addNote", "a1"),
        ("<id from step 1>", ONE, "", "a1"),
        ("<the id of the note, from step 1>", {"note": ONE}, "", "a1"),
        ("<note_id from step 1>", ONE, "addNote", "a1"),
        ("<noteId from step 1>", ONE, "addNote", "a1"),
        ("<note title from step 1>", {"notes": [ONE]}, "listNotes", "A"),
        ("<due date, from step 1>", ONE, "addTask", "2026-05-03"),
        ("<task deadline, from step 1>", ONE, "addTask", "2026-05-03"),
        ("<tags from step 1>", ONE, "", ["x", "y"]),
        ("<Titel aus Schritt 1>", ONE, "", "A"),
        ("<标题, 来自步骤1>", ONE, "", "A"),
        ("<result of step 1>", "plain text", "readFile", "plain text"),
        ("<result of step 1>", 21.5, "", 21.5),
        ("<from step 1>", "x", "", "x"),
        ("<temperature from step 1>", 21.5, "getTemperature", 21.5),
        ("<result from step 1>", {"answer": 5}, "", 5),
        ("<file content from step 1>", {"path": "a", "text": "hello"}, "readFile", "hello"),
        ("see <note id from step 1>", ONE, "addNote", "see a1"),
    ],
)
def test_code_finds_what_can_mean_only_one_thing(text, result, tool, value):
    """Code first: exactly one field by that name, every other word explained by tool or list."""
    assert resolved(text, result, tool) == [value]


@pytest.mark.parametrize(
    ("text", "result", "tool"),
    [
        ("<director name from step 1>", {"name": "Possessor", "year": 2020}, "findFilm"),
        ("<director name from step 1>", "Possessor is a film by Brandon Cronenberg.", "webSearch"),
        ("<id of the note about Anna from step 1>", NOTES, "listNotes"),
        ("<note id from step 1>", NOTES, "listNotes"),
        ("<note id from step 1>", {"notes": []}, "listNotes"),
        ("<note id from step 1>", {"notes": [{"title": "A"}]}, "listNotes"),
        ("<id or title from step 1>", ONE, ""),
        ("<id title from step 1>", ONE, ""),
        ("<place from step 1>", ONE, ""),
        ("<note from step 1>", {"note": ONE, "other": {"id": 2}}, ""),
        ("<result of step 1>", None, ""),
        ("<result of step 1>", "", ""),
        ("<result of step 1>", [1, 2], ""),
        ("<owner from step 1>", {"owner": {"id": 1}, "x": 1}, ""),
        ("<note id from step 2>", ONE, ""),
    ],
)
def test_code_asks_for_a_model_where_it_would_guess(text, result, tool):
    """Narrowing words, several candidates, nothing of that name: a model must look."""
    assert resolved(text, result, tool) is None


@pytest.mark.parametrize(
    ("text", "result", "tool", "values"),
    [
        ("<each note id from step 1>", NOTES, "listNotes", ["a1", "b2"]),
        ("<each id, from step 1>", NOTES["notes"], "", ["a1", "b2"]),
        (
            "<each note id, from step 1>",
            NOTES | {"total": 2, "message": "2 notes"},
            "listNotes",
            ["a1", "b2"],
        ),
        ("<every title from step 1>", NOTES, "", ["A", "B"]),
        ("<each note id from step 1>", {"notes": []}, "listNotes", []),
        ("<each result from step 1>", ["x", "y"], "", ["x", "y"]),
        ("<each item from step 1>", [1, 2], "", [1, 2]),
        ("note <each title from step 1>", NOTES, "", ["note A", "note B"]),
        (
            "<each title from step 1> is <each note id from step 1>",
            NOTES,
            "listNotes",
            ["A is a1", "B is b2"],
        ),
    ],
)
def test_each_fans_out_over_the_one_list(text, result, tool, values):
    """`<each … from step N>` makes one call for every item of the list; none when it is empty."""
    assert resolved(text, result, tool) == values


@pytest.mark.parametrize(
    ("text", "result", "tool"),
    [
        ("<each note id from step 1>", {"notes": [{"id": 1}], "tasks": [{"id": 2}]}, "listNotes"),
        ("<each note id from step 1>", {"id": 1}, "getNote"),
        ("<each note about Anna's id from step 1>", NOTES, "listNotes"),
        ("<each id from step 1>", [{"id": 1}, {"title": "x"}], ""),
        ("<each id from step 1>", [{"id": 1}, {"id": None}], ""),
        ("<each id from step 1>", "text", ""),
        ("<each id from step 1>", [1, {"id": 2}], ""),
        ("<each tag from step 1>", ONE, ""),
    ],
)
def test_each_asks_for_a_model_where_the_list_is_not_clear(text, result, tool):
    """Two lists, no list, a narrowing, a hole in the column: a model must look."""
    assert resolved(text, result, tool) is None


def test_fan_outs_of_two_steps_are_not_combined_by_guess():
    """Two lists would have to be matched; that is no business of code."""
    wanted, _ = find("<each id from step 1> <each id from step 2>", 9)
    found = resolve({}, wanted, {1: [{"id": 1}], 2: [{"id": 2}]})
    assert isinstance(found, NeedsModel)
    assert "matched" in found.why


def test_single_and_fanned_placeholders_stand_side_by_side():
    """The single one is the same in every call."""
    wanted, _ = find(["<id from step 1>", "<each id from step 2>"], 9)
    found = resolve({"a": "<id from step 1>", "b": "<each id from step 2>"}, wanted, {1: ONE, 2: NOTES})
    assert found == Found(({"a": "a1", "b": "a1"}, {"a": "a1", "b": "b2"}))
