"""Words in, words out: what every language model gets and gives, whoever provides it.

Adapters translate these types to their provider's wire format and back; nothing outside an adapter knows that format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for. `arguments` is always an object; `id` is made by us where the provider gives none.

    `extra` is what its provider wants back with the history and nobody else reads (JSON; Gemini's signatures).
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The call as JSON, `extra` left out where it is empty."""
        data: dict[str, Any] = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return {**data, "extra": self.extra} if self.extra else data


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. A `tool` message answers the call `tool_call_id` of the tool `name`."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The message as JSON, empty fields left out."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            data["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.tool_call_id:
            data["tool_call_id"] = self.tool_call_id
        if self.name:
            data["name"] = self.name
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Message:
        """The message that `to_dict` wrote."""
        calls = tuple(ToolCall(**call) for call in data.get("tool_calls", ()))
        return cls(
            data["role"], data.get("content", ""), calls, data.get("tool_call_id", ""), data.get("name", "")
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool. `parameters` is a JSON Schema object (2020-12), possibly without properties."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """`auto`: prose or calls; `required`: calls; `none`: prose; with `name`: exactly that tool."""

    mode: Literal["auto", "required", "none"] = "auto"
    name: str = ""


AUTO = ToolChoice("auto")
REQUIRED = ToolChoice("required")
NONE = ToolChoice("none")


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `cached_tokens` is the part of `prompt_tokens` that was not evaluated again.

    `cost` is in the account's currency, as the provider said it or by the prices it lists; None where it is unknown,
    which is not 0. In a sum it is what is known of it.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
            sum(known) if known else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """The usage as JSON; `Usage(**data)` reads it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "seconds": self.seconds,
            "cost": self.cost,
        }


@dataclass(frozen=True, slots=True)
class Binding:
    """What one argument of a tool may be: one of `texts`, or up to `rows` rows of words of `spans` as they stand there.

    With `items` it is a list of exactly so many, and nothing else is bound. A model that a grammar binds cannot write
    anything else there; others are not told.
    """

    texts: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    rows: int = 3
    items: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    At most one of `grammar`, `json_schema` and `tools` binds the answer. `only` narrows which of the tools may be
    called without changing the prompt (a grammar-bound model keeps its cached prefix). `placeholders` allows
    `<what it is, from step N>` wherever a value is. `purpose` names the call in the journal and picks the slot of a
    local model: `plan` and `resolve` share the planner's, everything else the reply's.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = AUTO
    only: tuple[str, ...] | None = None
    max_calls: int | None = None
    placeholders: bool = False
    bindings: Mapping[str, Mapping[str, Binding]] = field(default_factory=dict)
    """By tool and argument: what the argument may be beyond its schema."""
    grammar: str | None = None
    json_schema: dict[str, Any] | None = None
    json_object: bool = False
    """Any JSON object: asked for where the provider has such a format and nothing else binds, a wish elsewhere."""
    tools_shown: bool = False
    """The messages tell of the tools already: they bind the answer and are not written down again, by an adapter that
    writes them itself."""
    choices: tuple[str, ...] = ()
    """Answer with exactly one of these texts; `Completion.probabilities` has one number for each where it can."""
    max_tokens: int = 512
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    timeout: float | None = None
    num_ctx: int | None = None
    effort: Literal["", "minimal", "low", "medium", "high"] = ""
    """How much a reasoning model may think before it answers; empty: as it does by itself. Others do not hear of it."""
    purpose: str = "reply"


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer, gathered."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason = FinishReason.STOP
    usage: Usage = Usage()
    model: str = ""
    probabilities: tuple[float, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON, for the journal."""
        return {
            "text": self.text,
            "tool_calls": [call.to_dict() for call in self.tool_calls],
            "finish_reason": str(self.finish_reason),
            "usage": self.usage.to_dict(),
            "model": self.model,
            "probabilities": None if self.probabilities is None else list(self.probabilities),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Completion:
        """The answer that `to_dict` wrote."""
        chances = data.get("probabilities")
        return cls(
            data["text"],
            tuple(ToolCall(**call) for call in data["tool_calls"]),
            FinishReason(data["finish_reason"]),
            Usage(**data["usage"]),
            data["model"],
            None if chances is None else tuple(chances),
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a streamed answer: text as it comes; the last piece carries the whole `completion`."""

    text: str = ""
    completion: Completion | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What is true of this model, asked of its provider and not guessed.

    `encoding` is how a plan is asked for (see planning/encodings), chosen by what was measured for the family.
    `context_length` is in tokens, 0 where unknown. `local` models get the local limits and time-outs.
    """

    tools: bool = False
    json_schema: bool = False
    grammar: bool = False
    logprobs: bool = False
    context_length: int = 0
    family: str = ""
    encoding: Literal["own", "lines", "schema", "text"] = "text"
    local: bool = False


@runtime_checkable
class LanguageModel(Protocol):
    """One language model behind one protocol.

    Every method may raise a `ProviderError`; a refused answer is an error, never an empty text.
    """

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    async def capabilities(self) -> Capabilities:
        """What this model can do; asked once and kept."""
        ...

    async def complete(self, request: Request) -> Completion:
        """The whole answer. Streamed inside, so that a silent gateway does not end it."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Piece]:
        """The same answer in pieces; the last has the completion."""
        ...

    async def warm(self, request: Request, key: str) -> None:
        """Keep the state of this request's prompt ready as a prefix of others; may do nothing.

        A local model evaluates it once and keeps the state on disk under `key`, which covers what the caller's part of
        the prompt depends on (prompt version, catalogue); `purpose` picks the slot. Messages and tools count, and the
        messages must be the beginning of the later requests', usually the system message alone.
        """
        ...

    async def close(self) -> None:
        """Let go of the model. Calling it again does nothing."""
        ...
