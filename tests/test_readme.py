"""The README is true: its program runs, its commands and files exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import surefoot
from surefoot import Assistant, ScriptedModel, ToolCall, load_settings
from surefoot.settings import settings_file

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_program_does_what_it_says(monkeypatch, capsys):
    """The library's example, as it stands, with a scripted model behind `Assistant`: the lamp goes on and back."""
    call = ToolCall("c1", "switch_lamp", {"lamp": "kitchen", "state": "on"})
    model = ScriptedModel([call], "The kitchen lamp is on.")

    def assistant(**given: Any) -> Assistant:
        return Assistant(model=model, **given)

    monkeypatch.setitem(vars(surefoot), "Assistant", assistant)
    (program,) = blocks("python")
    exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    model.assert_done()
    *_, reply, back = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("token")]
    assert reply == "The kitchen lamp is on. {'kitchen': 'on', 'desk': 'on'}"
    assert back == "and back: {'kitchen': 'off', 'desk': 'on'}"


@pytest.mark.model
def test_the_program_runs_on_the_embedded_model(monkeypatch, tmp_path):
    """The same program in a process of its own, with nothing replaced."""
    monkeypatch.setenv("SUREFOOT_MODEL", "local:qwen2.5-coder-1.5b")
    (program,) = blocks("python")
    script = tmp_path / "lamps.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "{'kitchen': 'on', 'desk': 'on'}" in done.stdout
    assert done.stdout.rstrip().endswith("and back: {'kitchen': 'off', 'desk': 'on'}")


def test_the_settings_shown_are_settings():
    """The example of the settings file loads, and says what it seems to say."""
    (example,) = blocks("toml")
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(example, encoding="utf-8")
    settings = load_settings()
    assert settings.model == tomllib.loads(example)["model"]
    assert settings.policy["deleteNote"] == "confirm"


def test_every_make_target_that_is_named_exists():
    """In the README, the guide for contributors and the documentation."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    pages = [README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")]
    pages += [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"(?:^|`)make ([a-z-]+)", page, re.MULTILINE)}
    assert {"demo", "test", "check", "bench"} <= named <= targets


def test_demo_and_test_stand_in_the_first_screen():
    """A person who opens the page sees what to type."""
    first = "\n".join(README.splitlines()[:24])
    assert "make demo" in first
    assert "make test" in first
