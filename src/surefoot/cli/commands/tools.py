"""`surefoot tools`: what a plan may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.tools.types import Tool


def tools(
    context: typer.Context,
    search: Annotated[
        str,
        typer.Option("--search", metavar="TEXT", help="Only tools that have to do with this, best first."),
    ] = "",
    json: AsJson = False,
) -> int:
    """List the tools that a plan may call, with their effect."""
    cli = cli_of(context)
    found = cli.run(lambda: _tools(cli))
    if search:
        from surefoot.assistant.router import Router

        ranked = Router(found).rank(search)
        found = sorted(
            (tool for tool in found if tool.name in ranked), key=lambda tool: ranked.index(tool.name)
        )
    if json:
        cli.out.json([tool_to_dict(cli, tool) for tool in found])
    elif not found:
        cli.out.data(f"  {cli.texts('tools.none', search=search)}")
    else:
        _show(cli, found)
    return 0 if found else 1


async def _tools(cli: Cli) -> list[Tool]:
    async with cli.assistant() as assistant:
        return list(assistant.catalogue)


def tool_to_dict(cli: Cli, tool: Tool) -> dict[str, Any]:
    """A tool as JSON, with its schema and what the policy says of it."""
    from surefoot.running.policy import decide

    return {
        "name": tool.name,
        "kit": tool.kit or None,
        "description": tool.description,
        "effect": str(tool.effect),
        "policy": decide(tool, cli.settings.policy),
        "parameters": tool.parameters,
    }


def _show(cli: Cli, found: list[Tool]) -> None:
    from surefoot.cli.shown import folded, one_line
    from surefoot.running.policy import decide
    from surefoot.tools.signatures import signature

    kit = None
    width = cli.out.out.width
    for tool in found:
        if tool.kit != kit:
            kit = tool.kit
            cli.out.data([(f"  {kit or cli.texts('tools.own')}", "bold")])
        effect = cli.texts(f"effect.{tool.effect}")
        decision = decide(tool, cli.settings.policy)
        after = effect if decision == "auto" else f"{effect}, {cli.texts(f'policy.{decision}')}"
        lines = (
            folded(signature(tool.name, tool.parameters), max(width - 4, 20))
            if width
            else [signature(tool.name, tool.parameters)]
        )
        for line in lines:
            cli.out.data(f"    {line}")
        about = f"{one_line(tool.description.splitlines()[0] if tool.description else '')} ({after})"
        for line in folded(about, max(width - 6, 20)) if width else [about]:
            cli.out.data([(f"      {line}", "dim")])
