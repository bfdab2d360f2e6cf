"""Text as it may be shown: nothing a model or a tool wrote can steer the terminal or hide what it says."""

from __future__ import annotations

import unicodedata
from functools import cache

KEPT = frozenset("\u200c\u200d")
"""Joiners: whole words of Persian and Hindi, and most family emoji, need them, and they hide nothing."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats (among them the ones that turn the writing direction), halves of pairs, other line ends."""

ELLIPSIS = "…"


def visible(text: str, keep: str = "") -> str:
    r"""The text with what cannot be seen written out (`\x1b`, `\u202e`); characters in `keep` stay."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(char if char in keep else _visible(char) for char in text)


@cache
def _visible(char: str) -> str:
    if char in KEPT or unicodedata.category(char) not in HIDDEN_CATEGORIES:
        return char
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or char.encode("unicode_escape").decode("ascii")


def amount(cost: float) -> str:
    """An amount of money without its currency, which providers do not say: `0.0123`, `1.5`, `0`, `1.2e-07`."""
    short = f"{cost:.6f}".rstrip("0").rstrip(".")
    return short if float(short) or not cost else f"{cost:.2g}"


def prose(text: str) -> str:
    """Text of several lines: line ends and tabs stay, everything else as `visible`."""
    return visible(text.replace("\r\n", "\n"), keep="\n\t")


def cells(text: str) -> int:
    """Columns that the text takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """The text in at most this many columns, with an ellipsis where something is left out."""
    if cells(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += cells(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + ELLIPSIS


def one_line(text: str, width: int = 0) -> str:
    """The text on one line, cut to a width where one is given."""
    joined = visible(" ".join(text.split()))
    return cut(joined, width) if width else joined


def folded(text: str, width: int) -> list[str]:
    """The text in lines of at most this many columns, broken between words, inside one only where it must."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _fold(paragraph, max(width, 1))
    return lines


def _fold(paragraph: str, width: int) -> list[str]:
    lines = [""]
    for word in _words(paragraph):
        if cells(lines[-1]) + cells(word.rstrip()) > width and lines[-1].strip():
            lines.append("")
        piece = word if lines[-1] else word.lstrip() if len(lines) > 1 else word
        while cells(piece.rstrip()) > width - cells(lines[-1]):
            head = _head(piece, width - cells(lines[-1]))
            lines[-1] += head
            lines.append("")
            piece = piece[len(head) :]
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _words(paragraph: str) -> list[str]:
    """Words with the spaces behind them; wide characters are words of their own, as lines may break between them."""
    found: list[str] = []
    word = ""
    for char in paragraph:
        starts = word.endswith(" ") and char != " "
        if word and (starts or (char != " " and (_wide(char) or _wide(word[-1])))):
            found.append(word)
            word = ""
        word += char
    return [*found, word] if word else found


def _wide(char: str) -> bool:
    return not char.isascii() and cells(char) > 1


def _head(text: str, width: int) -> str:
    used = 0
    for place, char in enumerate(text):
        used += cells(char)
        if used > width:
            return text[: max(place, 1)]
    return text
