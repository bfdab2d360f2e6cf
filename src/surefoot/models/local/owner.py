"""Who holds the loaded model: one process of a person, which the others use.

For each model file and context length there is a lock and an entry in the cache folder. Who holds the lock has the
model loaded, or is loading it, and writes the entry: address, key and process id, readable for the person alone.
Everybody else reads it. The lock belongs to the open file, so the system lets go of it when its process ends, however
that happens; an entry left behind is known by an address that does not answer, or not to its key.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import ProviderUnavailableError
from surefoot.models.local.engine import Engine
from surefoot.models.local.wire import Wire

if TYPE_CHECKING:
    from filelock import FileLock

LOOK_AGAIN = 0.1
"""Seconds between two looks while another process loads the model."""
PATIENCE = 120.0
"""Seconds to wait for a process that holds the lock and does not answer: a cold disk loads a gigabyte in less."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a loaded model answers."""

    address: str
    key: str
    pid: int


class Place:
    """The lock and the entry of one model file with one context length."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._folder = folder
        self._lock = folder / f"{identity}.lock"
        self._entry = folder / f"{identity}.json"
        self.slots = folder / f"{identity}.slots.json"

    def lock(self) -> FileLock:
        """A lock object of its own, free to be held across threads."""
        from filelock import FileLock

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return FileLock(self._lock, mode=0o600, thread_local=False)

    def read(self) -> Entry | None:
        """The entry; None where there is none or it cannot be understood."""
        try:
            data = json.loads(self._entry.read_text(encoding="utf-8"))
            return Entry(str(data["address"]), str(data["key"]), int(data["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, entry: Entry) -> None:
        """Set the entry, whole or not at all, for the person's eyes only."""
        temporary = self._entry.with_suffix(f".{os.getpid()}.tmp")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"address": entry.address, "key": entry.key, "pid": entry.pid}, file)
        temporary.replace(self._entry)

    def remove(self) -> None:
        """Take the entry away."""
        self._entry.unlink(missing_ok=True)


class Hold:
    """A way to the model: through our own engine, or through another process that has it loaded."""

    def __init__(self, wire: Wire, engine: Engine | None = None, place: Place | None = None) -> None:
        self.wire = wire
        self._engine = engine
        self._place = place
        self._lock: FileLock | None = None

    @property
    def owner(self) -> bool:
        """This process has the model loaded."""
        return self._engine is not None

    def keep(self, lock: FileLock) -> Hold:
        """Hold this lock until the end."""
        self._lock = lock
        return self

    def close(self) -> None:
        """Let go. Others that use our engine see it end, and one of them takes over."""
        if self._place is not None:
            self._place.remove()
        if self._engine is not None:
            self._engine.close()
        if self._lock is not None:
            self._lock.release()
        self._engine = self._place = self._lock = None


def connect(place: Place, start: Callable[[], Engine], *, patience: float = PATIENCE) -> Hold:
    """Use the engine of the process that has it, else become that process. Blocks for as long as loading takes.

    Raises:
        ProviderUnavailableError: another process holds the model and does not answer.
        ProviderError: what `start` raises.
    """
    end = time.monotonic() + patience
    while True:
        entry = place.read()
        if entry is not None and (wire := Wire(entry.address, entry.key)).alive():
            return Hold(wire)
        if (hold := _take(place, start)) is not None:
            return hold
        if time.monotonic() >= end:
            raise _stuck(entry, patience)
        time.sleep(LOOK_AGAIN)


def _take(place: Place, start: Callable[[], Engine]) -> Hold | None:
    """Become the owner; None when somebody else is."""
    from filelock import Timeout

    lock = place.lock()
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    try:
        engine = start()
        place.write(Entry(engine.address, engine.key, os.getpid()))
    except BaseException:
        lock.release()
        raise
    return Hold(Wire(engine.address, engine.key), engine, place).keep(lock)


def _stuck(entry: Entry | None, patience: float) -> ProviderUnavailableError:
    who = "Another process" if entry is None else f"The process {entry.pid}"
    return ProviderUnavailableError(
        f"{who} holds the embedded model and has not answered for {patience:.0f} seconds.",
        "End that process, or wait for it.",
        pid=None if entry is None else entry.pid,
    )
