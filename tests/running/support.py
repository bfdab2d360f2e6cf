"""What the tests of running share: a session on a real journal, and a shelf whose changes can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from surefoot.journal import SqlJournal
from surefoot.journal.owner import current_owner
from surefoot.journal.types import Journal, RunStatus
from surefoot.running import lifecycle
from surefoot.running.budget import Budget, Limits
from surefoot.running.session import Session
from surefoot.settings import Settings, load_settings
from surefoot.storage import Database
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Actor, Context, Effect, Tool, Undo, Where

NOW = datetime(2026, 4, 27, 9, 0, tzinfo=UTC)


def open_journal(folder: Path) -> SqlJournal:
    """A journal in a file of this folder."""
    return SqlJournal(Database(folder / "journal.db"))


async def new_session(
    journal: Journal,
    tools: Sequence[Tool],
    *,
    limits: Limits = Limits(),
    policy: dict[str, Any] | None = None,
    settings: Settings | None = None,
    goal: str = "test",
    context: dict[str, Any] | None = None,
) -> Session:
    """A running run and its session."""
    run = lifecycle.new_run(
        goal,
        kind="ask",
        actor=Actor(),
        now=NOW,
        zone="UTC",
        language="en",
        owner=current_owner(),
        extra=context,
    )
    run = await journal.create_run(run.with_(status=RunStatus.RUNNING))
    return Session(
        run=run,
        journal=journal,
        catalogue=Catalogue(tools),
        settings=settings or load_settings(),
        budget=Budget(limits),
        policy=policy or {},
    )


async def again(session: Session) -> Session:
    """The same run in the hands of another process: what it knows is what the journal says."""
    taken = Session(
        run=await session.journal.run(session.run.id),
        journal=session.journal,
        catalogue=session.catalogue,
        settings=session.settings,
        budget=Budget(session.budget.limits),
        policy=session.policy,
    )
    await taken.load()
    return taken


class Shelf:
    """Values under names, changed by a `write` that can be taken back. `made` lists every call that really happened."""

    def __init__(self, where: Where = "thread") -> None:
        self.values: dict[str, Any] = {}
        self.made: list[tuple[str, Any]] = []
        self.where = where

    def tool(self, *, fail_after: Callable[[], None] | None = None) -> Tool:
        """put(name, value)."""

        def put(name: str, value: str) -> dict[str, Any]:
            self.made.append((name, value))
            self.values[name] = value
            if fail_after:
                fail_after()
            return {"name": name, "value": value}

        async def put_on_loop(name: str, value: str) -> dict[str, Any]:
            return put(name, value)

        def capture(ctx: Context, arguments: dict[str, Any]) -> Any:
            return {"value": self.values.get(arguments["name"])}

        def restore(ctx: Context, arguments: dict[str, Any], image: Any) -> None:
            if image["value"] is None:
                self.values.pop(arguments["name"], None)
            else:
                self.values[arguments["name"]] = image["value"]

        async def capture_on_loop(ctx: Context, arguments: dict[str, Any]) -> Any:
            return capture(ctx, arguments)

        async def restore_on_loop(ctx: Context, arguments: dict[str, Any], image: Any) -> None:
            restore(ctx, arguments, image)

        on_loop = self.where == "loop"
        undo = Undo(capture_on_loop, restore_on_loop) if on_loop else Undo(capture, restore)
        return Tool(
            "put",
            "Put a value on the shelf.",
            TWO_TEXTS,
            Effect.WRITE,
            put_on_loop if on_loop else put,
            undo=undo,
            where=self.where,
        )


TWO_TEXTS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
    "required": ["name", "value"],
}


def plain_tool(name: str, fn: Callable[..., Any], effect: Effect = Effect.READ, **extra: Any) -> Tool:
    """A tool with one optional text argument `q`."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    return Tool(name, f"{name}.", schema, effect, fn, **extra)
