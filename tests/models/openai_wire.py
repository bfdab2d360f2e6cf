"""Chat completions as OpenAI publishes them: what the tests of the adapter ask and what its server answers."""

from __future__ import annotations

from surefoot.models.types import Message, Request, ToolSpec

CHAT = "/v1/chat/completions"
HI = Request((Message("system", "Be brief."), Message("user", "Hello!")))
WEATHER = ToolSpec("get_weather", "Weather", {"type": "object", "properties": {"city": {"type": "string"}}})
NOTE = ToolSpec("notes.add", "Adds a note")
MODELS = {"object": "list", "data": [{"id": "gpt-test", "object": "model", "owned_by": "openai"}]}
USAGE = {
    "id": "chatcmpl-123",
    "object": "chat.completion.chunk",
    "model": "gpt-test-2026",
    "choices": [],
    "usage": {
        "prompt_tokens": 19,
        "completion_tokens": 10,
        "total_tokens": 29,
        "prompt_tokens_details": {"cached_tokens": 16},
    },
}


def delta(finish: str | None = None, **fields) -> dict:
    """A chunk of a streamed answer."""
    return {
        "id": "chatcmpl-123",
        "object": "chat.completion.chunk",
        "model": "gpt-test-2026",
        "choices": [{"index": 0, "delta": fields, "logprobs": None, "finish_reason": finish}],
    }


def call(arguments=None, *, index=0, call_id=None, name=None) -> dict:
    """A chunk with a piece of a tool call."""
    return delta(
        tool_calls=[
            {
                "index": index,
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
        ]
    )


def tools(**options) -> Request:
    """The greeting with two tools."""
    return Request(HI.messages, (WEATHER, NOTE), **options)
