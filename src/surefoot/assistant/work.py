"""A turn as a run: however it goes, the run is left at rest, and a failure says in which phase."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from surefoot.assistant.handle import RunResult, result_of
from surefoot.errors import StateError, StorageError, SurefootError
from surefoot.journal.types import FINAL, Journal, Run, RunStatus
from surefoot.running.session import Session

if TYPE_CHECKING:
    from surefoot.assistant.turn import Turn


async def work(
    session: Session, beginning: Coroutine[Any, Any, None], make: Callable[[], Awaitable[Turn]]
) -> RunResult:
    """Do what comes first, make the turn and take it; what a model or a tool does wrong is in the result.

    Raises:
        StorageError: the journal cannot be written; the run is interrupted.
        asyncio.CancelledError: the run is cancelled.
    """
    turn: Turn | None = None
    try:
        await beginning
        turn = await make()
        await turn.take()
    except asyncio.CancelledError:
        await asyncio.shield(session.rest(RunStatus.CANCELLED))
        raise
    except StorageError:
        with contextlib.suppress(StorageError):  # else it is found so once this process has ended
            await session.rest(RunStatus.INTERRUPTED)
        raise
    except SurefootError as error:
        await session.rest(RunStatus.FAILED, error=_told(error, turn))
    except Exception as error:
        await session.rest(
            RunStatus.FAILED, error=_told(SurefootError(f"A fault of Surefoot: {error!r}"), turn)
        )
        raise
    return await result_of(session.journal, session.run)


def _told(error: SurefootError, turn: Turn | None) -> dict[str, Any]:
    return {**error.to_dict(), "phase": turn.phase if turn else "prepare"}


async def check_may_resume(run: Run, journal: Journal) -> None:
    """StateError when a run has ended, or waits for a person to agree."""
    if run.status in FINAL:
        raise StateError(f"Run {run.id} is {run.status}: there is nothing to go on with.", "Ask again.")
    waiting = [call for call in await journal.calls(run.id) if call.status == "waiting"]
    if waiting:
        raise StateError(
            f"Run {run.id} waits for you to agree to call {waiting[0].ordinal} ({waiting[0].tool}).",
            f"surefoot approve {run.id[:8]}, or surefoot decline {run.id[:8]}.",
            run=run.id,
        )
