"""The JSON Schema: made from the table of steps, valid itself, and as strict as the check of shape."""

from __future__ import annotations

import copy
import json
import re

import pytest
from jsonschema import Draft202012Validator

from surefoot.flows._data import limits
from surefoot.flows.guide import flow_guide
from surefoot.flows.schema import flow_schema
from surefoot.flows.steps import KINDS, PartType

VALIDATOR = Draft202012Validator(flow_schema())
EXAMPLES = re.findall(r"```json\n(.*?)```", flow_guide(), re.DOTALL)


def flow(*steps, **more):
    return {"app": "browser", "steps": list(steps), **more}


def test_it_is_a_schema():
    """Of the dialect it names, with an identity and a title; each call gives a value of its own."""
    schema = flow_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == "urn:surefoot:flow"
    assert schema["title"]
    schema["title"] = "changed"
    assert flow_schema()["title"] != "changed"
    json.dumps(schema, allow_nan=False)


def test_every_part_is_described():
    """So that an editor can say what goes where; and nothing but what is described may stand anywhere."""
    definitions = flow_schema()["$defs"]
    assert set(definitions) == {"step", *KINDS, *(type_.value for type_ in PartType)}
    for name, kind in KINDS.items():
        value = definitions[name]["properties"][name]
        assert kind.meaning in definitions[name]["description"]
        assert definitions[name]["additionalProperties"] is False
        if kind.plain:
            assert value["description"]
            continue
        assert value["additionalProperties"] is False
        assert {key: bool(part["description"]) for key, part in value["properties"].items()} == {
            part.key: True for part in kind.parts
        }
        assert value["required"] == [part.key for part in kind.parts if part.required]


@pytest.mark.parametrize("name", KINDS)
def test_every_example_of_a_step_is_valid(name):
    """Those of the table, and those that the schema itself shows."""
    VALIDATOR.validate(flow(KINDS[name].example))
    for example in flow_schema()["$defs"][name]["examples"]:
        VALIDATOR.validate(flow(example))


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_guide_is_valid(text):
    """Whole flows."""
    VALIDATOR.validate(json.loads(text))


WRONG = [
    ["not", "an", "object"],
    {"app": "browser"},
    {"steps": ["x"]},
    flow(),
    flow("x", step="y"),
    {"app": "", "steps": ["x"]},
    {"app": 7, "steps": ["x"]},
    {"app": "browser", "steps": "x"},
    flow(""),
    flow(" \n"),
    flow(None),
    flow(["x"]),
    flow({}),
    flow({"brwose": "x"}),
    flow({"browse": "x", "open": "y"}),
    flow({"browse": ""}),
    flow({"browse": {"address": "x"}}),
    flow({"enter": {}}),
    flow({"enter": {"email": ""}}),
    flow({"enter": {"": "x"}}),
    flow({"enter": {"email": 1}}),
    flow({"enter": {f"field {n}": "x" for n in range(limits().slots + 1)}}),
    flow({"choose": {"what": "x"}}),
    flow({"choose": {"what": "x", "option": "y", "by": "z"}}),
    flow({"choose": "x"}),
    flow({"read": {"what": "x", "into": "two words"}}),
    flow({"read": {"what": "x", "into": "1x"}}),
    flow({"read": {"what": "x", "into": "a-b"}}),
    flow({"read": {"what": "x", "into": ""}}),
    flow({"pick": {"from": "x", "by": "y", "into": None}}),
    flow({"repeat_until": {"condition": "x", "steps": ["y"], "max": 0}}),
    flow({"repeat_until": {"condition": "x", "steps": ["y"], "max": limits().rounds + 1}}),
    flow({"repeat_until": {"condition": "x", "steps": ["y"], "max": "3"}}),
    flow({"repeat_until": {"condition": "x", "steps": ["y"], "max": True}}),
    flow({"repeat_until": {"condition": "x", "steps": [], "max": 1}}),
    flow({"repeat_until": {"condition": "x", "max": 1}}),
    flow({"if": {"condition": "x", "then": []}}),
    flow({"if": {"condition": "x", "then": ["y"], "else": []}}),
    flow({"if": {"condition": "x", "then": [{"brwose": "y"}]}}),
    flow("x" * (limits().text + 1)),
    flow("x", vars={"": "y"}),
    flow("x", vars={"a": ""}),
    flow("x", vars=["a"]),
    flow("x", vars={f"v{n}": "y" for n in range(limits().vars + 1)}),
]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: json.dumps(value)[:60])
def test_what_is_wrong_is_not_valid(value):
    """Unknown kinds and keys, empty texts, lists and objects, wrong types, what is beyond a limit."""
    assert not VALIDATOR.is_valid(value)


@pytest.mark.parametrize("name", KINDS)
def test_a_key_that_a_step_does_not_have_is_not_valid(name):
    """Beside its own key, and among its parts."""
    example = KINDS[name].example if isinstance(KINDS[name].example, dict) else {name: KINDS[name].example}
    assert not VALIDATOR.is_valid(flow({**example, "note": "x"}))
    if not KINDS[name].plain:
        inner = copy.deepcopy(example)
        inner[name]["note"] = "x"
        assert not VALIDATOR.is_valid(flow(inner))


@pytest.mark.parametrize("name", ["größe", "電話番号", "_x", "order_2"])
def test_a_variable_may_have_letters_of_any_script(name):
    """As the check says too."""
    VALIDATOR.validate(flow({"read": {"what": "x", "into": name}}))


def test_patterns_mean_the_same_to_editors():
    """No class that Python and ECMAScript read differently: of words, digits, properties."""
    assert not re.search(r"\\\\[wWdDpPuUbB]", json.dumps(flow_schema()))
