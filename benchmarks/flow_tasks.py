"""Are everyday tasks planned into flows that are valid and would do the task? Real model, real planner and checker.

    python benchmarks/flow_tasks.py [--set tests/data/flow_tasks.json] [--only ID] [--model NAME]
                                    [--grammar|--no-grammar|--both] [--json FILE] [--kept FILE] [--fresh]

A plan is right when it is valid (the checker has nothing to say) and adequate (`surefoot.evals.adequacy`). Both are
counted at once, after one repair and after two. The set that is reported was written before the planner's prompt was;
prompts are tuned on another, tests/data/flow_tasks_tuning.json. Plans are kept in a file of JSON lines under what was
asked of which model, so that a run that was ended goes on where it was, and a changed prompt is asked again. The
measure is applied to what is kept, so that a changed measure costs no model time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot.errors import PlanFailedError, SurefootError
from surefoot.evals.adequacy import Fault, adequacy, unlisted_questions
from surefoot.evals.flow_tasks import FlowTask, read_flow_tasks
from surefoot.flows import FactNames
from surefoot.models import default_model, open_model
from surefoot.models.types import Capabilities, Completion, LanguageModel, Piece, Request, Usage
from surefoot.planning.flow_planner import FlowPlanner
from surefoot.settings import load_settings

MEASURED = Path(__file__).parent.parent / "tests" / "data" / "flow_tasks.json"
REPAIRS = 2
ROUNDS = ("at once", "after one repair", "after two repairs")
VALID_GOAL, RIGHT_GOAL = 0.95, 0.60
"""Shares of the measured set, with the local model and the grammar, after all repairs."""


# --- asking --------------------------------------------------------------------------------------------------


@dataclass
class Counting:
    """The same model, with what it was asked and what that took.

    With `answer` the model is not asked at all: what the planner would ask is what its plan depends on.
    """

    model: LanguageModel
    answer: str | None = None
    requests: list[Request] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def capabilities(self) -> Capabilities:
        """The model's."""
        return await self.model.capabilities()

    async def complete(self, request: Request) -> Completion:
        """Its answer, counted."""
        self.requests.append(request)
        if self.answer is not None:
            return Completion(self.answer)
        found = await self.model.complete(request)
        self.usage += found.usage
        return found

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The same in one piece."""
        found = await self.complete(request)
        yield Piece(found.text, found)

    async def warm(self, request: Request, key: str) -> None:
        """Pass it on."""
        if self.answer is None:
            await self.model.warm(request, key)

    async def close(self) -> None:
        """The model is closed by whoever opened it."""


async def plan(task: FlowTask, model: LanguageModel, *, bound: bool) -> list[dict[str, Any]]:
    """The planner's attempts at this task, each its text, flow and problems.

    Raises:
        SurefootError: the model failed; a plan that stayed invalid is no error here.
    """
    names = FactNames(shared=task.shared, secret=task.secret)
    planner = FlowPlanner(model, bound=bound, repairs=REPAIRS)
    try:
        found = await planner.plan(task.goal, names, task.surfaces)
    except PlanFailedError as error:
        if error.details["reason"] != "invalid":
            raise
        attempts: list[dict[str, Any]] = error.details["attempts"]
        return attempts
    return [attempt.to_dict() for attempt in found.attempts]


async def asked(task: FlowTask, model: LanguageModel, *, bound: bool) -> str:
    """A short hash of all that the planner would ask for this task: prompts, schema, repairs, names of facts."""
    listener = Counting(model, answer="{}")
    try:
        await plan(task, listener, bound=bound)
    except SurefootError as error:
        if not listener.requests:
            raise
        print(f"{task.id}: {error}", file=sys.stderr)
    whole = "\n".join(map(repr, listener.requests))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


async def run_case(task: FlowTask, model: LanguageModel, *, bound: bool) -> dict[str, Any]:
    """One task planned, with what it took."""
    counting = Counting(model)
    start = time.monotonic()
    attempts = await plan(task, counting, bound=bound)
    return {
        "attempts": attempts,
        "seconds": round(time.monotonic() - start, 1),
        "model_calls": len(counting.requests),
        "prompt_tokens": counting.usage.prompt_tokens,
        "cached_tokens": counting.usage.cached_tokens,
        "output_tokens": counting.usage.output_tokens,
    }


# --- what is kept --------------------------------------------------------------------------------------------


class Kept:
    """Results by key, in a file of JSON lines; a line that was cut off is asked again."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self._path = path
        self._found: dict[str, dict[str, Any]] = {}
        if path.exists() and not fresh:
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                self._found[entry["key"]] = entry["result"]

    def get(self, key: str) -> dict[str, Any] | None:
        """What is kept under the key."""
        return self._found.get(key)

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep it, on the disk at once."""
        self._found[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "result": result}, ensure_ascii=False) + "\n")


# --- judging -------------------------------------------------------------------------------------------------


def judged(task: FlowTask, result: dict[str, Any], *, bound: bool) -> dict[str, Any]:
    """The result with what it is worth: the round in which it was valid, and its faults."""
    attempts = result["attempts"]
    valid_at = next((at for at, one in enumerate(attempts) if is_valid(one)), None)
    flows = [chosen(attempts[: repairs + 1]) for repairs in range(REPAIRS + 1)]
    found = [None if flow is None else adequacy(flow, task) for flow in flows]
    faults: list[Fault] = found[-1] or []
    asks = [] if flows[-1] is None else unlisted_questions(flows[-1], task)
    return {
        "id": task.id,
        "language": task.language,
        "grammar": bound,
        "goal": task.goal,
        "valid_at": valid_at,
        "right_after": [one == [] for one in found],
        "right": found[-1] == [],
        "flow": flows[-1],
        "faults": [fault.to_dict() for fault in faults],
        "questions_too_many": asks,
        **result,
    }


def is_valid(attempt: dict[str, Any]) -> bool:
    """There is a flow, and the checker had nothing to say."""
    return attempt["flow"] is not None and not attempt["problems"]


def chosen(attempts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The flow the planner would give after these attempts (`best_of`); None where none is valid."""
    valid = [one for one in reversed(attempts) if is_valid(one)]
    best = min(valid, key=lambda one: len(one.get("lost", ())), default=None)
    return None if best is None else best["flow"]


def counts(cases: list[dict[str, Any]]) -> dict[str, list[int]]:
    """How many are valid and right at once, after one and after two repairs."""

    def so_far(repairs: int) -> list[dict[str, Any]]:
        return [case for case in cases if case["valid_at"] is not None and case["valid_at"] <= repairs]

    rounds = range(REPAIRS + 1)
    return {
        "valid": [len(so_far(repairs)) for repairs in rounds],
        "right": [sum(case["right_after"][repairs] for case in cases) for repairs in rounds],
    }


def summary(cases: list[dict[str, Any]], failed: int) -> dict[str, Any]:
    """The figures of one way of asking: whole, by language, what it took, and what was wrong."""
    languages = dict.fromkeys(case["language"] for case in cases)
    by_language = {one: [case for case in cases if case["language"] == one] for one in languages}
    faults = Counter(code for case in cases for code in {fault["code"] for fault in case["faults"]})
    problems = Counter(
        code for case in cases for code in {p["code"] for one in case["attempts"] for p in one["problems"]}
    )
    return {
        "of": len(cases),
        "not_answered": failed,
        **counts(cases),
        "languages": {one: {"of": len(some), **counts(some)} for one, some in by_language.items()},
        "median": {name: median(case[name] for case in cases) for name in TOOK},
        "tasks_with_fault": dict(faults.most_common()),
        "tasks_with_problem": dict(problems.most_common()),
        "tasks_with_questions_too_many": sum(bool(case["questions_too_many"]) for case in cases),
    }


TOOK = ("seconds", "model_calls", "prompt_tokens", "cached_tokens", "output_tokens")


def median(values: Iterable[float]) -> float:
    """The middle value."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


# --- telling -------------------------------------------------------------------------------------------------


def tell(case: dict[str, Any]) -> None:
    """One task, for a person, on the error stream: it takes long."""
    mark = "right" if case["right"] else "INVALID" if case["valid_at"] is None else "INADEQUATE"
    cost = f"{case['prompt_tokens']}-{case['cached_tokens']}+{case['output_tokens']} tokens"
    print(f"{case['id']} {mark} {case['seconds']} s  {cost}  {case['goal'][:90]}", file=sys.stderr)
    last = case["attempts"][-1] if case["attempts"] else {"problems": [], "flow": None, "text": ""}
    wrong = [f"{fault['path'] or '-'} {fault['code']}: {fault['message']}" for fault in case["faults"]]
    if case["valid_at"] is None:
        wrong = [
            f"{problem['path'] or '-'} {problem['code']}: {problem['message']}"
            for problem in last["problems"]
        ]
    if wrong:
        shown = case["flow"] or last["flow"]
        wrong.append(json.dumps(shown, ensure_ascii=False) if shown else last["text"][:400])
    for line in wrong:
        print(f"      {line}", file=sys.stderr)
    sys.stderr.flush()


def table(way: str, figures: dict[str, Any]) -> str:
    """The figures of one way of asking as lines."""
    of = figures["of"]
    lines = [f"{way}: {of} tasks"]
    if figures["not_answered"]:
        lines.append(f"  not among them: {figures['not_answered']} at which the model failed; run it again")
    for what in ("valid", "right"):
        shares = [
            f"{count} {round_} ({count / of:.0%})"
            for count, round_ in zip(figures[what], ROUNDS, strict=True)
        ]
        lines.append(f"  {what}: {', '.join(shares)}")
    for language, some in figures["languages"].items():
        valid, right = ("/".join(map(str, some[what])) for what in ("valid", "right"))
        lines.append(f"  {language}, {some['of']} tasks: valid {valid}, right {right}")
    lines.append(
        "  a task, median: "
        + ", ".join(f"{figures['median'][name]} {name.replace('_', ' ')}" for name in TOOK)
    )
    for name in ("tasks_with_fault", "tasks_with_problem"):
        told = ", ".join(f"{code} {count}" for code, count in figures[name].items()) or "none"
        lines.append(f"  {name.replace('_', ' ')}: {told}")
    lines.append(f"  tasks with questions too many: {figures['tasks_with_questions_too_many']}")
    return "\n".join(lines)


# --- running -------------------------------------------------------------------------------------------------


async def run(
    tasks: Iterable[FlowTask], model: LanguageModel, kept: Kept, *, bound: bool
) -> tuple[list[dict[str, Any]], int]:
    """Every task in one way of asking, and how many the model failed at."""
    cases, failed, warm = [], 0, False
    for task in tasks:
        key = " ".join(
            (task.id, model.name, "grammar" if bound else "free", await asked(task, model, bound=bound))
        )
        result = kept.get(key)
        if result is None:
            try:
                if not warm:  # loading and the first reading of the prompt are no task's
                    warm = await FlowPlanner(model, bound=bound).warm() or True
                result = await run_case(task, model, bound=bound)
            except SurefootError as error:  # not kept: the next run asks again
                failed += 1
                print(f"{task.id} FAILED {error}", file=sys.stderr)
                continue
            kept.put(key, result)
        cases.append(judged(task, result, bound=bound))
        tell(cases[-1])
    return cases, failed


def reached(figures: dict[str, Any]) -> bool:
    """The goal, after all repairs."""
    of = figures["of"]
    return bool(figures["valid"][-1] >= VALID_GOAL * of and figures["right"][-1] >= RIGHT_GOAL * of)


def arguments() -> argparse.Namespace:
    """What was asked on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", type=Path, default=MEASURED, help="tasks (default: the measured set)")
    parser.add_argument("--only", action="append", metavar="ID", help="this task alone; may be repeated")
    parser.add_argument("--model", default="", help="provider:model (default: as configured)")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--grammar", dest="ways", action="store_const", const=(True,), help="bound (the default)"
    )
    ways.add_argument("--no-grammar", dest="ways", action="store_const", const=(False,), help="not bound")
    ways.add_argument(
        "--both", dest="ways", action="store_const", const=(True, False), help="both, one by one"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and all plans there")
    parser.add_argument(
        "--kept", type=Path, metavar="FILE", help="where plans are kept (default: in the cache)"
    )
    parser.add_argument("--fresh", action="store_true", help="ask again what is kept")
    return parser.parse_args()


async def main() -> int:
    """Run the set; exit 1 when the goal is missed with the grammar, 3 when the model failed at a task."""
    options = arguments()
    tasks = [task for task in read_flow_tasks(options.set) if not options.only or task.id in options.only]
    settings = load_settings()
    kept = Kept(options.kept or settings.cache_dir / "benchmarks" / "flow_tasks.jsonl", fresh=options.fresh)
    model = await (open_model(options.model, settings) if options.model else default_model(settings))
    figures: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    failures = 0
    try:
        for bound in options.ways or (True,):
            found, failed = await run(tasks, model, kept, bound=bound)
            failures += failed
            cases += found
            if found:
                figures["grammar" if bound else "no grammar"] = summary(found, failed)
    finally:
        await model.close()
    for way, some in figures.items():
        print(table(f"{model.name}, {way}", some))
    if options.json:
        whole = {"model": model.name, "set": options.set.name, "figures": figures, "cases": cases}
        options.json.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if failures or not figures:
        return 3
    return 0 if all(reached(some) for way, some in figures.items() if way == "grammar") else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
