"""What a failing disk or database says, as a `StorageError` with the next move."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surefoot.errors import StorageError

_Sentence = tuple[str, str, str]
"""Reason (stable, for programs), message with `{path}`, next move."""

FULL: _Sentence = ("full", "The disk is full: {path} cannot grow.", "Free some space and try again.")
LOCKED: _Sentence = (
    "locked",
    "Another program holds {path} locked.",
    "Wait for it or end it (a copy, a backup, a database browser), then try again.",
)
READ_ONLY: _Sentence = (
    "read_only",
    "{path} or its folder cannot be written.",
    "Allow writing to the folder, or set SUREFOOT_DATA_DIR to another one.",
)
UNREACHABLE: _Sentence = (
    "cannot_open",
    "{path} cannot be opened.",
    "Look whether the folder exists and may be written, or set SUREFOOT_DATA_DIR to another one.",
)
DAMAGED: _Sentence = (
    "damaged",
    "{path} is damaged or no database.",
    "Move it away and put a backup in its place; without one a new database is made.",
)
DISK: _Sentence = (
    "disk",
    "The disk refused to read or write {path}.",
    "Look at the disk and at limits on file size, then try again.",
)
TOO_BIG: _Sentence = ("too_big", "A value is too large for {path}.", "Store less in one value.")

SENTENCES: dict[int, _Sentence] = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: UNREACHABLE,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_IOERR: DISK,
    sqlite3.SQLITE_NOLFS: DISK,
    sqlite3.SQLITE_TOOBIG: TOO_BIG,
}
"""By SQLite's primary result code. Every other code (a constraint, wrong SQL) is the caller's own error."""

_PRIMARY = 0xFF
"""The low byte of an extended result code is the primary one (https://sqlite.org/rescode.html)."""


def storage_error(error: BaseException, path: Path) -> StorageError | None:
    """The error that says what the disk or database did; None when it is no failure that SQLite reports."""
    driver = getattr(error, "orig", error)
    if not isinstance(driver, sqlite3.Error):
        return None
    sentence = SENTENCES.get((getattr(driver, "sqlite_errorcode", None) or 0) & _PRIMARY)
    if sentence is None and str(driver).startswith(LACKS):
        sentence = DAMAGED  # its schema is the newest, or it would not have been opened
    if sentence is DISK and _no_room(path):
        sentence = FULL
    return None if sentence is None else failure(sentence, path, str(driver))


def _no_room(path: Path) -> bool:
    """The disk is full, which SQLite calls an I/O error where it is the shared memory of its log that cannot grow."""
    try:
        return shutil.disk_usage(path.parent).free < ROOM
    except OSError:
        return False


def wrote_in_a_read(error: BaseException) -> bool:
    """A reader's connection refused to write: that is neither disk nor folder, but the function that was given."""
    driver = getattr(error, "orig", error)
    return getattr(driver, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY


LACKS = ("no such table", "no such column", "malformed database schema")
"""What SQLite says where a table is not as the schema's version promises (https://sqlite.org/rescode.html#error)."""

ROOM = 64 * 1024
"""Bytes: the shared memory beside the log takes 32 kB, a small transaction as much."""

NO_PLACE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
)
"""A file stands where a folder should be, or no folder can be made there: nothing is wrong with the disk."""


def _of_system(error: OSError) -> _Sentence:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return FULL
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return READ_ONLY
    return UNREACHABLE if error.errno in NO_PLACE else DISK


def failure(sentence: _Sentence, path: Path, said: str = "") -> StorageError:
    """The `StorageError` of a sentence; what the driver said stands in its details."""
    reason, message, next_move = sentence
    return StorageError(message.format(path=path), next_move, reason=reason, path=str(path), said=said)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Around the opening of a file: failures of system, disk and database become `StorageError`."""
    try:
        yield
    except OSError as error:
        raise failure(_of_system(error), path, str(error)) from error
    except Exception as error:
        told = storage_error(error, path)
        if told is None:
            raise
        raise told from error
