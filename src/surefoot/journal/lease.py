"""Who still works on a run: a process of this host is looked at, one of another host gives signs of life."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from surefoot.errors import SurefootError
from surefoot.journal.owner import is_alive

LEASE_SECONDS = 30.0
"""A worker on another host that gave no sign for so long counts as gone."""

BEAT_SECONDS = 10.0
"""A third of `LEASE_SECONDS`: two signs may be lost before anybody takes the run over."""


def holder_lives(
    owner: str, heartbeat: datetime | None, at: datetime, look: Callable[[str], bool | None] = is_alive
) -> bool:
    """A process of this host is looked at; of another host the last sign of life counts."""
    seen = look(owner)
    if seen is not None:
        return seen
    return heartbeat is not None and at - heartbeat < timedelta(seconds=LEASE_SECONDS)


class Heart:
    """Beats for a set of runs on its own thread, so that a loop that is busy does not look dead.

    Args:
        beat: writes the sign for these runs (id -> fence) and returns the ids that are not ours any more.
    """

    def __init__(self, beat: Callable[[dict[str, int]], list[str]], every: float = BEAT_SECONDS) -> None:
        self._beat = beat
        self._every = every
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, run_id: str, fence: int) -> None:
        """From now on, beat for this run."""
        with self._lock:
            self._held[run_id] = fence
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._work, name="surefoot-heart", daemon=True)
                self._thread.start()

    def drop(self, run_id: str) -> None:
        """No longer."""
        with self._lock:
            self._held.pop(run_id, None)

    def close(self) -> None:
        """Stop. Calling it again does nothing."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(self._every):
            with self._lock:
                held = dict(self._held)
            if held:
                self._once(held)

    def _once(self, held: dict[str, int]) -> None:
        try:
            lost = self._beat(held)
        except SurefootError:
            return  # a full or locked disk: the next sign may get through, and the run's own writes report it
        for run_id in lost:
            self.drop(run_id)
