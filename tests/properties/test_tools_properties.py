"""Arguments of any JSON, and any sequence of kit calls with its undo."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.errors import ArgumentError
from surefoot.tools import Tool, kits, prepare
from surefoot.tools.types import Effect
from tools.harness import Bench

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SCHEMAS: dict[str, Any] = {
    "text": {"type": "string"},
    "whole": {"type": "integer", "minimum": -5},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "kind": {"enum": ["Red", "blue", 3, None]},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "inner": {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    },
    "tree": {"$ref": "#/$defs/tree"},
    "url": {"type": "string", "format": "uri"},
    "any": {},
}
TREE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "n": {"type": "number"}}}
TOOLS = [
    Tool("f", "", {"type": "object", "properties": SCHEMAS, "$defs": {"tree": TREE}}, Effect.READ, dict),
    Tool(
        "g",
        "",
        {"type": "object", "properties": SCHEMAS, "required": sorted(SCHEMAS), "$defs": {"tree": TREE}},
        Effect.READ,
        dict,
    ),
    Tool("h", "", {"type": "object"}, Effect.READ, dict),
    *kits.builtin(),
]
KEYS = st.sampled_from([*SCHEMAS, "title", "note", "due", "path", "made up"])
VALUES = JSON | JSON.map(json.dumps) | JSON.map(repr)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)


@settings(max_examples=300)
@given(st.sampled_from(TOOLS), JSON | OBJECTS | OBJECTS.map(json.dumps) | st.text())
def test_any_json_is_prepared_or_refused(tool: Tool, raw: Any):
    """An argument error, or arguments that the schema takes and that stay the same when prepared again."""
    before = json.dumps(raw)
    try:
        arguments, notices = prepare(tool, raw)
    except ArgumentError as error:
        with pytest.raises(ArgumentError):
            prepare(tool, raw)
        problems = error.details["problems"]
        assert problems
        return
    assert json.dumps(raw) == before
    assert all(isinstance(notice, str) for notice in notices)
    again, more = prepare(tool, arguments)
    assert (again, more) == (arguments, [])


@given(st.text())
def test_text_is_never_changed(text: str):
    """Whatever it looks like, a text for a text is that text."""
    tool = Tool(
        "f",
        "",
        {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]},
        Effect.READ,
        dict,
    )
    if text == "None":
        return
    assert prepare(tool, {"p": text})[0] == {"p": text}


TITLES = st.sampled_from(["Milk", "Buy milk", "Anna’s birthday", "買い物", "Lisbon"])
WHEN = st.sampled_from(["3 May", "tomorrow at 5pm", "17:00", "next week", "2026-05-03", "nonsense"])
TAGS = st.sampled_from(["a", "b", "#a"])
CALLS = st.one_of(
    st.tuples(
        st.just("addNote"),
        st.fixed_dictionaries(
            {"title": TITLES}, optional={"text": st.text(max_size=9), "tags": st.lists(TAGS)}
        ),
    ),
    st.tuples(
        st.just("updateNote"),
        st.fixed_dictionaries({"note": TITLES}, optional={"title": TITLES, "text": st.text(max_size=9)}),
    ),
    st.tuples(
        st.sampled_from(["tagNote", "untagNote"]), st.fixed_dictionaries({"note": TITLES, "tag": TAGS})
    ),
    st.tuples(st.just("addTask"), st.fixed_dictionaries({"title": TITLES}, optional={"due": WHEN})),
    st.tuples(
        st.just("updateTask"),
        st.fixed_dictionaries({"task": TITLES}, optional={"title": TITLES, "due": WHEN}),
    ),
    st.tuples(
        st.sampled_from(["completeTask", "reopenTask", "deleteTask"]), st.fixed_dictionaries({"task": TITLES})
    ),
    st.tuples(
        st.just("addEvent"), st.fixed_dictionaries({"title": TITLES, "start": WHEN}, optional={"end": WHEN})
    ),
    st.tuples(
        st.just("updateEvent"),
        st.fixed_dictionaries({"event": TITLES}, optional={"title": TITLES, "start": WHEN, "end": WHEN}),
    ),
    st.tuples(st.just("deleteNote"), st.fixed_dictionaries({"note": TITLES})),
    st.tuples(st.just("deleteEvent"), st.fixed_dictionaries({"event": TITLES})),
    st.tuples(st.just("rememberFact"), st.fixed_dictionaries({"fact": TITLES})),
    st.tuples(st.just("forgetFact"), st.fixed_dictionaries({"fact": TITLES})),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    first=st.lists(CALLS, max_size=6),
    calls=st.lists(CALLS, min_size=1, max_size=12),
    repeats=st.integers(1, 2),
)
def test_undo_of_any_sequence_restores_every_byte(first: list[Any], calls: list[Any], repeats: int):
    """Newest first, with another run's writes between; restoring twice is the same; the redo comes back too."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            for name, arguments in first:
                bench.call(name, arguments, run="r0")
            before = bench.rows()
            done = [bench.call(name, arguments) for name, arguments in calls]
            after = bench.rows()
            for call in reversed(done):
                others = bench.call("addNote", title="another run's note", run="other")
                assert bench.image(call) == call.after
                for _ in range(repeats):
                    bench.restore(call, call.before)
                assert bench.image(call) == call.before
                bench.restore(others, others.before)
            assert bench.rows() == before
            for call in done:
                bench.restore(call, call.after)
            assert bench.rows() == after
        finally:
            bench.close()
