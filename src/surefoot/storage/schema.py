"""The one `MetaData`. A room defines its tables on it, and a migration that makes the same tables."""

from __future__ import annotations

from sqlalchemy import MetaData

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Constraints have names that a later migration can say; without them SQLite and PostgreSQL invent different ones."""

metadata = MetaData(naming_convention=NAMES)
