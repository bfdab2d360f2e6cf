"""What is fuzzed: a flow is read from bytes and checked. No input may do more than be refused."""

from __future__ import annotations

import json

from surefoot.errors import UnreadableInputError
from surefoot.flows.checker import check_flow, missing_names
from surefoot.flows.facts import FactNames
from surefoot.flows.flow import Flow
from surefoot.flows.shape import shape_problems
from surefoot.flows.source import read_flow

NAMES = FactNames(("email", "city", "first name"), ("card number", "access key"))


def read_and_check(data: bytes) -> None:
    """Raises AssertionError for what must not be, and whatever else goes wrong."""
    try:
        source = read_flow(data)
    except UnreadableInputError:
        return
    problems = check_flow(source, NAMES)
    for one in problems:
        json.dumps(one.to_dict()).encode()
        str(one).encode()
        assert one.message
        assert one.line is None or one.line >= 1
    missing_names(source.value)
    if shape_problems(source.value):
        assert problems
    else:
        flow = Flow.from_json(source.value)
        assert flow.to_json() == source.value
        assert sorted(map(str, check_flow(flow, NAMES))) == sorted(
            map(str, problems)
        )  # keys may change places
