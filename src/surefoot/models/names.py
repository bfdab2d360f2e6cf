"""Tool names as providers allow them, there and back, without two names falling together."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LIMIT = 64
"""Characters of a name; OpenAI, and every server that speaks its format, refuses more."""

_ALLOWED = re.compile(rf"[a-zA-Z0-9_-]{{1,{LIMIT}}}")
_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_DIGITS = 8
"""Hex digits of the mark that tells two names apart."""


class ToolNames:
    """The names of one request's tools, mapped to `^[a-zA-Z0-9_-]{1,64}$` and back.

    A name that is allowed stays as it is. Of the others, one whose plain form is free gets that (`a.b` → `a_b`); where
    it is not (`tool.name` beside `tool_name`), the form ends with a mark made from the name. The mapping depends on
    the set of names and not on their order.
    """

    def __init__(self, names: Iterable[str]) -> None:
        known = set(names)
        self._outward = {name: name for name in known if _ALLOWED.fullmatch(name)}
        others = sorted(known - self._outward.keys())
        plain = {name: _OTHER.sub("_", name)[:LIMIT] for name in others}
        wanted = [*self._outward, *plain.values()]
        taken = set(self._outward)
        for name in others:
            free = plain[name] != "" and wanted.count(plain[name]) == 1
            outward = plain[name] if free else _marked(name, plain[name], taken | set(plain.values()))
            taken.add(outward)
            self._outward[name] = outward
        self._inward = {outward: name for name, outward in self._outward.items()}

    def outward(self, name: str) -> str:
        """The name as the provider gets it. A name that was not given is made allowed, but may meet another."""
        return self._outward.get(name) or _marked_unless_allowed(name)

    def inward(self, name: str) -> str:
        """Our name for what the provider answered; a name nobody gave stays as it is, for the caller to refuse."""
        return self._inward.get(name, name)


def _marked(name: str, plain: str, taken: set[str]) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    for count in range(_DIGITS, len(digest) + 1):
        outward = f"{plain[: LIMIT - count - 1]}_{digest[:count]}"
        if outward not in taken:
            return outward
    raise AssertionError(
        f"no free name for {name!r}"
    )  # pragma: no cover - 57 names would have to be guessed hashes


def _marked_unless_allowed(name: str) -> str:
    return name if _ALLOWED.fullmatch(name) else _marked(name, _OTHER.sub("_", name), set())
