"""The commands, a file for each family. What is heavy is imported inside them."""

from __future__ import annotations

import typer

from surefoot.cli.commands import (
    agents,
    ask,
    chat,
    decide,
    doctor,
    facts,
    flow,
    flow_plan,
    missions,
    models,
    plan,
    rows,
    runs,
    tools,
    undo,
)


def register(app: typer.Typer) -> None:
    """Give the application its commands, in the order in which a person meets them."""
    app.command("ask")(ask.ask)
    app.command("chat")(chat.chat)
    app.command("plan")(plan.plan)
    app.command("runs")(runs.runs)
    app.command("show")(runs.show)
    app.command("undo")(undo.undo)
    app.command("redo")(undo.redo)
    app.command("approve")(decide.approve)
    app.command("decline")(decide.decline)
    app.command("resume")(decide.resume)
    app.command("cancel")(decide.cancel)
    app.add_typer(missions.app, name="missions")
    app.add_typer(agents.app, name="agents")
    app.add_typer(rows.notes, name="notes")
    app.add_typer(rows.tasks, name="tasks")
    app.add_typer(rows.calendar, name="calendar")
    flow.app.command("plan")(flow_plan.plan)
    app.add_typer(flow.app, name="flow")
    app.add_typer(facts.app, name="facts")
    app.add_typer(tools.app, name="tools")
    app.add_typer(models.app, name="models")
    app.command("doctor")(doctor.doctor)
