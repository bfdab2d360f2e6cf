"""The servers of the settings, and their tools."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot.errors import OutcomeUnknownError, SurefootError, ToolError
from surefoot.tools.mcp import environment, session
from surefoot.tools.mcp.lines import Line
from surefoot.tools.mcp.mapping import MAX_TOOLS, Mapped, map_tools, plain_text, tool_name
from surefoot.tools.mcp.sdk import installed
from surefoot.tools.mcp.servers import McpServer, read_servers

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from surefoot.models.keys import Key
    from surefoot.settings import Settings

OPEN_SEC = 30.0
"""Seconds to come up, and to list its tools: a run waits for it before it plans. A call has its own time."""

WAITS = (0.0, 0.5, 2.0)
"""Seconds before each attempt to open a server again that a call needs: one that is being restarted is back by then."""

LONGEST_REST = 60.0
"""Seconds for which a server that does not come up is left alone at most; it doubles from one second on."""

NOT_INSTALLED = "MCP servers are set, and the extra is missing: pip install 'surefoot[mcp]'."

SENDS = 3
"""Times that a call which never reached its server is sent."""


class Server:
    """One server: opened when first needed, opened again when it died, its tools listed again when they changed.

    Args:
        name: its name in the settings.
        config: its table.
        settings: for the data folder and `offline`.
        clock: monotonic seconds.
        sleep: how to wait between attempts.
    """

    def __init__(
        self,
        name: str,
        config: McpServer,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = name
        self.config = config
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._connection: session.Connection | None = None
        self._mapped = Mapped((), ())
        self._offered: list[Any] = []
        self._stale = True
        self._keys: tuple[Key, ...] = ()
        self._failures = 0
        self._not_before = 0.0

    @property
    def up(self) -> bool:
        """It is open, as far as can be told without asking it."""
        return self._connection is not None and self._connection.alive

    # --- its tools -------------------------------------------------------------------------------------------

    async def tools(self) -> Mapped:
        """What it offers now; a sentence in `notices` where that is nothing, or less than it says. Never raises."""
        try:
            async with self._lock:
                connection = await self._living(waits=WAITS[:1])
                if not self._stale and connection.watched:
                    return Mapped(self._mapped.tools, ())
                return await self._list(connection)
        except SurefootError as error:
            return Mapped((), (f"{error} The run goes on without its tools.",))

    def mask_keys(self) -> None:
        """Its keys are masked in this context too, whichever opened it: what it says may hold them."""
        for key in self._keys:
            key.reveal()

    async def _list(self, connection: session.Connection) -> Mapped:
        from mcp.shared.exceptions import MCPError

        self._stale = False
        try:
            async with asyncio.timeout(OPEN_SEC):
                offered = await session.list_tools(connection, MAX_TOOLS)
        except (session.NotSentError, session.LostError, MCPError, TimeoutError, ValueError) as error:
            self._stale = True
            why = "it took too long" if isinstance(error, TimeoutError) else session.reason(error)
            raise ToolError(
                f"MCP server {self.name!r} did not list its tools: {plain_text(why, 300)}."
            ) from error
        if offered == self._offered:
            return Mapped(self._mapped.tools, ())
        self._offered = offered
        self._mapped = map_tools(self.name, self.config, offered, self.call)
        return self._mapped

    # --- a call ----------------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], *, repeatable: bool) -> Any:
        """Call a tool by the server's own name for it, and give its result as data.

        Raises:
            ToolError: the tool failed, or the server cannot be reached.
            OutcomeUnknownError: the server died over it, and it is not one that may be repeated.
        """
        from mcp.shared.exceptions import MCPError

        from surefoot.tools.mcp.results import data_of

        shown = tool_name(self.name, tool)
        try:
            try:
                result = await self._send(tool, arguments)
            except session.LostError as lost:
                if not repeatable:
                    raise self._unknown(shown, lost) from lost
                result = await self._send(tool, arguments)
        except (MCPError, session.LostError) as error:
            said = plain_text(session.reason(error), 1_000)
            raise ToolError(f"{shown} failed: {said}", tool=shown) from error
        return data_of(shown, result)

    def _unknown(self, shown: str, lost: session.LostError) -> OutcomeUnknownError:
        return OutcomeUnknownError(
            f"Whether {shown} took effect is not known: its server was lost over it "
            f"({plain_text(session.reason(lost), 200)}).",
            "Look at what it should have changed; it is not repeated by itself.",
            tool=shown,
        )

    async def _send(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        for _ in range(SENDS):
            async with self._lock:
                connection = await self._living(waits=WAITS)
            self.mask_keys()
            try:
                return await session.call_tool(connection, tool, arguments)
            except session.NotSentError as error:
                why = session.reason(error)
                await connection.close()
        raise ToolError(f"MCP server {self.name!r} does not take the call: {plain_text(why, 300)}.")

    # --- its session -----------------------------------------------------------------------------------------

    async def _living(self, waits: tuple[float, ...]) -> session.Connection:
        """The open session, or a new one; the lock is held."""
        if self._connection is not None and self._connection.alive:
            return self._connection
        rest = self._not_before - self._clock()
        if rest > 0:
            raise self._down(f"it failed {self._failures} times, and is tried again in {rest:.0f} s")
        error: SurefootError | None = None
        for wait in waits:
            await self._sleep(wait)
            try:
                return await self._opened()
            except session.NotOpenedError as failed:
                error = self._down(str(failed))
        self._failures += 1
        self._not_before = self._clock() + min(LONGEST_REST, 2.0 ** (self._failures - 1))
        raise error or self._down("it was not tried")

    async def _opened(self) -> session.Connection:
        if self._connection is not None:
            await self._connection.close()
        connection = session.Connection(self._line(), self._changed)
        await connection.open(OPEN_SEC)
        self._connection = connection
        self._failures = 0
        self._stale = True  # another process may offer other tools
        return connection

    def _line(self) -> Line:
        """What it takes to reach it; raises SettingsError and ProviderAuthError, which name what is missing."""
        config = self.config
        if config.url:
            from surefoot.models.address import AddressPolicy
            from surefoot.tools.mcp.http import HttpLine

            policy = AddressPolicy.for_endpoint(config.url, self._settings)
            given = environment.headers(self.name, config)
            self._keys = given.keys
            return HttpLine(config.url, given.values, policy)
        from surefoot.tools.mcp.stdio import StdioLine

        given = environment.variables(self.name, config)
        self._keys = given.keys
        command = [os.path.expanduser(word) for word in (config.command, *config.args)]  # noqa: PTH111 - no paths yet
        return StdioLine(command, given.values, self._settings.data_dir / "mcp" / self.name)

    def _changed(self) -> None:
        self._stale = True

    def _down(self, why: str) -> ToolError:
        return ToolError(
            f"MCP server {self.name!r} cannot be used: {plain_text(why, 500)}.", server=self.name
        )

    async def close(self) -> None:
        """End its session and its program; it is opened again if it is used again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class McpTools:
    """The tools of every server that is set and enabled.

    Raises:
        SettingsError: a table of the settings cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self.servers = [Server(name, config, settings) for name, config in read_servers(settings.mcp).items()]

    async def tools(self) -> Mapped:
        """Those of all servers, in the order of the settings. Never raises."""
        found = [mapped for _, mapped in await self.by_server()]
        notices = [text for mapped in found for text in mapped.notices]
        return Mapped(tuple(tool for mapped in found for tool in mapped.tools), tuple(dict.fromkeys(notices)))

    async def by_server(self) -> list[tuple[Server, Mapped]]:
        """Each server and what it offers; they are opened side by side. Never raises."""
        if not installed():
            return [(server, Mapped((), (NOT_INSTALLED,))) for server in self.servers]
        found = await asyncio.gather(*(server.tools() for server in self.servers))
        for server in self.servers:
            server.mask_keys()  # here: what `gather` starts has a context of its own
        return list(zip(self.servers, found, strict=True))

    async def close(self) -> None:
        """Close every server; again: nothing happens."""
        await asyncio.gather(*(server.close() for server in self.servers))
