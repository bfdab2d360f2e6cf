"""Keys: three places, never shown, registered with redaction."""

from __future__ import annotations

import base64
import contextvars
import json
import os
import pickle
import subprocess
import sys

import keyring
import keyring.backend
import keyring.errors
import pytest

from surefoot import redaction
from surefoot.errors import MisuseError, ProviderAuthError, SettingsError
from surefoot.models import keys
from surefoot.models.keys import (
    OWN_BYTES,
    Key,
    find_key,
    need_key,
    own_key,
    own_key_places,
    own_keys,
)
from surefoot.redaction import redact
from surefoot.settings import config_folder

VALUE = "sk-test-4f9a8c7e"


class Keyring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self, entries: dict[tuple[str, str], str]) -> None:
        self.entries = entries

    def get_password(self, service, username):
        return self.entries.get((service, username))

    def set_password(self, service, username, password):
        self.entries[service, username] = password

    def delete_password(self, service, username):
        del self.entries[service, username]


class Locked(Keyring):
    def get_password(self, service, username):
        raise keyring.errors.KeyringLocked("locked")


@pytest.fixture
def use_keyring():
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


@pytest.fixture
def key_file(isolated):
    folder = isolated / "config" / "keys"
    folder.mkdir(parents=True)

    def write(name: str, text: str, mode: int = 0o600):
        path = folder / name
        path.write_text(text, "utf-8")
        path.chmod(mode)
        return path

    return write


def test_a_key_from_the_environment(monkeypatch):
    """The variable of its name is looked at first, and white space around it dropped."""
    monkeypatch.setenv("SOME_KEY", f" {VALUE}\n")
    key = find_key("SOME_KEY")
    assert key is not None
    assert (key.source, key.reveal()) == ("environment", VALUE)


def test_a_key_from_the_keyring(use_keyring):
    """The system's keyring, service surefoot."""
    use_keyring(Keyring({("surefoot", "SOME_KEY"): VALUE}))
    key = find_key("SOME_KEY")
    assert key is not None
    assert (key.source, key.reveal()) == ("keyring", VALUE)


def test_a_key_from_a_file(key_file):
    """A file of its name in the config folder's `keys`."""
    key_file("SOME_KEY", f"{VALUE}\n")
    key = find_key("SOME_KEY")
    assert key is not None
    assert (key.source, key.reveal()) == ("file", VALUE)


def test_the_environment_wins_over_keyring_and_file(monkeypatch, use_keyring, key_file):
    """One order, the nearest first; an empty variable is none."""
    use_keyring(Keyring({("surefoot", "SOME_KEY"): "from-keyring"}))
    key_file("SOME_KEY", "from-file")
    monkeypatch.setenv("SOME_KEY", "from-env")
    assert find_key("SOME_KEY").reveal() == "from-env"
    monkeypatch.setenv("SOME_KEY", "  ")
    assert find_key("SOME_KEY").reveal() == "from-keyring"
    use_keyring(Locked({}))
    assert find_key("SOME_KEY").reveal() == "from-file"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_key_file_that_others_may_use_is_refused(key_file, mode):
    """Permissions are checked; the message has the command that mends them and not the key."""
    path = key_file("SOME_KEY", VALUE, mode)
    with pytest.raises(SettingsError, match=f"{mode:04o}") as caught:
        find_key("SOME_KEY")
    assert f"chmod 600 {path}" in caught.value.next_move
    assert VALUE not in str(caught.value.to_dict())


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_only_a_plain_file_is_a_key_file(key_file, make):
    """A folder or a pipe in its place is refused, and nobody waits for the pipe's writer."""
    path = key_file("SOME_KEY", "")
    path.unlink()
    make(path, 0o600)
    with pytest.raises(SettingsError, match="no regular file"):
        find_key("SOME_KEY")


def test_a_loop_of_links_in_place_of_a_key_file_is_reported(isolated):
    """What cannot be opened is said, and is not the same as no key."""
    folder = isolated / "config" / "keys"
    folder.mkdir(parents=True)
    (folder / "SOME_KEY").symlink_to(folder / "SOME_KEY")
    with pytest.raises(SettingsError, match="cannot be read"):
        find_key("SOME_KEY")


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A B", "A/B", "1KEY", "KEY\n", "ключ", VALUE])
def test_a_name_that_is_no_name_is_refused(name):
    """A path, a space, or the key itself in place of its name."""
    with pytest.raises(SettingsError, match="no name of a key"):
        find_key(name)


def test_no_key_anywhere_names_the_three_places(isolated):
    """The error says where a key may be put."""
    assert find_key("SOME_KEY") is None
    with pytest.raises(
        ProviderAuthError, match="The server needs a key, and there is none named SOME_KEY"
    ) as caught:
        need_key("SOME_KEY", "The server")
    for place in (
        "environment variable SOME_KEY",
        "keyring set surefoot SOME_KEY",
        str(isolated / "config" / "keys"),
    ):
        assert place in caught.value.next_move


def test_a_key_that_is_there_is_given(monkeypatch):
    """`need_key` gives what `find_key` finds."""
    monkeypatch.setenv("SOME_KEY", VALUE)
    assert need_key("SOME_KEY", "x").reveal() == VALUE


@pytest.mark.parametrize("value", ["abc\ndef", "abc\r\nX-Evil: 1", "abc\x00", "schlüssel", "a\u2028b"])
def test_a_key_that_would_break_a_header_is_refused(monkeypatch, key_file, value):
    """A line break in a key would be a header of its own; the message does not show the key."""
    key_file("SOME_KEY", value)
    with pytest.raises(ProviderAuthError) as caught:
        find_key("SOME_KEY")
    assert value not in str(caught.value.to_dict())


def test_a_key_is_never_shown(monkeypatch):
    """Not by repr, str, formatting or pickling, and what repeats it is masked."""
    monkeypatch.setenv("SOME_KEY", VALUE)
    key = find_key("SOME_KEY")
    for shown in (repr(key), str(key), f"{key}", repr([key]), repr({"k": key})):
        assert VALUE not in shown
        assert "SOME_KEY" in shown
    with pytest.raises(MisuseError) as caught:
        pickle.dumps(key)
    assert VALUE not in str(caught.value)
    with pytest.raises(TypeError):
        json.dumps(key)
    assert VALUE not in redact(f"the answer repeats {VALUE}")


def test_revealing_registers_the_key_in_the_context_that_asks():
    """A task that started before the key was found masks it too, once it uses it."""
    key = Key("SOME_KEY", "environment", "sk-other-11223344")
    fresh = contextvars.Context()
    assert fresh.run(redact, "sk-other-11223344") == "sk-other-11223344"
    fresh.run(key.reveal)
    assert "11223344" not in fresh.run(redact, "sk-other-11223344")


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "my_apikey",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "TOKEN",
        "DB_PASSWORD",
        "OTHER_SECRET",
    ],
)
def test_secrets_of_the_environment_are_masked_by_the_names_they_have(monkeypatch, name):
    """Whether or not any model uses them."""
    monkeypatch.setenv(name, " planted-0123456789\n")
    with redaction.secrets():
        keys.mask_environment()
        assert redaction.redact("it is planted-0123456789!") == "it is [secret]!"


@pytest.mark.parametrize(
    ("name", "value"),
    [("API_KEY_NAME", "planted-0123456789"), ("TOKENS", "planted-0123456789"), ("TOKEN", "short")],
)
def test_what_only_looks_like_a_secret_stays(monkeypatch, name, value):
    """A name that merely contains the word, and a value that is a word."""
    monkeypatch.setenv(name, value)
    with redaction.secrets():
        keys.mask_environment()
        assert redaction.redact(f"it is {value}") == f"it is {value}"


def test_the_key_that_the_settings_name_is_masked_whatever_it_is(monkeypatch):
    """Its name says nothing, and it may be short."""
    monkeypatch.setenv("MINE", "abcd")
    with redaction.secrets():
        keys.mask_environment("MINE", "ABSENT")
        assert redaction.redact("abcd") == "[secret]"


def test_key_files_are_masked_before_a_model_needs_them():
    """What a person types may be in a key file as well; a file others may read, a folder and a pipe stop nothing."""
    folder = config_folder() / "keys"
    with redaction.secrets():
        keys.mask_environment()  # there is no folder yet
    (folder / "FOLDER").mkdir(parents=True)
    (folder / "OPEN").write_text("open-to-all-123456")
    (folder / "EMPTY").write_text(" \n")
    (folder / "no name").write_text("a note of the person's")
    os.mkfifo(folder / "PIPE", 0o600)
    for name in ("MINE", "EMPTY"):
        (folder / name).touch(mode=0o600)
        (folder / name).chmod(0o600)
    (folder / "MINE").write_text("from-the-file-778899\n")
    with redaction.secrets():
        keys.mask_environment()
        assert (
            redact("it is from-the-file-778899 and a note of the person's")
            == "it is [secret] and a note of the person's"
        )


# --- keys of our own ---------------------------------------------------------------------------------------------

OWN = "SUREFOOT_TEST_KEY"


class Forgetful(Keyring):
    """Takes a password and keeps none, as the null backend does."""

    def set_password(self, service, username, password):
        return None


class ReadOnly(Keyring):
    def set_password(self, service, username, password):
        raise keyring.errors.PasswordSetError("no")


class Broken(Keyring):
    def set_password(self, service, username, password):
        raise OSError("no bus")


def test_an_own_key_is_made_once_and_kept_in_the_keyring(use_keyring, isolated):
    """Where there is a usable one; no file is written."""
    entries = {}
    use_keyring(Keyring(entries))
    key = own_key(OWN)
    assert key.source == "keyring"
    assert len(key.reveal()) == OWN_BYTES
    assert own_key(OWN).reveal() == key.reveal()
    assert own_key(OWN).id == key.id
    assert list(entries) == [("surefoot", OWN)]
    assert not (isolated / "config" / "keys" / OWN).exists()


@pytest.mark.parametrize("backend", [Forgetful, ReadOnly, Broken, Locked])
def test_without_a_usable_keyring_it_is_a_file_for_its_owner_only(use_keyring, isolated, backend):
    """A keyring that forgets, refuses or breaks is none."""
    use_keyring(backend({}))
    key = own_key(OWN)
    path = isolated / "config" / "keys" / OWN
    assert key.source == "file"
    assert path.stat().st_mode & 0o777 == 0o600
    assert own_key(OWN).reveal() == key.reveal()
    assert sorted(one.name for one in path.parent.iterdir() if not one.name.endswith(".lock")) == [OWN]


def test_a_keyring_that_was_locked_leaves_two_keys_and_both_are_found(use_keyring):
    """The file's is made meanwhile; what either encrypted can be read."""
    entries = {}
    use_keyring(Keyring(entries))
    first = own_key(OWN)
    use_keyring(Locked(entries))
    second = own_key(OWN)
    assert second.id != first.id
    use_keyring(Keyring(entries))
    assert [one.id for one in own_keys(OWN)] == [first.id, second.id]
    assert own_key(OWN).id == first.id


def test_processes_that_ask_at_once_get_the_same_key(isolated):
    """Four processes, one key, nothing left beside it."""
    script = f"from surefoot.models.keys import own_key; print(own_key({OWN!r}).id)"
    asked = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(4)]
    told = {process.communicate(timeout=60)[0] for process in asked}
    assert len(told) == 1
    assert told.pop().strip().decode() == own_key(OWN).id


@pytest.mark.parametrize("text", ["short", "c2hvcnQ=", "!" * 44, "A" * 44 + "\nB", "ключ" * 11])
def test_a_damaged_own_key_is_told_and_not_replaced(key_file, text):
    """What it encrypted may still be read with a backup, so nothing is written over it."""
    path = key_file(OWN, text)
    with pytest.raises(SettingsError, match="damaged") as caught:
        own_key(OWN)
    assert path.read_text("utf-8") == text
    assert text not in str(caught.value.to_dict())


def test_a_damaged_own_key_in_the_keyring_names_the_entry(use_keyring):
    """Where to look for it."""
    use_keyring(Keyring({("surefoot", OWN): "short"}))
    with pytest.raises(SettingsError, match=f"service surefoot, name {OWN}"):
        own_key(OWN)


def test_an_own_key_file_that_others_may_read_is_refused(key_file):
    """As for every key file."""
    key_file(OWN, "x", 0o644)
    with pytest.raises(SettingsError, match="0644"):
        own_key(OWN)


def test_a_folder_that_cannot_be_written_is_told(isolated):
    """A file stands where the folder should be."""
    (isolated / "config").mkdir()
    (isolated / "config" / "keys").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        own_key(OWN)


def test_a_maker_that_never_ends_is_told(monkeypatch, isolated):
    """Its lock is waited for a while, no longer."""
    from filelock import FileLock

    monkeypatch.setattr(keys, "_LOCK_SECONDS", 0.05)
    folder = isolated / "config" / "keys"
    folder.mkdir(parents=True)
    with FileLock(folder / f".{OWN}.lock"), pytest.raises(SettingsError, match="Another process"):
        own_key(OWN)


def test_another_process_was_faster(monkeypatch, use_keyring):
    """What stands there once the lock is had is taken."""
    entries = {}
    use_keyring(Keyring(entries))
    looks = []

    def look(name):
        if looks:
            entries["surefoot", OWN] = base64.b64encode(bytes(32)).decode()
        looks.append(name)
        return entries.get(("surefoot", name), "")

    monkeypatch.setattr(keys, "_from_keyring", look)
    assert own_key(OWN).reveal() == bytes(32)


def test_an_own_key_is_never_shown():
    """repr, str and pickle tell its name and id; its text is masked."""
    key = own_key(OWN)
    text = base64.b64encode(key.reveal()).decode()
    for shown in (repr(key), str(key), repr([key])):
        assert key.id in shown
        assert text not in shown
        assert repr(key.reveal())[2:-1] not in shown
    with pytest.raises(MisuseError):
        pickle.dumps(key)
    assert text not in redact(f"it is {text}")
    assert OWN in own_key_places(OWN)
