"""What a task in plain words asks for, by the checker's own lists of words."""

from __future__ import annotations

from surefoot.flows._consequences import acts_said
from surefoot.flows._options import criterion_said


def acts_in(text: str) -> frozenset[str]:
    """Which acts that cannot be taken back the text speaks of: `pay`, `send`, `delete`, `submit`."""
    return acts_said(text)


def ranks(text: str) -> bool:
    """The text asks for the best by a criterion: the cheapest, the earliest, the best rated."""
    return criterion_said(text)
