"""Messages of model calls: however a history grows, its conversation comes back, each message once."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from running.support import new_session
from surefoot.journal import MemoryJournal
from surefoot.journal.said import body_of
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Completion, Message, Request, ToolCall
from surefoot.running.models import call_model

texts = st.sampled_from(["", "a", "b", " a ", "漢字", "\ud800", "a\n"]) | st.text(max_size=8)
calls = st.builds(
    ToolCall, st.sampled_from(["c1", "c2"]), st.just("find"), st.dictionaries(st.just("q"), texts)
)
answers = st.builds(Completion, texts, st.lists(calls, max_size=2).map(tuple))
rounds = st.lists(
    st.tuples(answers, st.lists(texts, min_size=1, max_size=3), st.lists(texts, max_size=2)), max_size=6
)


async def played(script) -> tuple[list[dict], list[dict], int]:
    """The conversation as it was and as it comes back, and how many messages were kept."""
    journal = MemoryJournal()
    session = await new_session(journal, [])
    told = [Message("system", "be exact"), Message("user", "go")]
    wanted = [*told]
    for number, (answer, results, reminders) in enumerate(script, 1):
        behind = [Message("user", f"reminder {number}: {text}") for text in reminders]
        completion = await call_model(
            session, ScriptedModel(answer), Request((*told, *behind)), f"round.{number}"
        )
        said = Message("assistant", completion.text, completion.tool_calls)
        new = [Message("tool", f"{number}: {text}", tool_call_id="c1", name="find") for text in results]
        told += [said, *new]
        wanted += [*behind, said, *new]
    kept = sum(len(hashes) for hashes in journal._state.run_messages.values())
    found = [message for _, message in await journal.run_messages(session.run.id)]
    last = script[-1][1] if script else wanted
    return [message.to_dict() for message in wanted[: len(wanted) - len(last)]], found, kept


@settings(max_examples=60, deadline=None)
@given(rounds)
def test_a_conversation_comes_back_whole_and_once(script):
    """With reminders where they stood, answers where they were given, whatever the texts are."""
    wanted, found, kept = asyncio.run(played(script))
    assert found == wanted
    assert kept == len(wanted) - len(script)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.none(), max_size=4))
def test_equal_messages_have_one_hash_and_others_have_another(message):
    """Whatever the order of their keys."""
    turned = dict(reversed(list(message.items())))
    assert body_of(message) == body_of(turned)
    assert body_of({**message, "one more": True}).hash != body_of(message).hash
