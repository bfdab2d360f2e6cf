"""The command line in this process with a scripted model, and in a process of its own, in a pipe or a terminal."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo

import pytest

from models.servers import LoopbackServer, as_json, sse
from surefoot import Assistant, ScriptedModel, Tool, ToolCall
from surefoot.cli import app, session
from surefoot.journal.types import Journal

NOW = datetime(2026, 4, 27, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
EXECUTABLE = str(Path(sys.executable).with_name("surefoot"))
CHAT = "/v1/chat/completions"
STEPS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
PATIENCE = 60.0
"""Seconds until a test gives up on a process that does nothing: it is dead then, however busy the machine is."""


def plan(*calls: tuple[str, dict[str, Any]]) -> list[ToolCall]:
    """What a planner's model answers: these calls."""
    return [ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(calls)]


BIRTHDAY = plan(
    ("addNote", {"title": "Anna's birthday", "text": "3 May"}),
    ("addTask", {"title": "Buy a present", "due": "2 May"}),
    ("listTasks", {"until": "3 May"}),
)


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandLine:
    """Runs commands here: `cli("ask", "hello")`. Each gets a new assistant on the same data, as processes do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.model = ScriptedModel()
        self.tools: tuple[Tool, ...] = ()
        self.asked_for: list[str | None] = []
        self.clock: Callable[[], datetime] = lambda: NOW
        monkeypatch.setattr(session, "open_assistant", self._open)
        monkeypatch.setenv("SUREFOOT_ZONE", "Europe/Berlin")
        monkeypatch.setenv("COLUMNS", "80")
        for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)

    def answers(self, *answers: Any, **options: Any) -> ScriptedModel:
        self.model = ScriptedModel(*answers, **options)
        return self.model

    def _open(self, settings: Any, *, model: str | None = None, dialogue: str | None = None) -> Assistant:
        self.asked_for.append(model)
        return Assistant(
            model=self.model, settings=settings, dialogue=dialogue, tools=self.tools, clock=self.clock
        )

    def __call__(self, *arguments: str) -> Ran:
        self._capsys.readouterr()
        code = app(list(arguments), standalone_mode=False)
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def at_terminal(self, *arguments: str, typed: Sequence[str | BaseException] = ()) -> Ran:
        """The same where a person sits: both streams are one screen, and this is typed."""
        screen, keyboard = Screen(), Keyboard(typed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", screen)
            patch.setattr("sys.stderr", screen)
            patch.setattr("sys.stdin", keyboard)
            code = app(list(arguments), standalone_mode=False)
        return Ran(code, plain(screen.text), screen.text)

    def journal(self, work: Callable[[Journal], Any]) -> Any:
        """Do something with the journal, as another process would."""

        async def run() -> Any:
            from surefoot import load_settings

            async with Assistant(model=self.model, settings=load_settings()) as assistant:
                return await work(await assistant.journal())

        return asyncio.run(run())


class Keyboard:
    """A standard input that says it is a terminal; it ends when everything was typed."""

    def __init__(self, typed: Sequence[str | BaseException]) -> None:
        self._typed = list(typed)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        line = self._typed.pop(0) if self._typed else ""
        if isinstance(line, BaseException):
            raise line
        return line


class Screen:
    """A stream that says it is a terminal and keeps what is written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding
        self.closed = False
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        text.encode(self.encoding)
        self.text += text
        return len(text)

    def flush(self) -> None:
        return None

    @property
    def lines(self) -> list[str]:
        return plain(self.text).splitlines()


def plain(text: str) -> str:
    """The text without what steers a terminal."""
    return STEPS.sub("", text)


# --- processes ---------------------------------------------------------------------------------------------------


def chunk(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "test",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


def said(*pieces: str, **options: Any) -> Any:
    """A streamed answer in prose."""
    return sse(*[chunk(content=piece) for piece in pieces], chunk("stop"), **options)


def called(calls: Sequence[ToolCall]) -> Any:
    """A streamed answer with tool calls."""
    parts = [
        chunk(
            tool_calls=[
                {
                    "index": number,
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
            ]
        )
        for number, call in enumerate(calls)
    ]
    return sse(*parts, chunk("tool_calls"))


def model_server(*answers: Any) -> LoopbackServer:
    """An OpenAI-compatible server with one model, `test`, that gives these answers in order."""
    server = LoopbackServer()
    server.on("/v1/models", as_json({"object": "list", "data": [{"id": "test", "object": "model"}]}))
    server.on(CHAT, *answers)
    return server


def environment(server: LoopbackServer | None, **more: str) -> dict[str, str]:
    """The environment of a process that may speak to this server only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    chosen = {
        "SUREFOOT_ZONE": "Europe/Berlin",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "OPENAI_API_KEY": "k-of-the-test",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "COLUMNS": "80",
        "SUREFOOT_PLANNER_TIMEOUT_SEC": "60",
    }
    if server is not None:
        chosen |= {"SUREFOOT_OPENAI_URL": f"{server.url}/v1", "SUREFOOT_MODEL": "openai:test"}
    return {**kept, **chosen, **more}


def run(arguments: Sequence[str], env: dict[str, str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The real command in a pipe."""
    return subprocess.run(
        [EXECUTABLE, *arguments], env=env, capture_output=True, timeout=PATIENCE, check=False, **options
    )


CONTROLLING = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the process's own, so that Ctrl-C in it is a signal."""


class Terminal:
    """The real command in a terminal: `expect` what is shown, `type` what a person types."""

    def __init__(
        self, arguments: Sequence[str], env: dict[str, str], program: Sequence[str] | None = None
    ) -> None:
        self._master, slave = pty.openpty()
        command = [EXECUTABLE, *arguments] if program is None else [sys.executable, *program]
        self._process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLING, *command],
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            close_fds=True,
        )
        os.close(slave)
        self.raw = b""
        self._at = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing of a failed test is left behind."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        return plain(self.raw.decode("utf-8", "replace"))

    def expect(self, text: str) -> None:
        """Wait until this is shown, behind what was expected before."""
        end = time.monotonic() + PATIENCE
        while text not in self.text[self._at :]:
            assert time.monotonic() < end, f"{text!r} never came:\n{self.text}"
            if not self._read(0.1) and self._process.poll() is not None and not self._read(0.1):
                assert text in self.text[self._at :], f"it ended without {text!r}:\n{self.text}"
                break
        self._at = self.text.index(text, self._at) + len(text)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Wait for its end; the exit code."""
        limit = time.monotonic() + PATIENCE
        while self._process.poll() is None:
            assert time.monotonic() < limit, f"it never ended:\n{self.text}"
            self._read(0.1)
        while self._read(0.1):
            pass
        return self._process.returncode

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # Linux says so when the other side is gone
            return False
        self.raw += data
        return bool(data)
