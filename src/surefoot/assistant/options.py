"""The names that arguments of tools can have right now, asked of the tools before a plan is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.running.session import Session

Found = dict[str, dict[str, Sequence[str] | None]]


async def options_now(session: Session) -> Found:
    """By tool and argument, the names of what there is; None where there are too many to choose from."""
    asking = [tool for tool in session.catalogue if tool.options]
    ctx = session.tool_context("options")

    def ask(tx: Connection | None) -> Found:
        inside = ctx.within(tx)
        return {tool.name: {key: fn(inside) for key, fn in tool.options.items()} for tool in asking}

    return await session.journal.transact(ask) if asking else {}
