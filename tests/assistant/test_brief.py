"""A run with terms of its own: they stand in the run, and hold whoever takes it up."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from surefoot import ScriptedModel, tool
from surefoot.assistant.brief import Brief, brief_of, over
from surefoot.errors import InputError
from surefoot.journal.types import Run, RunStatus
from surefoot.running.budget import NO_LIMITS, Limits
from surefoot.tools.catalogue import Catalogue

from .support import NOW, assistant, plan, titles

TERMS = Brief(
    "water the plants", "Plants", "Be careful.", ("INPUTS (data)\n- n: 3",), ("tasks",), {"notes": "deny"}, {"writes": 5},
    {"tokens": 900.0}, False, "Asia/Kolkata", {"mission": "m1"},
)  # fmt: skip


@tool(effect="read", kit="tasks")
def look() -> str:
    """Look."""
    return "seen"


@tool(effect="external", kit="post")
def send(to: str) -> str:
    """Send."""
    return to


def test_terms_survive_the_journal():
    """As JSON in the run's context; a request has none."""
    run = Run("r1", TERMS.goal, context={"brief": TERMS.to_dict()})
    assert brief_of(run) == TERMS
    assert brief_of(Run("r1", "x")) is None


def test_only_the_kits_that_are_named():
    """All when none is named; one that is not there is an error, not an empty list of tools."""
    catalogue = Catalogue([look, send])
    assert Brief("x").tools(catalogue) is catalogue
    assert Brief("x", kits=("post",)).tools(catalogue).names == ("send",)
    with pytest.raises(InputError, match="flying"):
        Brief("x", kits=("flying",)).tools(catalogue)


def test_limits_go_over_those_of_before_and_caps_only_lower():
    """What is left of a day never raises what a run may use."""
    limits = Limits(writes=20, tokens=1_000, rounds=5)
    assert Brief("x", limits={"writes": 30}).bounded(limits).writes == 30
    assert Brief("x", caps={"tokens": 400.0}).bounded(limits).tokens == 400
    assert Brief("x", caps={"tokens": 4_000.0}).bounded(limits).tokens == 1_000
    assert Brief("x", caps={"cost": 0.5}).bounded(NO_LIMITS).cost == 0.5
    assert Brief("x", limits={"tokens": 300}, caps={"tokens": 400.0}).bounded(limits).tokens == 300


@pytest.mark.parametrize(
    ("own", "settings", "decision"),
    [
        ({}, {}, "confirm"),
        ({}, {"post": "auto"}, "auto"),
        ({"external": "deny"}, {"send": "auto"}, "deny"),
        ({"post": "auto"}, {"external": "deny"}, "auto"),
        ({"external": "auto"}, {"post": "deny"}, "deny"),
        ({"external": "auto"}, {"post": "confirm"}, "auto"),
        ({"send": "auto", "post": "deny"}, {}, "auto"),
        ({"send": "auto"}, {"send": "deny"}, "auto"),
        ({"notes": "deny"}, {}, "confirm"),
    ],
)
def test_whose_entry_counts(own, settings, decision):
    """The agent's, by tool, kit, effect; a narrower `deny` of the person stays."""
    assert over(send, own, settings) == decision


async def test_work_is_a_run_outside_the_conversation():
    """Its own kind, clock and actor; nothing of it is said in the conversation, and `resume` knows its terms."""
    model = ScriptedModel(plan(("addTask", {"title": "Water"})), "Done.")
    async with assistant(model) as ours:
        result = await ours.work(TERMS)
        run = result.run
        assert (result.status, run.kind, run.context["zone"], run.context["mission"]) == (
            RunStatus.DONE,
            "mission",
            "Asia/Kolkata",
            "m1",
        )
        assert run.context["now"] == NOW.astimezone(ZoneInfo("Asia/Kolkata")).isoformat()
        journal = await ours.journal()
        assert await journal.messages(ours.dialogue) == []
        assert await journal.search_memories("plants") == []
        assert await titles(ours, "tasks") == ["Water"]
    assert model.requests[0].messages[0].content == "Be careful."
    assert "INPUTS (data)\n- n: 3" in model.requests[0].messages[-1].content


async def test_the_id_can_be_given_and_the_goal_must_be_there():
    """Whoever keeps books about a run knows its id before it exists."""
    async with assistant(ScriptedModel("Done.")) as ours:
        assert (await ours.work(Brief("x"), run="0123456789abcdef")).id == "0123456789abcdef"
        with pytest.raises(InputError):
            await ours.work(Brief(" "))


async def test_last_is_the_last_run_that_was_no_undo():
    """Of both kinds: a request, or work on terms of its own."""
    model = ScriptedModel(
        plan(("addTask", {"title": "A"})), "Done.", plan(("addTask", {"title": "B"})), "Done."
    )
    async with assistant(model) as ours:
        await ours.ask("add a task named A")
        await ours.work(Brief("add B"))
        await ours.undo("last")
        assert await titles(ours, "tasks") == ["A"]
