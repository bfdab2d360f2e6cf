"""Things that the person has, as far as a plan needs to know them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing with a title. `kind` is the name that arguments have which name such a thing (`task`, `event`, `note`).

    `day` is when it is due or begins, in the person's zone; None where it has no date. `text` is what is written in it.
    """

    kind: str
    title: str
    day: date | None = None
    text: str = ""
