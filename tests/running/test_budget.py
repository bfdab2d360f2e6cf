"""Budgets."""

from __future__ import annotations

import pytest

from surefoot.errors import BudgetExceededError, SettingsError
from surefoot.models.types import Usage
from surefoot.running.budget import NO_LIMITS, Budget, Limits, default_limits
from surefoot.tools.types import Effect, Tool


def tool(name: str = "t", effect: Effect = Effect.READ, kit: str = "", max_calls: int | None = None) -> Tool:
    return Tool(
        name, "", {"type": "object", "properties": {}}, effect, lambda: None, kit=kit, max_calls=max_calls
    )


def test_defaults_are_those_decided_for_hosted_and_local():
    """The numbers of the defaults, hosted and local."""
    assert default_limits(local=False) == Limits(5, 20, 200_000, 300, 20, 5, 20, 1.0)
    assert default_limits(local=True) == Limits(5, 12, 30_000, 900, 20, 5, 20, None)


def test_settings_lie_over_the_defaults_and_zero_is_a_limit():
    """0 is a limit of none at all, not an unset one."""
    limits = default_limits(local=True).with_settings({"writes": 0})
    assert limits.writes == 0
    with pytest.raises(BudgetExceededError) as caught:
        Budget(limits).reserve_call(tool(effect=Effect.WRITE))
    assert caught.value.details["limit"] == "writes"


@pytest.mark.parametrize(("name", "value"), [("wites", 3), ("writes", -1)])
def test_an_unknown_or_negative_limit_is_named(name: str, value: float):
    """A limit that cannot be is refused with its name."""
    with pytest.raises(SettingsError, match=name):
        Limits().with_settings({name: value})


@pytest.mark.parametrize(
    ("effect", "limits", "name"),
    [
        (Effect.WRITE, Limits(writes=6), "writes"),
        (Effect.EXTERNAL, Limits(external=6), "external"),
        (Effect.READ, Limits(calls_per_tool=6), "calls_per_tool"),
    ],
)
def test_each_kind_of_call_has_its_limit(effect: Effect, limits: Limits, name: str):
    """Exactly as many as allowed; the next is refused and counts nothing."""
    budget = Budget(limits)
    for _ in range(6):
        budget.reserve_call(tool(effect=effect))
    for _ in range(2):
        with pytest.raises(BudgetExceededError) as caught:
            budget.reserve_call(tool(effect=effect))
        assert caught.value.details == {"limit": name, "allowed": 6, "used": 6}


def test_note_and_quiz_kits_may_call_more_often_and_a_tool_may_name_its_own():
    """The kit's number counts where the default is lower, the tool's own before both."""
    budget = Budget(default_limits(local=True).with_settings({"writes": 100}))
    for _ in range(50):
        budget.reserve_call(tool("tagNote", Effect.WRITE, "notes"))
    with pytest.raises(BudgetExceededError):
        budget.reserve_call(tool("tagNote", Effect.WRITE, "notes"))
    budget.reserve_call(tool("rare", max_calls=1))
    with pytest.raises(BudgetExceededError):
        budget.reserve_call(tool("rare", max_calls=1))


def test_time_tokens_and_model_calls_stop_before_the_next_model_call():
    """What is used up is said before anything is sent."""
    clock = iter([0.0, 1.0, 2.0, 11.0])
    budget = Budget(Limits(seconds=10, tokens=100, model_calls=2), clock=lambda: next(clock))
    budget.reserve_model_call()
    budget.add_usage(Usage(60, 0, 39))
    budget.reserve_model_call()
    with pytest.raises(BudgetExceededError, match="10 seconds"):
        budget.reserve_model_call()
    spent = Budget(Limits(tokens=100))
    spent.add_usage(Usage(60, 60, 40))
    with pytest.raises(BudgetExceededError, match="tokens"):
        spent.reserve_model_call()
    called = Budget(Limits(model_calls=1))
    called.reserve_model_call()
    with pytest.raises(BudgetExceededError, match="model calls"):
        called.reserve_model_call()


def test_a_cost_that_is_reached_stops_before_the_next_model_call():
    """Rule "a budget of cost": what is known of it counts; the call that passes the limit is the last one."""
    budget = Budget(Limits(cost=0.5))
    for cost in (0.25, None, 0.2):  # an unknown cost adds nothing and stops nothing
        budget.reserve_model_call()
        budget.add_usage(Usage(10, 0, 1, cost=cost))
    budget.reserve_model_call()
    budget.add_usage(Usage(10, 0, 1, cost=0.1))
    with pytest.raises(
        BudgetExceededError, match=r"limit of 0\.5 in the account's currency.*0\.55 used"
    ) as caught:
        budget.reserve_model_call()
    assert caught.value.details == {"limit": "cost", "allowed": 0.5, "used": pytest.approx(0.55)}
    assert "limits.cost" in caught.value.next_move
    assert budget.used["model_calls"] == 4


@pytest.mark.parametrize(("limit", "spent", "stops"), [
    (1.0, 1.0, True), (1.0, 0.99, False), (0.0, None, True), (None, 1000.0, False), (float("inf"), 1000.0, False),
])  # fmt: skip
def test_the_edges_of_the_cost(limit: float | None, spent: float | None, stops: bool):
    """Reached is used up; 0 is a limit; none and infinite are no limits."""
    budget = Budget(Limits(cost=limit))
    budget.add_usage(Usage(cost=spent))
    if not stops:
        budget.reserve_model_call()
        return
    with pytest.raises(BudgetExceededError):
        budget.reserve_model_call()


def test_a_hosted_run_has_a_cost_and_a_local_one_none():
    """Rule "cost 1.00 / none": the default holds for a hosted model, a local one may be told its own."""
    hosted, local = Budget(default_limits(local=False)), Budget(default_limits(local=True))
    for budget in (hosted, local):
        budget.recall_model_call(Usage(cost=0.6))
        budget.recall_model_call(Usage(cost=0.6))
    assert hosted.cost == pytest.approx(1.2)
    with pytest.raises(BudgetExceededError, match="currency"):
        hosted.reserve_model_call()
    local.reserve_model_call()


def test_a_call_of_a_tool_costs_nothing():
    """Money is for models: what is reached there does not hold a call that was planned already."""
    budget = Budget(Limits(cost=0.1))
    budget.add_usage(Usage(cost=0.2))
    budget.reserve_call(tool(effect=Effect.WRITE))


def test_what_an_earlier_part_of_the_run_used_counts_without_refusing():
    """A resumed run goes on with what is left."""
    budget = Budget(Limits(writes=1, external=1, model_calls=1), before=3.0)
    budget.recall_call(tool(effect=Effect.WRITE))
    budget.recall_call(tool(effect=Effect.WRITE))
    budget.recall_call(tool(effect=Effect.EXTERNAL))
    budget.recall_call(tool())
    budget.recall_model_call(Usage(5, 0, 5))
    assert (budget.used["writes"], budget.used["tokens"]) == (2, 10)
    assert budget.seconds >= 3.0
    with pytest.raises(BudgetExceededError):
        budget.reserve_call(tool(effect=Effect.WRITE))


def test_an_undo_has_no_limits():
    """Taking back must not stop half-way."""
    budget = Budget(NO_LIMITS)
    for _ in range(1000):
        budget.reserve_call(tool(effect=Effect.WRITE))
