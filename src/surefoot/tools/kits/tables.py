"""The kits' own rows, in the journal's database.

Every row carries who wrote it last (`actor`), how often it was written (`version`) and whether it was deleted: a
deleted row stays as a tombstone. Dates are text: `2026-05-03` for a day, which belongs to no zone, and an ISO time with
its offset for a moment; `*_at` is the same moment in UTC, for comparing, and null for a day.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, String, Table, Text

from surefoot.storage.schema import ID, TIME, kept, metadata

notes = Table(
    "notes",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("tags", Text, nullable=False),  # JSON list, in the order they were given
    *kept(),
    Index("ix_notes_title", "title"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("due", String(40)),
    Column("due_at", TIME),
    Column("status", String(16), nullable=False),
    *kept(),
    Index("ix_tasks_title", "title"),
    Index("ix_tasks_due", "due"),
)

calendar_events = Table(
    "calendar_events",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("start", String(40), nullable=False),
    Column("start_at", TIME),
    Column("end", String(40)),
    Column("end_at", TIME),
    Column("place", Text, nullable=False),
    *kept(),
    Index("ix_calendar_events_title", "title"),
    Index("ix_calendar_events_start", "start"),
)

quizzes = Table(
    "quizzes",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("topic", Text, nullable=False),
    *kept(),
    Index("ix_quizzes_title", "title"),
)

quiz_questions = Table(
    "quiz_questions",
    metadata,
    Column("id", ID, primary_key=True),
    Column("quiz", ID, nullable=False),
    Column("position", Integer, nullable=False),  # in the order they were added; never given twice in a quiz
    Column("question", Text, nullable=False),
    Column("answers", Text, nullable=False),  # JSON list
    Column("correct", Integer, nullable=False),  # place of the right answer, from 0
    Column("explanation", Text, nullable=False),
    *kept(),
    Index("ix_quiz_questions_quiz_position", "quiz", "position"),
)
"""No foreign key leads to the quiz: an undo sets rows one by one, in whatever order, and checks nothing of the rest."""

articles = Table(
    "articles",
    metadata,
    Column("id", ID, primary_key=True),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("published", String(40)),
    Column("published_at", TIME),
    *kept(),
    Index("ix_articles_title", "title"),
    Index("ix_articles_url", "url"),
)

kit_targets = Table(
    "kit_targets",
    metadata,
    Column("run", ID, primary_key=True),
    Column("call", String(255), primary_key=True),
    Column("reference", Text, primary_key=True),
    Column("row", ID, nullable=False),
)
"""Which row a call meant by a name. A rename or a later row of the same name must not change what an undo looks at."""
