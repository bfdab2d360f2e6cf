"""Bring a database to the newest schema when it is opened, once, whoever opens it first.

The fast path is one SELECT: Alembic is imported only when there is something to do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import StorageError
from surefoot.storage.failures import DAMAGED, failure, translated

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from surefoot.storage.place import Place

MIGRATIONS = Path(__file__).with_name("migrations")
LOCK_SECONDS = 120.0
"""A migration of a large database may take a minute; a process that waits longer for another's says so."""

VERSIONS = "alembic_version"
"""Alembic's own table."""

_VERSION_FILE = re.compile(r"(\d{4})_\w+\.py")


def known_versions() -> list[str]:
    """The schema versions this code knows, oldest first: the numbers that the migration files' names start with."""
    names = (_VERSION_FILE.fullmatch(path.name) for path in (MIGRATIONS / "versions").iterdir())
    return sorted(match.group(1) for match in names if match)


def bring_up_to_date(place: Place, readers: Engine) -> None:
    """Migrate the database unless it is up to date.

    Raises:
        StorageError: it is of a newer version, no database of ours, or another process has migrated it for too long.
    """
    known = known_versions()
    if version_in(place, readers) == known[-1]:
        return
    with place.migration_lock(LOCK_SECONDS):
        found = version_in(place, readers)
        if found != known[-1]:
            _refuse_unknown(place, found, known)
            _migrate(place)


def look_at(place: Place) -> str:
    """The version in the database, empty for a new one; nothing is made or changed.

    Raises:
        StorageError: it cannot be opened, or is no database of ours.
    """
    with translated(place):
        place.make_ready()
        readers = place.reader_engine()
        try:
            return version_in(place, readers)
        finally:
            readers.dispose()


def version_in(place: Place, readers: Engine) -> str:
    """The version in the database; empty for a new one."""
    tables, version = place.look(readers)
    if not tables:
        return ""
    if VERSIONS not in tables:
        raise StorageError(
            f"{place.name} is the database of another program: it has the table {min(tables)!r}.",
            "Name another database, or set SUREFOOT_DATA_DIR for another file.",
            reason="foreign",
            path=place.name,
        )
    if not version:  # both are written in one transaction
        raise failure(DAMAGED, place.name, "it has tables and no schema version")
    return version


def _refuse_unknown(place: Place, found: str, known: list[str]) -> None:
    if not found or found in known:
        return
    raise StorageError(
        f"{place.name} has schema version {found}; this version of Surefoot knows versions up to {known[-1]}.",
        "Install the newer Surefoot that wrote it, or set SUREFOOT_DATA_DIR to another folder.",
        reason="newer",
        path=place.name,
        found=found,
        known=known[-1],
    )


def _migrate(place: Place) -> None:
    engine = place.migration_engine()
    try:
        with engine.connect() as connection, connection.begin():
            run_migrations(connection, "head")
            place.check_migrated(connection)
    finally:
        engine.dispose()


def run_migrations(connection: Connection, target: str) -> None:
    """Run Alembic up to `target` (a version, or `head`) inside the open transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, target)
