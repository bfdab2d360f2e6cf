"""What the loop costs, beside the loops of other frameworks: one run of 20 tool calls, microseconds a call.

The model is scripted and answers at once, and the tool does nothing, so that only what stands around them is measured.
Each framework works in a process and an environment of its own (`peers/`). All sides take turns, run by run, so that
they see the same machine; the figures are medians. Those that keep what happened do it in SQLite with the same pragmas.

    python benchmarks/peers.py [--runs 15] [--only NAME ...] [--no-growth] [--json]

The exit code is 1 when a goal is missed. A framework that cannot be installed is named with the reason and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

sys.path.append(str(Path(__file__).parent / "peers"))
from environments import NotInstalledError, default_cache, listed

ROUNDS = 20
WARM = 3
"""First runs of each side that are not counted: caches fill and code is specialized in them."""

GROWTH = (5, 20, 80, 320)
"""Rounds of a run when it is shown whether a call's cost grows with the history."""

PEER_GROWTH = 80
"""Most rounds of the others there: for some the cost grows, and 320 would take minutes."""

GROWTH_RUNS = 5
"""Of each length; the fastest counts, since whatever else works on the machine only adds time."""

END_SECONDS = 20
"""For a framework to end its threads."""

OURS, OURS_DURABLE = "surefoot/memory", "surefoot/durable"

TIMES_UNDER = 3.0
"""In memory, at least so many times under the fastest peer in memory."""

MOST_GROWTH = 1.25
"""Cost of a call at 320 rounds against 80; flat is 1, what is done for each old item makes it 4. The rest is noise."""

NAMES = {
    "bare/loop": "a bare loop, nothing kept or checked",
    OURS: "Surefoot, journal in memory",
    "smolagents/agent": "smolagents, silent",
    "smolagents/logged": "smolagents, its default log",
    "langgraph/graph": "langgraph, StateGraph",
    "langgraph/on_loop": "langgraph, StateGraph, event loop",
    "langgraph/agent": "langgraph, its prebuilt agent",
    "openai_agents/agent": "openai-agents",
    "pydantic_ai/agent": "pydantic-ai",
    "surefoot/commits": "raw SQLite, 2 commits a call",
    OURS_DURABLE: "Surefoot, SQLite journal",
    "langgraph/exit": "langgraph, saved once at exit",
    "langgraph/step": "langgraph, saved at every step",
    "dbos/workflow": "DBOS, every step",
}
"""What each side is called in the table."""

DURABLE = ("surefoot/commits", OURS_DURABLE, "langgraph/exit", "langgraph/step", "dbos/workflow")

TUNED = ("smolagents/agent", "langgraph/graph")
"""Peers at their fastest, not as they come: a log that is on by default is off, and a graph runs without an event loop.
The goals are held against these too."""

FLOORS = ("bare/loop", "surefoot/commits")
"""Nobody's product: shown, and not a peer."""


class Worker:
    """A framework in its process."""

    def __init__(self, name: str, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self.name = name
        self._process = process
        self._errors = errors
        first = self._answer()
        self.sides: list[str] = first["sides"]
        self.versions: dict[str, str] = first["versions"]

    def run(self, side: str, rounds: int) -> float:
        """One run; microseconds a call."""
        print(json.dumps({"side": side, "rounds": rounds}), file=_pipe(self._process.stdin), flush=True)
        answer = self._answer()
        if "error" in answer:
            raise NotInstalledError(answer["error"])
        return float(answer["us"])

    def _answer(self) -> dict[str, Any]:
        line = _pipe(self._process.stdout).readline()
        if not line:
            self._errors.seek(0)
            lines = self._errors.read().strip().splitlines()
            raise NotInstalledError(lines[-1] if lines else "its process ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@contextmanager
def started(name: str, python: Path, folder: Path) -> Iterator[Worker]:
    """The worker of a framework; it ends with the block."""
    script = Path(__file__).parent / "peers" / f"on_{name}.py"
    own = folder / name
    own.mkdir()
    with tempfile.TemporaryFile("w+") as errors:  # a pipe that nobody reads would stop the worker
        process = subprocess.Popen(
            [str(python), str(script), str(own)],
            cwd=own,  # some write files beside them
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield Worker(name, process, errors)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """No more orders: it ends by itself, or is ended."""
    with suppress(BrokenPipeError):
        _pipe(process.stdin).close()
    try:
        process.wait(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _pipe(process.stdout).close()


@dataclass
class Found:
    """Microseconds a call by side: of every run, and of runs of several lengths."""

    runs: dict[str, list[float]] = field(default_factory=dict)
    growth: dict[str, dict[int, float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def medians(self) -> dict[str, float]:
        """The figure of each side."""
        return {name: statistics.median(values) for name, values in self.runs.items()}

    def fastest(self, *, tuned: bool = True) -> str:
        """The fastest peer that keeps nothing; empty when there is none to compare with."""
        medians = self.medians
        out = {*DURABLE, *FLOORS, OURS, *(() if tuned else TUNED)}
        return min((name for name in medians if name not in out), key=medians.__getitem__, default="")

    def as_they_come(self) -> str:
        """The same comparison with the peers as they come; it is told, and it is no goal."""
        medians, peer = self.medians, self.fastest(tuned=False)
        if not peer:
            return "there is no peer to compare with"
        memory, durable = (medians[peer] / medians[name] for name in (OURS, OURS_DURABLE))
        return f"in memory {memory:.2f}, durable {durable:.2f} times under the fastest ({NAMES[peer]})"

    def goals(self) -> list[tuple[str, bool]]:
        """Each in words, and whether it was reached."""
        medians, fastest = self.medians, self.fastest()
        if not fastest:
            return [("there is no peer to compare with", False)]
        failed = [name for name in (OURS, OURS_DURABLE) if name in self.left_out]
        if failed:
            return [(f"{NAMES[name]} failed: {self.left_out[name]}", False) for name in failed]
        ratio = medians[fastest] / medians[OURS]
        told = [
            (
                f"in memory {ratio:.2f} times under the fastest peer ({NAMES[fastest]}); wanted {TIMES_UNDER:g}",
                ratio >= TIMES_UNDER,
            ),
            (
                f"durable {medians[OURS_DURABLE]:.0f} us, under the fastest peer in memory ({medians[fastest]:.0f} us)",
                medians[OURS_DURABLE] < medians[fastest],
            ),
        ]
        for name in (OURS, OURS_DURABLE) if self.growth else ():
            at = self.growth[name]
            grown = at[GROWTH[-1]] / at[GROWTH[-2]]
            text = f"{NAMES[name]}: a call of {GROWTH[-1]} rounds costs {grown:.2f} times one of {GROWTH[-2]}"
            told.append((f"{text}; wanted {MOST_GROWTH:g} at most", grown <= MOST_GROWTH))
        return told


def measure(workers: Sequence[Worker], runs: int, *, growth: bool) -> Found:
    """All sides in turn; a side that fails is left out from there on."""
    found = Found(versions={k: v for worker in workers for k, v in worker.versions.items()})
    sides = [(worker, side) for worker in workers for side in worker.sides]
    for number in range(WARM + runs):
        for worker, side in sides:
            us = _one(found, worker, side, ROUNDS)
            if us is not None and number >= WARM:
                found.runs.setdefault(f"{worker.name}/{side}", []).append(us)
    if growth:
        for worker, side in sides:
            most = GROWTH[-1] if worker.name in {"surefoot", "bare"} else PEER_GROWTH
            best: dict[int, float] = {}
            for rounds in [
                length for length in GROWTH if length <= most
            ] * GROWTH_RUNS:  # lengths take turns too
                us = _one(found, worker, side, rounds)
                if us is not None:
                    best[rounds] = min(us, best.get(rounds, us))
            found.growth[f"{worker.name}/{side}"] = best
    return found


def _one(found: Found, worker: Worker, side: str, rounds: int) -> float | None:
    name = f"{worker.name}/{side}"
    if name in found.left_out:
        return None
    try:
        return worker.run(side, rounds)
    except (NotInstalledError, BrokenPipeError) as error:
        found.left_out[name] = str(error)
        found.runs.pop(name, None)
        return None


def compare(cache: Path, runs: int, only: Sequence[str], *, growth: bool) -> Found:
    """Start everybody, and let them take turns."""
    left_out: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:

        def start(name: str, python: Path) -> Worker:
            return stack.enter_context(started(name, python, Path(folder)))

        workers = [start(name, Path(sys.executable)) for name in ("bare", "surefoot")]
        for environment in listed():
            if only and environment.name not in only:
                left_out[environment.name] = "not asked for"
                continue
            try:
                workers.append(start(environment.name, environment.python(cache)))
            except NotInstalledError as error:
                left_out[environment.name] = str(error)
        found = measure(workers, runs, growth=growth)
    found.left_out = {**left_out, **found.left_out}
    return found


def show(found: Found) -> None:
    """The table."""
    medians, ours = found.medians, found.medians[OURS]
    load = os.getloadavg()[0]
    print(f"microseconds a call, one run of {ROUNDS}; {os.cpu_count()} cores, load {load:.1f} at the end")
    for title, names in (
        ("in memory", [name for name in NAMES if name not in DURABLE]),
        ("durable", list(DURABLE)),
    ):
        print(f"\n{title:38} {'median':>8} {'best':>8} {'x ours':>7}")
        for name in sorted((one for one in names if one in medians), key=medians.__getitem__):
            base = medians[OURS_DURABLE] if name in DURABLE else ours
            best = min(found.runs[name])
            print(f"{NAMES[name]:38} {medians[name]:8.0f} {best:8.0f} {medians[name] / base:7.2f}")
    if found.growth:
        print(f"\n{'a call, by rounds of the run (best)':38}" + "".join(f" {rounds:8}" for rounds in GROWTH))
        for name, at in found.growth.items():
            cells = (f"{at[rounds]:8.0f}" if rounds in at else " " * 8 for rounds in GROWTH)
            print(f"{NAMES[name]:38} " + " ".join(cells))
    print()
    for name, why in found.left_out.items():
        print(f"left out: {NAMES.get(name, name)}: {why}")
    print(f"peers as they come: {found.as_they_come()}")
    for text, reached in found.goals():
        print(f"goal {'reached' if reached else 'MISSED'}: {text}")


def as_json(found: Found) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "rounds": ROUNDS,
        "medians_us": {name: round(value, 1) for name, value in found.medians.items()},
        "runs_us": {name: [round(value, 1) for value in values] for name, values in found.runs.items()},
        "growth_us": {
            name: {str(rounds): round(us, 1) for rounds, us in at.items()}
            for name, at in found.growth.items()
        },
        "versions": found.versions,
        "left_out": found.left_out,
        "fastest_peer": found.fastest(),
        "as_they_come": found.as_they_come(),
        "goals": [{"text": text, "reached": reached} for text, reached in found.goals()],
        "load": os.getloadavg(),
    }


def main() -> int:
    """Print the figures; exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=15, help="of each side, counted")
    parser.add_argument("--only", nargs="*", default=[], help="these frameworks")
    parser.add_argument("--no-growth", action="store_true", help="runs of 20 calls only")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where environments are kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = compare(options.cache, options.runs, options.only, growth=not options.no_growth)
    if options.json:
        print(json.dumps(as_json(found)))
    else:
        show(found)
    return 0 if all(reached for _, reached in found.goals()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
