"""Arguments and options of `surefoot missions` and `surefoot agents`."""

from __future__ import annotations

from typing import Annotated

import typer

MissionName = Annotated[
    str, typer.Argument(metavar="MISSION", help="The mission: its title, its id or a beginning.")
]
Title = Annotated[str, typer.Argument(metavar="TITLE", help="What it is called.")]
NewTitle = Annotated[
    str | None, typer.Option("--title", metavar="TITLE", help="What it is called from now on.")
]
Goal = Annotated[str, typer.Option("--goal", metavar="TEXT", help="What each execution is to reach.")]
NewGoal = Annotated[
    str | None, typer.Option("--goal", metavar="TEXT", help="What each execution is to reach.")
]
Concept = Annotated[str | None, typer.Option("--concept", metavar="TEXT", help="Why, and how it is meant.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TEXT",
        help="A value it works with; NAME:=JSON for more than a text, nothing takes it out. May be given again.",
    ),
]
Kits = Annotated[
    list[str] | None,
    typer.Option(
        "--kit", metavar="NAME", help="A kit or server it may use; all without. May be given again."
    ),
]
How = Annotated[
    str | None,
    typer.Option(
        "--cadence",
        metavar="WORDS",
        help='When it runs: manual, "daily 07:30", "weekly mon,thu 18:00", "every 30 minutes", "cron 0 9 * * 1-5".',
    ),
]
Zone = Annotated[
    str | None, typer.Option("--zone", metavar="ZONE", help="Time zone of its cadence; yours without.")
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="A limit of each execution (docs/limits.md); nothing takes it out. May be given again.",
    ),
]
AgentOf = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", help="Who runs it; empty for nobody in particular.")
]
Done = Annotated[bool, typer.Option("--done", help="The goal is reached: it does not run any more.")]
IfVersion = Annotated[
    int | None, typer.Option("--version", metavar="N", help="Only if it still is of this version.")
]
All = Annotated[bool, typer.Option("--all", help="Also those that are archived.")]
Words = Annotated[list[str], typer.Argument(metavar="TEXT", help="What was right, or should be different.")]
OfExecution = Annotated[
    str,
    typer.Option(
        "--execution", metavar="N", help="Of this execution, by number or run; else of the mission."
    ),
]
Until = Annotated[
    str, typer.Option("--until", metavar="WHEN", help="How far to look, as a date or time; a week without.")
]

# --- agents ---

AgentName = Annotated[
    str, typer.Argument(metavar="AGENT", help="The agent: its name, its id or a beginning.")
]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")]
Rename = Annotated[str | None, typer.Option("--name", metavar="NAME", help="What it is called from now on.")]
Persona = Annotated[
    str | None, typer.Option("--persona", metavar="TEXT", help="How it speaks and what it minds.")
]
Memory = Annotated[
    bool | None,
    typer.Option("--memory/--no-memory", help="Whether it looks up what was remembered and keeps a diary."),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME=DECISION",
        help="auto, confirm or deny for a tool, kit or effect; nothing takes the entry out. May be given again.",
    ),
]
Tokens = Annotated[
    str | None,
    typer.Option("--daily-tokens", metavar="N", help="Tokens it may use in a day; none for no limit."),
]
Cost = Annotated[
    str | None,
    typer.Option("--daily-cost", metavar="N", help="Cost it may cause in a day; none for no limit."),
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", metavar="N", help="How many missions it may run at once.")
]
