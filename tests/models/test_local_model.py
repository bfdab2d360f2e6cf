"""The real embedded model: the few things that only real weights can show. Loaded once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from surefoot.models import weights
from surefoot.models.local import LocalModel
from surefoot.models.registry import EMBEDDED
from surefoot.models.types import FinishReason, Message, Request, ToolSpec
from surefoot.settings import Settings

pytestmark = pytest.mark.model

TEXT = {"type": "string"}
TOOLS = (
    ToolSpec(
        "addNote",
        "Write a new note.",
        {"type": "object", "properties": {"title": TEXT, "text": TEXT}, "required": ["title"]},
    ),
    ToolSpec(
        "addTask",
        "Put a task on the list.",
        {"type": "object", "properties": {"title": TEXT, "due": TEXT}, "required": ["title"]},
    ),
    ToolSpec(
        "getWeather",
        "The weather of a place.",
        {"type": "object", "properties": {"place": TEXT}, "required": ["place"]},
    ),
)
SYSTEM = Message(
    "system",
    "You plan which tools are called for a request. One call for each wish. Leave out what was not said.",
)
WARM = Request((SYSTEM,), tools=TOOLS, purpose="plan")


def plan(query: str) -> Request:
    return Request((SYSTEM, Message("user", query)), tools=TOOLS, purpose="plan", max_tokens=200)


@pytest.fixture(scope="session")
def path() -> Path:
    """The pinned weights in the person's cache."""
    found = weights.find(EMBEDDED, Settings())
    if found is None:
        pytest.fail("the weights of the embedded model are not here: run `surefoot models pull`")
    return found


@pytest.fixture(scope="session")
def model(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    opened = LocalModel(
        path, Settings(cache_dir=tmp_path_factory.mktemp("model"), num_ctx=4096), name=f"local:{EMBEDDED}"
    )
    yield opened
    asyncio.run(opened.close())


async def test_several_wishes_become_several_calls_in_the_models_own_form(model: LocalModel) -> None:
    """Structure comes from the grammar; the words are the person's."""
    await model.warm(WARM, "test")
    completion = await model.complete(
        plan("Note that Anna likes tulips, and add a task to call the plumber.")
    )
    assert completion.finish_reason is FinishReason.TOOL_CALLS
    assert [call.name for call in completion.tool_calls] == ["addNote", "addTask"]
    assert "tulips" in str(completion.tool_calls[0].arguments).lower()
    assert "plumber" in str(completion.tool_calls[1].arguments).lower()


async def test_a_second_question_reads_little_of_its_prompt(model: LocalModel) -> None:
    """Under 15 percent of the tokens are evaluated when the catalogue is the same."""
    await model.warm(WARM, "test")
    await model.complete(plan("What is the weather in Graz?"))
    usage = (await model.complete(plan("Add a task to water the plants tomorrow."))).usage
    assert usage.prompt_tokens - usage.cached_tokens < 0.15 * usage.prompt_tokens


async def test_a_cold_start_restores_the_kept_prefix(model: LocalModel) -> None:
    """Another load of the model answers its first question without reading the catalogue."""
    await model.warm(WARM, "test")
    await model.close()
    await model.warm(WARM, "test")
    usage = (await model.complete(plan("What is the weather in Linz?"))).usage
    assert usage.prompt_tokens - usage.cached_tokens < 0.15 * usage.prompt_tokens


async def test_choices_carry_what_the_model_believes(model: LocalModel) -> None:
    """A true statement is likelier than a false one, and the answer is the likelier text."""
    yes = {}
    for country in ("Austria", "Japan"):
        message = Message("user", f"Is Vienna a city in {country}? Answer yes or no.")
        completion = await model.complete(Request((message,), choices=("yes", "no"), purpose="check"))
        assert completion.probabilities is not None
        assert completion.text == (
            "yes" if completion.probabilities[0] > completion.probabilities[1] else "no"
        )
        yes[country] = completion.probabilities[0]
    assert yes["Austria"] > 0.5 > yes["Japan"]
