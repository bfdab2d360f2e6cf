"""What a loop is given, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from surefoot.errors import ProviderError
from surefoot.journal.types import Call
from surefoot.models.types import Message, Usage
from surefoot.planning.outline import Outline
from surefoot.running.copying import Names
from surefoot.running.executor import Outcome
from surefoot.running.loop_tools import Search


@dataclass(frozen=True, slots=True)
class LoopGoal:
    """What a loop is to reach, and with what.

    Args:
        messages: the system text, the conversation, and last the person's request.
        offered: names of the tools the model is shown, None for all; any of the catalogue may be called.
        search: finds tools that were not offered, for `searchTools`; None leaves that tool out.
        outline: a plan to follow, named in the messages; the loop says after each result what comes next.
        steps_done: steps of that plan (memory and reply left out) that this run has done already; they stand first.
        steps: numbers of the plan's steps that are left, by the tool they name: what a call is shown as.
        earlier: calls this run made before the loop; what they wrote is not written again.
        timeout: seconds for each model call.
        said: what dates and names are copied from, by a model that a grammar binds; empty leaves them free.
        names: gives the names that there are, for such a model that named what is not there.
    """

    messages: tuple[Message, ...]
    offered: tuple[str, ...] | None = None
    search: Search | None = None
    outline: Outline = field(default_factory=Outline)
    steps_done: int = 0
    steps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    earlier: tuple[Call, ...] = ()
    timeout: float | None = None
    said: tuple[str, ...] = ()
    names: Names | None = None


@dataclass(frozen=True, slots=True)
class LoopReport:
    """What a loop came to.

    Args:
        rounds: rounds that were made.
        outcomes: what became of every call that reached the executor, in the model's order.
        reply: what the model answered, or why it stopped; empty when it could say nothing. With nothing that stopped
            it either, the work is done and the answer still to be made: a local model that asks only for what was done
            already has nothing left to do, and says so in no other way.
        stopped_by: empty for an answer; a limit (`rounds`, `model_calls`, `tokens`, `seconds`, `cost`, `context`),
            `repeating`, or `stop` for the model's own decision.
        waiting: a call needs a person; the run rests, and the loop goes on from the journal afterwards.
        error: the provider's error that ended it.
        usage: of all its model calls.
    """

    rounds: int
    outcomes: tuple[Outcome, ...] = ()
    reply: str = ""
    stopped_by: str = ""
    waiting: bool = False
    error: ProviderError | None = None
    usage: Usage = Usage()

    @property
    def said(self) -> bool:
        """It ended with an answer, or with what kept it from one."""
        return bool(self.reply or self.stopped_by or self.error)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls as the journal has them."""
        return tuple(outcome.call for outcome in self.outcomes)
