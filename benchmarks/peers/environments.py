"""Makes the environments of the peers, once: `environments.toml` says what stands in each.

An environment is a folder of the cache, named by what is in it and by the Python it was made with; when either changes,
another is made beside it. It is built under another name and moved when it is whole, so that an interrupted
installation is never taken for one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

INSTALL_SECONDS = 900
"""For one environment; the largest took 40 s over a fast line."""

HERE = Path(__file__).parent


class NotInstalledError(Exception):
    """It cannot be compared here; the text says why."""


@dataclass(frozen=True)
class Environment:
    """What a peer needs."""

    name: str
    install: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Its name in the cache."""
        what = "\n".join((sys.version, sys.executable, *self.install))
        return f"{self.name}-{hashlib.sha256(what.encode()).hexdigest()[:12]}"

    def python(self, cache: Path) -> Path:
        """The interpreter of this environment, which is made if it is not there.

        Raises:
            NotInstalledError: it could not be made.
        """
        home = cache / self.folder
        python = home / "bin" / "python"
        if not python.exists():
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=f".{self.name}-") as folder:
                self._make(Path(folder) / "venv")
                shutil.rmtree(home, ignore_errors=True)
                (Path(folder) / "venv").rename(home)
        return python

    def _make(self, home: Path) -> None:
        print(f"making an environment for {self.name} ...", file=sys.stderr, flush=True)
        _run([sys.executable, "-m", "venv", str(home)])
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, *self.install])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotInstalledError(f"installing it took longer than {INSTALL_SECONDS} s") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotInstalledError(lines[-1] if lines else f"pip ended with {done.returncode}")


def listed() -> list[Environment]:
    """All of `environments.toml`."""
    data = tomllib.loads((HERE / "environments.toml").read_text(encoding="utf-8"))
    return [Environment(name, tuple(entry["install"])) for name, entry in data.items()]


def default_cache() -> Path:
    """Where they are kept: some 500 MB in all, which may be deleted at any time."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "surefoot" / "benchmarks"
