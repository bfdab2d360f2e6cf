"""OpenTelemetry spans of runs, derived from the events of the journal (docs/watching.md shows them).

Names and attributes follow the semantic conventions for generative AI, version 0.1.0
(https://github.com/open-telemetry/semantic-conventions-genai): `invoke_agent surefoot` for a piece of work on a run,
and under it `chat MODEL` for every model call and `execute_tool TOOL` for every tool call. What was said, arguments
and results are left out unless asked for, and masked in any case. Only the API is used: where spans go, and whether
they go anywhere, the program decides with the SDK of its choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from surefoot import redaction
from surefoot.events import Event, EventType
from surefoot.journal.codec import dump
from surefoot.journal.types import RunStatus
from surefoot.running import watching

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer, TracerProvider

AGENT = "surefoot"

PROVIDERS: Mapping[str, str] = {"gemini": "gcp.gemini"}
"""Our names of providers for which the conventions have another; the rest are the same, or have none there."""

IN_PROCESS = frozenset({"local"})
"""Providers whose models run in this process: their spans are internal ones."""

UNKNOWN = "unknown"
"""A tool that does not exist: the name that a model made up is text of the model's, and there is no end of them."""

_UNENDED = "_OTHER"
"""`error.type` of a call whose end never came, in the conventions' own word for an error without a name."""


# --- one for the process --------------------------------------------------------------------------------------

_running: list[watching.Unwatch] = []


def start(*, content: bool = False, provider: TracerProvider | None = None) -> bool:
    """Make spans of every run of this process from now on; False where opentelemetry-api is not installed.

    Args:
        content: write messages, arguments and results into the spans.
        provider: where spans are made; by default the program's global one. Called again, nothing changes.
    """
    if _running:
        return True
    try:
        from opentelemetry import trace
    except ImportError:
        return False
    tracer = trace.get_tracer(AGENT, _version(), tracer_provider=provider)
    _running.append(watching.watch(lambda watched: _RunTrace(tracer, watched, content=content)))
    return True


def stop() -> None:
    """Make no more spans of runs that begin now."""
    while _running:
        _running.pop()()


# --- one piece of work on a run -------------------------------------------------------------------------------


@dataclass
class _Usage:
    """Tokens of the calls so far."""

    input: int = 0
    cached: int = 0
    output: int = 0

    def add(self, data: Mapping[str, Any]) -> _Usage:
        return _Usage(
            self.input + data.get("prompt_tokens", 0),
            self.cached + data.get("cached_tokens", 0),
            self.output + data.get("output_tokens", 0),
        )

    def attributes(self) -> dict[str, Any]:
        return {
            "gen_ai.usage.input_tokens": self.input,
            "gen_ai.usage.output_tokens": self.output,
            **({"gen_ai.usage.cache_read.input_tokens": self.cached} if self.cached else {}),
        }


@dataclass
class _RunTrace:
    """Makes the spans of one piece of work on a run. Their times are those of the journal."""

    tracer: Tracer
    watched: watching.Watched
    content: bool
    _span: Span | None = None
    _calls: dict[str, Span] = field(default_factory=dict)
    _usage: _Usage = field(default_factory=_Usage)
    _reply: str = ""
    _named: bool = False

    def happened(self, event: Event, *, fresh: bool, said: watching.Said = ()) -> None:
        """See `RunWatcher.happened`."""
        if not fresh or event.at is None or (self._span is None and not watching.begins(event)):
            return
        self._begin(event.at)
        tell = _TOLD.get(event.type)
        if tell is not None:
            tell(self, event, event.at, said)

    def provider_failed(self, failure: watching.ProviderFailure) -> None:
        """See `RunWatcher.provider_failed`."""
        self._begin(failure.began)
        provider, model = _names(failure.model)
        data = {"surefoot.purpose": failure.purpose, "surefoot.model_call": failure.key}
        span = self._child(
            f"chat {model}", failure.began, self._chat(provider, model) | data, _kind(provider)
        )
        _fail(span, failure.code, failure.message if self.content else "")
        span.end(_nanoseconds(failure.ended))

    # --- the run ---------------------------------------------------------------------------------------------

    def _begin(self, at: datetime) -> None:
        if self._span is None:
            self._span = self.tracer.start_span(
                f"invoke_agent {AGENT}", start_time=_nanoseconds(at), attributes=self._run_attributes()
            )

    def _run_attributes(self) -> dict[str, Any]:
        run = self.watched.run
        found: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.version": _version(),
            **self._conversation(),
            "surefoot.run.id": run.id,
            "surefoot.run.kind": run.kind,
        }
        if self.content:
            found["gen_ai.input.messages"] = _text([_message({"role": "user", "content": run.goal})])
        return found

    def _conversation(self) -> dict[str, str]:
        dialogue = self.watched.run.context.get("dialogue", "")
        return {"gen_ai.conversation.id": str(dialogue)} if dialogue else {}

    def replied(self, event: Event, at: datetime, said: watching.Said) -> None:
        del at, said
        self._reply = str(event.data.get("text", ""))

    def status(self, event: Event, at: datetime, said: watching.Said) -> None:
        del said
        if not watching.rests(event) or self._span is None:
            return
        for span in self._calls.values():
            _fail(span, _UNENDED, "")
            span.end(_nanoseconds(at))
        self._calls.clear()
        status, error = RunStatus(event.data["status"]), event.data.get("error") or {}
        self._span.set_attributes({**self._usage.attributes(), "surefoot.run.status": str(status)})
        for name in ("incomplete", "stopped_by"):
            if event.data.get(name):
                self._span.set_attribute(f"surefoot.run.{name}", event.data[name])
        if self.content and self._reply:
            answer = [_message({"role": "assistant", "content": self._reply}) | {"finish_reason": "stop"}]
            self._span.set_attribute("gen_ai.output.messages", _text(answer))
        if status in {RunStatus.FAILED, RunStatus.CANCELLED}:
            code = str(error.get("code") or status)
            _fail(self._span, code, str(error.get("message", "")) if self.content else "")
        self._span.end(_nanoseconds(at))

    # --- model calls -----------------------------------------------------------------------------------------

    def asked(self, event: Event, at: datetime, said: watching.Said) -> None:
        data = event.data
        provider, model = _names(str(data.get("asked") or data["model"]))
        attributes = {
            **self._chat(provider, model),
            "gen_ai.response.model": _names(str(data["model"]))[1],
            "gen_ai.response.finish_reasons": [_finish(str(data.get("finish", "stop")))],
            **_Usage().add(data).attributes(),
            "surefoot.purpose": data["purpose"],
            "surefoot.model_call": str(data.get("key", "")),
        }
        if said:
            attributes["gen_ai.input.messages"] = _text([_message(one) for one in said[:-1]])
            answer = _message(said[-1]) | {"finish_reason": _finish(str(data.get("finish", "stop")))}
            attributes["gen_ai.output.messages"] = _text([answer])
        began = at - timedelta(seconds=float(data.get("seconds", 0.0)))
        self._child(f"chat {model}", began, attributes, _kind(provider)).end(_nanoseconds(at))
        self._usage = self._usage.add(data)

    def _chat(self, provider: str, model: str) -> dict[str, Any]:
        """What every chat span has; the run's span names the first model that was asked."""
        if not self._named and self._span is not None:
            self._span.set_attribute("gen_ai.provider.name", PROVIDERS.get(provider, provider))
            self._span.set_attribute("gen_ai.request.model", model)
            self._named = True
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model,
            **self._conversation(),
        }

    # --- tool calls ------------------------------------------------------------------------------------------

    def call_begun(self, event: Event, at: datetime, said: watching.Said) -> None:
        del said
        self._calls[event.data["call"]] = self._call_span(event, at)

    def _call_span(self, event: Event, at: datetime) -> Span:
        tool = self.watched.tool(str(event.data.get("tool", "")))
        name = UNKNOWN if tool is None else tool.name
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": event.data["call"],
            "gen_ai.tool.type": "function",
            **self._conversation(),
        }
        if tool is not None:
            attributes |= {"gen_ai.tool.description": tool.description, "surefoot.effect": str(tool.effect)}
        if self.content and "arguments" in event.data:
            attributes["gen_ai.tool.call.arguments"] = _text(event.data["arguments"])
        return self._child(f"execute_tool {name}", at, attributes)

    def call_ended(self, event: Event, at: datetime, said: watching.Said) -> None:
        del said
        span = self._calls.pop(event.data["call"], None) or self._call_span(event, at)
        data, error = event.data, event.data.get("error") or {}
        if event.type is EventType.CALL_DONE:
            if data.get("merged_into") is not None:
                span.set_attribute("surefoot.merged_into", data["merged_into"])
            if self.content:
                span.set_attribute("gen_ai.tool.call.result", _text(data.get("result")))
        else:
            code = str(error.get("code") or event.type.removeprefix("call."))
            _fail(span, code, str(error.get("message", "")) if self.content else "")
        span.end(_nanoseconds(at))

    def _child(
        self, name: str, at: datetime, attributes: Mapping[str, Any], kind: SpanKind | None = None
    ) -> Span:
        from opentelemetry.trace import SpanKind, set_span_in_context

        assert self._span is not None  # noqa: S101 - every way here has begun it
        parent = set_span_in_context(self._span)
        return self.tracer.start_span(
            name, parent, kind or SpanKind.INTERNAL, dict(attributes), start_time=_nanoseconds(at)
        )


_TOLD: Mapping[EventType, Callable[[_RunTrace, Event, datetime, watching.Said], None]] = {
    EventType.RUN_STATUS: _RunTrace.status,
    EventType.REPLY: _RunTrace.replied,
    EventType.MODEL_CALLED: _RunTrace.asked,
    EventType.CALL_INTENDED: _RunTrace.call_begun,
    EventType.CALL_DONE: _RunTrace.call_ended,
    EventType.CALL_FAILED: _RunTrace.call_ended,
    EventType.CALL_REFUSED: _RunTrace.call_ended,
    EventType.CALL_INTERRUPTED: _RunTrace.call_ended,
    EventType.CALL_UNKNOWN: _RunTrace.call_ended,
}


# --- values ---------------------------------------------------------------------------------------------------


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("surefoot")


def _nanoseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000) * 1_000


def _names(model: str) -> tuple[str, str]:
    """Provider and model of `provider:model`."""
    provider, colon, name = model.partition(":")
    return (provider, name) if colon else (AGENT, model)


def _kind(provider: str) -> SpanKind:
    from opentelemetry.trace import SpanKind

    return SpanKind.INTERNAL if provider in IN_PROCESS else SpanKind.CLIENT


def _fail(span: Span, code: str, message: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, redaction.redact(message) or None))


def _finish(reason: str) -> str:
    """The conventions have the singular for calls."""
    return "tool_call" if reason == "tool_calls" else reason


def _text(value: Any) -> str:
    """A value as JSON text, masked: attributes of spans hold no objects."""
    return dump(value)


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in the conventions' form: a role, and parts."""
    if message["role"] == "tool":
        answer = {
            "type": "tool_call_response",
            "id": message.get("tool_call_id", ""),
            "response": message["content"],
        }
        return {"role": "tool", "parts": [answer]}
    parts: list[dict[str, Any]] = (
        [{"type": "text", "content": message["content"]}] if message["content"] else []
    )
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls", ())
    parts += [
        {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        for call in calls
    ]
    return {"role": message["role"], "parts": parts}
