"""`surefoot runs` and `show`: what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import AsJson, LastRun, cli_of
from surefoot.cli.out import Piece
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.assistant import Assistant, RunResult
    from surefoot.journal.types import Call, Journal, Run
    from surefoot.tools.catalogue import Catalogue

STATUS_COLOURS = {"done": "green", "failed": "red", "cancelled": "dim"}


def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many.")] = 20,
    json: AsJson = False,
) -> int:
    """List the last runs, newest first."""
    cli = cli_of(context)
    return cli.run(lambda: _runs(cli, limit, as_json=json))


def show(
    context: typer.Context,
    run: LastRun = "last",
    messages: Annotated[
        bool, typer.Option("--messages", help="Show what was said to the model, and its answers.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Show one run: its plan, every call and what became of it, the reply."""
    cli = cli_of(context)
    return cli.run(lambda: _show(cli, run, messages=messages, as_json=json))


# --- runs --------------------------------------------------------------------------------------------------------


async def _runs(cli: Cli, limit: int, *, as_json: bool) -> int:
    async with cli.assistant() as assistant:
        return await runs_in(cli, assistant, limit, as_json=as_json)


async def runs_in(cli: Cli, assistant: Assistant, limit: int, *, as_json: bool = False) -> int:
    """The list of runs with an assistant that is open; the exit code."""
    journal = await assistant.journal()
    await journal.release_dead()
    rows = [await _row(journal, run) for run in await journal.runs(limit=limit)]
    if as_json:
        cli.out.json([run_to_dict(run, short, calls) for run, short, calls in rows])
    elif not rows:
        cli.out.note(f"  {cli.texts('runs.none')}")
    else:
        width = max(len(short) for _, short, _ in rows)
        when = max(len(cli.times.moment(run.created_at)) for run, _, _ in rows)
        state = max(len(status_words(cli, run, calls)) for run, _, calls in rows)
        for run, short, calls in rows:
            before = f"  {short:<{width}}  {cli.times.moment(run.created_at):<{when}}  "
            cli.out.data(_run_line(cli, run, before, f"{status_words(cli, run, calls):<{state}}  "))
    return 0


async def _row(journal: Journal, run: Run) -> tuple[Run, str, list[Call]]:
    return run, await journal.short_id(run.id), await journal.calls(run.id)


def run_to_dict(run: Run, short: str, calls: list[Call]) -> dict[str, Any]:
    """A run as JSON, without its plan and calls."""
    return {
        "run": run.id,
        "short": short,
        "kind": run.kind,
        "goal": run.goal,
        "status": str(run.status),
        "incomplete": run.incomplete,
        "stopped_by": run.stopped_by or None,
        "error": run.error,
        "parent": run.parent or None,
        "created_at": run.created_at.isoformat() if run.created_at else None,
        "updated_at": run.updated_at.isoformat() if run.updated_at else None,
        "undoable": sum(call.undoable for call in calls),
        "undone": sum(bool(call.undone_by) for call in calls),
    }


def _run_line(cli: Cli, run: Run, before: str, status: str) -> list[Piece]:
    from surefoot.cli.shown import cells, one_line
    from surefoot.cli.steps import fitted

    goal = fitted(one_line(goal_words(cli, run)), cli.out.out, cells(before + status))
    return [(before, ""), (status, STATUS_COLOURS.get(str(run.status), "yellow")), (goal, "")]


def goal_words(cli: Cli, run: Run) -> str:
    """What was asked for, behind the title of a mission; of an undo, what it took back."""
    if run.kind in {"undo", "redo"}:
        return cli.texts(f"runs.{run.kind}", run=run.parent[:8])
    title = run.context.get("brief", {}).get("title", "")
    return f"{title}: {run.goal}" if title else run.goal


def status_words(cli: Cli, run: Run, calls: list[Call]) -> str:
    """The status in a word or two."""
    if run.status == "done" and any(call.undone_by for call in calls):
        some_left = any(call.undoable for call in calls)
        return cli.texts("status_of.partly_undone" if some_left else "status_of.undone")
    if run.status == "done" and (run.incomplete or run.stopped_by):
        return cli.texts("status_of.incomplete")
    return cli.texts(f"status_of.{run.status}")


# --- show --------------------------------------------------------------------------------------------------------


async def _show(cli: Cli, name: str, *, messages: bool, as_json: bool) -> int:
    show = messages_in if messages else show_in
    async with cli.assistant() as assistant:
        return await show(cli, assistant, name, as_json=as_json)


async def messages_in(cli: Cli, assistant: Assistant, name: str, *, as_json: bool = False) -> int:
    """The conversation of one run with its models; the exit code."""
    from surefoot.assistant.handle import result_of
    from surefoot.cli import conversation
    from surefoot.cli.session import find

    journal = await assistant.journal()
    run = await find(journal, name)
    said = await journal.run_messages(run.id)
    if as_json:
        cli.out.json(conversation.as_json(said))
        return 0
    short = await journal.short_id(run.id)
    _show_head(cli, await result_of(journal, run), short)
    if not said:
        cli.out.note(f"  {cli.texts('show.no_messages')}")
        return 0
    cli.out.data("")
    for line in conversation.conversation_lines(cli.out.out, cli.texts, said):
        cli.out.data(line)
    if conversation.answers_only(said):
        cli.out.note(f"\n  {cli.texts('show.answers_only')}")
    elif conversation.shortened(said):
        cli.out.note(f"\n  {cli.texts('show.shortened', run=short)}")
    return 0


async def show_in(cli: Cli, assistant: Assistant, name: str, *, as_json: bool = False) -> int:
    """One run with an assistant that is open; the exit code."""
    from surefoot.assistant.handle import result_of
    from surefoot.cli.session import find

    journal = await assistant.journal()
    run = await find(journal, name)
    result = await result_of(journal, run)
    short = await journal.short_id(run.id)
    events = [event.to_dict() for event in await journal.events(run.id)]
    asked = await journal.model_calls(run.id)
    if as_json:
        calls = list(result.calls)
        cli.out.json({**run_to_dict(run, short, calls), **result.to_dict(), "events": events})
        return 0
    _show_head(cli, result, short)
    _show_calls(cli, assistant.catalogue, result)
    for entry in asked:
        _show_model_call(cli, entry.purpose, entry.model, entry.completion["usage"])
    _show_reply(cli, result)
    _show_ways(cli, result, short)
    return 0


def _show_head(cli: Cli, result: RunResult, short: str) -> None:
    from surefoot.cli.shown import folded, one_line

    run, out = result.run, cli.out
    words = cli.texts("run.heading", run=short, when=cli.times.moment(run.created_at))
    status = status_words(cli, run, list(result.calls))
    out.data([(f"  {words}", "bold"), (f"  {status}", STATUS_COLOURS.get(str(run.status), "yellow"))])
    goal = one_line(goal_words(cli, run))
    for line in folded(goal, out.out.width - 2) if out.out.width else [goal]:
        out.data(f"  {line}")
    if run.error:
        out.data(f"  {cli.texts('error.word')}  {run.error['code']}: {one_line(run.error['message'])}")


def _show_calls(cli: Cli, catalogue: Catalogue, result: RunResult) -> None:
    from surefoot.cli.sentences import in_order, steps_in_order
    from surefoot.cli.steps import StepLine, call_lines, plan_lines

    out = cli.out
    if result.outline.steps:
        out.data("")
        for line in plan_lines(out.out, cli.texts, steps_in_order(catalogue, result.outline.to_list())):
            out.data(line)
    if result.calls:
        out.data("")
    for call in result.calls:
        shown = call.with_(arguments=in_order(catalogue, call.tool, call.arguments))
        for one in call_lines(StepLine(out.out), cli.texts, shown):
            out.data(one)


def _show_model_call(cli: Cli, purpose: str, model: str, usage: dict[str, Any]) -> None:
    from surefoot.cli.sentences import seconds_words
    from surefoot.cli.shown import amount

    cached = cli.texts("summary.cached", n=usage["cached_tokens"]) if usage["cached_tokens"] else ""
    tokens = cli.texts.count("summary.tokens", usage["prompt_tokens"] + usage["output_tokens"])
    words = cli.texts(
        "show.model_call",
        purpose=purpose,
        model=model,
        tokens=f"{tokens}{cached}",
        took=seconds_words(usage["seconds"]),
    )
    cost = usage.get("cost")  # unknown costs are not shown as nothing
    words += "" if cost is None else cli.texts("summary.cost", n=amount(cost))
    cli.out.data([(f"  {cli.out.out.symbols['dot']}     {words}", "dim")])


def _show_reply(cli: Cli, result: RunResult) -> None:
    from surefoot.cli.shown import folded, prose

    if not result.reply:
        return
    text, width = prose(result.reply), cli.out.out.width
    cli.out.data("")
    for line in folded(text, width - 2) if width else text.split("\n"):
        cli.out.data(f"  {line}".rstrip())


def _show_ways(cli: Cli, result: RunResult, short: str) -> None:
    """What can be done with this run now."""
    ways = []
    if result.undoable:
        ways.append(cli.texts.count("summary.undo", result.undoable, run=short))
    if any(call.undone_by for call in result.calls):
        ways.append(cli.texts("show.redo", run=short))
    if result.waiting:
        ways.append(cli.texts("approve.later", run=short))
    if result.status == "interrupted":
        ways.append(cli.texts("show.resume", run=short))
    if ways:
        cli.out.note("")
    for way in ways:
        cli.out.note([(f"  {way}", "dim")])
