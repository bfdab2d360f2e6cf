"""A page as readable text, by selectolax.

Weighed: html.parser of the standard library needs no dependency, and takes quadratic time on many pages made for it,
which a page from outside may be; lxml and the readability ports build on libxml2's HTML 4 reading; html2text is GPL.
selectolax reads as browsers do (HTML 5) and is one wheel without further dependencies. It is quadratic in how deep a
page nests, so a page that nests deeper than any real one is refused before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.errors import ToolError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

INVISIBLE = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head", "dialog")
AROUND = ("nav", "footer", "aside", "form")
"""What stands around a page's own text; kept when nearly nothing is left without it."""
LITTLE = 200
"""Characters: with less, the page's text was in what was left out."""
# fmt: off
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "div", "dl", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol",
    "p", "pre", "section", "table", "tbody", "tfoot", "thead", "ul",
})
# fmt: on
LINES = frozenset({"br", "dd", "dt", "li", "tr"})
"""These end a line, and need none of their own before them."""
CELLS = frozenset({"td", "th"})

MAX_NESTING = 5_000
"""Open elements: browsers stop at 512; at 5,000 reading takes 50 ms, at 64,000 13 s."""
ENDS_BY_ITSELF = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "dd",
        "dt",
        "embed",
        "hr",
        "img",
        "input",
        "li",
        "link",
        "meta",
        "option",
        "p",
        "param",
        "source",
        "td",
        "th",
        "tr",
        "track",
        "wbr",
    }
)
"""Elements that need no end tag: their number says nothing of the depth."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30})")
_SPACE = re.compile(r"\s+")
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\n\s*\n\s*")
_HIDDEN = "[hidden], [aria-hidden=true]"


@dataclass(frozen=True, slots=True)
class Page:
    """Title and text."""

    title: str
    text: str


def page_of(html: str) -> Page:
    """The readable text of a page: its main part where it names one, without menus and scripts; ToolError."""
    from selectolax.lexbor import LexborHTMLParser

    if nesting(html) > MAX_NESTING:
        raise ToolError(f"The page nests deeper than {MAX_NESTING} elements.", "Fetch another page.")
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


def nesting(html: str) -> int:
    """How many elements are open at most, read roughly and in one pass."""
    depth = most = 0
    for match in _TAG.finditer(html):
        if match[2].lower() in ENDS_BY_ITSELF:
            continue
        depth = max(depth - 1, 0) if match[1] else depth + 1
        most = max(most, depth)
    return most


def _text(root: LexborNode | None) -> str:
    """The text of a node, a line for each block, without recursion: pages nest as deep as they like."""
    if root is None:
        return ""
    pieces: list[str] = []
    stack: list[tuple[Any, bool, bool]] = [(root, False, False)]
    while stack:
        node, kept, left = stack.pop()
        if left:
            pieces.append(_mark(node.tag))
        elif node.is_text_node:
            text = node.text_content or ""
            pieces.append(text if kept else _SPACE.sub(" ", text))
        else:
            pieces.append("\n" if node.tag in BLOCKS else "")
            kept = kept or node.tag == "pre"
            stack.append((node, kept, True))
            stack.extend((child, kept, False) for child in reversed(list(node.iter(include_text=True))))
    return "\n".join(line for line in tidy("".join(pieces)).split("\n") if line)


def _mark(tag: str | None) -> str:
    """What stands behind an element."""
    if tag in BLOCKS or tag in LINES:
        return "\n"
    return "\t" if tag in CELLS else ""


def tidy(text: str) -> str:
    """No runs of spaces, at most one empty line."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.splitlines())
    return _LINES.sub("\n\n", "\n".join(lines)).strip()
