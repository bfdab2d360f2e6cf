from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .harness import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A fresh database with the kits."""
    opened = Bench(tmp_path)
    yield opened
    opened.close()
