"""What a GGUF file says of itself, read from its header without loading it."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

from surefoot.errors import ModelFileError
from surefoot.models.families import ModelFacts

MAGIC = b"GGUF"
VERSIONS = (2, 3)
"""Little-endian layouts with 64-bit counts; version 1 has not been written since 2023."""
MAX_KEYS = 10_000
"""More keys than any model has: a damaged header."""

_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING, _ARRAY = 8, 9
_KEPT = ("general.architecture", "general.name", "general.basename", "tokenizer.chat_template")


def read_facts(path: Path) -> ModelFacts:
    """Architecture, name, chat template and trained context length of a GGUF file.

    Raises:
        ModelFileError: the file is missing, is no GGUF, or its header is damaged.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _Header(data).keys()
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"The model file {path} cannot be read: {error}.", "Check the path.", path=str(path)
        ) from error
    except (struct.error, IndexError, UnicodeDecodeError, _DamagedError) as error:
        raise ModelFileError(
            f"{path} is no GGUF model file, or its header is damaged ({error}).",
            "Fetch it again, or give the path of a GGUF file.",
            path=str(path),
        ) from error
    architecture = str(found.get("general.architecture", ""))
    return ModelFacts(
        architecture=architecture,
        name=str(found.get("general.name") or found.get("general.basename") or ""),
        chat_template=str(found.get("tokenizer.chat_template", "")),
        context_length=int(found.get(f"{architecture}.context_length", 0)),
    )


class _DamagedError(Exception):
    """The header is not what the format says."""


class _Header:
    """Walks over the keys and values of a header, keeping the few that matter."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def keys(self) -> dict[str, Any]:
        """The kept keys with their values."""
        if self._data[:4] != MAGIC:
            raise _DamagedError(f"it begins with {self._data[:4]!r}")
        self._at = 4
        version = self._number("<I")
        if version not in VERSIONS:
            raise _DamagedError(f"version {version}")
        self._number("<Q")  # tensors
        count = self._number("<Q")
        if count > MAX_KEYS:
            raise _DamagedError(f"{count} keys")
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self._text()
            value = self._value(self._number("<I"))
            if key in _KEPT or key.endswith(".context_length"):
                found[key] = value
        return found

    def _number(self, layout: str) -> Any:
        (value,) = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return value

    def _text(self) -> str:
        length = self._number("<Q")
        if length > len(self._data) - self._at:
            raise _DamagedError(f"a text of {length} bytes")
        text = self._data[self._at : self._at + length].decode()
        self._at += length
        return text

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            return self._skip_array()
        if kind not in _SCALARS:
            raise _DamagedError(f"a value of type {kind}")
        return self._number(_SCALARS[kind])

    def _skip_array(self) -> None:
        kind, count = self._number("<I"), self._number("<Q")
        if count > len(self._data):
            raise _DamagedError(f"a list of {count} items")
        if kind in _SCALARS:
            self._at += count * struct.calcsize(_SCALARS[kind])
            return
        if kind != _STRING:
            raise _DamagedError(f"a list of type {kind}")
        unpack, data, at = struct.Struct("<Q").unpack_from, self._data, self._at
        for _ in range(count):  # the vocabulary: 150,000 texts, so no call for each
            at += 8 + unpack(data, at)[0]
        self._at = at
