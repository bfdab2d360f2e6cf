"""Makes `.venv` and installs Surefoot and its tools into it. Needs nothing but Python itself.

Run again, it repairs what an interrupted run left. Two at once: the second waits for the first.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".stamp"
PROJECT = ROOT / "pyproject.toml"
OLDEST = (3, 11)


def main() -> int:
    """Install unless that has been done since pyproject.toml changed. Returns the exit code."""
    if sys.version_info < OLDEST:
        print(f"Surefoot needs Python 3.11 or newer; {sys.executable} is {sys.version}", file=sys.stderr)
        return 1
    with (ROOT / ".stamp.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _fresh():
            return 0
        if not _works():
            if not _can_make_venvs():
                return 1
            print(f"Making {VENV.name} with Python {sys.version.split()[0]}", flush=True)
            venv.create(VENV, clear=True, with_pip=True)
        _pip("--upgrade", "pip>=25.1")  # the first with --group
        _pip("--editable", ".[local]", "--group", "dev")
        if not _llama_loads():
            return 1
        STAMP.touch()
    return 0


def _fresh() -> bool:
    return STAMP.exists() and STAMP.stat().st_mtime >= PROJECT.stat().st_mtime and _works()


def _works() -> bool:
    """The environment has a Python that runs, and pip: an interrupted creation may lack either."""
    try:
        done = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _can_make_venvs() -> bool:
    """Debian ships `ensurepip` in a package of its own."""
    if find_spec("ensurepip") is not None:
        return True
    name = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    print(f"Python's venv is missing. Install it with: sudo apt-get install {name}", file=sys.stderr)
    return False


def _llama_loads() -> bool:
    """The embedded model's library needs OpenMP of the system, which small Debian images lack."""
    done = subprocess.run([PYTHON, "-c", "import xllamacpp"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
        if sys.platform == "linux":
            print("Install what is missing with: sudo apt-get install libgomp1 libstdc++6", file=sys.stderr)
    return done.returncode == 0


def _pip(*arguments: str) -> None:
    print("pip install", *arguments, flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "PIP_REQUIRE_VIRTUALENV": "1"})


if __name__ == "__main__":
    sys.exit(main())
