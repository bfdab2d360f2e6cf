"""A call whose end is not known: did it happen?"""

from __future__ import annotations

from surefoot.journal.types import Call, CallStatus
from surefoot.running import invoke
from surefoot.running.session import Session
from surefoot.tools.types import Effect, Tool


async def may_start_again(session: Session, tool: Tool, call: Call) -> bool:
    """True when the call is known not to have had its effect, or to have none.

    A kit's effect commits with its result, so without a result there is no effect. A read has none. Of a write outside
    the database the images tell: what it touches is as it was before. Nothing is known of an external call.
    """
    if tool.effect is Effect.READ:
        return True
    if tool.effect is Effect.EXTERNAL or tool.undo is None:
        return False
    if tool.where == "writer":
        return call.status is not CallStatus.DONE
    if call.undo_version != tool.undo.version:
        return False
    try:
        now = await invoke.capture(tool, session.tool_context(call.key), call.arguments)
    except Exception:  # noqa: BLE001 - what cannot be looked at is not known
        return False
    return bool(now == call.before)
