"""One loaded model: llama.cpp's server inside this process, and its end."""

from __future__ import annotations

import os
import secrets
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from surefoot.errors import ModelFileError, NoModelError
from surefoot.models.local.threads import Threads
from surefoot.models.local.wire import Wire

SLOTS = 2
"""The planner's and the reply's."""
BATCH = 256
"""Tokens of a prompt read at once. A cancelled prompt stops at a batch's end; smaller ones halve the speed (128: 35
tokens a second, 256: 70, 512: 70)."""
KV_TYPE = "f16"
"""What llama.cpp keeps keys and values in unless told otherwise; part of the key of a kept prefix."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an engine is started with. `num_ctx` tokens for each slot; slot states are saved into `states`."""

    path: Path
    num_ctx: int
    threads: Threads
    states: Path


class Engine(Protocol):
    """A loaded model that answers at `address` to those who know `key`."""

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT`."""
        ...

    @property
    def key(self) -> str:
        """The bearer key."""
        ...

    def close(self) -> None:
        """Unload. Calls that run are hung up on. Calling it again does nothing."""
        ...


def engine_version() -> str:
    """The version of llama.cpp's binding.

    Raises:
        NoModelError: it is not installed.
    """
    try:
        return version("xllamacpp")
    except PackageNotFoundError as error:
        raise _not_installed() from error


def start(options: Options) -> Engine:
    """Load the model; takes seconds, so call it in a thread.

    Raises:
        NoModelError: the extra `local` is not installed.
        ModelFileError: llama.cpp cannot load the file.
    """
    engine_version()
    return _Loaded(options)


def _not_installed() -> NoModelError:
    return NoModelError(
        "The embedded model needs the package xllamacpp, which is not installed.",
        'Install it with: pip install "surefoot[local]"',
    )


class _Loaded:
    """The server object of xllamacpp. Leaving the process while it lives can crash it: it must be closed."""

    def __init__(self, options: Options) -> None:
        self._lock = threading.Lock()
        self.key = secrets.token_urlsafe(32)
        options.states.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._server = _serve(options, self.key)
        self.address = str(self._server.listening_address)
        Wire(self.address, self.key).settle()  # told to stop before its loop began, it would never stop

    def close(self) -> None:
        with self._lock:
            if self._server is not None:
                hang_up(urlsplit(self.address).port or 0)
                self._server = None  # its destructor stops the threads and frees the memory


def _serve(options: Options, key: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(options.path)
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * options.num_ctx
    params.kv_unified = False  # each slot has its whole context, whatever the other holds
    params.n_batch = params.n_ubatch = BATCH
    for cpu, count in (
        (params.cpuparams, options.threads.write),
        (params.cpuparams_batch, options.threads.read),
    ):
        cpu.n_threads = count
        cpu.poll = 0  # waiting threads sleep: on a busy machine spinning takes the core the work needs
    params.verbosity = 0
    params.warmup = False  # saves a second; the first prompt warms just as well
    params.fit_params = False
    params.cache_ram_mib = 0  # prefixes are kept on disk, by name
    params.ctx_shift = False  # a prompt that does not fit is refused, never cut
    params.ui = False
    params.endpoint_slots = True
    params.slot_save_path = f"{options.states}{os.sep}"
    params.api_keys = [key]
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError, MemoryError) as error:
        raise ModelFileError(
            f"llama.cpp cannot load {options.path}: {error}.",
            "`surefoot models check` looks whether the file is whole; a newer model may need a newer xllamacpp.",
            path=str(options.path),
        ) from error


def hang_up(port: int) -> None:
    """Close every connection that was accepted on this port of this process.

    llama.cpp ends a call when its caller is gone, and waits for calls to end before it unloads: without this, leaving
    would take as long as the longest answer that another process is waiting for.
    """
    for descriptor in _descriptors():
        try:
            _shut(descriptor, port)
        except OSError:  # no socket, not connected (the one that listens), or gone by now
            continue


def _shut(descriptor: int, port: int) -> None:
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        here = connection.getsockname()
        connection.getpeername()
        if connection.family == socket.AF_INET and here[1] == port:
            connection.shutdown(socket.SHUT_RDWR)


def _descriptors() -> Iterator[int]:
    folder = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    try:
        names = os.listdir(folder)  # noqa: PTH208 - entries vanish while they are listed
    except OSError:
        return
    for name in names:
        if name.isdigit():
            yield int(name)
