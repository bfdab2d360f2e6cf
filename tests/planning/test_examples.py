"""Examples: data that every catalogue gets as far as it has the tools."""

from __future__ import annotations

import pytest

from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.planning import encodings
from surefoot.planning.encodings import Question, plan_request, prefix
from surefoot.planning.examples import examples
from surefoot.planning.vocabulary import MEMORY, vocabulary
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

BUILT_IN = Catalogue(builtin())


def test_every_example_is_a_call_that_the_built_in_tools_accept():
    """Names, keys and types fit the schemas; all examples are shown with the built-in catalogue."""
    shown = examples(BUILT_IN.names)
    assert shown == examples([*BUILT_IN.names, "another"])
    known = vocabulary(BUILT_IN)
    for one in shown:
        assert bool(one.calls) != bool(one.reply)
        for call in one.calls:
            assert known.shapes[call.name].accepts(call.arguments), call
            assert list(call.arguments) == [
                k for k in known.shapes[call.name].properties if k in call.arguments
            ]


def test_examples_follow_the_catalogue():
    """One is shown only with all its tools; no tool, or only foreign ones: none, not even those without calls."""
    some = examples(["addTask", "addNote", "addEvent", "listTasks"])
    assert 0 < len(some) < len(examples(BUILT_IN.names))
    assert {call.name for one in some for call in one.calls} <= {
        "addTask",
        "addNote",
        "addEvent",
        "listTasks",
    }
    assert any(one.reply for one in some)
    assert examples(["webSearch"]) == examples([]) == ()


def test_examples_show_prose_pronouns_and_fan_out():
    """What small models get wrong without them."""
    shown = examples(BUILT_IN.names)
    values = [str(value) for one in shown for call in one.calls for value in call.arguments.values()]
    assert any(value.startswith("<each ") for value in values)
    assert any(one.reply for one in shown)
    assert any(one.dialogue and one.calls for one in shown)


def test_only_the_bound_form_shows_examples_and_it_shows_the_tools_itself():
    """As turns between the rules and the question; the family writes no second list of tools."""
    head = prefix(BUILT_IN, "bound")
    assert [turn.role for turn in head.turns] == ["user", "assistant"] * (len(head.turns) // 2)
    assert "addNote(title: text" in head.system
    made = plan_request(
        BUILT_IN, "bound", Question("hello", known=['task "x"']), max_steps=5, timeout=6, num_ctx=8192
    )
    assert made.tools_shown
    assert made.tools[0].name == MEMORY
    assert made.messages[: len(head.messages)] == head.messages
    text = FAMILY.prompt(made.messages, ())
    assert "<tools>" not in text
    assert text.startswith(FAMILY.prompt(head.messages, (), answer=False))
    assert '[{"name": "addNote"' in text
    for encoding in ("own", "lines", "schema", "text"):
        assert prefix(BUILT_IN, encoding).turns == ()


def test_what_is_known_stands_before_the_request_as_cut_lines():
    """Data, one line each, behind everything that never changes."""
    question = Question("do it", known=['note "a": ' + "x" * 5000, 'task\n"b"'])
    asked = (
        plan_request(BUILT_IN, "bound", question, max_steps=5, timeout=6, num_ctx=8192).messages[-1].content
    )
    lines = asked.splitlines()
    assert lines[0] == "Already there:"
    assert lines[1].startswith('- note "a": xxx')
    assert len(lines[1]) <= encodings.DIALOGUE_CHARS + 2
    assert lines[2] == '- task "b"'
    assert lines[-1] == "The request: do it"


@pytest.mark.parametrize("names", [BUILT_IN.names, ("addTask", "webSearch"), ()])
def test_the_prefix_has_another_key_when_its_examples_differ(names):
    """A kept state is never used for other text."""
    catalogue = Catalogue(BUILT_IN.get(name) for name in names)
    assert prefix(catalogue, "bound").key != prefix(catalogue, "lines").key


def test_the_whole_prefix_stays_within_its_budget():
    """3,680 tokens of the embedded model's vocabulary (counted), 3.6 letters each in this text.

    The catalogue's part has a limit of its own (test_encodings). The examples are read once and kept; what they cost
    after that is room in the context: 45 % of 8,192 with them, and 4,500 are left for a request.
    """
    text = FAMILY.prompt(prefix(BUILT_IN, "bound").messages, (), answer=False)
    assert len(text) <= 13_200
