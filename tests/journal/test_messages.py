"""Messages of model calls: what was new in each is kept, every body once, masked."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest

from surefoot import redaction
from surefoot.errors import MisuseError, StateError, StorageError
from surefoot.journal import SqlJournal
from surefoot.journal.codec import dump
from surefoot.journal.said import body_of
from surefoot.journal.types import ModelCall, Run
from surefoot.models.types import Completion, Message, ToolCall
from surefoot.storage import Database, sqlite, upgrade

RUN = "0123456789abcdef"
OTHER = "fedcba9876543210"
SYSTEM = Message("system", "You plan. " * 50)
CALL = ToolCall("c1", "addNote", {"title": "Größe 漢字", "tags": ["a"]})


def asked(key, text="ok", calls=(), run=RUN):
    return ModelCall(run, key, "round", "m:1", Completion(text, tuple(calls)).to_dict())


def as_dicts(*messages):
    return [message.to_dict() for message in messages]


async def begin(journal, run=RUN):
    await journal.create_run(Run(run, "do it"))


async def test_a_conversation_comes_back_in_order_with_its_answers(journal):
    """What was new in each call, then its answer, call by call; keys say which call it was."""
    await begin(journal)
    user, result = Message("user", "hello"), Message("tool", '{"id": 1}', tool_call_id="c1", name="addNote")
    first, second = asked("round.1", "", [CALL]), asked("round.2", "done")
    await journal.add_model_call(first, messages=as_dicts(SYSTEM, user))
    await journal.add_model_call(second, messages=as_dicts(result))
    assert await journal.run_messages(RUN) == [
        ("round.1", SYSTEM.to_dict()),
        ("round.1", user.to_dict()),
        ("round.1", Message("assistant", "", (CALL,)).to_dict()),
        ("round.2", result.to_dict()),
        ("round.2", {"role": "assistant", "content": "done"}),
    ]


async def test_the_order_is_that_of_the_answers_and_not_of_the_keys(journal):
    """Round 10 comes behind round 2, and a reply behind both."""
    await begin(journal)
    keys = ["round.2", "round.10", "a", "reply", "plan"]
    for key in keys:
        await journal.add_model_call(asked(key), messages=as_dicts(Message("user", f"for {key}")))
    said = await journal.run_messages(RUN)
    assert [key for key, _ in said] == [key for key in keys for _ in range(2)]
    assert [message["content"] for _, message in said[::2]] == [f"for {key}" for key in keys]


async def test_one_call_is_read_alone(journal):
    """By its key; a key that is no call has nothing to say."""
    await begin(journal)
    for key in ("plan", "reply"):
        await journal.add_model_call(asked(key, f"answer to {key}"), messages=as_dicts(Message("user", key)))
    assert await journal.run_messages(RUN, "reply") == [
        ("reply", {"role": "user", "content": "reply"}),
        ("reply", {"role": "assistant", "content": "answer to reply"}),
    ]
    assert await journal.run_messages(RUN, "rep") == []


async def test_a_run_is_told_from_others(journal):
    """Two runs with the same keys and the same texts do not mix; an unknown run said nothing."""
    for run in (RUN, OTHER):
        await begin(journal, run)
        await journal.add_model_call(asked("plan", run, run=run), messages=as_dicts(SYSTEM))
    for run in (RUN, OTHER):
        assert [message["content"] for _, message in await journal.run_messages(run)] == [SYSTEM.content, run]
    assert await journal.run_messages("0000000000000000") == []


async def test_a_call_of_before_has_its_answer_only(journal):
    """Runs that an older version made keep what they have."""
    await begin(journal)
    await journal.add_model_call(asked("plan", "old answer"))
    assert await journal.run_messages(RUN) == [("plan", {"role": "assistant", "content": "old answer"})]


async def test_the_same_message_twice_in_a_call_stands_twice(journal):
    """Bodies are shared; places are not."""
    await begin(journal)
    await journal.add_model_call(
        asked("plan"), messages=as_dicts(SYSTEM, SYSTEM, Message("user", "x"), SYSTEM)
    )
    said = [message["content"] for _, message in await journal.run_messages(RUN)]
    assert said == [SYSTEM.content, SYSTEM.content, "x", SYSTEM.content, "ok"]


async def test_messages_are_masked_on_the_way_in(journal):
    """In texts and in the arguments of calls, whoever forgot to mask them."""
    await begin(journal)
    spy = Message("assistant", "it is hunter2-hunter2", (ToolCall("c", "t", {"key": "hunter2-hunter2"}),))
    with redaction.secrets("hunter2-hunter2"):
        await journal.add_model_call(asked("plan"), messages=as_dicts(spy))
    assert "hunter2" not in str(await journal.run_messages(RUN))
    assert str(await journal.run_messages(RUN)).count(redaction.MASK) == 2


@pytest.mark.parametrize("text", ["", "half \ud800 pair", "漢字 👩‍👩‍👧", "a\x00b\n\t", '"\\'])
async def test_odd_texts_come_back(journal, text):
    """What JSON can say comes back as it was."""
    await begin(journal)
    await journal.add_model_call(asked("plan"), messages=as_dicts(Message("user", text)))
    assert (await journal.run_messages(RUN))[0] == ("plan", {"role": "user", "content": text})


async def test_a_call_that_is_refused_leaves_no_message(journal):
    """Answered twice, or of a run that is not: nothing of it is kept."""
    await begin(journal)
    await journal.add_model_call(asked("plan"), messages=as_dicts(Message("user", "first")))
    with pytest.raises(StateError):
        await journal.add_model_call(asked("plan"), messages=as_dicts(Message("user", "second")))
    with pytest.raises(StateError, match="taken over"):
        await journal.add_model_call(asked("reply"), fence=7, messages=as_dicts(Message("user", "third")))
    with pytest.raises(MisuseError):
        await journal.add_model_call(asked("reply"), messages=[{"role": "user", "content": object()}])
    assert [message["content"] for _, message in await journal.run_messages(RUN)] == ["first", "ok"]


def test_a_body_is_known_by_the_hash_of_its_canonical_json():
    """Equal messages have one hash, however their keys are ordered; the text is what is hashed."""
    one = body_of({"role": "user", "content": "é", "name": "x"})
    assert one == body_of({"name": "x", "content": "é", "role": "user"})
    assert one.text == dump({"content": "é", "name": "x", "role": "user"})
    assert one.hash == hashlib.sha256(one.text.encode("utf-8")).hexdigest()
    assert one.hash != body_of({"role": "user", "content": "e", "name": "x"}).hash


# --- in the database -----------------------------------------------------------------------------------------


async def count(journal, table):
    query = f"SELECT count(*) FROM {table}"
    return await journal.transact(lambda tx: tx.exec_driver_sql(query).scalar())


async def test_bodies_are_stored_once(database_path):
    """Twenty runs with one system prompt keep it once, each place of it costs a hash."""
    with Database(database_path) as database:
        journal = SqlJournal(database)
        for number in range(20):
            run = f"{number:016x}"
            await begin(journal, run)
            await journal.add_model_call(
                asked("plan", run=run), messages=as_dicts(SYSTEM, Message("user", f"question {number}"))
            )
        assert await count(journal, "run_messages") == 40
        assert await count(journal, "message_bodies") == 21
        await journal.close()


async def test_a_damaged_body_is_said_so(database_path):
    """Not a crash, and not silence."""
    with Database(database_path) as database:
        journal = SqlJournal(database)
        await begin(journal)
        await journal.add_model_call(asked("plan"), messages=as_dicts(SYSTEM))
        await journal.transact(lambda tx: tx.exec_driver_sql("UPDATE message_bodies SET body = '{half'"))
        with pytest.raises(StorageError, match=f"damaged.*{RUN}.*plan"):
            await journal.run_messages(RUN)
        await journal.close()


async def test_a_database_of_before_gets_the_tables_and_keeps_its_answers(tmp_path):
    """A run of the version before: its answers are there, and new calls keep messages."""
    path = tmp_path / "journal.db"
    _made_before(path)
    with Database(path) as database:
        journal = SqlJournal(database)
        assert await journal.run_messages(RUN) == [("plan", {"role": "assistant", "content": "old"})]
        await journal.add_model_call(asked("reply"), messages=as_dicts(Message("user", "new")))
        assert [key for key, _ in await journal.run_messages(RUN)] == ["plan", "reply", "reply"]
        await journal.close()


def _made_before(path):
    """A database of the version before, with a run and an answered model call in it."""
    engine = sqlite.migration_engine(path, 1)
    with engine.connect() as connection, connection.begin():
        upgrade.run_migrations(connection, "0002")
    engine.dispose()
    old = sqlite3.connect(path)
    old.execute(
        "INSERT INTO runs VALUES (1, ?, 'goal', 'ask', 'running', 'agent:x', '{}', '', '', '', 0, '', NULL, '', '', 1, '')",
        (RUN,),
    )
    old.execute(
        "INSERT INTO model_calls (run, key, ordinal, purpose, model, completion, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (RUN, "plan", 1, "plan", "m:1", dump(Completion("old").to_dict()), "2026-11-30T18:30:00.000000Z"),
    )
    old.commit()
    old.close()
