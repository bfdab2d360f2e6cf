"""How many threads the embedded model gets.

Reading a prompt is bound by arithmetic and uses every core. Writing is bound by memory and by the slowest thread:
beside two busy processes on two cores, two threads wrote 1.7 tokens a second and one wrote 10.5 (alone: 27 and 18). So
writing gets as many threads as were measured to be best on this machine, and never more than there are idle cores.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.15
"""How long idle cores are counted: 15 ticks of the kernel's clock."""
IDLE_SHARE = 0.6
"""A core counts as idle when it is this idle: below, another thread's turn would be waited for at every token."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads for reading prompts and for writing answers."""

    read: int
    write: int


def choose(
    configured: int, folder: Path, run: Callable[[int], float], *, idle: Callable[[], float] | None = None
) -> Threads:
    """The threads for an engine that starts now.

    Args:
        configured: the setting; above 0 it is taken as it is.
        folder: where the measured number is kept.
        run: tokens a second written with that many threads; asked once for a machine, when it is idle.
        idle: cores idle right now.
    """
    if configured > 0:
        return Threads(configured, configured)
    cores, free = available_cores(), (idle or idle_cores)()
    best = kept(folder)
    if (
        not best and free >= cores * IDLE_SHARE
    ):  # beside a busy neighbour it would take long and be wrong for ever
        best = measure(folder, run)
    return Threads(cores, max(1, min(best or cores, int(free + 1 - IDLE_SHARE))))


def available_cores() -> int:
    """Cores this process may use, a container's quota included."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):
        return cores


def idle_cores(sample: Callable[[], tuple[float, float]] | None = None) -> float:
    """Cores that nobody uses right now, counted for a moment; every core where the system does not say."""
    read = sample or _ticks
    cores = available_cores()
    try:
        idle, total = read()
        time.sleep(SAMPLE_SECONDS)
        idle_now, total_now = read()
    except (OSError, ValueError, IndexError):
        return float(cores)
    return cores * (idle_now - idle) / (total_now - total) if total_now > total else float(cores)


def _ticks() -> tuple[float, float]:
    """Idle and total ticks of all cores since the machine started."""
    line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    ticks = [float(number) for number in line.split()[1:9]]  # guest time is inside user time already
    return ticks[3] + ticks[4], sum(ticks)


def measure(folder: Path, run: Callable[[int], float]) -> int:
    """The best number of writing threads by trying: all cores, then half as many, while it gets faster. It is kept."""
    cores = available_cores()
    best, best_rate, number = cores, 0.0, cores
    rates: dict[int, float] = {}
    while number >= 1:
        rates[number] = rate = run(number)
        if rate <= best_rate:
            break
        best, best_rate = number, rate
        number //= 2
    _keep(folder, cores, best, rates)
    return best


def kept(folder: Path) -> int:
    """The kept result for as many cores as there are now; 0 where there is none."""
    try:
        data = json.loads(_file(folder).read_text(encoding="utf-8"))
        return int(data["write"]) if data["cores"] == available_cores() else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _keep(folder: Path, cores: int, best: int, rates: dict[int, float]) -> None:
    shown = {str(number): round(rate, 1) for number, rate in rates.items()}
    folder.mkdir(parents=True, exist_ok=True)
    temporary = _file(folder).with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(
        json.dumps({"cores": cores, "write": best, "tokens_per_second": shown}), encoding="utf-8"
    )
    temporary.replace(_file(folder))


def _file(folder: Path) -> Path:
    return folder / "threads.json"
