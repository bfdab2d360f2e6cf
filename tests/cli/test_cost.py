"""What calls cost, where it is shown, and which routes are listed."""

from __future__ import annotations

import pytest

from surefoot.cli.shown import amount
from surefoot.models.types import Usage
from surefoot.settings import settings_file

from .support import BIRTHDAY, CommandLine


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (0, "0"), (0.0, "0"), (1.5, "1.5"), (12.0, "12"), (0.00042, "0.00042"), (0.1 + 0.2, "0.3"),
        (1.2e-7, "1.2e-07"), (1234.5678911, "1234.567891"), (100.0, "100"),
    ],
)  # fmt: skip
def test_an_amount_is_short_and_nothing_known_is_shown_as_nothing(cost: float, shown: str):
    """Six decimals at most; what is smaller than that is no 0."""
    assert amount(cost) == shown


def test_a_known_cost_is_shown_and_kept(cli: CommandLine):
    """For each model call, in the sum of the record, and in the events."""
    cli.answers(BIRTHDAY, "I noted it.", usage=Usage(200, 190, 6, cost=0.00042))
    assert cli("ask", "note Anna's birthday please").code == 0
    assert cli("show").out.count("cost 0.00042") == 2
    record = cli("show", "--json").json
    assert record["usage"]["cost"] == pytest.approx(0.00084)
    called = [event["data"] for event in record["events"] if event["type"] == "model.called"]
    assert [data["cost"] for data in called] == [0.00042, 0.00042]


def test_an_unknown_cost_is_said_as_unknown_and_never_as_nothing(cli: CommandLine):
    """Null in the record, no amount on the screen."""
    cli.answers(BIRTHDAY, "I noted it.", usage=Usage(200, 190, 6))
    assert cli("ask", "note Anna's birthday please").code == 0
    assert "cost" not in cli("show").out
    record = cli("show", "--json").json
    assert record["usage"]["cost"] is None
    assert {event["data"]["cost"] for event in record["events"] if event["type"] == "model.called"} == {None}


def test_a_free_call_costs_nothing_and_that_is_shown(cli: CommandLine):
    """0 that somebody said is not the same as unknown."""
    cli.answers(BIRTHDAY, "I noted it.", usage=Usage(200, 190, 6, cost=0.0))
    cli("ask", "note Anna's birthday please")
    assert cli("show").out.count("cost 0\n") == 2
    assert cli("show", "--json").json["usage"]["cost"] == 0


def test_a_run_whose_cost_is_used_up_stops_and_says_so(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    """Rule "limits.cost is enforced": the plan was dear, so the reply is not asked for; what was done is kept."""
    monkeypatch.setenv("SUREFOOT_LIMITS__COST", "0.5")
    cli.answers(BIRTHDAY, "I noted it.", usage=Usage(200, 190, 6, cost=0.6))
    done = cli("ask", "note Anna's birthday please", "--json")
    assert done.code == 4
    assert done.json["stopped_by"] == "cost"
    assert done.json["usage"]["cost"] == 0.6
    assert [call["status"] for call in done.json["calls"]] == ["done"] * 3


def test_routes_are_listed_with_what_they_miss(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    """Hosted ones with the name of their key, the person's own with their address; local ones are not guessed at."""
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(
        '[routes.mine]\nbase_url = "https://llm.example.com/v1"\n[routes.vllm]\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-0123456789")
    found = {one["name"]: one for one in cli("models", "list", "--json").json}
    assert (found["openrouter:…"]["available"], found["openai:…"]["available"]) == (True, False)
    assert "OPENAI_API_KEY" in found["openai:…"]["note"]
    assert "https://llm.example.com/v1" in found["mine:…"]["note"]
    assert found["vllm:…"]["available"]
    assert not {"lmstudio:…", "llamacpp:…"} & found.keys()
