"""`surefoot plan`: the plan and why it is this one. Nothing is run."""

from __future__ import annotations

import json as jsonlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.models.types import LanguageModel, Usage
    from surefoot.planning.outline import Outline, Step
    from surefoot.running.session import Session
    from surefoot.tools.catalogue import Catalogue


def plan(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What you want; - reads it from standard input."),
    ] = None,
    tools: Annotated[
        str,
        typer.Option(
            "--tools",
            metavar="FILE",
            help="Plan with these tools: a JSON list of function schemas as OpenAI has them; - is standard input.",
        ),
    ] = "",
    written: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Read a plan that is already written instead of asking a model; - is standard input.",
        ),
    ] = "",
    model: ModelName = "",
    json: AsJson = False,
) -> int:
    """Show the plan for a request and why it is this one; run nothing."""
    from surefoot.cli.requests import request_text

    cli = cli_of(context)
    _check_use(text, written, tools)
    catalogue = _catalogue(tools)
    if written:
        found = _read(cli, written, catalogue)
    else:
        request = request_text(text or [])
        found = cli.run(lambda: _made(cli, request, model, catalogue))
    if json:
        cli.out.json(found.to_dict())
    else:
        _show(cli, found)
    return found.exit_code


@dataclass
class Found:
    """A plan, and how it came about. `failed` is a code, `error` what stands behind it."""

    outline: Outline
    catalogue: Catalogue
    failed: str | None = None
    skipped: str = ""
    encoding: str | None = None
    model: str | None = None
    usage: Usage | None = None
    offered: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    exit_code: int = 0
    answer: str = field(default="", repr=False)

    def steps(self) -> list[dict[str, Any]]:
        """The steps as JSON; the arguments of those that would run as they are, as the tools would get them."""
        return [
            {**step.to_dict(), "arguments": _called_with(step, self.catalogue)} for step in self.outline.steps
        ]

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON."""
        usage = self.usage
        return {
            "steps": self.steps(),
            "failed": self.failed,
            "skipped": self.skipped or None,
            "encoding": self.encoding,
            "model": self.model,
            "usage": usage
            and {
                "prompt_tokens": usage.prompt_tokens,
                "cached_tokens": usage.cached_tokens,
                "output_tokens": usage.output_tokens,
                "seconds": round(usage.seconds, 3),
            },
            "error": self.error,
        }


def _called_with(step: Step, catalogue: Catalogue) -> dict[str, Any]:
    """The values a call of this step would have. A null that was written stays to be seen: it says "not set"."""
    from surefoot.errors import ArgumentError
    from surefoot.tools.arguments import prepare

    if not step.concrete or not step.tool:
        return step.arguments
    try:
        called, _ = prepare(catalogue.get(step.tool), step.arguments)
    except ArgumentError:
        return step.arguments
    return {
        name: called.get(name) for name, value in step.arguments.items() if name in called or value is None
    }


def _check_use(text: list[str] | None, written: str, tools: str) -> None:
    if bool(text) == bool(written):
        both = "both a request and --from" if text else "neither a request nor --from"
        raise typer.BadParameter(f"there is {both}; give one of them")
    if [*(text or []), written, tools].count("-") > 1:
        raise typer.BadParameter("standard input can be read once only")


def _catalogue(tools: str) -> Catalogue:
    from surefoot.tools.catalogue import Catalogue

    if not tools:
        from surefoot.tools.kits import builtin

        return Catalogue(builtin())
    from surefoot.cli.requests import read_file
    from surefoot.errors import UnreadableInputError

    text = read_file(tools)
    try:
        return Catalogue.from_function_schemas(jsonlib.loads(text))
    except (ValueError, RecursionError) as error:
        reason = "it nests too deep" if isinstance(error, RecursionError) else error
        raise UnreadableInputError(
            f"{tools!r} is no JSON that can be read: {reason}.",
            "Give a JSON list of function schemas.",
            path=tools,
        ) from error


def _read(cli: Cli, written: str, catalogue: Catalogue) -> Found:
    from surefoot.cli.requests import read_plan
    from surefoot.planning.parse import parse_outline

    outline = parse_outline(read_plan(written), catalogue, cli.settings.max_steps)
    return Found(
        outline, catalogue, failed=None if outline.steps else "empty", exit_code=int(not outline.steps)
    )


async def _made(cli: Cli, request: str, model_name: str, catalogue: Catalogue) -> Found:
    from surefoot.cli.session import interruptible
    from surefoot.models import planner_model

    cli.out.wait_for(cli.texts("status.starting"))
    async with cli.assistant(model=model_name) as assistant:
        chat = await assistant.model()
        planner = await planner_model(cli.settings, chat)
        try:
            cli.out.wait_for(cli.texts("status.planning"))
            session = await assistant.draft(request, catalogue)
            return await interruptible(_planned(session, planner))
        finally:
            cli.out.wait_for("")
            if planner is not chat:
                await planner.close()


async def _planned(session: Session, model: LanguageModel) -> Found:
    """The planner fails open, so that a turn goes on; here the reason is what the person wants to know."""
    from surefoot.assistant.planned import planned
    from surefoot.assistant.router import Router
    from surefoot.errors import SurefootError
    from surefoot.models.types import Completion, Request

    caught: list[SurefootError] = []

    async def complete(asked: Request) -> Completion:
        try:
            return await model.complete(asked)
        except SurefootError as error:
            caught.append(error)
            raise

    await model.capabilities()
    catalogue = session.catalogue
    offered = Router(list(catalogue)).route(session.run.goal).names
    made = await planned(session, model, offered=offered, complete=complete, check=complete)
    found = Found(
        made.outline, catalogue, made.failed, made.skipped, made.encoding, model.name, offered=offered
    )
    if made.completion is not None:
        found.usage = made.completion.usage
        found.answer = made.completion.text
    if made.failed:
        found.exit_code = 3 if made.failed == "timeout" else 1
        if caught:
            found.error, found.exit_code = caught[-1].to_dict(), caught[-1].exit_code
    return found


# --- shown -------------------------------------------------------------------------------------------------------


def _show(cli: Cli, found: Found) -> None:
    from surefoot.cli.failures import show
    from surefoot.cli.sentences import numbered
    from surefoot.cli.steps import plan_lines

    out, texts = cli.out, cli.texts
    for line in plan_lines(out.out, texts, found.steps()):
        out.data(line)
    if found.error:
        show(out, found.error["code"], found.error["message"], found.error["next_move"])
    elif found.failed or found.skipped:
        reason = found.failed or found.skipped
        out.warn(f"  {texts('plan.failed', reason=reason)}")
    if found.outline.steps:
        out.data("")
    for (number, _), step in zip(numbered(found.outline.to_list()), found.outline.steps, strict=True):
        _why_line(cli, number, _reasons(cli, found, step))
    _figures(cli, found)


def _why_line(cli: Cli, number: int, words: str) -> None:
    from surefoot.cli.shown import folded
    from surefoot.cli.steps import plan_word

    out = cli.out.out
    word = plan_word(cli.texts, "plan.why")
    before = f"  {word if number == 1 else ' ' * len(word)}  {number or out.symbols['dot'].strip():>2}  "
    lines = folded(words, max(out.width - len(before), 20)) if out.width else [words]
    cli.out.data(before + lines[0])
    for line in lines[1:]:
        cli.out.data(" " * len(before) + line)


def _reasons(cli: Cli, found: Found, step: Step) -> str:
    """How this step would run, and what it would do to the world."""
    from surefoot.planning.outline import StepKind
    from surefoot.running.policy import decide

    if step.kind is not StepKind.TOOL:
        return cli.texts(f"plan.kind.{step.kind}")
    tool = found.catalogue.get(step.tool)
    if step.concrete:
        how = cli.texts("plan.concrete")
    elif step.placeholders:
        how = cli.texts("plan.placeholders", names=", ".join(step.placeholders))
    else:
        how = cli.texts("plan.unresolved")
    decision = decide(tool, cli.settings.policy)
    return f"{how}; {cli.texts(f'effect_long.{tool.effect}')}; {cli.texts(f'plan.policy.{decision}')}"


def _figures(cli: Cli, found: Found) -> None:
    texts, usage = cli.texts, found.usage
    parts = [texts("plan.nothing_run")]
    if found.model:
        parts.append(texts("plan.asked", model=found.model, encoding=found.encoding or "-"))
    if usage is not None:
        cached = texts("summary.cached", n=usage.cached_tokens) if usage.cached_tokens else ""
        parts.append(texts.count("summary.tokens", usage.prompt_tokens + usage.output_tokens) + cached)
    if found.offered:
        parts.append(texts("plan.offered", n=len(found.offered), all=len(found.catalogue)))
    cli.out.note("")
    for line in cli.out.paragraph("; ".join(parts) + "."):
        cli.out.note([(line, "dim")])
