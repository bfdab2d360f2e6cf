"""The tables of servers in the settings, and what a server gets to know."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from surefoot.errors import ProviderAuthError, SettingsError
from surefoot.redaction import redact
from surefoot.settings import load_settings
from surefoot.tools.mcp import environment
from surefoot.tools.mcp.client import McpTools
from surefoot.tools.mcp.servers import McpServer, read_servers

from .mcp_support import settings_with

COMMAND = {"command": "serve"}


def test_a_table_is_read_with_its_defaults():
    """Not trusted, a minute, enabled, no variables."""
    server = read_servers({"files": COMMAND})["files"]
    assert (server.trusted, server.timeout, server.enabled, server.env, server.effects) == (
        False,
        60.0,
        True,
        {},
        {},
    )
    assert (server.command, server.args, server.url) == ("serve", (), "")


def test_variables_are_a_list_of_names_or_a_table():
    """A list stands for variables that are called like their keys."""
    listed = read_servers({"a": {**COMMAND, "env": ["A_TOKEN", "LANG"]}})["a"]
    assert listed.env == {"A_TOKEN": "A_TOKEN", "LANG": "LANG"}
    named = read_servers({"a": {**COMMAND, "env": {"TOKEN": "MY_TOKEN"}}})["a"]
    assert named.env == {"TOKEN": "MY_TOKEN"}


def test_a_server_that_is_off_is_not_there():
    """Its table is still read, so a mistake in it shows."""
    assert read_servers({"a": {**COMMAND, "enabled": False}}) == {}
    with pytest.raises(SettingsError):
        read_servers({"a": {"enabled": False}})


@pytest.mark.parametrize(
    ("table", "place", "why"),
    [
        ({}, "mcp.a", "either a `command` or a `url`"),
        ({"command": " "}, "mcp.a", "either a `command` or a `url`"),
        ({"command": "x", "url": "https://example.com"}, "mcp.a", "either a `command` or a `url`"),
        (
            {"command": "x", "truste": True},
            "mcp.a.truste",
            "no such setting of a server; it has command, args",
        ),
        ({"command": "x", "timeout": 0}, "mcp.a.timeout", "greater than 0"),
        ({"command": "x", "timeout": "soon"}, "mcp.a.timeout", "number"),
        ({"command": "x", "effects": {"t": "write"}}, "mcp.a.effects.t", "'read' or 'external'"),
        ({"command": "x", "key": "K"}, "mcp.a", "belong to a `url`"),
        ({"command": "x", "headers": {"X": "K"}}, "mcp.a", "belong to a `url`"),
        ({"url": "https://example.com", "env": ["K"]}, "mcp.a", "belong to a `command`"),
        ({"url": "https://example.com", "args": ["K"]}, "mcp.a", "belong to a `command`"),
        ({"url": "example.com/mcp"}, "mcp.a", "looks like https://example.com/mcp"),
        ({"url": "file:///etc/passwd"}, "mcp.a", "looks like https://example.com/mcp"),
        ({"url": "https://me:hunter2@example.com/mcp"}, "mcp.a", "give the name of a `key`"),
        ("serve", "mcp.a", "valid dictionary"),
    ],
)
def test_a_table_that_cannot_be_used_is_an_error_with_its_place(table, place, why):
    """And without its values: somebody may have written a key there."""
    with pytest.raises(SettingsError) as error:
        read_servers({"a": table})
    assert repr(place) in error.value.message
    assert why in error.value.message
    assert "hunter2" not in f"{error.value} {error.value.details} {error.value.__cause__}"


@pytest.mark.parametrize("name", ["", "a__b", "_a", "a_", "a.b", "a b", "-", "x" * 25, "ä"])
def test_a_name_that_could_not_stand_before_a_tool_is_an_error(name):
    """Letters and digits, with single separators between them."""
    with pytest.raises(SettingsError, match="a server's name"):
        read_servers({name: COMMAND})


@pytest.mark.parametrize("name", ["a", "GitHub", "my-files", "a_b-c", "x" * 24, "7"])
def test_other_names_are_good(name):
    """As people name things."""
    assert list(read_servers({name: COMMAND})) == [name]


def test_two_names_that_differ_in_case_are_an_error():
    """The policy does not tell them apart."""
    with pytest.raises(SettingsError, match="another server of that name"):
        read_servers({"Files": COMMAND, "files": COMMAND})


def test_servers_are_set_in_the_settings_file_and_nowhere_else(monkeypatch):
    """A variable could start any program."""
    assert list(settings_with(a=COMMAND).mcp) == ["a"]
    monkeypatch.setenv("SUREFOOT_MCP", '{"b": {"command": "rm"}}')
    with pytest.raises(SettingsError, match="'mcp' is set by the environment"):
        load_settings()
    monkeypatch.delenv("SUREFOOT_MCP")
    monkeypatch.setenv("SUREFOOT_MCP__A__COMMAND", "rm")
    with pytest.raises(SettingsError, match="'mcp' is set by the environment"):
        load_settings()


# --- what a server gets to know ------------------------------------------------------------------------------


def test_a_program_gets_what_is_needed_and_what_was_named(monkeypatch):
    """Under the name that the program wants."""
    monkeypatch.setenv("MY_TOKEN", "tok-0123456789abc")
    monkeypatch.setenv("STAGE", "production")
    monkeypatch.setenv("UNRELATED", "x")
    given = environment.variables("a", McpServer(command="x", env={"TOKEN": "MY_TOKEN", "STAGE": "STAGE"}))
    assert given.values["TOKEN"] == "tok-0123456789abc"
    assert given.values["STAGE"] == "production"
    assert not {"UNRELATED", "MY_TOKEN"} & set(given.values)
    assert set(given.values) - {"TOKEN", "STAGE"} <= set(environment.INHERITED)


@pytest.mark.parametrize(
    ("variable", "masked"),
    [
        ("GITHUB_TOKEN", True),
        ("API_KEY", True),
        ("DB_PASSWORD", True),
        ("GH_PAT", True),
        ("DATABASE_URL", True),
        ("AUTHORIZATION", True),
        ("STAGE", False),
        ("PATTERN", False),
        ("PROJECT_ROOT", False),
    ],
)
def test_secrets_are_masked_and_plain_variables_are_not(variable, masked, monkeypatch):
    """A masked `production` would black out half of every text."""
    monkeypatch.setenv(variable, "production-value")
    environment.variables("a", McpServer(command="x", env={variable: variable}))
    assert (redact("it says production-value") == "it says [secret]") is masked


def test_a_key_comes_from_the_places_of_keys_too(isolated):
    """The file of that name, when no variable has it."""
    folder = isolated / "config" / "keys"
    folder.mkdir(parents=True)
    (folder / "FROM_FILE").write_text("tok-from-a-file")
    (folder / "FROM_FILE").chmod(0o600)
    given = environment.variables("a", McpServer(command="x", env={"FROM_FILE": "FROM_FILE"}))
    assert given.values["FROM_FILE"] == "tok-from-a-file"
    assert redact("tok-from-a-file") == "[secret]"


def test_what_is_named_and_not_there_is_an_error():
    """With the places where it could be."""
    with pytest.raises(
        ProviderAuthError, match="MCP server 'a' needs a key, and there is none named NOT_THERE"
    ):
        environment.variables("a", McpServer(command="x", env={"NOT_THERE": "NOT_THERE"}))
    with pytest.raises(SettingsError, match="is no name of a key"):
        environment.headers("a", McpServer(url="https://example.com", key="sk-written-here"))


async def test_without_the_extra_the_servers_are_a_notice(monkeypatch):
    """And no error."""
    monkeypatch.setattr("surefoot.tools.mcp.client.installed", lambda: False)
    found = await McpTools(settings_with(a=COMMAND, b=COMMAND)).tools()
    assert found.tools == ()
    assert found.notices == ("MCP servers are set, and the extra is missing: pip install 'surefoot[mcp]'.",)


def test_the_page_about_servers_shows_tables_that_can_be_read():
    """Its example, and every setting of a server in its list."""
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    example = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    assert list(read_servers(example["mcp"])) == ["files", "tracker"]
    listed = {
        name
        for row in page.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert listed == set(McpServer.model_fields)
