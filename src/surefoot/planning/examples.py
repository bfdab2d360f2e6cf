"""Requests with the calls they mean, shown to a small model as earlier turns.

Those of `prompts/examples.toml` stand in the cached prefix and are the same for every request. Of those in
`prompts/example_pool.toml` the few that are most like a request stand right before it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from surefoot.models.types import Message, ToolCall
from surefoot.planning._data import table
from surefoot.planning.nearest import Nearness

_FILE: Final = "examples"
_POOL: Final = "example_pool"
NEAREST: Final = 2
"""Examples picked for a request. Each costs about 100 tokens of reading."""


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
    fitting = tuple(one for one in _read(_FILE) if _fits(one, names))
    return fitting if any(one.calls for one in fitting) else ()


def nearest(
    names: Collection[str], request: str, *, in_talk: bool, count: int = NEAREST
) -> tuple[Example, ...]:
    """The examples of the pool that are most like a request, the most like last, which is followed most closely.

    Args:
        names: the tools of the catalogue; examples of others are left out.
        request: what the person said.
        in_talk: there was a conversation before it; examples that point back into one are for these only.
        count: how many at most.
    """
    pool = _read(_POOL)
    among = [at for at, one in enumerate(pool) if _fits(one, names) and (in_talk or not one.dialogue)]
    if not any(pool[at].calls for at in among):
        return ()
    return tuple(pool[at] for at in reversed(_nearness().best(request, count, among)))


def _fits(one: Example, names: Collection[str]) -> bool:
    return all(call.name in names for call in one.calls)


@lru_cache(maxsize=1)
def _nearness() -> Nearness:
    return Nearness([one.request for one in _read(_POOL)])


@lru_cache(maxsize=2)
def _read(file: str) -> tuple[Example, ...]:
    return tuple(_example(item) for item in table(f"prompts/{file}")["example"])


def _example(item: dict[str, Any]) -> Example:
    calls = item.get("calls", ())
    return Example(
        item["request"],
        tuple(item.get("known", ())),
        tuple(Message(turn["role"], turn["content"]) for turn in item.get("dialogue", ())),
        tuple(ToolCall(f"example.{n}", call["name"], call["arguments"]) for n, call in enumerate(calls, 1)),
        item.get("reply", ""),
    )
