"""`surefoot flow plan`: a task in plain words becomes a flow that passes the check. Nothing is run."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.commands.flow import Facts, Secrets, Surfaces, fact_names
from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from surefoot.flows import FactNames
    from surefoot.models.types import LanguageModel
    from surefoot.planning.flow_plan import FlowPlan, Note


def plan(
    context: typer.Context,
    text: Annotated[
        list[str],
        typer.Argument(metavar="TASK", help="What is to be done; - reads it from standard input."),
    ],
    fact: Facts = None,
    secret: Secrets = None,
    surface: Surfaces = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write the flow into this new file.")
    ] = "",
    model: ModelName = "",
    json: AsJson = False,
) -> int:
    """Let a model write the flow for a task, checked and mended; run nothing."""
    from surefoot.cli.requests import request_text
    from surefoot.flows.steps import SURFACES

    cli = cli_of(context)
    facts = fact_names(fact, secret)
    surfaces = frozenset(map(str, surface)) if surface else SURFACES
    _need_new(output)
    goal = request_text(text)
    made, notes, configured = cli.run(lambda: _made(cli, goal, facts, surfaces, model))
    if output:
        _write(cli, output, made)
    if json:
        shown = made.to_dict()
        shown["notes"] = [note.to_dict() for note in notes]
        cli.out.json({**shown, "configuration": configured})
        return 0
    if output:
        cli.out.note(cli.texts("flow_plan.written", file=output))
    else:
        cli.out.piece(_printable(cli, made))
    _tell(cli, made, notes)
    return 0


async def _made(
    cli: Cli, goal: str, facts: FactNames, surfaces: frozenset[str], name: str
) -> tuple[FlowPlan, tuple[Note, ...], dict[str, Any]]:
    from surefoot.cli.session import interruptible
    from surefoot.planning.flow_models import configuration
    from surefoot.planning.flow_planner import FlowPlanner

    cli.out.wait_for(cli.texts("status.starting"))
    try:
        async with _opened(cli, name) as (model, note):
            cli.out.wait_for(cli.texts("status.planning"))
            planner = FlowPlanner(model, num_ctx=cli.settings.num_ctx)
            made = await interruptible(planner.plan(goal, facts, surfaces))
            settings = cli.settings.model_copy(update={"flow_model": model.name})
            found = await configuration(settings)
            used: dict[str, Any] = {role: one.to_dict() for role, one in found.items()}
            return made, (*((note,) if note else ()), *made.notes), used
    finally:
        cli.out.wait_for("")


@asynccontextmanager
async def _opened(cli: Cli, name: str) -> AsyncIterator[tuple[LanguageModel, Note | None]]:
    """The model that was named, else the one of the settings, with what to know of the choice."""
    from surefoot.models import open_model
    from surefoot.planning.flow_models import flow_model

    model, note = (await open_model(name, cli.settings), None) if name else await flow_model(cli.settings)
    try:
        yield model, note
    finally:
        await model.close()


def _need_new(output: str) -> None:
    """Said before a minute of planning, not after it."""
    import os
    from pathlib import Path

    from surefoot.errors import InputError

    if not output:
        return
    if os.path.lexists(output):  # a link that leads nowhere, too
        raise InputError(f"{output!r} is there already.", "Name another file, or take it away.", path=output)
    folder = Path(output).parent
    if not folder.is_dir():
        raise InputError(
            f"The folder {str(folder)!r} is not there.", "Make it, or name another.", path=output
        )


def _write(cli: Cli, output: str, made: FlowPlan) -> None:
    """The new file; a flow that cannot be written is shown, for a model was asked for it.

    Raises:
        StorageError: it cannot be written.
    """
    from pathlib import Path

    from surefoot.errors import StorageError

    try:
        with Path(output).open("x", encoding="utf-8", newline="") as file:
            file.write(made.flow.to_text())
    except OSError as error:
        cli.out.piece(_printable(cli, made))
        raise StorageError(
            f"{output!r} cannot be written: {error.strerror or error}. The flow stands on standard output.",
            "Copy it from there.",
            path=output,
        ) from error


_STEERS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal or turn the order of what is read. JSON leaves them as they are, and a model wrote
this."""


def _printable(cli: Cli, made: FlowPlan) -> str:
    from surefoot.flows.formatting import layout

    text = made.flow.to_text()
    if cli.out.out.can_show(text) and not _STEERS.search(text):
        return text
    return layout(made.flow.to_json(), ascii_only=True)


def _tell(cli: Cli, made: FlowPlan, notes: tuple[Note, ...]) -> None:
    """Questions and notes, beside the flow: on the other stream."""
    out, texts = cli.out, cli.texts
    for question in made.questions:
        key = "flow_plan.question_secret" if question.secret else "flow_plan.question"
        kind = texts(f"flow_plan.kind.{question.kind}")
        out.note(f"  {texts(key, name=question.name, kind=kind)}")
    for note in notes:
        words = _note_words(cli, made, note)
        for line in out.paragraph(words) if words else ():
            out.note(line)
    usage = made.use.usage
    tokens = texts.count("summary.tokens", usage.prompt_tokens + usage.output_tokens)
    out.note([(f"  {texts.count('flow_plan.calls', made.use.calls)}, {tokens}", "dim")])


def _note_words(cli: Cli, made: FlowPlan, note: Note) -> str:
    """The note in the person's language; the questions stand there already."""
    if note.code == "asks":
        return ""
    stops = [] if note.code != "stops_before" else list(_stops(made))
    return cli.texts(f"flow_plan.note.{note.code}", stops="; ".join(stops))


def _stops(made: FlowPlan) -> list[str]:
    from surefoot.planning.flow_plan import stops_of

    return list(stops_of(made.flow.steps))
