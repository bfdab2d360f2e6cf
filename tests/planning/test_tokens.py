"""Values of call lines: where they end, and what they are."""

from __future__ import annotations

import pytest

from surefoot.planning.literals import Bare, literal, unwrapped
from surefoot.planning.parse import parse_step
from surefoot.planning.tokens import read_value


def arguments(line, catalogue):
    step = parse_step(line, catalogue)
    assert step.concrete, step
    return step.arguments


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("webSearch query='what's new in Bob's shop'", "what's new in Bob's shop"),
        ("webSearch query='the dogs' park opening hours'", "the dogs' park opening hours"),
        ("webSearch(query='rock 'n' roll')", "rock 'n' roll"),
        (
            "webSearch(query='O'Brien, D'Arcy (1999) and it's sequel')",
            "O'Brien, D'Arcy (1999) and it's sequel",
        ),
        ("webSearch query='l'été à l'île d'Yeu'", "l'été à l'île d'Yeu"),
        ("webSearch query=‘what’s on’", "what’s on"),
        ("webSearch(query='where's x=5 solved')", "where's x=5 solved"),
        ("webSearch query='a\\'b'", "a'b"),
    ],
)
def test_value_never_ends_at_an_apostrophe(line, value, catalogue):
    """The kind "a value ends at an apostrophe": the whole text, never the half."""
    assert arguments(line, catalogue) == {"query": value}


@pytest.mark.parametrize(
    "line",
    [
        "webSearch query='foo' and then stop",
        "webSearch query='a' and 'b'",
        'webSearch query="a" OR "b"',
        'webSearch query="15" monitor"',
        "webSearch query='never closed",
        'webSearch query="never closed',
        "webSearch query=two words",
        "webSearch(query='x') -> the answer",
        "webSearch(query=two words)",
        "webSearch query='x' query='y'",
        "webSearch(query=“a “b” c)",
        "webSearch query=`open",
        "add numbers=[1, 2",
        "add numbers=[1 2]",
        "move to={x 1}",
        "move to={'x'}",
        "move to={x: 1",
        "move to={x",
        "move to={=1}",
        "f q=<b",
        "f n=5abc'x'",
        "f q=",
        "f(q=",
        "f q='a'n=5",
        "f(q='a' n=5)",
        "webSearch(",
    ],
)
def test_leftover_text_makes_a_step_not_concrete_and_keeps_no_half_value(line, catalogue):
    """A step with text left over goes to the resolver; half a value is never run."""
    step = parse_step(line, catalogue)
    assert not step.concrete
    assert step.arguments == {}
    assert step.tool


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r'addNote title="he said \"hi\""', {"title": 'he said "hi"'}),
        ("addNote title='x' tags=['a','b c']", {"title": "x", "tags": ["a", "b c"]}),
        ("addNote(title='x', tags=['it's, well', 'b', ])", {"title": "x", "tags": ["it's, well", "b"]}),
        ("addNote(title='x', tags=('a', 'b'))", {"title": "x", "tags": ["a", "b"]}),
        ("f units=None", {"units": None}),
        ("f(q='Warsaw', exact=True, units=None)", {"q": "Warsaw", "exact": True, "units": None}),
        ("f(q='Warsaw', exact=false, units=null)", {"q": "Warsaw", "exact": False, "units": None}),
        ("f q=‘x’", {"q": "x"}),
        ("f q=“x ‘y’ z” n=1", {"q": "x ‘y’ z", "n": 1}),
        ("f q=„x“", {"q": "x"}),
        ("f q=”x”", {"q": "x"}),
        ("f q=«a «b» c»", {"q": "a «b» c"}),
        ("f q=「東京」", {"q": "東京"}),
        ("f q=『東京「駅」』", {"q": "東京「駅」"}),
        ("f q=＂x＂", {"q": "x"}),
        ("f q=`x y`", {"q": "x y"}),
        ("f(q: 'x', n: 5)", {"q": "x", "n": 5}),
        ("f q = 'x', n = 5", {"q": "x", "n": 5}),
        ('f({"q": "x", "n": 5})', {"q": "x", "n": 5}),
        ('f {"q": "x"}', {"q": "x"}),
        ("f: q='x'", {"q": "x"}),
        ("f（q＝'x'）", {"q": "x"}),
        ("f q='x'.", {"q": "x"}),
        ("f(q='x');", {"q": "x"}),
        ("f n=5.", {"n": 5}),
        ("f q=a.b", {"q": "a.b"}),
        ('f "q"="x"', {"q": "x"}),
        ("fetchPage url=https://a.b/c?x=1&y=2", {"url": "https://a.b/c?x=1&y=2"}),
        ("move to={x: 1, who: 'Bob's'}", {"to": {"x": 1, "who": "Bob's"}}),
        ('move(to={\'x\': 1, "who": "a",})', {"to": {"x": 1, "who": "a"}}),
        (r'f q="tab\there \u00e9\x41 \ud83d\ude00 \d C:\\x"', {"q": "tab\there éA 😀 \\d C:\\x"}),
        (r'f q="lone \ud83d"', {"q": "lone \ufffd"}),
        ("webSearch query='price < 5 and rating > 4'", {"query": "price < 5 and rating > 4"}),
        ("webSearch query='f(x), [y]; {z}'", {"query": "f(x), [y]; {z}"}),
        ("listNotes", {}),
        ("listNotes()", {}),
        ("anything a=1 b='x'", {"a": 1, "b": "x"}),
        ("anything", {}),
    ],
)
def test_quotes_lists_objects_and_literals(line, expected, catalogue):
    """Typed values in both spellings; every kind of quote is a quote."""
    assert arguments(line, catalogue) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f n='5'", {"n": 5}),
        ("f q=5", {"q": "5"}),
        ("f q='5'", {"q": "5"}),
        ("f q=007", {"q": "007"}),
        ("f q=5.0", {"q": "5.0"}),
        ("f q=true", {"q": "true"}),
        ("f n=5.0", {"n": 5}),
        ("f x='2.5'", {"x": 2.5}),
        ("f x=5", {"x": 5}),
        ("f exact='True'", {"exact": True}),
        ("f q=None", {"q": None}),
        ("f q='None'", {"q": "None"}),
        ("add numbers='[1, 2.5]'", {"numbers": [1, 2.5]}),
        ("add numbers=['1', 2]", {"numbers": [1, 2]}),
    ],
)
def test_values_are_typed_by_the_schema(line, expected, catalogue):
    """A quoted 5 is 5 for an integer and stays a text for a text."""
    found = arguments(line, catalogue)
    assert found == expected
    assert [type(value) for value in found.values()] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(
    "line", ["f n='five'", "f n=2.5", "f exact='maybe'", "add numbers='x'", "f n=true", "add numbers=[a]"]
)
def test_value_of_the_wrong_type_is_not_concrete(line, catalogue):
    """A value that cannot be read as its type waits for the resolver."""
    step = parse_step(line, catalogue)
    assert not step.concrete
    assert step.arguments


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('getWeather("Paris")', {"place": "Paris"}),
        ("getWeather('St. Ives')", {"place": "St. Ives"}),
        ("getWeather 'Paris'", {"place": "Paris"}),
        ("getWeather(Paris)", {"place": "Paris"}),
        ("getWeather('Paris', day='tomorrow')", {"place": "Paris", "day": "tomorrow"}),
        ("add([1, 2])", {"numbers": [1, 2]}),
    ],
)
def test_one_positional_value_means_the_one_required_argument(line, expected, catalogue):
    """A positional value is understood when the tool requires exactly one argument."""
    assert arguments(line, catalogue) == expected


@pytest.mark.parametrize(
    "line",
    [
        "tagNote('a')",
        "tagNote('a', 'b')",
        "getWeather('a', 'b')",
        "listNotes('a')",
        "getWeather('a', place='b')",
    ],
)
def test_other_positional_values_are_not_concrete(line, catalogue):
    """Two required arguments, none, or a value given twice: nothing is guessed."""
    assert not parse_step(line, catalogue).concrete


def test_deep_nesting_is_left_over(catalogue):
    """Nesting beyond any real argument is left over and exhausts no stack."""
    deep = "add numbers=" + "[" * 1500 + "]" * 1500
    assert not parse_step(deep, catalogue).concrete
    assert read_value("[" * 5000 + "]" * 5000) is None


def test_literals_of_json_and_python():
    """Numbers, booleans and null in either spelling; what is none stays a text."""
    spelled = [
        "1",
        "-2",
        "+3",
        "1.5",
        "1e3",
        ".5",
        "True",
        "null",
        "None",
        "1e999",
        "1_000",
        "x",
        "1.2.3",
        "١",
    ]
    read = [1, -2, 3, 1.5, 1000.0, 0.5, True, None, None, "1e999", "1_000", "x", "1.2.3", "١"]
    assert [literal(text) for text in spelled] == read
    assert literal("9" * 401) == "9" * 401


def test_values_without_a_schema_are_read_as_what_they_spell():
    """`read_value` takes Python's and JSON's spelling, and says where it ended."""
    text = "{'a': [1, None, 'x'], b: {c: true}}"
    assert read_value(f"{text} rest") == ({"a": [1, None, "x"], "b": {"c": True}}, len(text))
    assert read_value("nothing, really") == ("nothing", 7)
    assert read_value("") is None
    assert unwrapped([Bare("5"), {"a": Bare("no")}, 3]) == [5, {"a": "no"}, 3]
