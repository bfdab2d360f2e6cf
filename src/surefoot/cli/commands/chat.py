"""`surefoot chat`: one dialogue, the model kept loaded and warm."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot import redaction
from surefoot.cli.options import ModelName, cli_of
from surefoot.cli.session import Cli

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History

    from surefoot.assistant import Assistant

COMMANDS = ("/undo", "/redo", "/show", "/runs", "/notes", "/tasks", "/calendar", "/help", "/quit")
WITH_RUN = frozenset({"/undo", "/redo", "/show"})
KNOWN_RUNS = 50
"""Runs that are offered while typing: older ones are looked up with `surefoot runs`."""
HISTORY_FILE = "chat_history"


def chat(
    context: typer.Context,
    model: ModelName = "",
    go_on: Annotated[bool, typer.Option("--continue", help="Go on with the last conversation.")] = False,
) -> int:
    """A conversation: one request after the other, with history and completion."""
    cli = cli_of(context)
    return cli.run(lambda: _chat(cli, model, go_on=go_on))


async def _chat(cli: Cli, model: str, *, go_on: bool) -> int:
    from surefoot.cli.welcome import welcome

    welcome(cli)
    dialogue = await _last_dialogue(cli) if go_on else None
    async with cli.assistant(model=model, dialogue=dialogue) as assistant:
        talk = Talk(cli, assistant)
        await talk.warm()
        return await talk.hold()


async def _last_dialogue(cli: Cli) -> str | None:
    async with cli.assistant() as assistant:
        return await (await assistant.journal()).last_dialogue() or None


class Talk:
    """Reads a line, does what it says, until there is none."""

    def __init__(self, cli: Cli, assistant: Assistant) -> None:
        self._cli = cli
        self._assistant = assistant
        self._runs: list[str] = ["last"]
        self._terminal = cli.out.can_ask()
        self._session: PromptSession[str] | None = self._prompt() if self._terminal else None
        self._code = 0

    async def warm(self) -> None:
        """Load the model now, while the person is still thinking; what is wrong with it shows at once."""
        from surefoot.cli.session import interruptible

        with self._cli.out.waiting_for(self._cli.texts("status.starting")):
            await interruptible(self._assistant.warm())

    async def hold(self) -> int:
        """The conversation, to its end; the exit code of the last request where nobody sits at a terminal."""
        out, texts = self._cli.out, self._cli.texts
        if self._terminal:
            out.note([(f"  {texts('chat.hello')}", "dim")])
        while (line := await self._line()) is not None:
            if line.strip() in {"/quit", "/exit"}:
                break
            if line.strip():
                await self._take(line.strip())
        if self._terminal:
            out.note(f"  {texts('chat.bye')}")
        return 0 if self._terminal else self._code

    # --- reading ---------------------------------------------------------------------------------------------

    def _prompt(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.output import create_output

        folder = self._cli.settings.data_dir
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / HISTORY_FILE
        file.touch(mode=0o600)
        return PromptSession(
            history=history(str(file)),
            completer=completer(lambda: self._runs),
            complete_while_typing=True,
            reserve_space_for_menu=4,
            output=create_output(sys.stderr),
        )

    async def _line(self) -> str | None:
        if self._session is None:
            line = sys.stdin.readline() if sys.stdin else ""
            return line or None
        await self._know_runs()
        while True:
            try:
                return await self._session.prompt_async(self._cli.texts("chat.prompt"))
            except KeyboardInterrupt:
                self._cli.out.note([(f"  {self._cli.texts('chat.again')}", "dim")])
            except EOFError:
                return None

    async def _know_runs(self) -> None:
        journal = await self._assistant.journal()
        runs = await journal.runs(limit=KNOWN_RUNS)
        self._runs = ["last", *[await journal.short_id(run.id) for run in runs]]

    # --- doing -----------------------------------------------------------------------------------------------

    async def _take(self, line: str) -> None:
        """Do what the line says. What goes wrong ends this line and not the conversation."""
        from surefoot.cli import INTERRUPTED
        from surefoot.cli.failures import Interrupted, told

        try:
            self._code = await (self._command(line) if line.startswith("/") else self._ask(line))
        except Interrupted:
            self._code = INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the person reads it and goes on
            self._code = told(self._cli.out, error, debug=self._cli.debug)

    async def _ask(self, line: str) -> int:
        from surefoot.cli.asking import Asking
        from surefoot.cli.requests import checked

        return await Asking(self._cli, self._assistant).ask(checked(line, "request"))

    async def _command(self, line: str) -> int:
        name, *rest = line.split()
        run = rest[0] if rest else "last"
        commands = self._commands(run)
        if name not in commands:
            self._cli.out.warn(f"  {self._cli.texts('chat.unknown', name=name)}")
            return 2
        return await commands[name]()

    def _commands(self, run: str) -> dict[str, Callable[[], Awaitable[int]]]:
        from surefoot.cli.commands import rows, runs, undo

        cli, assistant = self._cli, self._assistant
        return {
            "/undo": lambda: undo.undo_in(cli, assistant, run),
            "/redo": lambda: undo.redo_in(cli, assistant, run),
            "/show": lambda: runs.show_in(cli, assistant, run),
            "/runs": lambda: runs.runs_in(cli, assistant, 20),
            "/notes": lambda: rows.show_in(cli, assistant, "notes"),
            "/tasks": lambda: rows.show_in(cli, assistant, "tasks"),
            "/calendar": lambda: rows.show_in(cli, assistant, "calendar"),
            "/help": self._help,
        }

    async def _help(self) -> int:
        for line in self._cli.texts("chat.help").strip().splitlines():
            self._cli.out.data(f"  {line}")
        return 0


def history(file: str) -> History:
    """What was typed, kept in a file, without the secrets in it."""
    from prompt_toolkit.history import FileHistory

    class Masked(FileHistory):
        def store_string(self, string: str) -> None:
            from surefoot.flows.detection import mask_found

            mask_found(string)  # the line is written here before anybody reads it
            super().store_string(redaction.redact(string).encode("utf-8", "replace").decode())

    return Masked(file)


def completer(runs: Callable[[], Iterable[str]]) -> Completer:
    """Completes commands at the start of a line, and run ids behind the commands that take one."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            del complete_event
            before = document.text_before_cursor
            name, space, started = before.partition(" ")
            if not space and name.startswith("/"):
                found, word = tuple(COMMANDS), name
            elif name in WITH_RUN and " " not in started:
                found, word = tuple(runs()), started
            else:
                return
            for text in found:
                if text.startswith(word):
                    yield Completion(text, start_position=-len(word))

    return Words()
