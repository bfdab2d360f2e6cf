"""Agents, missions, executions, feedback: JSON both ways, and what is refused."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from surefoot.errors import InputError
from surefoot.journal.types import FINAL, RunStatus
from surefoot.missions.cadence import Cadence
from surefoot.missions.types import (
    ENDED,
    MAX_INPUTS,
    MAX_TEXT,
    STATUSES,
    Agent,
    Execution,
    Feedback,
    Mission,
)

AT = datetime(2026, 4, 27, 7, 0, tzinfo=UTC)
SAID = Feedback("f1", "m1", "Shorter, please", "r1", "person:me", AT)
RECORDS = [
    Agent("a1", "Ada", "Brief.", False, {"deleteNote": "deny", "external": "confirm"}, 5_000, 0.5, 2, "paused", 7),
    SAID,
    Mission(
        "m1", "News", "Save three articles", "Only science.", {"city": "Bonn", "n": [1, {"a": None}]}, ("articles", "notes"),
        Cadence("weekly", days=(0, 4), minute=450), "Europe/Berlin", "paused", {"writes": 5}, "a1", (SAID,), 3, True,
    ),
    Execution(
        "r1", "m1", "2026-04-27", 4, "failed", "work", "Nothing.", ({"tool": "addNote", "status": "done"},), 2, (SAID,),
        {"code": "auth", "message": "No key.", "phase": "work"}, AT, AT, 412, 0.25, 2,
    ),
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: type(one).__name__)
def test_every_field_survives_json(record):
    """Through text and back; every field of the design is in it."""
    again = type(record).from_dict(json.loads(json.dumps(record.to_dict())))
    assert again == record
    assert again.to_dict() == record.to_dict()


def test_a_mission_has_every_field_of_the_design():
    """And an execution what an execution is to tell."""
    assert set(RECORDS[2].to_dict()) >= {
        "title", "concept", "goal", "inputs", "kits", "cadence", "zone", "state", "limits", "agent", "feedback",
    }  # fmt: skip
    assert set(RECORDS[3].to_dict()) >= {"status", "phase", "summary", "calls", "feedback", "error"}


def test_a_new_mission_runs_only_by_hand():
    """The default of a cadence is manual: nothing fires that nobody asked for."""
    assert Mission("m1", "News", "Save three articles").cadence == Cadence("manual")


def test_the_states_of_an_execution_are_those_of_a_run():
    """Written down twice, because the journal's types load the database; they must not part."""
    assert set(STATUSES) == {str(status) for status in RunStatus}
    assert {str(status) for status in FINAL} == ENDED


def test_names_are_one_line_and_lists_have_each_name_once():
    """A line break in a title would break every list."""
    mission = Mission("m1", " Morning\n news ", " Save ", kits=("notes", "notes", "tasks"))
    assert (mission.title, mission.goal, mission.kits) == ("Morning news", "Save", ("notes", "tasks"))


AGENTS = [
    {"name": ""}, {"name": " \n"}, {"name": "x" * 201}, {"name": 5}, {"persona": None}, {"persona": "x" * (MAX_TEXT + 1)},
    {"memory": "yes"}, {"policy": []}, {"policy": {"notes": "ask"}}, {"policy": {"": "deny"}}, {"policy": {3: "deny"}},
    {"daily_tokens": -1}, {"daily_tokens": 1.5}, {"daily_tokens": True}, {"daily_tokens": 2**60}, {"daily_cost": -0.1},
    {"daily_cost": float("nan")}, {"daily_cost": float("inf")}, {"daily_cost": "1"}, {"concurrency": 0},
    {"concurrency": None}, {"concurrency": 65}, {"state": "done"},
]  # fmt: skip
MISSIONS = [
    {"title": ""}, {"goal": " "}, {"goal": None}, {"goal": "x" * (MAX_TEXT + 1)}, {"concept": 3}, {"inputs": []},
    {"inputs": {1: "a"}}, {"inputs": {"a": object()}}, {"inputs": {"a": float("nan")}}, {"inputs": {"a": "x" * MAX_INPUTS}},
    {"kits": "notes"}, {"kits": ("",)}, {"kits": (1,)}, {"zone": "Bonn"}, {"zone": ""}, {"state": "running"},
    {"limits": []}, {"limits": {"writing": 5}}, {"limits": {"writes": -1}}, {"limits": {"writes": "5"}},
    {"limits": {"writes": float("nan")}},
]  # fmt: skip


@pytest.mark.parametrize("wrong", AGENTS, ids=repr)
def test_an_agent_that_cannot_be_is_refused(wrong):
    """When it is made, when it is read, and when it is changed."""
    fields = {"id": "a1", "name": "Ada"}
    for make in (
        lambda: Agent(**{**fields, **wrong}),
        lambda: Agent.from_dict({**fields, **wrong}),
        lambda: Agent(**fields).with_(**wrong),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.next_move


@pytest.mark.parametrize("wrong", MISSIONS, ids=lambda one: re.sub(r" at 0x\w+", "", repr(one))[:60])
def test_a_mission_that_cannot_be_is_refused(wrong):
    """With the value, and what to do."""
    with pytest.raises(InputError) as caught:
        Mission(**{"id": "m1", "title": "News", "goal": "Save", **wrong})
    assert caught.value.next_move


@pytest.mark.parametrize(
    "data",
    [
        {"id": "m1", "title": "News"},
        {"title": "News", "goal": "x"},
        {"id": "m1", "title": "News", "goal": "x", "colour": "red"},
        {"id": "m1", "title": "News", "goal": "x", "cadence": "daily"},
        {"id": "m1", "title": "News", "goal": "x", "cadence": {"kind": "daily", "minute": 9999}},
    ],
)
def test_json_that_is_no_mission(data):
    """A field too few, a field too many, a value of the wrong kind."""
    with pytest.raises(InputError):
        Mission.from_dict(data)


def test_feedback_and_executions_that_cannot_be():
    """Empty words, an unknown state or phase, a number that counts from nothing."""
    for text in ("", " \n", "x" * (MAX_TEXT + 1)):
        with pytest.raises(InputError):
            Feedback("f", "m", text)
    for wrong in ({"status": "asleep"}, {"phase": "lunch"}, {"number": 0}):
        with pytest.raises(InputError):
            Execution("r", "m", **wrong)
