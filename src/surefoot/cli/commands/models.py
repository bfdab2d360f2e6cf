"""`surefoot models list|pull|check`."""
from __future__ import annotations

import typer

app = typer.Typer(help="The language models.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """The language models."""
