"""`surefoot doctor`: what works here, what is missing, and how to get it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.planning.flow_models import Configured
    from surefoot.settings import Settings

ROOM_NEEDED = 1_500_000_000
"""Bytes: the weights of the embedded model, its kept prompts, and some air."""


@dataclass(frozen=True)
class Check:
    """One look. `level`: `ok`, `optional` (missing, and not needed) or `problem`."""

    name: str
    level: str
    text: str
    move: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The look as JSON."""
        return {"name": self.name, "level": self.level, "text": self.text, "move": self.move or None}


def doctor(context: typer.Context, json: AsJson = False) -> int:
    """Say what works here, what is missing, and how to get it."""
    cli = cli_of(context)
    with cli.out.waiting_for(cli.texts("status.checking")):
        checks = cli.run(lambda: look(cli))
    problems = sum(check.level == "problem" for check in checks)
    if json:
        cli.out.json({"fine": not problems, "checks": [check.to_dict() for check in checks]})
    else:
        _show(cli, checks, problems)
    return 1 if problems else 0


async def look(cli: Cli) -> list[Check]:
    """All looks, in the order in which a person would mend things."""
    checks = [_python(cli)]
    try:
        settings = cli.settings
    except Exception as error:  # noqa: BLE001 - this is what it is here to tell
        return [*checks, Check("settings", "problem", str(error))]
    here: list[Callable[[Cli, Settings], Check]] = [
        _settings_file, _data, _zone, _language, _disk, _engine, _weights, _openai, _search,
    ]  # fmt: skip
    checks += [found(cli, settings) for found in (*here, *([_servers] if settings.mcp else []))]
    far: list[Coroutine[Any, Any, Check]] = [
        _database(cli, settings),
        _ollama(cli, settings),
        _model(cli, settings),
    ]
    import asyncio

    return [*checks, *await asyncio.gather(*far), *await _flows(cli, settings)]


def _text(cli: Cli, key: str, **values: object) -> str:
    return cli.texts(f"doctor.text.{key}", **values)


def _move(cli: Cli, key: str) -> str:
    return cli.texts(f"doctor.move.{key}")


def _python(cli: Cli) -> Check:
    import platform

    return Check("python", "ok", _text(cli, "python", version=platform.python_version(), path=sys.executable))


def _settings_file(cli: Cli, settings: Settings) -> Check:
    from surefoot.settings import settings_file

    path = settings_file()
    wrong = list(misnamed(cli, settings))
    if wrong:
        return Check("settings", "problem", " ".join(wrong), _move(cli, "names"))
    return Check(
        "settings", "ok", _text(cli, "settings_file" if path.exists() else "settings_none", path=path)
    )


def misnamed(cli: Cli, settings: Settings) -> Iterator[str]:
    """A sentence for each name that was set and that nothing reads: what it says is not done."""
    import os
    from difflib import get_close_matches

    from surefoot.running.budget import Limits
    from surefoot.settings import Settings as Known
    from surefoot.tools.kits import builtin
    from surefoot.tools.mcp.servers import is_of_server
    from surefoot.tools.types import Effect

    tools = builtin()
    policies = {*(tool.name for tool in tools), *(tool.kit for tool in tools), *map(str, Effect)}
    variables = {f"SUREFOOT_{name.upper()}" for name in Known.model_fields} | {"SUREFOOT_CONFIG_DIR"}
    given = {name.partition("__")[0] for name in os.environ if name.upper().startswith("SUREFOOT_")}
    for what, names, known in (
        ("variable", {name.upper() for name in given}, variables),
        (
            "policy",
            {name for name in settings.policy if not is_of_server(name, settings.mcp)},
            {name.casefold() for name in policies},
        ),
        ("limit", set(settings.limits), {field.name for field in fields(Limits)}),
    ):
        for name in sorted(names - known):
            near = get_close_matches(name, known, n=1)
            hint = " " + _text(cli, "near", name=near[0]) if near else ""
            yield _text(cli, f"misnamed_{what}", name=name) + hint


def _servers(cli: Cli, settings: Settings) -> Check:
    """Their tables, and that the extra is there; `tools check` opens them."""
    from surefoot.errors import SettingsError
    from surefoot.tools.mcp.sdk import installed
    from surefoot.tools.mcp.servers import read_servers

    try:
        servers = read_servers(settings.mcp)
    except SettingsError as error:
        return Check("mcp", "problem", error.message, error.next_move)
    if servers and not installed():
        return Check("mcp", "problem", _text(cli, "mcp_missing"), _move(cli, "mcp"))
    return Check("mcp", "ok", _text(cli, "mcp", servers=", ".join(servers) or "-"))


def _data(cli: Cli, settings: Settings) -> Check:
    import tempfile

    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        return Check(
            "data", "problem", _text(cli, "data_bad", path=folder, reason=reason), _move(cli, "data")
        )
    return Check("data", "ok", _text(cli, "data", path=folder))


def _zone(cli: Cli, settings: Settings) -> Check:
    from datetime import UTC, datetime

    return Check(
        "zone", "ok", _text(cli, "zone", zone=settings.zone_name, now=cli.times.moment(datetime.now(UTC)))
    )


def _language(cli: Cli, settings: Settings) -> Check:
    answers = settings.language or cli.texts.language
    return Check("language", "ok", _text(cli, "language", answers=answers, interface=cli.texts.language))


def _disk(cli: Cli, settings: Settings) -> Check:
    import shutil

    from surefoot.cli.sentences import size_words

    folder = settings.cache_dir
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    level = "ok" if free >= ROOM_NEEDED else "optional"
    move = "" if level == "ok" else _move(cli, "disk")
    return Check("disk", level, _text(cli, "disk", free=size_words(free)), move)


def _engine(cli: Cli, settings: Settings) -> Check:
    del settings
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Check("xllamacpp", "ok", _text(cli, "xllamacpp", version=version("xllamacpp")))
    except PackageNotFoundError:
        return Check("xllamacpp", "optional", _text(cli, "xllamacpp_none"), _move(cli, "xllamacpp"))


def _weights(cli: Cli, settings: Settings) -> Check:
    from surefoot.cli.sentences import size_words
    from surefoot.models import weights
    from surefoot.models.registry import EMBEDDED

    path = weights.find(EMBEDDED, settings)
    if path is None:
        return Check("weights", "optional", _text(cli, "weights_none", name=EMBEDDED), _move(cli, "weights"))
    size = size_words(path.stat().st_size)
    return Check("weights", "ok", _text(cli, "weights", name=EMBEDDED, size=size, path=path))


def _openai(cli: Cli, settings: Settings) -> Check:
    if not settings.openai_url:
        return Check("openai", "optional", _text(cli, "openai_none"), _move(cli, "openai"))
    return Check("openai", "ok", _text(cli, "openai", url=settings.openai_url))


def _search(cli: Cli, settings: Settings) -> Check:
    if not settings.searxng_url:
        return Check("search", "optional", _text(cli, "search_none"), _move(cli, "search"))
    return Check("search", "ok", _text(cli, "search", url=settings.searxng_url))


async def _database(cli: Cli, settings: Settings) -> Check:
    """Opened and read as every command does; made only where it is there already."""
    import asyncio

    from surefoot.errors import SurefootError
    from surefoot.storage.database import BUSY_SECONDS
    from surefoot.storage.place import place_of
    from surefoot.storage.upgrade import known_versions, look_at

    try:
        place = place_of(settings.database, BUSY_SECONDS)
        if not place.path.exists() if place.path else not await asyncio.to_thread(look_at, place):
            return Check("database", "ok", _text(cli, "database_none", path=place.name))
        async with cli.assistant() as assistant:
            await (await assistant.journal()).runs(limit=1)
    except SurefootError as error:
        return Check("database", "problem", error.message, error.next_move)
    return Check("database", "ok", _text(cli, "database", path=place.name, version=known_versions()[-1]))


async def _ollama(cli: Cli, settings: Settings) -> Check:
    from surefoot.cli.commands.models import ollama_models

    names = await ollama_models(settings)
    if names is None:
        return Check(
            "ollama", "optional", _text(cli, "ollama_down", url=settings.ollama_url), _move(cli, "ollama")
        )
    if not names:
        text = _text(cli, "ollama_none", url=settings.ollama_url)
        return Check("ollama", "optional", text, _move(cli, "ollama_none"))
    shown = ", ".join(names)
    return Check("ollama", "ok", _text(cli, "ollama", url=settings.ollama_url, names=shown))


async def _model(cli: Cli, settings: Settings) -> Check:
    """The one thing that must be there: some model."""
    from surefoot.errors import SurefootError
    from surefoot.models import default_model

    try:
        model = await default_model(settings)
    except SurefootError as error:
        return Check("model", "problem", error.message, error.next_move)
    try:
        return Check("model", "ok", _text(cli, "model", name=model.name))
    finally:
        await model.close()


async def _flows(cli: Cli, settings: Settings) -> list[Check]:
    """The models of flows; each may be missing, and everything else works."""
    from surefoot.planning.flow_models import configuration

    found = (await configuration(settings)).values()
    return [_flow_model(cli, one) for one in found]


def _flow_model(cli: Cli, one: Configured) -> Check:
    name = f"flow_{one.role}"
    if one.wrong:
        text = _text(cli, "flow_wrong", model=one.model, reason=one.wrong) if one.model else one.wrong
        return Check(name, "optional", text, _move(cli, "flow"))
    said = _text(cli, "flow_model_at" if one.base_url else "flow_model", model=one.model, url=one.base_url)
    if one.key_found:
        said = _text(cli, "flow_key", said=said, name=one.key_name)
    if one.note:
        return Check(name, "ok", _text(cli, "flow_default", said=said))
    return Check(name, "ok", said)


# --- shown -------------------------------------------------------------------------------------------------------

MARKS = {"ok": "done", "optional": "dot", "problem": "failed"}
NAME_WIDTH = 20


def _show(cli: Cli, checks: list[Check], problems: int) -> None:
    from surefoot.cli.shown import cells, folded
    from surefoot.cli.steps import COLOURS

    out = cli.out.out
    for check in checks:
        name = cli.texts(f"doctor.name.{check.name}")
        symbol = out.symbols[MARKS[check.level]]
        pad = " " * max(NAME_WIDTH - cells(name), 1)
        hang = " " * (2 + len(symbol) + 1 + NAME_WIDTH)
        lines = [check.text, check.move] if check.move else [check.text]
        if out.width:
            lines = [part for line in lines for part in folded(line, max(out.width - len(hang), 20))]
        cli.out.data([("  ", ""), (symbol, COLOURS[MARKS[check.level]]), (f" {name}{pad}{lines[0]}", "")])
        for line in lines[1:]:
            cli.out.data(hang + line)
    cli.out.data("")
    words = cli.texts.count("doctor.problems", problems) if problems else cli.texts("doctor.fine")
    cli.out.data(f"  {words}")
