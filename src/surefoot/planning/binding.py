"""What the arguments of a plan's calls may be, beyond their schemas: names of what there is, words that were said.

A grammar makes of it what a rule in a prompt cannot: no title that does not exist, no date that a small model worked
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefoot.models.types import Binding
from surefoot.planning.counts import counted

Options = Mapping[str, Mapping[str, Sequence[str] | None]]
"""By tool and argument, the names it can have now; None for any."""


def bindings(
    tools: Iterable[Any], options: Options, spans: Sequence[str], rows: int = 3
) -> dict[str, dict[str, Binding]]:
    """Bindings by tool and argument.

    Args:
        tools: the catalogue; `dates`, `said` and `aliases` of its tools are read.
        options: as the tools gave them for this moment.
        spans: texts that words may be copied from: first the request, then titles that a date may hang on.
        rows: rows of words that one argument may be put together from.
    """
    copied = Binding(spans=tuple(spans), rows=rows)
    found: dict[str, dict[str, Binding]] = {}
    for tool in tools:
        named = {
            key: Binding(texts=tuple(texts))
            for key, texts in options.get(tool.name, {}).items()
            if texts is not None
        }
        said = dict.fromkeys([*getattr(tool, "dates", ()), *getattr(tool, "said", ())], copied)
        lists = {key: Binding(items=items) for key, items in counted(tool, spans[0] if spans else "").items()}
        if named or said or lists:
            found[tool.name] = {**said, **lists, **named}
    return found
