"""Rows of the kits: notes, tasks, calendar, and which row a call meant by a name.

A migration names its tables itself and imports none: what it makes must not change when the code's tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.String(32)
TIME = sa.String(27)
DATE = sa.String(40)


def upgrade() -> None:
    """Make the kits' tables."""
    op.create_table(
        "notes",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
    )
    op.create_index("ix_notes_title", "notes", ["title"])
    op.create_table(
        "tasks",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("due", DATE),
        sa.Column("due_at", TIME),
        sa.Column("status", sa.String(16), nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
    )
    op.create_index("ix_tasks_title", "tasks", ["title"])
    op.create_index("ix_tasks_due", "tasks", ["due"])
    _calendar()
    op.create_table(
        "kit_targets",
        sa.Column("run", ID, nullable=False),
        sa.Column("call", sa.String(255), nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("row", ID, nullable=False),
        sa.PrimaryKeyConstraint("run", "call", "reference", name="pk_kit_targets"),
    )


def _calendar() -> None:
    op.create_table(
        "calendar_events",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("start", DATE, nullable=False),
        sa.Column("start_at", TIME),
        sa.Column("end", DATE),
        sa.Column("end_at", TIME),
        sa.Column("place", sa.Text, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_calendar_events"),
    )
    op.create_index("ix_calendar_events_title", "calendar_events", ["title"])
    op.create_index("ix_calendar_events_start", "calendar_events", ["start"])


def _common() -> list[sa.Column[object]]:
    return [
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
    ]
