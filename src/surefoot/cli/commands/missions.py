"""`surefoot missions`: standing goals, when they run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import typer

from surefoot.cli.commands.agents import cancel_all, in_store
from surefoot.cli.mission_given import Given, check_kits
from surefoot.cli.mission_options import (
    AgentOf,
    All,
    Concept,
    Done,
    Goal,
    How,
    IfVersion,
    Inputs,
    Kits,
    Limits,
    MissionName,
    NewGoal,
    NewTitle,
    OfExecution,
    Title,
    Until,
    Words,
    Zone,
)
from surefoot.cli.options import AsJson, ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.assistant import Assistant
    from surefoot.missions.execution import Started
    from surefoot.missions.types import Mission

app = typer.Typer(
    help="Missions: standing goals that are carried out again and again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AHEAD = timedelta(days=7)
"""How far `due` looks when nobody says: a week holds one of everything that is not rare."""

SHOWN = 10
"""Executions that `show` shows; `--json` has all of them."""


@app.command("add")
def add(
    context: typer.Context,
    title: Title,
    goal: Goal,
    concept: Concept = None,
    inputs: Inputs = None,
    kit: Kits = None,
    cadence: How = None,
    zone: Zone = None,
    limit: Limits = None,
    agent: AgentOf = None,
    json: AsJson = False,
) -> int:
    """Make a mission. Without a cadence it runs only when you say so."""
    cli = cli_of(context)
    given = Given(goal, concept, inputs, kit, cadence, zone or cli.settings.zone_name, limit, agent)
    return cli.run(lambda: _add(cli, title, given, as_json=json))


@app.command("list")
def list_missions(context: typer.Context, every: All = False, json: AsJson = False) -> int:
    """List the missions, and when they run next."""
    cli = cli_of(context)
    return cli.run(lambda: _list(cli, every=every, as_json=json))


@app.command("show")
def show(context: typer.Context, mission: MissionName, json: AsJson = False) -> int:
    """Show a mission and its last executions."""
    cli = cli_of(context)
    return cli.run(lambda: _show(cli, mission, as_json=json))


@app.command("run")
def run(context: typer.Context, mission: MissionName, model: ModelName = "", json: AsJson = False) -> int:
    """Run a mission now."""
    cli = cli_of(context)
    return cli.run(lambda: _run(cli, mission, model, as_json=json))


@app.command("pause")
def pause(context: typer.Context, mission: MissionName, json: AsJson = False) -> int:
    """Let a mission rest; what runs of it ends at its next call."""
    cli = cli_of(context)
    return cli.run(lambda: _move(cli, mission, "pause", as_json=json))


@app.command("resume")
def resume(context: typer.Context, mission: MissionName, json: AsJson = False) -> int:
    """Let a mission run again that is paused, done or archived."""
    cli = cli_of(context)
    return cli.run(lambda: _move(cli, mission, "resume", as_json=json))


@app.command("feedback")
def feedback(
    context: typer.Context,
    mission: MissionName,
    text: Words,
    execution: OfExecution = "",
    json: AsJson = False,
) -> int:
    """Say what was right or should be different; the next executions read it."""
    from surefoot.cli.requests import request_text

    cli = cli_of(context)
    said = request_text(text)
    return cli.run(lambda: _feedback(cli, mission, said, execution, as_json=json))


@app.command("edit")
def edit(
    context: typer.Context,
    mission: MissionName,
    *,
    title: NewTitle = None,
    goal: NewGoal = None,
    concept: Concept = None,
    inputs: Inputs = None,
    kit: Kits = None,
    cadence: How = None,
    zone: Zone = None,
    limit: Limits = None,
    agent: AgentOf = None,
    done: Done = False,
    version: IfVersion = None,
    json: AsJson = False,
) -> int:
    """Change a mission."""
    cli = cli_of(context)
    given = Given(goal, concept, inputs, kit, cadence, zone, limit, agent, title)
    return cli.run(lambda: _edit(cli, mission, given, version, done=done, as_json=json))


@app.command("archive")
def archive(context: typer.Context, mission: MissionName, json: AsJson = False) -> int:
    """Put a mission away: it is in no list and does not run."""
    cli = cli_of(context)
    return cli.run(lambda: _move(cli, mission, "archive", as_json=json))


@app.command("delete")
def delete(context: typer.Context, mission: MissionName, json: AsJson = False) -> int:
    """Delete a mission; the runs of its executions stay, and can be undone."""
    cli = cli_of(context)
    return cli.run(lambda: _move(cli, mission, "delete", as_json=json))


@app.command("due")
def due(context: typer.Context, until: Until = "", json: AsJson = False) -> int:
    """Show what would run when; nothing is run."""
    cli = cli_of(context)
    return cli.run(lambda: _due(cli, until, as_json=json))


# --- writing ---------------------------------------------------------------------------------------------------


async def _add(cli: Cli, title: str, given: Given, *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store
    from surefoot.missions.rows import new_id
    from surefoot.missions.types import Mission

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Mission:
            fields = given.fields(tx, None)
            check_kits(assistant, fields)
            return store.create(tx, Mission(new_id(), title, **fields), actor=PERSON, now=assistant.now())

        mission = await in_store(assistant, work)
    return _told(cli, mission, "add", as_json=as_json)


async def _edit(
    cli: Cli, reference: str, given: Given, version: int | None, *, done: bool, as_json: bool
) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Mission:
            mission = store.find(tx, reference)
            fields = given.fields(tx, mission)
            check_kits(assistant, fields)
            who: dict[str, Any] = {"actor": PERSON, "now": assistant.now()}
            changed = store.update(tx, mission.id, **who, version=version, **fields)
            return store.complete(tx, mission.id, **who) if done else changed

        mission = await in_store(assistant, work)
    return _told(cli, mission, "edit", as_json=as_json)


async def _move(cli: Cli, reference: str, how: str, *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store
    from surefoot.missions.executions import last_executions

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> tuple[Mission, tuple[str, ...]]:
            found = store.find(tx, reference)
            move: Callable[..., Mission] = getattr(store, how)
            mission = move(tx, found.id, actor=PERSON, now=assistant.now())
            running = [one.id for one in last_executions(tx, found.id, None) if not one.ended]
            return mission, tuple(running) if how != "resume" else ()

        mission, running = await in_store(assistant, work)
        await cancel_all(assistant, running)
    return _told(cli, mission, how, as_json=as_json)


async def _feedback(cli: Cli, reference: str, text: str, execution: str, *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store
    from surefoot.missions.executions import of_mission

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Any:
            mission = store.find(tx, reference)
            run = of_mission(tx, mission.id, execution).id if execution else ""
            return mission, store.add_feedback(
                tx, mission.id, text, actor=PERSON, now=assistant.now(), execution=run
            )

        mission, said = await in_store(assistant, work)
    if as_json:
        cli.out.json(said.to_dict())
        return 0
    return _told(cli, mission, "feedback", as_json=False)


def _told(cli: Cli, mission: Mission, what: str, *, as_json: bool) -> int:
    if as_json:
        cli.out.json(mission.to_dict())
    else:
        cli.out.data(f"  {cli.texts(f'missions.done.{what}', title=mission.title, id=mission.id)}")
    return 0


# --- reading ---------------------------------------------------------------------------------------------------


async def _list(cli: Cli, *, every: bool, as_json: bool) -> int:
    from surefoot.cli.mission_lines import mission_line
    from surefoot.missions import store

    async with cli.assistant() as assistant:
        missions = await in_store(assistant, lambda tx: store.listed(tx, archived=every))
        rows = [(mission, _next(assistant, mission)) for mission in missions]
    if as_json:
        cli.out.json([{**one.to_dict(), "next": _moment(coming)} for one, coming in rows])
        return 0
    if not rows:
        cli.out.note(f"  {cli.texts('missions.none')}")
    for mission, coming in rows:
        cli.out.data(mission_line(cli, mission, coming))
    return 0


async def _show(cli: Cli, reference: str, *, as_json: bool) -> int:
    from surefoot.cli.mission_lines import mission_lines
    from surefoot.missions import store
    from surefoot.missions.executions import last_executions

    async with cli.assistant() as assistant:

        def work(tx: Connection) -> Any:
            mission = store.find(tx, reference)
            agent = store.get_agent(tx, mission.agent) if mission.agent else None
            return mission, agent, last_executions(tx, mission.id, None if as_json else SHOWN)

        mission, agent, done = await in_store(assistant, work)
        coming = _next(assistant, mission)
    if as_json:
        executions = [one.to_dict() for one in done]
        cli.out.json({**mission.to_dict(), "next": _moment(coming), "executions": executions})
        return 0
    for line in mission_lines(cli, mission, agent, coming, done):
        cli.out.data(line)
    return 0


async def _due(cli: Cli, until: str, *, as_json: bool) -> int:
    from surefoot.cli.mission_given import until_of
    from surefoot.cli.shown import one_line
    from surefoot.missions import store
    from surefoot.missions.due import upcoming

    async with cli.assistant() as assistant:
        now = assistant.now()
        end = until_of(cli, until, now) if until else now + AHEAD
        missions, agents = await in_store(assistant, lambda tx: (store.listed(tx), store.listed_agents(tx)))
    found = upcoming(missions, {agent.id: agent for agent in agents}, now, end)
    if as_json:
        cli.out.json(
            [
                {"mission": one.mission.id, "title": one.mission.title, **(_moment(one.occurrence) or {})}
                for one in found
            ]
        )
        return 0
    if not found:
        cli.out.note(f"  {cli.texts('missions.nothing_due')}")
    for one in found:
        when = cli.times.moment(one.occurrence.moment)
        cli.out.data([(f"  {when}  ", ""), (one_line(one.mission.title), "bold")])
    return 0


def _next(assistant: Assistant, mission: Mission) -> Any:
    from surefoot.missions.cadence import next_occurrence

    if mission.state != "active":
        return None
    return next_occurrence(mission.cadence, mission.zone, assistant.now())


def _moment(one: Any) -> dict[str, str] | None:
    return None if one is None else {"key": one.key, "moment": one.moment.isoformat()}


# --- running ---------------------------------------------------------------------------------------------------


async def _run(cli: Cli, reference: str, model: str, *, as_json: bool) -> int:
    from surefoot.assistant.assistant import PERSON
    from surefoot.missions import store
    from surefoot.missions.execution import settle, start

    cli.out.wait_for(cli.texts("status.starting"))
    async with cli.assistant(model=model) as assistant:
        mission = await in_store(assistant, lambda tx: store.find(tx, reference))
        started = await start(assistant, mission, actor=PERSON)
        try:
            code = await _followed(cli, assistant, started, as_json=as_json)
        finally:
            await settle(await assistant.journal())
        if as_json:
            await _print(cli, assistant, started.execution.id)
        return code


async def _followed(cli: Cli, assistant: Assistant, started: Started, *, as_json: bool) -> int:
    """Follow the run as any other; 130 when it was stopped because its mission or agent was paused."""
    import asyncio

    from surefoot.cli import INTERRUPTED
    from surefoot.cli.asking import Asking

    asking = Asking(cli, assistant, as_json=as_json, print_json=False)
    try:
        return await asking.carry(started.handle) if started.handle else 0
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        cli.out.warn(f"  {cli.texts('missions.halted')}")
        return INTERRUPTED


async def _print(cli: Cli, assistant: Assistant, execution: str) -> None:
    from surefoot.missions import executions

    cli.out.json((await in_store(assistant, lambda tx: executions.get(tx, execution))).to_dict())
