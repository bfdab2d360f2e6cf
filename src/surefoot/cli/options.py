"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from surefoot.cli.session import Cli

RunName: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="The run: its id, a unique beginning of it, or `last`.")
]
LastRun: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="RUN", help="The run: its id, a unique beginning of it, or `last`."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ModelName: TypeAlias = Annotated[
    str,
    typer.Option("--model", metavar="PROVIDER:NAME", help="The model, instead of the one in the settings."),
]
OneCall: TypeAlias = Annotated[
    int | None, typer.Option("--call", metavar="N", min=1, help="Only this call of the run.")
]


def cli_of(context: typer.Context) -> Cli:
    """What the root gave the command."""
    cli: Cli = context.obj
    return cli
