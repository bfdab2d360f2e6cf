"""The one `MetaData`, and what columns have in common.

A room defines its tables with them, and a migration that makes the same tables.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, String, Text

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Constraints have names that a later migration can say; without them SQLite and PostgreSQL invent different ones."""

metadata = MetaData(naming_convention=NAMES)

ID = String(32)
TIME = String(27)
"""`2026-11-30T18:30:00.000000Z`: it sorts as it reads, in any database."""
WORD = String(32)
"""One of a few words: a status, a kind."""


def kept() -> list[Column[object]]:
    """Columns of rows that people keep: who wrote it last, how often it was written, when, and whether it is gone.

    A row that is deleted stays as a tombstone.
    """
    return [
        Column("version", Integer, nullable=False),
        Column("actor", Text, nullable=False),
        Column("created_at", TIME, nullable=False),
        Column("updated_at", TIME, nullable=False),
        Column("deleted", Boolean, nullable=False),
    ]
