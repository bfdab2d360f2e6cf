"""`surefoot flow check|guide|schema|fmt`: scripts of plain-language steps. No model is asked, and nothing is run.

`surefoot flow plan` stands in a file of its own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from pathlib import Path

    from surefoot.flows import FactNames, Problem
    from surefoot.flows.source import Source


class Surface(StrEnum):
    """What a flow can act on, as an option."""

    BROWSER = "browser"
    DESKTOP = "desktop"


FlowFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="The flow, JSON or YAML; - is standard input.")
]
Facts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fact", metavar="NAME", help="A fact that will be there: its name only. May be given again."
    ),
]
Secrets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME",
        help="A secret fact that will be there: its name only. May be given again.",
    ),
]
Surfaces: TypeAlias = Annotated[
    list[Surface] | None,
    typer.Option(
        "--surface",
        metavar="browser|desktop",
        help="What there is to act on; both where none is named. May be given again.",
    ),
]
OnlyCheck: TypeAlias = Annotated[
    bool, typer.Option("--check", help="Change nothing; exit 1 where the layout is another one.")
]
Printed: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print the flow as JSON instead, also where it is YAML; the file stays."),
]

STDIN = "-"


def check(
    context: typer.Context,
    file: FlowFile,
    fact: Facts = None,
    secret: Secrets = None,
    surface: Surfaces = None,
    json: AsJson = False,
) -> int:
    """Check a flow, and say what is wrong with it and how to mend it."""
    from surefoot.flows import check_flow
    from surefoot.flows.steps import SURFACES
    from surefoot.models import keys

    cli = cli_of(context)
    keys.mask_environment()  # a problem quotes the file
    facts = fact_names(fact, secret)
    source = read(file)
    problems = check_flow(source, facts, surfaces=frozenset(map(str, surface)) if surface else SURFACES)
    if json:
        cli.out.json({"problems": [problem.to_dict() for problem in problems]})
    else:
        _show(cli, file, problems)
    return 1 if problems else 0


def guide(context: typer.Context) -> int:
    """Print how a flow is written, for people and for models."""
    from surefoot.flows import flow_guide

    cli_of(context).out.piece(flow_guide())
    return 0


def schema(context: typer.Context) -> int:
    """Print the JSON Schema of flows, for editors and other programs."""
    from surefoot.flows import flow_schema

    cli_of(context).out.json(flow_schema())
    return 0


def fmt(context: typer.Context, file: FlowFile, check: OnlyCheck = False, json: Printed = False) -> int:
    """Lay a flow of JSON out as all flows are; its meaning stays."""
    from surefoot.flows.formatting import layout

    cli = cli_of(context)
    before, source = _text_and_source(file)
    if json:
        cli.out.piece(layout(source.value, ascii_only=not cli.out.out.can_show(layout(source.value))))
        return 0
    if source.form == "yaml":
        raise _yaml_stays(file)
    after = layout(source.value)
    if "\r\n" in before:  # as the person's editor or version control wants it
        after = after.replace("\n", "\r\n")
    if check:
        if after != before:
            cli.out.data(cli.texts("flow.would_change", file=file))
        return int(after != before)
    if file == STDIN:
        cli.out.piece(after if cli.out.out.can_show(after) else layout(source.value, ascii_only=True))
    elif after == before:
        cli.out.note(cli.texts("flow.as_it_was", file=file))
    else:
        _replace(file, before, after)
        cli.out.note(cli.texts("flow.laid_out", file=file))
    return 0


app = typer.Typer(
    help="Flows: scripts of plain-language steps for pages and applications.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("check")(check)
app.command("guide")(guide)
app.command("schema")(schema)
app.command("fmt")(fmt)


# --- what is given -----------------------------------------------------------------------------------------------


def fact_names(shared: list[str] | None, secret: list[str] | None) -> FactNames:
    """The names given with `--fact` and `--secret`.

    Raises:
        InputError: one of them brings a value, or is empty. The value is not repeated.
    """
    from surefoot.flows import FactNames

    return FactNames(shared=_names("--fact", shared), secret=_names("--secret", secret))


def _names(option: str, given: list[str] | None) -> tuple[str, ...]:
    from surefoot.errors import InputError
    from surefoot.flows._shown import masked

    for one in given or ():
        name, sign, _ = one.partition("=")
        if sign:
            known = repr(masked(name))  # a person may have written the two the wrong way round
            raise InputError(
                f"{option} takes a name only, and here a value comes with {known}.",
                f"Write {option} {known}: what is checked and planned needs no values.",
                option=option,
            )
        if not name.strip():
            raise InputError(f"{option} was given without a name.", f"Write it as in {option} email.")
    return tuple(name.strip() for name in given or ())


def read(file: str) -> Source:
    """The flow in this file, or on standard input; UnreadableInputError."""
    return _text_and_source(file)[1]


def _text_and_source(file: str) -> tuple[str, Source]:
    from surefoot.cli.requests import read_file
    from surefoot.flows.source import MAX_CHARS, read_flow

    text = read_file(file, MAX_CHARS * 4)  # bytes: no character of UTF-8 has more than four
    return text, read_flow(text, name="standard input" if file == STDIN else file)


def _yaml_stays(file: str) -> Exception:
    from surefoot.errors import InputError

    name = "Standard input" if file == STDIN else repr(file)
    return InputError(
        f"{name} is YAML, and only JSON is laid out: comments would be lost.",
        f"`surefoot flow fmt --json {file}` prints it as JSON.",
    )


# --- what is shown -----------------------------------------------------------------------------------------------


def _show(cli: Cli, file: str, problems: list[Problem]) -> None:
    from surefoot.cli.shown import one_line

    name = one_line(file)
    for problem in problems:
        line = "" if problem.line is None else f"{problem.line}:"
        cli.out.data(
            [
                (f"{name}:{line} ", "bold"),
                (f"{one_line(_where(cli, problem))}: {one_line(problem.message)}", ""),
                (f"  [{problem.code}]", "dim"),
            ]
        )
    if problems:
        cli.out.data(cli.texts.count("flow.problems", len(problems), file=name))
    else:
        cli.out.data(cli.texts("flow.valid", file=name))


def _where(cli: Cli, problem: Problem) -> str:
    if problem.path[:1].isdigit():
        return cli.texts("flow.step", path=problem.path)
    return problem.path or cli.texts("flow.whole")


def _replace(file: str, before: str, after: str) -> None:
    """Write the file anew, whole or not at all; its owner and permissions stay, and a link to it stays a link.

    Raises:
        InputError: it is no plain file.
        StateError: it is not what was read any more.
        StorageError: it or its folder cannot be written.
    """
    from pathlib import Path

    from surefoot.errors import InputError, StorageError

    target = Path(file).resolve()
    if not target.is_file():
        raise InputError(
            f"{file!r} is no plain file, and only such a one is laid out in its place.",
            "Pipe it: `surefoot flow fmt -` prints it laid out.",
            path=file,
        )
    try:
        _put_in_place(file, target, before, after)
    except OSError as error:
        raise StorageError(
            f"{file!r} cannot be written: {error.strerror or error}. It is as it was.",
            "Allow writing to its folder, or print it: `surefoot flow fmt - < FILE`.",
            path=file,
        ) from error


def _put_in_place(file: str, target: Path, before: str, after: str) -> None:
    """A new file beside it, on the disk before it takes the place; gone again where that fails."""
    import os
    import shutil
    import tempfile
    from contextlib import suppress
    from pathlib import Path

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    made = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as new:
            new.write(after)
            new.flush()
            os.fsync(new.fileno())
        shutil.copymode(target, made)
        with suppress(OSError, AttributeError):  # another owner's only where that may be; Windows has no such
            os.chown(made, target.stat().st_uid, target.stat().st_gid)
        _need_unchanged(file, before)
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _need_unchanged(file: str, before: str) -> None:
    """An editor may have saved it since it was read: that is not written over."""
    from surefoot.errors import StateError

    if _text_and_source(file)[0] != before:
        raise StateError(
            f"{file!r} was changed meanwhile; it is left as it is now.", "Run it again.", path=file
        )
