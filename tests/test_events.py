"""Events: the closed list, and their form as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from surefoot.events import LIVE_ONLY, Event, EventType


def test_the_list_of_types_is_closed():
    """A word that is no type is an error, not a new type."""
    with pytest.raises(ValueError, match=r"run\.exploded"):
        EventType("run.exploded")


def test_types_are_plain_words_in_json():
    """A type is written as its word and read back as the same type."""
    for kind in EventType:
        assert EventType(json.loads(json.dumps(str(kind)))) is kind


def test_only_token_and_progress_are_live():
    """Everything else is a row of the journal."""
    assert {"token", "progress"} == LIVE_ONLY


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event("r", 1, EventType.NOTICE), {"run": "r", "seq": 1, "type": "notice", "at": None}),
        (
            Event("r", 2, EventType.REPLY, {"text": ""}, datetime(2026, 5, 3, 12, tzinfo=UTC)),
            {"run": "r", "seq": 2, "type": "reply", "at": "2026-05-03T12:00:00+00:00", "data": {"text": ""}},
        ),
    ],
)
def test_an_event_as_json(event: Event, expected: dict):
    """Data is left out where there is none; an empty text inside it stays."""
    assert json.loads(json.dumps(event.to_dict())) == expected


def test_events_do_not_share_their_data():
    """Two events without data have two objects."""
    assert Event("r", 1, EventType.NOTICE).data is not Event("r", 2, EventType.NOTICE).data
