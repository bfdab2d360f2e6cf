"""Who holds a lease, and whether that process still lives.

An owner is `host/pid/start`. A number alone would not do: it is given again to another process. The start, what the
system says of when the process began, tells the two apart, so a dead owner on this host is known at once.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_PS_SECONDS = 5.0


class _Process(NamedTuple):
    start: str
    ended: bool
    """A zombie: it has ended, and its parent has not yet asked how."""


def current_owner() -> str:
    """This process."""
    return _owner(os.getpid())


@lru_cache(maxsize=4)
def _owner(pid: int) -> str:
    found = _look(pid)
    return f"{_host()}/{pid}/{found.start if found else 'unknown'}"


def is_alive(owner: str) -> bool | None:
    """True or False for a process of this host; None where that cannot be known from here."""
    host, _, rest = owner.partition("/")
    number, _, start = rest.partition("/")
    if host != _host() or not number.isdecimal():
        return None
    pid = int(number)
    if not _exists(pid):
        return False
    found = _look(pid)
    if found is None:
        return _exists(pid)  # it is there, and what it is cannot be seen: never take a living one for dead
    return not found.ended and (start in {found.start, "unknown"} or found.start == "unknown")


def _host() -> str:
    """The host's name, and the space its process numbers are valid in: two containers may share a name."""
    name = socket.gethostname().replace("/", "_") or "localhost"
    try:
        space = (_PROC / "self" / "ns" / "pid").readlink().name
    except OSError:
        return name
    return f"{name}:{''.join(char for char in space if char.isdecimal())}"


def _exists(pid: int) -> bool:
    if sys.platform == "win32":  # there, signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _look(pid: int) -> _Process | None:
    if _PROC.joinpath("self", "stat").exists():
        return _look_in_proc(pid)
    if sys.platform == "win32":
        return None
    return _ask_ps(pid)


def _look_in_proc(pid: int) -> _Process | None:
    """Fields 3 (state) and 22 (start, in ticks since boot) of `stat`; the boot is named, ticks begin anew with each."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat[
        stat.rindex(")") + 2 :
    ].split()  # the name before may hold anything, spaces and parentheses too
    return _Process(f"{_boot()}-{fields[19]}", fields[0] in {"Z", "X"})


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
    except OSError:
        return "boot"


def _ask_ps(pid: int) -> _Process | None:
    """On macOS and the BSDs `ps` says the state and the second in which it began."""
    try:
        said = subprocess.run(  # noqa: S603 - a fixed program and a number
            ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=_PS_SECONDS,
            check=False,
            env={"LC_ALL": "C", "TZ": "UTC"},
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None
    if len(said) < 2:  # noqa: PLR2004 - a state and a time
        return None
    return _Process("-".join(said[1:]).replace("/", "_"), said[0].startswith("Z"))
