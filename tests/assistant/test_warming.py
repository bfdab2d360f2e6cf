"""Warming a local model."""

from __future__ import annotations

import pytest

from surefoot import ScriptedModel
from surefoot.assistant.warming import warm_planner, warm_reply
from surefoot.errors import ModelFileError
from surefoot.models.types import Capabilities, Request
from surefoot.settings import load_settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

from .support import assistant

LOCAL = Capabilities(tools=True, grammar=True, encoding="own", local=True)


async def test_a_local_model_reads_the_planners_prefix():
    """The messages and tools that a plan's request begins with, under the planner's key and slot."""
    model = ScriptedModel(capabilities=LOCAL)
    catalogue = Catalogue(builtin(("notes",)))
    assert await warm_planner(model, load_settings(), catalogue)
    ((request, _),) = model.warmed
    assert request.purpose == "plan"
    shown = " ".join(
        [message.content for message in request.messages] + [spec.name for spec in request.tools]
    )
    assert "addNote" in shown
    await warm_planner(model, load_settings(max_steps=3), catalogue)
    await warm_planner(model, load_settings(), Catalogue(builtin(("tasks",))))
    assert len({key for _, key in model.warmed}) == 3


async def test_there_is_nothing_to_warm_elsewhere():
    """A hosted model would charge for it; without a planner there is no such prompt."""
    hosted = ScriptedModel()
    assert not await warm_planner(hosted, load_settings(), Catalogue())
    assert not await warm_reply(hosted, load_settings())
    local = ScriptedModel(capabilities=LOCAL)
    assert not await warm_planner(local, load_settings(planner_enabled=False), Catalogue())
    assert hosted.warmed == local.warmed == []


async def test_the_answers_prompt_is_kept_as_well():
    """In the reply's slot."""
    local = ScriptedModel(capabilities=LOCAL)
    assert await warm_reply(local, load_settings())
    ((request, _),) = local.warmed
    assert (request.purpose, len(request.messages)) == ("reply", 1)


async def test_a_turn_begins_with_the_prefixes_ready():
    """So that a cold process restores them; a request that is not planned waits for nothing."""
    model = ScriptedModel("nothing", "Hello.", "Hi.", capabilities=LOCAL)
    async with assistant(model) as ours:
        await ours.ask("hello to you")
        assert [request.purpose for request, _ in model.warmed] == ["plan", "reply"]
        await ours.ask("hi")
        assert len(model.warmed) == 2
        await ours.warm()
        assert len(model.warmed) == 4


async def test_a_model_that_cannot_be_warmed_says_so_at_its_call():
    """Not before: the turn tells it once. Asked to warm, it is told at once."""

    class Broken(ScriptedModel):
        async def warm(self, request: Request, key: str) -> None:
            raise ModelFileError("damaged")

    model = Broken("nothing", "Hello.", capabilities=LOCAL)
    async with assistant(model) as ours:
        assert (await ours.ask("hello to you")).reply == "Hello."
        with pytest.raises(ModelFileError, match="damaged"):
            await ours.warm()
