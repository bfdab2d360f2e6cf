"""The command line, ready to be called."""

from __future__ import annotations

import pytest

from .support import CommandLine


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Runs commands in this process."""
    return CommandLine(monkeypatch, capsys)
