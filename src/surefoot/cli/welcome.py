"""The first run explains itself in three lines, and never again."""

from __future__ import annotations

import json

from surefoot.cli.session import Cli

FILE = "seen.json"


def welcome(cli: Cli) -> None:
    """Say what this is and where things lie, once, to somebody who can read it."""
    if not cli.out.err.terminal or cli.out.quiet:
        return
    file = cli.settings.data_dir / FILE
    if file.exists():
        return
    for number in (1, 2, 3):
        words = cli.texts(f"welcome.{number}", folder=cli.settings.data_dir)
        for line in cli.out.paragraph(words):
            cli.out.note([(line, "dim")])
    cli.out.note("")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"welcome": 1}) + "\n", encoding="utf-8")
    except OSError:
        return  # a folder that cannot be written is told by what needs it
