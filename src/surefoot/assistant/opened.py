"""What an assistant opens when it is first needed, each once, however many ask at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from surefoot.errors import MisuseError
from surefoot.journal.types import Journal
from surefoot.models.types import LanguageModel
from surefoot.settings import Settings
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.types import Effect, Tool

if TYPE_CHECKING:
    from surefoot.tools.mcp.client import McpTools


class Models:
    """The models of one assistant: the one that answers, the one that plans and the one that routes."""

    def __init__(self, settings: Settings, given: LanguageModel | str | None) -> None:
        self._settings = settings
        self._given = given
        self._lock = asyncio.Lock()
        self._opened: dict[str, LanguageModel] = {}

    async def chat(self) -> LanguageModel:
        """The model that answers."""
        async with self._lock:
            return await self._chat()

    async def planner(self) -> LanguageModel:
        """The model that plans: `planner_model` where it is set, else the one that answers."""
        from surefoot.models import planner_model

        async with self._lock:
            chat = await self._chat()
            return await self._once("planner", lambda: planner_model(self._settings, chat))

    async def router(self) -> LanguageModel | None:
        """The model that picks tools, None where `router_model` is not set."""
        name = self._settings.router_model
        if not name:
            return None
        from surefoot.models import open_model

        async with self._lock:
            await self._chat()
            for model in self._opened.values():
                if model.name == name:
                    return model
            return await self._once("router", lambda: open_model(name, self._settings))

    async def close(self) -> None:
        """Let go of those that were opened here."""
        async with self._lock:
            mine = {id(model): model for model in self._opened.values() if model is not self._given}
            self._opened.clear()
            results = await asyncio.gather(
                *(model.close() for model in mine.values()), return_exceptions=True
            )
        for failure in results:
            if failure is not None:
                raise failure

    async def _chat(self) -> LanguageModel:
        return await self._once("chat", self._open_chat)

    async def _open_chat(self) -> LanguageModel:
        from surefoot.models import default_model, open_model

        if self._given is None:
            return await default_model(self._settings)
        return await open_model(self._given, self._settings) if isinstance(self._given, str) else self._given

    async def _once(self, what: str, opening: Callable[[], Awaitable[LanguageModel]]) -> LanguageModel:
        if what not in self._opened:
            self._opened[what] = await opening()
        return self._opened[what]


class Servers:
    """The tools of the MCP servers in the settings, behind those that are there anyway.

    Args:
        settings: their tables.
        base: the tools that are there anyway.

    Raises:
        SettingsError: a table cannot be used.
    """

    def __init__(self, settings: Settings, base: Catalogue) -> None:
        self._base = base
        self._catalogue = base
        self._untold: list[str] = []
        self._tools: McpTools | None = None
        if settings.mcp:
            from surefoot.tools.mcp.client import McpTools

            self._tools = McpTools(settings)

    async def catalogue(self) -> Catalogue:
        """All tools as they are now; servers are opened when this is first asked. Never raises for a server.

        The same catalogue again as long as nothing changed: prompts are kept by it.
        """
        if self._tools is None:
            return self._base
        tools, notices = await self._tools.tools()
        taken = [tool.name for tool in tools if tool.name in self._base]
        kept = [tool for tool in tools if tool.name not in self._base]
        self._note(notices)
        self._note(
            f"Tool {name!r} of an MCP server is left out: one of yours has its name." for name in taken
        )
        now = list(self._catalogue)[len(self._base) :]
        if [id(tool) for tool in now] != [id(tool) for tool in kept]:
            self._catalogue = self._base.with_tools(*kept)
        return self._catalogue

    def _note(self, notices: Iterable[str]) -> None:
        self._untold += [text for text in notices if text not in self._untold]

    def notices(self) -> list[str]:
        """What the person should know of the servers; each is given once."""
        untold, self._untold = self._untold, []
        return untold

    async def close(self) -> None:
        """End the sessions and the programs that were started; again: nothing happens."""
        if self._tools is not None:
            await self._tools.close()


def idle_policies(settings: Settings, catalogue: Iterable[Tool]) -> list[str]:
    """Names in the person's policy that hold for nothing: of a tool that was renamed, or misspelt.

    A kit or a server that is merely not offered now is no reason to say anything.
    """
    chosen = [name for name, policy in settings.policy.items() if policy != "auto"]
    if settings.mcp:
        from surefoot.tools.mcp.servers import is_of_server

        chosen = [name for name in chosen if not is_of_server(name, settings.mcp)]
    named = _policy_names(catalogue)
    if all(name.casefold() in named for name in chosen):
        return []
    from surefoot.tools.kits import builtin

    named |= _policy_names(builtin(None))
    return sorted(name for name in chosen if name.casefold() not in named)


def _policy_names(tools: Iterable[Tool]) -> set[str]:
    return {name.casefold() for tool in tools for name in (tool.name, tool.kit, str(tool.effect))} | {
        effect.value for effect in Effect
    }


def check_journal(journal: Journal | None, tools: Iterable[Tool]) -> None:
    """MisuseError when kits keep their rows in a database and this journal has none."""
    if getattr(journal, "database", True) is not None:
        return
    kits = sorted({tool.kit or tool.name for tool in tools if tool.where == "writer"})
    if kits:
        raise MisuseError(
            f"{', '.join(kits)}: these kits keep their rows in the journal's database, and the journal given has none.",
            "Give it one, MemoryJournal(Database(path)), or leave them out: kits=().",
            kits=kits,
        )
