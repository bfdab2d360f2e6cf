"""One request's plan, as a turn makes it: with what is there, what arguments may name, and what the router offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.assistant.context import known_now
from surefoot.assistant.options import options_now
from surefoot.models.types import LanguageModel, Message
from surefoot.planning.planner import Complete, OutlinePlanner, PlanResult

if TYPE_CHECKING:
    from surefoot.running.session import Session


async def planned(
    session: Session,
    model: LanguageModel,
    *,
    offered: Sequence[str] | None,
    dialogue: Sequence[Message] = (),
    complete: Complete,
    check: Complete,
) -> PlanResult:
    """The plan for the session's goal; nothing is written.

    Args:
        session: its goal, clock, catalogue and journal are read.
        model: the model that plans.
        offered: names of the tools that may be called.
        dialogue: the conversation before it, oldest first.
        complete: makes the model call for the plan.
        check: makes the second one, about what the plan left over.
    """
    known = await known_now(session, session.run.goal, dialogue)
    return await OutlinePlanner(model, session.settings, session.catalogue).plan(
        session.run.goal,
        dialogue=dialogue,
        only=offered,
        now=session.now,
        known=known.lines,
        options=await options_now(session),
        things=known.things,
        complete=complete,
        check=check,
    )
