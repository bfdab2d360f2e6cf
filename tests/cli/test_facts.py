"""`surefoot facts set|list|remove`: a value comes from a hidden prompt or a pipe, never from the command line."""

from __future__ import annotations

import getpass
import io
import json
from pathlib import Path

import pytest

from .support import CommandLine, Terminal, environment, run

CARD = "4111111111111111"
PASSWORD = 'pa%&"\\word-9'


@pytest.fixture
def piped(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    """Runs a command with this on standard input."""

    def call(text: str, *arguments: str):
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogateescape")))
        )
        return cli(*arguments)

    return call


def test_a_fact_from_a_pipe_is_kept(cli, piped):
    """The line end behind it is not part of it; its kind is told, and the list has it."""
    ran = piped("anna@example.org\n", "facts", "set", "email")
    assert (ran.code, ran.out) == (0, "  email: kept. Models may see its value where a flow uses it.\n")
    ran = cli("facts", "list")
    assert (ran.code, ran.out) == (0, "  email  shared\n")
    assert _kept("email") == "anna@example.org"
    piped("one\ntwo\r\n", "facts", "set", "address")
    assert _kept("address") == "one\ntwo"


@pytest.mark.parametrize(
    ("name", "value", "options", "because"),
    [
        ("card number", "x1", (), "It is a secret by its name."),
        ("Kartennummer", "x1", ("--secret",), "It is a secret by its name."),
        ("number", CARD, (), "It is a secret because its value looks like a card or account number"),
        ("nickname", "Bo", ("--secret",), ""),
    ],
)
def test_a_secret_says_why_it_is_one(cli, piped, name, value, options, because):
    """By its name, by its value; asked for, it needs no reason."""
    ran = piped(value, "facts", "set", *options, name)
    assert ran.code == 0
    assert ran.out.startswith(f"  {name}: kept as a secret.")
    assert because in ran.out
    assert len(ran.out.splitlines()) == (2 if because else 1)
    assert value not in ran.out + ran.err or value in name
    (listed,) = cli("facts", "list", "--json").json
    assert (listed["name"], listed["kind"]) == (name, "secret")
    assert set(listed) == {"name", "kind", "updated_at"}


def test_a_secret_stays_one_until_it_is_removed(cli, piped):
    """Setting it again without the option does not share it."""
    piped("Bo", "facts", "set", "nickname", "--secret")
    ran = piped("Cy", "facts", "set", "nickname")
    assert "It stays a secret" in ran.out
    assert cli("facts", "remove", "nickname").out == "  nickname: removed.\n"
    assert "Models may see" in piped("Cy", "facts", "set", "nickname").out


@pytest.mark.parametrize(
    "behind",
    [
        [CARD],
        [PASSWORD],
        ["--value", PASSWORD],
        [f"--value={PASSWORD}"],
        ["-x9y8z7w6"],
        ["--", "-x9y8z7w6"],
        ["a", "b"],
    ],
)
def test_a_value_on_the_command_line_is_refused_and_not_repeated(cli, piped, behind):
    """The error says why and what to do; nothing is kept."""
    ran = piped("from the pipe", "facts", "set", "thing", *behind)
    assert ran.code == 2
    assert "A value is never taken from the command line" in ran.err
    for part in (CARD, PASSWORD, "x9y8z7w6", "9y8z"):
        assert part not in ran.out + ran.err
    assert cli("facts", "list", "--json").json == []


@pytest.mark.parametrize("name", ["--secrt", "-s", "-", "--"])
def test_a_misspelt_option_is_no_name(cli, piped, name):
    """It would be kept as a shared fact of that name."""
    ran = piped("x", "facts", "set", name)
    assert ran.code == 2
    assert cli("facts", "list", "--json").json == []


@pytest.mark.parametrize("name", [f"thing={PASSWORD}", CARD, "a${b}", ""])
def test_a_name_that_is_none_is_refused_and_not_repeated(cli, piped, name):
    """Before the value is asked for."""
    ran = piped("x", "facts", "set", name)
    assert ran.code == 2
    assert not name or name not in ran.err
    assert "fact" in ran.err


@pytest.mark.parametrize(
    ("text", "code"), [("", 2), ("\n", 2), ("  \n", 2), ("a\x00b", 2), ("\udcff\udcfe", 6), ("x" * 10_001, 2)]
)
def test_what_is_no_value_is_refused(cli, piped, text, code):
    """Nothing, blanks, bytes that are no text, a whole book."""
    ran = piped(text, "facts", "set", "thing")
    assert ran.code == code
    assert "xxxx" not in ran.err
    assert cli("facts", "list", "--json").json == []


def test_a_terminal_is_asked_without_showing(cli, monkeypatch):
    """The prompt names the fact; what is typed is not on the screen."""
    asked = []
    monkeypatch.setattr(getpass, "getpass", lambda prompt: asked.append(prompt) or PASSWORD)
    ran = cli.at_terminal("facts", "set", "Passwort")
    assert ran.code == 0
    assert asked == ["  Passwort (not shown while you type): "]
    assert PASSWORD not in ran.out
    assert _kept("Passwort") == PASSWORD


def test_a_terminal_that_is_left_keeps_nothing(cli, monkeypatch):
    """Ctrl-D is no value, Ctrl-C ends it."""

    def ends(error):
        def ask(prompt):
            raise error

        return ask

    monkeypatch.setattr(getpass, "getpass", ends(EOFError()))
    assert cli.at_terminal("facts", "set", "thing").code == 2
    monkeypatch.setattr(getpass, "getpass", ends(KeyboardInterrupt()))
    assert cli.at_terminal("facts", "set", "thing").code == 130
    assert cli("facts", "list", "--json").json == []


def test_a_real_terminal_shows_nothing_of_what_is_typed():
    """In a process of its own, with a terminal of its own."""
    with Terminal(["facts", "set", "Passwort"], environment(None)) as terminal:
        terminal.expect("(not shown while you type):")
        terminal.type("hunter-zwei-9\n")
        terminal.expect("kept as a secret")
        assert terminal.end() == 0
        assert "hunter" not in terminal.text
    assert _kept("Passwort") == "hunter-zwei-9"


def test_a_process_keeps_it_where_no_file_holds_the_value(isolated: Path):
    """Every file it leaves is searched; the key file is its owner's only."""
    env = environment(None)
    assert run(["facts", "set", "thing"], env, input=PASSWORD.encode()).returncode == 0
    for path in isolated.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()
    (key,) = (isolated / "config" / "keys").glob("SUREFOOT_*")
    assert key.stat().st_mode & 0o777 == 0o600
    listed = run(["facts", "list", "--json"], env)
    assert [one["name"] for one in json.loads(listed.stdout)] == ["thing"]


def test_removing_and_listing(cli, piped):
    """An empty list says how to begin; a name that is not kept has the nearest one."""
    ran = cli("facts", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "surefoot facts set NAME" in ran.err
    piped("Bonn", "facts", "set", "city")
    ran = cli("facts", "remove", "citi")
    assert ran.code == 2
    assert "'city'" in ran.err
    assert cli("facts", "remove", "city").code == 0
    assert cli("facts", "list", "--json").json == []


def test_names_of_every_script_stand_in_columns(cli, piped):
    """Wide signs take two columns."""
    piped("x1", "facts", "set", "カード番号")
    piped("Bonn", "facts", "set", "city")
    assert cli("facts", "list").out == "  city        shared\n  カード番号  secret\n"


def test_it_speaks_german(cli, piped, monkeypatch):
    """As the rest of the command line."""
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    assert "als Geheimnis aufbewahrt" in piped("x1", "facts", "set", "Kartennummer").out
    assert cli("facts", "list").out == "  Kartennummer  geheim\n"
    assert "Angabe" in cli("facts", "--help").out
    assert cli("facts", "remove", "Kartennummer").out == "  Kartennummer: entfernt.\n"


def test_no_standard_input_at_all_is_no_value(cli, monkeypatch):
    """A job without one is told so."""
    monkeypatch.setattr("sys.stdin", None)
    assert cli("facts", "set", "thing").code == 2


def _kept(name: str) -> str:
    from surefoot import load_settings
    from surefoot.flows.vault import load_facts
    from surefoot.storage import Database

    with Database(load_settings().database) as database:
        return load_facts(database, [name]).value(name)
