"""What a loop's model may copy dates and names from, when a grammar binds what it writes.

A small model works dates out, and wrongly; bound to the words of the request and to what results show, it copies them
and the tools do the reckoning.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from surefoot.models.types import Binding
from surefoot.planning.binding import Options, bindings
from surefoot.planning.placeholders import texts_in
from surefoot.running.executor import Outcome

ROWS = 1
"""Of words in one date: without a plan's examples a small model fills more room with the same word again."""

Names = Callable[[], Awaitable[Options]]
"""The names that arguments can have at this moment."""


class Copying:
    """Grows with what was said: the person's own words first, since only the first ones count when there are many.

    Args:
        said: the request, and what was said before it; empty where nothing is bound.
        names: asked for when a call named what does not exist. Until then names are free: a call may name what another
            call of the same message makes.
    """

    def __init__(self, said: Sequence[str], names: Names | None) -> None:
        self._said = tuple(said)
        self._names = names
        self._shown: dict[str, None] = {}
        self._options: Options = {}

    async def learn(self, outcomes: Iterable[Outcome]) -> None:
        """See whether a call named what is not there: a small model would name it again, whatever it is told."""
        if self._said and self._names and any(_named_nothing(outcome) for outcome in outcomes):
            self._options = {
                tool: {key: texts for key, texts in found.items() if texts}
                for tool, found in (await self._names()).items()
            }

    def show(self, data: Any) -> None:
        """A result was shown to the model: its texts that hold a figure may be copied too.

        Not from a failure: its message may hold examples, and they are nobody's dates.
        """
        if not (isinstance(data, dict) and data.get("success")):
            return
        self._shown.update(dict.fromkeys(t for t in texts_in(data, keys=False) if any(map(str.isdigit, t))))

    def bindings(self, tools: Iterable[Any]) -> Mapping[str, Mapping[str, Binding]]:
        """What the tools' dates and said words may be; nothing is bound where nothing was said."""
        return bindings(tools, self._options, [*self._said, *self._shown], ROWS) if self._said else {}


def _named_nothing(outcome: Outcome) -> bool:
    return bool((outcome.call.error or {}).get("details", {}).get("reason") == "not_found")
