"""Everyday tasks for the flow planner, each with what an adequate flow of it holds, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.errors import InputError


@dataclass(frozen=True, slots=True)
class Reach:
    """One place the flow has to get to: an address that names one of `browse`, or an application one of `open`."""

    browse: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All that is accepted."""
        return self.browse + self.open


@dataclass(frozen=True, slots=True)
class Milestone:
    """Something a step is about: it says one of `words` (see `words.has_word`) and is of one of `kinds`, if given.

    `stored`: the step has to keep what it found in a variable, for the person to be told.
    """

    words: tuple[str, ...]
    kinds: frozenset[str] = frozenset()
    stored: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Milestone:
        """The milestone of this JSON; only `words` has to be there."""
        return cls(tuple(data["words"]), frozenset(data.get("kinds", ())), data.get("stored", False))


@dataclass(frozen=True, slots=True)
class FlowTask:
    """One task, and what is adequate for it.

    Attributes:
        id: unique in its set.
        language: of the goal, as a two-letter code.
        goal: what the person says.
        shared: names of shared facts that the planner is given.
        secret: names of secret facts that it is given.
        surfaces: what there is to act on: `browser`, `desktop`.
        reach: places the flow gets to, every one of them.
        uses: the facts the task needs; the others given are not needed.
        literals: what the person said and no flow may hold as it is.
        stop: a `stop_before` has to be there and name one of these words; None where nothing irreversible is done.
        milestones: what the flow holds, each of them.
        asks: names of facts nobody gave that the flow may ask for.
        reference: a flow that a careful author would write, as JSON.
    """

    id: str
    language: str
    goal: str
    shared: tuple[str, ...]
    secret: tuple[str, ...]
    surfaces: frozenset[str]
    reach: tuple[Reach, ...]
    uses: tuple[str, ...]
    literals: tuple[str, ...]
    stop: tuple[str, ...] | None
    milestones: tuple[Milestone, ...]
    asks: tuple[str, ...]
    reference: Mapping[str, Any]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FlowTask:
        """The task of this JSON.

        Raises:
            InputError: something is missing, or it needs a fact that it does not give.
        """
        try:
            task = cls(
                id=data["id"],
                language=data["language"],
                goal=data["goal"],
                shared=tuple(data["facts"]["shared"]),
                secret=tuple(data["facts"]["secret"]),
                surfaces=frozenset(data["surfaces"]),
                reach=tuple(
                    Reach(tuple(r.get("browse", ())), tuple(r.get("open", ()))) for r in data["reach"]
                ),
                uses=tuple(data["uses"]),
                literals=tuple(data["literals"]),
                stop=None if data["stop"] is None else tuple(data["stop"]),
                milestones=tuple(map(Milestone.from_json, data["milestones"])),
                asks=tuple(data["asks"]),
                reference=data["reference"],
            )
        except KeyError as error:
            raise InputError(
                f"The task {data.get('id', '?')!r} has no {error.args[0]!r}.",
                "Give it, empty where there is nothing.",
            ) from None
        task._need_given()
        return task

    def _need_given(self) -> None:
        missing = [name for name in self.uses if name not in (*self.shared, *self.secret)]
        if missing:
            raise InputError(
                f"The task {self.id!r} uses the fact {missing[0]!r}, which it does not give.",
                "List it under facts, shared or secret.",
            )


def read_flow_tasks(path: Path) -> tuple[FlowTask, ...]:
    """The tasks of a JSON file, in its order.

    Raises:
        InputError: a task is incomplete, or two have one id.
        OSError: the file cannot be read.
    """
    tasks = tuple(map(FlowTask.from_json, json.loads(path.read_text(encoding="utf-8"))))
    ids = [task.id for task in tasks]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise InputError(f"Two tasks of {path.name} have the id {twice!r}.", "Rename one of them.")
    return tasks
