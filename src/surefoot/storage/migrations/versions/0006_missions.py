"""Agents, missions, their executions, and what people said of them.

A migration names its tables itself and imports none: what it makes must not change when the code's tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.String(32)
TIME = sa.String(27)
WORD = sa.String(32)


def upgrade() -> None:
    """Make the four tables."""
    _agents()
    _missions()
    _executions()
    op.create_table(
        "feedback",
        sa.Column("id", ID, nullable=False),
        sa.Column("mission", ID, nullable=False),
        sa.Column("execution", ID, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.ForeignKeyConstraint(["mission"], ["missions.id"], name="fk_feedback_mission_missions"),
    )
    op.create_index("ix_feedback_mission", "feedback", ["mission"])


def _agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("persona", sa.Text, nullable=False),
        sa.Column("memory", sa.Boolean, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("daily_tokens", sa.BigInteger),
        sa.Column("daily_cost", sa.Float),
        sa.Column("concurrency", sa.Integer, nullable=False),
        sa.Column("state", WORD, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
    )


def _missions() -> None:
    op.create_table(
        "missions",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("concept", sa.Text, nullable=False),
        sa.Column("inputs", sa.Text, nullable=False),
        sa.Column("kits", sa.Text, nullable=False),
        sa.Column("cadence", sa.Text, nullable=False),
        sa.Column("zone", sa.String(64), nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("limits", sa.Text, nullable=False),
        sa.Column("agent", ID, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_missions"),
    )
    op.create_index("ix_missions_state", "missions", ["state"])
    op.create_index("ix_missions_agent", "missions", ["agent"])


def _executions() -> None:
    op.create_table(
        "executions",
        sa.Column("id", ID, nullable=False),
        sa.Column("mission", ID, nullable=False),
        sa.Column("agent", ID, nullable=False),
        sa.Column("occurrence", sa.String(255), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("phase", WORD, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("calls", sa.Text, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Float, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_executions"),
        sa.ForeignKeyConstraint(["mission"], ["missions.id"], name="fk_executions_mission_missions"),
        sa.UniqueConstraint("mission", "occurrence", name="uq_executions_mission_occurrence"),
        sa.UniqueConstraint("mission", "number", name="uq_executions_mission_number"),
    )
    op.create_index("ix_executions_status", "executions", ["status"])
    op.create_index("ix_executions_agent_started_at", "executions", ["agent", "started_at"])


def _common() -> list[sa.Column[object]]:
    return [
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
    ]
