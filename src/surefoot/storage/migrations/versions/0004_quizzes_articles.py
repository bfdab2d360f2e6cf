"""Rows of two more kits: quizzes with their questions, saved articles.

A migration names its tables itself and imports none: what it makes must not change when the code's tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.String(32)
TIME = sa.String(27)
DATE = sa.String(40)


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "quizzes",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_quizzes"),
    )
    op.create_index("ix_quizzes_title", "quizzes", ["title"])
    op.create_table(
        "quiz_questions",
        sa.Column("id", ID, nullable=False),
        sa.Column("quiz", ID, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answers", sa.Text, nullable=False),
        sa.Column("correct", sa.Integer, nullable=False),
        sa.Column("explanation", sa.Text, nullable=False),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_quiz_questions"),
    )
    op.create_index("ix_quiz_questions_quiz_position", "quiz_questions", ["quiz", "position"])
    _articles()


def _articles() -> None:
    op.create_table(
        "articles",
        sa.Column("id", ID, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("published", DATE),
        sa.Column("published_at", TIME),
        *_common(),
        sa.PrimaryKeyConstraint("id", name="pk_articles"),
    )
    op.create_index("ix_articles_title", "articles", ["title"])
    op.create_index("ix_articles_url", "articles", ["url"])


def _common() -> list[sa.Column[object]]:
    return [
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("deleted", sa.Boolean, nullable=False),
    ]
