"""Every test has its own folders and nothing of the person's: no settings, no keys, only loopback."""

from __future__ import annotations

import contextlib
import locale
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from network_guard import block_network
from postgres_server import (  # noqa: F401 - fixtures
    migrated_template,
    new_postgres_url,
    postgres_server,
    postgres_url,
)
from surefoot.redaction import secrets

settings.register_profile(
    "surefoot",
    deadline=None,
    derandomize=bool(
        os.environ.get("CI")
    ),  # what is new is found where somebody works, not where a change lands
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(
    "surefoot"
)  # how long an example takes says something of the machine, nothing of the code

KEY_ENDINGS = ("_API_KEY", "_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
OUR_PREFIXES = (
    "SUREFOOT_",
    "PG",
    "OLLAMA_",
    "OPENAI_",
    "ANTHROPIC_",
    "GEMINI_",
    "GOOGLE_",
    "OPENROUTER_",
    "HF_",
)
PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})
TERMINAL = frozenset({"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"})


def _is_the_persons(name: str) -> bool:
    upper = name.upper()
    return upper.startswith(OUR_PREFIXES) or upper.endswith(KEY_ENDINGS) or upper in PROXIES | TERMINAL


def _set_locale(*names: str) -> None:
    """The first that the machine has; plain "C" would also make every file ASCII."""
    for name in names:
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, name)
            return


@pytest.fixture(autouse=True, scope="session")
def _fixed_place() -> Iterator[None]:
    """The machine that runs the tests says UTC and English; tests of zones and languages name theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        for name in [name for name in os.environ if name.startswith("LC_")]:
            patch.delenv(name)
        patch.setenv("LANG", "C.UTF-8")
        _set_locale("C.UTF-8", "en_US.UTF-8")
        yield
    time.tzset()


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    with block_network():
        yield


@pytest.fixture(autouse=True)
def _no_secrets() -> Iterator[None]:
    """What one test registers as a secret is not masked in the next."""
    with secrets():
        yield


@pytest.fixture(autouse=True)
def isolated(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Own folders for settings, data and cache; the folder they lie in.

    Tests marked `model` keep the real cache folder: the weights lie there, a gigabyte of them.
    """
    cache = os.environ.get("SUREFOOT_CACHE_DIR")
    for name in filter(_is_the_persons, list(os.environ)):
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("surefoot", numbered=True)
    monkeypatch.setenv("SUREFOOT_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("SUREFOOT_DATA_DIR", str(home / "data"))
    if request.node.get_closest_marker("model") is None:
        monkeypatch.setenv("SUREFOOT_CACHE_DIR", str(home / "cache"))
    elif cache:
        monkeypatch.setenv("SUREFOOT_CACHE_DIR", cache)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return home


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new SQLite database, migrated once: a copy of it opens in a millisecond."""
    from surefoot.storage import Database

    path = tmp_path_factory.mktemp("migrated") / "kept.db"
    Database(path).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> str:
    """What names an empty, migrated database of each kind."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return str(shutil.copy(migrated, tmp_path / "kept.db"))


@pytest.fixture(params=["sqlite", "postgresql"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What names a database of each kind that is not made yet."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("new_postgres_url"))
    return str(tmp_path / "kept.db")
