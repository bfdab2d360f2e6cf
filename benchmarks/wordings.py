"""Do everyday requests end with the right rows? Real model, real kits, real journal; outcomes read from the database.

    python benchmarks/wordings.py [--set tests/data/wordings.json] [--only ID] [--model NAME] [--plans] [--json]

A case is right when the rows of notes, tasks and events changed exactly as it expects: nothing missing, nothing more.
The set that is reported was written by somebody who saw only the list of tools; prompts are tuned on another. With
`--plans` the answer is a fixed text: the rows depend on the plan alone, and a run costs a third of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from surefoot.assistant import Assistant, RunResult
from surefoot.journal import SqlJournal
from surefoot.models import default_model, open_model
from surefoot.models.types import Capabilities, Completion, LanguageModel, Piece, Request
from surefoot.settings import load_settings
from surefoot.storage import Database
from surefoot.tools.kits import calendar, notes, tasks
from surefoot.tools.kits.tables import calendar_events as events_table
from surefoot.tools.kits.tables import notes as notes_table
from surefoot.tools.kits.tables import tasks as tasks_table
from surefoot.tools.types import Actor, Context

KINDS = {"notes": notes_table, "tasks": tasks_table, "events": events_table}
SETS = Path(__file__).parent.parent / "tests" / "data"


class PlansOnly:
    """The same model, its answers left out; plans and resolved steps are real."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = model.name

    async def capabilities(self) -> Capabilities:
        """Those of the model."""
        return await self.model.capabilities()

    async def complete(self, request: Request) -> Completion:
        """A fixed text instead of an answer."""
        return Completion("-") if request.purpose == "reply" else await self.model.complete(request)

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The same in one piece."""
        found = await self.complete(request)
        yield Piece(found.text, found)

    async def warm(self, request: Request, key: str) -> None:
        """Pass it on."""
        await self.model.warm(request, key)

    async def close(self) -> None:
        """The model is closed by whoever opened it."""


def rows(database: Database) -> dict[str, dict[str, dict[str, Any]]]:
    """Every living row by kind and id."""
    return {
        kind: {
            row["id"]: dict(row)
            for row in database.read_sync(
                lambda tx, table=table: (
                    tx.execute(table.select().where(table.c.deleted.is_(False))).mappings().all()
                )  # type: ignore[misc]
            )
        }
        for kind, table in KINDS.items()
    }


def seed(database: Database, case: dict[str, Any], now: datetime) -> None:
    """The rows a case begins with, written through the kits themselves."""
    before = case.get("before") or {}
    number = 0

    def put(tool: Any, **values: Any) -> Any:
        nonlocal number
        number += 1
        ctx = Context(
            "seed", f"seed.{number}", Actor("person", "me"), now, case["zone"], "en", load_settings(), None
        )

        def write(tx: Any) -> Any:
            from dataclasses import replace

            return tool.invoke(replace(ctx, tx=tx), {k: v for k, v in values.items() if v is not None})

        return database.write_sync(write)

    for note in before.get("notes", ()):
        put(notes.add_note, title=note["title"], text=note.get("text") or "", tags=note.get("tags") or [])
    for task in before.get("tasks", ()):
        made = put(tasks.add_task, title=task["title"], due=task.get("due"))
        if task.get("status") == "done":
            put(tasks.complete_task, task=made["id"])
    for event in before.get("events", ()):
        put(
            calendar.add_event,
            title=event["title"],
            start=event["start"],
            end=event.get("end"),
            place=event.get("place"),
        )


def judge(case: dict[str, Any], before: Any, after: Any, calls: list[str]) -> list[str]:
    """What is wrong, one line each; empty when it is right."""
    wrong: list[str] = []
    for kind in KINDS:
        expected = (case.get("expect") or {}).get(kind) or {}
        added = [row for key, row in after[kind].items() if key not in before[kind]]
        removed = [row["title"] for key, row in before[kind].items() if key not in after[kind]]
        changed = [
            (before[kind][key], row)
            for key, row in after[kind].items()
            if key in before[kind] and row["version"] != before[kind][key]["version"]
        ]
        wrong += _unmatched(f"{kind} added", expected.get("added", []), added, lambda row: row)
        wanted = expected.get("changed", [])
        wrong += _unmatched(
            f"{kind} changed", wanted, changed, lambda pair: {**pair[1], "title": pair[0]["title"]}
        )
        if sorted(expected.get("removed", [])) != sorted(removed):
            wrong.append(f"{kind} removed: {removed}, expected {expected.get('removed', [])}")
    wanted_calls = case.get("calls_any")
    if wanted_calls and not any(set(names) <= set(calls) for names in wanted_calls):
        wrong.append(f"calls {calls}, expected one of {wanted_calls}")
    return wrong


def _unmatched(what: str, expected: list[dict[str, Any]], found: list[Any], row_of: Any) -> list[str]:
    left = list(found)
    missing = []
    for one in expected:
        match = next((item for item in left if _fits(one, row_of(item))), None)
        if match is None:
            missing.append(one)
        else:
            left.remove(match)
    wrong = [f"{what}: missing {json.dumps(one, ensure_ascii=False)}" for one in missing]
    return wrong + [f"{what}: unexpected {_shown(row_of(item))}" for item in left]


def _shown(row: dict[str, Any]) -> str:
    hidden = {"id", "actor", "created_at", "updated_at", "deleted", "version", "due_at", "start_at", "end_at"}
    return json.dumps({k: v for k, v in row.items() if k not in hidden}, ensure_ascii=False)


def _fits(one: dict[str, Any], row: dict[str, Any]) -> bool:
    return all(_fits_field(key, value, row) for key, value in one.items())


def _fits_field(key: str, value: Any, row: dict[str, Any]) -> bool:
    title, text = row["title"].lower(), str(row.get("text", "")).lower()
    if key.endswith("_any"):
        where = {"title_any": title, "text_any": text, "any_any": f"{title} {text}"}[key]
        return any(part in where for part in value)
    if key in {"tags", "tags_has"}:
        return {tag.lower() for tag in value} <= {tag.lower() for tag in json.loads(row["tags"])}
    if key in {"due", "start", "end"}:
        return _same_time(value, row[key])
    return bool((row[key] or None) == (value or None))


def _same_time(expected: str | None, found: str | None) -> bool:
    """The same day; the same minute where the case names one."""
    if expected is None or found is None:
        return expected == found
    return found[: len(expected)] == expected if "T" in expected else found[:10] == expected


async def run_case(case: dict[str, Any], model: LanguageModel) -> dict[str, Any]:
    """One case in a fresh database."""
    zone = ZoneInfo(case["zone"])
    now = datetime.fromisoformat(case["now"]).replace(tzinfo=zone)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder), zone=case["zone"], language=case["language"])
        database = Database(settings.database)
        journal = SqlJournal(database)
        try:
            seed(database, case, now)
            before = rows(database)
            await journal.add_messages("talk", "0" * 16, case.get("dialogue") or [])
            assistant = Assistant(
                model=model, settings=settings, journal=journal, dialogue="talk", clock=lambda: now
            )
            start = time.monotonic()
            result: RunResult = await assistant.ask(case["request"])
            seconds = time.monotonic() - start
            calls = [call.tool for call in result.calls]
            wrong = judge(case, before, rows(database), calls)
        finally:
            await journal.close()
            database.close()
    return {
        "id": case["id"],
        "language": case["language"],
        "right": not wrong,
        "wrong": wrong,
        "request": case["request"],
        "steps": [step.text for step in result.outline.steps],
        "calls": [
            f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)}) {call.status}"
            + (f" {call.error['message']}" if call.error else "")
            for call in result.calls
        ],
        "reply": result.reply,
        "model_calls": result.model_calls,
        "prompt_tokens": result.usage.prompt_tokens,
        "cached_tokens": result.usage.cached_tokens,
        "output_tokens": result.usage.output_tokens,
        "seconds": round(seconds, 1),
    }


async def main() -> int:
    """Run the set; exit 1 when fewer than 18 of 20 (the same share of another set) are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", type=Path, default=SETS / "wordings.json")
    parser.add_argument("--only", action="append")
    parser.add_argument("--model", default="")
    parser.add_argument("--plans", action="store_true", help="leave the answers out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    cases = json.loads(options.set.read_text(encoding="utf-8"))
    cases = [case for case in cases if not options.only or case["id"] in options.only]
    settings = load_settings()
    model = await (open_model(options.model, settings) if options.model else default_model(settings))
    results = []
    try:
        for case in cases:
            results.append(await run_case(case, PlansOnly(model) if options.plans else model))
            report(results[-1], file=sys.stderr if options.json else sys.stdout)
    finally:
        await model.close()
    right = sum(result["right"] for result in results)
    if options.json:
        print(
            json.dumps({"right": right, "of": len(results), "cases": results}, ensure_ascii=False, indent=1)
        )
    else:
        print(f"{right} of {len(results)} right; {by_language(results)}")
        told = [f"{median(results, name)} {name.replace('_', ' ')}" for name in MEASURED]
        print(f"a request, median: {', '.join(told)}")
    return 0 if right * 20 >= 18 * len(results) else 1


MEASURED = ("prompt_tokens", "cached_tokens", "output_tokens", "model_calls", "seconds")


def median(results: list[dict[str, Any]], name: str) -> Any:
    """The middle value of a figure."""
    values = sorted(result[name] for result in results)
    return values[len(values) // 2]


def by_language(results: list[dict[str, Any]]) -> str:
    """`en 20/22, de 7/8`."""
    languages = dict.fromkeys(result["language"] for result in results)
    counted = {one: [r["right"] for r in results if r["language"] == one] for one in languages}
    return ", ".join(f"{one} {sum(marks)}/{len(marks)}" for one, marks in counted.items())


def report(result: dict[str, Any], file: Any) -> None:
    """One case, for a person."""
    mark = "right" if result["right"] else "WRONG"
    cost = f"{result['prompt_tokens']}-{result['cached_tokens']}+{result['output_tokens']} tokens"
    print(f"{result['id']} {mark} {result['seconds']} s  {cost}  {result['request'][:90]}", file=file)
    if not result["right"]:
        for line in result["wrong"] + result["steps"] + result["calls"] + [f"reply: {result['reply'][:200]}"]:
            print(f"      {line}", file=file)
    file.flush()


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
