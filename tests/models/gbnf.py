"""A reader of the grammar notation, apart from llama.cpp's: it writes random sentences and says whether a text is one."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

Node = tuple[Any, ...]
"""`("text", str)`, `("class", negated, ranges)`, `("rule", name)`, `("all", [...])`, `("one", [...])`,
`("times", node, low, high)`."""

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<cls>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-zA-Z][a-zA-Z0-9-]*)'
    r"|(?P<times>\{\d+(?:,\d*)?\})|(?P<sign>[()|*+?]))"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
SAMPLE = "abz 09ÄßЖ中あ🙂'<>-.:/"


@dataclass
class Grammar:
    """Rules by name; `root` is where a sentence begins."""

    rules: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def parse(cls, source: str) -> Grammar:
        """The grammar of this text: one rule a line."""
        found = cls()
        for line in source.strip("\n").split("\n"):
            name, _, body = line.partition("::=")
            assert name.strip() not in found.rules, f"two rules {name}"
            found.rules[name.strip()] = _Parser(body).alternatives()
        return found

    def used(self) -> set[str]:
        """Names that some rule mentions."""
        return set(re.findall(r"\('rule', '([^']+)'\)", repr(self.rules)))

    def sentence(self, rng: random.Random, *, long: int = 3) -> str:
        """A random sentence; open repetitions run to `long` more than they must."""
        return self._write(self.rules["root"], rng, long, 0)

    def _write(self, node: Node, rng: random.Random, long: int, depth: int) -> str:
        kind = node[0]
        if kind == "text":
            return str(node[1])
        if kind == "class":
            return _character(node, rng)
        if kind == "rule":
            return self._write(self.rules[node[1]], rng, long, depth + 1)
        if kind == "all":
            return "".join(self._write(part, rng, long, depth) for part in node[1])
        if kind == "one":
            parts = node[1] if depth < 40 else [min(node[1], key=lambda part: len(repr(part)))]
            return self._write(rng.choice(parts), rng, long, depth)
        low, high = node[2], node[3]
        most = low if depth > 40 else min(low + long, low + long if high is None else high)
        return "".join(self._write(node[1], rng, long, depth) for _ in range(rng.randint(low, most)))

    def accepts(self, text: str) -> bool:
        """The text is a sentence."""
        return any(end == len(text) for end in self._ends(self.rules["root"], text, 0))

    def _ends(self, node: Node, text: str, at: int) -> set[int]:
        kind = node[0]
        if kind == "text":
            return {at + len(node[1])} if text.startswith(node[1], at) else set()
        if kind == "class":
            return {at + 1} if at < len(text) and _holds(node, text[at]) else set()
        if kind == "rule":
            return self._ends(self.rules[node[1]], text, at)
        if kind == "one":
            return set().union(*(self._ends(part, text, at) for part in node[1]))
        if kind == "all":
            ends = {at}
            for part in node[1]:
                ends = set().union(*(self._ends(part, text, one) for one in ends))
            return ends
        return self._repeated(node, text, at)

    def _repeated(self, node: Node, text: str, at: int) -> set[int]:
        ends, found, count = {at}, {at} if node[2] == 0 else set(), 0
        while ends and (node[3] is None or count < node[3]):
            ends = set().union(*(self._ends(node[1], text, one) for one in ends)) - found
            count += 1
            if count >= node[2]:
                found |= ends
        return found


class _Parser:
    def __init__(self, source: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while source[at:].strip():
            match = _TOKEN.match(source, at)
            assert match, f"cannot read {source[at : at + 40]!r}"
            self.tokens.append((str(match.lastgroup), str(match[str(match.lastgroup)])))
            at = match.end()

    def alternatives(self) -> Node:
        parts = [self.sequence()]
        while self.tokens and self.tokens[0][1] == "|" and self.tokens[0][0] == "sign":
            self.tokens.pop(0)
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else ("one", parts)

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.tokens and self.tokens[0] not in {("sign", "|"), ("sign", ")")}:
            kind, text = self.tokens.pop(0)
            if kind == "text":
                parts.append(("text", _unescape(text[1:-1])))
            elif kind == "cls":
                parts.append(_class(text[1:-1]))
            elif kind == "name":
                parts.append(("rule", text))
            elif text == "(":
                parts.append(self.alternatives())
                assert self.tokens.pop(0) == ("sign", ")")
            else:
                parts.append(_times(parts.pop(), text))
        return ("all", parts)


def _times(node: Node, text: str) -> Node:
    if text in "*+?":
        return ("times", node, 1 if text == "+" else 0, 1 if text == "?" else None)
    low, comma, high = text[1:-1].partition(",")
    return ("times", node, int(low), (int(high) if high else None) if comma else int(low))


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1].startswith("x"):
            return chr(int(match[1][1:], 16))
        return _ESCAPES.get(match[1], match[1])

    return re.sub(r"\\(x[0-9A-Fa-f]{2}|.)", one, text, flags=re.DOTALL)


def _class(text: str) -> Node:
    negated = text.startswith("^")
    items = re.findall(r"\\x[0-9A-Fa-f]{2}|\\.|[^\\]", text[1:] if negated else text)
    chars = [_unescape(item) for item in items]
    ranges, at = [], 0
    while at < len(chars):
        if at + 2 < len(chars) and items[at + 1] == "-":
            ranges.append((chars[at], chars[at + 2]))
            at += 3
        else:
            ranges.append((chars[at], chars[at]))
            at += 1
    return ("class", negated, tuple(ranges))


def _holds(node: Node, char: str) -> bool:
    return any(low <= char <= high for low, high in node[2]) is not node[1]


def _character(node: Node, rng: random.Random) -> str:
    if node[1]:
        return rng.choice([char for char in SAMPLE if _holds(node, char)])
    low, high = rng.choice(node[2])
    return chr(rng.randint(ord(low), ord(high)))
