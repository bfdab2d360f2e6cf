"""What a person sees of an error, and what the shell gets for it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from surefoot import redaction
from surefoot.cli import INTERRUPTED
from surefoot.cli.out import Line, Out
from surefoot.cli.shown import folded, prose
from surefoot.errors import SurefootError

USAGE = 2
UNEXPECTED = 1

MAX_SHOWN = 2_000
"""Characters of one message: whatever a person gave by mistake is recognised in them, and the screen is kept."""

UsageError = typer.BadParameter.__mro__[1]
"""Typer keeps the class itself under a private name; it is the parent of this public one."""


class Interrupted(Exception):  # noqa: N818 - a person's decision is no error
    """The person pressed Ctrl-C, and what was going on has been stopped cleanly; `told`: the person knows."""

    def __init__(self, *, told: bool = False) -> None:
        super().__init__()
        self.told = told


def guarded(out: Out, work: Callable[[], Any], *, debug: bool = False) -> int:
    """Run a command; its exit code, whatever comes out of it."""
    try:
        code = work()
        out.out.check()
    except (KeyboardInterrupt, Interrupted) as stop:
        out.wait_for("")
        if not getattr(stop, "told", False):
            out.warn(f"  {out.texts('error.interrupted')}")
        return INTERRUPTED
    except typer.Exit as leave:
        return int(leave.exit_code)
    except typer.Abort:
        return UNEXPECTED
    except Exception as error:  # noqa: BLE001 - the last place where anything can be told
        return told(out, error, debug=debug)
    return code if isinstance(code, int) else 0


def told(out: Out, error: Exception, *, debug: bool) -> int:
    """Tell the person, and give the exit code."""
    out.wait_for("")
    if debug and not isinstance(error, UsageError):
        out.warn("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, SurefootError):
        show(out, error.code, error.message, error.next_move)
        return error.exit_code
    if isinstance(error, UsageError):
        return _usage(out, error)
    if isinstance(error, OSError) and error.errno:
        where = f"{error.filename}: " if error.filename else ""
        reason = f"{where}{error.strerror}"
        show(out, "system", out.texts("error.system", reason=reason), out.texts("error.system_move"))
        return UNEXPECTED
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    show(out, "unexpected", out.texts("error.unexpected", reason=reason), out.texts("error.unexpected_move"))
    return UNEXPECTED


def _usage(out: Out, error: Any) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "surefoot"
    show(out, "usage", error.format_message().strip(), out.texts("error.usage_move", command=path))
    return USAGE


def show(out: Out, code: str, message: str, next_move: str = "") -> None:
    """`error  code: message`, and under it what to do."""
    word = out.texts("error.word")
    hang = " " * (len(word) + 4)
    lines = _lines(out, f"{code}: {_cut(redaction.redact(message))}", hang)
    moves = _lines(out, _cut(redaction.redact(next_move)), hang) if next_move else []
    first: Line = [("  ", ""), (word, "red"), (f"  {lines[0]}", "")]
    out.warn(first)
    for line in [*lines[1:], *moves]:
        out.warn(f"{hang}{line}")


def _cut(text: str) -> str:
    """A long text without its middle: the reason stands at its end."""
    half = MAX_SHOWN // 2
    return text if len(text) <= MAX_SHOWN else f"{text[:half]} … {text[-half:]}"


def _lines(out: Out, text: str, hang: str) -> list[str]:
    width = out.err.width
    return folded(prose(text), width - len(hang)) if width else prose(text).split("\n")


def from_arguments(arguments: list[str]) -> bool:
    """`--debug` stands among the arguments, at whatever place before `--`."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--debug" in before


def leave_hard() -> None:
    """A second Ctrl-C: out, at once. What the journal holds is enough to go on or to take back."""
    import os

    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h\r\n")  # the cursor was hidden while the status line ran
        sys.stderr.flush()
    os._exit(INTERRUPTED)
