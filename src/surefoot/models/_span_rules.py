"""Rules for words that are copied from a text, as they stand there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from surefoot.models._schema_rules import RuleBook, literal

MOST_WORDS = 200
"""Of the texts together: each word is a rule. A longer request is cut; its dates stand in its first hundred words."""
_EDGES = ",.;:!?¡¿()[]{}\"'“”„‘’«»…，。、；：！？（）「」『』"
"""Marks that belong to the sentence and not to the words: they may stand between two words, not around them."""
_UNSAID = re.compile(r'["\\\x00-\x1f\x7f<>\ud800-\udfff]')
"""What cannot be written in a JSON text without an escape, or begins a placeholder: no copy goes over it."""
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Kana and Han: nothing stands between words there, so each character may begin or end a copy."""
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_ELIDED = re.compile(r"(?:\w|qu)['’](?=\w)", re.IGNORECASE)


def spans_rule(book: RuleBook, texts: Sequence[str]) -> str:
    """The name of the rule for one or more words in a row of one of the texts; empty where there is no word."""
    starts: list[str] = []
    left = MOST_WORDS
    for text in texts:
        pieces = pieces_of(text)[:left]
        left -= len(pieces)
        follow = ""
        for word, gap in reversed(pieces):
            between = f"{literal(gap)} " if gap else ""
            more = f"({between}{follow})?" if follow and gap is not None else ""
            follow = book.add("word", f"{literal(word)} {more}".strip())
            starts.append(follow)
            if elided := _ELIDED.match(word):  # "d'aujourd'hui": its first word belongs to the one before
                starts.append(book.add("word", f"{literal(word[elided.end() :])} {more}".strip()))
    return book.add("span", " | ".join(dict.fromkeys(starts))) if starts else ""


def pieces_of(text: str) -> list[tuple[str, str | None]]:
    """The words of a text, each with what stands between it and the next; None where no copy crosses."""
    found: list[tuple[str, str | None]] = []
    matches = [match for match in _PIECE.finditer(text) if match.group().strip(_EDGES)]
    for number, match in enumerate(matches):
        word = match.group()
        core = _core(word)
        end = match.start() + word.index(core) + len(core)
        gap = None
        if number + 1 < len(matches):
            following = matches[number + 1]
            gap = text[end : following.start() + following.group().index(_core(following.group()))]
        if _UNSAID.search(core):
            if found:
                found[-1] = (found[-1][0], None)
            continue
        found.append((core, None if gap is None or _UNSAID.search(gap) else gap))
    return found


def _core(word: str) -> str:
    """The word without the marks around it; the full stop of an ordinal figure is part of it."""
    core = word.strip(_EDGES)
    dot = word[word.index(core) + len(core) :].startswith(".") if core else False
    return f"{core}." if dot and core.isdigit() else core
