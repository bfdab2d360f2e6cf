"""What a loop's model may copy dates and names from, when a grammar binds what it writes.

A small model works dates out, and wrongly; bound to the words of the request and to what results show, it copies them
and the tools do the reckoning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefoot.models.types import Binding
from surefoot.planning.binding import bindings
from surefoot.planning.placeholders import texts_in


ROWS = 1
"""Of words in one date: without a plan's examples a small model fills more room with the same word again."""


class Copying:
    """Grows with what was said: the person's own words first, since only the first ones count when there are many."""

    def __init__(self, said: Sequence[str]) -> None:
        self._said = tuple(said)
        self._shown: dict[str, None] = {}

    def show(self, data: Any) -> None:
        """A result was shown to the model: its texts that hold a figure may be copied too.

        Not from a failure: its message may hold examples, and they are nobody's dates.
        """
        if not (isinstance(data, dict) and data.get("success")):
            return
        self._shown.update(dict.fromkeys(t for t in texts_in(data, keys=False) if any(map(str.isdigit, t))))

    def bindings(self, tools: Iterable[Any]) -> Mapping[str, Mapping[str, Binding]]:
        """What the tools' dates and said words may be; nothing is bound where nothing was said."""
        return bindings(tools, {}, [*self._said, *self._shown], ROWS) if self._said else {}
