"""The authoring guide: how a flow is written, for people and for the model that plans one.

Its prose is guide.md, a template with a version; the steps and the limits in it come from their definitions.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import Any, Final

from surefoot.flows._data import limits
from surefoot.flows.steps import KINDS, Kind

_FIELD: Final = re.compile(r"(?<!\$)\{([a-z_]+)\}")
"""`{steps}` is a place to fill in; `${name}` is the language's own."""


@cache
def flow_guide() -> str:
    """The guide, Markdown in English: every kind of step, the rules, two whole examples."""
    _, text = _template()
    most = limits()
    fields = {
        "steps": "\n".join(map(_line, KINDS.values())),
        "most_steps": str(most.steps),
        "most_depth": str(most.depth),
        "most_rounds": str(most.rounds),
    }
    return _FIELD.sub(lambda place: fields[place.group(1)], text)


def guide_version() -> str:
    """The version of the guide's prose, to tell in a journal and in a cache's key what was asked."""
    return _template()[0]


def _template() -> tuple[str, str]:
    source = resources.files("surefoot.flows").joinpath("guide.md").read_text(encoding="utf-8")
    head, _, text = source.partition("\n---\n")
    return head.removeprefix("version:").strip(), text.strip() + "\n"


def _line(kind: Kind) -> str:
    """`- example: meaning.` The example shows the parts; of those that may be left out it is said."""
    optional = "".join(
        f" `{part.key}` is optional: {part.meaning}." for part in kind.parts if not part.required
    )
    return f"- `{_json(kind.example)}`: {kind.meaning}.{optional}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
