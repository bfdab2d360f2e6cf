"""Prompt prefixes kept on disk: the state of a slot after reading one, so that no process reads it a second time."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT = 6
"""States kept, about 30 MB for 1,000 tokens each: two slots for the last few catalogues and models."""

STALE_SECONDS = 3600
"""A half-saved state this old belongs to a process that is gone."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prompt prefix and the name of its state."""

    text: str
    identity: str

    @property
    def filename(self) -> str:
        """The state's file inside the folder."""
        return f"{self.identity}.state"


def identity(*parts: object) -> str:
    """A name for a state from everything it depends on."""
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:32]


class PrefixStore:
    """The folder of states. A state counts only with its note beside it, which is written last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._checked: set[str] = set()

    def holds(self, prefix: Prefix) -> bool:
        """The state is here and whole. llama.cpp empties a slot when it cannot restore, so look before."""
        note = self._note(prefix)
        path = self.folder / prefix.filename
        try:
            if note is None or path.stat().st_size != note["size"]:
                return False
            if prefix.identity not in self._checked and _digest(path) != note["sha256"]:
                return False
        except (OSError, KeyError, TypeError):
            return False
        self._checked.add(prefix.identity)
        return True

    def temporary(self, prefix: Prefix) -> str:
        """The name to save a state under before it is whole."""
        return f"{prefix.identity}.{os.getpid()}.tmp"

    def accept(self, prefix: Prefix) -> None:
        """Make the state saved under the temporary name the one that counts, and drop the oldest of the others."""
        temporary = self.folder / self.temporary(prefix)
        note = {"size": temporary.stat().st_size, "sha256": _digest(temporary)}
        temporary.replace(self.folder / prefix.filename)
        draft = self.folder / f"{temporary.name}.note"
        draft.write_text(json.dumps(note), encoding="utf-8")
        draft.replace(self._note_path(prefix))
        self._checked.add(prefix.identity)
        self.prune()

    def used(self, prefix: Prefix) -> None:
        """Remember that it was used just now."""
        try:
            os.utime(self._note_path(prefix))
        except OSError:
            return

    def drop(self, prefix: Prefix) -> None:
        """Forget a state that turned out to be of no use."""
        self._checked.discard(prefix.identity)
        self._note_path(prefix).unlink(missing_ok=True)
        (self.folder / prefix.filename).unlink(missing_ok=True)

    def prune(self) -> None:
        """Keep the states used last, and nothing that lies here without its note."""
        notes = sorted(self.folder.glob("*.json"), key=_age, reverse=True)
        kept = {path.stem for path in notes[:KEPT]}
        for path in [*self.folder.glob("*.state"), *notes]:
            if path.stem not in kept:
                path.unlink(missing_ok=True)
        for path in self.folder.glob("*.tmp*"):
            if time.time() - _age(path) > STALE_SECONDS:
                path.unlink(missing_ok=True)

    def _note(self, prefix: Prefix) -> dict[str, Any] | None:
        try:
            data = json.loads(self._note_path(prefix).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None

    def _note_path(self, prefix: Prefix) -> Path:
        return self.folder / f"{prefix.identity}.json"


class SlotNotes:
    """Which prefix each slot of an engine holds, shared by the processes that use it.

    A wrong note costs a prompt read again and nothing else, so writers do not wait for each other.
    """

    def __init__(self, path: Path, engine: str) -> None:
        self._path = path
        self._engine = hashlib.sha256(engine.encode()).hexdigest()[:16]

    def read(self, slot: int) -> str:
        """The identity of the prefix in this slot, empty where unknown."""
        return self._all().get(str(slot), "")

    def write(self, slot: int, prefix: str) -> None:
        """Set it."""
        noted = self._all()
        if noted.get(str(slot), "") == prefix:
            return
        data = {"engine": self._engine, "slots": {**noted, str(slot): prefix}}
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(data), encoding="utf-8")
        temporary.replace(self._path)

    def _all(self) -> dict[str, str]:
        """The notes, unless they are of an engine that is gone."""
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return dict(data["slots"]) if data["engine"] == self._engine else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
