"""Real MCP servers for tests: programs over stdio, and one over HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psutil

from models.servers import free_port
from surefoot.settings import Settings, load_settings, settings_file
from surefoot.tools.mcp.client import McpTools
from surefoot.tools.types import Tool

SERVERS = Path(__file__).parent / "mcp_servers"
PATIENCE = 60.0
"""Seconds until a test gives up on something that does not happen, however busy the machine is."""


def helpful(**more: Any) -> dict[str, Any]:
    """The table of the server made with the SDK."""
    return {"command": sys.executable, "args": [str(SERVERS / "helpful.py")], **more}


def by_hand(mode: str, **more: Any) -> dict[str, Any]:
    """The table of the server written by hand."""
    return {"command": sys.executable, "args": [str(SERVERS / "by_hand.py"), mode], **more}


def settings_with(**tables: dict[str, Any]) -> Settings:
    """The person's settings, read from a file that has these tables under `mcp`."""
    path = settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for name, table in tables.items():
        lines += [f"[mcp.{json.dumps(name)}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return load_settings()


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


@asynccontextmanager
async def opened(**tables: dict[str, Any]) -> AsyncIterator[Opened]:
    """The tools of these servers; afterwards no program of theirs is left."""
    before = descendants()
    tools = McpTools(settings_with(**tables))
    try:
        yield await Opened(tools).refresh()
    finally:
        await tools.close()
    if all("command" in table for table in tables.values()):
        assert await eventually(lambda: descendants() <= before)


class Opened:
    """Tools of servers as a plan would call them: by name, with arguments."""

    def __init__(self, tools: McpTools) -> None:
        self.mcp = tools
        self.tools: dict[str, Tool] = {}
        self.notices: tuple[str, ...] = ()

    async def refresh(self) -> Opened:
        found = await self.mcp.tools()
        self.tools = {tool.name: tool for tool in found.tools}
        self.notices = found.notices
        return self

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self.tools[tool].fn(**arguments)

    def folder(self, server: str) -> Path:
        return load_settings().data_dir / "mcp" / server

    def said(self, server: str, name: str = "said.txt") -> list[str]:
        path = self.folder(server) / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def pid(self, server: str) -> int:
        return int(self.said(server, "pid.txt")[0])


def descendants() -> set[int]:
    """Living processes under this one."""
    found = psutil.Process().children(recursive=True)
    return {child.pid for child in found if is_running(child.pid)}


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def eventually(true: Any) -> bool:
    """Wait until it is true; False when it does not become so."""
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.01)
    return True


class HttpServer:
    """The helpful server over streamable HTTP, in a folder of its own; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, str(SERVERS / "helpful.py"), str(self.port)]
        self._process = subprocess.Popen(command, cwd=self.folder, env={"PATH": os.environ["PATH"]})
        end = time.monotonic() + PATIENCE
        while not self._listens():
            assert time.monotonic() < end
            time.sleep(0.05)

    def _listens(self) -> bool:
        import socket

        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def sent(self) -> list[str]:
        path = self.folder / "sent.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@contextmanager
def http_server(folder: Path) -> Iterator[HttpServer]:
    server = HttpServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
