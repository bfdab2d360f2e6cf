"""What past conversations and remembered facts say about a topic: looked up only when the plan asks for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from surefoot.assistant.prompting import one_line, prompt
from surefoot.errors import ProviderError
from surefoot.events import EventType
from surefoot.journal.types import Memory
from surefoot.models.types import LanguageModel, Message, Request
from surefoot.running.models import call_model
from surefoot.running.session import Session

LIMIT = 6
"""Hits that are read: more would bury the ones that matter in a small model's prompt."""

LONG_CHARS = 1_500
"""From here on a digest costs less than what it saves: about 400 tokens are read again in every later prompt."""

HIT_CHARS = 600
"""One memory is cut here; a diary turn longer than this is a pasted text."""


KEPT = "memories"
"""Where a run's context keeps what was found: a resumed run goes on with that, whatever is remembered by then."""


@dataclass(frozen=True, slots=True)
class Memories:
    """What was found, as lines of data. Empty text: nothing."""

    topic: str
    text: str = ""
    hits: int = 0


async def remember(session: Session, model: LanguageModel, query: str, topic: str) -> Memories:
    """Look the topic up (the request itself where the plan names none), in code; a long find is digested."""
    if KEPT in session.run.context:
        return Memories(**session.run.context[KEPT])
    wanted = topic or query
    lines = await _search(session, wanted)
    text = "\n".join(lines)
    if len(text) > LONG_CHARS:
        text = await _digest(session, model, query, text)
    found = Memories(wanted, text, len(lines))
    context = {**session.run.context, KEPT: asdict(found)}
    read = (EventType.MEMORY_READ, {"topic": wanted, "hits": len(lines)})
    await session.set(read, context=context)
    return found


async def _search(session: Session, wanted: str) -> list[str]:
    found = await session.journal.search_memories(wanted, LIMIT)
    return [_line(memory) for memory in found]


def _line(memory: Memory) -> str:
    text = one_line(memory.text[:HIT_CHARS])
    if memory.kind == "fact":
        return f"- remembered: {text}"
    day = f"{memory.at:%Y-%m-%d}" if memory.at else "earlier"
    return f"- {day}: {text}"


async def _digest(session: Session, model: LanguageModel, query: str, text: str) -> str:
    request = Request(
        messages=(Message("system", prompt("digest")), Message("user", f"NOTES\n{text}\n\nREQUEST\n{query}")),
        max_tokens=160,
        purpose="digest",
        num_ctx=session.settings.num_ctx,
        timeout=session.settings.local_timeout_sec,
    )
    try:
        answer = (await call_model(session, model, request, "digest")).text.strip()
    except ProviderError:
        return text[:LONG_CHARS]
    if answer.lower().strip(" .") == "none":
        return ""
    return "\n".join(
        f"- {one_line(line.strip().removeprefix('- '))}" for line in answer.splitlines() if line.strip()
    )


def diary_entry(session: Session, reply: str) -> Memory:
    """The turn as it is, without a model."""
    text = f"Person: {session.run.goal}\nSurefoot: {reply}"
    return Memory(session.tool_context("diary").new_id(), "diary", text, session.run.id)
