"""A run as it happens: its plan, one line for each step as it ends, the answer as it comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.cli.out import Channel, Line, Out
from surefoot.cli.sentences import (
    call_words,
    error_words,
    in_order,
    numbered,
    result_words,
    seconds_words,
    step_words,
    steps_in_order,
)
from surefoot.cli.shown import cells, one_line, prose
from surefoot.cli.steps import StepLine, plan_lines, right_words
from surefoot.events import LIVE_ONLY, Event, EventType

if TYPE_CHECKING:
    from surefoot.assistant import RunResult
    from surefoot.tools.catalogue import Catalogue

Data = Mapping[str, Any]


class Renderer:
    """Shows the events of one run, however often it stops for a person and goes on.

    With `answer` the reply is written to standard output, as it comes in a terminal, whole in a pipe.
    """

    def __init__(self, out: Out, catalogue: Catalogue, *, answer: bool = True) -> None:
        self._out = out
        self._catalogue = catalogue
        self._texts = out.texts
        self._line = StepLine(out.err)
        self._answer = answer
        self._seen = 0
        self._steps: dict[int, Data] = {}
        self._ended: set[int] = set()
        self._calls: dict[str, Data] = {}
        self._stream: Stream | None = None
        self._handlers: Mapping[EventType, Callable[[Data], None]] = {
            EventType.RUN_CREATED: lambda _: self._wait("status.planning"),
            EventType.PLAN_MADE: self._plan,
            EventType.MEMORY_READ: self._memory,
            EventType.STEP_STARTED: self._started,
            EventType.STEP_UNRESOLVED: self._unresolved,
            EventType.CALL_INTENDED: self._intended,
            EventType.CALL_DONE: self._done,
            EventType.CALL_FAILED: self._failed,
            EventType.CALL_REFUSED: self._failed,
            EventType.CALL_INTERRUPTED: lambda data: self._unsure(data, "interrupted"),
            EventType.CALL_UNKNOWN: lambda data: self._unsure(data, "unknown"),
            EventType.APPROVAL_NEEDED: self._intended,
            EventType.APPROVAL_DECLINED: lambda data: self._unsure(data, "declined", "left"),
            EventType.NOTICE: self._notice,
            EventType.TOKEN: self._token,
            EventType.PROGRESS: self._progress,
        }

    def begin(self) -> None:
        """Before the first event: opening a model may take longer than anything that follows."""
        self._wait("status.starting")

    def show(self, event: Event) -> None:
        """Show one event; one that was shown before (a resumed run tells all of them) is left out."""
        if event.type not in LIVE_ONLY:
            if event.seq <= self._seen:
                return
            self._seen = event.seq
        handler = self._handlers.get(event.type)
        if handler is not None:
            handler(event.data)

    def finish(self, result: RunResult) -> None:
        """After the last event: what was left undone, and the reply."""
        self._out.wait_for("")
        if result.status == "done":
            for number, step in self._steps.items():
                if number and step["kind"] in {"tool", "prose"} and number not in self._ended:
                    words = f"{one_line(step_words(step))}: {self._texts('step.not_done')}"
                    self._note(self._line("left", number, words))
        if self._answer and (result.reply or self._stream):
            self._end_answer(result.reply)

    def stop(self) -> None:
        """The run was stopped from outside: leave whole lines behind."""
        self._out.wait_for("")
        if self._stream is not None:
            self._stream.end()
            self._stream = None

    # --- plan and steps --------------------------------------------------------------------------------------

    def _plan(self, data: Data) -> None:
        self._out.wait_for("")
        steps = steps_in_order(self._catalogue, data["steps"])
        self._steps.update(numbered(steps))
        self._note(plan_lines(self._out.err, self._texts, steps))
        if data.get("failed"):
            self._out.note([("  ", ""), (self._texts("plan.failed", reason=data["failed"]), "yellow")])
        self._wait_for_rest()

    def _memory(self, data: Data) -> None:
        words = self._texts.count("step.memory", data["hits"], topic=one_line(str(data["topic"]), 60))
        self._note(self._line("done", "", words))

    def _started(self, data: Data) -> None:
        step = self._steps.get(data["step"])
        concrete = step is None or step["concrete"]
        key = "status.step" if concrete else "status.resolving"
        self._out.wait_for(self._texts(key, n=data["step"], text=one_line(data["text"], 40)))

    def _unresolved(self, data: Data) -> None:
        self._end(data["step"], "failed", f"{one_line(data['text'])}: {data['reason']}")

    def _end(self, step: int, mark: str, words: str, right: str = "") -> None:
        self._ended.add(step)
        self._note(self._line(mark, step or "", words, right))
        self._wait_for_rest()

    def _wait_for_rest(self) -> None:
        work = {n for n, step in self._steps.items() if step["kind"] in {"tool", "prose"}}
        self._wait("status.working" if work - self._ended else "status.answering")

    # --- calls -----------------------------------------------------------------------------------------------

    def _intended(self, data: Data) -> None:
        self._calls[data["call"]] = data

    def _of(self, data: Data, key: str, default: Any = 0) -> Any:
        """A field of the call: from this event, else from the one that told of its start."""
        return data.get(key, self._calls.get(data["call"], {}).get(key, default))

    def _done(self, data: Data) -> None:
        step = self._of(data, "step")
        words = result_words(self._texts, data["result"])
        if data.get("merged_into"):
            words = self._texts("step.merged", words=words)
        right = right_words(
            self._texts,
            ms=data["ms"],
            undoable=data["undoable"],
            ordinal=data.get("ordinal", 0),
            step=step,
        )
        self._end(step, "done", words, right)

    def _failed(self, data: Data) -> None:
        self._end(self._of(data, "step"), "failed", f"{self._called(data)}: {error_words(data['error'])}")

    def _unsure(self, data: Data, what: str, mark: str = "unsure") -> None:
        words = f"{self._called(data)}: {self._texts(f'call_status.{what}')}"
        self._end(self._of(data, "step"), mark, words)

    def _called(self, data: Data) -> str:
        arguments = self._of(data, "arguments", None)
        tool = self._of(data, "tool", "")
        return (
            one_line(tool)
            if arguments is None
            else call_words(tool, in_order(self._catalogue, tool, arguments))
        )

    def _notice(self, data: Data) -> None:
        if data.get("text"):
            self._note(self._line("dot", "", one_line(data["text"])))

    # --- waiting, and the answer -----------------------------------------------------------------------------

    def _wait(self, key: str) -> None:
        if self._stream is None:
            self._out.wait_for(self._texts(key))

    def _progress(self, data: Data) -> None:
        done, total = data.get("done"), data.get("total")
        share = f" {100 * done // total} %" if done is not None and total else ""
        self._out.wait_for(f"{one_line(str(data['what']))}{share}")

    def _token(self, data: Data) -> None:
        if not self._answer or not self._out.out.terminal:
            return
        if self._stream is None:
            self._out.wait_for("")
            self._stream = Stream(self._out.piece, self._out.out.width)
        self._stream.feed(data["text"])

    def _end_answer(self, reply: str) -> None:
        """The reply is what counts: where the stream brought something else (it broke off), the reply follows it."""
        streamed = self._stream.end() if self._stream else ""
        self._stream = None
        if streamed == reply.strip():
            return
        if not self._out.out.terminal:
            self._out.data(prose(reply))
            return
        stream = Stream(self._out.piece, self._out.out.width)
        stream.feed(reply)
        stream.end()

    def _note(self, lines: list[Any]) -> None:
        for line in lines:
            self._out.note(line)


class Stream:
    """Text that comes in pieces, folded at the width of the terminal as it comes."""

    def __init__(self, write: Callable[[str], None], width: int, indent: str = "  ") -> None:
        self._write = write
        self._room = width - len(indent)
        self._indent = indent
        self._text = ""
        self._word = ""
        self._gap = ""
        self._used = 0
        """Columns written on this line, the indent not counted."""

    def feed(self, text: str) -> None:
        """Some more of it."""
        if not self._text:
            text = text.lstrip()
        self._text += text
        for char in prose(text):
            self._take(char)

    def _take(self, char: str) -> None:
        if char == "\n":
            self._put_word()
            self._break()
        elif char in " \t":
            self._put_word()
            self._gap += " "
        else:
            if cells(char) > 1 or cells(self._word + char) > self._room:
                self._put_word()
            self._word += char
            if cells(char) > 1:
                self._put_word()

    def end(self) -> str:
        """Finish the last line; everything that came, without space around it."""
        self._put_word()
        if self._used:
            self._break()
        return self._text.strip()

    def _break(self) -> None:
        self._write("\n")
        self._used, self._gap = 0, ""

    def _put_word(self) -> None:
        if not self._word:
            return
        if self._used and self._used + len(self._gap) + cells(self._word) > self._room:
            self._break()
        self._write(("" if self._used else self._indent) + self._gap + self._word)
        self._used += len(self._gap) + cells(self._word)
        self._word = self._gap = ""


def summary_lines(out: Out, result: RunResult, short: str, seconds: float) -> list[Line]:
    """`2 model calls · 412 tokens (388 from cache) · 9.1 s · surefoot undo 7f3a takes back 2 changes`."""
    texts, usage = out.texts, result.usage
    parts = []
    if result.model_calls:
        parts.append(texts.count("summary.model_calls", result.model_calls))
        tokens = usage.prompt_tokens + usage.output_tokens
        cached = texts("summary.cached", n=usage.cached_tokens) if usage.cached_tokens else ""
        parts += [texts.count("summary.tokens", tokens) + cached] if tokens else []  # some servers count none
    parts.append(seconds_words(seconds))
    if result.undoable:
        parts.append(texts.count("summary.undo", result.undoable, run=short))
    return [[(f"  {line}", "dim")] for line in joined(parts, out.err, "·" if out.err.can_show("·") else "|")]


def joined(parts: Sequence[str], channel: Channel, dot: str) -> list[str]:
    """The parts with dots between them, on as many lines as the terminal needs, none broken inside."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} {dot} {part}"
        if channel.width and cells(longer) > channel.width - 2:
            lines.append(part)
        else:
            lines[-1] = longer
    return lines
