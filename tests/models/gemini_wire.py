"""`generateContent` as Google publishes it: what the tests of the adapter ask and what its server answers."""

from __future__ import annotations

from models.servers import Answer, Clock, LoopbackServer, as_json, sse
from surefoot.models.address import AddressPolicy
from surefoot.models.gemini import GeminiModel
from surefoot.models.gemini_client import KEY_HEADER, GeminiClient
from surefoot.models.types import Message, Request, ToolSpec

NAME = "gemini-2.5-flash"
CARD_PATH = f"/v1beta/models/{NAME}"
ASK = f"{CARD_PATH}:streamGenerateContent?alt=sse"
LIST = "/v1beta/models?pageSize=200"
KEY = "planted-key-3f9a1c77"

CARD = {
    "name": f"models/{NAME}",
    "version": "001",
    "displayName": "Gemini 2.5 Flash",
    "description": "Stable version of Gemini 2.5 Flash",
    "inputTokenLimit": 1048576,
    "outputTokenLimit": 65536,
    "supportedGenerationMethods": ["generateContent", "countTokens", "createCachedContent"],
    "temperature": 1,
    "topP": 0.95,
    "topK": 64,
    "maxTemperature": 2,
}
THINKS = {**CARD, "thinking": True}
EMBEDDER = {
    "name": "models/gemini-embedding-001",
    "inputTokenLimit": 2048,
    "outputTokenLimit": 1,
    "supportedGenerationMethods": ["embedContent", "countTextTokens"],
}
USAGE = {
    "promptTokenCount": 19,
    "cachedContentTokenCount": 16,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 30,
    "toolUsePromptTokenCount": 2,
    "totalTokenCount": 58,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 19}],
}
HI = Request((Message("system", "Be brief."), Message("user", "Hello!")))
WEATHER = ToolSpec(
    "get_weather",
    "Weather",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
NOTE = ToolSpec("notes.add", "Adds a note")


def tools(**options) -> Request:
    """The greeting with two tools."""
    return Request(HI.messages, (WEATHER, NOTE), **options)


def chunk(*parts, finish: str | None = None, usage: dict | None = None, **candidate) -> dict:
    """A piece of a streamed answer."""
    found: dict = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **candidate}
    if finish:
        found["finishReason"] = finish
    return {
        "candidates": [found],
        "usageMetadata": usage or {"promptTokenCount": 19, "totalTokenCount": 19},
        "modelVersion": f"{NAME}-001",
        "responseId": "mAitaLmkHPPlz7IPvtfUqQ4",
    }


def ended(finish: str, message: str | None = None) -> dict:
    """A last piece without content, as filters and broken calls end an answer."""
    candidate: dict = {"finishReason": finish, "index": 0}
    if message:
        candidate["finishMessage"] = message
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 19, "totalTokenCount": 19}}


def call(name: str, args=None, call_id: str | None = None, signature: str | None = None) -> dict:
    """A part with a function call."""
    body: dict = {"name": name}
    if args is not None:
        body["args"] = args
    if call_id:
        body["id"] = call_id
    return {"functionCall": body, **({"thoughtSignature": signature} if signature else {})}


def answer(*chunks, **options) -> Answer:
    """A whole streamed answer; Gemini sends no `[DONE]`."""
    return sse(*chunks, done=False, **options)


def refusal(code: int, status: str, message: str, *details, **headers) -> Answer:
    """An error as `google.rpc.Status`."""
    error: dict = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = list(details)
    return as_json({"error": error}, code, **headers)


def quota(*ids: str) -> dict:
    """The details of a 429: which quotas were met."""
    metric = "generativelanguage.googleapis.com/generate_content_free_tier_requests"
    violations = [
        {"quotaMetric": metric, "quotaId": one, "quotaDimensions": {"location": "global"}} for one in ids
    ]
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations}


def retry_in(delay: str) -> dict:
    """The details of a 429: when to come back."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def reason(name: str) -> dict:
    """Why a key or project is refused."""
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": name,
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }


def client_for(server: LoopbackServer, clock: Clock | None = None, **options) -> GeminiClient:
    """A client that may speak to this server only, with the planted key."""
    clock = clock or Clock()
    return GeminiClient(
        provider="Gemini",
        base_url=server.url,
        policy=AddressPolicy(allowed=[(server.host, server.port)], public=False),
        headers=lambda: {KEY_HEADER: KEY},
        sleep=clock.sleep,
        clock=clock,
        now=clock,
        **options,
    )


def model_for(server: LoopbackServer, clock: Clock | None = None, **options) -> GeminiModel:
    """The model behind this server."""
    return GeminiModel(NAME, client_for(server, clock), default_seconds=600, **options)
