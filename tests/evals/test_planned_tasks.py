"""The everyday tasks through the flow planner, with a scripted model: what is asked, judged and repaired, task by task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot import ScriptedModel
from surefoot.evals.adequacy import adequacy
from surefoot.evals.flow_tasks import FlowTask, read_flow_tasks
from surefoot.flows import FactNames, check_flow
from surefoot.models.types import Capabilities
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.planning.flow_questions import asked_too

DATA = Path(__file__).parents[1] / "data"
TASKS = [
    task for name in ("flow_tasks", "flow_tasks_tuning") for task in read_flow_tasks(DATA / f"{name}.json")
]
HOSTED = Capabilities(context_length=100_000)


def facts_of(task: FlowTask) -> FactNames:
    return FactNames(task.shared, task.secret)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_a_careful_answer_is_taken_as_it_is(task):
    """One call; the flow is the author's, valid with what was given and asked for, and adequate."""
    model = ScriptedModel(json.dumps(task.reference, ensure_ascii=False), capabilities=HOSTED)
    facts = facts_of(task)
    plan = await FlowPlanner(model).plan(task.goal, facts, frozenset(task.surfaces))
    assert plan.flow.to_json() == task.reference
    assert check_flow(plan.flow, asked_too(facts, plan.questions), surfaces=frozenset(task.surfaces)) == []
    assert adequacy(plan.flow.to_json(), task) == []
    assert plan.use.calls == 1


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_a_wrong_answer_goes_back_and_the_next_one_is_taken(task):
    """An unknown kind of step is told with its place; the second answer is the flow."""
    steps = [*task.reference["steps"], {"press": "the button"}]
    wrong = json.dumps({**task.reference, "steps": steps}, ensure_ascii=False)
    model = ScriptedModel(wrong, json.dumps(task.reference, ensure_ascii=False), capabilities=HOSTED)
    plan = await FlowPlanner(model).plan(task.goal, facts_of(task), frozenset(task.surfaces))
    assert plan.flow.to_json() == task.reference
    assert plan.use.calls == 2
    told = model.requests[1].messages[-1].content
    assert f"step {len(steps)}" in told
    assert "press" in told


@pytest.mark.parametrize("task", [one for one in TASKS if one.literals], ids=lambda task: task.id)
async def test_details_that_a_task_holds_reach_no_prompt(task):
    """Addresses and numbers are told by a name; what else is personal may be said, and never planned."""
    model = ScriptedModel(json.dumps(task.reference, ensure_ascii=False), capabilities=HOSTED)
    await FlowPlanner(model).plan(task.goal, facts_of(task), frozenset(task.surfaces))
    sent = "\n".join(message.content for message in model.requests[0].messages)
    numbers = [one for one in task.literals if "@" in one or sum(map(str.isdigit, one)) > 6]
    assert [one for one in numbers if one in sent] == []
