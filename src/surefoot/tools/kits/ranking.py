"""Which entries of feeds answer a question, each of them once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from surefoot.storage.words import may_be_prefix, query_words, words
from surefoot.tools.kits.feeds import Entry

TITLE_WEIGHT = 2.0
"""A word in the title says twice as much about an article as one in its summary."""

_TRACKING = re.compile(r"(?:^|&)(?:utm_\w+|fbclid|gclid)=[^&]*")
"""Of a query: who sent the reader. The same article comes with different ones from different feeds."""


def different(entries: Sequence[Entry]) -> list[Entry]:
    """Each article once: by its address, without what counts readers; by its title where it has none."""
    found: dict[str, Entry] = {}
    for entry in entries:
        found.setdefault(_identity(entry), entry)
    return list(found.values())


def _identity(entry: Entry) -> str:
    if not entry.url:
        return " ".join(words(entry.title)) or entry.title
    parts = urlsplit(entry.url)
    host = (parts.netloc or "").casefold().removeprefix("www.")
    return f"//{host}{parts.path.rstrip('/')}?{_TRACKING.sub('', parts.query).lstrip('&')}"


@dataclass(frozen=True, slots=True)
class _Scored:
    """An entry and how well it fits."""

    score: float
    entry: Entry


def ranked_by(query: str, entries: list[Entry]) -> list[Entry]:
    """Those that share words with the question: rare words weigh more, then the newest; all where it has no words."""
    asked = query_words(query)
    found = [_Scored(1.0, entry) for entry in entries] if not asked else _scored(asked, entries)
    found.sort(key=lambda one: (-round(one.score, 6), -_age_key(one.entry)))
    return [one.entry for one in found]


def _scored(asked: list[str], entries: list[Entry]) -> list[_Scored]:
    in_title = [shared(asked, entry.title) for entry in entries]
    in_text = [shared(asked, entry.summary) for entry in entries]
    holding = Counter(word for pair in zip(in_title, in_text, strict=True) for word in pair[0] | pair[1])
    weight = {word: math.log(1 + (len(entries) + 1) / (number + 1)) for word, number in holding.items()}
    scored = [
        _Scored(sum(weight[word] * (TITLE_WEIGHT if word in title else 1.0) for word in title | text), entry)
        for title, text, entry in zip(in_title, in_text, entries, strict=True)
    ]
    return [one for one in scored if one.score > 0]


def _age_key(entry: Entry) -> float:
    return entry.published.timestamp() if entry.published else -math.inf


def shared(asked: Sequence[str], text: str) -> set[str]:
    """Those of the words that stand in the text, whole or as the beginning of another."""
    there = set(words(text))
    return {
        word
        for word in asked
        if word in there or (may_be_prefix(word) and any(one.startswith(word) for one in there))
    }
