"""One process of a person has the model loaded; the others use it and take over when it is gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from models.tiny import tiny_model
from models.tiny_gguf import write_tiny
from surefoot.errors import ProviderUnavailableError
from surefoot.models.local import LocalModel, adapter
from surefoot.models.local.owner import Entry, Hold, Place, connect
from surefoot.models.local.wire import EngineGoneError, Wire
from surefoot.models.types import REQUIRED, Message, Piece, Request, ToolSpec

OK = Request((Message("user", "go"),), grammar='root ::= "ok"')
LONG = Request((Message("user", "go"),), grammar="root ::= [a-z]{1500}", max_tokens=2000)
PING = ToolSpec("ping", "", {"type": "object"})


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[tuple[LocalModel, LocalModel]]:
    """Two models of one file: the first owns it."""
    first, second = tiny_model(tmp_path), tiny_model(tmp_path)
    await first.complete(OK)
    await second.complete(OK)
    yield first, second
    await second.close()
    await first.close()


def entry_of(folder: Path) -> Path:
    (path,) = [one for one in (folder / "local").glob("*.json") if not one.name.endswith(".slots.json")]
    return path


async def test_the_second_uses_what_the_first_has_loaded(pair: tuple[LocalModel, LocalModel]) -> None:
    """Calls, choices and streams are the same through the other's engine."""
    first, second = pair
    assert (first._session.owner, second._session.owner) == (True, False)
    request = Request((Message("user", "go"),), tools=(PING,), tool_choice=REQUIRED, max_calls=1)
    assert [call.name for call in (await second.complete(request)).tool_calls] == ["ping"]
    chosen = Request((Message("user", "go"),), choices=("yes", "no"))
    assert (await second.complete(chosen)).probabilities == pytest.approx(
        (await first.complete(chosen)).probabilities, abs=1e-3
    )


async def test_the_entry_is_for_the_persons_eyes(pair: tuple[LocalModel, LocalModel], tmp_path: Path) -> None:
    """Loopback address, random key, process; nobody else may read it, and the model takes no call without the key."""
    path = entry_of(tmp_path)
    entry = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.with_suffix(".lock").stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert entry["address"].startswith("http://127.0.0.1:")
    assert entry["pid"] == os.getpid()
    assert len(entry["key"]) >= 40
    assert Wire(entry["address"], entry["key"]).alive()
    assert not Wire(entry["address"], "guessed").alive()
    with pytest.raises(EngineGoneError):
        await Wire(entry["address"], "guessed").post("/completion", {"prompt": "x"})


async def test_when_the_owner_closes_the_other_takes_over(pair: tuple[LocalModel, LocalModel]) -> None:
    """At its next call."""
    first, second = pair
    await first.close()
    assert (await second.complete(OK)).text == "ok"
    assert second._session.owner


async def test_when_the_owner_closes_in_the_middle_the_answer_goes_on(
    pair: tuple[LocalModel, LocalModel],
) -> None:
    """It is begun again, and what was said is not said twice; the owner does not wait for the other's answer."""
    first, second = pair
    said, closing = "", None
    whole = None
    async for piece in second.stream(LONG):
        said += piece.text
        whole = piece.completion or whole
        if len(said) >= 20 and closing is None:
            closing = asyncio.create_task(first.close())
    assert closing is not None
    await closing
    assert whole is not None
    assert said == whole.text
    assert len(said) == 1500
    assert second._session.owner


async def test_different_contexts_are_different_engines(tmp_path: Path) -> None:
    """Nobody gets a smaller context than asked for."""
    first, second = tiny_model(tmp_path), tiny_model(tmp_path, num_ctx=2048)
    await first.complete(OK)
    await second.complete(OK)
    assert first._session.owner
    assert second._session.owner
    await first.close()
    await second.close()


def child(folder: Path, code: str) -> subprocess.Popen[str]:
    """Another process of the person with the same model."""
    head = f"""
    import asyncio, sys
    from pathlib import Path
    from models.tiny import tiny_model
    from models.test_local_sharing import LONG, OK
    model = tiny_model(Path({str(folder)!r}))
    def say(*words):
        print(*words, flush=True)
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    source = textwrap.dedent(head) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes to end with the test."""
    write_tiny(tmp_path / "tiny.gguf")
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


HOLD = """
async def main():
    answer = await model.complete(OK)
    say(answer.text, model._session.owner)
    await asyncio.to_thread(sys.stdin.readline)
    answer = await model.complete(OK)
    say(answer.text, model._session.owner)
    await model.close()
asyncio.run(main())
"""


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_of_processes_started_at_once_exactly_one_owns_the_model(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    """Whoever gets the lock; the others wait for it and use it."""
    started += [child(tmp_path, HOLD) for _ in range(3)]
    said = sorted(line(process) for process in started)
    assert said == ["ok False", "ok False", "ok True"]


def test_an_owner_killed_is_replaced_at_the_next_call(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    """Kill -9 leaves an entry that leads nowhere and a lock that the system let go."""
    started += [child(tmp_path, HOLD)]
    assert line(started[0]) == "ok True"
    started += [child(tmp_path, HOLD)]
    assert line(started[1]) == "ok False"
    started[0].send_signal(signal.SIGKILL)
    started[0].wait()
    go(started[1])
    assert line(started[1]) == "ok True"
    assert started[1].wait(30) == 0


async def test_an_owner_killed_in_the_middle_of_an_answer_is_replaced(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    """The answer comes whole all the same."""
    started += [child(tmp_path, HOLD)]
    assert await asyncio.to_thread(line, started[0]) == "ok True"
    model = tiny_model(tmp_path)
    said = ""
    async for piece in model.stream(LONG):
        said += piece.text
        if len(said) == 20:
            started[0].send_signal(signal.SIGKILL)
    assert len(said) == 1500
    assert model._session.owner
    await model.close()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"address": "http://127.0.0.1:9", "key": "k", "pid": 1}',
        '{"address": "http://127.0.0.1:9", "key": "k"}',
        '{"address": "nonsense", "key": "k", "pid": "x"}',
    ],
)
async def test_a_stale_entry_is_replaced(tmp_path: Path, content: str) -> None:
    """Empty, of another shape, or of an address where nobody answers."""
    model = tiny_model(tmp_path)
    await model.complete(OK)
    path = entry_of(tmp_path)
    await model.close()
    assert not path.exists()
    path.write_text(content)
    assert (await model.complete(OK)).text == "ok"
    assert json.loads(path.read_text())["pid"] == os.getpid()
    await model.close()


def test_an_owner_that_does_not_answer_is_named(tmp_path: Path) -> None:
    """It holds the lock and says nothing: waiting ends, with its process id if that is known."""
    place = Place(tmp_path, "x")
    with place.lock():
        with pytest.raises(ProviderUnavailableError, match="Another process holds"):
            connect(place, lambda: pytest.fail("must not load"), patience=0.2)
        place.write(Entry("http://127.0.0.1:9", "k", 4242))
        with pytest.raises(ProviderUnavailableError, match="process 4242 holds"):
            connect(place, lambda: pytest.fail("must not load"), patience=0.2)


def test_a_failed_start_lets_the_lock_go(tmp_path: Path) -> None:
    """The next process is not stuck."""
    place = Place(tmp_path, "x")

    def fail() -> None:
        raise RuntimeError

    for _ in range(2):
        with pytest.raises(RuntimeError):
            connect(place, fail, patience=0.0)  # type: ignore[arg-type]
    assert place.read() is None


def test_letting_go_of_a_borrowed_model_closes_nothing(tmp_path: Path) -> None:
    """It is the owner's."""
    place = Place(tmp_path, "x")
    tmp_path.mkdir(exist_ok=True)
    place.write(Entry("http://127.0.0.1:9", "k", 1))
    hold = Hold(Wire("http://127.0.0.1:9", "k"))
    assert not hold.owner
    hold.close()
    assert place.read() is not None


async def test_an_owner_that_goes_away_twice_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once is taken over; then the person is told."""
    model = tiny_model(tmp_path)

    async def gone(*_: object) -> AsyncIterator[Piece]:
        raise EngineGoneError("http://127.0.0.1:9")
        yield Piece()

    monkeypatch.setattr(model, "_attempt", gone)
    with pytest.raises(ProviderUnavailableError, match="twice"):
        await model.complete(OK)
    monkeypatch.setattr(model, "_warm", lambda *_: anext(gone()))
    with pytest.raises(ProviderUnavailableError, match="twice"):
        await model.warm(OK, "k")
    await model.close()


async def test_warming_takes_over_as_well(pair: tuple[LocalModel, LocalModel]) -> None:
    """The owner went away before."""
    first, second = pair
    await first.close()
    await second.warm(Request((Message("system", "Rules."),), purpose="plan"), "k")
    assert second._session.owner


async def test_an_answer_that_goes_another_way_the_second_time_is_not_mixed() -> None:
    """What was said cannot be taken back."""

    async def pieces(*texts: str) -> AsyncIterator[Piece]:
        for text in texts:
            yield Piece(text)

    same = [piece.text async for piece in adapter._unsaid(pieces("He", "llo wor", "ld"), "Hello")]
    assert same == [" wor", "ld"]
    with pytest.raises(ProviderUnavailableError, match="in the middle"):
        _ = [piece async for piece in adapter._unsaid(pieces("Hej"), "Hello")]


async def test_an_answer_without_an_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never an empty text."""
    model = tiny_model(tmp_path)

    async def nothing(_request: Request) -> AsyncIterator[Piece]:
        yield Piece("x")

    monkeypatch.setattr(model, "stream", nothing)
    with pytest.raises(ProviderUnavailableError, match="without an answer"):
        await model.complete(OK)
