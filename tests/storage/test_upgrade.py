"""Opening brings a database to the newest schema, once, whoever comes first."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Integer, Text

import surefoot.flows.vault
import surefoot.journal.tables
import surefoot.missions.tables
import surefoot.storage.memories
from surefoot.errors import StorageError
from surefoot.storage import Database, metadata, sqlite, upgrade
from surefoot.tools.kits import tables as kit_tables

NEEDED = [
    surefoot.flows.vault.facts,
    surefoot.journal.tables.runs,
    surefoot.missions.tables.missions,
    surefoot.storage.memories.memories,
    kit_tables,
]
"""Importing a room's tables registers them; every room with tables is imported here."""


def _version(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()
    finally:
        connection.close()


def _is_ours(_object, name, kind, _reflected, _compared):
    """The full-text index is the migration's own: no MetaData can hold a virtual table and its shadows."""
    return not (kind == "table" and name.startswith(sqlite.FTS_TABLE))


def test_the_migrations_make_exactly_the_tables_of_the_code(tmp_path):
    """Types, defaults, indexes, keys: a table changed without a migration, or the reverse, shows here."""
    with Database(tmp_path / "kept.db") as database:
        differences = database.read_sync(
            lambda tx: compare_metadata(
                MigrationContext.configure(tx, opts={"compare_type": True, "include_object": _is_ours}),
                metadata,
            )
        )
    assert differences == []


def test_the_comparison_would_see_a_difference(tmp_path):
    """The test above can fail: a column more in the code is found."""
    extra = Column("extra", Text)
    with Database(tmp_path / "kept.db") as database:
        from sqlalchemy import MetaData

        copy = MetaData(naming_convention=metadata.naming_convention)
        for table in metadata.tables.values():
            table.to_metadata(copy)
        copy.tables["runs"].append_column(extra)
        differences = database.read_sync(
            lambda tx: compare_metadata(
                MigrationContext.configure(tx, opts={"include_object": _is_ours}), copy
            )
        )
    assert [(one[0], one[3].name) for one in differences] == [("add_column", "extra")]


def test_constraints_have_the_names_of_the_convention(tmp_path):
    """A migration and the code name every key and index alike, so that a later migration can change it."""
    from sqlalchemy import inspect

    with Database(tmp_path / "kept.db") as database:

        def names(tx):
            found = inspect(tx)
            return {
                table: {
                    "pk": found.get_pk_constraint(table)["name"],
                    "fk": {one["name"] for one in found.get_foreign_keys(table)},
                    "uq": {one["name"] for one in found.get_unique_constraints(table)},
                    "ix": {one["name"] for one in found.get_indexes(table)},
                }
                for table in metadata.tables
            }

        found = database.read_sync(names)
    for name, table in metadata.tables.items():
        kinds = {type(one).__name__ for one in table.constraints}
        assert found[name]["pk"] == f"pk_{name}", kinds
        for kind in ("fk", "uq", "ix"):
            assert all(one.startswith(f"{kind}_{name}_") for one in found[name][kind])


def test_numbers_of_files_are_the_revisions_in_one_line():
    """The fast path reads file names: each must be its revision, each revision must follow the one before."""
    config = Config()
    config.set_main_option("script_location", str(upgrade.MIGRATIONS))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    known = upgrade.known_versions()
    line = list(reversed(list(scripts.walk_revisions())))
    assert [one.revision for one in line] == known
    assert [one.down_revision for one in line] == [None, *known[:-1]]
    assert all(Path(one.path).name.startswith(f"{one.revision}_") for one in line)
    assert scripts.get_heads() == [known[-1]]


def test_an_up_to_date_database_opens_without_alembic(tmp_path):
    """The fast path is one look: neither Alembic nor the lock file is touched, in a fresh process."""
    path = tmp_path / "kept.db"
    Database(path).close()
    Path(f"{path}.lock").unlink(missing_ok=True)
    script = (
        "import sys; from surefoot.storage import Database\n"
        "Database(sys.argv[1]).close()\n"
        "print([name for name in sys.modules if name.split('.')[0] in {'alembic', 'filelock', 'mako'}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    assert not Path(f"{path}.lock").exists()


def test_importing_the_room_imports_nothing_heavy():
    """`surefoot --help` imports rooms: SQLAlchemy comes only when a database is opened."""
    script = "import sys, surefoot.storage, surefoot.journal; print('sqlalchemy' in sys.modules, 'alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_many_processes_open_a_new_database_at_once(tmp_path):
    """Whoever comes first migrates, the others wait for it; all can write, and the schema is made once."""
    path = tmp_path / "kept.db"
    script = (
        "import sys; from surefoot.storage import Database\n"
        "sys.stdin.readline()\n"
        "with Database(sys.argv[1]) as database:\n"
        "    database.write_sync(lambda tx: tx.exec_driver_sql('INSERT INTO messages (dialogue, run, data, at) '\n"
        "        'VALUES (1, 1, 1, 1)'))\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, said = child.communicate(timeout=120)
        assert (child.returncode, said) == (0, "")
    assert _version(path) == [(upgrade.known_versions()[-1],)]
    with Database(path) as database:
        assert (
            database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM messages").scalar()) == 4
        )


@pytest.mark.parametrize("found", ["9999", "0123", "abcd"])
def test_a_database_of_a_newer_version_is_refused(tmp_path, found):
    """The numbers of both are in the error, and the file is left as it is."""
    path = tmp_path / "kept.db"
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = ?", (found,))
    connection.commit()
    connection.close()
    known = upgrade.known_versions()[-1]
    with pytest.raises(StorageError, match=rf"{found}.*{known}") as raised:
        Database(path)
    assert raised.value.details["reason"] == "newer"
    assert raised.value.next_move
    assert _version(path) == [(found,)]


def test_an_older_database_keeps_its_rows(tmp_path):
    """Each version in turn, from the first: rows written then are there after the upgrade, and found by the index."""
    path = tmp_path / "kept.db"
    engine = sqlite.migration_engine(path, 1)
    with engine.connect() as connection, connection.begin():
        upgrade.run_migrations(connection, "0001")
    engine.dispose()
    old = sqlite3.connect(path)
    old.execute(
        "INSERT INTO memories (id, kind, text, words, run, actor, version, at, undone) "
        "VALUES ('m', 'fact', 'Anna likes tea', 'anna likes tea', '', 'agent:x', 1, '2026', 0)"
    )
    old.execute(
        "INSERT INTO runs VALUES (1, 'r', 'goal', 'ask', 'done', 'agent:x', '{}', '', '', '', 0, '', NULL, '', '', 1, '')"
    )
    old.commit()
    old.close()
    assert _version(path) == [("0001",)]
    with Database(path) as database:
        found = database.read_sync(lambda tx: surefoot.storage.memories.search(tx, "tea", 5))
        goals = database.read_sync(lambda tx: tx.exec_driver_sql("SELECT goal FROM runs").scalars().all())
    assert [row.id for row in found] == ["m"]
    assert goals == ["goal"]
    assert _version(path) == [(upgrade.known_versions()[-1],)]


def test_a_migration_that_fails_leaves_the_old_database(tmp_path, monkeypatch):
    """A migration is made whole or not at all; the next start tries again."""
    path = tmp_path / "kept.db"

    def fails(connection, target):
        upgrade_as_it_is(connection, "0001")
        raise OSError(28, "no space left")

    upgrade_as_it_is = upgrade.run_migrations
    monkeypatch.setattr(upgrade, "run_migrations", fails)
    with pytest.raises(StorageError, match="full"):
        Database(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()
    monkeypatch.undo()
    Database(path).close()
    assert _version(path) == [(upgrade.known_versions()[-1],)]


def test_a_migration_that_breaks_references_is_not_made(tmp_path, monkeypatch):
    """Foreign keys rest while tables are rebuilt, so they are looked at before the commit."""
    path = tmp_path / "kept.db"
    upgrade_as_it_is = upgrade.run_migrations

    def breaks(connection, target):
        upgrade_as_it_is(connection, target)
        connection.exec_driver_sql("INSERT INTO events VALUES ('nobody', 1, 'x', '{}', '')")

    monkeypatch.setattr(upgrade, "run_migrations", breaks)
    with pytest.raises(StorageError, match="damaged") as raised:
        Database(path)
    assert "events" in raised.value.details["said"]


def test_waiting_for_a_migration_ends(tmp_path, monkeypatch):
    """Another process that never ends its migration is named as the cause."""
    from filelock import FileLock

    monkeypatch.setattr(upgrade, "LOCK_SECONDS", 0.05)
    path = tmp_path / "kept.db"
    with FileLock(f"{path}.lock"), pytest.raises(StorageError, match="locked"):
        Database(path)


def test_no_table_is_for_one_database_only():
    """Every table compiles for PostgreSQL too, with portable types and no SQLite option."""
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateTable

    for table in metadata.sorted_tables:
        text = str(CreateTable(table).compile(dialect=postgresql.dialect()))
        assert re.search(r"CREATE TABLE", text)
        assert not any(key.startswith("sqlite") for key in table.kwargs)
        number = table.columns.get("number")
        assert number is None or isinstance(number.type, Integer)


@pytest.mark.parametrize(
    "change", ["DELETE FROM alembic_version", "UPDATE alembic_version SET version_num = ''"]
)
def test_a_database_that_lost_its_version_is_damaged(tmp_path, change):
    """It is no new one: making the tables again would fail, or worse."""
    path = tmp_path / "kept.db"
    Database(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(change)
    raw.close()
    with pytest.raises(StorageError, match="damaged") as raised:
        Database(path)
    assert raised.value.details["reason"] == "damaged"


@pytest.mark.parametrize("change", ["DROP TABLE notes", "ALTER TABLE notes RENAME COLUMN title TO name"])
async def test_a_table_that_something_else_took_away_is_damage(tmp_path, change):
    """Not our own fault, and never an SQL statement on the screen."""
    path = tmp_path / "kept.db"
    Database(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(change)
    raw.close()
    with Database(path) as database:
        statement = "SELECT title FROM notes"
        with pytest.raises(StorageError, match="damaged"):
            await database.read(lambda tx: tx.exec_driver_sql(statement).fetchall())
