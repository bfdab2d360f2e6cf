"""Writes the reference pages of docs/ from the code; with --check only says which are out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import flow_pages
import pages

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTE = "<!-- Written by `make docs` from the code. Change the code, not this page. -->\n"

PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": pages.settings,
    "limits.md": pages.limits,
    "errors.md": pages.errors,
    "exit-codes.md": pages.exit_codes,
    "events.md": pages.events,
    "tools.md": pages.tools,
    "cli.md": pages.cli,
    "flow-problems.md": flow_pages.flow_problems,
}


def main(arguments: list[str] | None = None, folder: Path = DOCS) -> int:
    """Write every page that differs, or with --check return 1 when one does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a page is out of date"
    )
    check = parser.parse_args(arguments).check
    stale = [name for name, text in _texts().items() if _read(folder / name) != text]
    for name in stale:
        if check:
            print(f"docs/{name} is out of date: run `make docs` and commit it", file=sys.stderr)
        else:
            (folder / name).write_text(_texts()[name], encoding="utf-8")
            print(f"wrote docs/{name}")
    return 1 if check and stale else 0


def _texts() -> dict[str, str]:
    return {name: NOTE + "\n" + page().strip() + "\n" for name, page in PAGES.items()}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
