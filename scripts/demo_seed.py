"""Puts a few tasks into the demo's own folder, through the executor that every request goes through."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from surefoot import Actor, SqlJournal, load_settings
from surefoot.journal.owner import current_owner
from surefoot.journal.types import RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.session import Session
from surefoot.storage import Database
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

TASKS = {
    "Renew the library card": "1 May",
    "Dentist check-up": "4 May",
    "Water the plants at the office": "5 May",
    "File the tax return": "28 May",
}


async def main() -> None:
    """Add the tasks in one run; it asks no model, and leaves no conversation that one could read."""
    settings = load_settings()
    journal = SqlJournal(Database(settings.database))
    run = lifecycle.new_run(
        "The tasks you begin with",
        kind="ask",
        actor=Actor("person", "me"),
        now=datetime.now(UTC),
        zone=settings.zone_name,
        language="en",
        owner=current_owner(),
    )
    run = await journal.create_run(run.with_(status=RunStatus.RUNNING))
    session = Session(run, journal, Catalogue(builtin(["tasks"])), settings, Budget(NO_LIMITS))
    executor = Executor(session)
    for number, (title, due) in enumerate(TASKS.items(), start=1):
        outcome = await executor.call(CallRequest(f"step.{number}", "addTask", {"title": title, "due": due}))
        if not outcome.ok:
            raise SystemExit(f"The demo's task {title!r} could not be added: {outcome.as_data()}")
    await session.rest(RunStatus.DONE)
    await journal.close()


asyncio.run(main())
