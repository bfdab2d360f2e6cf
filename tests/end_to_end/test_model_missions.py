"""Two missions of the contract on the embedded model, each as a plan and in the native loop, undone byte for byte.

What the questions say is the model's; that there are eight of them, which notes are tagged, and that nothing else is
touched is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from end_to_end.kit_rows import NOW, PERSON, rows
from surefoot import Assistant, load_settings
from surefoot.journal.types import RunStatus
from surefoot.models import weights
from surefoot.models.local import LocalModel
from surefoot.models.registry import EMBEDDED
from surefoot.settings import Settings
from surefoot.tools.kits import notes, quizzes
from surefoot.tools.types import Context

pytestmark = pytest.mark.model

QUIZ = "Make a quiz called Planets about the solar system and add eight questions to it"
TAG = "Tag every note about Lisbon with travel"
NOTES = {
    "Lisbon flights": "TAP at nine",
    "Lisbon hotel": "in Alfama",
    "Lisbon food": "pastel de nata",
    "Car insurance": "renew it in May",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModel]:
    """The real weights, loaded once: what both missions of a way have in common is read once."""
    path = weights.find(EMBEDDED, Settings())
    if path is None:
        pytest.fail("the weights of the embedded model are not here: run `surefoot models pull`")
    settings = Settings(cache_dir=tmp_path_factory.mktemp("missions"))
    opened = LocalModel(path, settings, name=f"local:{EMBEDDED}")
    yield opened
    asyncio.run(opened.close())


@pytest.fixture(params=["outline", "loop"])
async def ours(request, tmp_path: Path, model: LocalModel) -> AsyncIterator[Assistant]:
    """An assistant on the real weights, with two kits: fewer tools are fewer tokens to read."""
    settings = load_settings(
        data_dir=tmp_path,
        zone="UTC",
        language="en",
        planner_enabled=request.param == "outline",
    )
    async with Assistant(
        model=model, settings=settings, kits=("notes", "quizzes"), clock=lambda: NOW
    ) as made:
        yield made


async def test_a_quiz_with_eight_questions(ours: Assistant):
    """Made with all its questions, and gone again after one undo."""
    before = await rows(ours)
    result = await ours.ask(QUIZ)
    assert result.status is RunStatus.DONE
    journal = await ours.journal()
    (quiz,) = await journal.transact(quizzes.list_rows)
    assert quiz["title"] == "Planets"
    assert len({one["question"] for one in quiz["questions"]}) == 8
    assert result.reply
    report = await ours.undo(result)
    assert (report.complete, report.taken_back) == (True, 2)
    assert await rows(ours) == before


async def test_every_note_of_a_list_is_tagged(ours: Assistant):
    """Those that are meant and no other; one undo takes every tag back."""
    journal = await ours.journal()
    for number, (title, text) in enumerate(NOTES.items()):
        ctx = Context("seed", f"seed.{number}", PERSON, NOW, "UTC", "en", ours.settings, None)
        await journal.transact(
            lambda tx, ctx=ctx, title=title, text=text: notes.add_note.invoke(
                replace(ctx, tx=tx), {"title": title, "text": text}
            )
        )
    before = await rows(ours)
    result = await ours.ask(TAG)
    assert result.status is RunStatus.DONE
    tagged = {row["title"]: list(row["tags"]) for row in await journal.transact(notes.list_rows)}
    assert tagged == {title: ["travel"] if title.startswith("Lisbon") else [] for title in NOTES}
    report = await ours.undo(result)
    assert (report.complete, report.taken_back) == (True, 3)
    assert await rows(ours) == before
