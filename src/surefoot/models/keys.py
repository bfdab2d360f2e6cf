"""Keys of providers: the only module that reads the environment's key variables, the keyring and key files.

A key is looked for by its name, in this order: the environment variable of that name; the system's keyring, service
`surefoot`; the file `keys/NAME` in the config folder, which only its owner may read. Settings hold the name, never the
key. Keys of our own, which encrypt what is kept here, are made by `own_key` and lie in the keyring or in such a file.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

from surefoot import redaction
from surefoot.errors import MisuseError, ProviderAuthError, SettingsError
from surefoot.settings import config_folder

SERVICE = "surefoot"
"""The keyring's service that our entries belong to."""

Source = Literal["environment", "keyring", "file"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_SECRET = re.compile(r"(^|_)(API_?KEY|ACCESS_?KEY|SECRET_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
"""Environment variables that hold secrets, by the names that providers and clouds give them."""
_LONG = 12
"""Characters: what such a variable holds is masked from this length on; shorter values are words or placeholders."""

_MAX_FILES = 100
"""Key files that are looked into; nobody has as many providers."""

_MAX_BYTES = 16_384
"""No provider's key is longer; a larger file is something else."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that shows itself only to `reveal`: not in `repr`, not in `str`, not in a pickle."""

    name: str
    source: Source
    _value: str = field(repr=False)

    def reveal(self) -> str:
        """The key itself. Each time it is registered with redaction, for the context that asks may be a new one."""
        redaction.register(self._value)
        return self._value

    def __str__(self) -> str:
        return f"key {self.name} from the {self.source}"

    def __reduce__(self) -> NoReturn:
        raise MisuseError(f"The {self} is not written anywhere.", "Pass its name and look it up again.")


def mask_environment(*names: str) -> None:
    """Mask the secrets around us from now on: variables of these names, those whose names say what they are, key files.

    A person types or pastes them, and tools read them, before any model that has such a key is opened. The keyring is
    not asked: it may want a password for that, so its keys are masked from the moment one of them is needed.
    """
    values = {os.environ.get(name, "").strip() for name in names}
    values |= {
        value.strip()
        for name, value in os.environ.items()
        if _SECRET.search(name) and len(value.strip()) >= _LONG
    }
    redaction.register(*values, *_in_files())


def _in_files() -> set[str]:
    """What stands in the key files; one that cannot be read holds nothing that could get anywhere from here."""
    folder = _file("x").parent
    try:
        names = sorted(path.name for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except OSError:
        return set()
    values = set()
    for name in names[:_MAX_FILES]:
        with contextlib.suppress(SettingsError):
            values.add(_from_file(name).strip())
    return values - {""}


def find_key(name: str) -> Key | None:
    """The key of this name, or None where there is none.

    Raises:
        SettingsError: the name cannot be one, or a key file may be read by others.
        ProviderAuthError: the key found cannot be sent: it has a line break or another control character in it.
    """
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} is no name of a key.",
            "Use letters, digits and underscores, like OPENAI_API_KEY; the setting holds the name and not the key.",
        )
    looked: tuple[tuple[Source, str], ...] = (
        ("environment", os.environ.get(name, "")),
        ("keyring", _from_keyring(name)),
        ("file", _from_file(name)),
    )
    for source, text in looked:
        value = text.strip()
        if value:
            redaction.register(value)
            _check_sendable(name, source, value)
            return Key(name, source, value)
    return None


def need_key(name: str, provider: str) -> Key:
    """The key of this name.

    Raises:
        ProviderAuthError: there is none; the message names the three places for it.
    """
    key = find_key(name)
    if key is None:
        raise ProviderAuthError(
            f"{provider} needs a key, and there is none named {name}.",
            f"Set the environment variable {name}, or run `keyring set {SERVICE} {name}`, "
            f"or write it to {_file(name)} with the permissions 0600.",
            key_name=name,
        )
    return key


# --- keys of our own -----------------------------------------------------------------------------------------

OWN_BYTES = 32
"""Of a key for AES-256."""
_ID_CHARS = 16
"""Of a key's id: 64 bits keep the few keys of a person apart, and say nothing of the key."""
_LOCK_SECONDS = 30.0
"""Making a key takes milliseconds; a keyring may ask the person for a password meanwhile."""


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key that was made here. It shows its id, and itself only to `reveal`."""

    name: str
    source: Source
    id: str
    _value: bytes = field(repr=False)

    def reveal(self) -> bytes:
        """The key itself, `OWN_BYTES` long."""
        redaction.register(_written(self._value))
        return self._value

    def __str__(self) -> str:
        return f"key {self.name} ({self.id}) from the {self.source}"

    def __reduce__(self) -> NoReturn:
        raise MisuseError(f"The {self} is not written anywhere.", "Pass its name and look it up again.")


def own_key(name: str) -> OwnKey:
    """The key of our own of this name, made when there is none: in the keyring, else in a file only its owner may read.

    Processes that ask at the same time get the same one.

    Raises:
        SettingsError: a key of that name is damaged, may be read by others, or cannot be written.
    """
    return next(iter(own_keys(name)), None) or _make_own(name)


def own_keys(name: str) -> list[OwnKey]:
    """Those that are there, the keyring's first. There may be two: a keyring that was locked once left one in a file.

    Raises:
        SettingsError: one is damaged, or its file may be read by others.
    """
    looked: tuple[tuple[Source, str], ...] = (("keyring", _from_keyring(name)), ("file", _from_file(name)))
    return [_own(name, source, text.strip()) for source, text in looked if text.strip()]


def own_key_places(name: str) -> str:
    """Where such a key is looked for, in words."""
    return f"the system's keyring (service {SERVICE}, name {name}) and {_file(name)}"


def _own(name: str, source: Source, text: str) -> OwnKey:
    import binascii
    import hashlib

    redaction.register(text)
    try:
        value = binascii.a2b_base64(text.encode(), strict_mode=True)
    except ValueError:
        value = b""
    if len(value) != OWN_BYTES:
        where = str(_file(name)) if source == "file" else f"service {SERVICE}, name {name}"
        raise SettingsError(
            f"The key {name} in the {source} is damaged ({where}).",
            "Put its backup in its place. Without one, move it away: what it encrypted must then be set again.",
            key_name=name,
        )
    return OwnKey(name, source, hashlib.sha256(b"surefoot key id\0" + value).hexdigest()[:_ID_CHARS], value)


def _written(value: bytes) -> str:
    import binascii

    return binascii.b2a_base64(value, newline=False).decode()


def _make_own(name: str) -> OwnKey:
    import secrets

    from filelock import FileLock, Timeout

    path = _file(name)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{name}.lock"), timeout=_LOCK_SECONDS):
            there = own_keys(name)  # another process was faster
            if there:
                return there[0]
            text = _written(secrets.token_bytes(OWN_BYTES))
            redaction.register(text)
            if _to_keyring(name, text):
                return _own(name, "keyring", text)
            _to_file(path, text)
            return _own(name, "file", text)
    except Timeout as error:
        raise SettingsError(
            f"Another process has been making the key {name} for {_LOCK_SECONDS:.0f} seconds.",
            "Wait for it or end it; a keyring may be asking for its password.",
        ) from error
    except OSError as error:
        raise SettingsError(
            f"The key file {path} cannot be written: {error.strerror}.",
            "Allow writing to its folder, or set SUREFOOT_CONFIG_DIR.",
            file=str(path),
        ) from error


def _to_keyring(name: str, text: str) -> bool:
    """It is kept there.

    A keyring that takes a password and forgets it, as the null backend does, is none. One that cannot be read now is
    left alone: it may hold an older key, and what that one encrypted would be lost.
    """
    import keyring
    import keyring.errors

    if _asked_keyring(name) is None:
        return False
    try:
        keyring.set_password(SERVICE, name, text)
    except (keyring.errors.KeyringError, OSError):
        return False
    return _from_keyring(name) == text


def _to_file(path: Path, text: str) -> None:
    """Whole or not at all: a process that is killed leaves no half of a key."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    half.replace(path)


# --- the places ----------------------------------------------------------------------------------------------


def _from_keyring(name: str) -> str:
    return _asked_keyring(name) or ""


def _asked_keyring(name: str) -> str | None:
    """What it holds, empty for nothing; None where there is no keyring on this machine, or it is locked."""
    import keyring
    import keyring.errors

    try:
        return keyring.get_password(SERVICE, name) or ""
    except (keyring.errors.KeyringError, OSError):
        return None


def _file(name: str) -> Path:
    return config_folder() / "keys" / name


def _from_file(name: str) -> str:
    path = _file(name)
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        )  # a pipe would wait for a writer
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise SettingsError(
            f"The key file {path} cannot be read: {error.strerror}.", file=str(path)
        ) from error
    try:
        _check_private(os.fstat(descriptor), path)
        return os.read(descriptor, _MAX_BYTES).decode("utf-8", "replace")
    finally:
        os.close(descriptor)


def _check_private(status: os.stat_result, path: Path) -> None:
    """Checked on the open file, so that it cannot be exchanged between the check and the reading."""
    if not stat.S_ISREG(status.st_mode):
        raise SettingsError(
            f"The key file {path} is no regular file.", "Replace it by a plain file.", file=str(path)
        )
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            f"The key file {path} may be read by others: its permissions are {stat.S_IMODE(status.st_mode):04o}.",
            f"Run: chmod 600 {path}",
            file=str(path),
        )


def _check_sendable(name: str, source: Source, value: str) -> None:
    if not (value.isascii() and value.isprintable()):
        raise ProviderAuthError(
            f"The key {name} from the {source} has a line break or another character in it that no key has.",
            "Copy it again, without line breaks.",
            key_name=name,
        )
