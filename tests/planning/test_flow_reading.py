"""The flow in an answer: found in what stands around it, never mended."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import UnreadableInputError
from surefoot.planning.flow_reading import flow_in

FLOW = {"app": "browser", "steps": [{"browse": "https://a.example"}, 'say ${name} }{ "x" ```']}
TEXT = json.dumps(FLOW)


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f"\n  {TEXT}\n\n",
        f"```json\n{TEXT}\n```",
        f"```\n{json.dumps(FLOW, indent=4)}\n```",
        f"Here is the flow:\n{TEXT}\nIt uses ${{name}} and {{braces}}.",
        f"With ${{first name}} in it: {TEXT}",
        f'<think>First {{"app": 1}} …</think>\n{TEXT}',
        f"<thinking>no</thinking>{TEXT}",
        f'{TEXT}\nIts last step is like {{"stop_before": "paying"}}.',
        f'A step looks like {{"open": "x"}}. The flow: {TEXT}',
        f"{TEXT}\n\nThe same again:\n{json.dumps(FLOW, indent=1)}",
        f"~~~json\n{TEXT}\n~~~",
        f"\ufeff{TEXT}",
        TEXT.replace(", ", ",\r\n"),
    ],
)
def test_it_is_found(answer):
    """Whole, fenced, with prose around it, behind thinking."""
    assert flow_in(answer) == FLOW


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "no flow in it"),
        ("   \n", "no flow in it"),
        ("<think>never closed " + TEXT, "no flow in it"),
        ("I cannot do that.", "no JSON object"),
        ("Use ${name}.", "no JSON object"),
        (TEXT + TEXT.replace("browse", "open"), "2 JSON objects"),
        ('{"a": 1} {"b": 2} {"c": 3}', "3 JSON objects"),
        (TEXT[:-1], "JSON"),
        (TEXT[: len(TEXT) // 2], "JSON"),
        (TEXT.replace('"browser",', '"browser"'), "JSON"),
        (TEXT.replace('"app"', "'app'"), "JSON"),
        (TEXT.replace('"app"', "app"), "JSON"),
        (TEXT.replace('"app"', "“app”"), "JSON"),
        ("Look: " + TEXT.replace("]}", ",]}"), "JSON"),
        (TEXT.replace('"say', 'NaN, "say'), "NaN"),
        ('{"app": "a", "app": "b", "steps": ["c"]}', "app"),
        ("x " + '{"app": "a", "steps": ["c"], "steps": ["d"]}', "steps"),
        ('{"app": "\\ud800", "steps": ["c"]}', "half"),
    ],
)
def test_what_is_none_says_why(answer, words):
    """Cut, doubled, broken or several: nothing is guessed."""
    with pytest.raises(UnreadableInputError) as caught:
        flow_in(answer)
    assert words in str(caught.value)


def test_a_piece_of_a_cut_flow_is_not_taken_for_one():
    """Its first step is an object too."""
    with pytest.raises(UnreadableInputError, match="line 1"):
        flow_in('{"app": "browser", "steps": [{"browse": "https://a.example"}, {"verify": "x"}')


@pytest.mark.parametrize("value", [[1, 2], [], ["a"], {"x": {"y": 1}}])
def test_other_json_is_given_as_it_is(value):
    """That it is no flow is said by the check."""
    assert flow_in(json.dumps(value)) == value


def test_very_many_braces_end():
    """Prose of nothing but braces takes no time to speak of."""
    with pytest.raises(UnreadableInputError):
        flow_in("{" * 100_000)
    with pytest.raises(UnreadableInputError):
        flow_in("{x} " * 10_000)


@given(st.text())
def test_any_text_gives_a_value_or_the_one_error(text):
    """It never fails in another way."""
    with suppress(UnreadableInputError):
        json.dumps(flow_in(text))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}<`~[")))
def test_prose_around_changes_nothing(prose):
    """Without braces of its own."""
    assert flow_in(f"{prose}\n{TEXT}\n{prose}") == FLOW
