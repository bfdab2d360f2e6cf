"""What a session needs to know of the line to its server, whichever kind it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

NOT_SENT = -417_001
"""Code of an error answer that we make ourselves: the request did not reach the server. Outside JSON-RPC's range."""

MAYBE_SENT = -417_002
"""The same where the request may have reached it, and the answer was lost."""

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of one message of a server. A longer one ends the line: it would fill the memory before anybody could read it."""


class Line(Protocol):
    """One way to a server, to be opened once."""

    keeps_open: bool
    """A stream that ends with the server (a pipe), not requests that stand alone (HTTP)."""

    def opened(self, ended: Callable[[], None]) -> AbstractAsyncContextManager[TransportStreams]:
        """Open it; `ended` is called once the server's side has ended."""
        ...

    def alive(self) -> bool:
        """As far as can be told without asking the server."""
        ...

    def trouble(self) -> str:
        """What the server said beside the protocol, its last words; empty where there are none."""
        ...
