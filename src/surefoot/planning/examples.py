"""Requests with the calls they mean, shown to a small model as earlier turns; data in `prompts/examples.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from surefoot.models.types import Message, ToolCall

_FILE: Final = "examples.toml"


@dataclass(frozen=True, slots=True)
class Example:
    """A request as a plan is asked for it, and the answer: calls, or prose when nothing is to be called."""

    request: str
    known: tuple[str, ...] = ()
    dialogue: tuple[Message, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    reply: str = ""

    @property
    def answer(self) -> Message:
        """The model's turn."""
        return Message("assistant", self.reply, self.calls)


def examples(names: Collection[str]) -> tuple[Example, ...]:
    """The examples whose tools are all among `names`, in their order; none at all when no call can be shown.

    Examples of prose alone would teach a model to call nothing.
    """
    fitting = tuple(one for one in _read() if all(call.name in names for call in one.calls))
    return fitting if any(one.calls for one in fitting) else ()


@lru_cache(maxsize=1)
def _read() -> tuple[Example, ...]:
    source = resources.files("surefoot.planning").joinpath("prompts", _FILE).read_text(encoding="utf-8")
    return tuple(_example(item) for item in tomllib.loads(source)["example"])


def _example(item: dict[str, Any]) -> Example:
    calls = item.get("calls", ())
    return Example(
        item["request"],
        tuple(item.get("known", ())),
        tuple(Message(turn["role"], turn["content"]) for turn in item.get("dialogue", ())),
        tuple(ToolCall(f"example.{n}", call["name"], call["arguments"]) for n, call in enumerate(calls, 1)),
        item.get("reply", ""),
    )
