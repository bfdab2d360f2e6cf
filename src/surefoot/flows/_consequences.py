"""What a flow does that cannot be taken back, and whether a stop guards it on every way that leads there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from surefoot.flows._data import table
from surefoot.flows._heard import Place
from surefoot.flows._shown import shown
from surefoot.flows._words import Finder
from surefoot.flows.problems import Problem

_EXAMPLES: Final = {"pay": "paying", "send": "sending", "delete": "deleting", "submit": "submitting"}

_SAYS: Final = {
    "pay": "pays, buys or books",
    "send": "sends or publishes something",
    "delete": "deletes something",
    "submit": "submits something",
}


@cache
def _acts() -> Finder:
    acts = dict(table("words")["acts"])
    return Finder({name: acts[name] for name in _EXAMPLES}, acts["harmless"])


def acts_said(text: str) -> frozenset[str]:
    """The acts that a text speaks of."""
    return frozenset(_acts().classes(text))


@cache
def _stops() -> Finder:
    return Finder(table("words")["stops"])


@dataclass(slots=True)
class Act:
    """A step with a consequence. `entered`: it gives payment details, so that its stop must still come."""

    place: Place
    does: str
    words: str
    home: int
    """Which list of steps it stands in."""
    entered: bool = False
    guarded: bool = False
    """A stop guards it, or a later act in the same list is the one to tell of."""

    def problem(self) -> Problem | None:
        """What is wrong when no stop guards it."""
        if self.guarded:
            return None
        stop = f'{{"stop_before": "{_EXAMPLES[self.does]}"}}'
        if self.entered:
            return self.place.problem(
                "unguarded_payment",
                f"This step enters {shown(self.words)}, and no stop comes behind it on every way. "
                f"Add {stop} behind it, in the same list of steps.",
            )
        code = "unguarded_payment" if self.does == "pay" else "unguarded_act"
        return self.place.problem(
            code,
            f"{shown(self.words)} {_SAYS[self.does]}, and no stop guards it on every way. "
            f"Put {stop} in its place, in the same list of steps.",
        )


@dataclass(slots=True)
class _List:
    """A list of steps that is being walked: what waits for a stop in it, and what stops were certain so far."""

    waiting: list[Act] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    """The stops of the list itself, without those before it."""
    number: int = 0


@dataclass(slots=True)
class _Fork:
    """An `if` or a loop that is being walked: what its bodies left open, and the stops of each."""

    left: list[Act] = field(default_factory=list)
    stops: list[set[str]] = field(default_factory=list)


class Consequences:
    """Is told of the steps in their order, and marks each act that a stop guards.

    A stop guards what stands before or behind it in its own list of steps, and in the lists inside these; both branches
    of an `if` stopping count as one stop. Payment details need a stop behind them: one before them stops too early.
    """

    def __init__(self) -> None:
        self._lists = [_List()]
        self._forks: list[_Fork] = []
        self._count = 0
        self._pays = False
        self._acts: list[Act] = []

    def says(self, place: Place, text: str) -> list[Act]:
        """A step of words, or a label that is pressed: the acts it says, to be asked for their problem at the end."""
        found = _acts().classes(text)
        if not found:
            return []
        does = next(name for name in _EXAMPLES if name in found)
        return [self._wait(Act(place, does, text, self._lists[-1].number))]

    def enters(self, place: Place, what: str) -> Act:
        """A step gives payment details to the page."""
        return self._wait(Act(place, "pay", what, self._lists[-1].number, entered=True))

    def _wait(self, act: Act) -> Act:
        here = self._lists[-1]
        self._acts.append(act)
        self._pays = self._pays or act.does == "pay"
        if not act.entered and act.does in here.stopped:
            act.guarded = True
        else:
            here.waiting.append(act)
        return act

    def stops(self, text: str) -> None:
        """A `stop_before` with these words."""
        named = _stops().classes(text)
        kinds = (named or set(_EXAMPLES)) | {"submit"}
        self._stop(self._lists[-1], kinds)

    @staticmethod
    def _stop(here: _List, kinds: set[str]) -> None:
        for act in here.waiting:
            act.guarded = act.guarded or act.does in kinds
        here.waiting = [act for act in here.waiting if not act.guarded]
        here.stopped |= kinds
        here.made |= kinds

    def opens(self) -> None:
        """A step with lists of steps begins."""
        self._forks.append(_Fork())

    def body_opens(self) -> None:
        """One of its lists begins: what was stopped before it is stopped in it."""
        self._count += 1
        self._lists.append(_List(stopped=set(self._lists[-1].stopped), number=self._count))

    def body_closes(self) -> None:
        """That list ends."""
        body = self._lists.pop()
        self._forks[-1].left += body.waiting
        self._forks[-1].stops.append(body.made)

    def closes(self) -> None:
        """The step ends. Its stops count outside only where each way through it has them."""
        fork, here = self._forks.pop(), self._lists[-1]
        if len(fork.stops) > 1:  # both branches of an `if`; a loop has one body
            self._stop(here, set.intersection(*fork.stops))
        here.waiting += fork.left

    def ends(self) -> None:
        """The flow ends. Of several acts in one list the last is told of: the stop belongs there.

        In a flow that pays, `submit` is a page on the way, and the payment's stop is the one that counts.
        """
        told: set[tuple[int, str]] = set()
        for act in reversed(self._acts):
            if act.does == "submit" and self._pays:
                act.guarded = True
            if not act.guarded:
                act.guarded = (act.home, act.does) in told
                told.add((act.home, act.does))
