"""What a plan costs the embedded model, and what its cache saves.

Ten different requests over all built-in tools, planned one after the other: the first in a process without anything
kept, the others on its prefix, and the first again in a new process that finds the prefix kept on the disk. Counted are
the prompt tokens that were really evaluated. Then the model calls of a whole turn with 1 to 5 concrete steps.

    python benchmarks/planning.py [--model NAME] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from surefoot import Assistant, MemoryJournal, ScriptedModel
from surefoot.assistant.warming import warm_planner
from surefoot.models import open_model
from surefoot.models.registry import EMBEDDED
from surefoot.models.types import Completion, Request, ToolCall
from surefoot.models.weights import require
from surefoot.planning.planner import OutlinePlanner
from surefoot.settings import Settings, load_settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

GOAL = 0.15
"""Share of the first query's prompt tokens that a later one may evaluate."""

QUERIES = (
    "Write down that the garage code changed to the new pattern",
    "Which notes do I have about the boiler?",
    "Remind me to water the ferns on Thursday",
    "What is still open for next week?",
    "Put lunch with Priya on Friday at half past twelve into my calendar",
    "What is in my calendar tomorrow?",
    "Save a file named packing.txt that says socks and charger",
    "What does https://example.com say?",
    "Will it rain in Lyon on Saturday?",
    "Remember that my sister lives in Porto",
)
NOW = datetime(2026, 4, 27, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


async def plan_all(
    model_name: str, settings: Settings, queries: tuple[str, ...], *, warm: bool
) -> list[dict[str, Any]]:
    """Plan the queries in this process; one entry for each."""
    model = await open_model(model_name, settings)
    catalogue = Catalogue(builtin())
    found: list[dict[str, Any]] = []
    try:
        start = time.monotonic()
        if warm:
            await warm_planner(model, settings, catalogue)
        ready = time.monotonic() - start
        for query in queries:
            seen: list[Completion] = []

            async def complete(request: Request, seen: list[Completion] = seen) -> Completion:
                seen.append(await model.complete(request))
                return seen[-1]

            start = time.monotonic()
            await OutlinePlanner(model, settings, catalogue).plan(query, now=NOW, complete=complete)
            usage = seen[-1].usage
            found.append(
                {
                    "query": query,
                    "prompt": usage.prompt_tokens,
                    "evaluated": usage.prompt_tokens - usage.cached_tokens,
                    "output": usage.output_tokens,
                    "seconds": time.monotonic() - start,
                    "ready": ready,
                }
            )
    finally:
        await model.close()
    return found


def in_a_process(arguments: list[str]) -> list[dict[str, Any]]:
    """The same in a new process."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=True, timeout=1_800
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


async def model_calls(steps: int) -> int:
    """Model calls of a whole turn whose plan has this many concrete steps."""
    plan = [ToolCall(f"c{n}", "getWeather", {"place": f"Town {n}"}) for n in range(steps)]
    model = ScriptedModel(plan, "Done.")
    async with Assistant(
        model=model, kits=("weather",), journal=MemoryJournal(), settings=load_settings(offline=True)
    ) as ours:
        await ours.ask("the weather in some towns, please")
    return len(model.requests)


def main() -> int:
    """Print the figures; exit 1 when the cache's goal or the number of model calls is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", choices=["cold", "kept"])
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    name = options.model or f"local:{require(EMBEDDED, load_settings())}"
    if options.part:
        settings = load_settings(cache_dir=options.cache)
        queries = QUERIES if options.part == "cold" else QUERIES[:1]
        print(json.dumps(asyncio.run(plan_all(name, settings, queries, warm=options.part == "kept"))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        shared = ["--model", name, "--cache", folder]
        cold = in_a_process([*shared, "--part", "cold"])
        in_a_process([*shared, "--part", "kept"])  # keeps the prefix
        kept = in_a_process([*shared, "--part", "kept"])
    calls = {steps: asyncio.run(model_calls(steps)) for steps in range(1, 6)}
    return report(cold, kept[0], calls, as_json=options.json)


def shown(entry: dict[str, Any]) -> str:
    """Tokens and seconds of one plan."""
    tokens = f"{entry['prompt']:6.0f} prompt tokens, {entry['evaluated']:5.0f} evaluated"
    return f"{tokens}, {entry['seconds']:5.1f} s"


def report(cold: list[dict[str, Any]], kept: dict[str, Any], calls: dict[int, int], *, as_json: bool) -> int:
    """Print, and judge."""
    first, later = cold[0], cold[1:]
    evaluated = statistics.median(entry["evaluated"] for entry in later)
    share = evaluated / first["evaluated"]
    worst = max(entry["evaluated"] for entry in later) / first["evaluated"]
    seconds = statistics.median(entry["seconds"] for entry in later)
    reached = share < GOAL and set(calls.values()) == {2}
    if as_json:
        data = {"first": first, "later": later, "kept": kept, "share": share, "worst": worst, "calls": calls}
        print(json.dumps(data, ensure_ascii=False))
        return 0 if reached else 1
    prompt = statistics.median(entry["prompt"] for entry in later)
    print(f"first query, nothing kept    {shown(first)}")
    print(
        f"later queries, median        {shown({'prompt': prompt, 'evaluated': evaluated, 'seconds': seconds})}"
    )
    print(f"  evaluated, of the first's  {share:.1%} (worst {worst:.1%}); goal under {GOAL:.0%}")
    print(
        f"new process, prefix kept     {shown(kept)}, behind {kept['ready']:.1f} s of loading and restoring"
    )
    print(f"output tokens of a plan      {statistics.median(e['output'] for e in cold):5.0f}")
    print("model calls for 1 to 5 steps " + ", ".join(f"{steps}: {count}" for steps, count in calls.items()))
    print(f"goal: {'reached' if reached else 'missed'}")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
