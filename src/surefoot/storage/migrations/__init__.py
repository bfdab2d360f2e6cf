"""Alembic's scripts: one numbered file for each schema version."""
