"""Policy."""

from __future__ import annotations

import pytest

from surefoot.running.policy import decide, denied
from surefoot.tools.types import Effect, Tool


def tool(effect: Effect) -> Tool:
    return Tool("sendMail", "", {"type": "object", "properties": {}}, effect, lambda: None, kit="mail")


@pytest.mark.parametrize(
    ("effect", "chosen", "wanted"),
    [
        (Effect.READ, {}, "auto"),
        (Effect.WRITE, {}, "auto"),
        (Effect.EXTERNAL, {}, "confirm"),
        (Effect.EXTERNAL, {"external": "deny"}, "deny"),
        (Effect.EXTERNAL, {"external": "deny", "mail": "auto"}, "auto"),
        (Effect.EXTERNAL, {"mail": "auto", "sendMail": "deny"}, "deny"),
        (Effect.READ, {"sendmail": "deny"}, "auto"),
    ],
)
def test_the_tool_wins_over_its_kit_over_its_effect(effect: Effect, chosen: dict, wanted: str):
    """The nearest entry decides; names are exact."""
    assert decide(tool(effect), chosen) == wanted


def test_a_refusal_names_the_tool_and_the_setting():
    """A model can react, a person can change it."""
    error = denied(tool(Effect.EXTERNAL))
    assert error.details == {"tool": "sendMail"}
    assert "policy.sendMail" in error.next_move
