"""`surefoot agents`: who runs missions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from surefoot.cli.mission_options import (
    AgentName,
    Concurrency,
    Cost,
    IfVersion,
    Memory,
    NewName,
    Persona,
    Policies,
    Rename,
    Tokens,
)
from surefoot.cli.options import AsJson, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.assistant import Assistant
    from surefoot.missions.types import Agent

T = TypeVar("T")

app = typer.Typer(help="Agents: who runs your missions.", no_args_is_help=True, rich_markup_mode=None)


@app.command("add")
def add(
    context: typer.Context,
    name: NewName,
    persona: Persona = None,
    memory: Memory = None,
    policy: Policies = None,
    daily_tokens: Tokens = None,
    daily_cost: Cost = None,
    concurrency: Concurrency = None,
    json: AsJson = False,
) -> int:
    """Make an agent."""
    cli = cli_of(context)
    return cli.run(
        lambda: _add(
            cli,
            name,
            _given(persona, memory, daily_tokens, daily_cost, concurrency),
            policy or [],
            as_json=json,
        )
    )


@app.command("list")
def list_agents(context: typer.Context, json: AsJson = False) -> int:
    """List the agents."""
    cli = cli_of(context)
    return cli.run(lambda: _list(cli, as_json=json))


@app.command("show")
def show(context: typer.Context, agent: AgentName, json: AsJson = False) -> int:
    """Show an agent, what it used today and its missions."""
    cli = cli_of(context)
    return cli.run(lambda: _show(cli, agent, as_json=json))


@app.command("pause")
def pause(context: typer.Context, agent: AgentName, json: AsJson = False) -> int:
    """Stop an agent: its runs end at their next call, and it starts nothing."""
    cli = cli_of(context)
    return cli.run(lambda: _pause(cli, agent, as_json=json))


@app.command("resume")
def resume(context: typer.Context, agent: AgentName, json: AsJson = False) -> int:
    """Let a paused agent work again."""
    cli = cli_of(context)
    return cli.run(lambda: _change(cli, agent, "resume_agent", {}, as_json=json))


@app.command("edit")
def edit(
    context: typer.Context,
    agent: AgentName,
    *,
    name: Rename = None,
    persona: Persona = None,
    memory: Memory = None,
    policy: Policies = None,
    daily_tokens: Tokens = None,
    daily_cost: Cost = None,
    concurrency: Concurrency = None,
    version: IfVersion = None,
    json: AsJson = False,
) -> int:
    """Change an agent."""
    cli = cli_of(context)
    given = _given(persona, memory, daily_tokens, daily_cost, concurrency)
    if name is not None:
        given["name"] = name
    return cli.run(
        lambda: _change(cli, agent, "update_agent", given, policy=policy or [], version=version, as_json=json)
    )


@app.command("delete")
def delete(context: typer.Context, agent: AgentName, json: AsJson = False) -> int:
    """Delete an agent that has no missions any more."""
    cli = cli_of(context)
    return cli.run(lambda: _change(cli, agent, "delete_agent", {}, as_json=json))


# --- work ------------------------------------------------------------------------------------------------------


async def in_store(assistant: Assistant, work: Callable[[Connection], T]) -> T:
    """Do something with missions and agents, in one transaction; their executions are brought up to date first."""
    from surefoot.missions.execution import open_tx, settle

    journal = await assistant.journal()
    await settle(journal)
    return await journal.transact(lambda tx: work(open_tx(tx)))


async def _add(cli: Cli, name: str, given: dict[str, Any], policy: list[str], *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.cli.mission_given import named_values
    from surefoot.missions import store
    from surefoot.missions.rows import new_id
    from surefoot.missions.types import Agent

    made = Agent(new_id(), name, policy=named_values(policy, {}), **given)
    async with cli.assistant() as assistant:
        agent = await in_store(
            assistant, lambda tx: store.create_agent(tx, made, actor=PERSON, now=assistant.now())
        )
    return _told(cli, agent, "add", as_json=as_json)


async def _list(cli: Cli, *, as_json: bool) -> int:
    from surefoot.cli.mission_lines import agent_line
    from surefoot.missions import store

    async with cli.assistant() as assistant:
        agents = await in_store(assistant, store.listed_agents)
    if as_json:
        cli.out.json([agent.to_dict() for agent in agents])
        return 0
    if not agents:
        cli.out.note(f"  {cli.texts('agents.none')}")
    for agent in agents:
        cli.out.data(agent_line(cli, agent))
    return 0


async def _show(cli: Cli, reference: str, *, as_json: bool) -> int:
    from surefoot.cli.mission_lines import agent_lines
    from surefoot.missions import store
    from surefoot.missions.executions import used_on_day

    async with cli.assistant() as assistant:
        now, zone = assistant.now(), cli.settings.zone_name

        def work(tx: Connection) -> Any:
            agent = store.find_agent(tx, reference)
            own = [one for one in store.listed(tx, archived=True) if one.agent == agent.id]
            return agent, used_on_day(tx, agent.id, now, zone), own

        agent, used, own = await in_store(assistant, work)
    if as_json:
        today = {"tokens": used.tokens, "cost": used.cost}
        cli.out.json({**agent.to_dict(), "today": today, "missions": [one.id for one in own]})
        return 0
    for line in agent_lines(cli, agent, used, own):
        cli.out.data(line)
    return 0


async def _pause(cli: Cli, reference: str, *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Any:
            agent = store.find_agent(tx, reference)
            return store.pause_agent(tx, agent.id, actor=PERSON, now=assistant.now())

        agent, runs = await in_store(assistant, work)
        await cancel_all(assistant, runs)
    if as_json:
        cli.out.json({**agent.to_dict(), "cancelled": list(runs)})
        return 0
    _told(cli, agent, "pause", as_json=False)
    if runs:
        cli.out.data(f"  {cli.texts.count('agents.stopped', len(runs))}")
    return 0


async def cancel_all(assistant: Assistant, runs: tuple[str, ...]) -> None:
    """End these runs. One that another process works on ends by itself, at its next call."""
    from contextlib import suppress

    from surefoot.errors import NotFoundError, StateError
    from surefoot.missions.execution import settle

    for run in runs:
        with suppress(StateError, NotFoundError):
            await assistant.cancel(run)
    await settle(await assistant.journal())


async def _change(
    cli: Cli,
    reference: str,
    how: str,
    given: dict[str, Any],
    *,
    policy: list[str] | None = None,
    version: int | None = None,
    as_json: bool,
) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.cli.mission_given import named_values
    from surefoot.missions import store

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Agent:
            agent = store.find_agent(tx, reference)
            if policy:
                given["policy"] = named_values(policy, agent.policy)
            change: Callable[..., Agent] = getattr(store, how)
            return change(tx, agent.id, actor=PERSON, now=assistant.now(), version=version, **given)

        agent = await in_store(assistant, work)
    return _told(cli, agent, how.removesuffix("_agent"), as_json=as_json)


def _told(cli: Cli, agent: Agent, what: str, *, as_json: bool) -> int:
    if as_json:
        cli.out.json(agent.to_dict())
    else:
        cli.out.data(f"  {cli.texts(f'agents.done.{what}', name=agent.name, id=agent.id)}")
    return 0


def _given(
    persona: str | None,
    memory: bool | None,
    daily_tokens: str | None,
    daily_cost: str | None,
    concurrency: int | None,
) -> dict[str, Any]:
    """Only what was given: the rest stays, or is the default."""
    from surefoot.cli.mission_given import amount_of, checked_text

    found: dict[str, Any] = {
        "persona": None if persona is None else checked_text(persona),
        "memory": memory,
        "concurrency": concurrency,
    }
    found = {name: value for name, value in found.items() if value is not None}
    if daily_tokens is not None:
        found["daily_tokens"] = amount_of("--daily-tokens", daily_tokens, whole=True)
    if daily_cost is not None:
        found["daily_cost"] = amount_of("--daily-cost", daily_cost)
    return found
