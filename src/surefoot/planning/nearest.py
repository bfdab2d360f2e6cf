"""Which examples are most like a request: by pieces of words, so that language and wording both count.

No model and no vectors: a request shares "verschieb", "auf", "uhr" with the requests that mean the same kind of call.
The second example is chosen for what the first one does not cover, so a request of two wishes gets an example of each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from surefoot.storage.words import query_words

PIECE: Final = 4
"""Letters of a piece: shorter ones say little, longer ones miss inflected forms."""


class Nearness:
    """Finds the texts that are most like another one. Built once for a list of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [_pieces(text) for text in texts]
        counts = Counter(piece for pieces in self._texts for piece in pieces)
        self._weights = {piece: math.log((1 + len(texts)) / count) for piece, count in counts.items()}
        self._sizes = [math.sqrt(sum(self._weights[p] ** 2 for p in pieces)) or 1.0 for pieces in self._texts]

    def best(self, text: str, count: int, among: Sequence[int]) -> list[int]:
        """Places of at most `count` texts, the most like first; each counts what those before it did not share."""
        left = _pieces(text) & self._weights.keys()
        chosen: list[int] = []
        while len(chosen) < count and left:
            score, place = max(
                ((self._score(left, at), -at) for at in among if at not in chosen), default=(0.0, 0)
            )
            if score <= 0:
                break
            chosen.append(-place)
            left = left - self._texts[-place]
        return chosen

    def _score(self, pieces: frozenset[str], at: int) -> float:
        return sum(self._weights[p] ** 2 for p in pieces & self._texts[at]) / self._sizes[at]


@lru_cache(maxsize=256)
def _pieces(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in query_words(text):
        found.add(word)
        padded = f" {word} "
        found.update(padded[at : at + PIECE] for at in range(len(padded) - PIECE + 1))
    return frozenset(found)
