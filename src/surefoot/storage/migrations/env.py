"""Alembic's entry: the connection, already in a transaction, comes from `surefoot.storage.upgrade`."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # Both databases take table definitions back with the transaction: a migration is made whole or not at all.
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
