"""Every question that can be asked of an outline, and its written form."""

from __future__ import annotations

import pytest

from surefoot.planning import queries
from surefoot.planning.formats import format_call, format_outline, format_step
from surefoot.planning.outline import Outline, Step, StepKind
from surefoot.planning.parse import parse_outline, parse_step

FULL = """searchMemory topic='food'
webSearch query='restaurants with <the dish, from step 1>'
fetchPage url='<url, from step 2>'
webSearch query='x'
Reply to the user."""


@pytest.fixture
def full(catalogue):
    return parse_outline(FULL, catalogue)


def test_plan_requires_memory_iff_a_step_is_the_directive(full, catalogue):
    """`plan_requires_memory`: true iff any step is a searchMemory directive."""
    assert queries.requires_memory(full)
    assert not queries.requires_memory(parse_outline("webSearch query='searchMemory topic=x'", catalogue))
    assert not queries.requires_memory(Outline())


def test_memory_topic_of_a_step_or_outline(full, catalogue):
    """`memory_topic_of`: the directive's topic, nothing for other steps."""
    assert queries.memory_topic(full) == "food"
    assert queries.memory_topic(full.steps[0]) == "food"
    assert queries.memory_topic(full.steps[1]) == ""
    assert queries.memory_topic(Outline()) == ""
    assert queries.memory_topic(parse_step("searchMemory", catalogue)) == ""


def test_tool_names_in_plan_are_ordered_and_each_once(full, catalogue):
    """`tool_names_in_plan`: known tools in order, without repeats; the directive is none."""
    assert queries.tool_names(full) == ("webSearch", "fetchPage")
    assert queries.tool_names(parse_outline("get the weather\nReply to the user.", catalogue)) == ()
    assert [number for number, _ in queries.tool_steps(full)] == [2, 3, 4]


def test_plan_has_unresolved_tool_steps(full, catalogue):
    """`plan_has_unresolved_tool_steps`: something is to be done and no known tool is named."""
    assert queries.has_unresolved_tool_steps(parse_outline("get the weather\nReply to the user.", catalogue))
    assert not queries.has_unresolved_tool_steps(full)
    assert not queries.has_unresolved_tool_steps(parse_outline("Reply to the user.", catalogue))
    assert not queries.has_unresolved_tool_steps(parse_outline("searchMemory topic='x'\nreply()", catalogue))
    assert not queries.has_unresolved_tool_steps(parse_outline("webSearch query='x'\nthen think", catalogue))
    assert not queries.has_unresolved_tool_steps(Outline())


def test_empty_and_reply_only_stay_distinguishable(full, catalogue):
    """An empty plan means failed or off; a reply-only plan is a decision that nothing is needed."""
    empty, reply_only = Outline(), parse_outline("Reply to the user.", catalogue)
    assert (queries.is_empty(empty), queries.is_reply_only(empty)) == (True, False)
    assert (queries.is_empty(reply_only), queries.is_reply_only(reply_only)) == (False, True)
    assert (queries.is_empty(full), queries.is_reply_only(full)) == (False, False)
    assert empty.to_list() != reply_only.to_list()


def test_strip_memory_directives_renumbers_placeholders(full, catalogue):
    """`strip_memory_directives`: tool and reply steps remain, and still name the right steps."""
    stripped = queries.strip_memory(full)
    assert [str(step.kind) for step in stripped.steps] == ["tool", "tool", "tool", "reply"]
    assert stripped.steps[0].placeholders == ("<the dish from step 0>",)
    assert stripped.steps[0].arguments == {"query": "restaurants with <the dish from step 0>"}
    assert stripped.steps[1].placeholders == ("<url from step 1>",)
    assert "from step 1>" in stripped.steps[1].text
    assert full.steps[1].arguments == {"query": "restaurants with <the dish, from step 1>"}
    without = parse_outline("webSearch query='x'", catalogue)
    assert queries.strip_memory(without) is without
    nested = parse_outline(
        "searchMemory('x')\nlistNotes\nadd numbers=[<each n, from step 2>, 1]\nmove to={who: '<w from step 2>'}",
        catalogue,
    )
    assert queries.strip_memory(nested).steps[1].arguments == {"numbers": ["<each n from step 1>", 1]}
    assert queries.strip_memory(nested).steps[2].arguments == {"to": {"who": "<w from step 1>"}}


def test_format_plan_block(full, catalogue):
    """`format_plan_block`: an ACTION PLAN block without the directive; nothing for empty and reply-only plans."""
    block = queries.format_plan_block(full)
    assert block.startswith("ACTION PLAN:\n1. webSearch(")
    assert "searchMemory" not in block
    assert "4. Reply to the user." in block
    assert queries.format_plan_block(Outline()) == ""
    assert queries.format_plan_block(parse_outline("Reply to the user.", catalogue)) == ""
    assert queries.format_plan_block(parse_outline("searchMemory topic='x'\nreply()", catalogue)) == ""


def test_progress_nudge_names_the_next_step(full, catalogue):
    """`progress_nudge`: the remainder after each result, counted from this run's start."""
    assert 'Next: webSearch(query="restaurants' in queries.progress_nudge(full, 0)
    assert "1 of 3" in queries.progress_nudge(full, 1)
    assert "fetchPage" in queries.progress_nudge(full, 1)
    assert "Do not repeat" in queries.progress_nudge(full, 2)
    assert "Answer now" in queries.progress_nudge(full, 3)
    assert "Answer now" in queries.progress_nudge(full, 9)
    assert queries.progress_nudge(Outline(), 0) == ""
    assert queries.progress_nudge(parse_outline("reply()", catalogue), 0) == ""


def test_a_plans_text_cannot_fill_the_templates_fields(catalogue):
    """Braces in a step are text, also when they name a field of the prompt."""
    outline = parse_outline("webSearch query='{done} {next}'", catalogue)
    assert '"{done} {next}"' in queries.progress_nudge(outline, 0)


def test_steps_are_written_in_both_spellings(catalogue):
    """One line a step; what could not be read keeps its text."""
    step = parse_step("addNote title='it\\'s' tags=['a']", catalogue)
    assert format_step(step) == 'addNote(title="it\'s", tags=["a"])'
    assert format_step(step, "keyword") == 'addNote title="it\'s" tags=["a"]'
    assert format_step(parse_step("searchMemory 'x'", catalogue)) == 'searchMemory(topic="x")'
    assert format_step(parse_step("webSearch find it", catalogue)) == "webSearch find it"
    assert format_step(Step("two\n lines", StepKind.PROSE)) == "two lines"
    assert format_call("f", {"a key": 1, "": None}) == 'f("a key"=1, ""=null)'
    assert format_outline(Outline()) == ""


def test_a_value_with_a_closing_tag_of_thinking_survives(catalogue):
    """Everything before `</think>` is dropped, so a value that holds it is written with an escape."""
    step = parse_step("addNote title='a</think>b'", catalogue)
    outline = parse_outline(format_outline(Outline((step, step))), catalogue)
    assert [found.arguments for found in outline.steps] == [{"title": "a</think>b"}] * 2
