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
from surefoot.storage.place import place_of
from surefoot.tools.kits import tables as kit_tables

NEEDED = [
    surefoot.flows.vault.facts,
    surefoot.journal.tables.runs,
    surefoot.missions.tables.missions,
    surefoot.storage.memories.memories,
    kit_tables,
]
"""Importing a room's tables registers them; every room with tables is imported here."""


def _change(place, *statements):
    """Change a database behind its back."""
    if "://" in str(place):
        import psycopg

        with psycopg.connect(place, autocommit=True) as connection:
            for one in statements:
                connection.execute(one)
        return
    connection = sqlite3.connect(place)
    for one in statements:
        connection.execute(one)
    connection.commit()
    connection.close()


def _version(place):
    if "://" in str(place):
        import psycopg

        with psycopg.connect(place) as connection:
            return connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection = sqlite3.connect(place)
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


def test_many_processes_open_a_new_database_at_once(new_place):
    """Whoever comes first migrates, the others wait for it; all can write, and the schema is made once."""
    script = (
        "import sys; from surefoot.storage import Database\n"
        "sys.stdin.readline()\n"
        "with Database(sys.argv[1]) as database:\n"
        "    one = \"INSERT INTO messages (dialogue, run, data, at) VALUES ('d', 'r', 'x', 't')\"\n"
        "    database.write_sync(lambda tx: tx.exec_driver_sql(one))\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, new_place],
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
    assert _version(new_place) == [(upgrade.known_versions()[-1],)]
    with Database(new_place) as database:
        assert (
            database.read_sync(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM messages").scalar()) == 4
        )


@pytest.mark.parametrize("found", ["9999", "0123", "abcd"])
def test_a_database_of_a_newer_version_is_refused(place, found):
    """The numbers of both are in the error, and the database is left as it is."""
    _change(place, f"UPDATE alembic_version SET version_num = '{found}'")
    known = upgrade.known_versions()[-1]
    with pytest.raises(StorageError, match=rf"{found}.*{known}") as raised:
        Database(place)
    assert raised.value.details["reason"] == "newer"
    assert raised.value.next_move
    assert _version(place) == [(found,)]


def test_looking_at_a_database_makes_nothing(new_place):
    """Its version, and empty where it is not made yet."""
    there = place_of(new_place, 1)
    assert upgrade.look_at(there) == ""
    assert upgrade.look_at(there) == ""
    Database(new_place).close()
    assert upgrade.look_at(there) == upgrade.known_versions()[-1]


def test_an_older_database_keeps_its_rows(new_place):
    """Each version in turn, from the first: rows written then are there after the upgrade, and found by the index."""
    there = place_of(new_place, 1)
    there.make_ready()
    engine = there.migration_engine()
    with engine.connect() as connection, connection.begin():
        upgrade.run_migrations(connection, "0001")
    engine.dispose()
    no = "false" if "://" in new_place else "0"
    _change(
        new_place,
        "INSERT INTO memories (id, kind, text, words, run, actor, version, at, undone) "
        f"VALUES ('m', 'fact', 'Anna likes tea', 'anna likes tea', '', 'agent:x', 1, '2026', {no})",
        f"INSERT INTO runs VALUES (1, 'r', 'goal', 'ask', 'done', 'agent:x', '{{}}', '', '', '', {no}, '', NULL, '', "
        "'', 1, '')",
    )
    assert _version(new_place) == [("0001",)]
    with Database(new_place) as database:
        found = database.read_sync(lambda tx: surefoot.storage.memories.search(tx, "tea", 5))
        goals = database.read_sync(lambda tx: tx.exec_driver_sql("SELECT goal FROM runs").scalars().all())
    assert [row.id for row in found] == ["m"]
    assert goals == ["goal"]
    assert _version(new_place) == [(upgrade.known_versions()[-1],)]


def test_a_migration_that_fails_leaves_the_old_database(new_place, monkeypatch):
    """A migration is made whole or not at all; the next start tries again."""

    def fails(connection, target):
        upgrade_as_it_is(connection, "0001")
        raise OSError(28, "no space left")

    upgrade_as_it_is = upgrade.run_migrations
    monkeypatch.setattr(upgrade, "run_migrations", fails)
    with pytest.raises(StorageError, match="full"):
        Database(new_place)
    assert upgrade.look_at(place_of(new_place, 1)) == ""
    monkeypatch.undo()
    Database(new_place).close()
    assert _version(new_place) == [(upgrade.known_versions()[-1],)]


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


def test_waiting_for_a_migration_ends(new_place, monkeypatch):
    """Another process that never ends its migration is named as the cause."""
    monkeypatch.setattr(upgrade, "LOCK_SECONDS", 0.05)
    there = place_of(new_place, 1)
    there.make_ready()
    with there.migration_lock(1), pytest.raises(StorageError, match="Another program") as raised:
        Database(new_place)
    assert raised.value.details["reason"] == "locked"
    Database(new_place).close()


def test_the_database_of_another_program_is_refused(new_place):
    """Tables and no version of ours: nothing is made beside them."""
    _change(new_place, "CREATE TABLE customers (name TEXT)")
    with pytest.raises(StorageError, match="customers") as raised:
        Database(new_place)
    assert raised.value.details["reason"] == "foreign"
    with pytest.raises(StorageError, match="customers"):
        Database(new_place)


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
def test_a_database_that_lost_its_version_is_damaged(place, change):
    """It is no new one: making the tables again would fail, or worse."""
    _change(place, change)
    with pytest.raises(StorageError, match="damaged") as raised:
        Database(place)
    assert raised.value.details["reason"] == "damaged"


@pytest.mark.parametrize("change", ["DROP TABLE notes", "ALTER TABLE notes RENAME COLUMN title TO name"])
async def test_a_table_that_something_else_took_away_is_damage(place, change):
    """Not our own fault, and never an SQL statement on the screen."""
    _change(place, change)
    with Database(place) as database:
        statement = "SELECT title FROM notes"
        with pytest.raises(StorageError, match="damaged") as raised:
            await database.read(lambda tx: tx.exec_driver_sql(statement).fetchall())
        assert "SELECT" not in str(raised.value)
