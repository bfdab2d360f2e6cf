"""`surefoot approve`, `decline`, `resume`, `cancel`: what a person decides about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from surefoot.cli.options import AsJson, ModelName, OneCall, RunName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.assistant import Assistant


def approve(
    context: typer.Context, run: RunName, call: OneCall = None, model: ModelName = "", json: AsJson = False
) -> int:
    """Agree to what a run waits for, and go on with it."""
    cli = cli_of(context)
    return cli.run(lambda: _decide(cli, run, call, model, agree=True, as_json=json))


def decline(
    context: typer.Context, run: RunName, call: OneCall = None, model: ModelName = "", json: AsJson = False
) -> int:
    """Refuse what a run waits for, and go on without it."""
    cli = cli_of(context)
    return cli.run(lambda: _decide(cli, run, call, model, agree=False, as_json=json))


def resume(context: typer.Context, run: RunName, model: ModelName = "", json: AsJson = False) -> int:
    """Go on with a run that was interrupted; what is done is not done again."""
    cli = cli_of(context)
    return cli.run(lambda: _resume(cli, run, model, as_json=json))


def cancel(context: typer.Context, run: RunName, json: AsJson = False) -> int:
    """End a run that waits or was interrupted."""
    cli = cli_of(context)
    return cli.run(lambda: _cancel(cli, run, as_json=json))


async def _decide(cli: Cli, name: str, call: int | None, model: str, *, agree: bool, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.cli.session import find
    from surefoot.journal.types import CallStatus
    from surefoot.running import lifecycle

    async with cli.assistant(model=model) as assistant:
        journal = await assistant.journal()
        run = await find(journal, name)
        decide = lifecycle.approve if agree else lifecycle.decline
        await decide(journal, run, None if call is None else str(call), PERSON)
        left = [one for one in await journal.calls(run.id) if one.status is CallStatus.WAITING]
        if left:
            short = await journal.short_id(run.id)
            cli.out.warn(f"  {cli.texts('approve.left', tool=left[0].tool, n=left[0].ordinal, run=short)}")
            return 5
        return await _go_on(cli, assistant, run.id, as_json=as_json)


async def _resume(cli: Cli, name: str, model: str, *, as_json: bool) -> int:
    from surefoot.cli.session import find

    async with cli.assistant(model=model) as assistant:
        run = await find(await assistant.journal(), name)
        return await _go_on(cli, assistant, run.id, as_json=as_json)


async def _go_on(cli: Cli, assistant: Assistant, run: str, *, as_json: bool) -> int:
    from surefoot.cli.asking import Asking

    return await Asking(cli, assistant, as_json=as_json).go_on(run)


async def _cancel(cli: Cli, name: str, *, as_json: bool) -> int:
    async with cli.assistant() as assistant:
        journal = await assistant.journal()
        run = await assistant.cancel(name)
        undoable = sum(call.undoable for call in await journal.calls(run.id))
        short = await journal.short_id(run.id)
        if as_json:
            cli.out.json({"run": run.id, "short": short, "status": str(run.status), "undoable": undoable})
            return 0
        words = cli.texts("cancel.done", run=short)
        if undoable:
            words += " " + cli.texts.count("summary.undo", undoable, run=short) + "."
        cli.out.data(f"  {words}")
        return 0
