"""The answer: what was done and found, said in the person's language, and what was not, said plainly."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import redaction
from surefoot.assistant.prompting import one_line, prompt
from surefoot.errors import EmptyReplyError
from surefoot.models.types import Completion, Message, Request
from surefoot.running.outline_runner import StepReport
from surefoot.running.session import Session

RESULT_CHARS = 1_200
"""Of one result. The whole stands in the journal; an answer of three sentences needs no more."""

ALL_CHARS = 4_000
"""Of all results together: about 1,000 tokens, 25 s of reading for the embedded model on two cores."""

REASON_CHARS = 400
"""Of one reason why something was not done: a tool may raise a whole page."""

DIALOGUE_TURNS = 6
"""Messages of the conversation that are read again: three exchanges hold what a pronoun can mean."""

TURN_CHARS = 1_200
"""Of one such message: a text that somebody pasted once would fill every prompt after it."""

MAX_TOKENS = 300
"""Three sentences need less; a list of fifty rows is cut here instead of running away."""

ALONE = 2
"""Parts of a question with neither memories nor results: it is answered as it stands."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the answer is made from."""

    query: str
    dialogue: Sequence[Message] = ()
    memories: str = ""
    reports: Sequence[StepReport] = ()
    not_done: Sequence[str] = ()


def answer_request(session: Session, told: Told, timeout: float) -> Request:
    """The request for the answer: what never changes first; behind data, the order what to do with it comes last."""
    parts = [today(session), f"REQUEST\n{told.query}", *data_parts(told)]
    if len(parts) > ALONE:
        parts.append(prompt("answer_now"))
    return Request(
        messages=(
            Message("system", prompt("answer")),
            *recent(told.dialogue),
            Message("user", "\n\n".join(parts)),
        ),
        max_tokens=MAX_TOKENS,
        temperature=0.0,
        timeout=timeout,
        num_ctx=session.settings.num_ctx,
        purpose="reply",
    )


def today(session: Session) -> str:
    """The run's clock as a sentence."""
    return f"Today is {session.now:%A, %d %B %Y, %H:%M}."


def recent(dialogue: Sequence[Message]) -> list[Message]:
    """What is read again of the conversation before."""
    return [
        replace(message, content=_cut(message.content, TURN_CHARS)) for message in dialogue[-DIALOGUE_TURNS:]
    ]


def data_parts(told: Told) -> list[str]:
    """What a model is told of this turn so far: memories, results, what was not done; only what there is."""
    parts = []
    if told.memories:
        parts.append(f"REMEMBERED (data)\n{told.memories}")
    done = [line for report in told.reports if (line := _result(report))]
    if done:
        parts.append("RESULTS (data)\n" + _cut("\n".join(done), ALL_CHARS))
    missing = [*_failures(told.reports), *told.not_done]
    if missing:
        listed = "\n".join(f"- {_cut(one_line(line), REASON_CHARS)}" for line in missing)
        parts.append("NOT DONE\n" + _cut(listed, ALL_CHARS))
    return parts


def _result(report: StepReport, words: Callable[[Any], str] | None = None) -> str:
    told = words or _short
    lines = [
        f"{report.number}. {outcome.call.tool}: {_cut(one_line(told(outcome.call.result)), RESULT_CHARS)}"
        for outcome in report.outcomes
        if outcome.ok
    ]
    return "\n".join(lines)


def _failures(reports: Sequence[StepReport]) -> list[str]:
    lines = []
    for report in reports:
        lines += [
            f"{outcome.call.tool}: {outcome.as_data().get('message', '')}"
            for outcome in report.outcomes
            if not outcome.ok
        ]
        if report.reason:
            lines.append(f"{report.text}: {report.reason}")
    return lines


def _short(result: Any) -> str:
    """A kit's own sentence where it has one, else the JSON."""
    if isinstance(result, dict) and set(result) <= {"id", "message", "title"} and "message" in result:
        return str(result["message"])
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _sentence(result: Any) -> str:
    """For a person: a kit's own sentence says it without the rest, where the rest is no list of what was found."""
    if isinstance(result, dict) and isinstance(result.get("message"), str):
        found = any(isinstance(value, list | dict) for value in result.values())
        return _short(result) if found else str(result["message"])
    return _short(result)


def _cut(text: str, limit: int) -> str:
    text = redaction.redact(text)  # before the cut: half a secret is not known any more
    return text if len(text) <= limit else f"{text[:limit]} … (cut; {len(text)} characters in all)"


def said(completion: Completion) -> str:
    """The answer's text; EmptyReplyError when it says nothing."""
    text = completion.text.strip()
    if not text:
        raise EmptyReplyError(f"{completion.model or 'The model'} answered with nothing.", "Ask again.")
    return text


def plain_answer(reports: Sequence[StepReport], not_done: Sequence[str]) -> str:
    """What is said when no model can say it: the facts, in code."""
    lines = [_result(report, _sentence) for report in reports]
    lines += [f"Not done: {line}" for line in [*_failures(reports), *not_done]]
    return "\n".join(line for line in lines if line) or "Nothing was done."
