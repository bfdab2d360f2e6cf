"""The language of flows, over random flows, JSON and texts: reading, lines, round trips, schema, layout, substitution."""

from __future__ import annotations

import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from flows.strategies import FLOWS, JSON, almost
from surefoot.errors import FlowInvalidError, UnreadableInputError
from surefoot.flows.flow import Flow
from surefoot.flows.formatting import layout
from surefoot.flows.schema import flow_schema
from surefoot.flows.shape import shape_problems
from surefoot.flows.source import read_flow
from surefoot.flows.variables import names_in, substitute, unclosed, without_names

VALIDATOR = Draft202012Validator(flow_schema())
WIDER = {"too_deep", "too_many_steps"}
"""What JSON Schema cannot say: it counts one list at a time. Signs beyond ASCII it lets through."""

# --- reading -------------------------------------------------------------------------------------------------------


@given(JSON)
def test_json_is_read_as_the_standard_library_reads_it(value):
    """Whatever the value and the layout: the same value, of the same types."""
    for text in (json.dumps([value]), json.dumps([value], ensure_ascii=False, indent=3)):
        assert json.dumps(read_flow(text).value) == json.dumps([value])


@given(
    st.text(max_size=60)
    | st.text(st.sampled_from("{}[]\",:-\n #&*!?|>'%@`~\\a1 \t\ud800\u2028"), max_size=40)
)
def test_reading_never_crashes(text):
    """Any text is read, or refused with UnreadableInputError."""
    try:
        source = read_flow(text)
    except UnreadableInputError:
        return
    assert source.line("") is not None
    json.dumps(source.value, ensure_ascii=False, allow_nan=False).encode()


@given(st.binary(max_size=60))
def test_reading_bytes_never_crashes(data):
    """The same for what is no text."""
    with contextlib.suppress(UnreadableInputError):
        read_flow(data)


def pointers(value, at=""):
    yield at, value
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, one in members:
        yield from pointers(one, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")


@given(FLOWS)
def test_lines_are_right_in_json(flow):
    """In a file with a value on each line, the values follow each other line by line."""
    text = json.dumps(flow, indent=1, ensure_ascii=False)
    source = read_flow(text)
    lines = text.split("\n")
    for pointer, value in pointers(flow):
        shown = lines[source.line(pointer) - 1].strip()
        key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        named = json.dumps(key, ensure_ascii=False) + ": "
        begin = (
            "{"
            if isinstance(value, dict)
            else "["
            if isinstance(value, list)
            else json.dumps(value, ensure_ascii=False)
        )
        assert shown.startswith((begin, named + begin)), (pointer, shown)


@given(FLOWS)
def test_a_flow_written_as_yaml_is_the_same_flow_with_lines_in_order(flow):
    """Whatever its texts hold: quotes, colons, signs, words that YAML takes for something else."""
    text = yaml.dump(quoted(flow), Dumper=Dumper, allow_unicode=True, sort_keys=False, width=10**6)
    source = read_flow(text)
    assert source.value == flow
    found = [source.line(pointer) for pointer, _ in pointers(flow)]
    assert found == sorted(found)
    lines = text.split("\n")
    for pointer, value in pointers(flow):
        if isinstance(value, str) and value.isalnum() and value.isascii():
            at = source.line(pointer) - 1
            explicit = (
                lines[at].lstrip(" -").startswith("?")
            )  # a key that no line can hold: its value stands below
            assert value in lines[at + explicit]


class Dumper(yaml.SafeDumper):
    """Writes every text in quotation marks where YAML would take it for something else."""


class Text(str):
    """A text that is not to be read as anything else."""

    __slots__ = ()


Dumper.add_representer(
    Text, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def quoted(value):
    if isinstance(value, dict):
        return {Text(key): quoted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [quoted(one) for one in value]
    return Text(value) if isinstance(value, str) and not (value.isalnum() and value != "null") else value


# --- steps and flows -----------------------------------------------------------------------------------------------


@given(FLOWS)
def test_a_flow_is_written_as_it_was_read(flow):
    """Exactly, the order of its keys aside: bare texts stay bare, what was left out stays out."""
    made = Flow.from_json(flow)
    assert made.to_json() == flow
    assert Flow.from_json(json.dumps(flow)) == made
    assert Flow.from_json(made.to_text()) == made
    assert list(made.to_json()) == [key for key in ("app", "vars", "steps") if key in flow]


@given(JSON | almost())
def test_a_value_is_a_flow_or_says_why_it_is_none(value):
    """Never another error, and never a flow that is written differently."""
    if isinstance(value, str):
        return  # read first, which is another question
    if shape_problems(value):
        with pytest.raises(FlowInvalidError):
            Flow.from_json(value)
    else:
        assert Flow.from_json(value).to_json() == value


# --- the schema ----------------------------------------------------------------------------------------------------


@given(FLOWS | almost() | JSON)
def test_the_schema_says_what_the_check_of_shape_says(value):
    """Valid by the one is valid by the other, but for what a schema cannot count."""
    by_shape = {problem.code for problem in shape_problems(value)}
    if VALIDATOR.is_valid(value):
        signs = set() if json.dumps(value, ensure_ascii=False).isascii() else {"variable_name", "blank"}
        assert by_shape <= WIDER | signs | ({"rounds"} if _has_whole_float(value) else set())
    else:
        assert by_shape


def _has_whole_float(value):
    """To JSON Schema 3.0 is an integer."""
    if isinstance(value, dict | list):
        return any(map(_has_whole_float, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


# --- the layout ----------------------------------------------------------------------------------------------------


@given(FLOWS | almost() | JSON)
def test_the_layout_changes_nothing_but_the_layout(value):
    """The same value, laid out the same a second time, whatever the value is; also in ASCII."""
    text = layout(value)
    assert json.dumps(json.loads(text), sort_keys=True) == json.dumps(value, sort_keys=True)
    assert layout(json.loads(text)) == text
    ascii_text = layout(value, ascii_only=True)
    assert ascii_text.isascii()
    assert json.loads(ascii_text) == json.loads(text)


@given(FLOWS)
def test_a_line_is_too_long_only_where_it_cannot_be_folded(flow):
    """What is longer than 100 columns is one text with its key."""
    for line in layout(flow).splitlines():
        if len(line) > 100:
            assert line.strip().rstrip(",")[-1] in '"[{'


# --- variables -----------------------------------------------------------------------------------------------------

PLACES = st.text(st.sampled_from("${} ab"), max_size=14)


@given(st.lists(PLACES, max_size=5).map("".join), st.text(st.sampled_from("${}card number"), max_size=20))
def test_substitution_is_one_pass(text, value):
    """What is put in is not looked at again: it is there as often as there were places, and nothing else changed."""
    asked = []
    done = substitute(text, lambda name: asked.append(name) or "\0")
    assert asked == names_in(text)
    assert done.count("\0") == len(asked)
    assert substitute(text, lambda _: value) == done.replace("\0", value)
    assert names_in(done.replace("\0", "")) == [] or names_in(text) != []


@given(PLACES)
def test_a_text_without_its_names_has_none(text):
    """And a text that is whole has no opened place left."""
    assert unclosed(text) == ("${" in without_names(text))
