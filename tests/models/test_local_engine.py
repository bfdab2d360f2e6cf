"""The embedded model with real llama.cpp and a tiny real model: answers, limits, prefixes, cancelling, ending."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from models.tiny import tiny_model, tiny_settings
from models.tiny_gguf import CHATML, write_tiny
from surefoot.errors import (
    ContextLengthError,
    ModelFileError,
    ModelNotFoundError,
    NoModelError,
    OutputCutError,
    ProviderCapabilityError,
    ProviderRequestError,
    ProviderTimeoutError,
)
from surefoot.models import local
from surefoot.models.local import LocalModel, engine, open_local
from surefoot.models.local.session import close_all
from surefoot.models.types import (
    NONE,
    REQUIRED,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    ToolCall,
    ToolSpec,
)

SYSTEM = Message(
    "system", "Rules that never change, and a few more words so that there is something to keep."
)
ASK = (SYSTEM, Message("user", "go"))
COLOUR = ToolSpec(
    "paint",
    "Paint.",
    {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]},
)
PING = ToolSpec("ping", "", {"type": "object"})
ENDLESS = "root ::= a a a a a a a\na ::= [a-z]{2000}"
"""14,000 letters and no end before: as long as a test may want to interrupt it."""


@pytest.fixture
async def model(tmp_path: Path) -> AsyncIterator[LocalModel]:
    opened = tiny_model(tmp_path)
    yield opened
    await opened.close()


async def busy(model: LocalModel) -> bool:
    wire = await model._session.wire()
    async with wire._client() as client:
        return any(slot["is_processing"] for slot in (await client.get("/slots")).json())


async def until(holds: Callable[[], object]) -> None:
    for _ in range(1000):
        found = holds()
        if await found if asyncio.iscoroutine(found) else found:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come true")


async def test_it_is_a_language_model_and_says_what_it_can(model: LocalModel) -> None:
    """Known from the file: nothing is loaded for it."""
    assert isinstance(model, LanguageModel)
    assert model.name == "local:tiny"
    can = await model.capabilities()
    assert (can.tools, can.json_schema, can.grammar, can.logprobs, can.local) == (True,) * 5
    assert (can.family, can.encoding, can.context_length) == ("qwen2.5", "own", 16384)
    assert model._session._hold is None


async def test_the_context_is_never_more_than_the_model_was_trained_for(tmp_path: Path) -> None:
    """The smaller of the setting and the file."""
    model = tiny_model(tmp_path, num_ctx=100_000)
    assert (await model.capabilities()).context_length == 32768


async def test_words_come_in_pieces_and_whole(model: LocalModel) -> None:
    """The pieces are the text; the last has the completion, with tokens and seconds."""
    request = Request(ASK, grammar='root ::= "one two three"')
    pieces = [piece async for piece in model.stream(request)]
    assert "".join(piece.text for piece in pieces) == "one two three"
    assert len(pieces) > 3
    whole = pieces[-1].completion
    assert whole is not None
    assert (whole.text, whole.finish_reason, whole.model) == (
        "one two three",
        FinishReason.STOP,
        "local:tiny",
    )
    assert whole.usage.prompt_tokens > len(SYSTEM.content)
    assert whole.usage.output_tokens >= len("one two three")
    assert whole.usage.seconds > 0
    assert (await model.complete(request)).text == "one two three"


async def test_calls_come_whole_and_unseen(model: LocalModel) -> None:
    """Calls in the family's form, bound; nobody sees them being written."""
    pieces = [piece async for piece in model.stream(Request(ASK, tools=(COLOUR,), tool_choice=REQUIRED))]
    assert [piece.text for piece in pieces] == [""]
    completion = pieces[0].completion
    assert completion is not None
    assert completion.finish_reason is FinishReason.TOOL_CALLS
    assert completion.text == ""
    assert {call.name for call in completion.tool_calls} == {"paint"}
    assert {call.arguments["colour"] for call in completion.tool_calls} <= {"red", "blue"}


async def test_only_narrows_the_calls_and_not_the_prompt(model: LocalModel) -> None:
    """The cached prefix stays: nothing but the last token is read again."""
    tools = (COLOUR, PING)
    first = await model.complete(
        Request(ASK, tools=tools, tool_choice=REQUIRED, only=("paint",), max_calls=1)
    )
    second = await model.complete(
        Request(ASK, tools=tools, tool_choice=REQUIRED, only=("ping",), max_calls=1)
    )
    assert ([call.name for call in first.tool_calls], [call.name for call in second.tool_calls]) == (
        ["paint"],
        ["ping"],
    )
    assert second.usage.prompt_tokens - second.usage.cached_tokens <= 1


async def test_no_call_where_none_is_wanted(model: LocalModel) -> None:
    """The tools stand in the prompt and cannot be called."""
    completion = await model.complete(Request(ASK, tools=(COLOUR,), tool_choice=NONE, max_tokens=20))
    assert completion.tool_calls == ()
    assert completion.text[:1] not in set("`[{<")


async def test_json_fits_its_schema(model: LocalModel) -> None:
    """Whatever the model would rather say."""
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    assert (await model.complete(Request(ASK, json_schema=schema))).text in {
        '{"sure": true}',
        '{"sure": false}',
    }


async def test_choices_have_chances(model: LocalModel) -> None:
    """One of the texts, and a number for each; the answer is the likeliest."""
    texts = ("yes", "no", "yes indeed", "never")
    completion = await model.complete(Request(ASK, choices=texts))
    assert completion.probabilities is not None
    assert sum(completion.probabilities) == pytest.approx(1.0)
    assert completion.text == texts[completion.probabilities.index(max(completion.probabilities))]
    assert completion.usage.output_tokens >= 1


async def test_choices_without_chances_are_still_choices(model: LocalModel) -> None:
    """Of a token that is half a character llama.cpp gives no number."""
    completion = await model.complete(Request(ASK, choices=("ähm", "öl")))
    assert completion.text in {"ähm", "öl"}
    assert completion.probabilities is None


async def test_a_stop_text_ends_the_answer(model: LocalModel) -> None:
    """Without being part of it."""
    assert (await model.complete(Request(ASK, grammar='root ::= "abSTOPcd"', stop=("STOP",)))).text == "ab"


async def test_a_prompt_that_does_not_fit_is_refused_with_numbers(tmp_path: Path) -> None:
    """Before anything of it is read, never cut."""
    model = tiny_model(tmp_path, num_ctx=1024)
    with pytest.raises(ContextLengthError, match="1024") as caught:
        await model.complete(Request((Message("user", "x " * 2000),)))
    assert caught.value.details["context"] == 1024
    assert caught.value.details["prompt_tokens"] > 2000
    with pytest.raises(ContextLengthError):
        await model.complete(Request((Message("user", "x " * 2000),), choices=("a", "b")))
    await model.close()


@pytest.mark.parametrize(
    "request_",
    [
        Request(ASK, tools=(COLOUR,), tool_choice=REQUIRED, max_tokens=30),
        Request(
            ASK,
            json_schema={"type": "object", "properties": {"abc": {"const": "abcdef"}}, "required": ["abc"]},
            max_tokens=5,
        ),
    ],
)
async def test_half_a_structure_is_an_error(model: LocalModel, request_: Request) -> None:
    """Cut by the output limit, no call is given."""
    with pytest.raises(OutputCutError, match=f"cut at {request_.max_tokens} tokens"):
        await model.complete(request_)


async def test_half_a_text_says_that_it_was_cut(model: LocalModel) -> None:
    """Words may be used as far as they go."""
    completion = await model.complete(Request(ASK, grammar=ENDLESS, max_tokens=10))
    assert completion.finish_reason is FinishReason.LENGTH
    assert completion.usage.output_tokens == 10


async def test_a_grammar_that_is_none_is_refused(model: LocalModel) -> None:
    """The model lives on."""
    with pytest.raises(ProviderRequestError, match="grammar"):
        await model.complete(Request(ASK, grammar="root ::= nowhere"))
    assert (await model.complete(Request(ASK, grammar='root ::= "ok"'))).text == "ok"


async def test_each_slot_keeps_its_own_prefix(model: LocalModel) -> None:
    """A reply between two plans costs the plan nothing."""
    other = (Message("system", "Something entirely different for the reply."), Message("user", "hello"))
    await model.complete(Request(ASK, grammar='root ::= "a"', purpose="plan"))
    await model.complete(Request(other, grammar='root ::= "b"', purpose="reply"))
    again = await model.complete(
        Request((SYSTEM, Message("user", "next")), grammar='root ::= "a"', purpose="plan")
    )
    assert again.usage.cached_tokens > len(SYSTEM.content)


WARM = Request((SYSTEM,), tools=(COLOUR,), purpose="plan")
PLAN = Request(ASK, tools=(COLOUR,), tool_choice=REQUIRED, max_calls=1, purpose="plan")


async def test_a_kept_prefix_is_restored_by_the_next_process(tmp_path: Path) -> None:
    """The first question of a cold start reads the question only."""
    first = tiny_model(tmp_path)
    await first.warm(WARM, "k")
    await first.close()
    second = tiny_model(tmp_path)
    await second.warm(WARM, "k")
    assert second._session._hold is None  # it is on the disk: nothing to load for it
    usage = (await second.complete(PLAN)).usage
    assert usage.cached_tokens > len(SYSTEM.content)
    assert usage.prompt_tokens - usage.cached_tokens < 60
    await second.close()


async def test_a_kept_prefix_is_restored_after_something_else_took_its_slot(model: LocalModel) -> None:
    """Another prompt of the same slot pushes it out; the next plan brings it back from the disk."""
    await model.warm(WARM, "k")
    await model.complete(
        Request((Message("system", "Other."), Message("user", "x")), grammar='root ::= "a"', purpose="plan")
    )
    usage = (await model.complete(PLAN)).usage
    assert usage.prompt_tokens - usage.cached_tokens < 60


async def test_the_longest_kept_prefix_wins(model: LocalModel) -> None:
    """Of two that fit."""
    longer = Request((SYSTEM, Message("user", "go and")), tools=(COLOUR,), purpose="plan")
    await model.warm(longer, "k")
    await model.warm(WARM, "k")
    question = Request(
        (SYSTEM, Message("user", "go and"), Message("user", "more")),
        tools=(COLOUR,),
        tool_choice=REQUIRED,
        purpose="plan",
    )
    await model.complete(Request((Message("user", "x"),), grammar='root ::= "a"', purpose="plan"))
    usage = (await model.complete(question)).usage
    assert usage.prompt_tokens - usage.cached_tokens < 60


async def test_a_damaged_state_is_read_again(tmp_path: Path) -> None:
    """It costs time and nothing else."""
    first = tiny_model(tmp_path)
    await first.warm(WARM, "k")
    await first.close()
    (state,) = (tmp_path / "prefixes").glob("*.state")
    state.write_bytes(b"x" * state.stat().st_size)
    second = tiny_model(tmp_path)
    await second.warm(WARM, "k")
    assert (await second.complete(PLAN)).tool_calls
    assert state.read_bytes()[:1] != b"x"
    await second.close()


async def test_a_state_that_llama_cpp_refuses_is_dropped(tmp_path: Path) -> None:
    """Whole on disk, but of another build: the prompt is read, and the state goes."""
    model = tiny_model(tmp_path)
    await model.warm(WARM, "k")
    (prefix,) = model._session._prefixes[0]
    store = model._session._store
    (store.folder / store.temporary(prefix)).write_bytes(b"of another build")
    store.accept(prefix)
    await model.complete(Request((Message("user", "x"),), grammar='root ::= "a"', purpose="plan"))
    assert (await model.complete(PLAN)).tool_calls
    assert not store.holds(prefix)
    await model.close()


async def test_a_state_that_vanished_is_no_trouble(model: LocalModel) -> None:
    """Somebody emptied the cache folder."""
    await model.warm(WARM, "k")
    for path in model._session._store.folder.iterdir():
        path.unlink()
    await model.complete(Request((Message("user", "x"),), grammar='root ::= "a"', purpose="plan"))
    assert (await model.complete(PLAN)).tool_calls


async def test_cancelling_stops_the_model(model: LocalModel) -> None:
    """Within a moment, whether the answer was awaited or streamed."""
    task = asyncio.create_task(model.complete(Request(ASK, grammar=ENDLESS, max_tokens=14_000)))
    await until(lambda: busy(model))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async def idle() -> bool:
        return not await busy(model)

    await until(idle)
    async with aclosing(model.stream(Request(ASK, grammar=ENDLESS, max_tokens=14_000))) as pieces:
        async for _ in pieces:
            break
    await until(idle)
    assert (await model.complete(Request(ASK, grammar='root ::= "ok"'))).text == "ok"


async def test_the_loop_goes_on_while_the_model_loads_and_writes(model: LocalModel) -> None:
    """Other tasks get their turns all the time."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await model.complete(Request(ASK, grammar=ENDLESS, max_tokens=200))
    counting.cancel()
    assert turns > 200


async def test_two_slots_answer_at_the_same_time(model: LocalModel) -> None:
    """A reply does not wait for a plan to end."""
    plan = asyncio.create_task(
        model.complete(Request(ASK, grammar=ENDLESS, max_tokens=14_000, purpose="plan"))
    )
    await until(lambda: busy(model))
    assert (await model.complete(Request(ASK, grammar='root ::= "ok"', purpose="reply"))).text == "ok"
    assert not plan.done()
    plan.cancel()
    with pytest.raises(asyncio.CancelledError):
        await plan


@pytest.mark.parametrize("limit", [0.0, 0.05])
async def test_there_is_always_a_time_limit(model: LocalModel, limit: float) -> None:
    """The request's own, 0 included."""
    with pytest.raises(ProviderTimeoutError, match=f"{limit:g} seconds"):
        await model.complete(Request(ASK, grammar=ENDLESS, max_tokens=14_000, timeout=limit))


async def test_the_callers_own_time_between_pieces_is_not_the_models(model: LocalModel) -> None:
    """A slow reader of the stream is not interrupted by the model's limit, only told at its next piece."""
    await model.complete(Request(ASK, grammar='root ::= "ok"'))
    slept: list[bool] = []

    async def read_slowly() -> None:
        async with aclosing(
            model.stream(Request(ASK, grammar=ENDLESS, max_tokens=14_000, timeout=0.2))
        ) as pieces:
            async for _ in pieces:
                if not slept:
                    await asyncio.sleep(0.4)
                    slept.append(True)

    with pytest.raises(ProviderTimeoutError):
        await read_slowly()
    assert slept


async def test_a_state_saved_while_another_call_took_the_slot_is_not_kept(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tokens are not the prefix's."""
    wire = await model._session.wire()
    real = wire.slot

    async def late(number: int, action: str, filename: str) -> dict[str, object]:
        await model.complete(Request((Message("user", "x"),), grammar='root ::= "a"', purpose="plan"))
        return await real(number, action, filename)

    monkeypatch.setattr(wire, "slot", late)
    await model.warm(WARM, "k")
    assert not list(model._session._store.folder.glob("*.state"))


async def test_without_a_limit_of_its_own_the_setting_holds(tmp_path: Path) -> None:
    """Unset is not unlimited."""
    model = tiny_model(tmp_path, local_timeout_sec=0.05)
    with pytest.raises(ProviderTimeoutError):
        await model.complete(Request(ASK, grammar=ENDLESS, max_tokens=14_000))
    await model.close()


async def test_closing_twice_does_nothing_and_a_later_call_opens_again(model: LocalModel) -> None:
    """Nothing is held in between."""
    request = Request(ASK, grammar='root ::= "ok"')
    await model.complete(request)
    await model.close()
    await model.close()
    assert model._session._hold is None
    assert (await model.complete(request)).text == "ok"


async def test_everything_open_is_closed_at_the_end_of_the_process(model: LocalModel) -> None:
    """What atexit calls."""
    await model.complete(Request(ASK, grammar='root ::= "ok"'))
    await asyncio.to_thread(close_all)
    assert model._session._hold is None


async def test_nothing_is_written_to_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Loading, answering and closing are quiet on both streams."""
    model = tiny_model(tmp_path)
    await model.complete(Request(ASK, tools=(COLOUR,), tool_choice=REQUIRED))
    await model.close()
    assert capfd.readouterr() == ("", "")


async def test_threads_are_measured_by_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the setting 0 on an idle machine; the number is kept."""
    from surefoot.models.local import threads

    monkeypatch.setattr(threads, "idle_cores", lambda: float(threads.available_cores()))
    model = tiny_model(tmp_path, threads=0)
    assert (await model.complete(Request(ASK, grammar='root ::= "ok"'))).text == "ok"
    assert threads.kept(tmp_path / "local") >= 1
    await model.close()


# --- a family that is not known ------------------------------------------------------------------------------


async def test_an_unknown_family_answers_by_its_own_template_and_has_no_tools(tmp_path: Path) -> None:
    """Words, JSON and choices; tools are refused before any call."""
    model = tiny_model(tmp_path, tiny={"name": "Somebody's Model", "template": CHATML})
    can = await model.capabilities()
    assert (can.tools, can.family, can.encoding, can.json_schema) == (False, "", "schema", True)
    assert (await model.complete(Request(ASK, grammar='root ::= "ok"'))).text == "ok"
    with pytest.raises(ProviderCapabilityError):
        await model.complete(Request(ASK, tools=(PING,)))
    with pytest.raises(ProviderCapabilityError, match="conversation"):
        await model.complete(Request((*ASK, Message("assistant", "", (ToolCall("1", "ping"),)))))
    await model.close()


async def test_an_unknown_family_keeps_its_prefix_too(tmp_path: Path) -> None:
    """What two different questions have in common is the prefix."""
    model = tiny_model(tmp_path, tiny={"name": "Somebody's Model", "template": CHATML})
    await model.warm(Request((SYSTEM,), purpose="plan"), "k")
    await model.complete(Request((Message("user", "x"),), grammar='root ::= "a"', purpose="plan"))
    usage = (await model.complete(Request(ASK, grammar='root ::= "a"', purpose="plan"))).usage
    assert usage.cached_tokens > len(SYSTEM.content)
    await model.close()


# --- opening -------------------------------------------------------------------------------------------------


def test_a_model_is_opened_by_path(tmp_path: Path) -> None:
    """Any GGUF file."""
    path = write_tiny(tmp_path / "own.gguf")
    assert open_local(str(path), tiny_settings(tmp_path)).name == f"local:{path}"
    with pytest.raises(ModelNotFoundError):
        open_local(str(tmp_path / "no.gguf"), tiny_settings(tmp_path))
    with pytest.raises(ModelFileError, match="not here"):
        open_local("qwen2.5-coder-1.5b", tiny_settings(tmp_path))
    with pytest.raises(AttributeError):
        _ = local.NoSuchThing  # type: ignore[attr-defined]


async def test_a_file_cut_short_is_said_so(tmp_path: Path) -> None:
    """The header is whole and the weights are not."""
    path = write_tiny(tmp_path / "cut.gguf")
    path.write_bytes(path.read_bytes()[:-50_000])
    model = LocalModel(path, tiny_settings(tmp_path))
    with pytest.raises(ModelFileError, match="cannot load"):
        await model.complete(Request(ASK))
    with pytest.raises(ModelFileError):  # the lock was let go: no second process would be stuck
        await model.complete(Request(ASK))


async def test_without_the_package_the_way_to_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The extra `local` is optional."""

    def missing(_name: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(engine, "version", missing)
    with pytest.raises(NoModelError, match="xllamacpp") as caught:
        await tiny_model(tmp_path).complete(Request(ASK))
    assert "surefoot[local]" in caught.value.next_move


# --- leaving -------------------------------------------------------------------------------------------------


def leave(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """A process that leaves while the model works."""
    write_tiny(tmp_path / "tiny.gguf")
    head = f"""
    import asyncio, sys, threading, time
    from pathlib import Path
    from models.tiny import tiny_model
    from surefoot.models.types import Message, Request
    model = tiny_model(Path({str(tmp_path)!r}))
    endless = Request((Message("user", "x"),), grammar={ENDLESS!r}, max_tokens=14000)
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    source = textwrap.dedent(head) + textwrap.dedent(code)
    command = [sys.executable, "-c", source]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)


THREAD = """
started = threading.Event()
async def work():
    async for piece in model.stream(endless):
        started.set()
threading.Thread(target=lambda: asyncio.run(work()), daemon=True).start()
started.wait(30)
"""


@pytest.mark.parametrize("way", ["", "sys.exit(0)", "import atexit; atexit.register(print)"])
def test_leaving_during_a_call_on_another_thread_does_not_crash(tmp_path: Path, way: str) -> None:
    """A daemon thread is in the middle of an answer."""
    done = leave(tmp_path, THREAD + way)
    assert done.returncode == 0, done.stderr


def test_an_interrupt_during_an_answer_ends_the_process_cleanly(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a stream."""
    code = """
    import os, signal
    async def work():
        async for piece in model.stream(endless):
            os.kill(os.getpid(), signal.SIGINT)
    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        print("interrupted")
    """
    done = leave(tmp_path, code)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_a_closed_descriptor_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no socket, or gone, is nobody's connection."""
    monkeypatch.setattr(engine, "_descriptors", lambda: iter([0, 9_999]))
    engine.hang_up(1)
    monkeypatch.undo()
    monkeypatch.setattr(engine.os, "listdir", lambda _folder: (_ for _ in ()).throw(OSError()))
    assert list(engine._descriptors()) == []
