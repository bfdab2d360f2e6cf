"""Metrics: counted from what is journaled, in Prometheus' own form, with bounded labels."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from surefoot import redaction
from surefoot.errors import (
    ContentFilterError,
    ContextLengthError,
    EmptyReplyError,
    MisuseError,
    ModelNotFoundError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    ToolError,
)
from surefoot.events import Event, EventType
from surefoot.journal import MemoryJournal
from surefoot.journal.owner import current_owner
from surefoot.journal.types import RunStatus
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Message, Request, ToolCall
from surefoot.running import lifecycle, metrics, watching
from surefoot.running.executor import CallRequest, Executor
from surefoot.running.models import call_model
from surefoot.settings import load_settings
from surefoot.tools.types import Actor, Effect

from .support import again, new_session, open_journal, plain_tool

SECRET = "hunter2-hunter2"


@pytest.fixture
async def journal(tmp_path: Path):
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def registry():
    """Counting is on for the test."""
    yield metrics.start()
    metrics.stop()


LABELS = ("tool", "policy", "outcome", "provider", "kind", "status", "le")


def figures() -> dict[tuple[str, ...], float]:
    """What a scrape reads: `(name, label values...)` to value, without the times of creation."""
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        (sample.name, *(sample.labels[name] for name in LABELS if name in sample.labels)): sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def calls() -> dict[tuple[str, ...], float]:
    """Tool calls by tool, policy, outcome."""
    return {key[1:]: value for key, value in figures().items() if key[0] == "surefoot_tool_calls_total"}


def fails(q: str = "") -> str:
    raise ToolError(f"no {q}")


TOOLS = (
    plain_tool("find", lambda q="": f"found {q}"),
    plain_tool("break", fails),
    plain_tool("send", lambda q="": "sent", Effect.EXTERNAL),
    plain_tool("wipe", lambda q="": "gone", Effect.EXTERNAL),
)


async def a_session(journal, **options):
    """A run as the assistant begins it: its first event was told."""
    session = await new_session(journal, TOOLS, **options)
    await session.tell((EventType.RUN_CREATED, {"goal": "test", "kind": "ask"}))
    return session


async def call(session, key, tool, **arguments):
    return await Executor(session).call(CallRequest(key, tool, arguments, scope=key))


async def ask(session, key, answer="ok", purpose="round"):
    model = answer if isinstance(answer, ScriptedModel) else ScriptedModel(answer)
    request = Request((Message("user", key),), purpose=purpose)
    return await call_model(session, model, request, key)


# --- tool calls ----------------------------------------------------------------------------------------------


async def test_tool_calls_are_counted_by_tool_policy_and_outcome(journal, registry):
    """The contract's first family: each call once, by how it ended."""
    session = await a_session(journal, policy={"send": "auto", "wipe": "deny"})
    await call(session, "1", "find", q="a")
    await call(session, "2", "find", q="a")
    await call(session, "3", "find", q="b")
    await call(session, "4", "break", q="x")
    await call(session, "5", "send")
    await call(session, "6", "wipe")
    await call(session, "7", "find", q=["no", "text"], r=1)
    await session.rest(RunStatus.DONE)
    counted = calls()
    assert counted.pop(("find", "auto", "done")) >= 2
    assert counted.pop(("break", "auto", "failed")) == 1
    assert counted.pop(("send", "auto", "done")) == 1
    assert counted.pop(("wipe", "deny", "refused")) == 1
    assert sum(calls().values()) == 7
    assert {key[1:] for key in counted} <= {("auto", "merged"), ("other", "refused"), ("auto", "refused")}


async def test_names_that_a_model_made_up_share_one_series(journal, registry):
    """Labels are bounded: a name that is no tool counts as `other`, whatever it is."""
    session = await a_session(journal)
    for number in range(20):
        await call(session, str(number), f"invented{number}")
    await session.rest(RunStatus.DONE)
    assert calls() == {("other", "other", "refused"): 20}


async def test_more_tools_than_a_registry_should_hold_share_one_series(journal, registry, monkeypatch):
    """Also tools that exist: a series lives as long as the process."""
    monkeypatch.setattr(metrics, "MOST_TOOLS", 2)
    session = await a_session(journal, policy={"send": "auto", "wipe": "auto"})
    for number, name in enumerate(["find", "send", "wipe", "find", "break"]):
        await call(session, str(number), name, q=str(number))
    await session.rest(RunStatus.DONE)
    assert {key[0] for key in calls()} == {"find", "send", "other"}
    assert sum(calls().values()) == 5


async def test_an_equal_call_counts_as_merged(journal, registry):
    """It was not made a second time."""
    session = await a_session(journal)
    executor = Executor(session)
    for key in ("1", "2"):
        await executor.call(CallRequest(key, "find", {"q": "a"}))
    await session.rest(RunStatus.DONE)
    assert calls() == {("find", "auto", "done"): 1, ("find", "auto", "merged"): 1}


@pytest.mark.parametrize("answer", ["approve", "decline"])
async def test_a_call_that_waits_is_counted_when_it_has_ended(journal, registry, answer):
    """Once, as what it became; also when the answer was given while nobody worked on the run."""
    session = await a_session(journal)
    assert (await call(session, "1", "send")).waiting
    await session.rest(RunStatus.NEEDS_APPROVAL)
    assert calls() == {}
    await getattr(lifecycle, answer)(journal, session.run, None, Actor())
    run = await journal.claim(session.run.id, current_owner())
    session.run = run
    taken = await again(session)
    await taken.set(status=RunStatus.RUNNING)
    await call(taken, "1", "send")
    await taken.rest(RunStatus.DONE)
    wanted = "done" if answer == "approve" else "declined"
    assert calls() == {("send", "confirm", wanted): 1}


async def test_a_call_that_was_interrupted_counts_so(journal, registry):
    """A read that is cut short is interrupted, an external one unknown."""
    started = asyncio.Event()

    async def slow(q: str = "") -> str:
        started.set()
        await asyncio.sleep(60)
        return q

    for effect in (Effect.READ, Effect.EXTERNAL):
        tool = plain_tool(f"slow_{effect}", slow, effect, where="loop")
        session = await new_session(journal, [tool], policy={tool.name: "auto"})
        started.clear()
        task = asyncio.ensure_future(call(session, "1", tool.name))
        await asyncio.wait_for(started.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await session.rest(RunStatus.CANCELLED)
    assert calls() == {("slow_read", "auto", "interrupted"): 1, ("slow_external", "auto", "unknown"): 1}


# --- rounds, runs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (["plan", "reply"], 1),
        (["round.1", "round.2", "round.3"], 3),
        (["plan", "resolve.1", "round.1", "round.2", "landing.rounds"], 3),
        (["round.9", "round.10"], 10),
    ],
)
async def test_planner_rounds_are_a_histogram_over_runs(journal, registry, keys, wanted):
    """The contract's second family: a plan is one, each round is one; replies and values for a step are none."""
    session = await a_session(journal)
    for key in keys:
        await ask(session, key)
    await session.rest(RunStatus.DONE)
    found = figures()
    assert (found["surefoot_planner_rounds_count",], found["surefoot_planner_rounds_sum",]) == (1, wanted)


async def test_a_run_that_only_talked_has_no_rounds(journal, registry):
    """A greeting is not a run of nought rounds."""
    session = await a_session(journal)
    await ask(session, "reply")
    await session.rest(RunStatus.DONE)
    assert figures()["surefoot_planner_rounds_count",] == 0


async def test_a_run_is_counted_once_however_often_it_rested(journal, registry):
    """Rounds are those of the whole run, once it has ended; its parts are timed each for itself."""
    session = await a_session(journal)
    await ask(session, "plan")
    await ask(session, "round.1")
    await session.rest(RunStatus.NEEDS_APPROVAL)
    assert figures()["surefoot_planner_rounds_count",] == 0
    session.run = await journal.claim(session.run.id, current_owner())
    taken = await again(session)
    await taken.set(status=RunStatus.RUNNING)
    await ask(taken, "round.1")
    await ask(taken, "round.2")
    await taken.rest(RunStatus.DONE)
    found = figures()
    assert (found["surefoot_planner_rounds_count",], found["surefoot_planner_rounds_sum",]) == (1, 3)
    for status in ("needs_approval", "done"):
        assert found["surefoot_run_duration_seconds_count", status] == 1


@pytest.mark.parametrize(
    "status", [RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.INTERRUPTED]
)
async def test_the_duration_of_a_run_is_that_of_the_work(registry, status):
    """The contract's fourth family, by the journal's own times; waiting for a person is not work."""
    times = iter(range(1000))
    journal = MemoryJournal(clock=lambda: datetime.fromtimestamp(1_800_000_000 + next(times), UTC))
    session = await a_session(journal)
    await session.rest(status)
    begun, ended = [event.at for event in await journal.events(session.run.id)]
    found = figures()
    assert found["surefoot_run_duration_seconds_sum", str(status)] == (ended - begun).total_seconds() > 0
    assert found["surefoot_run_duration_seconds_count", str(status)] == 1


async def test_a_turn_that_ends_with_an_answer_is_counted_when_it_returns(journal, registry):
    """Nobody has to wait for the figures: the event loop may end right behind it."""
    from surefoot.journal.types import Memory

    session = await a_session(journal)
    diary = Memory("m1", "diary", "asked and answered", session.run.id)
    await session.end_turn("Hello.", messages=[], diary=diary, incomplete=False, stopped_by="")
    assert figures()["surefoot_run_duration_seconds_count", "done"] == 1


# --- providers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ContentFilterError, "safety"),
        (ProviderRateLimitError, "rate_limit"),
        (ProviderQuotaError, "rate_limit"),
        (ProviderCapabilityError, "capability"),
        (ProviderAuthError, "auth"),
        (ProviderUnavailableError, "unknown"),
        (ProviderTimeoutError, "unknown"),
        (ContextLengthError, "unknown"),
        (ModelNotFoundError, "unknown"),
        (EmptyReplyError, "unknown"),
        (ProviderError, "unknown"),
    ],
)
async def test_provider_errors_are_counted_by_kind(journal, registry, error, kind):
    """The contract's third family: safety, rate_limit, capability, auth, unknown, and nothing else."""
    session = await a_session(journal)
    with pytest.raises(error):
        await ask(session, "plan", ScriptedModel(error("no"), name="gemini:flash"))
    await session.rest(RunStatus.FAILED)
    assert figures()["surefoot_provider_errors_total", "gemini", kind] == 1
    assert figures()["surefoot_planner_rounds_count",] == 0


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ollama:qwen3:4b", "ollama"),
        ("my-route.2:x", "my-route.2"),
        ("a model without a provider", "other"),
        ("Bearer sk-123:x", "other"),
        (":x", "other"),
        ("x" * 41 + ":m", "other"),
    ],
)
async def test_a_provider_is_a_short_word(journal, registry, name, label):
    """A model of a program's own may be called anything; a label is not."""
    session = await a_session(journal)
    with pytest.raises(ProviderUnavailableError):
        await ask(session, "plan", ScriptedModel(ProviderUnavailableError("no"), name=name))
    await session.rest(RunStatus.FAILED)
    assert figures()["surefoot_provider_errors_total", label, "unknown"] == 1


async def test_a_time_out_of_ours_is_an_error_of_the_provider(journal, registry):
    """It did not answer, whoever ended the waiting."""
    session = await a_session(journal)
    request = Request((Message("user", "x"),), timeout=0.01)
    with pytest.raises(ProviderTimeoutError):
        await call_model(session, ScriptedModel("late", delay=30), request, "plan")
    await session.rest(RunStatus.FAILED)
    assert figures()["surefoot_provider_errors_total", "scripted", "unknown"] == 1


# --- on and off ----------------------------------------------------------------------------------------------


async def test_starting_twice_is_one_registry(registry):
    """And another one is refused while that counts."""
    assert metrics.start() is registry
    assert metrics.start(registry) is registry
    with pytest.raises(MisuseError, match="another registry"):
        metrics.start(CollectorRegistry())


async def test_a_program_counts_in_its_own_registry(journal):
    """Beside its own figures; stopping takes ours out, and they can start again there."""
    own = CollectorRegistry()
    assert metrics.start(own) is own
    session = await a_session(journal)
    await call(session, "1", "find")
    await session.rest(RunStatus.DONE)
    assert b'surefoot_tool_calls_total{outcome="done",policy="auto",tool="find"} 1.0' in generate_latest(own)
    metrics.stop()
    assert generate_latest(own) == b""
    assert not watching.anybody()
    assert metrics.start(own) is own
    metrics.stop()


async def test_nothing_is_read_or_imported_while_nobody_watches(journal):
    """No look into the journal, no task, no module."""
    session = await a_session(journal)
    await call(session, "1", "find")
    await session.rest(RunStatus.DONE)
    assert session._watch is None
    code = (
        "import sys\n"
        "import surefoot.running.session, surefoot.running.metrics, surefoot.running.tracing\n"
        "print([name for name in sys.modules if name.startswith(('prometheus', 'opentelemetry'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- watchers ------------------------------------------------------------------------------------------------


class Notes:
    """A watcher of a program's own: it writes down what it is told."""

    def __init__(self, content: bool = False) -> None:
        self.content = content
        self.told: list[tuple[str, bool]] = []
        self.said: list[list[str]] = []

    def begin(self, watched: watching.Watched) -> Notes:
        self.watched = watched
        return self

    def happened(self, event: Event, *, fresh: bool, said: watching.Said = ()) -> None:
        self.told.append((str(event.type), fresh))
        if event.type is EventType.MODEL_CALLED:
            self.said.append([message["content"] for message in said])

    def provider_failed(self, failure: watching.ProviderFailure) -> None:
        self.told.append((f"{failure.code}: {failure.message}", True))


@pytest.fixture
def notes():
    one = Notes()
    end = watching.watch(one.begin)
    yield one
    end()
    end()


async def test_a_watcher_is_told_what_is_in_the_journal_in_its_order(journal, notes):
    """The same events, none twice, none left out, also those written beside the session."""
    session = await a_session(journal)
    await call(session, "1", "find")
    await journal.append(session.run.id, [(EventType.NOTICE, {"text": "from elsewhere"})])
    await ask(session, "plan")
    await session.rest(RunStatus.DONE)
    assert [kind for kind, _ in notes.told] == [
        str(event.type) for event in await journal.events(session.run.id)
    ]
    assert all(fresh for _, fresh in notes.told)
    assert notes.watched.run.id == session.run.id


async def test_of_a_run_taken_up_again_the_old_events_are_told_as_old(journal, notes):
    """Up to its last rest; what a person answered since belongs to the new work."""
    session = await a_session(journal)
    await call(session, "1", "send")
    await session.rest(RunStatus.NEEDS_APPROVAL)
    notes.told.clear()
    await lifecycle.approve(journal, session.run, None, Actor())
    session.run = await journal.claim(session.run.id, current_owner())
    taken = await again(session)
    await taken.set(status=RunStatus.RUNNING)
    await call(taken, "1", "send")
    await taken.rest(RunStatus.DONE)
    assert notes.told == [
        ("run.created", False),
        ("approval.needed", False),
        ("run.status", False),
        ("approval.given", True),
        ("run.status", True),
        ("call.intended", True),
        ("call.done", True),
        ("run.status", True),
    ]


async def test_a_failure_is_told_in_its_place_and_masked(journal, notes):
    """Between what was written before it and after it."""
    session = await a_session(journal)
    with redaction.secrets(SECRET):
        with pytest.raises(ProviderAuthError):
            await ask(session, "plan", ScriptedModel(ProviderAuthError(f"the key {SECRET} is refused")))
        await asyncio.sleep(0.002)
        await session.rest(RunStatus.FAILED)
    assert [kind for kind, _ in notes.told] == [
        "run.created",
        "auth: the key [secret] is refused",
        "run.status",
    ]


async def test_messages_are_read_only_for_watchers_that_want_them(journal):
    """What was new in the call, then the answer."""
    without, wants = Notes(), Notes(content=True)
    ends = [watching.watch(one.begin) for one in (without, wants)]
    session = await a_session(journal)
    await ask(session, "plan", "the answer")
    await session.rest(RunStatus.DONE)
    for end in ends:
        end()
    assert (without.said, wants.said) == ([[]], [["plan", "the answer"]])


@pytest.mark.parametrize("where", ["begin", "happened", "provider_failed"])
async def test_a_watcher_that_raises_harms_no_run_and_no_other_watcher(journal, notes, caplog, where):
    """Wherever it raises; the log says so, without secrets."""

    class Broken(Notes):
        pass

    def breaks(self, *args, **kwargs):
        raise RuntimeError(f"a fault with {SECRET}")

    setattr(Broken, where, breaks)
    end = watching.watch(Broken().begin)
    with redaction.secrets(SECRET), caplog.at_level(logging.WARNING, "surefoot.running.watching"):
        session = await a_session(journal)
        assert (await call(session, "1", "find")).ok
        with pytest.raises(ProviderUnavailableError):
            await ask(session, "plan", ScriptedModel(ProviderUnavailableError("down")))
        await session.rest(RunStatus.DONE)
    end()
    assert (await journal.run(session.run.id)).status is RunStatus.DONE
    assert len(notes.told) == len(await journal.events(session.run.id)) + 1
    assert "a fault with [secret]" in caplog.text
    assert SECRET not in caplog.text


async def test_a_journal_that_cannot_be_read_harms_no_run(journal, notes, caplog, monkeypatch):
    """The run meets the disk itself; watchers miss what could not be read."""
    session = await a_session(journal)
    await asyncio.sleep(0.05)

    async def broken(run_id, after=0):
        raise OSError("the disk is gone")

    monkeypatch.setattr(journal, "events", broken)
    with caplog.at_level(logging.WARNING, "surefoot.running.watching"):
        await session.rest(RunStatus.DONE)
    assert "could not be passed on" in caplog.text
    assert (await journal.run(session.run.id)).status is RunStatus.DONE


async def test_no_secret_reaches_the_figures(journal, registry):
    """Names, arguments, results and errors with a secret in them leave no trace."""
    with redaction.secrets(SECRET):
        session = await a_session(journal)
        await call(session, "1", SECRET, q=SECRET)
        await call(session, "2", "find", q=SECRET)
        await call(session, "3", "break", q=SECRET)
        with pytest.raises(ProviderAuthError):
            await ask(session, "plan", ScriptedModel(ProviderAuthError(SECRET), name=f"{SECRET}:x"))
        await session.rest(RunStatus.FAILED)
        text = metrics.render().decode()
    assert SECRET not in text
    assert sum(calls().values()) == 3


async def test_the_figures_of_an_assistant_are_those_of_its_runs(tmp_path, registry):
    """A plan of two calls, its answer, and the undo of it, the whole way through."""
    from surefoot import Assistant

    planned = [
        ToolCall("c1", "addNote", {"title": "Tea", "text": "Oolong"}),
        ToolCall("c2", "addTask", {"title": "Buy tea"}),
    ]
    settings = load_settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    async with Assistant(model=ScriptedModel(planned, "Noted."), settings=settings) as assistant:
        result = await assistant.ask("Note that tea is oolong, and add a task to buy tea")
        assert result.exit_code == 0
        await assistant.undo("last")
    found = figures()
    made = {key for key in calls() if key[0] in {"addNote", "addTask"}}
    assert made == {("addNote", "auto", "done"), ("addTask", "auto", "done")}
    assert sum(calls().values()) == 4
    assert not [key for key in calls() if "other" in key]
    assert (found["surefoot_planner_rounds_count",], found["surefoot_planner_rounds_sum",]) == (1, 1)
    assert found["surefoot_run_duration_seconds_count", "done"] == 2


async def test_tools_that_a_loop_brings_are_known_by_name(journal, registry):
    """They are in the catalogue only as long as it lasts; the figures come later."""
    session = await a_session(journal)
    before = session.catalogue
    session.catalogue = before.with_tools(plain_tool("stop", lambda q="": "stopped"))
    await call(session, "1", "stop")
    session.catalogue = before
    await call(session, "2", "find")
    await session.rest(RunStatus.DONE)
    assert calls() == {("stop", "auto", "done"): 1, ("find", "auto", "done"): 1}
