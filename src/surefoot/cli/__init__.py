"""The command line. `app` is the Typer application, `main` the entry point of the `surefoot` script."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["app", "main"]

INTERRUPTED = 130
"""As shells say it: 128 + SIGINT."""


def main() -> None:
    """The entry point of the `surefoot` script. Ctrl-C is heard from here on, while the program still loads too."""
    try:
        from surefoot.cli.root import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from surefoot.cli.root import app

    return app
