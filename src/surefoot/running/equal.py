"""Equal calls: a read with no write since, or a write of the same plan or message, is made once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from surefoot.journal.codec import dump
from surefoot.journal.types import Call, CallStatus
from surefoot.tools.types import Effect


@dataclass(frozen=True, slots=True)
class Begun:
    """A call under way. `changes`: how much was written before it. `pending`: who makes an equal write waits for it."""

    changes: int
    pending: asyncio.Future[Call] | None = None


class EqualCalls:
    """What one session has called so far, by name and arguments."""

    def __init__(self) -> None:
        self._reads: dict[str, Call] = {}
        self._writes: dict[tuple[str, str], asyncio.Future[Call]] = {}
        self._changes = 0

    async def earlier(self, call: Call, scope: str) -> Call | None:
        """An equal call that was done and answers this one too; an equal write under way is waited for."""
        if call.effect is Effect.READ:
            return self._reads.get(_same(call)) if self._reads else None
        seen = None
        while self._writes and (pending := self._writes.get((scope, _same(call)))) is not seen:
            found = await asyncio.shield(pending) if pending else None
            if found is not None and found.status is CallStatus.DONE:
                return found
            seen = pending  # it failed; somebody who waited beside us may have begun it anew
        return None

    def begin(self, call: Call, scope: str) -> Begun:
        """The call starts: what was read before a write does not count any more. Give what comes of it to `end`."""
        if call.effect is Effect.READ:
            return Begun(self._changes)
        self._changed()
        pending: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        self._writes[scope, _same(call)] = pending
        return Begun(self._changes, pending)

    def end(self, begun: Begun, call: Call) -> None:
        """The call has ended, however it ended. A read that something was written beside may show either state."""
        if begun.pending is None:
            if call.status is CallStatus.DONE and begun.changes == self._changes:
                self._reads[_same(call)] = call
            return
        self._changed()
        if not begun.pending.done():
            begun.pending.set_result(call)

    def _changed(self) -> None:
        self._changes += 1
        self._reads.clear()

    def recall(self, call: Call, scope: str) -> None:
        """A call that an earlier part of the run made."""
        self.end(self.begin(call, scope), call)


def _same(call: Call) -> str:
    return f"{call.tool} {dump(call.arguments)}"
