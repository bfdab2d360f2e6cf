"""`surefoot models list|pull|check`: which models there are, fetching the embedded one, asking one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
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
    found = [_embedded(cli), *await _ollama(cli), _own_server(cli)]
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


def _embedded(cli: Cli) -> Listed:
    from importlib.util import find_spec

    from surefoot.models import weights
    from surefoot.models.registry import EMBEDDED

    name = f"local:{EMBEDDED}"
    if find_spec("xllamacpp") is None:
        return Listed(name, available=False, note=cli.texts("models.no_extra"))
    here = weights.find(EMBEDDED, cli.settings) is not None
    return Listed(name, available=here, note=cli.texts("models.here" if here else "models.not_here"))


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


def _own_server(cli: Cli) -> Listed:
    url = cli.settings.openai_url
    note = cli.texts("models.openai_set", url=url) if url else cli.texts("models.openai_unset")
    return Listed("openai:…", available=bool(url), note=note)


def _show(cli: Cli, listed: Listed) -> None:
    from surefoot.cli.steps import COLOURS, fitted

    out = cli.out.out
    mark = "done" if listed.available else "dot"
    note = f"{listed.note}, {cli.texts('models.chosen')}".lstrip(", ") if listed.chosen else listed.note
    symbol = out.symbols[mark]
    before = f" {listed.name}  "
    words = fitted(note, out, len(symbol + before) + 2)
    cli.out.data([("  ", ""), (symbol, COLOURS[mark]), (before, ""), (words, "dim")])


# --- check -------------------------------------------------------------------------------------------------------


@app.command("check")
def check(context: typer.Context, model: ModelName = "", json: AsJson = False) -> int:
    """Ask a model a short question, and say what it can do."""
    cli = cli_of(context)
    return cli.run(lambda: _check(cli, model, as_json=json))


async def _check(cli: Cli, name: str, *, as_json: bool) -> int:
    from surefoot.cli.session import interruptible

    async with cli.assistant(model=name) as assistant:
        with cli.out.waiting_for(cli.texts("status.checking")):
            model = await interruptible(assistant.model())
            able = await interruptible(model.capabilities())
            found = await interruptible(_asked(model, cli.settings, able))
    if as_json:
        cli.out.json(found | {"model": model.name, "capabilities": abilities(able)})
    else:
        _tell(cli, model.name, able, found)
    return 0 if found["text"] else 3


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
