"""Runs come and go: made, claimed, worked on, left at rest."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from surefoot.errors import StateError
from surefoot.events import EventType
from surefoot.journal.types import FINAL, Call, CallStatus, Journal, Run, RunStatus
from surefoot.tools.types import Actor

T = TypeVar("T")

_in_work: set[str] = set()
"""Ids of the runs that this process works on. A lease names the process, so it cannot keep two tasks of one apart."""


@contextmanager
def working_on(run_id: str) -> Iterator[None]:
    """While it is worked on here, nobody else of this process takes it up; StateError when somebody does already."""
    if run_id in _in_work:
        raise StateError(
            f"Run {run_id} is being worked on in this program.", "Wait for it, or cancel it.", run=run_id
        )
    _in_work.add(run_id)
    try:
        yield
    finally:
        _in_work.discard(run_id)


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which goes to its end: a cancellation meanwhile is raised at the next await after it.

    For writes whose outcome must be known to whoever is responsible for what they wrote.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    caller = asyncio.current_task()
    if cancelled and caller is not None:
        caller.cancel()
    return task.result()


def new_run(
    goal: str,
    *,
    kind: str,
    actor: Actor,
    now: datetime,
    zone: str,
    language: str,
    owner: str,
    parent: str = "",
    extra: Mapping[str, Any] | None = None,
) -> Run:
    """A run that does not exist yet. Its id is 64 random bits; its clock is frozen at `now`."""
    context = {
        "now": now.astimezone(ZoneInfo(zone)).isoformat(),
        "zone": zone,
        "language": language,
        **(extra or {}),
    }
    return Run(
        id=secrets.token_hex(8),
        goal=goal,
        kind=kind,
        status=RunStatus.PLANNING,
        actor=actor,
        context=context,
        parent=parent,
        owner=owner,
    )


async def approve(journal: Journal, run: Run, call_id: str | int | None, actor: Actor) -> list[Call]:
    """Agree to one waiting call, or to all of the run. It binds to exactly that call; nothing is started here."""
    return await _answer(journal, run, call_id, actor, CallStatus.APPROVED, EventType.APPROVAL_GIVEN)


async def decline(journal: Journal, run: Run, call_id: str | int | None, actor: Actor) -> list[Call]:
    """Refuse one waiting call, or all of the run."""
    return await _answer(journal, run, call_id, actor, CallStatus.DECLINED, EventType.APPROVAL_DECLINED)


async def _answer(
    journal: Journal, run: Run, call_id: str | int | None, actor: Actor, status: CallStatus, event: EventType
) -> list[Call]:
    waiting = [call for call in await journal.calls(run.id) if call.status is CallStatus.WAITING]
    chosen = [call for call in waiting if call_id is None or str(call_id) in {call.id, str(call.ordinal)}]
    if not chosen:
        raise StateError(
            f"Run {run.id} has no waiting call{f' {call_id}' if call_id else ''}.",
            f"It waits for: {', '.join(str(call.ordinal) for call in waiting) or 'nothing'}.",
            run=run.id,
        )
    error = {"code": "declined", "message": "The person declined this call.", "next_move": "Do without it."}
    changes: dict[str, Any] = {"error": error} if status is CallStatus.DECLINED else {}
    answered = []
    for call in chosen:
        data = {"call": call.id, "actor": str(actor)}
        answered.append(await journal.set_call(call.with_(status=status, **changes), [(event, data)]))
    return answered


async def cancel(journal: Journal, run: Run, owner: str) -> Run:
    """End a run that nobody works on (it waits, or was interrupted); StateError when it is final or in work."""
    if run.status in FINAL:
        raise StateError(
            f"Run {run.id} is {run.status} already.", "Undo it if you want its changes taken back."
        )
    with working_on(run.id):
        run = await journal.claim(run.id, owner)
        for call in await journal.calls(run.id):
            if call.status in {CallStatus.WAITING, CallStatus.APPROVED}:
                await journal.set_call(call.with_(status=CallStatus.DECLINED))
        events = [(EventType.RUN_STATUS, {"status": str(RunStatus.CANCELLED)})]
        return await journal.set_run(run.with_(status=RunStatus.CANCELLED, owner=""), events)
