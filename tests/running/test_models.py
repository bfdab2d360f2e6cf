"""Model calls of a run: masked, kept once, with what was new in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot import redaction
from surefoot.errors import BudgetExceededError, ProviderUnavailableError
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Completion, Message, Request, ToolCall
from surefoot.running import asked as asked_module
from surefoot.running.asked import KEPT, asked, continued, masked
from surefoot.running.budget import Limits
from surefoot.running.models import call_model

from .support import again, new_session, open_journal

SECRET = "hunter2-hunter2"
SYSTEM = Message("system", "You are exact.")


@pytest.fixture
async def session(tmp_path: Path):
    journal = open_journal(tmp_path)
    yield await new_session(journal, [])
    await journal.close()


def history(*more: Message) -> Request:
    return Request((SYSTEM, Message("user", "go"), *more))


def said_by(completion: Completion) -> Message:
    return Message("assistant", completion.text, completion.tool_calls)


def result(call: ToolCall, text: str = '{"success": true}') -> Message:
    return Message("tool", text, tool_call_id=call.id, name=call.name)


async def kept(session, key: str) -> list[str]:
    """Roles and texts of the messages kept with a call, its answer left out."""
    said = await session.journal.run_messages(session.run.id, key)
    return [f"{message['role']}: {message['content']}" for _, message in said[:-1]]


async def count(session, table: str) -> int:
    query = f"SELECT count(*) FROM {table}"
    return await session.journal.transact(lambda tx: tx.exec_driver_sql(query).scalar())


async def rounds(session, model, number: int, *, reminders: bool = False) -> list[Message]:
    """So many rounds of one call each, as a loop makes them; the history at the end."""
    told = [*history().messages]
    for place in range(1, number + 1):
        behind = [Message("user", f"Reminder {place}.")] if reminders else []
        answer = await call_model(session, model, Request((*told, *behind)), f"round.{place}")
        told.append(said_by(answer))
        told += [result(call, f"result {place}") for call in answer.tool_calls]
    return told


def caller() -> ScriptedModel:
    """Calls one tool in every answer, each time with other arguments."""
    numbers = iter(range(1000))
    return ScriptedModel(always=lambda _: ToolCall("c", "find", {"q": str(next(numbers))}))


# --- what is new ---------------------------------------------------------------------------------------------


async def test_raw_messages_of_a_run_are_its_whole_chat(session):
    """The rule of the raw messages: the whole chat of a run can be read, in order, and no answer stands twice."""
    told = await rounds(session, caller(), 3)
    said = [message for _, message in await session.journal.run_messages(session.run.id)]
    assert said == [message.to_dict() for message in told[:-1]]


@pytest.mark.parametrize("reminders", [False, True])
async def test_a_long_history_costs_each_message_once(session, reminders):
    """Rows grow with the messages, not with their square: a round keeps its results and its reminder."""
    await rounds(session, caller(), 30, reminders=reminders)
    first = 2 + reminders
    assert await count(session, "run_messages") == first + 29 * (1 + reminders)
    assert await kept(session, "round.30") == [
        "tool: result 29",
        *(["user: Reminder 30."] if reminders else []),
    ]


async def test_a_call_can_say_which_one_it_follows(session):
    """By its key, wherever the other calls in between came from."""
    model = ScriptedModel(always="ok")
    first = await call_model(session, model, history(), "round.1")
    await call_model(session, model, history(Message("user", "aside")), "aside")
    more = history(said_by(first), Message("user", "next"))
    await call_model(session, model, more, "round.2", follows="round.1")
    assert await kept(session, "round.2") == ["user: next"]


@pytest.mark.parametrize("follows", ["", "round.7", "plan"])
async def test_a_call_that_follows_none_keeps_all(session, follows):
    """Also when the one it names is not known; what is kept already costs a hash only."""
    model = ScriptedModel(always="ok")
    await call_model(session, model, history(), "round.1")
    await call_model(session, model, Request((SYSTEM, Message("user", "other"))), "reply", follows=follows)
    assert await kept(session, "reply") == ["system: You are exact.", "user: other"]
    assert await count(session, "message_bodies") == 3


async def test_a_history_that_was_compacted_begins_anew(session):
    """The goal was rewritten, so nothing behind it counts as kept."""
    told = await rounds(session, caller(), 3)
    short = (SYSTEM, Message("user", "go\n\n- what was done"), *told[-2:])
    await call_model(session, ScriptedModel("ok"), Request(short), "round.4")
    assert await kept(session, "round.4") == [
        "system: You are exact.",
        "user: go\n\n- what was done",
        "assistant: ",
        "tool: result 3",
    ]


async def test_ids_that_the_loop_gave_to_calls_do_not_make_another_answer(session):
    """The answer went into the history with an id of its own; it stands there once."""
    answer = await call_model(
        session, ScriptedModel([ToolCall("", "find", {"q": "x"})]), history(), "round.1"
    )
    named = Message("assistant", answer.text, (ToolCall("round_1_0", "find", {"q": "x"}),))
    more = history(named, result(named.tool_calls[0], "found"))
    await call_model(session, ScriptedModel("ok"), more, "round.2")
    assert await kept(session, "round.2") == ["tool: found"]


async def test_an_answer_that_was_changed_is_a_message_of_its_own(session):
    """What the model did not say is not shown as its answer."""
    await call_model(session, ScriptedModel("I did it."), history(), "round.1")
    more = history(Message("assistant", "I did not."), Message("user", "next"))
    await call_model(session, ScriptedModel("ok"), more, "round.2", follows="round.1")
    assert await kept(session, "round.2") == ["assistant: I did not.", "user: next"]


async def test_a_resumed_run_goes_on_where_its_messages_ended(session):
    """Rounds that are answered from the journal are followed as well, and kept no second time."""
    model = caller()
    await rounds(session, model, 2)
    taken = await again(session)
    told = await rounds(taken, caller(), 2)
    assert len(model.requests) == 2
    before = await count(session, "run_messages")
    await call_model(taken, ScriptedModel("done"), Request(tuple(told)), "round.3")
    assert await kept(taken, "round.3") == ["tool: result 2"]
    assert await count(session, "run_messages") == before + 1


async def test_only_the_last_calls_are_remembered(session):
    """A session of a thousand rounds does not hold a thousand histories."""
    await rounds(session, caller(), KEPT + 5)
    assert list(session.asked) == [f"round.{number}" for number in range(6, KEPT + 6)]


@pytest.mark.parametrize("failure", [ProviderUnavailableError("down"), BudgetExceededError("spent")])
async def test_a_call_without_an_answer_keeps_nothing(tmp_path, failure):
    """Messages are written with the answer, in one transaction, or not at all."""
    journal = open_journal(tmp_path)
    spent = isinstance(failure, BudgetExceededError)
    session = await new_session(journal, [], limits=Limits(model_calls=0) if spent else Limits())
    with pytest.raises(type(failure)):
        await call_model(session, ScriptedModel(failure), history(), "plan")
    assert await journal.run_messages(session.run.id) == []
    assert await count(session, "run_messages") == 0
    assert session.asked == {}
    await journal.close()


# --- the old part of a history is left alone -----------------------------------------------------------------


async def test_what_is_done_in_a_round_does_not_grow_with_the_history(session, monkeypatch):
    """Each message is masked once and hashed once, however many rounds show it again."""
    from surefoot.journal import said, sql

    done = {"masked": 0, "hashed": 0}

    def counted(name, fn):
        def wrapped(value):
            done[name] += 1
            return fn(value)

        return wrapped

    monkeypatch.setattr(asked_module, "masked", counted("masked", masked))
    monkeypatch.setattr(sql, "body_of", counted("hashed", said.body_of))
    model = caller()
    told = await rounds(session, model, 20)
    assert done == {"masked": len(told) - 2, "hashed": 2 + 19}
    assert model.requests[-1].messages[0] is model.requests[0].messages[0]


def test_an_old_message_is_masked_again_when_a_secret_was_learned_since():
    """What was no secret in round 1 is one in round 2, and does not go out again."""
    told = (SYSTEM, Message("user", f"it is {SECRET}"))
    with redaction.secrets("another-secret"):
        first = asked(told, None).answered(Completion("ok"))
        assert first.sent[1].content == f"it is {SECRET}"
        redaction.register(SECRET)
        second = asked((*told, Message("assistant", "ok"), Message("user", "next")), first)
        assert second.sent[1].content == "it is [secret]"
        assert [one["content"] for one in second.to_keep(first)] == ["next"]
    assert SECRET not in str(second.sent)


def test_a_call_is_followed_only_with_its_answer():
    """Two requests that begin alike are two conversations until the answer of one stands in the other."""
    first = asked((SYSTEM, Message("user", "a")), None).answered(Completion("A"))
    second = asked((SYSTEM, Message("user", "b")), None).answered(Completion("B"))
    both = [first, second]
    assert continued(both, (SYSTEM, Message("user", "a"), Message("assistant", "A"))) is first
    assert continued(both, (SYSTEM, Message("user", "b"), Message("assistant", " B\n"), SYSTEM)) is second
    for other in (
        (SYSTEM,),
        (SYSTEM, Message("user", "a")),
        (SYSTEM, Message("user", "a"), Message("user", "A")),
        (SYSTEM, Message("user", "c"), Message("assistant", "A")),
        (Message("assistant", "A"),),
        (),
    ):
        assert continued(both, other) is None
    assert continued([], first.given) is None


# --- masked --------------------------------------------------------------------------------------------------


async def test_no_secret_of_a_history_goes_into_a_prompt(session):
    """In texts, in the arguments of calls the model made, in names: nothing of it leaves."""
    spy = (
        Message("user", f"use {SECRET}"),
        Message(
            "assistant", "", (ToolCall("c", f"tool-{SECRET}", {"key": SECRET, "deep": [{SECRET: [SECRET]}]}),)
        ),
        Message("tool", f'{{"token": "{SECRET}"}}', tool_call_id="c", name=f"tool-{SECRET}"),
    )
    model = ScriptedModel("ok")
    with redaction.secrets(SECRET):
        await call_model(session, model, Request(spy), "round.1")
    assert SECRET not in str(model.requests)
    assert str(model.requests).count(redaction.MASK) == 7
    sent = model.requests[0].messages
    assert sent[1].tool_calls[0].arguments == {"key": "[secret]", "deep": [{"[secret]": ["[secret]"]}]}
    assert SECRET not in str(await session.journal.run_messages(session.run.id))


async def test_the_event_of_a_model_call_names_what_was_asked(session):
    """Its key, the model asked and the one that answered, why it ended, tokens."""
    model = ScriptedModel(Completion("ok", model="scripted:other"), name="scripted:asked")
    await call_model(session, model, history(), "round.1")
    (event,) = await session.journal.events(session.run.id)
    told = {name: event.data[name] for name in ("key", "purpose", "asked", "model", "finish")}
    assert told == {
        "key": "round.1",
        "purpose": "reply",
        "asked": "scripted:asked",
        "model": "scripted:other",
        "finish": "stop",
    }
