"""What may follow what: states of runs and calls, the fence, what an abandoned call becomes. Both journals ask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from surefoot.errors import MisuseError, StateError
from surefoot.events import LIVE_ONLY, EventType
from surefoot.journal.types import FINAL, CallStatus, EventList, RunStatus
from surefoot.tools.types import Effect

_R = RunStatus
_RESTING = frozenset({_R.NEEDS_PLAN, _R.NEEDS_INPUT, _R.NEEDS_APPROVAL, _R.NEEDS_HUMAN, _R.CHECKPOINT})
_WORK = frozenset({_R.QUEUED, _R.PLANNING, _R.RUNNING})

RUN_MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    # Somebody begins; a run that never began cannot wait for a person.
    _R.QUEUED: _WORK | FINAL | {_R.INTERRUPTED},
    _R.PLANNING: frozenset({_R.PLANNING, _R.RUNNING, _R.INTERRUPTED}) | _RESTING | FINAL,
    _R.RUNNING: frozenset({_R.PLANNING, _R.RUNNING, _R.INTERRUPTED}) | _RESTING | FINAL,
    # Taken up again, handed to a worker, or given up.
    _R.INTERRUPTED: _WORK | _RESTING | FINAL | {_R.INTERRUPTED},
    **{status: _WORK | _RESTING | FINAL | {_R.INTERRUPTED} for status in _RESTING},
    # The end: fields may be written (a reply that comes late), the status stays.
    **{status: frozenset({status}) for status in FINAL},
}

_C = CallStatus
_STARTED = frozenset({_C.INTENDED, _C.REFUSED, _C.INTERRUPTED, _C.UNKNOWN})
"""What a call that has started may be, besides ended. Nobody agrees to it or declines it any more: an answer that comes
late must not make it look as if it had never started."""
_ENDED = frozenset({_C.DONE, _C.FAILED})

CALL_MOVES: dict[CallStatus, frozenset[CallStatus]] = {
    _C.INTENDED: _STARTED | _ENDED,
    _C.WAITING: frozenset({_C.WAITING, _C.APPROVED, _C.DECLINED, _C.INTENDED, _C.REFUSED, _C.INTERRUPTED}),
    _C.APPROVED: frozenset({_C.APPROVED, _C.WAITING, _C.DECLINED, _C.INTENDED, _C.REFUSED, _C.INTERRUPTED}),
    # A done call stays done: a resumed run cannot make it a second time.
    _C.DONE: frozenset({_C.DONE}),
    _C.FAILED: frozenset({_C.FAILED, _C.INTENDED, _C.UNKNOWN, _C.WAITING, _C.REFUSED}),
    _C.REFUSED: frozenset({_C.REFUSED, _C.INTENDED, _C.WAITING}),
    _C.DECLINED: frozenset({_C.DECLINED}),
    # The images were looked at again: it did not happen, it did, or nobody can tell.
    _C.INTERRUPTED: _STARTED | _ENDED,
    _C.UNKNOWN: _STARTED | _ENDED,
}

_NEEDS_ORDINAL = frozenset({EventType.CALL_INTENDED, EventType.APPROVAL_NEEDED})
"""Events whose data names the call's ordinal, which only the journal knows."""


def check_run_move(run_id: str, old: RunStatus, new: RunStatus) -> None:
    """StateError when a run may not go from `old` to `new`."""
    if new not in RUN_MOVES[old]:
        ended = "It has ended; start a new one." if old in FINAL else f"Possible: {_listed(RUN_MOVES[old])}."
        raise StateError(
            f"Run {run_id} is {old} and cannot become {new}.",
            ended,
            run=run_id,
            status=str(old),
            wanted=str(new),
        )


def check_call_move(run_id: str, key: str, old: CallStatus, new: CallStatus, effect: Effect) -> None:
    """StateError when a call may not go from `old` to `new`.

    An external call whose outcome is not known is never made again.
    """
    again = new is CallStatus.INTENDED and old in {CallStatus.UNKNOWN, CallStatus.INTENDED}
    if new not in CALL_MOVES[old] or (again and effect is Effect.EXTERNAL):
        why = (
            "It may have had its effect; make a new call if it must happen."
            if again
            else "It stays as it is."
        )
        raise StateError(
            f"Call {key} of run {run_id} is {old} and cannot become {new}.",
            why,
            run=run_id,
            key=key,
            status=str(old),
            wanted=str(new),
        )


def check_begin(run_id: str, status: RunStatus) -> None:
    """StateError when a call is to begin in a run that has ended."""
    if status in FINAL:
        raise _ended(run_id, status, "no more calls are made in it")


def check_finish(run_id: str, key: str, status: CallStatus) -> None:
    """StateError when the body of a call must not run: its effect is there already, or was declined."""
    if status in {CallStatus.DONE, CallStatus.DECLINED}:
        raise StateError(
            f"Call {key} of run {run_id} is {status} already.", "It is not made again.", run=run_id, key=key
        )


def check_fence(run_id: str, held: int, fence: int) -> None:
    """StateError when `fence` is given and is not the one in force: somebody else has taken the run over."""
    if fence and fence != held:
        raise StateError(
            f"Run {run_id} was taken over by another process (lease {held}, this one has {fence}).",
            "Stop here; the other one goes on.",
            run=run_id,
            fence=held,
            given=fence,
        )


def check_lease_free(run_id: str, status: RunStatus, owner: str, claimant: str, *, alive: bool) -> None:
    """StateError when the run has ended, or somebody who lives works on it."""
    if status in FINAL:
        raise _ended(run_id, status, "nothing is left to do in it")
    if owner and owner != claimant and alive:
        raise StateError(
            f"Run {run_id} is being worked on by {owner}.",
            "Wait for it, or end that process.",
            run=run_id,
            owner=owner,
        )


def check_events(events: EventList) -> None:
    """MisuseError for an event that is live only."""
    for type_, _ in events:
        if type_ in LIVE_ONLY:
            raise MisuseError(f"{type_} events are live only; the journal keeps none of them.")


def with_ordinal(events: EventList, ordinal: int) -> EventList:
    """The events, with the call's ordinal where their data must name it."""
    return [
        (type_, {**data, "ordinal": ordinal} if type_ in _NEEDS_ORDINAL else data) for type_, data in events
    ]


def abandoned(effect: Effect) -> CallStatus:
    """What an intended call becomes whose process is gone. Only of external calls nobody can find out more."""
    return CallStatus.UNKNOWN if effect is Effect.EXTERNAL else CallStatus.INTERRUPTED


def abandoned_event(status: CallStatus, call_id: str, tool: str) -> tuple[EventType, dict[str, Any]]:
    """The event of a call that `abandoned` closed."""
    type_ = EventType.CALL_UNKNOWN if status is CallStatus.UNKNOWN else EventType.CALL_INTERRUPTED
    return (type_, {"call": call_id, "tool": tool})


def run_exists(run_id: str) -> StateError:
    """A new run needs a new id."""
    return StateError(f"There is a run {run_id!r} already.", "Give each run its own id.", run=run_id)


def memory_exists(memory_id: str) -> StateError:
    """A new memory needs a new id."""
    return StateError(
        f"There is a memory {memory_id!r} already.", "Give each memory its own id.", id=memory_id
    )


def answered(run_id: str, key: str) -> StateError:
    """A model call is answered once."""
    return StateError(
        f"Model call {key} of run {run_id} is answered already.",
        "Use the answer in the journal.",
        run=run_id,
        key=key,
    )


def _ended(run_id: str, status: RunStatus, consequence: str) -> StateError:
    return StateError(
        f"Run {run_id} is {status}: {consequence}.", "Start a new one.", run=run_id, status=str(status)
    )


def _listed(statuses: Iterable[RunStatus]) -> str:
    return ", ".join(sorted(str(status) for status in statuses))
