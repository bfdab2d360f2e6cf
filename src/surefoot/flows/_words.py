"""Words of six languages found in a text: the text folded and parted once, each word looked up once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from surefoot.flows.variables import without_names

_WORD: Final = re.compile(r"[^\s.,;:!?\"'‘’()\[\]{}<>…„“”«»।、。「」『』・/&+|\-–—_#*=]+")
_MARKS: Final = re.compile("[\u0300-\u036f]")
_TIGHT: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write words without blanks between them, or with their endings on."""


def folded(text: str) -> str:
    """The text without case, width and Latin accents."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain).casefold()


def words_of(text: str) -> list[str]:
    """The words the author wrote, folded; `${...}` is none of them."""
    return _WORD.findall(folded(without_names(text)))


class Finder:
    """Finds which classes of words a text has. Built once from lists of phrases; see words.toml for their marks."""

    def __init__(self, classes: Mapping[str, Iterable[str]], harmless: Iterable[str] = ()) -> None:
        self._spaced: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
        self._tight: list[tuple[str, str]] = []
        for name, phrases in classes.items():
            for phrase in phrases:
                self._add(phrase, name)
        self._harmless = Finder({"harmless": harmless}) if harmless else None

    def _add(self, phrase: str, name: str) -> None:
        if _TIGHT.search(phrase):
            self._tight.append((folded(phrase), name))
            return
        anchor = phrase[0] if phrase[0] == "^" else phrase[-1] if phrase[-1] == "$" else ""
        words = tuple(words_of(phrase.strip("^$")))
        self._spaced.setdefault(words[0], []).append((words, name, anchor))

    def classes(self, text: str) -> set[str]:
        """The classes whose words stand in the text, what is harmless taken out first."""
        words = words_of(text)
        found: set[str] = set()
        if not self._spaced.keys().isdisjoint(words):
            kept = self._harmless.without(words) if self._harmless else words
            found = {name for _, _, name in self._matches(kept)}
        if self._tight and not text.isascii():
            plain = folded(without_names(text))
            if self._harmless:
                for phrase, _ in self._harmless._tight:  # noqa: SLF001 - the same class
                    plain = plain.replace(phrase, " ")
            found.update(name for phrase, name in self._tight if phrase in plain)
        return found

    def without(self, words: list[str]) -> list[str]:
        """The words without those of the phrases; what stood before and behind one does not become neighbours."""
        kept: list[str] = []
        at = 0
        ends = {start: end for start, end, _ in sorted(self._matches(words))}
        while at < len(words):
            if at in ends:
                kept.append("")
                at = ends[at]
            else:
                kept.append(words[at])
                at += 1
        return kept

    def _matches(self, words: list[str]) -> Iterable[tuple[int, int, str]]:
        for at, word in enumerate(words):
            for phrase, name, anchor in self._spaced.get(word, ()):
                end = at + len(phrase)
                if (anchor == "^" and at) or (anchor == "$" and end != len(words)):
                    continue
                if tuple(words[at:end]) == phrase:
                    yield at, end, name
