"""Runs kit tools as the executor does, without one: the image, the call and the image in one transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.settings import Settings
from surefoot.storage import Database, metadata
from surefoot.tools import Catalogue, Tool, kits, prepare
from surefoot.tools.types import Actor, Context

NOW = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)
"""A Monday; 18:30 in Berlin."""
ZONE = "Europe/Berlin"
TABLES = ("notes", "tasks", "calendar_events", "memories", "quizzes", "quiz_questions", "articles")


def context(folder: Path, call: str = "step.1", run: str = "r1", **changes: Any) -> Context:
    """The context of one call of a person in Berlin."""
    settings = changes.pop("settings", None) or Settings(data_dir=folder, files_dir=folder / "files")
    made = Context(run, call, Actor(), NOW, ZONE, "en", settings)
    return replace(made, **changes)


@dataclass(frozen=True)
class Done:
    """What became of one call."""

    tool: Tool
    ctx: Context
    arguments: dict[str, Any]
    result: Any
    error: SurefootError | None
    before: Any
    after: Any


class Bench:
    """A database, the database kits, and a counter that gives every call its own key."""

    def __init__(self, folder: Path, place: str = "") -> None:
        self.folder = folder
        self.db = Database(place or folder / "kits.db")
        self.catalogue = Catalogue(
            kits.builtin(["notes", "tasks", "calendar", "memory", "quizzes", "articles"])
        )
        self._calls = 0

    def call(self, name: str, arguments: dict[str, Any] | None = None, /, **more: Any) -> Done:
        """Call a tool; `run`, `now`, `zone`, `language`, `actor` are of the context, the rest are arguments."""
        self._calls += 1
        own = {key: more.pop(key) for key in ("run", "now", "zone", "language", "actor") if key in more}
        tool = self.catalogue.resolve(name)
        prepared, _ = prepare(tool, {**(arguments or {}), **more})
        ctx = context(self.folder, f"step.{self._calls}", **own)

        def before(tx: Any) -> Any:
            return self._image(tool, replace(ctx, tx=tx), prepared)

        def body(tx: Any) -> Done:
            inside = replace(ctx, tx=tx)
            first = self._image(tool, inside, prepared)
            result = tool.invoke(inside, prepared)
            json.dumps(result)
            return Done(tool, ctx, prepared, result, None, first, self._image(tool, inside, prepared))

        image = self.db.write_sync(before)
        try:
            return self.db.write_sync(body)
        except SurefootError as error:
            return Done(tool, ctx, prepared, None, error, image, self.db.write_sync(before))

    def __call__(self, name: str, /, **more: Any) -> Any:
        """The result of a call that must succeed."""
        done = self.call(name, **more)
        if done.error is not None:
            raise done.error
        return done.result

    def _image(self, tool: Tool, ctx: Context, arguments: dict[str, Any]) -> Any:
        return tool.undo.capture(ctx, arguments) if tool.undo else None

    def image(self, done: Done) -> Any:
        """What the call touches, as it is now."""
        return self.db.write_sync(lambda tx: self._image(done.tool, replace(done.ctx, tx=tx), done.arguments))

    def restore(self, done: Done, image: Any) -> None:
        """Set an image, by way of JSON, as the journal keeps it."""
        undo = done.tool.undo
        assert undo is not None
        kept = json.loads(json.dumps(image))
        self.db.write_sync(lambda tx: undo.restore(replace(done.ctx, tx=tx), done.arguments, kept))

    def rows(self) -> str:
        """All rows of the kits, ordered by key, as canonical JSON."""
        found = self.db.read_sync(
            lambda tx: {
                name: [
                    dict(row._mapping)
                    for row in tx.execute(metadata.tables[name].select().order_by("id")).fetchall()
                ]
                for name in TABLES
            }
        )
        return json.dumps(found, sort_keys=True, ensure_ascii=False)

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()
