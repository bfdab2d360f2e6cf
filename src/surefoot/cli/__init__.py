"""The command line. `app` is the Typer application, `main` the entry point of the `surefoot` script."""

from __future__ import annotations

from surefoot.cli.root import app, main

__all__ = ["app", "main"]
