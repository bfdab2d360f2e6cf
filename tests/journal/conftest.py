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


@pytest.fixture(scope="session")
def migrated(tmp_path_factory):
    """A new database, migrated once: a copy of it opens in a millisecond."""
    path = tmp_path_factory.mktemp("migrated") / "journal.db"
    Database(path).close()
    return path


@pytest.fixture
def database_path(tmp_path, migrated):
    """The path of an empty, migrated database."""
    return shutil.copy(migrated, tmp_path / "journal.db")


@pytest.fixture(params=["sql", "memory", "memory with a database"])
async def journal(request, database_path, clock):
    """Each journal in turn, with a clock of the test's own."""
    if request.param == "memory":
        opened = MemoryJournal(clock=clock)
        yield opened
        await opened.close()
        return
    with Database(database_path) as database:
        opened = (SqlJournal if request.param == "sql" else MemoryJournal)(database, clock=clock)
        yield opened
        await opened.close()
        await opened.close()
