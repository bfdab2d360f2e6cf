"""The one layout of flows."""

from __future__ import annotations

import json

import pytest

from surefoot.flows.formatting import WIDTH, layout

MESSY = {
    "steps": [
        "search for tea",
        {"pick": {"into": "tea", "by": "best rated", "from": "teas"}},
        {
            "if": {
                "else": ["go back"],
                "then": ["close it", {"do": "go on"}],
                "condition": "a banner is shown",
            }
        },
        {
            "enter": {
                "street and number": "${street}",
                "city": "${city}",
                "postal code": "${postal code}",
                "note": "ring",
            }
        },
        {
            "repeat_until": {
                "max": 3,
                "condition": "the basket is empty",
                "steps": ["remove the first item of the basket"],
            }
        },
    ],
    "vars": {"b": "2", "a": "1"},
    "app": "browser",
}
TIDY = """\
{
  "app": "browser",
  "vars": {"b": "2", "a": "1"},
  "steps": [
    "search for tea",
    {"pick": {"from": "teas", "by": "best rated", "into": "tea"}},
    {
      "if": {
        "condition": "a banner is shown",
        "then": ["close it", {"do": "go on"}],
        "else": ["go back"]
      }
    },
    {
      "enter": {
        "street and number": "${street}",
        "city": "${city}",
        "postal code": "${postal code}",
        "note": "ring"
      }
    },
    {
      "repeat_until": {
        "condition": "the basket is empty",
        "steps": ["remove the first item of the basket"],
        "max": 3
      }
    }
  ]
}
"""


def test_a_flow_is_laid_out():
    """Keys in the order of the guide, slots and variables as they were written, a step on a line where it fits."""
    assert layout(MESSY) == TIDY
    assert layout(json.loads(TIDY)) == TIDY


@pytest.mark.parametrize("more", [0, 1])
def test_a_step_stays_on_its_line_up_to_100_columns(more):
    """The comma behind it counted, whether there is one or not."""
    frame = len('    {"open": ""},')
    step = {"open": "x" * (WIDTH - frame + more)}
    lines = layout({"app": "a", "steps": [step]}).splitlines()
    assert (f"    {json.dumps(step)}" in lines) is (more == 0)


def test_steps_stand_one_below_the_other_however_short():
    """A flow is read from top to bottom."""
    assert (
        layout({"app": "a", "steps": ["b", "c"]})
        == '{\n  "app": "a",\n  "steps": [\n    "b",\n    "c"\n  ]\n}\n'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}\n"),
        ([], "[]\n"),
        ("a text", '"a text"\n'),
        (None, "null\n"),
        ({"steps": [], "vars": {}}, '{\n  "vars": {},\n  "steps": []\n}\n'),
        ({"z": 1.5, "app": "x"}, '{\n  "app": "x",\n  "z": 1.5\n}\n'),
        (
            {"steps": [{"pick": {"note": True, "by": "x"}}]},
            '{\n  "steps": [\n    {"pick": {"by": "x", "note": true}}\n  ]\n}\n',
        ),
    ],
)
def test_what_is_no_flow_is_laid_out_too(value, text):
    """A flow with problems is what a person works on; unknown keys come last, nothing is lost."""
    assert layout(value) == text


def test_characters_stay_readable_unless_ascii_is_wanted():
    """For a terminal that cannot show them."""
    assert layout(["größe 🙂"]) == '[\n  "größe 🙂"\n]\n'
    assert layout(["größe"], ascii_only=True) == '[\n  "gr\\u00f6\\u00dfe"\n]\n'
