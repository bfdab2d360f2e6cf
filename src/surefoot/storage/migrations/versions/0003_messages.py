"""Messages of model calls: what was new in each, and every body once.

A migration names its tables itself and imports none: what it makes must not change when the code's tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ID = sa.String(32)
HASH = sa.String(64)


def upgrade() -> None:
    """Make the two tables. Runs of before keep their answers, and have no messages."""
    op.create_table(
        "message_bodies",
        sa.Column("hash", HASH, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_message_bodies"),
    )
    op.create_table(
        "run_messages",
        sa.Column("run", ID, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("hash", HASH, nullable=False),
        sa.PrimaryKeyConstraint("run", "key", "position", name="pk_run_messages"),
        sa.ForeignKeyConstraint(
            ["run", "key"], ["model_calls.run", "model_calls.key"], name="fk_run_messages_run_key_model_calls"
        ),
        sa.ForeignKeyConstraint(
            ["hash"], ["message_bodies.hash"], name="fk_run_messages_hash_message_bodies"
        ),
    )
