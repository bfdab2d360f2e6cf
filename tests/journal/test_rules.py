"""The states and what may follow what."""

from __future__ import annotations

import pytest

from surefoot.errors import MisuseError, StateError
from surefoot.events import LIVE_ONLY, EventType
from surefoot.journal import rules
from surefoot.journal.types import ACTIVE, FINAL, CallStatus, RunStatus
from surefoot.tools.types import Effect


def test_the_tables_name_every_state():
    """No state without a rule."""
    assert set(rules.RUN_MOVES) == set(RunStatus)
    assert set(rules.CALL_MOVES) == set(CallStatus)


def test_final_states_lead_nowhere():
    """Done, failed and cancelled stay, whatever is asked."""
    assert all(rules.RUN_MOVES[status] == {status} for status in FINAL)
    assert rules.CALL_MOVES[CallStatus.DONE] == {CallStatus.DONE}


def test_every_other_run_can_end_and_be_interrupted():
    """Nothing gets stuck: each way of ending is open, and active runs can lose their worker."""
    for status in set(RunStatus) - FINAL:
        assert rules.RUN_MOVES[status] >= FINAL
        assert status in rules.RUN_MOVES[status] or status in ACTIVE
    assert all(RunStatus.INTERRUPTED in rules.RUN_MOVES[status] for status in ACTIVE)
    assert rules.RUN_MOVES[RunStatus.INTERRUPTED] >= ACTIVE


def test_every_run_state_is_reached_from_queued():
    """The table holds together."""
    reached, fresh = {RunStatus.QUEUED}, {RunStatus.QUEUED}
    while fresh:
        fresh = {after for status in fresh for after in rules.RUN_MOVES[status]} - reached
        reached |= fresh
    assert reached == set(RunStatus)


def test_a_declined_call_is_not_made():
    """The person said no."""
    assert rules.CALL_MOVES[CallStatus.DECLINED] == {CallStatus.DECLINED}


@pytest.mark.parametrize("old", CallStatus)
@pytest.mark.parametrize("new", CallStatus)
@pytest.mark.parametrize("effect", Effect)
def test_moves_of_calls(old, new, effect):
    """Allowed exactly as the table says; external calls that may have happened do not begin again."""
    may = new in rules.CALL_MOVES[old]
    if (
        effect is Effect.EXTERNAL
        and new is CallStatus.INTENDED
        and old in {CallStatus.INTENDED, CallStatus.UNKNOWN}
    ):
        may = False
    if may:
        rules.check_call_move("r", "k", old, new, effect)
        return
    with pytest.raises(StateError) as raised:
        rules.check_call_move("r", "k", old, new, effect)
    assert raised.value.details == {"run": "r", "key": "k", "status": str(old), "wanted": str(new)}
    assert raised.value.next_move


@pytest.mark.parametrize(
    ("held", "given", "fits"), [(3, 3, True), (3, 0, True), (3, 2, False), (3, 4, False), (0, 1, False)]
)
def test_the_fence(held, given, fits):
    """None given fits always; an older or an unknown one never."""
    if fits:
        rules.check_fence("r", held, given)
        return
    with pytest.raises(StateError, match="taken over"):
        rules.check_fence("r", held, given)


def test_what_an_abandoned_call_becomes():
    """Only external calls are unknown; the executor looks at the others again."""
    assert {effect: str(rules.abandoned(effect)) for effect in Effect} == {
        Effect.READ: "interrupted",
        Effect.WRITE: "interrupted",
        Effect.EXTERNAL: "unknown",
    }


def test_live_events_are_misuse():
    """Every live type, wherever it stands in the list."""
    rules.check_events([])
    rules.check_events([(type_, {}) for type_ in EventType if type_ not in LIVE_ONLY])
    for type_ in LIVE_ONLY:
        with pytest.raises(MisuseError, match=str(type_)):
            rules.check_events([(EventType.NOTICE, {}), (type_, {})])
