"""Both journals, one suite."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from surefoot.journal import MemoryJournal, SqlJournal
from surefoot.storage import Database


class Clock:
    """A clock that tests set. It moves on by itself, so that no two entries are of one moment."""

    def __init__(self):
        self.now = datetime(2026, 11, 30, 18, 30, tzinfo=UTC)

    def __call__(self):
        self.now += timedelta(microseconds=1)
        return self.now

    def forward(self, seconds):
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database_path(tmp_path, migrated):
    """The path of an empty, migrated database."""
    return shutil.copy(migrated, tmp_path / "journal.db")


@pytest.fixture(params=["sql", "postgresql", "memory", "memory with a database"])
async def journal(request, clock):
    """Each journal in turn, on each kind of database, with a clock of the test's own."""
    if request.param == "memory":
        opened = MemoryJournal(clock=clock)
        yield opened
        await opened.close()
        return
    kind = "postgres_url" if request.param == "postgresql" else "database_path"
    with Database(request.getfixturevalue(kind)) as database:
        opened = (MemoryJournal if "memory" in request.param else SqlJournal)(database, clock=clock)
        yield opened
        await opened.close()
        await opened.close()
