"""`surefoot models` and `surefoot doctor`, against loopback servers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from models.servers import LoopbackServer, as_json, free_port
from surefoot.cli import session
from surefoot.cli.commands import models as models_module
from surefoot.cli.out import Out
from surefoot.cli.session import Cli
from surefoot.cli.texts import Texts
from surefoot.errors import ModelFileError
from surefoot.models import weights
from surefoot.models.registry import EMBEDDED
from surefoot.models.types import Capabilities
from surefoot.settings import load_settings

from .support import Screen, plain

SHOW = {
    "capabilities": ["completion", "tools"],
    "details": {"family": "qwen3"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
}


@pytest.fixture
def ollama(monkeypatch):
    """A running Ollama with one model."""
    with LoopbackServer().running() as server:
        server.on("/api/tags", as_json({"models": [{"name": "qwen3:4b"}]}))
        server.on("/api/show", as_json(SHOW))
        monkeypatch.setenv("SUREFOOT_OLLAMA_URL", server.url)
        yield server


@pytest.fixture
def nothing(monkeypatch):
    """No Ollama answers."""
    monkeypatch.setenv("SUREFOOT_OLLAMA_URL", f"http://127.0.0.1:{free_port()}")


@pytest.fixture
def tiny(monkeypatch) -> bytes:
    """The embedded model is pinned as a file of a few bytes."""
    content = b"GGUF and so on"
    pin = weights.Pinned(
        EMBEDDED,
        "Tiny",
        "tiny.gguf",
        len(content),
        hashlib.sha256(content).hexdigest(),
        "MIT",
        "https://x",
        (),
    )
    monkeypatch.setattr(weights, "table", lambda: (pin,))
    return content


def put(content: bytes) -> Path:
    """Put the weights where they belong."""
    (entry,) = weights.installed(load_settings())
    entry.path.parent.mkdir(parents=True, exist_ok=True)
    entry.path.write_bytes(content)
    return entry.path


def test_the_list_says_what_can_be_used_now(cli, ollama):
    """The model in use is marked; what is missing says how to get it."""
    text = cli("models", "list").out
    assert "  ✓ ollama:qwen3:4b  here, used now\n" in text
    assert f"  · local:{EMBEDDED}  not fetched: surefoot models pull\n" in text
    assert "  · openai:…" in text
    assert "needs a key named OPENROUTER_API_KEY" in text


def test_the_list_in_json(cli, ollama):
    """Name, whether it can be used, whether it is the one in use."""
    listed = {one["name"]: one for one in cli("models", "list", "--json").json}
    assert listed["ollama:qwen3:4b"] == {
        "name": "ollama:qwen3:4b",
        "available": True,
        "note": "here",
        "chosen": True,
    }
    assert not listed[f"local:{EMBEDDED}"]["available"]


def test_the_list_without_any_model(cli, nothing):
    """Each line says the way out."""
    text = cli("models", "list").out
    assert "no Ollama answers at http://127.0.0.1:" in text
    assert "used now" not in text


def test_the_list_of_an_ollama_without_models(cli, monkeypatch):
    """It answers, and says what to pull."""
    with LoopbackServer().running() as server:
        server.on("/api/tags", as_json({"models": []}))
        monkeypatch.setenv("SUREFOOT_OLLAMA_URL", server.url)
        assert "ollama pull qwen3:4b" in cli("models", "list").out
        assert "answers, and has no model" in cli("doctor").out


def test_a_chosen_model_of_a_server_is_listed_first(cli, nothing, monkeypatch):
    """It stands in no other list."""
    monkeypatch.setenv("SUREFOOT_OPENAI_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("SUREFOOT_MODEL", "openai:my-own")
    lines = cli("models", "list").out.splitlines()
    assert lines[0] == "  ✓ openai:my-own  used now"
    assert any("any model of http://127.0.0.1:1/v1" in line for line in lines)


def test_check_asks_the_model_and_says_what_it_can_do(cli):
    """A short question, its time and tokens."""
    cli.answers("ready", capabilities=Capabilities(tools=True, context_length=4096, encoding="own"))
    ran = cli("models", "check")
    assert ran.code == 0
    first, second = ran.out.splitlines()
    assert re.fullmatch(r"  scripted:model answers: [\d.]+ s for \d+ tokens", first)
    assert second == "  it can: tools; context 4096 tokens; plans in the encoding own"


def test_check_in_json(cli):
    """For programs."""
    cli.answers("ready")
    found = cli("models", "check", "--json").json
    assert (found["text"], found["model"]) == ("ready", "scripted:model")
    assert found["capabilities"]["grammar"]


def test_check_of_a_model_that_says_nothing(cli):
    """Exit 3; what it can is told all the same."""
    cli.answers(" ", capabilities=Capabilities())
    ran = cli("models", "check")
    assert ran.code == 3
    assert "answered without text" in ran.out
    assert "it can: text only; context ? tokens" in ran.out


def test_check_reads_the_weights_of_the_embedded_model_again(cli, tiny):
    """Damaged ones are found before they are used."""
    put(tiny)
    cli.answers("ready", name=f"local:{EMBEDDED}")
    assert cli("models", "check").code == 0
    put(b"GGUF and so  n")
    ran = cli("models", "check")
    assert ran.code == ModelFileError.exit_code
    assert "is damaged" in ran.err


def test_check_names_a_model_that_is_not_there(cli, ollama, monkeypatch):
    """The provider's own words, and the way out."""
    monkeypatch.undo()
    monkeypatch.setenv("SUREFOOT_OLLAMA_URL", ollama.url)
    ran = cli("models", "check", "--model", "olama:x")
    assert ran.code == 3
    assert "Did you mean 'ollama:x'?" in ran.err


# --- pull --------------------------------------------------------------------------------------------------------


def test_pull_fetches_checks_and_prepares_the_prompt(cli, tiny, monkeypatch):
    """Progress on standard error, a line for each tenth in a pipe; the model reads the planner's prefix once."""
    sources = []

    def source(model, part, progress):
        sources.append(model.name)
        for end in range(1, len(tiny) + 1):
            part.write_bytes(tiny[:end])
            progress("fetching", end, len(tiny))

    monkeypatch.setattr("surefoot.models._weights_sources.SOURCES", (source,))
    model = cli.answers(capabilities=Capabilities(tools=True, encoding="own", local=True))
    ran = cli("models", "pull")
    assert ran.code == 0
    assert ran.err.count("fetching") == 11
    first, second = ran.out.splitlines()
    assert first.startswith(f"  {EMBEDDED}: 14 B, checked, at ")
    assert "prompt is read and kept" in second
    assert sources == [EMBEDDED]
    assert cli.asked_for == [f"local:{EMBEDDED}"]
    assert "plan" in {request.purpose for request, _ in model.warmed}
    assert cli("models", "pull", f"local:{EMBEDDED}").code == 0
    assert sources == [EMBEDDED]


def test_pull_offline_says_so(cli, tiny, monkeypatch):
    """Nothing is fetched against the setting."""
    monkeypatch.setenv("SUREFOOT_OFFLINE", "true")
    ran = cli("models", "pull")
    assert ran.code == 3
    assert "forbids fetching them" in ran.err


def test_pull_of_an_unknown_name(cli, tiny):
    """The names there are."""
    ran = cli("models", "pull", "nothing-like-it")
    assert ran.code == 3
    assert "There is no embedded model 'nothing-like-it'" in ran.err


def test_pull_without_the_engine_keeps_the_weights(cli, tiny, monkeypatch):
    """And says what is missing."""
    put(tiny)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = cli("models", "pull")
    assert ran.code == 1
    assert "needs the extra" in ran.err
    assert "needs the extra" in cli("models", "list").out


def test_a_bar_in_a_terminal():
    """Each phase has its own; the last ends full."""
    screen = Screen()
    cli = Cli(Out(Texts("en"), stdout=screen, stderr=screen))
    with models_module.Bar(cli) as bar:
        bar("fetching", 10, 100)
        bar("fetching", 100, 100)
        bar("verifying", 50, 100)
        bar("verifying", 100, 100)
    assert "verifying" in plain(screen.text)
    assert "100/100 bytes" in plain(screen.text)


# --- doctor ------------------------------------------------------------------------------------------------------


def test_doctor_without_a_model_has_a_problem(cli, nothing):
    """No model is the one thing that must be mended; the rest is optional, each with its way."""
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ model in use" in ran.out
    assert "surefoot models pull" in ran.out
    assert "1 thing is in the way." in ran.out


def test_doctor_with_a_model_is_fine(cli, ollama):
    """What works, and what could be added."""
    ran = cli("doctor")
    assert ran.code == 0
    assert "✓ Ollama" in ran.out
    assert ": qwen3:4b" in ran.out
    assert "✓ model in use        ollama:qwen3:4b" in ran.out
    assert "Everything that is needed works." in ran.out


def test_doctor_in_json(cli, ollama, tiny, monkeypatch):
    """Every look with its level and next move."""
    put(tiny)
    monkeypatch.setenv("SUREFOOT_OPENAI_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("SUREFOOT_SEARXNG_URL", "http://127.0.0.1:2")
    found = cli("doctor", "--json").json
    levels = {check["name"]: check["level"] for check in found["checks"]}
    assert found["fine"]
    assert {levels[name] for name in ("weights", "openai", "search", "data", "zone", "model")} == {"ok"}


def test_doctor_looks_at_the_database(cli, ollama):
    """Not made yet, made, and no database at all."""
    assert "not made yet" in cli("doctor").out
    cli("runs")
    assert "surefoot.db, version " in cli("doctor").out.replace("\n", "")
    path = load_settings().data_dir / "surefoot.db"
    for file in path.parent.glob("surefoot.db*"):
        file.unlink()
    path.write_bytes(b"this is no database, but some text that is long enough to be read as a header" * 100)
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ database" in ran.out


def test_doctor_finds_a_data_folder_that_cannot_be_written(cli, ollama, monkeypatch, tmp_path):
    """A file where the folder should be."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("SUREFOOT_DATA_DIR", str(tmp_path / "file"))
    ran = cli("doctor")
    assert ran.code == 1
    assert "cannot be written" in ran.out
    assert "set SUREFOOT_DATA_DIR" in ran.out


def test_doctor_tells_broken_settings(cli, monkeypatch):
    """It is what one calls when nothing else works."""
    monkeypatch.setenv("SUREFOOT_ZONE", "Atlantis/Center")
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ settings" in ran.out
    assert "Atlantis/Center" in ran.out


def test_doctor_without_the_engine(cli, ollama, monkeypatch):
    """Optional, with the command."""
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1_000_000})())
    text = cli("doctor").out
    assert "pip install 'surefoot[local]'" in text
    assert "Make room" in text


def test_the_assistant_is_the_settings_own(cli, monkeypatch, nothing):
    """Without the tests' seam: the settings' journal and all kits."""
    monkeypatch.undo()
    opened = session.open_assistant(load_settings(), model="ollama:x", dialogue="d")
    assert opened.dialogue == "d"
    assert "addNote" in opened.catalogue.names
