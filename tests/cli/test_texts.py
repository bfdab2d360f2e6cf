"""The words of the interface: whole in both languages, chosen by setting and locale."""

from __future__ import annotations

import string
import tomllib
from importlib.resources import files

import pytest
from typer.main import get_command

from surefoot.cli import app
from surefoot.cli.root import split_flags
from surefoot.cli.texts import LANGUAGES, Texts, _flat, interface_language
from surefoot.settings import settings_file


def messages(language: str) -> dict[str, str]:
    text = files("surefoot.cli").joinpath("messages", f"{language}.toml").read_text(encoding="utf-8")
    return dict(_flat(tomllib.loads(text)))


def fields(sentence: str) -> set[str]:
    return {name.partition("!")[0] for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_both_languages_say_everything():
    """The same keys, and the same places to fill in."""
    english, german = messages("en"), messages("de")
    assert english.keys() == {key for key in german if not key.startswith("help")}
    assert {key: fields(text) for key, text in english.items()} == {
        key: fields(german[key]) for key in english
    }


def test_no_sentence_is_empty():
    """An empty one would be a silent gap."""
    assert all(text.strip() for language in LANGUAGES for text in messages(language).values())


def helped(command, path="help"):
    """Every key that a translated help needs."""
    yield f"{path}._"
    for parameter in command.params:
        if getattr(parameter, "help", None) and parameter.name not in {
            "help",
            "install_completion",
            "show_completion",
        }:
            yield f"{path}.{parameter.name}"
    for name, child in getattr(command, "commands", {}).items():
        yield from helped(child, f"{path}.{name}")


def test_the_whole_help_is_translated():
    """Each command, argument and option has its German sentence, and no sentence is left over."""
    needed = set(helped(get_command(app)))
    assert needed == {key for key in messages("de") if key.startswith("help")}


def test_german_help(cli, monkeypatch):
    """The help follows the language, and English comes back afterwards."""
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    assert "Zurücknehmen, was ein Lauf geändert hat" in cli("undo", "--help").out
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "en")
    assert "Take back what a run changed" in cli("undo", "--help").out


def test_german_sentences(cli, monkeypatch):
    """Errors of the command line's own are in it too."""
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    assert "Noch ist nichts gelaufen" in cli("runs").err
    assert "  Fehler  " in cli("bogus").err


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_AT"}, "de"),
        ({"LANG": "de"}, "de"),
        ({"LANG": "den"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LC_MESSAGES": "de_CH", "LANG": "en_GB"}, "de"),
        ({"LC_ALL": "en_US", "LC_MESSAGES": "de_DE"}, "en"),
        ({"LC_ALL": "", "LANG": "de_DE"}, "de"),
        ({"SUREFOOT_LANGUAGE": "en", "LANG": "de_DE"}, "en"),
        ({"SUREFOOT_LANGUAGE": "de"}, "de"),
        ({"SUREFOOT_LANGUAGE": "fr", "LANG": "de_DE"}, "en"),
    ],
)
def test_the_language_is_the_setting_else_the_locale_else_english(monkeypatch, environment, language):
    """In the order in which POSIX asks its variables."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "SUREFOOT_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert interface_language() == language


def test_the_language_in_the_settings_file(monkeypatch):
    """It counts before the locale; a broken file is told by whoever loads the settings."""
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text('language = "de"\n', encoding="utf-8")
    assert interface_language() == "de"
    settings_file().write_bytes(b"language = \xff")
    assert interface_language() == "en"
    settings_file().write_text("language = ", encoding="utf-8")
    assert interface_language() == "en"


def test_the_platforms_folder_is_looked_into(monkeypatch, tmp_path):
    """Where no variable names the folder."""
    monkeypatch.delenv("SUREFOOT_CONFIG_DIR")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text('language = "de"\n', encoding="utf-8")
    assert interface_language() == "de"


def test_what_one_language_lacks_the_first_one_says():
    """And what none has is a fault of ours."""
    texts = Texts("de")
    assert texts.language == "de"
    assert Texts("xx").language == "en"
    with pytest.raises(KeyError):
        texts("no.such.sentence")


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_and_many(language):
    """Zero is many in both languages."""
    texts = Texts(language)
    one, none, two = (texts.count("summary.tokens", n) for n in (1, 0, 2))
    assert one.startswith("1 ")
    assert none.startswith("0 ")
    assert two.startswith("2 ")


def test_flags_that_count_anywhere():
    """But not behind `--`, where everything is the request."""
    assert split_flags(["ask", "x", "--debug"]) == ({"--debug"}, ["ask", "x"])
    assert split_flags(["--quiet", "ask", "x"]) == ({"--quiet"}, ["ask", "x"])
    assert split_flags(["ask", "--", "--debug"]) == (set(), ["ask", "--", "--debug"])
    assert split_flags([]) == (set(), [])
