"""`surefoot tools`: what a plan may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from surefoot.tools.types import Tool


app = typer.Typer(help="What a plan may call.", rich_markup_mode=None)

Search = Annotated[
    str, typer.Option("--search", metavar="TEXT", help="Only tools that have to do with this, best first.")
]


@app.callback(invoke_without_command=True)
def tools(context: typer.Context, search: Search = "", json: AsJson = False) -> int | None:
    """List the tools that a plan may call, with their effect."""
    return _list(cli_of(context), search, as_json=json) if context.invoked_subcommand is None else None


@app.command("list")
def list_tools(context: typer.Context, search: Search = "", json: AsJson = False) -> int:
    """List the tools that a plan may call, those of MCP servers included."""
    return _list(cli_of(context), search, as_json=json)


def _list(cli: Cli, search: str, *, as_json: bool) -> int:
    found = cli.run(lambda: _tools(cli))
    if search:
        from surefoot.assistant.router import Router

        ranked = Router(found).rank(search)
        found = sorted(
            (tool for tool in found if tool.name in ranked), key=lambda tool: ranked.index(tool.name)
        )
    if as_json:
        cli.out.json([tool_to_dict(cli, tool) for tool in found])
    elif not found:
        cli.out.data(f"  {cli.texts('tools.none', search=search)}")
    else:
        _show(cli, found)
    return 0 if found else 1


async def _tools(cli: Cli) -> list[Tool]:
    async with cli.assistant() as assistant:
        with cli.out.waiting_for(cli.texts("status.checking")):
            found = list(await assistant.open_tools())
        for notice in assistant.tool_notices():
            cli.out.warn(notice)
        return found


# --- check -------------------------------------------------------------------------------------------------------


@app.command("check")
def check(context: typer.Context, json: AsJson = False) -> int:
    """Open each MCP server of the settings and say what it offers."""
    cli = cli_of(context)
    with cli.out.waiting_for(cli.texts("status.checking")):
        found = cli.run(lambda: _servers(cli))
    if json:
        cli.out.json(found)
    elif not found:
        cli.out.note(f"  {cli.texts('tools.no_servers')}")
    for server in [] if json else found:
        _show_server(cli, server)
    return 1 if any(server["notices"] for server in found) else 0


async def _servers(cli: Cli) -> list[dict[str, Any]]:
    from surefoot.tools.mcp.client import McpTools

    servers = McpTools(cli.settings)
    try:
        return [
            {
                "server": server.name,
                "up": server.up,
                "tools": [{"name": tool.name, "effect": str(tool.effect)} for tool in mapped.tools],
                "notices": list(mapped.notices),
            }
            for server, mapped in await servers.by_server()
        ]
    finally:
        await servers.close()


def _show_server(cli: Cli, server: dict[str, Any]) -> None:
    if server["up"]:
        reads = sum(tool["effect"] == "read" for tool in server["tools"])
        numbers = {"reads": reads, "asks": len(server["tools"]) - reads}
        cli.out.data(f"  {cli.texts('tools.server_up', name=server['server'], **numbers)}")
    for notice in server["notices"]:
        cli.out.data(f"  {notice}")


# --- one tool ----------------------------------------------------------------------------------------------------


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
