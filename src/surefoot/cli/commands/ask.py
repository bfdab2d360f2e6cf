"""`surefoot ask`."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli


def ask(
    context: typer.Context,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="What you want; - reads it from standard input.")
    ],
    model: ModelName = "",
    json: AsJson = False,
) -> int:
    """Plan a request, run it, answer it."""
    from surefoot.cli.requests import request_text

    cli = cli_of(context)
    request = request_text(text)
    return cli.run(lambda: _ask(cli, request, model, as_json=json))


async def _ask(cli: Cli, request: str, model: str, *, as_json: bool) -> int:
    from surefoot.cli.asking import Asking
    from surefoot.cli.welcome import welcome

    welcome(cli)
    cli.out.wait_for(cli.texts("status.starting"))
    async with cli.assistant(model=model) as assistant:
        return await Asking(cli, assistant, as_json=as_json).ask(request)
