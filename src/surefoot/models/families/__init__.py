"""Facts about model families: how a family is told of tools, how it writes a call, which encoding plans best.

A family is known by what the model's own file says of it. What is not known is not guessed: such a model has no tools.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.models.grammar import CallForm
    from surefoot.models.types import Message, ToolCall, ToolSpec

_MARK = re.compile(r"<(?=\|[a-z_]+\|>)")
"""Where a control mark would begin; most families since ChatML write theirs this way."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model file says of itself. `context_length` is what it was trained with, in tokens."""

    architecture: str = ""
    name: str = ""
    chat_template: str = ""
    context_length: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, read: the prose around the calls, and the calls in their order."""

    text: str
    calls: tuple[ToolCall, ...] = ()


class Family(Protocol):
    """One family's way with words."""

    @property
    def name(self) -> str:
        """The family's name, for people and for keys."""
        ...

    @property
    def encoding(self) -> Literal["own", "lines", "schema", "text"]:
        """How a plan is best asked for; the figures stand in the family's file."""
        ...

    @property
    def form(self) -> CallForm:
        """How it writes calls."""
        ...

    def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, answer: bool = True) -> str:
        """The conversation as the model reads it; with `answer` it ends where the model's turn begins."""
        ...

    def read(self, text: str) -> Reading:
        """What the model wrote. MalformedCallError: a call that cannot be read."""
        ...


def neutral(text: str) -> str:
    """`text` with control marks of templates (`<|im_start|>`) broken up: nobody's text can open a turn of its own."""
    return _MARK.sub("< ", text)


def family_of(facts: ModelFacts) -> Family | None:
    """The family of a model, None where it is not known."""
    from surefoot.models.families import qwen2_5

    return qwen2_5.FAMILY if qwen2_5.fits(facts) else None
