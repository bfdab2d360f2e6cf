"""The planner: one model call, fail-open, the same outline from every encoding."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from surefoot.errors import ProviderCapabilityError, ProviderUnavailableError
from surefoot.models.scripted import ScriptedModel
from surefoot.models.types import Capabilities, Completion, FinishReason, Message, ToolCall
from surefoot.planning import queries
from surefoot.planning.outline import Outline, StepKind
from surefoot.planning.planner import OutlinePlanner, has_cjk
from surefoot.settings import Settings

NOW = datetime(2026, 5, 3, 9, 30, tzinfo=ZoneInfo("Europe/Berlin"))
PLAN = "webSearch query='x'\nReply to the user."


def model(*answers, encoding="text", **able):
    abilities = {
        "tools": encoding == "own",
        "json_schema": encoding == "schema",
        "grammar": encoding == "lines",
    } | able
    return ScriptedModel(*answers, capabilities=Capabilities(encoding=encoding, **abilities))


async def planned(scripted, settings, catalogue, query="find x", **options):
    return await OutlinePlanner(scripted, settings, catalogue).plan(query, **options)


CALLS = (ToolCall("1", "webSearch", {"query": "x"}), ToolCall("2", "addNote", {"title": "<t, from step 1>"}))


@pytest.mark.parametrize(
    ("encoding", "answer"),
    [
        ("text", "1. webSearch query='x'\n2. addNote title='<t, from step 1>'\n3. Reply to the user."),
        ("lines", 'webSearch(query="x")\naddNote(title="<t, from step 1>")\nreply()'),
        (
            "schema",
            json.dumps(
                {"steps": [{"name": c.name, "arguments": c.arguments} for c in CALLS] + [{"name": "reply"}]}
            ),
        ),
        ("own", list(CALLS)),
        ("own", json.dumps([{"name": c.name, "arguments": c.arguments} for c in CALLS])),
    ],
)
async def test_every_encoding_gives_the_same_outline(encoding, answer, settings, catalogue):
    """Own form, call lines, JSON Schema and free text spell one outline."""
    if encoding == "lines":
        pytest.importorskip("surefoot.models.grammar")
    result = await planned(model(answer, encoding=encoding), settings, catalogue)
    assert [(step.kind, step.tool, step.arguments, step.concrete) for step in result.outline.steps] == [
        (StepKind.TOOL, "webSearch", {"query": "x"}, True),
        (StepKind.TOOL, "addNote", {"title": "<t, from step 1>"}, False),
        (StepKind.REPLY, "", {}, False),
    ]
    assert (result.failed, result.encoding) == (None, encoding)


async def test_prose_in_the_own_form_means_nothing_to_call(settings, catalogue):
    """Prose is the other branch of the own form: a reply-only plan, and no failure."""
    for prose in ("There is no tool that sends mail.", "webSearch would not help here."):
        result = await planned(model(prose, encoding="own"), settings, catalogue)
        assert queries.is_reply_only(result.outline)
        assert result.failed is None


async def test_reply_step_is_added_behind_tools_and_memory_only(settings, catalogue):
    """A final reply when any searchMemory or tool step was planned."""
    result = await planned(model("searchMemory topic='food'"), settings, catalogue)
    assert [str(step.kind) for step in result.outline.steps] == ["memory", "reply"]
    vague = await planned(model("get the weather"), settings, catalogue)
    assert [str(step.kind) for step in vague.outline.steps] == ["prose"]
    assert queries.has_unresolved_tool_steps(vague.outline)


@pytest.mark.parametrize("query", ["hi", "ok", "", "   ok!   ", "你", "あ"])
async def test_short_requests_are_not_planned(query, settings, catalogue):
    """MIN_QUERY_CHARS is 4, and 2 for Chinese, Japanese and Korean: noise costs no model call."""
    scripted = model()
    result = await planned(scripted, settings, catalogue, query)
    assert (result.outline, result.skipped, result.failed) == (Outline(), "too_short", None)
    assert scripted.requests == []


@pytest.mark.parametrize("query", ["note", "你好", "天気", "날씨"])
async def test_requests_of_the_least_length_are_planned(query, settings, catalogue):
    """Four characters, or two of Chinese, Japanese or Korean writing, are a request."""
    assert queries.is_reply_only((await planned(model("reply()"), settings, catalogue, query)).outline)


async def test_planner_enabled_gates_the_planner(catalogue):
    """`planner_enabled` off: no call, an empty outline, nothing failed."""
    scripted = model()
    result = await planned(scripted, Settings(planner_enabled=False), catalogue)
    assert (result.outline, result.skipped, result.failed, scripted.requests) == (Outline(), "off", None, [])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("<think>hm", "empty"),
        (ProviderUnavailableError("It is down."), "unavailable"),
        (RuntimeError("bug"), "error"),
        (Completion("webSearch query='x'", finish_reason=FinishReason.LENGTH), "output_cut"),
        (f"writeFile path='a' text='{'x' * 4000}'", "step_too_long"),
    ],
)
async def test_failures_give_an_empty_outline_and_the_reason(answer, reason, settings, catalogue):
    """Fail-open: empty response, exception, cut or unusable answer give no plan, and never an error."""
    result = await planned(model(answer), settings, catalogue)
    assert (result.outline, result.failed) == (Outline(), reason)


async def test_timeout_gives_an_empty_outline(catalogue):
    """Fail-open: `planner_timeout_sec` ends the call."""
    slow = ScriptedModel("x", capabilities=Capabilities(), delay=60)
    result = await planned(slow, Settings(planner_timeout_sec=0.01), catalogue)
    assert (result.outline, result.failed) == (Outline(), "timeout")
    assert slow.requests[0].timeout == 0.01


async def test_local_models_get_the_local_timeout(settings, catalogue):
    """A local model gets the time it needs, a hosted one 6 seconds."""
    for able, seconds in ((Capabilities(local=True), settings.local_timeout_sec), (Capabilities(), 6.0)):
        scripted = ScriptedModel(PLAN, capabilities=able)
        await planned(scripted, settings, catalogue)
        assert scripted.requests[0].timeout == seconds


async def test_cancellation_is_the_only_thing_raised(settings, catalogue):
    """Ctrl-C during the plan ends it at once."""
    slow = ScriptedModel("x", capabilities=Capabilities(), delay=60)
    task = asyncio.create_task(planned(slow, settings, catalogue))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_capabilities_that_cannot_be_asked_fail_open(settings, catalogue):
    """A provider that is down before the call gives no plan either."""

    class Down(ScriptedModel):
        async def capabilities(self):
            raise ProviderUnavailableError("It is down.")

    result = await planned(Down(), settings, catalogue)
    assert (result.outline, result.failed, result.encoding) == (Outline(), "unavailable", None)


async def test_refused_encoding_falls_back_to_free_text_once(settings, catalogue):
    """A model that cannot do its encoding after all is asked in free text, once."""
    scripted = model(ProviderCapabilityError("No tools."), PLAN, encoding="own")
    result = await planned(scripted, settings, catalogue)
    assert (result.encoding, len(result.outline.steps), len(scripted.requests)) == ("text", 2, 2)
    assert scripted.requests[1].tools == ()
    never = model(ProviderCapabilityError("No."), ProviderCapabilityError("No."), encoding="own")
    assert (await planned(never, settings, catalogue)).failed == "capability"
    plain = model(ProviderCapabilityError("No."))
    assert ((await planned(plain, settings, catalogue)).failed, len(plain.requests)) == ("capability", 1)


async def test_the_call_goes_through_the_callers_function(settings, catalogue):
    """The caller counts, journals and replays the call."""
    scripted = model()
    seen = []

    async def complete(request):
        seen.append(request)
        return Completion(PLAN)

    result = await planned(scripted, settings, catalogue, complete=complete)
    assert len(result.outline.steps) == 2
    assert (len(seen), scripted.requests) == (1, [])
    assert result.completion == Completion(PLAN)


async def test_the_request_asks_for_the_context_and_names_its_purpose(catalogue):
    """num_ctx is 8192 by default and comes from the settings."""
    for given, expected in ((Settings(), 8192), (Settings(num_ctx=4096), 4096)):
        scripted = model(PLAN)
        await planned(scripted, given, catalogue)
        request = scripted.requests[0]
        assert (request.num_ctx, request.purpose, request.placeholders, request.temperature) == (
            expected,
            "plan",
            True,
            0.0,
        )


async def test_dialogue_date_and_query_stand_behind_the_catalogue(settings, catalogue):
    """What never changes comes first; the query is last, so the cached prefix serves every question."""
    scripted = model(PLAN, PLAN)
    dialogue = [
        Message("user", "Who sang Watermelon Sugar?"),
        Message("assistant", "Harry Styles did.\nIn 2019."),
        Message("tool", "{}"),
    ]
    planner = OutlinePlanner(scripted, settings, catalogue)
    await planner.plan("his most famous songs", dialogue=dialogue, hint=("webSearch",), now=NOW)
    await planner.plan("what is on my list")
    first, second = scripted.requests
    assert first.messages[0] == second.messages[0]
    assert first.messages[0].role == "system"
    assert "2026" not in first.messages[0].content
    asked = first.messages[1].content
    parts = [
        "Today is Sunday 2026-05-03",
        "webSearch",
        "user: Who sang",
        "assistant: Harry Styles did. In 2019.",
        "his most famous songs",
    ]
    places = [asked.index(part) for part in parts]
    assert places == sorted(places)
    assert asked.endswith("his most famous songs")
    assert second.messages[1].content == "The request: what is on my list"


async def test_layout_of_the_catalogue_can_be_switched(settings, catalogue):
    """Signatures or schemas, so that both can be measured."""
    for layout, shown in (
        ("signatures", "addTask(title: text, due?: text)"),
        ("schemas", '"name":"addTask"'),
    ):
        scripted = model(PLAN)
        await OutlinePlanner(scripted, settings, catalogue, layout=layout).plan("find x")
        assert shown in scripted.requests[0].messages[0].content


async def test_max_steps_comes_from_the_settings(catalogue):
    """MAX_STEPS is a setting; the prompt names it and the parser keeps to it."""
    scripted = model("\n".join(f"addTask title='{n}'" for n in range(9)))
    result = await planned(scripted, Settings(max_steps=3), catalogue)
    assert len(queries.tool_names(result.outline)) == 1
    assert len(queries.tool_steps(result.outline)) == 3
    assert "At most 3 tool calls" in scripted.requests[0].messages[0].content
    assert scripted.requests[0].max_calls == 4


def test_writing_of_china_japan_and_korea_is_recognised():
    """Two characters of these say what others say in a word."""
    assert all(has_cjk(text) for text in ("你好", "カナ", "ﾊﾟ", "한국", "x 日"))
    assert not any(has_cjk(text) for text in ("hi", "привет", "नमस्ते", "שלום", ""))
