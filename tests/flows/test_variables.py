"""`${name}`: found and filled in one pass, never twice."""

from __future__ import annotations

import pytest

from surefoot.flows.variables import VARIABLE, names_in, substitute, unclosed, without_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("no names", []),
        ("${email}", ["email"]),
        ("from ${home city} to ${destination}, ${home city}", ["home city", "destination", "home city"]),
        ("${}", [""]),
        ("${ email }", [" email "]),
        ("$ {email} {email} $email", []),
        ("$${email}", ["email"]),
        ("${a{b}", []),
        ("${a${b}}", ["b"]),
        ("${größe} ${電話番号}", ["größe", "電話番号"]),
        ("${a\nb}", ["a\nb"]),
    ],
)
def test_names_are_found_in_their_order(text, names):
    """As they are written: space and case are part of a name."""
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("${a", True),
        ("${a} ${", True),
        ("${a{b}", True),
        ("${a${b}}", True),
        ("${a}", False),
        ("$a {b}", False),
        ("", False),
    ],
)
def test_a_place_that_does_not_end_is_seen(text, opened):
    """So that it is told, instead of being typed into a field."""
    assert unclosed(text) is opened


def test_the_words_around_names():
    """What the author wrote, and not what is put in."""
    assert without_names("pay ${price} to ${shop}").split() == ["pay", "to"]
    assert without_names("no names") == "no names"


VALUES = {"name": "Ada", "page": "${card number} ${name}", "slash": "\\1 \\g<0>", "empty": ""}


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("dear ${name}", "dear Ada"),
        ("${name}${name}", "AdaAda"),
        ("read: ${page}", "read: ${card number} ${name}"),
        ("$${page}{x}", "$${card number} ${name}{x}"),
        ("${slash}", "\\1 \\g<0>"),
        ("[${empty}]", "[]"),
        ("${name", "${name"),
    ],
)
def test_substitution_is_one_pass_left_to_right(text, done):
    """Page text that looks like `${card number}` stays text."""
    assert substitute(text, VALUES.__getitem__) == done


def test_a_value_cannot_make_a_place_with_what_stands_beside_it():
    """`$` as a value in front of `{card number}` stays what it is."""
    assert substitute("${a}{card number}", {"a": "$"}.__getitem__) == "${card number}"


def test_each_place_is_asked_for_once_in_order():
    """And an error of the asking ends it."""
    asked = []
    substitute("${b} ${a} ${b}", lambda name: asked.append(name) or "x")
    assert asked == ["b", "a", "b"]
    with pytest.raises(KeyError, match="unknown"):
        substitute("${unknown}", VALUES.__getitem__)


@pytest.mark.parametrize("name", ["x", "_", "order_number", "größe", "電話", "a1"])
def test_what_a_step_may_call_a_variable(name):
    """Letters of any script, digits and `_`."""
    assert VARIABLE.fullmatch(name)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "a.b", "${a}", "a\n", "٣a"])
def test_what_it_may_not(name):
    """No digit first, no space, no sign."""
    assert VARIABLE.fullmatch(name) is None
