"""What a plan may call: a tool, its effect, how it is taken back, and the context it runs in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

from surefoot.errors import MisuseError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.models.types import ToolSpec
    from surefoot.settings import Settings
    from surefoot.tools.arguments import ArgumentReader
    from surefoot.tools.dates import Moment


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"  # reversible: it has an undo
    EXTERNAL = "external"  # cannot be taken back


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does it: a person, an agent or a mission, by name or id."""

    kind: Literal["person", "agent", "mission"] = "agent"
    name: str = "surefoot"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Actor:
        """The actor that `str` wrote."""
        kind, _, name = text.partition(":")
        if kind not in {"person", "agent", "mission"}:
            return cls("agent", text)
        return cls(kind, name)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool may know of the run it serves. Clock and ids come from here, so that a resumed run repeats them.

    `tx` is the open transaction of a tool that runs on the writer thread: what it writes commits together with the
    journal's entry. `now` is aware, in the person's zone, and frozen at the start of the run.
    """

    run: str
    call: str
    actor: Actor
    now: datetime
    zone: str
    language: str
    settings: Settings
    tx: Connection | None = None
    services: Mapping[str, Any] = field(default_factory=dict)
    """What the person's program handed in: an HTTP client, an address policy."""

    def new_id(self, number: int = 0) -> str:
        """The `number`th new id of this call: 12 hex digits, the same again when the call is resumed."""
        return new_id(self.run, self.call, number)

    def within(self, tx: Connection | None) -> Context:
        """The same context inside this transaction."""
        return Context(
            self.run,
            self.call,
            self.actor,
            self.now,
            self.zone,
            self.language,
            self.settings,
            tx,
            self.services,
        )

    @property
    def open_tx(self) -> Connection:
        """The open transaction, for tools that must have one."""
        if self.tx is None:
            raise MisuseError(
                "This tool keeps its data in the journal's database, and it was called without one.",
                "Run it through the executor.",
            )
        return self.tx


def new_id(run: str, call: str, number: int = 0) -> str:
    """The `number`th new id of a call: 12 hex digits of a hash, so that a resumed call makes the same."""
    return hashlib.sha256(f"{run}/{call}/{number}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Undo:
    """How a `write` is taken back.

    `capture(ctx, arguments)` returns the state that the call touches, as JSON; it is called before and after the call
    and again before an undo. `restore(ctx, arguments, image)` sets that state: it is never a toggle, and setting the
    same image twice changes nothing. Both run where the tool runs. `version` changes when the meaning of an image
    does; an undo of another version is refused, never guessed. `ctx` is always the context of the call itself (its run
    and key), at an undo too: ids of new rows and what a name meant depend on it. `capture` does not raise because what
    it looks for is not there.
    """

    capture: Callable[..., Any]
    restore: Callable[..., Any]
    version: int = 1


class Look(Protocol):
    """What a tool may ask about a planned call: how a date reads, and what there is of a kind and title."""

    @property
    def read(self) -> Callable[[str], Moment | None]:
        """Reads a date in the person's zone and language; None where it is none."""
        ...

    @property
    def find(self) -> Callable[[str, str], Any]:
        """What there is of this kind and title (`title`, `text`); None where there is nothing."""
        ...

    @property
    def source(self) -> Callable[[str], Mapping[str, Any]]:
        """The arguments of the planned call that a placeholder takes its value from; empty where it is none."""
        ...

    @property
    def said(self) -> str:
        """The request."""
        ...


Where = Literal["writer", "thread", "loop"]


@dataclass(frozen=True)
class Tool:
    """A function a plan may call.

    `where` says how it runs: `writer` (sync, on the writer thread, with `ctx.tx`), `thread` (sync, in a worker
    thread) or `loop` (async). `aliases` are words in any language that the router ranks it by. `timeout` in seconds.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    effect: Effect
    fn: Callable[..., Any]
    kit: str = ""
    undo: Undo | None = None
    where: Where = "thread"
    wants_context: bool = False
    timeout: float | None = None
    aliases: tuple[str, ...] = ()
    dates: frozenset[str] = frozenset()
    """Arguments that are dates, copied from what the person said; a bound model can write nothing else there."""
    said: frozenset[str] = frozenset()
    """Other arguments that are copied so, such as places and tags."""
    options: Mapping[str, Callable[[Context], Sequence[str] | None]] = field(default_factory=dict)
    """For an argument that names something there is: the names it can have now, None for any. Called before a plan on
    the writer thread; a bound model can write only these, and cannot call the tool where there are none."""
    rather: Callable[[dict[str, Any], Look], tuple[str, dict[str, Any]] | None] | None = None
    """Tool and arguments of the call that is meant instead, where the arguments say so (a task at a clock time that is
    called an appointment), else None. Asked when a small model's plan is checked."""
    max_calls: int | None = None
    """Calls of it in one run; None: the default of the limits."""

    def invoke(self, ctx: Context, arguments: dict[str, Any]) -> Any:
        """Call the function; for an async tool this gives its coroutine."""
        return self.fn(ctx, **arguments) if self.wants_context else self.fn(**arguments)

    @property
    def spec(self) -> ToolSpec:
        """What a model is told of it."""
        from surefoot.models.types import ToolSpec

        return ToolSpec(self.name, self.description, self.parameters)

    @cached_property
    def reader(self) -> ArgumentReader:
        """Reads what a model wrote as arguments; compiled from `parameters` when first used."""
        from surefoot.tools.arguments import ArgumentReader

        return ArgumentReader(self.name, self.parameters)
