"""One folder that nothing reaches out of: every step down is opened by descriptor and follows no link.

A path is walked with `openat` and O_NOFOLLOW, so a link anywhere in it, also one that is put there a moment before, is
refused and never followed. Files are replaced by renaming a finished temporary file, so a reader, or a crash, sees
the old content or the new. A file with several hard links is not read: one of them may lie outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import ToolError

MAX_FILE = 1_000_000
"""Bytes of a file that can be read, written or put back by an undo: its old content is kept in the journal."""
MAX_DEPTH = 20
MAX_NAME = 255
"""Bytes of one name: what common file systems allow."""
TEMPORARY = ".surefoot-"

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it is: its bytes and its permission bits."""

    data: bytes
    mode: int


def parts_of(path: str) -> tuple[str, ...]:
    """The names a path goes down by, from the folder; empty for the folder itself.

    Raises:
        ToolError: it is absolute, goes up, or holds what is no name.
    """
    if path.startswith(("/", "~")) or "\\" in path or path[1:2] == ":":
        raise _refused(path, "is not relative to the folder")
    names = [name for name in path.split("/") if name not in {"", "."}]
    for name in names:
        if name == "..":
            raise _refused(path, "leads out of the folder")
        if not name.isprintable() or len(name.encode()) > MAX_NAME:
            raise _refused(path, "holds a name no file can have")
        if name.startswith(TEMPORARY):
            raise _refused(path, "is a name kept for temporary files")
    if len(names) > MAX_DEPTH:
        raise _refused(path, f"is deeper than {MAX_DEPTH} folders")
    return tuple(names)


def _refused(path: str, why: str) -> ToolError:
    return ToolError(
        f"The path {path!r} {why}.", "Give a path inside the files folder, like notes/list.txt.", path=path
    )


class Folder:
    """The files folder at `root`, which the person chose and may itself be a link."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # --- reading ---------------------------------------------------------------------------------------------

    def entries(self, path: str) -> list[tuple[str, bool, int]]:
        """Name, is-a-folder, and size of what lies in a folder, by name; links and special files are left out."""
        with self._opened(parts_of(path), path) as folder, os.scandir(folder) as found:
            listed = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.stat(follow_symlinks=False).st_size)
                for entry in found
                if not entry.name.startswith(TEMPORARY)
                and (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False))
            ]
        return sorted(listed)

    def read(self, path: str) -> Content:
        """A file's content; ToolError where it is none, too large, or has several hard links."""
        parts = self._file_parts(path)
        with self._opened(parts[:-1], path) as folder:
            return self._read(folder, parts[-1], path)

    def find(self, path: str) -> Content | None:
        """The same, None where there is no such file."""
        parts = self._file_parts(path)
        try:
            with self._opened(parts[:-1], path) as folder:
                os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
                return self._read(folder, parts[-1], path)
        except (_MissingError, FileNotFoundError):
            return None

    def depth(self, path: str) -> int:
        """How many of the folders a path goes through exist."""
        parts = parts_of(path)[:-1]
        for number in range(len(parts), -1, -1):
            try:
                with self._opened(parts[:number], path):
                    return number
            except ToolError:
                continue
        return 0

    # --- writing ---------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes, *, mode: int | None = None, token: str) -> None:
        """Put this content there, at once or not at all; folders on the way are made.

        `token` names the temporary file: the same call uses the same one, and takes away what a crash left of it.
        """
        parts = self._file_parts(path)
        if len(data) > MAX_FILE:
            raise ToolError(
                f"{path!r} would have {len(data)} bytes; {MAX_FILE} are allowed.",
                "Write less, or several files.",
            )
        with self._opened(parts[:-1], path, make=True) as folder:
            self._refuse_other_kinds(folder, parts[-1], path)
            temporary = f"{TEMPORARY}{token}"
            with _translated(path):
                _unlink(folder, temporary)
                _fill(folder, temporary, data, mode)
                os.replace(temporary, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)

    def remove(self, path: str, *, keep_folders: int | None = None) -> None:
        """Take a file away; and, above `keep_folders` levels, the folders on its way that are empty then."""
        parts = self._file_parts(path)
        try:
            with self._opened(parts[:-1], path) as folder, _translated(path):
                self._refuse_other_kinds(folder, parts[-1], path)
                _unlink(folder, parts[-1])
                os.fsync(folder)
        except _MissingError:
            pass
        if keep_folders is not None:
            self._remove_folders(parts[:-1], keep_folders, path)

    def _remove_folders(self, parts: tuple[str, ...], keep: int, path: str) -> None:
        for number in range(len(parts), keep, -1):
            try:
                with self._opened(parts[: number - 1], path) as folder:
                    os.rmdir(parts[number - 1], dir_fd=folder)
            except OSError:
                return  # something else lies in it by now: it stays
            except _MissingError:
                continue

    # --- steps -----------------------------------------------------------------------------------------------

    def _file_parts(self, path: str) -> tuple[str, ...]:
        parts = parts_of(path)
        if not parts or path.endswith("/"):
            raise _refused(path, "names no file")
        return parts

    @contextmanager
    def _opened(self, parts: tuple[str, ...], path: str, *, make: bool = False) -> Iterator[int]:
        with _translated(path):
            if make:
                self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in parts:
                with _translated(path):
                    if make:
                        _make_folder(handle, name)
                    below = os.open(name, _DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)

    def _read(self, folder: int, name: str, path: str) -> Content:
        with _translated(path):
            handle = os.open(name, _FILE, dir_fd=folder)
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise ToolError(f"{path!r} is no file.", "Name a file; listFiles shows them.", path=path)
            if about.st_nlink > 1:
                raise ToolError(
                    f"{path!r} has several hard links.", "Copy it; the copy can be read.", path=path
                )
            with open(handle, "rb", closefd=False) as file, _translated(path):
                data = file.read(MAX_FILE + 1)
        finally:
            os.close(handle)
        if len(data) > MAX_FILE:
            raise ToolError(
                f"{path!r} is larger than {MAX_FILE} bytes.", "Only smaller files can be used.", path=path
            )
        return Content(data, stat.S_IMODE(about.st_mode))

    def _refuse_other_kinds(self, folder: int, name: str, path: str) -> None:
        try:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISREG(mode):
            what = (
                "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no ordinary file"
            )
            raise ToolError(f"{path!r} is {what}.", "Name another file.", path=path)


class _MissingError(ToolError):
    """There is no such file or folder."""


@contextmanager
def _translated(path: str) -> Iterator[None]:
    """What the system says, as a sentence about the path."""
    try:
        yield
    except FileNotFoundError as error:
        raise _MissingError(f"There is no {path!r}.", "listFiles shows what there is.", path=path) from error
    except NotADirectoryError as error:
        raise _refused(path, "goes through something that is no folder") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK}:
            raise _refused(path, "goes through a link") from error
        raise ToolError(
            f"{path!r}: {os.strerror(error.errno or 0)}.", "See to the folder.", path=path
        ) from error


def _make_folder(handle: int, name: str) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=handle)
        os.fsync(handle)
    except FileExistsError:
        pass


def _fill(folder: int, name: str, data: bytes, mode: int | None) -> None:
    handle = os.open(name, _NEW, 0o644, dir_fd=folder)
    with open(handle, "wb") as file:  # noqa: PTH123 - an open descriptor, no path
        if mode is not None:
            os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


def _unlink(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
