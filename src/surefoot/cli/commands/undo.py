"""`surefoot undo` and `redo`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.options import AsJson, LastRun, OneCall, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.assistant import Assistant
    from surefoot.journal.types import Call, Journal, Run
    from surefoot.running.undo import UndoItem, UndoReport

Preview = Annotated[bool, typer.Option("--preview", help="Show what would be taken back; change nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Take back also what was changed since.")]

MARKS = {"take_back": "back", "already": "dot", "conflict": "left", "impossible": "left"}


def undo(
    context: typer.Context,
    run: LastRun = "last",
    preview: Preview = False,
    force: Force = False,
    call: OneCall = None,
    json: AsJson = False,
) -> int:
    """Take back what a run changed, newest first."""
    cli = cli_of(context)
    return cli.run(lambda: _undo(cli, run, call, preview=preview, force=force, as_json=json))


def redo(context: typer.Context, run: LastRun = "last", force: Force = False, json: AsJson = False) -> int:
    """Take the undo of a run back."""
    cli = cli_of(context)
    return cli.run(lambda: _redo(cli, run, force=force, as_json=json))


async def _undo(cli: Cli, run: str, call: int | None, *, preview: bool, force: bool, as_json: bool) -> int:
    async with cli.assistant() as assistant:
        return await undo_in(cli, assistant, run, call, preview=preview, force=force, as_json=as_json)


async def _redo(cli: Cli, run: str, *, force: bool, as_json: bool) -> int:
    async with cli.assistant() as assistant:
        return await redo_in(cli, assistant, run, force=force, as_json=as_json)


async def undo_in(
    cli: Cli,
    assistant: Assistant,
    run: str,
    call: int | None = None,
    *,
    preview: bool = False,
    force: bool = False,
    as_json: bool = False,
) -> int:
    """Undo with an assistant that is open; the exit code."""
    work = assistant.undo(run, force=force, call=call, preview=preview)
    report = await _waited(cli, work)
    kind = "preview" if preview else "undo"
    return await _told(cli, await assistant.journal(), report, kind, as_json=as_json)


async def redo_in(
    cli: Cli, assistant: Assistant, run: str, *, force: bool = False, as_json: bool = False
) -> int:
    """Redo with an assistant that is open; the exit code."""
    report = await _waited(cli, assistant.redo(run, force=force))
    return await _told(cli, await assistant.journal(), report, "redo", as_json=as_json)


async def _waited(cli: Cli, work: Awaitable[UndoReport]) -> UndoReport:
    from surefoot.cli.failures import Interrupted
    from surefoot.cli.session import interruptible

    try:
        with cli.out.waiting_for(cli.texts("status.undoing")):
            return await interruptible(work)
    except Interrupted:
        cli.out.warn(f"  {cli.texts('undo.stopped')}")
        raise Interrupted(told=True) from None


async def _told(cli: Cli, journal: Journal, report: UndoReport, what: str, *, as_json: bool) -> int:
    short = await journal.short_id(report.target.id)
    if as_json:
        cli.out.json({**report.to_dict(), "short": short})
        return 0 if report.complete else 1
    cli.out.data(heading(cli, report.target, short))
    if not report.items:
        cli.out.data(f"  {cli.texts('undo.nothing')}")
    for item in report.items:
        _show_item(cli, item, await _first_call(journal, item.call), what)
    _show_end(cli, report, what, short)
    return 0 if report.complete else 1


async def _first_call(journal: Journal, call: Call) -> Call:
    """The call that was made for the person; an undo's own call names the one that it took back."""
    from surefoot.running.undo import PREFIX, origin

    while call.tool.startswith(PREFIX):
        run, key, _ = origin(call)
        found = await journal.call(run, key)
        if found is None or (found.run, found.key) == (call.run, call.key):
            return call
        call = found
    return call


def heading(cli: Cli, run: Run, short: str) -> str:
    """`run 7f3a, today 14:02: "..."`."""
    from surefoot.cli.shown import one_line
    from surefoot.cli.steps import fitted

    words = cli.texts("run.heading", run=short, when=cli.times.moment(run.created_at))
    return f"  {words}: " + fitted(f'"{one_line(run.goal)}"', cli.out.out, len(words) + 4)


def _show_item(cli: Cli, item: UndoItem, call: Call, what: str) -> None:
    from surefoot.cli.sentences import done_words
    from surefoot.cli.steps import StepLine

    key = f"undo.{what}.{item.verdict}" if item.verdict == "take_back" else f"undo.{item.verdict}"
    words = cli.texts(key, what=done_words(cli.texts, call), reason=item.reason)
    for line in StepLine(cli.out.out)(MARKS[str(item.verdict)], call.ordinal, words):
        cli.out.data(line)


def _show_end(cli: Cli, report: UndoReport, what: str, short: str) -> None:
    cli.out.note("")
    if what == "preview":
        cli.out.note([(f"  {cli.texts('undo.preview.end', run=short)}", "dim")])
        return
    if not report.taken_back:
        cli.out.note([(f"  {cli.texts(f'undo.{what}.none')}", "dim")])
        return
    words = cli.texts.count(f"undo.{what}.end", report.taken_back, run=short)
    cli.out.note([(f"  {words}", "dim")])
