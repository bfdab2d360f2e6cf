"""Where the command line writes: what was asked for to standard output, everything else to standard error.

Each of the two may be a terminal, with or without colour, or a pipe. A terminal gets lines that fit it; a pipe gets
plain text and whole lines. Every text passes the redaction of secrets.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from surefoot import redaction
from surefoot.cli.shown import cut, folded, prose
from surefoot.cli.texts import Texts

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

Piece = tuple[str, str]
"""A text and its style (`green`, `bold`, `dim`, empty)."""
Line = str | Sequence[Piece]

SYMBOLS = ("done", "failed", "unsure", "back", "left", "dot")
"""Each has a sign and, where a stream cannot show it, a word; both stand in the messages."""

MIN_WIDTH, MAX_WIDTH = 20, 120
"""Narrower than 20 nothing can be laid out; lines longer than 120 are hard to read."""

STATUS_DELAY = 0.25
"""Seconds: half of what waiting may be silent; shorter work shows no flicker."""


class Channel:
    """One stream."""

    def __init__(self, stream: TextIO, texts: Texts) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self._failed: OSError | None = None
        self._texts = texts
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """Columns of the terminal; 0 for a pipe, where lines stay whole."""
        if not self.terminal:
            return 0
        return min(max(shutil.get_terminal_size().columns, MIN_WIDTH), MAX_WIDTH)

    @property
    def coloured(self) -> bool:
        """Colour is wanted and can be shown."""
        return self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def can_show(self, text: str) -> bool:
        """The stream's encoding has these characters."""
        try:
            text.encode(self.stream.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    @cached_property
    def symbols(self) -> Mapping[str, str]:
        """The signs by name, or words where the stream cannot show all of them; each takes the same columns."""
        signs = {name: self._texts(f"sign.{name}") for name in SYMBOLS}
        if not self.can_show("".join(signs.values())):
            signs = {name: self._texts(f"sign_word.{name}") for name in SYMBOLS}
        width = max(map(len, signs.values()))
        return {name: f"{sign:<{width}}" for name, sign in signs.items()} | {"": " " * width}

    def write(self, text: str) -> None:
        """Write as it is. A reader that went away is no reason to stop what is being done."""
        if self.stream.closed:
            return
        try:
            self.stream.write(redaction.redact(text))
            self.stream.flush()
        except BrokenPipeError:
            self._lead_nowhere()
        except OSError as error:
            self._failed = self._failed or error
            self._lead_nowhere()

    def check(self) -> None:
        """StorageError when something could not be written; told when all is done, so that nothing is left half-way."""
        if self._failed is not None:
            from surefoot.errors import StorageError

            reason = self._failed.strerror or str(self._failed)
            raise StorageError(
                f"The answer could not be written: {reason}.",
                "Give it another place; `surefoot show` shows it again.",
                reason="output",
            )

    def _lead_nowhere(self) -> None:
        """What is still to be written goes nowhere, also what Python flushes at its end."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())
            os.close(nowhere)

    def line(self, line: Line) -> None:
        """Write one line, in colour where that can be shown."""
        pieces = [(line, "")] if isinstance(line, str) else line
        if not self.coloured:
            self.write("".join(text for text, _ in pieces) + "\n")
            return
        self.write(_ansi([(redaction.redact(text), style) for text, style in pieces]) + "\n")


STYLES = {"green": "32", "red": "31", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
"""Select Graphic Rendition codes (ECMA-48): the eight colours that follow the person's own palette."""


def _ansi(pieces: Sequence[Piece]) -> str:
    return "".join(
        f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style in STYLES else text for text, style in pieces
    )


def nowhere() -> TextIO:
    """For a stream that was closed before the program started: a job without a place for its output is still done."""
    return io.StringIO()


class Out:
    """The two channels, and the line that tells what is being waited for."""

    def __init__(
        self,
        texts: Texts,
        *,
        quiet: bool = False,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.texts = texts
        self.out = Channel(stdout or sys.stdout or nowhere(), texts)
        self.err = Channel(stderr or sys.stderr or nowhere(), texts)
        self.quiet = quiet
        self._status: Status | None = None

    # --- what was asked for ----------------------------------------------------------------------------------

    def data(self, line: Line = "") -> None:
        """A line of what was asked for."""
        self.wait_for("")
        self.out.line(line)

    def json(self, value: Any) -> None:
        """JSON, one object or list, indented; in ASCII where the stream cannot show everything."""
        self.wait_for("")
        unicode = self.out.can_show("✓漢")
        text = json.dumps(redaction.redact_json(value), ensure_ascii=not unicode, indent=2)
        self.out.write(text + "\n")

    def piece(self, text: str) -> None:
        """A piece of what was asked for, as it comes."""
        self.wait_for("")
        self.out.write(text)

    # --- everything else -------------------------------------------------------------------------------------

    def note(self, line: Line = "") -> None:
        """A line of progress; not shown with --quiet."""
        if not self.quiet:
            self._beside(lambda: self.err.line(line))

    def warn(self, line: Line) -> None:
        """A line that is shown in any case: an error, a question, the way on."""
        self._beside(lambda: self.err.line(line))

    def paragraph(self, text: str, *, indent: str = "  ") -> list[str]:
        """The text in lines that fit standard error."""
        width = self.err.width
        lines = folded(prose(text), width - len(indent)) if width else prose(text).split("\n")
        return [f"{indent}{line}".rstrip() for line in lines]

    def wait_for(self, what: str) -> None:
        """From now on this is being waited for; an empty text ends it. Shown where somebody can see it."""
        if self._status is not None and (not what or what != self._status.what):
            self._status.end()
            self._status = None
        if what and self._status is None and self.err.terminal and not self.quiet:
            self._status = Status(self.err, self.texts, what)

    @contextlib.contextmanager
    def waiting_for(self, what: str) -> Iterator[None]:
        """The same for the length of a `with` block."""
        self.wait_for(what)
        try:
            yield
        finally:
            self.wait_for("")

    def _beside(self, write: Callable[[], None]) -> None:
        status, self._status = self._status, None
        if status is None:
            write()
            return
        status.end()
        write()
        self._status = Status(self.err, self.texts, status.what, since=status.since)

    def can_ask(self) -> bool:
        """A person sits at both ends: what is asked is seen, and can be answered."""
        return self.err.terminal and sys.stdin is not None and sys.stdin.isatty()


class Status:
    """`planning… 3 s, Ctrl-C stops`, kept up to date until `end`, also while the program is busy.

    Nothing is written before it has waited a moment, so that quick work shows no flicker.
    """

    def __init__(self, channel: Channel, texts: Texts, what: str, *, since: float | None = None) -> None:
        self.what = what
        self.since = time.monotonic() if since is None else since
        self._texts = texts
        self._channel = channel
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="surefoot-status", daemon=True)
        self._thread.start()

    def _show(self) -> None:
        if self._ended.wait(max(STATUS_DELAY - (time.monotonic() - self.since), 0)):
            return
        if os.environ.get("TERM") == "dumb":
            self._channel.write(f"{self._line()}\n")
            return
        with contextlib.suppress(BrokenPipeError), self._live():
            self._ended.wait()

    def _live(self) -> Live:
        from rich.console import Console
        from rich.live import Live

        console = Console(
            file=self._channel.stream, markup=False, highlight=False, emoji=False, force_terminal=True
        )
        return Live(
            console=console,
            get_renderable=self._render,
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _render(self) -> Text:
        from rich.text import Text

        return Text(cut(self._line(), self._channel.width - 1), style="dim")

    def _line(self) -> str:
        seconds = int(time.monotonic() - self.since)
        what = redaction.redact(self.what)
        line = "  " + self._texts("status.line", what=what, seconds=seconds)
        return line if self._channel.can_show(line) else line.replace("…", "...")

    def end(self) -> None:
        """Take the line away."""
        self._ended.set()
        self._thread.join()
