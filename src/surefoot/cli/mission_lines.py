"""Missions and agents as a person reads them in the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.cli.out import Line
from surefoot.cli.session import Cli
from surefoot.cli.shown import amount, folded, one_line, prose

if TYPE_CHECKING:
    from surefoot.missions.cadence import Occurrence
    from surefoot.missions.executions import Used
    from surefoot.missions.types import Agent, Execution, Mission

COLOURS = {
    "active": "green",
    "paused": "yellow",
    "done": "green",
    "failed": "red",
    "cancelled": "dim",
    "archived": "dim",
}


def mission_line(cli: Cli, mission: Mission, coming: Occurrence | None) -> Line:
    """One line of the list: id, state, title, how often, when next."""
    from surefoot.missions.said import write

    state = cli.texts(f"missions.state.{mission.state}")
    when = cli.texts("missions.next", when=cli.times.moment(coming.moment)) if coming else ""
    rest = "  ".join(part for part in (write(mission.cadence), when) if part)
    return [
        (f"  {mission.id[:8]}  ", ""),
        (f"{state}  ", COLOURS[mission.state]),
        (one_line(mission.title), "bold"),
        (f"  {rest}", "dim"),
    ]


def mission_lines(
    cli: Cli, mission: Mission, agent: Agent | None, coming: Occurrence | None, done: Sequence[Execution]
) -> list[Line]:
    """Everything of one mission."""
    lines: list[Line] = [mission_line(cli, mission, coming), *_paragraph(cli, mission.goal)]
    if mission.concept:
        lines += _paragraph(cli, mission.concept)
    values = {
        "zone": mission.zone,
        "agent": agent.name if agent else "",
        "kits": ", ".join(mission.kits),
        "inputs": ", ".join(f"{name}={_value(value)}" for name, value in mission.inputs.items()),
        "limits": ", ".join(f"{name}={value:g}" for name, value in mission.limits.items()),
    }
    lines += _fields(cli, values)
    lines += [
        f"  {cli.texts('missions.said')}: {one_line(said.text)}"
        for said in mission.feedback
        if not said.execution
    ]
    lines += [line for one in done for line in execution_lines(cli, one)]
    return lines


def execution_lines(cli: Cli, one: Execution) -> list[Line]:
    """One execution: number, run, when, status, what it answered; why it failed; what was said of it."""
    status = cli.texts(f"status_of.{one.status}")
    head = f"  {one.number}. {one.id[:8]}  {cli.times.moment(one.started_at)}  "
    lines: list[Line] = [
        [(head, ""), (status, COLOURS.get(one.status, "yellow")), (f"  {one_line(one.summary)}", "")]
    ]
    if one.error:
        why = one_line(str(one.error.get("message", "")))
        lines.append(
            f"     {cli.texts('missions.failed', phase=cli.texts(f'missions.phase.{one.phase}'), why=why)}"
        )
    lines += [f"     {cli.texts('missions.said')}: {one_line(said.text)}" for said in one.feedback]
    return lines


def agent_line(cli: Cli, agent: Agent) -> Line:
    """One line of the list."""
    state = cli.texts(f"missions.state.{agent.state}")
    return [(f"  {agent.id[:8]}  ", ""), (f"{state}  ", COLOURS[agent.state]), (one_line(agent.name), "bold")]


def agent_lines(cli: Cli, agent: Agent, used: Used, own: Sequence[Mission]) -> list[Line]:
    """Everything of one agent."""
    lines = [agent_line(cli, agent)]
    if agent.persona:
        lines += _paragraph(cli, agent.persona)
    values = {
        "memory": cli.texts("agents.on" if agent.memory else "agents.off"),
        "policy": ", ".join(f"{name}={decision}" for name, decision in agent.policy.items()),
        "concurrency": str(agent.concurrency),
        "tokens": _of(cli, str(used.tokens), agent.daily_tokens),
        "cost": _of(cli, amount(used.cost), agent.daily_cost),
        "missions": ", ".join(one_line(mission.title) for mission in own),
    }
    return [*lines, *_fields(cli, values)]


def _of(cli: Cli, used: str, allowed: float | None) -> str:
    return used if allowed is None else cli.texts("agents.of", used=used, allowed=f"{allowed:g}")


def _fields(cli: Cli, values: Mapping[str, str]) -> list[Line]:
    return [
        [(f"  {cli.texts(f'missions.field.{name}')}: ", "dim"), (text, "")]
        for name, text in values.items()
        if text
    ]


def _paragraph(cli: Cli, text: str) -> list[Line]:
    width = cli.out.out.width
    lines = folded(prose(text), width - 2) if width else prose(text).split("\n")
    return [f"  {line}".rstrip() for line in lines]


def _value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
