"""A tiny real model, loaded where a test wants one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.tiny_gguf import write_tiny
from surefoot.models.local import LocalModel
from surefoot.settings import Settings


def tiny_settings(folder: Path, **more: Any) -> Settings:
    """Small context, one thread, everything inside `folder`."""
    return Settings(
        **{"cache_dir": folder, "num_ctx": 16384, "threads": 1, "local_timeout_sec": 60.0, **more}
    )


def tiny_model(folder: Path, *, tiny: dict[str, Any] | None = None, **more: Any) -> LocalModel:
    """The model, not loaded yet."""
    path = folder / "tiny.gguf"
    if not path.exists():
        write_tiny(path, **(tiny or {}))
    return LocalModel(path, tiny_settings(folder, **more), name="local:tiny")
