"""The journal's tables.

Times are text, `2026-11-30T18:30:00.000000Z`: it sorts as it reads, in any database, and a person who opens the file
can read it. JSON is text too, with sorted keys: two equal values are equal bytes.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from surefoot.storage.schema import ID, TIME, WORD, metadata

HASH = String(64)
"""A SHA-256 in hex."""

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", ID, nullable=False, unique=True),
    Column("goal", Text, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("status", WORD, nullable=False, index=True),
    Column("actor", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("created_at", TIME, nullable=False),
    Column("updated_at", TIME, nullable=False),
    Column("reply", Text, nullable=False),
    Column("incomplete", Boolean, nullable=False),
    Column("stopped_by", Text, nullable=False),
    Column("error", Text),
    Column("parent", ID, nullable=False, index=True),
    Column("owner", Text, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("heartbeat", TIME, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("run", ID, ForeignKey("runs.id"), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("id", ID, nullable=False),
    Column("tool", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    Column("effect", WORD, nullable=False),
    Column("actor", Text, nullable=False),
    Column("status", WORD, nullable=False),
    Column("step", Integer, nullable=False),
    Column("undo_version", Integer, nullable=False),
    Column("before", Text),
    Column("after", Text),
    Column("result", Text),
    Column("error", Text),
    Column("started_at", TIME),
    Column("finished_at", TIME),
    Column("undone_by", ID, nullable=False),
    UniqueConstraint("run", "ordinal"),
)

model_calls = Table(
    "model_calls",
    metadata,
    Column("run", ID, ForeignKey("runs.id"), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("completion", Text, nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("run", "ordinal"),
)

events = Table(
    "events",
    metadata,
    Column("run", ID, ForeignKey("runs.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("type", WORD, nullable=False),
    Column("data", Text, nullable=False),
    Column("at", TIME, nullable=False),
)

messages = Table(
    "messages",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("dialogue", String(64), nullable=False),
    Column("run", ID, nullable=False),
    Column("data", Text, nullable=False),
    Column("at", TIME, nullable=False),
    Index(None, "dialogue", "number"),
)

message_bodies = Table(
    "message_bodies",
    metadata,
    Column("hash", HASH, primary_key=True),
    Column("body", Text, nullable=False),
)
"""Messages of model calls by the hash of their canonical JSON: a system prompt is kept once, whoever sends it again.
A body that nothing names any more may stay."""

run_messages = Table(
    "run_messages",
    metadata,
    Column("run", ID, primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("hash", HASH, ForeignKey("message_bodies.hash"), nullable=False),
    ForeignKeyConstraint(["run", "key"], ["model_calls.run", "model_calls.key"]),
)
"""What was new in each model call, in order. The answers stand in `model_calls`."""
