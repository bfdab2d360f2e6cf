"""`surefoot missions` and `surefoot agents`: made, listed, run, paused, changed, put away; texts, JSON, exit codes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from surefoot import tool
from surefoot.assistant.assistant import PERSON
from surefoot.cli import session
from surefoot.errors import ProviderAuthError
from surefoot.missions import store
from surefoot.missions.execution import open_tx

from .support import NOW, CommandLine, plan

sent: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_sent():
    sent.clear()


@tool(effect="external")
def send_mail(to: str) -> str:
    """Send a mail."""
    sent.append(to)
    return f"sent to {to}"


MILK = (plan(("addTask", {"title": "Milk"})), "Milk is on the list.")


def made(cli: CommandLine, *more: str, title: str = "Shopping", goal: str = "Put milk on the list"):
    ran = cli("missions", "add", title, "--goal", goal, *more, "--json")
    assert ran.code == 0, ran.err
    return ran.json


def test_a_mission_from_its_beginning_to_its_undo(cli):
    """Made, run, shown, told what was wrong with it, taken back."""
    cli.answers(*MILK)
    ran = cli("missions", "add", "Shopping", "--goal", "Put milk on the list", "--kit", "tasks")
    assert (ran.code, ran.err) == (0, "")
    assert "Shopping is there: surefoot missions run " in ran.out
    ran = cli("missions", "run", "shopping")
    assert (ran.code, ran.out) == (0, "Milk is on the list.\n")
    assert "takes back 1 change" in ran.err
    shown = cli("missions", "show", "Shopping").out
    assert "Put milk on the list" in shown
    assert "done  Milk is on the list." in shown
    assert cli("missions", "feedback", "Shopping", "Oat milk", "please", "--execution", "1").code == 0
    assert "you said: Oat milk please" in cli("missions", "show", "Shopping").out
    assert "Shopping: Put milk on the list" in cli("runs").out
    assert "1 change taken back" in cli("undo", "last").err
    assert cli("tasks", "list").out == ""


def test_json_everywhere(cli):
    """Each command prints one value, with every field."""
    cli.answers(*MILK)
    agent = cli("agents", "add", "Ada", "--persona", "Brief", "--json").json
    mission = made(cli, "--agent", "Ada", "--cadence", "daily 07:30", "--input", "shop=corner", "--input", "n:=[1, 2]",
                   "--limit", "writes=5", "--kit", "tasks", "--kit", "notes", "--concept", "For the weekend")  # fmt: skip
    assert mission["inputs"] == {"shop": "corner", "n": [1, 2]}
    assert (mission["limits"], mission["kits"], mission["agent"]) == (
        {"writes": 5.0},
        ["tasks", "notes"],
        agent["id"],
    )
    assert mission["cadence"] == {"kind": "daily", "minute": 450}
    assert mission["zone"] == "Europe/Berlin"
    execution = cli("missions", "run", "Shopping", "--json").json
    assert (execution["status"], execution["summary"], execution["rounds"]) == (
        "done",
        "Milk is on the list.",
        2,
    )
    said = cli("missions", "feedback", "Shopping", "good", "--json").json
    assert (said["mission"], said["text"], said["actor"]) == (mission["id"], "good", "person:me")
    (listed,) = cli("missions", "list", "--json").json
    assert listed["next"] == {"key": "2026-04-28", "moment": "2026-04-28T05:30:00+00:00"}
    shown = cli("missions", "show", "Shopping", "--json").json
    assert [one["id"] for one in shown["executions"]] == [execution["id"]]
    assert shown["feedback"][0]["text"] == "good"
    due = cli("missions", "due", "--until", "29 April", "--json").json
    assert [one["key"] for one in due] == ["2026-04-28", "2026-04-29"]
    (one,) = cli("agents", "list", "--json").json
    assert one["name"] == "Ada"
    shown = cli("agents", "show", "Ada", "--json").json
    assert (shown["missions"], shown["today"]["tokens"]) == ([mission["id"]], execution["tokens"])
    assert cli("missions", "pause", "Shopping", "--json").json["state"] == "paused"
    assert cli("missions", "resume", "Shopping", "--json").json["state"] == "active"
    assert cli("missions", "archive", "Shopping", "--json").json["state"] == "archived"
    assert cli("missions", "delete", "Shopping", "--json").json["deleted"]
    assert cli("agents", "pause", "Ada", "--json").json["cancelled"] == []
    assert cli("agents", "resume", "Ada", "--json").json["state"] == "active"
    assert cli("agents", "edit", "Ada", "--no-memory", "--json").json["memory"] is False
    assert cli("agents", "delete", "Ada", "--json").json["deleted"]


def test_due_shows_what_would_run_when(cli):
    """In the order of time, of active missions only; nothing is run."""
    made(cli, "--cadence", "weekly tue 18:00", title="Bins")
    made(cli, "--cadence", "daily 07:30", title="News")
    made(cli, "--cadence", "daily 08:00", title="Paused")
    made(cli, title="By hand")
    cli("missions", "pause", "Paused")
    ran = cli("missions", "due", "--until", "28 April")
    assert [line.split()[-1] for line in ran.out.splitlines()] == ["News", "Bins"]
    assert len(cli("missions", "due").out.splitlines()) == 8
    assert "next" in cli("missions", "list").out
    for text in ("yesterday", "at some point"):
        assert cli("missions", "due", "--until", text).code == 2
    cli("agents", "add", "Ada")
    cli("missions", "edit", "News", "--agent", "Ada")
    cli("agents", "pause", "Ada")
    assert "News" not in cli("missions", "due").out


def test_edit_changes_only_what_is_named(cli):
    """Values go over those of before, nothing takes one out; an agent can be taken away."""
    cli("agents", "add", "Ada")
    before = made(cli, "--agent", "ada", "--input", "a=1", "--input", "b=2", "--limit", "writes=5")
    after = cli("missions", "edit", "Shopping", "--input", "a=", "--input", "c=3", "--limit", "writes=", "--agent", "",
                "--title", "Groceries", "--cadence", "alle 2 Stunden", "--zone", "Asia/Kolkata", "--kit", "tasks", "--json").json  # fmt: skip
    assert after["inputs"] == {"b": "2", "c": "3"}
    assert (after["limits"], after["agent"], after["title"]) == ({}, "", "Groceries")
    assert (after["goal"], after["version"]) == (before["goal"], before["version"] + 1)
    assert cli("missions", "edit", "Groceries", "--kit", "", "--json").json["kits"] == []
    ran = cli("missions", "edit", "Groceries", "--concept", "x", "--version", "1")
    assert (ran.code, "changed meanwhile" in ran.err) == (2, True)
    assert "is changed" in cli("missions", "edit", "Groceries", "--done").out
    assert cli("missions", "show", "Groceries", "--json").json["state"] == "done"


def test_lists_are_empty_at_first_and_hide_what_is_put_away(cli):
    """With a way to begin."""
    assert "surefoot missions add" in cli("missions", "list").err
    assert "surefoot agents add" in cli("agents", "list").err
    assert "Nothing is due" in cli("missions", "due").err
    made(cli)
    cli("missions", "archive", "Shopping")
    assert cli("missions", "list").out == ""
    assert "archived" in cli("missions", "list", "--all").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("missions", "show", "nothing"),
        ("missions", "run", "nothing"),
        ("missions", "add", "Shopping", "--goal", "x", "--cadence", "sometimes"),
        ("missions", "add", "Shopping", "--goal", "x", "--zone", "Bonn"),
        ("missions", "add", "Shopping", "--goal", "x", "--kit", "flying"),
        ("missions", "add", "Shopping", "--goal", "x", "--limit", "writing=5"),
        ("missions", "add", "Shopping", "--goal", "x", "--limit", "writes=many"),
        ("missions", "add", "Shopping", "--goal", "x", "--input", "city"),
        ("missions", "add", "Shopping", "--goal", "x", "--input", "city:={"),
        ("missions", "add", "Shopping", "--goal", "x", "--agent", "nobody"),
        ("missions", "add", "Shopping", "--goal", " "),
        ("missions", "add", "Shopping"),
        ("agents", "add", "Ada", "--policy", "notes=ask"),
        ("agents", "add", "Ada", "--policy", "notes"),
        ("agents", "add", "Ada", "--daily-tokens", "1.5"),
        ("agents", "add", "Ada", "--daily-cost", "much"),
        ("agents", "add", "Ada", "--concurrency", "0"),
        ("agents", "pause", "Ada"),
    ],
)
def test_what_cannot_be_used_is_refused(cli, arguments):
    """Exit code 2, with the value and what to do; nothing is kept."""
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.strip().splitlines()) >= 1
    assert cli("missions", "list", "--json").json == []
    assert cli("agents", "list", "--json").json == []


def test_an_agent_is_shown_with_its_day(cli):
    """Policy, limits, what was used today, its missions."""
    cli.answers(*MILK)
    cli("agents", "add", "Ada", "--persona", "Brief and exact.", "--policy", "notes=deny", "--policy", "external=confirm",
        "--daily-tokens", "5000", "--daily-cost", "0.5", "--concurrency", "2")  # fmt: skip
    made(cli, "--agent", "Ada")
    cli("missions", "run", "Shopping")
    shown = cli("agents", "show", "Ada").out
    assert "Brief and exact." in shown
    assert "external=confirm, notes=deny" in shown
    assert " of 5000" in shown
    assert "missions: Shopping" in shown
    changed = cli(
        "agents", "edit", "Ada", "--policy", "notes=", "--daily-tokens", "none", "--name", "Eve", "--json"
    ).json
    assert (changed["policy"], changed["daily_tokens"], changed["name"]) == (
        {"external": "confirm"},
        None,
        "Eve",
    )
    assert "active" in cli("agents", "list").out
    ran = cli("agents", "delete", "Eve")
    assert (ran.code, "Shopping" in ran.err) == (2, True)


def test_a_call_outside_waits_and_pausing_the_agent_ends_it(cli):
    """Exit code 5, the command that goes on; a paused agent's runs are cancelled, and nothing starts."""
    cli.tools = (send_mail,)
    cli.answers(plan(("send_mail", {"to": "anna"})), always="Fine.")
    cli("agents", "add", "Ada")
    made(cli, "--agent", "Ada")
    ran = cli("missions", "run", "Shopping")
    assert ran.code == 5
    assert "surefoot approve" in ran.err
    ran = cli("missions", "run", "Shopping")
    assert (ran.code, "has not ended" in ran.err) == (2, True)
    ran = cli("agents", "pause", "Ada")
    assert "1 run of it was stopped." in ran.out
    (execution,) = cli("missions", "show", "Shopping", "--json").json["executions"]
    assert (execution["status"], sent) == ("cancelled", [])
    assert cli("missions", "run", "Shopping").code == 2
    cli("agents", "resume", "Ada")
    assert cli("missions", "run", "Shopping").code == 0


def test_pausing_a_mission_ends_what_waits_of_it(cli):
    """As pausing its agent does."""
    cli.tools = (send_mail,)
    cli.answers(plan(("send_mail", {"to": "anna"})))
    made(cli)
    assert cli("missions", "run", "Shopping", "--json").code == 5
    assert cli("missions", "pause", "Shopping").code == 0
    (execution,) = cli("missions", "show", "Shopping", "--json").json["executions"]
    assert execution["status"] == "cancelled"


def test_a_person_at_a_terminal_is_asked(cli):
    """As for any request; the execution has ended then."""
    cli.tools = (send_mail,)
    cli.answers(plan(("send_mail", {"to": "anna"})), "Sent.")
    made(cli)
    ran = cli.at_terminal("missions", "run", "Shopping", typed=["y\n"])
    assert (ran.code, sent) == (0, ["anna"])
    (execution,) = cli("missions", "show", "Shopping", "--json").json["executions"]
    assert (execution["status"], execution["summary"]) == ("done", "Sent.")


def test_a_run_that_is_paused_meanwhile_says_so(cli):
    """Exit code 130: it was stopped, and what was done stays."""
    mission = made(cli, "--kit", "tasks")
    opened = []
    before = cli._open

    def keep(*arguments, **more):
        opened.append(before(*arguments, **more))
        return opened[-1]

    async def pause(_request):
        journal = await opened[-1].journal()
        await journal.transact(lambda tx: store.pause(open_tx(tx), mission["id"], actor=PERSON, now=NOW))
        return plan(("addTask", {"title": "Bread"}))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "open_assistant", keep)
        cli.answers(plan(("addTask", {"title": "Milk"})), pause)
        ran = cli("missions", "run", "Shopping")
    assert ran.code == 130
    assert "was paused" in ran.err
    (execution,) = cli("missions", "show", "Shopping", "--json").json["executions"]
    assert execution["status"] == "cancelled"


def test_a_failure_names_its_phase(cli):
    """With the code of its error."""
    cli.answers(ProviderAuthError("The key was refused.", "Set it."))
    made(cli)
    assert cli("missions", "run", "Shopping").code == 3
    assert "failed at work: The key was refused." in cli("missions", "show", "Shopping").out


def test_secrets_that_are_typed_are_kept_nowhere(cli):
    """Told by their form, in a goal, an input, feedback, a persona."""
    card = "4111 1111 1111 1111"
    made(cli, "--input", f"card={card}", "--concept", f"pay with {card}", goal=f"use {card}")
    cli("missions", "feedback", "Shopping", f"not {card}")
    cli("agents", "add", "Ada", "--persona", f"knows {card}")
    told = cli("missions", "show", "Shopping", "--json").out + cli("agents", "show", "Ada", "--json").out
    assert card not in told
    assert "4111" not in told


def test_german(cli, monkeypatch):
    """States, phases and sentences follow the language."""
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    ran = cli("missions", "add", "Einkauf", "--goal", "Milch auf die Liste", "--cadence", "täglich um 7 Uhr")
    assert "Einkauf ist angelegt" in ran.out
    assert "aktiv" in cli("missions", "list").out
    assert "nächstes Mal" in cli("missions", "list").out
    assert "Eine Mission jetzt ausführen" in cli("missions", "run", "--help").out


def test_the_commands_of_the_page_work(cli):
    """Every command that docs/missions.md shows, in its order, on the same data."""
    page = (
        (Path(__file__).parents[2] / "docs" / "missions.md").read_text(encoding="utf-8").replace("\\\n", " ")
    )
    commands = re.findall(r"^\$ surefoot (.*)$", page, re.MULTILINE)
    assert len(commands) >= 8
    cli.answers(always="Nothing to do.")
    for command in commands:
        words = shlex.split(command.replace("--execution 3", "--execution 1"))
        ran = cli(*words)
        assert ran.code == 0, (command, ran.err)
