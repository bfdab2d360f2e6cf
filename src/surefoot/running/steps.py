"""What is done once is not done again: every model call and every tool call of a run goes through here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Steps(Protocol):
    """Runs a piece of work under a key that is the same again when the run is resumed."""

    async def run(
        self, key: str, recall: Callable[[], Awaitable[T | None]], work: Callable[[], Awaitable[T]]
    ) -> T:
        """What `recall` finds in the journal, else what `work` comes to (it writes that to the journal itself).

        The journal is the one record of results; a durable engine may remember that a key is done, and never more.
        """
        ...


class JournalSteps:
    """The default: ask the journal first."""

    async def run(
        self, key: str, recall: Callable[[], Awaitable[T | None]], work: Callable[[], Awaitable[T]]
    ) -> T:
        """See `Steps.run`."""
        del key
        found = await recall()
        return await work() if found is None else found
