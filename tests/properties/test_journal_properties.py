"""Whatever is done to a journal in whatever order: it keeps its rules, and all journals agree."""

from __future__ import annotations

import asyncio
import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot import redaction
from surefoot.errors import SurefootError
from surefoot.events import EventType
from surefoot.journal import MemoryJournal, SqlJournal
from surefoot.journal.codec import clean, dump, load, time_of, time_text
from surefoot.journal.types import FINAL, Call, CallStatus, Finished, Memory, ModelCall, RunStatus
from surefoot.journal.types import Run as JournalRun
from surefoot.storage import Database
from surefoot.storage.words import query_words, words
from surefoot.tools.types import Effect

keys = st.sampled_from(["step.1", "step.2", "step.2/0"])
small = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
values = st.recursive(
    small | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
fences = st.sampled_from([0, 0, 0, 1, 2])
operations = st.one_of(
    st.tuples(st.just("status"), st.sampled_from(RunStatus), fences),
    st.tuples(st.just("claim"), st.sampled_from(["here-1/1/x", "here-2/1/x"])),
    st.tuples(st.just("wait"), st.sampled_from([1, 60])),
    st.tuples(st.just("release")),
    st.tuples(st.just("intend"), keys, st.sampled_from(Effect), values, fences),
    st.tuples(st.just("add"), keys, st.sampled_from(CallStatus), fences),
    st.tuples(st.just("finish"), keys, st.sampled_from(CallStatus), values, fences),
    st.tuples(st.just("fail"), keys),
    st.tuples(st.just("perform"), keys, values, fences),
    st.tuples(st.just("set"), keys, st.sampled_from(CallStatus)),
    st.tuples(st.just("model"), keys, fences),
    st.tuples(st.just("append"), st.lists(values, max_size=3)),
)


class Clock:
    """The same for both journals: it stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def _note(value: Any) -> tuple[EventType, dict[str, Any]]:
    return (EventType.NOTICE, {"value": value})


class Driver:
    """Does one operation on one journal, and says what came of it."""

    def __init__(self, journal: SqlJournal | MemoryJournal, run: str) -> None:
        self.journal = journal
        self.run = run

    async def do(self, operation: tuple[Any, ...]) -> Any:
        try:
            return await getattr(self, f"_{operation[0]}")(*operation[1:])
        except SurefootError as error:
            return error.to_dict()
        except ZeroDivisionError:
            return "the body raised"

    def _call(self, key: str, effect: Effect = Effect.WRITE, **given: Any) -> Call:
        return Call(self.run, key, 0, f"id-{key}", "tool", {"k": key}, effect, **given)

    async def _status(self, status: RunStatus, fence: int) -> Any:
        run = JournalRun(self.run, "goal", status=status, reply=str(status), fence=fence)
        return await self.journal.set_run(run, [_note(str(status))])

    async def _claim(self, owner: str) -> Any:
        return await self.journal.claim(self.run, owner)

    async def _wait(self, _seconds: int) -> Any:
        return None

    async def _release(self) -> Any:
        return [run for run in await self.journal.release_dead() if run.id == self.run]

    async def _intend(self, key: str, effect: Effect, before: Any, fence: int) -> Any:
        return await self.journal.intend(
            self._call(key, effect),
            lambda _: before,
            [(EventType.CALL_INTENDED, {"before": before})],
            fence=fence,
        )

    async def _add(self, key: str, status: CallStatus, fence: int) -> Any:
        return await self.journal.add_call(self._call(key, status=status), [_note("add")], fence=fence)

    async def _finish(self, key: str, status: CallStatus, result: Any, fence: int) -> Any:
        end = self._call(key, status=status, result=result)
        return await self.journal.finish(end, lambda _: Finished(end, [_note(result)]), fence=fence)

    async def _fail(self, key: str) -> Any:
        return await self.journal.finish(self._call(key), lambda _: 1 // 0)  # type: ignore[arg-type,return-value]

    async def _perform(self, key: str, result: Any, fence: int) -> Any:
        def body(_tx: object, call: Call) -> Finished:
            return Finished(call.with_(status=CallStatus.DONE, result=result), [_note(result)])

        return await self.journal.perform(self._call(key), None, [_note("perform")], body, fence=fence)

    async def _set(self, key: str, status: CallStatus) -> Any:
        return await self.journal.set_call(self._call(key, status=status), [_note("set")])

    async def _model(self, key: str, fence: int) -> Any:
        call = ModelCall(self.run, key, "plan", "m", {"text": key})
        return await self.journal.add_model_call(call, [_note("model")], fence=fence)

    async def _append(self, given: list[Any]) -> Any:
        return await self.journal.append(self.run, [_note(value) for value in given])

    async def state(self) -> list[Any]:
        """All that the journal says of the run."""
        return [
            await self.journal.run(self.run),
            await self.journal.calls(self.run),
            await self.journal.events(self.run),
            await self.journal.model_calls(self.run),
        ]


@pytest.fixture(scope="module")
def opened(tmp_path_factory, postgres_server, migrated_template):
    """A database of each kind."""
    name = postgres_server.new(migrated_template)
    file = tmp_path_factory.mktemp("journal") / "journal.db"
    with redaction.secrets(), Database(file) as sqlite, Database(postgres_server.url(name)) as postgres:
        yield [sqlite, postgres]
    postgres_server.drop(name)


def _journals(opened, clock):
    return [*(SqlJournal(database, clock) for database in opened), MemoryJournal(clock=clock)]


numbers = itertools.count(1)


def _check(before: list[Any], after: list[Any]) -> None:
    """What holds from one moment to the next."""
    old, new = before[0], after[0]
    if old.status in FINAL:
        assert new.status is old.status
    assert new.fence >= old.fence
    assert after[2][: len(before[2])] == before[2]  # events are only added
    assert [event.seq for event in after[2]] == list(range(1, len(after[2]) + 1))
    assert [call.ordinal for call in after[1]] == list(range(1, len(after[1]) + 1))
    known = {call.key: call for call in after[1]}
    for call in before[1]:
        assert known[call.key].ordinal == call.ordinal
        if call.status is CallStatus.DONE:
            assert known[call.key].status is CallStatus.DONE


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(operations, max_size=14))
def test_all_journals_agree_and_keep_their_rules(opened, steps):
    """Any sequence of operations gives the same answers, errors and state in all; final and done stay, events only grow."""

    async def play() -> None:
        run_id = f"{next(numbers):016x}"
        clock = Clock()
        drivers = [Driver(journal, run_id) for journal in _journals(opened, clock)]
        for driver in drivers:
            driver.journal._heart = None if isinstance(driver.journal, MemoryJournal) else _Still()  # type: ignore[union-attr]
            await driver.journal.create_run(JournalRun(run_id, "goal"), [_note("created")])
        states = [await driver.state() for driver in drivers]
        for step in steps:
            if step[0] == "wait":
                clock.now += timedelta(seconds=step[1])
            answers = [await driver.do(step) for driver in drivers]
            assert answers[0] == answers[1] == answers[2], step
            after = [await driver.state() for driver in drivers]
            assert after[0] == after[1] == after[2], step
            _check(states[0], after[0])
            states = after
        for driver in drivers:  # leave nothing that the next example would release
            run = await driver.journal.run(run_id)
            if run.status not in FINAL:
                await driver.journal.set_run(run.with_(status=RunStatus.CANCELLED))

    asyncio.run(play())


class _Still:
    """A heart that does not beat: the clock of these tests stands still."""

    def hold(self, _run: str, _fence: int) -> None:
        """Nothing."""

    def drop(self, _run: str) -> None:
        """Nothing."""


@given(values)
def test_json_survives_and_equal_values_are_equal_texts(value):
    """What is dumped loads as it was; the order of keys does not matter to the text."""
    text = dump(value)
    assert load(text) == value
    assert dump(load(text)) == text
    if isinstance(value, dict):
        assert dump(dict(reversed(list(value.items())))) == text


@given(st.text(st.characters(), max_size=20))
def test_any_text_can_be_kept(text):
    """Every text, half surrogate pairs included, becomes something a database takes; JSON gives it back whole."""
    clean(text).encode()
    dump({text: text}).encode()
    assert load(dump([text])) == [text]


@given(st.text(min_size=4, max_size=12).filter(lambda text: len(text.strip()) >= 4), st.text(max_size=5))
def test_no_registered_secret_is_dumped(secret, around):
    """Whatever stands around it."""
    with redaction.secrets(secret):
        text = dump({"a": [f"{around} {secret} {around}"]})
    assert json.loads(text)["a"][0] == redaction_of(secret, f"{around} {secret} {around}")


def redaction_of(secret: str, text: str) -> str:
    """The text as the redaction room masks it."""
    with redaction.secrets(secret):
        return redaction.redact(text)


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_times_sort_as_texts(one, other):
    """The order of two times is the order of their texts, whatever zones they came in; a time comes back equal."""
    earliest, latest = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
    if not all(earliest < at < latest for at in (one, other)):
        return
    assert (time_text(one) < time_text(other)) == (one.astimezone(UTC) < other.astimezone(UTC))
    assert len(time_text(one)) == 27
    assert time_of(time_text(one)) == one.astimezone(UTC)


@given(st.text(max_size=30))
def test_a_text_answers_a_question_in_its_own_words(text):
    """Index and question split alike, in any script: otherwise something kept could not be found again."""
    assert set(query_words(text)) <= set(words(text))
    assert all(word and not word.isspace() and '"' not in word for word in words(text))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=12), min_size=1, max_size=5), st.text(max_size=12))
def test_all_journals_find_the_same(opened, kept, question):
    """The index of each database and the search in memory give the same memories in the same order, for any texts."""

    async def play() -> None:
        run = f"search-{next(numbers)}"
        clock = Clock()
        journals = _journals(opened, clock)
        for journal in journals:
            for number, text in enumerate(kept):
                at = clock.now + timedelta(seconds=number)
                await journal.add_memory(Memory(f"{run}-{number}", "fact", text, run, at))
        found = [[one.id for one in await journal.search_memories(question)] for journal in journals]
        for journal in journals:
            await journal.mark_memories(run, undone=True)
        assert found[0] == found[1] == found[2]

    asyncio.run(play())
