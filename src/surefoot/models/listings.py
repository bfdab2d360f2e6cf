"""What servers of OpenAI's chat form say of their models, each in its own way: abilities, context length, prices.

Read here are OpenRouter's and vLLM's entries of `/models`, LM Studio's own lists and llama.cpp's `/props`. Where a
server says nothing of an ability, what the form itself defines holds, and a refusal at the first call is the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from surefoot.models.types import Capabilities, Usage

_CONTEXT_KEYS = ("context_length", "max_model_len", "loaded_context_length", "max_context_length")
"""Where an entry says the context length: OpenRouter, vLLM, LM Studio (as loaded, else the most it can)."""

_BOUNDS_BY_SCHEMA = "structured_outputs"
"""OpenRouter's word for answers bound by a schema; its `response_format` alone means any JSON object."""

_OMITTED = ("temperature", "parallel_tool_calls", "reasoning", "response_format")
"""Optional fields that are left out where a list of what a model takes does not name them."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What one token costs, in the account's currency; `request` is added once for each question."""

    prompt: float
    output: float
    cached: float
    request: float = 0.0

    def cost(self, usage: Usage) -> float | None:
        """What a call of this usage costs; None where its tokens were not said."""
        if not usage.prompt_tokens and not usage.output_tokens:
            return None
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        read = (usage.prompt_tokens - cached) * self.prompt + cached * self.cached
        return read + usage.output_tokens * self.output + self.request


@dataclass(frozen=True, slots=True)
class Listed:
    """What a server says of one model. `left_out`: optional fields that it does not take."""

    capabilities: Capabilities
    prices: Prices | None = None
    left_out: frozenset[str] = frozenset()


def find_entry(listed: list[dict[str, Any]], model: str) -> dict[str, Any]:
    """The model's entry, else that of the model it is a variant of (`:nitro` is not listed), else an empty one."""
    wanted = (model, model.rpartition(":")[0])
    return next((one for name in wanted if name for one in listed if one.get("id") == name), {})


def read_entry(entry: dict[str, Any], *, local: bool) -> Listed:
    """What an entry of `/models` says; OpenRouter's names the parameters a model takes, others do not."""
    found = entry.get("supported_parameters")
    takes = {str(name) for name in found} if isinstance(found, list) else None
    schema = takes is None or _BOUNDS_BY_SCHEMA in takes
    capabilities = Capabilities(
        tools=takes is None or "tools" in takes,
        json_schema=schema,
        logprobs=takes is not None and "logprobs" in takes,
        context_length=read_length(entry),
        encoding="schema" if schema else "text",
        local=local,
    )
    left_out = frozenset() if takes is None else frozenset(_OMITTED) - takes
    return Listed(capabilities, read_prices(entry.get("pricing")), left_out)


def read_length(entry: dict[str, Any]) -> int:
    """The context length in an entry, 0 where it says none."""
    lengths = (_tokens(entry.get(key)) for key in _CONTEXT_KEYS)
    return next((length for length in lengths if length), 0)


def read_prices(pricing: object) -> Prices | None:
    """OpenRouter's `pricing`: the price of one token as text. One below 0 means that it depends, so it is unknown."""
    if not isinstance(pricing, dict):
        return None
    prompt, output = read_amount(pricing.get("prompt")), read_amount(pricing.get("completion"))
    request = read_amount(pricing.get("request", 0))
    if prompt is None or output is None or request is None:
        return None
    cached = read_amount(pricing.get("input_cache_read"))
    return Prices(prompt, output, prompt if cached is None else cached, request)


def read_amount(value: object) -> float | None:
    """An amount of money as a number or as text; None where it is none, negative or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None


# --- LM Studio and llama.cpp -----------------------------------------------------------------------------------


def read_own_list(data: object, model: str, known: Capabilities) -> Capabilities | None:
    """`known`, corrected by what LM Studio's own list says of the model; None where the list is not there.

    An unknown path answers 200 with an object that has no list in it, so the list itself must be looked for.
    """
    entries = _entries(data)
    entry = next((one for one in entries if model in {one.get("id"), one.get("key")}), None)
    if entry is None:
        return known if entries else None
    says = any("capabilities" in one for one in entries)  # since 0.3.16; an older one says nothing of tools
    return replace(
        known,
        tools=_uses_tools(entry.get("capabilities")) if says else known.tools,
        context_length=_loaded_length(entry) or read_length(entry) or known.context_length,
        family=str(entry.get("arch") or entry.get("architecture") or known.family),
    )


def _entries(data: object) -> list[dict[str, Any]]:
    listed = (data.get("data") or data.get("models")) if isinstance(data, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _uses_tools(capabilities: object) -> bool:
    """A list with `tool_use` in the first version of its list, an object with a flag in the second."""
    if isinstance(capabilities, dict):
        return capabilities.get("trained_for_tool_use") is True
    return isinstance(capabilities, list) and "tool_use" in capabilities


def _loaded_length(entry: dict[str, Any]) -> int:
    instances = entry.get("loaded_instances")
    configs = [one.get("config") for one in instances or () if isinstance(one, dict)] if instances else []
    return next((_tokens(config.get("context_length")) for config in configs if isinstance(config, dict)), 0)


def read_props(props: object, known: Capabilities) -> Capabilities:
    """`known`, corrected by llama.cpp's `/props`: the context it runs with, and whether its template shows tools."""
    found = props if isinstance(props, dict) else {}
    settings, template = found.get("default_generation_settings"), found.get("chat_template_caps")
    tools = template.get("supports_tools") if isinstance(template, dict) else None
    return replace(
        known,
        grammar=True,
        tools=known.tools if tools is None else tools is True,
        context_length=_tokens(settings.get("n_ctx")) if isinstance(settings, dict) else 0,
    )


def _tokens(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
