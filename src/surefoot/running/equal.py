"""Equal calls: a read with no write since, or a write of the same plan or message, is made once."""

from __future__ import annotations

import asyncio

from surefoot.journal.codec import dump
from surefoot.journal.types import Call, CallStatus
from surefoot.tools.types import Effect


class EqualCalls:
    """What one session has called so far, by name and arguments."""

    def __init__(self) -> None:
        self._reads: dict[str, Call] = {}
        self._writes: dict[tuple[str, str], asyncio.Future[Call]] = {}

    async def earlier(self, call: Call, scope: str) -> Call | None:
        """An equal call that was done and answers this one too; an equal write under way is waited for."""
        if call.effect is Effect.READ:
            return self._reads.get(_same(call)) if self._reads else None
        pending = self._writes.get((scope, _same(call))) if self._writes else None
        found = await asyncio.shield(pending) if pending else None
        return found if found is not None and found.status is CallStatus.DONE else None

    def begin(self, call: Call, scope: str) -> asyncio.Future[Call] | None:
        """The call starts: what was read before a write does not count any more. Give what comes of it to `end`."""
        if call.effect is Effect.READ:
            return None
        self._reads.clear()
        pending: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        self._writes[scope, _same(call)] = pending
        return pending

    def end(self, pending: asyncio.Future[Call] | None, call: Call) -> None:
        """The call has ended, however it ended."""
        if pending is None:
            if call.status is CallStatus.DONE:
                self._reads[_same(call)] = call
            return
        self._reads.clear()
        if not pending.done():
            pending.set_result(call)

    def recall(self, call: Call, scope: str) -> None:
        """A call that an earlier part of the run made."""
        self.end(self.begin(call, scope), call)


def _same(call: Call) -> str:
    return f"{call.tool} {dump(call.arguments)}"
