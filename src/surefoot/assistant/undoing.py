"""Undo and redo as runs of their own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surefoot.errors import StateError, StorageError, SurefootError
from surefoot.events import EventType
from surefoot.journal.owner import current_owner
from surefoot.journal.types import FINAL, Call, Journal, Run, RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import NO_LIMITS, Budget
from surefoot.running.session import Session
from surefoot.running.undo import Undoer, UndoReport, calls_to_undo, check_may_undo, undo_catalogue
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor

PERSON = Actor("person", "me")

ASKED = ("ask", "mission")
"""Kinds of runs that are no undo of another."""


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
        """The run that is meant; `last` is the last one that did something itself, not an undo."""
        await self.journal.release_dead()
        if name != "last":
            return await self.journal.find_run(name)
        runs = [run for kind in ASKED for run in await self.journal.runs(limit=1, kind=kind)]
        newest = max(runs, key=lambda run: run.created_at or self.clock(), default=None)
        return newest or await self.journal.find_run(name)

    async def preview(self, target: Run, *, force: bool, only: int | None) -> UndoReport:
        """What an undo would do; nothing is changed."""
        check_may_undo(target)
        calls = calls_to_undo(await self.journal.calls(target.id), only)
        session = self._session(self._new("undo", target))
        return UndoReport(target, await Undoer(session, force=force).preview(calls))

    async def undo(self, target: Run, *, force: bool, only: int | None) -> UndoReport:
        """Take the run back, or one call of it. A run that is taken back as a whole does not go on afterwards.

        Taking back an undo is a redo, and the other way round.
        """
        check_may_undo(target)
        if only is None and target.status not in FINAL:
            target = await lifecycle.cancel(self.journal, target, current_owner())
        calls = calls_to_undo(await self.journal.calls(target.id), only)
        kind = "redo" if target.kind == "undo" else "undo"
        return await self._start(kind, target, calls, force=force, only=only)

    async def redo(self, target: Run, *, force: bool) -> UndoReport:
        """Take back what undos of this run took back."""
        check_may_undo(target)
        root = await self._root(target)
        undone = target if target.kind == "undo" else None
        runs = [undone] if undone else await self.journal.runs(kind="undo", parent=root.id, limit=1000)
        calls: list[Call] = []
        for run in runs:
            calls += [call for call in await self.journal.calls(run.id) if call.undoable]
        if not calls:
            raise StateError(
                f"Nothing of run {target.id} is undone.", "There is nothing to do again.", run=target.id
            )
        return await self._start("redo", target, calls_to_undo(calls), force=force, only=None)

    async def go_on(self, session: Session, begin: Callable[[Session], None]) -> UndoReport:
        """Finish an undo that was interrupted."""
        run = session.run
        session.catalogue = undo_catalogue(self.catalogue)
        session.budget = Budget(NO_LIMITS)

        async def load() -> list[Call]:
            await session.load()
            await session.set(status=RunStatus.RUNNING)
            begin(session)
            return [
                call for ref in run.context["calls"] if (call := await self.journal.call(*ref)) is not None
            ]

        return await self._take(session, await self.journal.run(run.parent), load, force=run.context["force"])

    async def _root(self, run: Run) -> Run:
        """The run that a person asked for, from an undo or a redo of it."""
        while run.parent:
            run = await self.journal.run(run.parent)
        return run

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
        run = self._new(kind, await self._root(target), extra).with_(status=RunStatus.RUNNING)
        events = [(EventType.RUN_CREATED, {"goal": run.goal, "kind": kind})]

        async def given() -> list[Call]:
            return calls

        with lifecycle.working_on(run.id):
            session = self._session(await lifecycle.settled(self.journal.create_run(run, events)))
            session.told(events)
            return await self._take(session, target, given, force=force)

    async def _take(
        self, session: Session, target: Run, calls: Callable[[], Awaitable[list[Call]]], *, force: bool
    ) -> UndoReport:
        try:
            items = await Undoer(session, force=force).run(await calls())
            report = UndoReport(target, items, session.run)
            if session.run.context["only"] is None:
                await self.journal.mark_memories(session.run.parent, undone=session.run.kind == "undo")
            await session.rest(RunStatus.DONE, incomplete=not report.complete)
        except asyncio.CancelledError:
            await asyncio.shield(session.rest(RunStatus.INTERRUPTED))
            raise
        except Exception as error:
            # Whatever it was, running it again finishes it.
            cause = (
                error
                if isinstance(error, SurefootError)
                else SurefootError(f"A fault of Surefoot: {error!r}")
            )
            status = RunStatus.INTERRUPTED if isinstance(error, StorageError) else RunStatus.FAILED
            with contextlib.suppress(StorageError):
                await session.rest(status, error=cause.to_dict())
            raise
        return UndoReport(target, items, session.run)
