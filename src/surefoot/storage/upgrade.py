"""Bring a database to the newest schema when it is opened, once, whoever opens it first.

The fast path is one SELECT: Alembic is imported only when there is something to do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import StorageError
from surefoot.storage import sqlite
from surefoot.storage.failures import DAMAGED, LOCKED, failure

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

MIGRATIONS = Path(__file__).with_name("migrations")
LOCK_SECONDS = 120.0
"""A migration of a large database may take a minute; a process that waits longer for another's says so."""

_VERSION_FILE = re.compile(r"(\d{4})_\w+\.py")


def known_versions() -> list[str]:
    """The schema versions this code knows, oldest first: the numbers that the migration files' names start with."""
    names = (_VERSION_FILE.fullmatch(path.name) for path in (MIGRATIONS / "versions").iterdir())
    return sorted(match.group(1) for match in names if match)


def bring_up_to_date(path: Path, readers: Engine, busy_seconds: float) -> None:
    """Migrate the database at `path` unless it is up to date.

    Raises:
        StorageError: it is of a newer version, no database of ours, or another process has migrated it for too long.
    """
    known = known_versions()
    if _found(readers, path) == known[-1]:
        return
    from filelock import FileLock, Timeout

    try:
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            found = _found(readers, path)
            if found != known[-1]:
                _refuse_unknown(path, found, known)
                _migrate(path, busy_seconds)
    except Timeout as error:
        raise failure(LOCKED, path, "another process is migrating it") from error


def _found(readers: Engine, path: Path) -> str:
    """The version in the database; empty for a new one."""
    if path.stat().st_size == 0 and not path.with_name(f"{path.name}-wal").exists():
        return ""
    with readers.connect() as connection:
        tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {row[0] for row in tables}
        if not names:
            return ""
        if "alembic_version" not in names:
            raise StorageError(
                f"{path} is the database of another program: it has the table {min(names)!r}.",
                "Name another file, or set SUREFOOT_DATA_DIR.",
                reason="foreign",
                path=str(path),
            )
        row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").fetchone()
    if row is None or not row[0]:  # both are written in one transaction
        raise failure(DAMAGED, path, "it has tables and no schema version")
    return str(row[0])


def _refuse_unknown(path: Path, found: str, known: list[str]) -> None:
    if not found or found in known:
        return
    raise StorageError(
        f"{path} has schema version {found}; this version of Surefoot knows versions up to {known[-1]}.",
        "Install the newer Surefoot that wrote it, or set SUREFOOT_DATA_DIR to another folder.",
        reason="newer",
        path=str(path),
        found=found,
        known=known[-1],
    )


def _migrate(path: Path, busy_seconds: float) -> None:
    engine = sqlite.migration_engine(path, busy_seconds)
    try:
        with engine.connect() as connection, connection.begin():
            run_migrations(connection, "head")
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchone()
            if broken is not None:
                raise failure(DAMAGED, path, f"rows of {broken[0]!r} refer to nothing")
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
