"""The root of the command line: global options, the commands, and the one place where their errors end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from surefoot.cli import commands, failures
from surefoot.cli.out import Out
from surefoot.cli.session import Cli
from surefoot.cli.texts import Texts, interface_language

ANYWHERE = ("--debug", "--quiet")
"""Global options that count wherever they stand: nobody remembers where an option goes when something went wrong."""


class Group(TyperGroup):
    """The commands, with our errors and exit codes around them."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run; leave the process with the exit code, or return it without `standalone_mode`."""
        given = list(sys.argv[1:] if args is None else args)
        flags, rest = split_flags(given)
        texts = Texts(interface_language())
        out = Out(texts, quiet="--quiet" in flags)
        cli = Cli(out, debug="--debug" in flags)
        if texts.language != "en":
            translate(self, texts)
        run = super().main

        def work() -> Any:
            return run(
                rest,
                prog_name or "surefoot",
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                obj=cli,
                **extra,
            )

        code = failures.guarded(out, work, debug=cli.debug)
        if standalone_mode:
            sys.exit(code)
        return code


def split_flags(arguments: list[str]) -> tuple[set[str], list[str]]:
    """The options that count anywhere, and the arguments without them; what follows `--` is left alone."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    flags = {word for word in arguments[:end] if word in ANYWHERE}
    return flags, [word for place, word in enumerate(arguments) if place >= end or word not in ANYWHERE]


def translate(command: Any, texts: Texts, path: str = "") -> None:
    """Put the help texts of a command, its options and its commands into the interface's language."""
    key = f"help{path}"
    if texts.has(f"{key}._"):
        command.help = texts(f"{key}._")
        command.short_help = None
    for parameter in command.params:
        if texts.has(f"{key}.{parameter.name}"):
            parameter.help = texts(f"{key}.{parameter.name}")
    for name, child in getattr(command, "commands", {}).items():
        translate(child, texts, f"{path}.{name}")


app = typer.Typer(
    name="surefoot",
    cls=Group,
    help="Plans what you ask, shows each step, writes everything down, and can take it back.",
    rich_markup_mode=None,  # rich would double the time that --help takes
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    import platform
    from importlib.metadata import PackageNotFoundError, version

    print(f"surefoot {version('surefoot')}")
    try:
        local = f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        local = "xllamacpp is not installed"
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {local}")
    raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks of errors. May stand anywhere.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Show no progress, only what was asked for. May stand anywhere.")
    ] = False,
) -> None:
    del version, debug, quiet
    if context.invoked_subcommand is None:
        print(context.get_help())


commands.register(app)


def keep_standard_places() -> None:
    """Open what was closed of 0, 1 and 2, or the next file would stand there and get what is meant for a screen."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def main() -> None:
    """Run what the process was called with, and end it."""
    keep_standard_places()
    app()
