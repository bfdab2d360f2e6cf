"""The same call again: told to the model, and after several rounds of nothing else, the end of the loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from surefoot.journal.codec import dump
from surefoot.journal.types import Call, CallStatus
from surefoot.tools.types import Effect

MOST_ROUNDS = 3
"""Rounds in a row that bring nothing new before the loop ends: one is a slip, two a second try, three a circle."""


class Repeats:
    """What one loop has called so far.

    A write (or external call) that was done is not done a second time by the same loop, as an equal write is not done
    twice in one plan: a model that lost its place asks for it again, and two things a person wants differ in something.
    Equal reads are the executor's to merge; here they are only counted.
    """

    def __init__(self, earlier: Iterable[Call] = ()) -> None:
        self._done: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self.rounds = 0
        """Rounds in a row, up to the last one, in which every call was a repetition."""
        for call in earlier:
            self._keep(call, f"{call.tool} {dump(call.arguments)}", "earlier in this run")

    def held(self, tool: str, arguments: dict[str, Any]) -> str:
        """Why this call is not made again; empty when it may be."""
        when = self._done.get(f"{tool} {dump(arguments)}")
        if when is None:
            return ""
        return (
            f"{tool} was done with exactly these arguments {when}, and it was not done again. "
            "Go on with what is left, or answer."
        )

    def is_new(
        self, asked: str, arguments: dict[str, Any], call: Call, data: dict[str, Any], when: str
    ) -> bool:
        """Remember what came of a call; False when the same call brought the same before."""
        wanted, got = f"{asked} {dump(arguments)}", dump(data)
        self._keep(call, wanted, when)
        self._keep(call, f"{call.tool} {dump(call.arguments)}", when)
        before = self._seen.get(wanted)
        self._seen[wanted] = got
        return before != got

    def forget_results(self) -> None:
        """The model cannot see earlier results any more: the same result counts as new again."""
        self._seen.clear()

    def round_over(self, *, anything_new: bool) -> None:
        """A round has ended."""
        self.rounds = 0 if anything_new else self.rounds + 1

    @property
    def going_in_circles(self) -> bool:
        """Nothing new for too many rounds."""
        return self.rounds >= MOST_ROUNDS

    def _keep(self, call: Call, signature: str, when: str) -> None:
        if call.status is CallStatus.DONE and call.effect is not Effect.READ:
            self._done.setdefault(signature, when)
