"""The tables of missions. Times and JSON are text, as in the journal's tables.

Rows of missions and agents are like the kits': version, actor, times, and a tombstone in place of a deletion.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from surefoot.storage.schema import ID, TIME, WORD, kept, metadata

ZONE = String(64)
KEY = String(255)

agents = Table(
    "agents",
    metadata,
    Column("id", ID, primary_key=True),
    Column("name", Text, nullable=False),
    Column("persona", Text, nullable=False),
    Column("memory", Boolean, nullable=False),
    Column("policy", Text, nullable=False),
    Column("daily_tokens", BigInteger),
    Column("daily_cost", Float),
    Column("concurrency", Integer, nullable=False),
    Column("state", WORD, nullable=False),
    *kept(),
)

missions = Table(
    "missions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("goal", Text, nullable=False),
    Column("concept", Text, nullable=False),
    Column("inputs", Text, nullable=False),
    Column("kits", Text, nullable=False),
    Column("cadence", Text, nullable=False),
    Column("zone", ZONE, nullable=False),
    Column("state", WORD, nullable=False, index=True),
    Column("limits", Text, nullable=False),
    Column("agent", ID, nullable=False, index=True),
    *kept(),
)

executions = Table(
    "executions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("mission", ID, ForeignKey("missions.id"), nullable=False),
    Column("agent", ID, nullable=False),
    Column("occurrence", KEY, nullable=False),
    Column("number", Integer, nullable=False),
    Column("status", WORD, nullable=False, index=True),
    Column("phase", WORD, nullable=False),
    Column("summary", Text, nullable=False),
    Column("calls", Text, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("error", Text),
    Column("owner", Text, nullable=False),
    Column("started_at", TIME, nullable=False),
    Column("ended_at", TIME),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Float, nullable=False),
    Column("version", Integer, nullable=False),
    Column("actor", Text, nullable=False),
    UniqueConstraint("mission", "occurrence"),
    UniqueConstraint("mission", "number"),
)
"""`agent` is who ran it, also when the mission has another one by now; `owner` is the process that began it."""

Index(None, executions.c.agent, executions.c.started_at)

feedback = Table(
    "feedback",
    metadata,
    Column("id", ID, primary_key=True),
    Column("mission", ID, ForeignKey("missions.id"), nullable=False, index=True),
    Column("execution", ID, nullable=False),
    Column("text", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", TIME, nullable=False),
)
"""`execution` is empty for what is said of the mission as a whole."""
