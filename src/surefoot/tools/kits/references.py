"""Which thing a person means by a name: the exact one, else the only close one, else a question back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, select

from surefoot.errors import ToolError
from surefoot.storage import Prepared
from surefoot.storage.words import query_words, words
from surefoot.tools.kits.tables import kit_targets

if TYPE_CHECKING:
    from surefoot.tools.types import Context

Candidate = tuple[str, str]
"""Id and title."""

SAME_WORDS = 92.0
"""Score of a title that holds every word of the reference ("milk" for "Buy milk")."""
CLOSE = 80.0
"""Similarity (0 to 100) from which a name counts as a misspelling of the title: one letter in five may differ."""
APART = 6.0
"""By how much the best must lead: with less the two are equally likely."""
NEAR = 50.0
"""From here a title is worth showing as a suggestion."""
MIN_LETTERS = 3
"""A shorter reference ("a") says too little to be matched by its words; two characters do in Chinese and Japanese."""
SHOWN = 5
LONGEST_KEY = 2_000
"""Bytes: an entry of PostgreSQL's indexes has 2,704."""

_OF_CALL = (
    kit_targets.c.run == bindparam("of_run"),
    kit_targets.c.call == bindparam("of_call"),
    kit_targets.c.reference == bindparam("text"),
)
_KNOWN = Prepared(select(kit_targets.c.row).where(*_OF_CALL))
_FORGET = Prepared(delete(kit_targets).where(*_OF_CALL))
_RECORD = Prepared.insert(kit_targets)


def remembered(
    ctx: Context,
    kind: str,
    reference: str,
    find: Callable[[], str],
    lives: Callable[[str], bool] | None = None,
) -> str:
    """What this call means by the reference: found once, and the same for its whole life, its undo included.

    A rename by the call itself, or a later row of the same name, must not change what its images are taken of. With
    `lives`, something that is gone by now is looked for again.
    """
    tx = ctx.open_tx
    place = {
        "of_run": ctx.run,
        "of_call": ctx.call,
        "text": _key(kind, reference),
    }
    known = _KNOWN.row(tx, **place)
    if known is not None and (lives is None or lives(str(known[0]))):
        return str(known[0])
    found = find()
    if known is not None:
        _FORGET.run(tx, **place)
    _RECORD.run(tx, run=ctx.run, call=ctx.call, reference=place["text"], row=found)
    return found


def _key(kind: str, reference: str) -> str:
    """What stands for the reference in the table's key, which holds no more than a title's length."""
    data = reference.encode("utf-8", "replace").replace(b"\0", b"?")
    if len(data) <= LONGEST_KEY:
        return f"{kind}:{data.decode()}"
    return f"{kind}:sha256:{hashlib.sha256(data).hexdigest()}"


def choose(kind: str, reference: str, known: Sequence[Candidate]) -> str:
    """The id of the one that is meant.

    Raises:
        ToolError: nothing or several things fit; details hold `candidates`.
    """
    wanted = fold(reference)
    if not wanted:
        raise ToolError(f"No {kind} is named.", f"Name a {kind} by its title or id.")
    exact = [one for one in known if fold(one[1]) == wanted]
    if len(exact) == 1:
        return exact[0][0]
    if exact:
        raise _ambiguous(kind, reference, exact)
    scored = sorted(((score(wanted, title), row_id, title) for row_id, title in known), reverse=True)
    fitting = [(number, row_id, title) for number, row_id, title in scored if number >= CLOSE]
    if not fitting:
        raise _missing(kind, reference, [one for one in scored if one[0] >= NEAR])
    rivals = [one for one in fitting if one[0] > fitting[0][0] - APART]
    if len(rivals) > 1:
        raise _ambiguous(kind, reference, [(row_id, title) for _, row_id, title in rivals])
    return fitting[0][1]


def fold(text: str) -> str:
    """A name without case, quotes and spaces around it."""
    return " ".join(text.casefold().split()).strip("\"'“”‘’«»„`")


def score(wanted: str, title: str) -> float:
    """How well a title fits a folded reference, 0 to 100."""
    from rapidfuzz import fuzz

    folded = fold(title)
    asked = query_words(wanted)
    held = set(words(folded))
    long_enough = len(wanted) >= MIN_LETTERS or (
        len(asked) == 1 and asked[0] in held and not asked[0].isascii()
    )
    if asked and long_enough and all(word in held for word in asked):
        return SAME_WORDS
    return fuzz.ratio(wanted, folded)


def _ambiguous(kind: str, reference: str, found: Sequence[Candidate]) -> ToolError:
    return ToolError(
        f"Several {kind}s fit {reference!r}: {_names(found)}.",
        "Name one by its id.",
        candidates=_candidates(found),
        reason="ambiguous",
    )


def _missing(kind: str, reference: str, near: Sequence[tuple[float, str, str]]) -> ToolError:
    found = [(row_id, title) for _, row_id, title in near[:SHOWN]]
    return ToolError(
        f"There is no {kind} {reference!r}.",
        f"Nearest: {_names(found)}." if found else f"List the {kind}s to see their titles.",
        candidates=_candidates(found),
        reason="not_found",
    )


def _names(found: Sequence[Candidate]) -> str:
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(f'"{title}" ({row_id})' for row_id, title in found[:SHOWN]) + more


def _candidates(found: Sequence[Candidate]) -> list[dict[str, str]]:
    return [{"id": row_id, "title": title} for row_id, title in found[:SHOWN]]
