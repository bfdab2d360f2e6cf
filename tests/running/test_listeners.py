"""Who listens to a run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from surefoot import redaction
from surefoot.errors import EmptyReplyError
from surefoot.events import LIVE_ONLY, EventType
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Message, Piece, Request, ToolCall
from surefoot.running.models import call_model

from .support import again, new_session, open_journal


@pytest.fixture
async def journal(tmp_path: Path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


def notice(text: str) -> tuple[EventType, dict[str, str]]:
    return EventType.NOTICE, {"text": text}


async def heard(session, *, until: int) -> list[str]:
    found = []
    async for event in session.listeners.listen():
        found.append(event.data["text"])
        if len(found) == until:
            break
    return found


@pytest.mark.parametrize("listen_after", range(5))
async def test_live_events_keep_their_place_among_the_stored_whenever_one_begins_to_listen(
    journal, listen_after
):
    """What is stored while a listener catches up does not overtake what was live in front of it."""
    session = await new_session(journal, [])
    listener: asyncio.Task[list[str]] | None = None

    async def say() -> None:
        nonlocal listener
        for number in range(5):
            if number == listen_after:
                listener = asyncio.create_task(heard(session, until=10 - listen_after))
                await asyncio.sleep(0)
            session.live(EventType.TOKEN, text=f"live {number}")
            await session.tell(notice(f"stored {number}"))

    await say()
    session.listeners.end()
    assert listener is not None
    wanted = [f"stored {number}" for number in range(listen_after)]
    for number in range(listen_after, 5):
        wanted += [f"live {number}", f"stored {number}"]
    assert await listener == wanted
    assert [event async for event in session.listeners.listen()][-1].data == {"text": "stored 4"}


async def test_an_event_stored_behind_our_back_does_not_overtake_a_live_one(journal):
    """Only what was told counts, until the end."""
    session = await new_session(journal, [])
    await session.tell(notice("1"))
    await journal.append(session.run.id, [notice("2")])
    listener = asyncio.create_task(heard(session, until=3))
    await asyncio.sleep(0.05)
    session.live(EventType.TOKEN, text="live")
    session.told([notice("2")])
    assert await listener == ["1", "live", "2"]


async def test_live_events_have_the_seq_of_the_last_stored_one(journal):
    """Also in a run that is taken up again."""
    session = await new_session(journal, [])
    await session.tell(notice("1"), notice("2"))
    for one in (session, await again(session)):
        listening = one.listeners.listen()
        assert [(await anext(listening)).seq for _ in range(2)] == [1, 2]
        one.live(EventType.TOKEN, text="x")
        event = await anext(listening)
        assert (event.type in LIVE_ONLY, event.seq) == (True, 2)
        await listening.aclose()


async def test_what_was_told_before_a_crash_is_not_told_again(journal):
    """A resumed run comes by the same places; only what is new is written."""
    session = await new_session(journal, [])
    await session.tell((EventType.STEP_STARTED, {"step": 1, "text": "a"}), notice("x"))
    taken = await again(session)
    await taken.tell((EventType.STEP_STARTED, {"step": 1, "text": "a"}))
    await taken.tell((EventType.STEP_STARTED, {"step": 2, "text": "a"}), notice("x"))
    await taken.tell(notice("y"))
    await taken.tell(notice("y"))
    said = [event.data for event in await journal.events(session.run.id)]
    assert said == [
        {"step": 1, "text": "a"},
        {"text": "x"},
        {"step": 2, "text": "a"},
        {"text": "y"},
        {"text": "y"},
    ]


# --- model calls ---------------------------------------------------------------------------------------------


def request(text: str = "hello") -> Request:
    return Request((Message("user", text),))


@pytest.mark.parametrize(
    "secrets", [("hunter2-hunter2",), ("hunter2", "r2-hunter2-x"), ("4111111111111111",)]
)
@pytest.mark.parametrize("piece", [1, 3, 8])
async def test_a_secret_that_comes_in_pieces_reaches_no_listener(journal, secrets, piece):
    """Pieces that may begin one are held back until it is clear, and nothing else is."""
    text = "It is hunter2-hunter2, 4111 1111 1111 1111, hunt and hunter."
    session = await new_session(journal, [])
    queue: asyncio.Queue = asyncio.Queue()
    session.listeners._queues.add(queue)
    with redaction.secrets(*secrets):
        await call_model(session, ScriptedModel(text, piece=piece), request(), "reply", stream=True)
        wanted = redaction.redact(text)
    pieces = []
    while not queue.empty():
        item = queue.get_nowait()
        if not isinstance(item, int):
            pieces.append(item.data["text"])
    assert "".join(pieces) == wanted
    assert "[secret]" in wanted
    assert len(pieces) > 3


async def test_no_secret_goes_into_a_prompt(journal):
    """Results that a prompt quotes are masked there, too."""
    session = await new_session(journal, [])
    model = ScriptedModel("ok")
    with redaction.secrets("hunter2-hunter2"):
        await call_model(session, model, request("use hunter2-hunter2 now"), "reply")
    assert model.requests[0].messages[0].content == "use [secret] now"


async def test_a_stream_that_never_says_that_it_is_whole_is_no_answer(journal):
    """A connection that ends early must not pass for a short answer."""

    class Cut(ScriptedModel):
        async def stream(self, request):
            yield Piece("half an ans")

    session = await new_session(journal, [])
    with pytest.raises(EmptyReplyError):
        await call_model(session, Cut(), request(), "reply", stream=True)
    assert await journal.model_calls(session.run.id) == []


async def test_a_cancelled_stream_is_closed_at_once(journal):
    """The model stops there, not when the garbage is collected."""
    closed = asyncio.Event()
    begun = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request):
            try:
                yield Piece("a")
                begun.set()
                await asyncio.sleep(30)
            finally:
                closed.set()

    session = await new_session(journal, [])
    task = asyncio.ensure_future(call_model(session, Slow(), request(), "reply", stream=True))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_what_a_model_answers_of_a_secret_reaches_no_tool(journal):
    """Text and arguments are what the journal keeps of them, also before any resuming."""
    session = await new_session(journal, [])
    call = ToolCall("c1", "save", {"text": "it is hunter2-hunter2", "list": ["hunter2-hunter2", 5]})
    with redaction.secrets("hunter2-hunter2"):
        answer = await call_model(session, ScriptedModel([call]), request(), "plan")
    kept = (await journal.model_calls(session.run.id))[0].completion
    assert answer.tool_calls[0].arguments == {"text": "it is [secret]", "list": ["[secret]", 5]}
    assert [one.to_dict() for one in answer.tool_calls] == kept["tool_calls"]
