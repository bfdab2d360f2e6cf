"""What the command line says, in English or German. The sentences are data: `messages/*.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "de")
"""The first is what a person of any other language gets, and what fills a gap in the others."""

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order in which POSIX asks them; the first that is set decides."""


class Texts:
    """Sentences of one language, by key (`ask.planning`), with named places to fill in."""

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else LANGUAGES[0]
        self._own = _load(self.language)

    def __call__(self, key: str, **values: object) -> str:
        """The sentence; KeyError where no language has it."""
        return self._raw(key).format(**values)

    def count(self, key: str, number: int, **values: object) -> str:
        """The sentence for one or for several: `key.one`, `key.many`; `n` is the number."""
        return self(f"{key}.{'one' if number == 1 else 'many'}", n=number, **values)

    def has(self, key: str) -> bool:
        """There is such a sentence in this language."""
        return key in self._own

    def _raw(self, key: str) -> str:
        return self._own[key] if key in self._own else _load(LANGUAGES[0])[key]


@cache
def _load(language: str) -> Mapping[str, str]:
    text = files("surefoot.cli").joinpath("messages", f"{language}.toml").read_text(encoding="utf-8")
    return dict(_flat(tomllib.loads(text)))


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        name = f"{before}{key}"
        found += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return found


def interface_language() -> str:
    """`en` or `de`: the setting, else the locale.

    It reads the one setting by itself: loading all of them takes longer than `--help` may.
    """
    chosen = os.environ.get("SUREFOOT_LANGUAGE") or _from_settings_file() or _from_locale()
    return chosen if chosen in LANGUAGES else LANGUAGES[0]


def _from_settings_file() -> str:
    """The setting as it stands in the file; a broken file is told by whoever loads the settings."""
    try:
        return str(tomllib.loads(_settings_file().read_text(encoding="utf-8")).get("language", ""))
    except (OSError, ValueError):
        return ""


def _settings_file() -> Path:
    folder = os.environ.get("SUREFOOT_CONFIG_DIR")
    if not folder:
        import platformdirs

        folder = platformdirs.user_config_dir("surefoot", appauthor=False)
    return Path(folder) / "settings.toml"


def _from_locale() -> str:
    named = next((value for name in LOCALE_VARIABLES if (value := os.environ.get(name))), "")
    return named.replace("-", "_").partition("_")[0].lower()
