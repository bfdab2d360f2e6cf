"""Undo and redo as runs of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surefoot.errors import StateError, SurefootError
from surefoot.events import EventType
from surefoot.journal.owner import current_owner
from surefoot.journal.types import Call, Journal, Run, RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.session import Session
from surefoot.running.undo import Undoer, UndoReport, calls_to_undo, check_may_undo, undo_catalogue
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor

PERSON = Actor("person", "me")


@dataclass
class Undoing:
    """Takes runs back, and undos of runs."""

    journal: Journal
    catalogue: Catalogue
    settings: Settings
    services: Mapping[str, Any]
    clock: Callable[[], datetime]
    language: str

    async def find(self, name: str) -> Run:
        """The run that is meant; `last` is the last one that was asked for, not an undo."""
        await self.journal.release_dead()
        if name != "last":
            return await self.journal.find_run(name)
        runs = await self.journal.runs(limit=1, kind="ask")
        return runs[0] if runs else await self.journal.find_run(name)

    async def preview(self, target: Run, *, force: bool, only: int | None) -> UndoReport:
        """What an undo would do; nothing is changed."""
        check_may_undo(target)
        calls = calls_to_undo(await self.journal.calls(target.id), only)
        session = self._session(self._new("undo", target))
        return UndoReport(target, await Undoer(session, force=force).preview(calls))

    async def undo(self, target: Run, *, force: bool, only: int | None) -> UndoReport:
        """Take the run back, or one call of it."""
        check_may_undo(target)
        calls = calls_to_undo(await self.journal.calls(target.id), only)
        return await self._start("undo", target, calls, force=force, only=only)

    async def redo(self, target: Run, *, force: bool) -> UndoReport:
        """Take back what undos of this run took back."""
        undone = target if target.kind == "undo" else None
        runs = [undone] if undone else await self.journal.runs(kind="undo", parent=target.id, limit=1000)
        calls: list[Call] = []
        for run in runs:
            calls += [call for call in await self.journal.calls(run.id) if call.undoable]
        if not calls:
            raise StateError(
                f"Nothing of run {target.id} is undone.", "There is nothing to do again.", run=target.id
            )
        return await self._start("redo", target, calls_to_undo(calls), force=force, only=None)

    async def go_on(self, session: Session) -> UndoReport:
        """Finish an undo that was interrupted."""
        run = session.run
        target = await self.journal.run(run.parent)
        calls = [call for ref in run.context["calls"] if (call := await self.journal.call(*ref)) is not None]
        session.catalogue = undo_catalogue(self.catalogue)
        session.budget = Budget(NO_LIMITS)
        return await self._take(session, target, calls, force=run.context["force"])

    # --- the run of an undo ----------------------------------------------------------------------------------

    def _new(self, kind: str, target: Run, extra: Mapping[str, Any] | None = None) -> Run:
        return lifecycle.new_run(
            f"{kind} {target.id}",
            kind=kind,
            actor=PERSON,
            now=self.clock(),
            zone=self.settings.zone_name,
            language=self.language,
            owner=current_owner(),
            parent=target.id,
            extra=extra,
        )

    def _session(self, run: Run) -> Session:
        return Session(
            run=run,
            journal=self.journal,
            catalogue=undo_catalogue(self.catalogue),
            settings=self.settings,
            budget=Budget(NO_LIMITS),
            services=self.services,
        )

    async def _start(
        self, kind: str, target: Run, calls: list[Call], *, force: bool, only: int | None
    ) -> UndoReport:
        extra = {"calls": [[call.run, call.key] for call in calls], "force": force, "only": only}
        run = self._new(kind, target, extra).with_(status=RunStatus.RUNNING)
        events = [(EventType.RUN_CREATED, {"goal": run.goal, "kind": kind})]
        session = self._session(await self.journal.create_run(run, events))
        return await self._take(session, target, calls, force=force)

    async def _take(self, session: Session, target: Run, calls: list[Call], *, force: bool) -> UndoReport:
        try:
            items = await Undoer(session, force=force).run(calls)
            report = UndoReport(target, items, session.run)
            if session.run.context["only"] is None:
                await self.journal.mark_memories(target.id, undone=session.run.kind == "undo")
            await session.rest(RunStatus.DONE, incomplete=not report.complete)
        except asyncio.CancelledError:
            await asyncio.shield(session.rest(RunStatus.INTERRUPTED))
            raise
        except SurefootError as error:
            await session.rest(RunStatus.FAILED, error=error.to_dict())
            raise
        return UndoReport(target, items, session.run)
