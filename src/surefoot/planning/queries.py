"""What can be asked of an outline, each question by its name, and what a chat model is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from surefoot.planning import placeholders
from surefoot.planning._prompts import prompt
from surefoot.planning.formats import format_step
from surefoot.planning.outline import Outline, Step, StepKind


def is_empty(outline: Outline) -> bool:
    """The planner failed or is off: go on as if there were none. Not the same as `is_reply_only`."""
    return not outline.steps


def is_reply_only(outline: Outline) -> bool:
    """The planner decided that nothing is to be looked up or called."""
    return bool(outline.steps) and all(step.kind is StepKind.REPLY for step in outline.steps)


def requires_memory(outline: Outline) -> bool:
    """A step asks for what the person said in earlier conversations."""
    return any(step.kind is StepKind.MEMORY for step in outline.steps)


def memory_topic(outline: Outline | Step) -> str:
    """What to look for in memory; empty when no step asks, or the one that asks names nothing."""
    steps = outline.steps if isinstance(outline, Outline) else (outline,)
    return next((str(step.arguments.get("topic", "")) for step in steps if step.kind is StepKind.MEMORY), "")


def tool_names(outline: Outline) -> tuple[str, ...]:
    """The known tools that the plan names, in order, each once."""
    return tuple(dict.fromkeys(step.tool for step in outline.steps if step.tool))


def tool_steps(outline: Outline) -> tuple[tuple[int, Step], ...]:
    """The steps that call a tool, with their numbers (from 1, memory and reply steps counted)."""
    return tuple((number, step) for number, step in enumerate(outline.steps, 1) if step.kind is StepKind.TOOL)


def has_unresolved_tool_steps(outline: Outline) -> bool:
    """There is something to do besides answering, and no step names a known tool ("get the weather").

    Filling in arguments for such a step would be guessing, so the chat model takes the turn.
    """
    return any(step.kind is StepKind.PROSE for step in outline.steps) and not tool_names(outline)


def strip_memory(outline: Outline) -> Outline:
    """The outline without its memory steps, the numbers in placeholders following.

    A placeholder for what memory brought is then one of step 0.
    """
    return without(outline, lambda step: step.kind is StepKind.MEMORY)


def without(outline: Outline, unwanted: Callable[[Step], bool]) -> Outline:
    """The outline without these steps, the numbers in placeholders following; those of a removed step become 0."""
    numbers: dict[int, int] = {}
    kept = []
    for number, step in enumerate(outline.steps, 1):
        if not unwanted(step):
            kept.append(step)
            numbers[number] = len(kept)
    if len(kept) == len(outline.steps):
        return outline
    return Outline(tuple(_renumbered(step, numbers) for step in kept))


def joined(outline: Outline, more: Outline, max_steps: int) -> Outline:
    """The outline with the calls of another behind its own, none about the same twice, at most `max_steps` in all."""
    own = [step for step in outline.steps if step.kind is not StepKind.REPLY]
    known = {_first_of(step) for step in own}
    new = without(more, lambda step: step.kind is not StepKind.TOOL or _first_of(step) in known)
    numbers = {number: number + len(own) for number in range(1, len(new.steps) + 1)}
    room = max_steps - sum(step.kind is StepKind.TOOL for step in own)
    added = [_renumbered(step, numbers) for step in new.steps[: max(room, 0)]]
    replies = [step for step in outline.steps if step.kind is StepKind.REPLY]
    return Outline((*own, *added, *replies)) if added else outline


def _first_of(step: Step) -> tuple[str, str]:
    """What a call is about: its tool and first argument."""
    return step.tool, repr(next(iter(step.arguments.values()), None)).casefold()


def _renumbered(step: Step, numbers: dict[int, int]) -> Step:
    return replace(
        step,
        text=placeholders.renumbered(step.text, numbers),
        arguments=placeholders.renumbered(step.arguments, numbers),
        placeholders=tuple(placeholders.renumbered(list(step.placeholders), numbers)),
    )


def format_plan_block(outline: Outline) -> str:
    """The plan for a chat model's system message; empty when there is nothing to follow but "reply"."""
    steps = strip_memory(outline).steps
    if all(step.kind is StepKind.REPLY for step in steps):
        return ""
    listed = "\n".join(f"{number}. {format_step(step)}" for number, step in enumerate(steps, 1))
    return prompt("plan_block").fill(steps=listed)


def progress_nudge(outline: Outline, results_so_far: int) -> str:
    """What is left of the plan, after a tool result: the next step by name; empty when no plan is followed.

    Args:
        outline: the plan; memory steps do not count.
        results_so_far: tool results since this run began, not those of earlier turns.
    """
    steps = [step for step in strip_memory(outline).steps if step.kind is not StepKind.REPLY]
    if not steps:
        return ""
    if results_so_far >= len(steps):
        return prompt("nudge_reply").text
    following = format_step(steps[results_so_far])
    return prompt("nudge").fill(done=str(results_so_far), total=str(len(steps)), next=following)
