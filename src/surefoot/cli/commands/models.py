"""`surefoot models list|pull|check`: which models there are, fetching the embedded one, asking one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from surefoot.models.routes import Route
    from surefoot.models.types import Capabilities, LanguageModel
    from surefoot.settings import Settings

app = typer.Typer(help="The language models.", no_args_is_help=True, rich_markup_mode=None)

ABILITIES = ("tools", "json_schema", "grammar", "logprobs")


@app.callback()
def _group() -> None:
    """The language models."""


# --- list --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """One line of the list. `available`: it can be used now."""

    name: str
    available: bool
    note: str = ""
    chosen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON."""
        return {
            "name": self.name,
            "available": self.available,
            "note": self.note or None,
            "chosen": self.chosen,
        }


@app.command("list")
def list_models(context: typer.Context, json: AsJson = False) -> int:
    """List the models that can be used here."""
    cli = cli_of(context)
    with cli.out.waiting_for(cli.texts("status.checking")):
        found = cli.run(lambda: _list(cli))
    if json:
        cli.out.json([listed.to_dict() for listed in found])
        return 0
    for listed in found:
        _show(cli, listed)
    return 0


async def _list(cli: Cli) -> list[Listed]:
    chosen = await _chosen(cli.settings)
    found = [*_embedded(cli), *await _ollama(cli), *_routes(cli)]
    if chosen and chosen not in {listed.name for listed in found}:
        found.insert(0, Listed(chosen, available=True))
    return [Listed(one.name, one.available, one.note, chosen=one.name == chosen) for one in found if one.name]


async def _chosen(settings: Settings) -> str:
    """The model that answers when nobody names one; empty when there is none."""
    from surefoot.errors import SurefootError
    from surefoot.models import default_model

    try:
        model = await default_model(settings)
    except SurefootError:
        return ""
    try:
        return model.name
    finally:
        await model.close()


def _embedded(cli: Cli) -> list[Listed]:
    from importlib.util import find_spec

    from surefoot.models import weights

    engine = find_spec("xllamacpp") is not None
    found = []
    for entry in weights.installed(cli.settings):
        note = cli.texts("models.here" if entry.ready else "models.not_here")
        name = f"local:{entry.model.name}"
        found.append(Listed(name, entry.ready and engine, note if engine else cli.texts("models.no_extra")))
    return found


async def _ollama(cli: Cli) -> list[Listed]:
    names = await ollama_models(cli.settings)
    if names:
        return [Listed(f"ollama:{name}", available=True, note=cli.texts("models.here")) for name in names]
    note = cli.texts(
        "models.ollama_down" if names is None else "models.ollama_none", url=cli.settings.ollama_url
    )
    return [Listed("ollama:…", available=False, note=note)]


async def ollama_models(settings: Settings) -> list[str] | None:
    """Names of the models of a running Ollama; None when none answers."""
    from surefoot.errors import SurefootError
    from surefoot.models.ollama import installed

    try:
        return await installed(settings)
    except SurefootError:
        return None


def _routes(cli: Cli) -> list[Listed]:
    """Hosted servers and those of the settings. The others on this machine are not asked whether they run."""
    from surefoot.models import routes

    found = (routes.find_route(name, cli.settings) for name in routes.names(cli.settings))
    return [_route(cli, route) for route in found if route and not (route.local and route.built_in)]


def _route(cli: Cli, route: Route) -> Listed:
    from surefoot.models.keys import find_key

    if not route.local and route.key_name and find_key(route.key_name) is None:
        note = cli.texts("models.no_key", name=route.key_name)
        return Listed(f"{route.name}:…", available=False, note=note)
    return Listed(f"{route.name}:…", available=True, note=cli.texts("models.route", url=route.base_url))


def _show(cli: Cli, listed: Listed) -> None:
    from surefoot.cli.steps import COLOURS, fitted

    out = cli.out.out
    mark = "done" if listed.available else "dot"
    note = f"{listed.note}, {cli.texts('models.chosen')}".lstrip(", ") if listed.chosen else listed.note
    symbol = out.symbols[mark]
    before = f" {listed.name}  "
    words = fitted(note, out, len(symbol + before) + 2)
    cli.out.data([("  ", ""), (symbol, COLOURS[mark]), (before, ""), (words, "dim")])


# --- pull --------------------------------------------------------------------------------------------------------


@app.command("pull")
def pull(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The model; the embedded one where none is named.")
    ] = "",
) -> int:
    """Fetch the embedded model, check it, and prepare the planner's prompt."""
    from surefoot.cli.sentences import size_words
    from surefoot.models import weights
    from surefoot.models.registry import EMBEDDED

    cli = cli_of(context)
    chosen = name.removeprefix("local:") or EMBEDDED
    settings = cli.settings
    with Bar(cli) as bar:
        path = weights.pull(chosen, settings.cache_dir, bar, offline=settings.offline)
    size = size_words(path.stat().st_size)
    cli.out.data(f"  {cli.texts('models.pulled', name=chosen, size=size, path=path)}")
    return cli.run(lambda: _prepare(cli, f"local:{chosen}"))


async def _prepare(cli: Cli, name: str) -> int:
    """Let the model read what stands at the beginning of every plan's prompt, and keep that on the disk."""
    from importlib.util import find_spec

    from surefoot.cli.session import interruptible
    from surefoot.planning.flow_planner import FlowPlanner

    if find_spec("xllamacpp") is None:
        cli.out.warn(f"  {name}: {cli.texts('models.no_extra')}")
        return 1
    async with cli.assistant(model=name) as assistant:
        with cli.out.waiting_for(cli.texts("status.warming")):
            await interruptible(assistant.warm())
            await interruptible(FlowPlanner(await assistant.model(), num_ctx=cli.settings.num_ctx).warm())
    cli.out.data(f"  {cli.texts('models.prefix')}")
    return 0


class Bar:
    """Progress of a download: a bar in a terminal, a line for each tenth elsewhere."""

    def __init__(self, cli: Cli) -> None:
        self._out = cli.out
        self._what = ""
        self._tenth = -1
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._out.err.terminal and not self._out.quiet:
            self._bar = self._made()
            self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """So much is done; a new `what` starts anew."""
        if self._bar is None:
            self._in_lines(what, done, total)
            return
        if self._task is None or what != self._what:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(what, total=total)
            self._what = what
        self._bar.update(self._task, completed=done, total=total)

    def _in_lines(self, what: str, done: int, total: int) -> None:
        from surefoot.cli.sentences import size_words

        tenth = 10 * done // total if total else 0
        if (what, tenth) != (self._what, self._tenth):
            self._what, self._tenth = what, tenth
            self._out.note(f"  {what}  {size_words(done)} / {size_words(total)}")

    def _made(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(file=self._out.err.stream, markup=False, highlight=False, emoji=False)
        return Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            redirect_stdout=False,
            redirect_stderr=False,
        )


# --- check -------------------------------------------------------------------------------------------------------


@app.command("check")
def check(context: typer.Context, model: ModelName = "", json: AsJson = False) -> int:
    """Check a model: its weights where they are ours, a short question, what it can do."""
    cli = cli_of(context)
    return cli.run(lambda: _check(cli, model, as_json=json))


async def _check(cli: Cli, name: str, *, as_json: bool) -> int:
    from surefoot.cli.session import interruptible

    async with cli.assistant(model=name) as assistant:
        with cli.out.waiting_for(cli.texts("status.checking")):
            model = await interruptible(assistant.model())
            await _whole(model.name, cli.settings)
            able = await interruptible(model.capabilities())
            found = await interruptible(_asked(model, cli.settings, able))
    if as_json:
        cli.out.json(found | {"model": model.name, "capabilities": abilities(able)})
    else:
        _tell(cli, model.name, able, found)
    return 0 if found["text"] else 3


async def _whole(name: str, settings: Settings) -> None:
    """The weights of an embedded model are read again and compared with what they should be."""
    import asyncio

    from surefoot.models import weights

    provider, _, chosen = name.partition(":")
    if provider == "local" and chosen in {model.name for model in weights.table()}:
        await asyncio.to_thread(weights.check, chosen, settings)


async def _asked(model: LanguageModel, settings: Settings, able: Capabilities) -> dict[str, Any]:
    import time

    from surefoot.models.types import Message, Request

    start = time.monotonic()
    completion = await model.complete(
        Request(
            messages=(Message("user", "Answer with the one word: ready"),),
            max_tokens=8,
            num_ctx=settings.num_ctx,
            timeout=settings.local_timeout_sec if able.local else 60.0,
            purpose="reply",
        )
    )
    return {
        "text": completion.text.strip(),
        "tokens": completion.usage.prompt_tokens + completion.usage.output_tokens,
        "seconds": round(time.monotonic() - start, 3),
    }


def abilities(able: Capabilities) -> dict[str, Any]:
    """What a model can do, as JSON."""
    return {
        **{name: getattr(able, name) for name in ABILITIES},
        "context_length": able.context_length,
        "family": able.family,
        "encoding": able.encoding,
        "local": able.local,
    }


def _tell(cli: Cli, name: str, able: Capabilities, found: dict[str, Any]) -> None:
    from surefoot.cli.sentences import seconds_words

    texts = cli.texts
    if found["text"]:
        tokens = texts.count("summary.tokens", found["tokens"])
        cli.out.data(
            f"  {texts('models.check_good', name=name, took=seconds_words(found['seconds']), tokens=tokens)}"
        )
    else:
        cli.out.data(f"  {texts('models.check_bad', name=name)}")
    can = [texts(f"models.can.{one}") for one in ABILITIES if getattr(able, one)] or [
        texts("models.can.nothing")
    ]
    context = able.context_length or texts("models.can.unknown")
    cli.out.data(
        f"  {texts('models.can.line', what=', '.join(can), context=context, encoding=able.encoding)}"
    )
