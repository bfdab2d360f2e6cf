"""The grammar in the real engine, with a tiny model that writes at random: what it writes is the beginning of a flow."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.tiny import tiny_model
from surefoot.errors import PlanFailedError
from surefoot.flows import FactNames, check_flow
from surefoot.flows.steps import SURFACES
from surefoot.models.types import Message, Request
from surefoot.planning.flow_grammar import flow_grammar
from surefoot.planning.flow_hints import Hints
from surefoot.planning.flow_plan import FlowPlan
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.planning.flow_questions import asked_too

MANY = FactNames(
    (*(f"fact {n}" for n in range(20)), "Größe", "dad's email", "住所"),
    ("card number", "card_code", "card", "pin", *(f"secret thing {chr(97 + n)}" for n in range(10))),
)


@pytest.mark.parametrize("facts", [FactNames(), MANY], ids=["none", "many"])
@pytest.mark.parametrize("surfaces", [frozenset({"browser"}), frozenset({"desktop"}), SURFACES], ids=sorted)
@pytest.mark.parametrize(
    "hints", [Hints(), Hints(("a.example",), True, "paying", ("two",))], ids=["plain", "hinted"]
)
async def test_the_engine_takes_the_grammar(tmp_path: Path, facts, surfaces, hints):
    """llama.cpp reads every rule, and the model can write nothing but a flow."""
    model = tiny_model(tmp_path)
    try:
        request = Request(
            (Message("user", "x"),),
            grammar=flow_grammar(facts, surfaces, hints),
            max_tokens=40,
            temperature=1.0,
        )
        assert (await model.complete(request)).text.startswith('{"app": "')
    finally:
        await model.close()


async def test_the_whole_way_with_a_model_that_knows_nothing(tmp_path: Path):
    """Its prefix is kept; what it writes is a flow that passes the check, or it says why not. Nothing else happens."""
    model, facts, pages = tiny_model(tmp_path), FactNames(("email",)), frozenset({"browser"})
    made: FlowPlan | PlanFailedError
    try:
        made = await FlowPlanner(model, repairs=1).plan("Look at the page", facts, pages)
    except PlanFailedError as error:
        made = error
    finally:
        await model.close()
    assert list((tmp_path / "prefixes").glob("*.state"))
    if isinstance(made, FlowPlan):
        assert check_flow(made.flow, asked_too(facts, made.questions), surfaces=pages) == []
    else:
        assert made.details["reason"] == "invalid"
