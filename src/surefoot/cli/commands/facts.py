"""`surefoot facts set|list|remove`: what a flow may use of the person; secrets among it are only ever typed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.storage import Database

app = typer.Typer(
    help="Facts about you that a flow may use, kept encrypted.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called, as in: card number.")]


@app.callback()
def _group() -> None:
    """Facts about you that a flow may use, kept encrypted."""


def _database(cli: Cli) -> Database:
    from surefoot.storage import Database

    return Database(cli.settings.database)


# --- set ---------------------------------------------------------------------------------------------------------


@app.command("set", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def set_fact(
    context: typer.Context,
    name: Name,
    secret: Annotated[
        bool, typer.Option("--secret", help="Keep it as a secret, whatever it is called.")
    ] = False,
) -> int:
    """Keep a fact. Its value is asked for without showing it, or read from standard input; it is never an argument."""
    from surefoot.flows import vault
    from surefoot.flows.facts import checked_name

    cli = cli_of(context)
    _refuse_more(context.args)
    known = checked_name(name)
    _refuse_option(known)
    value = _value(cli, known)
    with _database(cli) as database:
        stored = vault.set_fact(database, known, value, secret=secret)
    cli.out.data(f"  {cli.texts(f'facts.kept_{stored.kind}', name=known)}")
    if stored.cause in {"name", "value", "before"}:
        cli.out.data(f"  {cli.texts(f'facts.because_{stored.cause}')}")
    return 0


def _refuse_more(more: list[str]) -> None:
    """What stands behind the name is most likely the value: it is not repeated, here or anywhere."""
    if not more:
        return
    from surefoot import redaction
    from surefoot.errors import FactError

    redaction.register(*more)
    raise FactError(
        "Behind the name of a fact stands something else. A value is never taken from the command line: other programs "
        "can read it there while the command runs, and the shell's history keeps it.",
        "Give the name alone and type the value when asked, or pass it to standard input. Quote a name with spaces. If "
        "it was a value, delete it from the history.",
        reason="argument",
    )


def _refuse_option(name: str) -> None:
    """A misspelt `--secret` would be taken for the name, and the fact be shared."""
    from surefoot.errors import FactError

    if name.startswith("-"):
        raise FactError(
            f"There is no option {name!r}, and a fact's name here begins with no -.",
            "Write it as in: surefoot facts set nickname --secret",
            reason="name",
        )


def _value(cli: Cli, name: str) -> str:
    """The value: typed without being shown, or all of standard input but the line end behind it."""
    from surefoot import redaction
    from surefoot.cli.requests import read_stdin
    from surefoot.errors import FactError

    if sys.stdin is not None and sys.stdin.isatty():
        from getpass import getpass

        try:
            text = getpass(f"  {cli.texts('facts.value', name=name)} ")
        except EOFError:
            text = ""
    else:
        text = read_stdin().removesuffix("\n").removesuffix("\r")
    if not text.strip():
        raise FactError(
            f"No value was given for {name!r}.", "Type it when asked, or pipe it in.", reason="value"
        )
    redaction.register(text)
    return text


# --- list, remove ------------------------------------------------------------------------------------------------


@app.command("list")
def list_facts(context: typer.Context, json: AsJson = False) -> int:
    """List the facts that are kept: names and kinds, no values."""
    from surefoot.cli.shown import cells, one_line
    from surefoot.flows import vault

    cli = cli_of(context)
    with _database(cli) as database:
        kept = vault.list_facts(database)
    if json:
        cli.out.json([fact.to_dict() for fact in kept])
        return 0
    if not kept:
        cli.out.note(f"  {cli.texts('facts.none')}")
    widest = max((cells(fact.name) for fact in kept), default=0)
    for fact in kept:
        blanks = " " * (widest - cells(fact.name))
        cli.out.data([(f"  {one_line(fact.name)}{blanks}  ", ""), (cli.texts(f"facts.{fact.kind}"), "dim")])
    return 0


@app.command("remove")
def remove_fact(context: typer.Context, name: Name) -> int:
    """Forget a fact."""
    from surefoot.flows import vault

    cli = cli_of(context)
    with _database(cli) as database:
        vault.remove_fact(database, name)
    cli.out.data(f"  {cli.texts('facts.removed', name=name)}")
    return 0
