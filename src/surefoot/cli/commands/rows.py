"""`surefoot notes|tasks|calendar list`: what the kits keep, for the person's own eyes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.assistant import Assistant

Row = dict[str, Any]
GAP = "  "

notes = typer.Typer(help="Your notes.", no_args_is_help=True, rich_markup_mode=None)
tasks = typer.Typer(help="Your tasks.", no_args_is_help=True, rich_markup_mode=None)
calendar = typer.Typer(help="Your calendar.", no_args_is_help=True, rich_markup_mode=None)

Search = Annotated[str, typer.Option("--search", metavar="TEXT", help="Only those with these words.")]
All = Annotated[bool, typer.Option("--all", help="Also those that are done.")]


@notes.callback()
@tasks.callback()
@calendar.callback()
def _group() -> None:
    """Keeps `list` a word of its own, though it is the only one."""


@notes.command("list")
def list_notes(context: typer.Context, search: Search = "", json: AsJson = False) -> int:
    """List the notes, newest first."""
    cli = cli_of(context)
    return cli.run(lambda: _list(cli, "notes", {"search": search}, as_json=json))


@tasks.command("list")
def list_tasks(context: typer.Context, every: All = False, json: AsJson = False) -> int:
    """List the tasks, those that are due first at the top."""
    cli = cli_of(context)
    return cli.run(lambda: _list(cli, "tasks", {"status": "all" if every else "open"}, as_json=json))


@calendar.command("list")
def list_events(context: typer.Context, json: AsJson = False) -> int:
    """List the events, the first at the top."""
    cli = cli_of(context)
    return cli.run(lambda: _list(cli, "calendar", {}, as_json=json))


async def _list(cli: Cli, name: str, asked: dict[str, str], *, as_json: bool) -> int:
    async with cli.assistant() as assistant:
        return await show_in(cli, assistant, name, asked, as_json=as_json)


async def show_in(
    cli: Cli, assistant: Assistant, name: str, asked: dict[str, str] | None = None, *, as_json: bool = False
) -> int:
    """The rows of a kit with an assistant that is open; the exit code."""
    from importlib import import_module

    kit = import_module(f"surefoot.tools.kits.{name}")
    chosen = {"status": "open"} if name == "tasks" and asked is None else asked or {}
    journal = await assistant.journal()
    rows = await journal.transact(lambda tx: [] if tx is None else kit.list_rows(tx, **chosen))
    if as_json:
        cli.out.json([{key: value for key, value in row.items() if key != "deleted"} for row in rows])
        return 0
    if not rows:
        cli.out.note(f"  {cli.texts(f'rows.none.{name}')}")
    for row in rows:
        _show(cli, *LINES[name](cli, row))
    return 0


def _show(cli: Cli, title: str, rest: Sequence[str]) -> None:
    from surefoot.cli.shown import cells, one_line
    from surefoot.cli.steps import fitted

    out = cli.out.out
    right = GAP.join(one_line(part) for part in rest if part)
    left = fitted(one_line(title), out, cells(right) + 6 if cells(right) < out.width // 2 else 4)
    if not right:
        cli.out.data(f"  {left}")
    elif out.width and cells(left) + cells(right) + 6 > out.width:
        cli.out.data(f"  {left}")
        cli.out.data([(f"    {fitted(right, out, 4)}", "dim")])
    else:
        cli.out.data([(f"  {left}  ", ""), (right, "dim")])


def _note(_: Cli, row: Row) -> tuple[str, Sequence[str]]:
    tags = " ".join(f"#{tag}" for tag in row["tags"])
    return row["title"], (row["text"], tags)


def _task(cli: Cli, row: Row) -> tuple[str, Sequence[str]]:
    due = cli.texts("rows.due", when=cli.times.stored(row["due"])) if row["due"] else ""
    state = "" if row["status"] == "open" else cli.texts(f"rows.status.{row['status']}")
    return row["title"], (due, state)


def _event(cli: Cli, row: Row) -> tuple[str, Sequence[str]]:
    when = cli.times.stored(row["start"])
    if row["end"]:
        when = cli.texts("rows.from_to", start=when, end=_end(cli, row["start"], row["end"]))
    return row["title"], (when, row["place"])


def _end(cli: Cli, start: str, end: str) -> str:
    """The end without the day where it is the same one."""
    full = cli.times.stored(end)
    same_day = start[:10] == end[:10] and len(end) > len("2026-05-03")
    return full.rsplit(" ", 1)[-1] if same_day else full


LINES: dict[str, Callable[[Cli, Row], tuple[str, Sequence[str]]]] = {
    "notes": _note,
    "tasks": _task,
    "calendar": _event,
}
"""How a row of each kit is shown: its title, and the rest."""
