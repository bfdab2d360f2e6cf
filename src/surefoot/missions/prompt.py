"""What an execution is told: rules, agent and mission as the system text; what it works with as labelled data.

No tool is listed and no JSON shown: tools go to the model in its own form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from surefoot import redaction
from surefoot.missions.types import Agent, Execution, Feedback, Mission

LAST = 3
"""Executions that are told of: enough to see a line, few enough for a small model."""

SUMMARY_CHARS = 600
"""Of one summary: three sentences, which is what is asked for."""

CALLS = 12
"""Calls told of one execution; more are counted."""

CALL_CHARS = 160
"""Of one call with its arguments: the name of what it made stands at its beginning."""

FEEDBACKS = 8
"""Pieces of feedback that are told, the newest: older ones that still count are better written into the concept."""

FEEDBACK_CHARS = 600


def system_prompt(mission: Mission, agent: Agent | None) -> str:
    """The system text of an execution: about 400 tokens of rules, then who does it and for what.

    Args:
        mission: its title and its concept are told; its goal is the request of the run.
        agent: its name and its persona are told; None: nobody in particular.
    """
    parts = [_rules()]
    if agent is not None:
        parts.append(
            "\n".join([f"You are {agent.name}.", *([agent.persona.strip()] if agent.persona.strip() else [])])
        )
    parts.append(f"The mission: {mission.title}")
    if mission.concept.strip():
        parts.append(mission.concept.strip())
    return "\n\n".join(parts)


def data_parts(mission: Mission, recent: Sequence[Execution]) -> tuple[str, ...]:
    """What an execution works with: inputs, the last executions, what the person said; only what there is.

    Args:
        mission: with its feedback.
        recent: its last executions, newest first, with their calls as they stand now.
    """
    told = list(reversed(recent[:LAST]))
    parts = []
    if mission.inputs:
        lines = [f"- {_line(name)}: {_value(value)}" for name, value in mission.inputs.items()]
        parts.append("INPUTS (data)\n" + "\n".join(lines))
    if told:
        parts.append("LAST EXECUTIONS (data), the newest last\n" + "\n".join(_execution(one) for one in told))
    said = _feedback(mission, {one.id: one.number for one in told})
    if said:
        parts.append("FEEDBACK of the person, the newest last\n" + "\n".join(said))
    return tuple(parts)


def _execution(one: Execution) -> str:
    when = f"{one.started_at:%Y-%m-%d %H:%M} UTC, " if one.started_at else ""
    lines = [f"{one.number}. {when}{_status(one)}: {_cut(_line(one.summary), SUMMARY_CHARS) or 'no summary'}"]
    done = [call for call in one.calls if call["status"] == "done"]
    lines += [f"   {_call(call)}" for call in done[:CALLS]]
    if len(done) > CALLS:
        lines.append(f"   and {len(done) - CALLS} more calls")
    return "\n".join(lines)


def _status(one: Execution) -> str:
    if one.error:
        return f"{one.status} in phase {one.phase} ({_cut(_line(str(one.error.get('message', ''))), CALL_CHARS)})"
    return one.status


def _call(call: Mapping[str, Any]) -> str:
    arguments = ", ".join(f"{name}={_value(value)}" for name, value in call["arguments"].items())
    back = "; the person took it back" if call.get("undone") else ""
    return _cut(f"{call['tool']}({_line(arguments)})", CALL_CHARS) + back


def _feedback(mission: Mission, numbers: Mapping[str, int]) -> list[str]:
    """Of the mission as a whole, and of the executions that are told of."""
    counting = [one for one in mission.feedback if not one.execution or one.execution in numbers]
    return [_said(one, numbers) for one in counting[-FEEDBACKS:]]


def _said(one: Feedback, numbers: Mapping[str, int]) -> str:
    of = f"of execution {numbers[one.execution]}" if one.execution else "of the mission"
    return f"- {of}: {_cut(_line(one.text), FEEDBACK_CHARS)}"


def _value(value: Any) -> str:
    return _line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _line(text: str) -> str:
    """Data on one line: only we begin a line of a prompt, so no data can pass for a heading or another entry."""
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    text = redaction.redact(text)  # before the cut: half a secret is not known any more
    return text if len(text) <= limit else f"{text[:limit]}…"


@cache
def _rules() -> str:
    text = files("surefoot.missions").joinpath("prompts", "mission.md").read_text(encoding="utf-8")
    return text.split("---", 2)[2].strip()
