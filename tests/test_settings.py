"""Settings: who wins, what is refused and how it is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import tzlocal

from surefoot.errors import SettingsError, UnreadableInputError
from surefoot.settings import Settings, config_folder, load_settings, settings_file


def write_file(text: str | bytes) -> Path:
    """The settings file with this content."""
    path = settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_setting_is_described_and_has_a_default():
    """The reference is generated from the descriptions; a person with no file can start."""
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert not field.is_required(), name


def test_caller_over_environment_over_file_over_default(monkeypatch):
    """Each source wins over the next."""
    assert load_settings().max_steps == 5
    write_file("max_steps = 6\nnum_ctx = 4096")
    assert load_settings().max_steps == 6
    monkeypatch.setenv("SUREFOOT_MAX_STEPS", "7")
    assert load_settings().max_steps == 7
    assert load_settings(max_steps=8).max_steps == 8
    assert load_settings().num_ctx == 4096


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SUREFOOT_MIN_QUERY_CHARS", "0", 0),
        ("SUREFOOT_PLANNER_ENABLED", "false", False),
        ("SUREFOOT_MODEL", "", ""),
        ("SUREFOOT_OFFLINE", "1", True),
    ],
)
def test_falsy_values_are_values(monkeypatch, name, text, value):
    """0, false and an empty text win over what the file says."""
    write_file('min_query_chars = 9\nplanner_enabled = true\nmodel = "ollama:x"\noffline = false')
    monkeypatch.setenv(name, text)
    assert getattr(load_settings(), name.removeprefix("SUREFOOT_").lower()) == value


@pytest.mark.parametrize("variable", ["deleteNote", "DELETENOTE", "deletenote"])
def test_a_policy_from_the_environment_holds_whatever_the_case_of_its_name(monkeypatch, variable):
    """The environment loses the case of a tool's name; its policy must not get lost with it."""
    write_file('policy.addNote = "confirm"')
    monkeypatch.setenv(f"SUREFOOT_POLICY__{variable}", "deny")
    policy = load_settings().policy
    assert policy["deleteNote"] == policy.get("deleteNote") == "deny"
    assert "deleteNote" in policy
    assert policy.get("addNote") == "confirm"
    assert policy.get("addTask") is None
    assert policy.get("addTask", "auto") == "auto"
    assert 5 not in policy


def test_policy_and_limits_from_the_file():
    """The dotted form of the documentation works."""
    write_file('policy.deleteNote = "confirm"\nlimits.writes = 10')
    settings = load_settings()
    assert settings.policy == {"deletenote": "confirm"}
    assert settings.limits == {"writes": 10}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("max_step = 3", ["'max_step'", "Did you mean 'max_steps'?"]),
        ("qwertz = 3", ["'qwertz'", "docs/settings.md"]),
        (
            "max_steps = 0",
            ["'max_steps'", "0", "greater than or equal to 1", "settings.toml", "SUREFOOT_MAX_STEPS"],
        ),
        ("max_steps = 21", ["'max_steps'", "21"]),
        ('num_ctx = "many"', ["'num_ctx'", "'many'"]),
        (
            'policy.addNote = "never"',
            ["'policy.addNote'", "'never'", "'confirm'", "SUREFOOT_POLICY__ADDNOTE"],
        ),
        ('zone = "Mars/Base"', ["'zone'", "'Mars/Base'", "Europe/Berlin"]),
        ('zone = "../etc/passwd"', ["'zone'"]),
        ("planner_timeout_sec = 0", ["'planner_timeout_sec'", "greater than 0"]),
        ("files_dir = 5", ["'files_dir'", "5"]),
        ("files_dir = [1]", ["'files_dir'", "[1]"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_value_and_the_way_out(text, parts):
    """One sentence: which setting, which value, what would do, where to change it."""
    write_file(text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    for part in parts:
        assert part in str(caught.value)
    assert "Value error" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_environment_value_that_is_no_json_is_said_so(monkeypatch):
    """A table given as text is the person's mistake, with a way out, and no traceback of a library."""
    monkeypatch.setenv("SUREFOOT_POLICY", "deleteNote=deny")
    with pytest.raises(SettingsError, match="policy"):
        load_settings()


@pytest.mark.parametrize("content", ["max_steps = = 3", "[limits", b"\xff\xfe\x00", b'model = "\xe9"'])
def test_a_file_that_is_no_toml_is_named(content):
    """Broken TOML and broken UTF-8 end the same way: the file's path and what to do."""
    path = write_file(content)
    with pytest.raises(UnreadableInputError) as caught:
        load_settings()
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 6


def test_no_file_is_no_error():
    """A new machine has none."""
    assert not settings_file().exists()
    assert load_settings().model == ""


def test_settings_cannot_be_changed_later():
    """Everybody reads the same values for the whole run."""
    with pytest.raises(ValueError, match="frozen"):
        load_settings().model = "x"


@pytest.mark.parametrize("field", ["data_dir", "cache_dir", "files_dir"])
def test_an_empty_folder_is_the_default_and_not_where_one_stands(monkeypatch, field):
    """An empty path would mean the folder the person happens to stand in."""
    monkeypatch.setenv(f"SUREFOOT_{field.upper()}", "")
    value = getattr(load_settings(), field)
    assert value is None if field == "files_dir" else value.is_absolute()
    assert load_settings().files_folder == load_settings().data_dir / "files"


@pytest.mark.parametrize("given", ["~/x", "x/y", Path("x"), "/abs/x"])
def test_folders_are_whole_paths(monkeypatch, given, tmp_path):
    """A home sign is understood, and another folder to stand in does not make other data."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    settings = load_settings(data_dir=given, files_dir=given)
    assert (
        settings.data_dir == settings.files_folder == tmp_path / Path(str(given).replace("~", str(tmp_path)))
    )
    assert settings.data_dir.is_absolute()


def test_where_things_lie(isolated, monkeypatch):
    """The variables of the folders win; without them the platform's folders are used."""
    settings = load_settings()
    assert settings.database == f"sqlite:///{isolated / 'data' / 'surefoot.db'}"
    assert settings_file() == isolated / "config" / "settings.toml"
    monkeypatch.setenv("HOME", str(isolated))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.delenv(f"SUREFOOT_{name}_DIR", raising=False)
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    settings = load_settings()
    assert isolated in config_folder().parents
    assert isolated in settings.data_dir.parents
    assert isolated in settings.cache_dir.parents


@pytest.mark.parametrize(("zone", "system", "expected"), [
    ("Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"),
    ("", "Asia/Tokyo", "Asia/Tokyo"),
    ("", "", "UTC"),
    ("", None, "UTC"),
])  # fmt: skip
def test_the_zone_is_the_setting_else_the_systems_else_utc(monkeypatch, zone, system, expected):
    """A machine whose zone cannot be read still works."""

    def local() -> str:
        if system is None:
            raise ValueError("zone file is damaged")
        return system

    monkeypatch.setattr(tzlocal, "get_localzone_name", local)
    assert load_settings(zone=zone).zone_name == expected


URL = "postgresql://me:hidden-here@db.example/surefoot"


def test_another_database_by_variable_or_file(isolated, monkeypatch):
    """The variable wins over the file; empty is the file in the data folder."""
    assert load_settings().database.startswith("sqlite:///")
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(f'database_url = "{URL}"')
    assert load_settings().database == URL
    monkeypatch.setenv("SUREFOOT_DATABASE_URL", "postgres://other/db")
    assert load_settings().database == "postgres://other/db"
    monkeypatch.setenv("SUREFOOT_DATABASE_URL", " ")
    assert load_settings().database.startswith("sqlite:///")


@pytest.mark.parametrize(
    "shown", [repr, str, lambda one: str(one.model_dump()), lambda one: one.model_dump_json()]
)
def test_the_password_of_a_database_is_not_shown(shown):
    """Whatever prints the settings."""
    assert "hidden" not in shown(load_settings(database_url=URL))


@pytest.mark.parametrize(
    "given",
    [
        "mysql://me:hidden@h/db",
        "me:hidden@h/db",
        "postgresql://me:hid den@h/db",
        ["hidden"],
        {"a": "hidden"},
        7,
    ],
)
def test_a_database_that_cannot_be_is_refused_without_showing_it(given):
    """The text may hold a password, in whatever form it came."""
    import traceback

    with pytest.raises(SettingsError, match="database_url") as raised:
        load_settings(database_url=given)
    assert "hid" not in "".join(traceback.format_exception(raised.value)).replace("hide", "")
