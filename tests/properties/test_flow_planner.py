"""For any facts, tasks and answers: no planted value reaches a request, an error or a plan; what comes out is valid."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from flows.strategies import FLOWS, JSON
from models.gbnf import Grammar
from surefoot import ScriptedModel
from surefoot.errors import PlanFailedError, SurefootError
from surefoot.flows import FactNames, check_flow
from surefoot.flows.facts import Facts
from surefoot.flows.steps import SURFACES
from surefoot.models.types import Capabilities
from surefoot.planning.flow_grammar import flow_grammar
from surefoot.planning.flow_hints import hints_of
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.planning.flow_questions import asked_too
from surefoot.redaction import secrets

HOSTED = Capabilities(json_schema=True)
VALUES = st.from_regex(r"[A-Za-z0-9]{3}[A-Za-z0-9 #!-]{3,10}[A-Za-z0-9]{3}", fullmatch=True).map(
    lambda v: f"Zq{v}"
)
CARDS = st.sampled_from(
    ["4111 1111 1111 1111", "4111111111111111", "5500-0000-0000-0004", "DE89 3704 0044 0532 0130 00"]
)
WORDS = st.text(st.characters(categories=["Ll", "Zs"]), max_size=20)


def prompts(model) -> str:
    return "\n".join(message.content for one in model.requests for message in one.messages)


@settings(max_examples=60)
@given(value=VALUES, before=WORDS, after=WORDS, echo=st.booleans())
def test_a_facts_value_is_in_no_request_whatever_is_typed_and_answered(value, before, after, echo):
    """The person types a secret's value into the task, the model says it back, the checker quotes it."""

    async def run() -> str:
        with secrets():
            facts = Facts({"site password": value, "email": "x"})
            wrong = {"app": "browser", "steps": [{"press": value}, f"say {value if echo else 'it'}"]}
            model = ScriptedModel(always=json.dumps(wrong), capabilities=HOSTED)
            with suppress(SurefootError):
                await FlowPlanner(model).plan(f"{before} {value} {after} x", facts.names)
            return prompts(model)

    assert value not in asyncio.run(run())


@settings(max_examples=60)
@given(card=CARDS, before=WORDS, after=WORDS)
def test_a_number_typed_into_the_task_is_in_no_request_and_no_error(card, before, after):
    """Nobody registered it; it is found by its form."""

    async def run() -> tuple[str, str]:
        with secrets():
            model = ScriptedModel(
                always=json.dumps({"app": "browser", "steps": [{"press": card}]}), capabilities=HOSTED
            )
            try:
                await FlowPlanner(model).plan(f"x{before} {card} {after}x", FactNames())
            except PlanFailedError as error:
                return prompts(model), json.dumps(error.to_dict(), ensure_ascii=False)
            return prompts(model), ""

    told, error = asyncio.run(run())
    assert card not in told
    assert card not in error


@settings(max_examples=150)
@given(answer=FLOWS | JSON | st.text())
def test_any_answer_is_a_valid_plan_or_a_failure(answer):
    """Nothing else comes out, and a plan passes the check with what it asks for."""
    facts = FactNames(("email",), ("card number",))
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    async def run() -> None:
        with secrets():
            model = ScriptedModel(always=text, capabilities=HOSTED)
            with suppress(PlanFailedError):
                plan = await FlowPlanner(model, repairs=1).plan("Do it", facts)
                assert check_flow(plan.flow, asked_too(facts, plan.questions)) == []
                assert plan.use.calls == len(plan.attempts)
            assert len(model.requests) in {1, 2}

    asyncio.run(run())


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_what_a_bound_model_writes_has_the_shape_of_a_flow(seed):
    """The whole way, with the grammar that the request brings; that no field is named twice it cannot say."""
    facts = FactNames(("email", "first name"), ("card number", "pin"))

    async def run() -> None:
        model = ScriptedModel(
            lambda request: Grammar.parse(request.grammar).sentence(random.Random(seed)),
            capabilities=Capabilities(grammar=True, local=True),
        )
        problems: list[dict[str, str]] = []
        try:
            await FlowPlanner(model, repairs=0).plan("Do it", facts)
        except PlanFailedError as error:
            problems = error.details["problems"]
        codes = {problem["code"] for problem in problems if "a second time" not in problem["message"]}
        assert not codes & {"no_flow", "unknown_step", "wrong_type", "blank", "too_long"}
        assert model.requests[0].grammar == flow_grammar(facts, SURFACES, hints_of("Do it"))

    asyncio.run(run())
