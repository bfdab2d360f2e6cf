"""Real llama.cpp served over loopback and used as any other would use it: through the route `llamacpp`.

A tiny model of random weights shows the whole wire: what the server says of a model, prompts, streams, grammars, schemas,
endings. What it means needs weights that learned, so that is one test with real ones, marked `model`. The server does not
bind a required call by itself (prose may stand in front of it), and the coder model never writes the form it waits for;
our own grammar binds the form that the family does write.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from models.tiny_gguf import write_tiny
from surefoot.errors import (
    ContextLengthError,
    OutputCutError,
    ProviderAuthError,
    ProviderCapabilityError,
    ProviderRequestError,
)
from surefoot.models import open_model, weights
from surefoot.models.families.qwen2_5 import FAMILY
from surefoot.models.grammar import calls_grammar
from surefoot.models.local import engine
from surefoot.models.local.threads import Threads, available_cores
from surefoot.models.openai_compatible import OpenAICompatibleModel
from surefoot.models.registry import EMBEDDED
from surefoot.models.types import REQUIRED, FinishReason, Message, Request, ToolCall, ToolSpec
from surefoot.settings import Settings, load_settings, settings_file

WITH_TOOLS = (
    "{% if tools %}<|im_start|>system\n<tools>\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}</tools>\n"
    '<tool_call>\n{"name": <name>, "arguments": <arguments>}\n</tool_call><|im_end|>\n{% endif %}'
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' }}"
    "{% if message.content %}{{ message.content }}{% endif %}"
    "{% for call in message.tool_calls or [] %}"
    '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n'
    "</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A chat template that shows tools and calls in the form that Qwen2.5 and Hermes models were trained on."""

GO = (Message("user", "go"),)
PAINT = ToolSpec(
    "house.paint",
    "Paint the house.",
    {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]},
)
PING = ToolSpec(
    "ping", "Ping.", {"type": "object", "properties": {"loud": {"type": "boolean"}}, "required": ["loud"]}
)
CHOICE = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def called_in_grammar(wish: str, *tools: ToolSpec) -> Request:
    """A wish whose answer can only be one call of one of these tools, in the form that Qwen2.5-Coder writes."""
    listed = "\n".join(f"{one.name}: {one.description} {json.dumps(one.parameters)}" for one in tools)
    rules = calls_grammar(tools, form=FAMILY.form, choice=REQUIRED, max_calls=1)
    system = Message("system", f"Answer with a JSON list of calls of these tools.\n{listed}")
    return Request((system, Message("user", wish)), grammar=rules, max_tokens=120)


@contextmanager
def served(path: Path, folder: Path, *, num_ctx: int, threads: int) -> Iterator[engine.Engine]:
    """llama.cpp's own server with this model, and the table of the settings file that leads to it."""
    running = engine.start(engine.Options(path, num_ctx, Threads(threads, threads), folder / "states"))
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(f'[routes.llamacpp]\nbase_url = "{running.address}/v1"\n')
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(params=["tools"])
async def model(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OpenAICompatibleModel]:
    """The tiny model behind the route; `plain` has a chat template that knows no tools."""
    plain = {} if request.param == "plain" else {"template": WITH_TOOLS}
    path = write_tiny(tmp_path / "tiny.gguf", **plain)
    with served(path, tmp_path, num_ctx=2048, threads=1) as running:
        monkeypatch.setenv("LLAMA_API_KEY", running.key)
        opened = await open_model("llamacpp:tiny", load_settings())
        assert isinstance(opened, OpenAICompatibleModel)
        yield opened
        await opened.close()


async def test_what_the_server_says_of_the_model(model):
    """Its context, its tools and its grammars are asked of it."""
    found = await model.capabilities()
    assert (found.tools, found.grammar, found.json_schema) == (True, True, True)
    assert (found.context_length, found.local) == (2048, True)


@pytest.mark.parametrize("model", ["plain"], indirect=True)
async def test_a_template_without_tools_is_refused_before_any_call(model):
    """The server says so of its template, and the tools would be lost on it."""
    assert (await model.capabilities()).tools is False
    with pytest.raises(ProviderCapabilityError, match="llamacpp:tiny does not support tool calls"):
        await model.complete(Request(GO, (PAINT,)))


async def test_a_plain_answer_is_counted_and_costs_what_nobody_knows(model):
    """Text, why it ended, tokens; no price was listed, so there is no cost."""
    answer = await model.complete(Request(GO, max_tokens=6))
    assert answer.text
    assert answer.finish_reason is FinishReason.LENGTH
    assert answer.usage.output_tokens == 6
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.cost is None


async def test_the_answer_in_pieces_is_the_answer(model):
    """Streamed, and gathered to the same text."""
    pieces = [
        piece
        async for piece in model.stream(Request(GO, grammar='root ::= "one two" " three"', max_tokens=40))
    ]
    *parts, last = pieces
    assert last.completion is not None
    assert "".join(piece.text for piece in parts) == last.completion.text == "one two three"
    assert len(parts) > 1


async def test_tools_are_shown_to_the_model(model):
    """The server reads our schemas and writes them into the prompt; two tools are more of it than none."""
    plain = await model.complete(Request(GO, max_tokens=4))
    tooled = await model.complete(Request(GO, (PAINT, PING), max_tokens=4))
    assert tooled.usage.prompt_tokens > plain.usage.prompt_tokens + 200
    assert tooled.tool_calls == ()


async def test_a_call_bound_by_our_own_grammar(model):
    """Where the weights do not know the server's form of a call, the family's own form is bound, by the same route."""
    answer = await model.complete(called_in_grammar("go", PAINT, PING))
    (call,) = FAMILY.read(answer.text).calls
    assert call.name in {"house.paint", "ping"}
    assert call.arguments.get("colour") in {"red", "blue"} or isinstance(call.arguments.get("loud"), bool)


async def test_a_history_with_calls_and_results_is_taken(model):
    """What a model called and what came of it goes out in the form the server reads, and into the prompt."""
    turn = Message(
        "assistant", tool_calls=(ToolCall("a", "house.paint", {"colour": "red"}), ToolCall("b", "ping"))
    )
    results = (Message("tool", "painted", tool_call_id="a"), Message("tool", "pong", tool_call_id="b"))
    answer = await model.complete(Request((*GO, turn, *results), grammar='root ::= "done"', max_tokens=20))
    assert answer.text == "done"
    assert (
        answer.usage.prompt_tokens
        > (await model.complete(Request(GO, max_tokens=1))).usage.prompt_tokens + 100
    )


async def test_answers_bound_by_a_schema_and_a_choice(model):
    """The schema goes out as OpenAI's `response_format` and holds."""
    answer = await model.complete(Request(GO, json_schema=CHOICE, max_tokens=60))
    assert json.loads(answer.text)["colour"] in {"red", "blue"}
    assert (await model.complete(Request(GO, choices=("yes", "no"), max_tokens=60))).text in {"yes", "no"}


@pytest.mark.parametrize("tokens", [1, 4, 40])
async def test_a_required_call_that_was_cut_is_not_run(model, tokens):
    """Fault kind "cut in the middle of arguments", from a real server: whatever came until then, nothing is run."""
    with pytest.raises(OutputCutError, match="a tool call"):
        await model.complete(Request(GO, (PAINT,), tool_choice=REQUIRED, max_tokens=tokens))


async def test_a_prompt_that_does_not_fit(model):
    """Refused with the numbers: by us where it is certain, else by the server."""
    long = "x y z " * 500  # 1,500 letters' worth by our bound, and 3,000 tokens of single bytes
    with pytest.raises(ContextLengthError, match="2048"):
        await model.complete(Request((Message("user", long),), max_tokens=5))


async def test_a_grammar_that_is_none_is_the_servers_refusal(model):
    """What a real server refuses is said in its words, once."""
    with pytest.raises(ProviderRequestError):
        await model.complete(Request(GO, grammar="root ::= ("))


async def test_a_wrong_key_is_refused(model, monkeypatch):
    """The server's refusal is the error for who can mend it."""
    monkeypatch.setenv("LLAMA_API_KEY", "not-the-key-12345")
    stranger = await open_model("llamacpp:tiny", load_settings())
    with pytest.raises(ProviderAuthError) as caught:
        await stranger.complete(Request(GO, max_tokens=2))
    assert "not-the-key" not in json.dumps(caught.value.to_dict())
    await stranger.close()


@pytest.mark.model
async def test_real_weights_answer_and_call_tools(tmp_path, monkeypatch):
    """The embedded model's weights behind the route: a word, the call that was wished, the values that were said."""
    path = weights.find(EMBEDDED, Settings())
    if path is None:
        pytest.fail("the weights of the embedded model are not here: run `surefoot models pull`")
    with served(path, tmp_path, num_ctx=1024, threads=available_cores()) as running:
        monkeypatch.setenv("LLAMA_API_KEY", running.key)
        model = await open_model("llamacpp:qwen", load_settings())
        assert (await model.capabilities()).tools is True
        capital = Request((Message("user", "What is the capital of Italy? One word."),), max_tokens=12)
        pieces = [piece async for piece in model.stream(capital)]
        assert "rome" in "".join(piece.text for piece in pieces).lower()
        assert pieces[-1].completion is not None
        weather = ToolSpec(
            "weather.get",
            "The weather of a place.",
            {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
        )
        answer = await model.complete(called_in_grammar("What is the weather in Graz?", weather))
        (call,) = FAMILY.read(answer.text).calls
        assert (call.name, call.arguments) == ("weather.get", {"place": "Graz"})
        assert answer.usage.output_tokens > 0
        await model.close()
