"""The names that arguments of tools can have right now, asked of the tools before a plan is made."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from surefoot.errors import StorageError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from surefoot.running.session import Session
    from surefoot.tools.types import Context, Tool

log = logging.getLogger(__name__)
Found = dict[str, dict[str, Sequence[str] | None]]


async def options_now(session: Session) -> Found:
    """By tool and argument, the names of what there is; None where there are too many to choose from."""
    asking = [tool for tool in session.catalogue if tool.options]
    ctx = session.tool_context("options")

    def ask(tx: Connection | None) -> Found:
        inside = ctx.within(tx)
        return {
            tool.name: {key: _asked(tool, fn, inside) for key, fn in tool.options.items()} for tool in asking
        }

    return await session.journal.transact(ask) if asking else {}


def _asked(tool: Tool, fn: Callable[[Context], Sequence[str] | None], ctx: Context) -> Sequence[str] | None:
    """A tool that cannot say what there is leaves the name free; the call itself will say what is wrong."""
    try:
        return fn(ctx)
    except StorageError:
        raise
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and a plan can be made without its names
        log.debug("options of %s: %s", tool.name, error)
        return None
