"""Runs, calls, model calls, events, messages, memories.

A migration names its tables itself and imports none: what it makes must not change when the code's tables do.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.String(32)
TIME = sa.String(27)
WORD = sa.String(32)


def upgrade() -> None:
    """Make the first tables."""
    _runs()
    _calls()
    _model_calls()
    _events()
    _messages()
    _memories()
    if op.get_bind().dialect.name == "sqlite":
        _memories_index()
    else:
        _memories_lexemes()


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("goal", sa.Text, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("incomplete", sa.Boolean, nullable=False),
        sa.Column("stopped_by", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("parent", ID, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("heartbeat", TIME, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
        sa.UniqueConstraint("id", name="uq_runs_id"),
    )
    op.create_index("ix_runs_status", "runs", ["status"])
    op.create_index("ix_runs_parent", "runs", ["parent"])


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("run", ID, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("effect", WORD, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("undo_version", sa.Integer, nullable=False),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("started_at", TIME),
        sa.Column("finished_at", TIME),
        sa.Column("undone_by", ID, nullable=False),
        sa.PrimaryKeyConstraint("run", "key", name="pk_calls"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_calls_run_runs"),
        sa.UniqueConstraint("run", "ordinal", name="uq_calls_run_ordinal"),
    )


def _model_calls() -> None:
    op.create_table(
        "model_calls",
        sa.Column("run", ID, nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("completion", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("run", "key", name="pk_model_calls"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_model_calls_run_runs"),
        sa.UniqueConstraint("run", "ordinal", name="uq_model_calls_run_ordinal"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("run", ID, nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("type", WORD, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("run", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_events_run_runs"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("dialogue", sa.String(64), nullable=False),
        sa.Column("run", ID, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_messages"),
    )
    op.create_index("ix_messages_dialogue_number", "messages", ["dialogue", "number"])


def _memories() -> None:
    op.create_table(
        "memories",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("run", ID, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("undone", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_memories"),
        sa.UniqueConstraint("id", name="uq_memories_id"),
    )
    op.create_index("ix_memories_run", "memories", ["run"])


def _memories_index() -> None:
    """The index reads `words`, which `storage.words` has split already: letters, digits and signs all count."""
    op.execute(
        "CREATE VIRTUAL TABLE memories_fts USING fts5(words, content='memories', content_rowid='number', "
        "tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'\")"
    )
    old = "INSERT INTO memories_fts(memories_fts, rowid, words) VALUES ('delete', old.number, old.words);"
    new = "INSERT INTO memories_fts(rowid, words) VALUES (new.number, new.words);"
    op.execute(f"CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN {new} END")
    op.execute(f"CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories BEGIN {old} END")
    op.execute(f"CREATE TRIGGER memories_fts_update AFTER UPDATE OF words ON memories BEGIN {old} {new} END")


def _memories_lexemes() -> None:
    """The same on PostgreSQL: its own parser would split `words` anew, by the locale of the database.

    Lexemes have 2,046 bytes at most and a vector has 1 MB: long words are cut to 500 characters, which rank by their
    whole text later, and the index ends 200,000 characters into a text.
    """
    op.execute(
        "CREATE FUNCTION surefoot_lexemes(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS "
        "$$ SELECT array_to_tsvector(ARRAY(SELECT left(one, 500) FROM "
        "unnest(string_to_array(left(words, 200000), ' ')) AS one WHERE one <> '')) $$"
    )
    op.execute("CREATE INDEX ix_memories_lexemes ON memories USING gin (surefoot_lexemes(words))")
