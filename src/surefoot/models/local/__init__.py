"""The embedded model: llama.cpp in this process, shared with the person's other processes.

llama.cpp's own server, which opens on a random loopback port with a random key, is the one way in for this process and
for others: so a call streams, stops and is counted the same way wherever it comes from, and the event loop never waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.models.local.adapter import LocalModel
    from surefoot.settings import Settings

__all__ = ["LocalModel", "open_local"]


def open_local(model: str, settings: Settings) -> LocalModel:
    """The model `model`: a name of the pinned table, or the path of a GGUF file. Nothing is loaded yet.

    Raises:
        ModelNotFoundError: neither a known name nor a file.
        ModelFileError: a known name whose weights are not here.
    """
    from surefoot.models import weights
    from surefoot.models.local.adapter import LocalModel

    return LocalModel(weights.require(model, settings), settings, name=f"local:{model}")


def __getattr__(name: str) -> Any:
    if name != "LocalModel":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from surefoot.models.local.adapter import LocalModel

    return LocalModel
