"""Everything the kits keep, for tests that compare it before a run and after its undo."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from surefoot import Assistant
from surefoot.tools.kits.tables import articles as article_rows
from surefoot.tools.kits.tables import calendar_events, quiz_questions, tasks
from surefoot.tools.kits.tables import notes as note_rows
from surefoot.tools.kits.tables import quizzes as quiz_rows
from surefoot.tools.types import Actor

TABLES = (note_rows, tasks, calendar_events, quiz_rows, quiz_questions, article_rows)
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PERSON = Actor("person", "ann")


async def rows(ours: Assistant) -> bytes:
    """Every row of the kits, ordered by key, as canonical JSON."""
    journal = await ours.journal()

    def read(tx: Any) -> bytes:
        found = {
            table.name: [dict(row) for row in tx.execute(table.select().order_by(table.c.id)).mappings()]
            for table in TABLES
        }
        return json.dumps(found, sort_keys=True, ensure_ascii=False).encode()

    return await journal.transact(read)
