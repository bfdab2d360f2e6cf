"""What a failing disk says, as a `StorageError` with the next move; each database adds its own sentences."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from surefoot.errors import StorageError

if TYPE_CHECKING:
    from surefoot.storage.place import Place

Sentence = tuple[str, str, str]
"""Reason (stable, for programs), message with `{path}`, next move."""

FULL: Sentence = ("full", "The disk is full: {path} cannot grow.", "Free some space and try again.")
LOCKED: Sentence = (
    "locked",
    "Another program holds {path} locked.",
    "Wait for it or end it (a copy, a backup, a database browser), then try again.",
)
READ_ONLY: Sentence = (
    "read_only",
    "{path} or its folder cannot be written.",
    "Allow writing to the folder, or set SUREFOOT_DATA_DIR to another one.",
)
UNREACHABLE: Sentence = (
    "cannot_open",
    "{path} cannot be opened.",
    "Look whether the folder exists and may be written, or set SUREFOOT_DATA_DIR to another one.",
)
DAMAGED: Sentence = (
    "damaged",
    "{path} is damaged or no database.",
    "Move it away and put a backup in its place; without one a new database is made.",
)
DISK: Sentence = (
    "disk",
    "The disk refused to read or write {path}.",
    "Look at the disk and at limits on file size, then try again.",
)
TOO_BIG: Sentence = ("too_big", "A value is too large for {path}.", "Store less in one value.")

NO_PLACE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
)
"""A file stands where a folder should be, or no folder can be made there: nothing is wrong with the disk."""


def _of_system(error: OSError) -> Sentence:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return FULL
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return READ_ONLY
    return UNREACHABLE if error.errno in NO_PLACE else DISK


def failure(sentence: Sentence, name: object, said: str = "") -> StorageError:
    """The `StorageError` of a sentence; `name` says which database, what the driver said stands in its details."""
    reason, message, next_move = sentence
    return StorageError(message.format(path=name), next_move, reason=reason, path=str(name), said=said)


@contextmanager
def translated(place: Place) -> Iterator[None]:
    """Around the opening of a database: failures of system, disk and database become `StorageError`."""
    try:
        yield
    except OSError as error:
        raise failure(_of_system(error), place.name, str(error)) from error
    except Exception as error:
        told = place.told(error)
        if told is None:
            raise
        raise told from error
