"""A page as readable text, by selectolax.

Weighed: html.parser of the standard library needs no dependency, and takes quadratic time on pages made for it, which a
page from outside may be; lxml and the readability ports build on libxml2's HTML 4 reading; html2text is GPL. selectolax
reads as browsers do (HTML 5), in linear time, and is one wheel without further dependencies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

INVISIBLE = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head", "dialog")
AROUND = ("nav", "footer", "aside", "form")
"""What stands around a page's own text; kept when nearly nothing is left without it."""
LITTLE = 200
"""Characters: with less, the page's text was in what was left out."""
# fmt: off
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol",
    "p", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
})
# fmt: on
CELLS = frozenset({"td", "th"})

_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\n\s*\n\s*")
_HIDDEN = "[hidden], [aria-hidden=true]"


@dataclass(frozen=True, slots=True)
class Page:
    """Title and text."""

    title: str
    text: str


def page_of(html: str) -> Page:
    """The readable text of a page: its main part where it names one, without menus and scripts."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    title_node = tree.css_first("title")
    title = " ".join(title_node.text().split()) if title_node else ""
    tree.strip_tags(list(INVISIBLE))
    for node in tree.css(_HIDDEN):
        node.decompose()
    whole = _text(tree.body)
    tree.strip_tags(list(AROUND))
    own = _text(tree.css_first("main, article, [role=main]") or tree.body)
    return Page(title, own if len(own) >= LITTLE or len(own) * 2 >= len(whole) else whole)


def _text(root: LexborNode | None) -> str:
    """The text of a node, a line for each block, without recursion: pages nest as deep as they like."""
    if root is None:
        return ""
    pieces: list[str] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, seen = stack.pop()
        if node.is_text_node:
            pieces.append(node.text_content or "")
            continue
        mark = "\n" if node.tag in BLOCKS else "\t" if node.tag in CELLS else ""
        pieces.append(mark)
        if not seen:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(node.iter(include_text=True))))
    return tidy("".join(pieces))


def tidy(text: str) -> str:
    """No runs of spaces, at most one empty line."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.splitlines())
    return _LINES.sub("\n\n", "\n".join(lines)).strip()
