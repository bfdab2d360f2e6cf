"""Reading: JSON and YAML to values with lines; what cannot be read says where and why."""

from __future__ import annotations

import tracemalloc

import pytest
import yaml

from surefoot.errors import UnreadableInputError
from surefoot.flows import check_flow
from surefoot.flows._tree import MAX_DEPTH
from surefoot.flows.source import MAX_CHARS, read_flow

YAML = """\
# how long it takes
app: browser

vars: {city: Oslo}
steps:
  - search for flights
  - enter:
      email: ${email}
      'departure': 2026-05-01
      time: 08:30
      window seat: no
  - repeat_until:
      condition: no mail is left
      steps:
        - archive the mail
      max: 3
"""


@pytest.fixture(params=["libyaml", "pure Python"])
def each_yaml(request, monkeypatch):
    """Both of PyYAML's parsers: its wheels have the first, a build without libyaml only the second."""
    if request.param != "libyaml":
        monkeypatch.delattr(yaml, "CSafeLoader")


def failure(text, **options) -> UnreadableInputError:
    with pytest.raises(UnreadableInputError) as caught:
        read_flow(text, **options)
    assert caught.value.exit_code == 6
    assert caught.value.next_move
    return caught.value


# --- lines -------------------------------------------------------------------------------------------------------


def test_json_keeps_the_line_of_every_value():
    """Of a value with a key it is the key's line."""
    source = read_flow(
        '{"app": "browser",\n "steps": ["a",\n  {"open":\n    "Calculator"}]\n}\n', name="x.json"
    )
    assert (source.form, source.name) == ("json", "x.json")
    assert source.value == {"app": "browser", "steps": ["a", {"open": "Calculator"}]}
    expected = {"": 1, "/app": 1, "/steps": 2, "/steps/0": 2, "/steps/1": 3, "/steps/1/open": 3}
    assert {pointer: source.line(pointer) for pointer in expected} == expected


@pytest.mark.usefixtures("each_yaml")
def test_yaml_keeps_the_line_of_every_value():
    """Comments and empty lines are counted."""
    source = read_flow(YAML)
    assert source.form == "yaml"
    expected = {
        "": 2,
        "/app": 2,
        "/vars/city": 4,
        "/steps": 5,
        "/steps/0": 6,
        "/steps/1": 7,
        "/steps/1/enter": 7,
    }
    expected |= {
        "/steps/1/enter/email": 8,
        "/steps/2/repeat_until/steps/0": 15,
        "/steps/2/repeat_until/max": 16,
    }
    assert {pointer: source.line(pointer) for pointer in expected} == expected


def test_a_value_that_is_not_there_has_the_line_of_what_is_around_it():
    """A missing key is told where the step stands; a pointer's escapes are those of RFC 6901."""
    source = read_flow('{"app": "a",\n"steps": [\n{"pick": {"from/to~x": "b"}}]}')
    assert source.line("/steps/0/pick/by") == 3
    assert source.line("/steps/7/enter/x") == 2
    assert source.line("/nothing") == source.line("nothing") == 1
    assert source.line("/steps/00") == source.line("/steps/-1") == source.line("/steps/x") == 2
    assert source.line("/app/0/0") == 1
    assert source.line("/steps/0/pick/from~1to~0x") == 3


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.usefixtures("each_yaml")
def test_every_kind_of_line_end_is_one(end):
    """A file of Windows has the same lines and the same values."""
    source = read_flow(YAML.replace("\n", end))
    assert (source.value, source.marks) == (read_flow(YAML).value, read_flow(YAML).marks)
    as_json = read_flow('{"app": "x",\n"steps":\n["a"]}'.replace("\n", end))
    assert as_json.line("/steps/0") == 3


def test_a_line_separator_inside_a_text_is_no_line():
    """Editors do not count U+2028 and U+0085, so neither do we."""
    source = read_flow('{"app": "a\u2028b\x85c",\n"steps": ["x"]}')
    assert source.line("/steps") == 2


def test_problems_have_the_line_in_the_persons_file():
    """The whole way: read, checked, told with a line, in both forms."""
    found = check_flow(read_flow('{"app": "browser",\n"steps": [\n"a",\n{"brwose": "example.com"}]}'))
    assert [(problem.code, problem.line) for problem in found] == [("unknown_step", 4)]
    found = check_flow(read_flow("app: browser\nsteps:\n- a\n- brwose: example.com\n"))
    assert [(problem.code, problem.line) for problem in found] == [("unknown_step", 4)]


# --- JSON ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": 1,\n "a": 2}', 2, 2, '"a" is here a second time, first in line 1'),
        ('{"a": {"b": 1,\n\n"\\u0062": 2}}', 3, 1, "second time"),
        ('[{"a": NaN}]', 1, 8, "NaN"),
        ("[Infinity]", 1, 2, "Infinity"),
        ("[-Infinity]", 1, 2, "'-' must be followed by a number"),
        ("[1e999]", 1, 2, "too large"),
        ("[" + "9" * 5000 + "]", 1, 2, "digits"),
        ('["\\ud800"]', 1, 2, "half of a character"),
        ('["\ud800"]', 1, 3, "half of a character"),
        ('["\\udc00\\ud800"]', 1, 2, "half of a character"),
        ('["a\nb"]', 1, 4, "a line ends inside a text"),
        ('["a\tb"]', 1, 4, "\\t"),
        ('["\\q"]', 1, 3, "backslash"),
        ('["\\u12g4"]', 1, 4, "backslash"),
        ('["\\', 1, 2, "closing quotation mark"),
        ('["abc', 1, 2, "closing quotation mark"),
        ("{'a': 1}", 1, 2, "double quotation marks"),
        ("{a: 1}", 1, 2, '"a"'),
        ('{"a": True}', 1, 7, "JSON writes true"),
        ('{"a": undefined}', 1, 7, "JSON writes null"),
        ('{"a" 1}', 1, 6, "':' is missing"),
        ('{"a": 1 "b": 2}', 1, 9, "',' or '}' is missing"),
        ("[1 2]", 1, 4, "',' or ']' is missing"),
        ("[01]", 1, 3, "missing"),
        ("[1.]", 1, 3, "missing"),
        ("[1,]", 1, 4, "one more value"),
        ('{"a": 1,}', 1, 9, "one more value"),
        ("[1,,2]", 1, 4, "','"),
        ("[", 1, 2, "the end"),
        ('{"a": 1', 1, 8, "the end"),
        ('{"a":\n// why\n1}', 2, 1, "a comment, which JSON has not"),
        ('{"a": 1} x', 1, 10, "has ended"),
        ("[]\n[]", 2, 1, "has ended"),
        ('{"a": [1}', 1, 9, "']'"),
    ],
)
def test_json_that_is_none_says_where_and_why(text, line, column, words):
    """Line, column, what stands there; and it is JSON's error, since the text begins as JSON does."""
    error = failure(text)
    assert (error.details["line"], error.details["column"]) == (line, column)
    assert error.message.startswith(f"Line {line}, column {column}: ")
    assert words in error.message
    assert "YAML" not in error.message.replace("(YAML has)", "")


@pytest.mark.parametrize("text", ['  \n\t{"app": "x"}', '\ufeff{"app": "x"}', '\ufeff\n{"app": "x"}\n\n'])
def test_a_mark_of_byte_order_and_space_are_nothing(text):
    """Windows puts the one, editors the other."""
    assert read_flow(text).value == {"app": "x"}
    assert read_flow(text.encode()).value == {"app": "x"}


# --- YAML ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_yaml")
def test_a_yaml_scalar_is_the_text_that_stands_there():
    """Dates, times, numbers and yes and no are texts; only the rounds of a loop are a number."""
    value = read_flow(YAML).value
    assert value["steps"][1]["enter"] == {
        "email": "${email}",
        "departure": "2026-05-01",
        "time": "08:30",
        "window seat": "no",
    }
    assert value["steps"][2]["repeat_until"]["max"] == 3


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("5", 5),
        ("-1", -1),
        ("0", 0),
        ("010", "010"),
        ("0x10", "0x10"),
        ("'5'", "5"),
        ("5.0", "5.0"),
        ("5_0", "5_0"),
    ],
)
@pytest.mark.usefixtures("each_yaml")
def test_rounds_are_a_number_where_json_would_have_one(written, read):
    """What YAML takes for octal or what stands in quotes stays a text, and the check refuses it."""
    text = f"app: x\nsteps:\n- repeat_until:\n    max: {written}\n    condition: a\n    steps: [b]\n"
    assert read_flow(text).value["steps"][0]["repeat_until"]["max"] == read
    assert read_flow(f"max: {written}\n").value["max"] == written.strip("'")
    assert read_flow(f"enter: {{max: {written}}}\n").value["enter"]["max"] == written.strip("'")


def test_a_number_without_end_stays_a_text():
    """Python refuses to read one of 5,000 digits."""
    source = read_flow("repeat_until:\n  max: " + "9" * 5000)
    assert source.value["repeat_until"]["max"] == "9" * 5000


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL"])
@pytest.mark.usefixtures("each_yaml")
def test_nothing_is_null_and_never_an_empty_text(written):
    """A forgotten value is a problem; a person called Null is told to use quotation marks; in quotes it is a name."""
    source = read_flow(f"app: browser\nsteps:\n- enter:\n    last name: {written}\n")
    assert source.value["steps"][0]["enter"] == {"last name": None}
    assert [(problem.code, problem.line) for problem in check_flow(source)] == [("wrong_type", 4)]
    assert read_flow("name: 'null'").value == {"name": "null"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("app: &x browser", 1, 'the anchor "x"'),
        ("a: &x [b]\nc: *x", 1, 'the anchor "x"'),
        ("a: b\nc: *x", 2, 'the alias "x"'),
        ("a: b\nc: !!python/object:os.system x", 2, "the tag"),
        ("a: ! x", 1, "the tag"),
        ("a: !!map {b: c}", 1, "the tag"),
        ("a: b\n---\nc: d", 2, "a second document"),
        ("a: b\n...\n---\nc: d", 3, "a second document"),
        ("a: b\nc: d\na: e", 3, "second time, first in line 1"),
        ("a:\n  1: b\n  '1': c", 3, "second time"),
        ("? [a]\n: b", 1, "a key must be a text"),
        ("? {a: b}\n: c", 1, "a key must be a text"),
        ("a: b: c", 1, "no YAML"),
        ("a: b\n\tc: d", 2, "no YAML"),
        ("a: 'b", 1, "no YAML"),
        ("a: [b", 1, "no YAML"),
        ("a: b\nc\n", 2, "no YAML"),
        ("```json\n{}\n```", 1, "no YAML"),
        ("a: b\nc: \x07", 2, "cannot hold the character '\\x07'"),
        ("a: b\n\x00", 2, "cannot hold"),
        ('a: "\\ud800"', 1, ""),
        ("a: \udfff", 1, "half of a character"),
    ],
)
@pytest.mark.usefixtures("each_yaml")
def test_what_a_flow_may_not_have_of_yaml_is_refused_with_its_line(text, line, words):
    """Anchors, aliases, tags, more documents, doubled keys, keys that are no texts, and what is no YAML."""
    error = failure(text)
    assert error.details["line"] in (line, line + 1)  # libyaml sees an end of file one line later
    assert words in error.message


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "# only a comment\n", "\ufeff", "---\n...\n"[:0]])
def test_an_empty_text_is_told_as_such(text):
    """And how to begin."""
    error = failure(text, name="x.yaml")
    assert error.message == "x.yaml is empty."
    assert "surefoot flow guide" in error.next_move


@pytest.mark.usefixtures("each_yaml")
def test_a_marked_document_and_a_version_are_fine():
    """`---` and `%YAML` may begin a file."""
    assert read_flow("%YAML 1.2\n---\napp: x\n...\n").value == {"app": "x"}


# --- limits, bytes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["[" * 300_000, '{"a":' * 100_000, "- " * 300_000, "? " * 100_000, "a: [" + "[" * 90_000]
)
@pytest.mark.usefixtures("each_yaml")
def test_what_nests_without_end_is_refused(text):
    """Never by Python's own limit."""
    assert failure(text).details["line"] == 1


def test_the_deepest_that_is_read():
    """One more is too deep, in both forms."""
    assert read_flow("[" * MAX_DEPTH + "]" * MAX_DEPTH).form == "json"
    assert read_flow("- " * MAX_DEPTH + "a").form == "yaml"
    for text in ("[" * (MAX_DEPTH + 1), "- " * (MAX_DEPTH + 1) + "a"):
        assert f"more than {MAX_DEPTH}" in failure(text).message


@pytest.mark.parametrize(
    "what", ["one long name around many values", "long names in each other", "many short values"]
)
def test_a_file_made_to_fill_the_memory_does_not(what):
    """What is kept of a text is a small multiple of it."""
    text = {
        "one long name around many values": '{"' + "n" * 20_000 + '": [' + "1," * 10_000 + "1]}",
        "long names in each other": "".join('{"' + "n" * 9_000 + '": ' for _ in range(99)) + "1" + "}" * 99,
        "many short values": "[" + "[]," * 10_000 + "1]",
    }[what]
    tracemalloc.start()
    try:
        source = read_flow(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert source.line("/0/0") == 1
    assert most < 300 * len(text)


def test_a_text_longer_than_any_flow():
    """Is not read at all."""
    longest = '["' + "x" * (MAX_CHARS - 4) + '"]'
    assert len(read_flow(longest).value[0]) == MAX_CHARS - 4
    assert "1,000,001 characters; 1,000,000 are allowed" in failure(longest + " ", name="f.json").message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"app: browser\nsteps:\n- caf\xe9", "byte 26, in line 3, is 0xe9"),
        ("app: x".encode("utf-16"), "byte 1, in line 1, is 0xff"),
        (b'{"a": "\xed\xa0\x80"}', "0xed"),
    ],
)
def test_bytes_that_are_no_utf8_say_which(data, words):
    """And that the file is to be saved as UTF-8."""
    error = failure(data, name="f.yaml")
    assert error.message.startswith("f.yaml is no UTF-8: ")
    assert words in error.message
    assert error.next_move == "Save it as UTF-8."


def test_the_file_is_named_in_errors():
    """And a long key is not repeated whole; nor is what may be a secret."""
    error = failure('{"' + "k" * 500 + '": 1, "' + "k" * 500 + '": 2}', name="flows/a.json")
    assert error.message.startswith("flows/a.json, line 1, column ")
    assert len(error.message) < 200
    error = failure('{"4111 1111 1111 1111": 1, "4111 1111 1111 1111": 2}')
    assert "1111" not in error.message


def test_the_source_shows_no_text_of_the_file():
    """It is not checked yet: a traceback with its values must not hold what is written out in it."""
    assert "4111" not in repr(
        read_flow('{"app": "browser", "steps": [{"enter": {"card": "4111 1111 1111 1111"}}]}')
    )
