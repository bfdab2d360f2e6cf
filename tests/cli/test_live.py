"""What a terminal shows while a run goes on: events in, lines out."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from surefoot.cli import out as out_module
from surefoot.cli.live import Renderer, Stream, joined
from surefoot.cli.out import Out
from surefoot.cli.shown import cells
from surefoot.cli.steps import StepLine, plan_lines, right_words
from surefoot.cli.texts import Texts
from surefoot.events import Event, EventType
from surefoot.tools.catalogue import Catalogue
from surefoot.tools.kits import builtin

from .support import Screen, plain


@pytest.fixture
def screen(monkeypatch) -> Screen:
    """Both streams are one terminal of 60 columns."""
    made = Screen()
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


def step(text: str, kind: str = "tool", tool: str | None = "addNote", **more: Any) -> dict[str, Any]:
    return {
        "text": text,
        "kind": kind,
        "tool": tool,
        "arguments": {},
        "placeholders": [],
        "concrete": True,
        **more,
    }


def result(**more: Any) -> Any:
    return SimpleNamespace(**{"status": "done", "reply": "", "run": SimpleNamespace(), **more})


def on(stream: Any, language: str = "en", **more: Any) -> Out:
    """Both streams are this one."""
    return Out(Texts(language), stdout=stream, stderr=stream, **more)


class Player:
    """Plays events to a renderer; seq counts by itself."""

    def __init__(self, stream: Any, language: str = "en", *, answer: bool = True) -> None:
        self.out = on(stream, language)
        self.renderer = Renderer(self.out, Catalogue(builtin()), answer=answer)
        self.seq = 0

    def __call__(self, type_: EventType, **data: Any) -> None:
        stored = type_ not in {EventType.TOKEN, EventType.PROGRESS}
        self.seq += stored
        self.renderer.show(Event("run", self.seq if stored else 0, type_, data))

    def plan(self, *steps: dict[str, Any], failed: str | None = None) -> None:
        self(EventType.PLAN_MADE, steps=list(steps), encoding="own", failed=failed)

    def done(self, call: str, number: int, message: str, **more: Any) -> None:
        self(EventType.CALL_INTENDED, call=call, tool="addNote", step=number, arguments={}, effect="write")
        data = {"ms": 4.2, "undoable": True, "ordinal": number, "step": number, **more}
        self(EventType.CALL_DONE, call=call, tool="addNote", result={"message": message}, **data)

    def end(self, **more: Any) -> None:
        self.renderer.finish(result(**more))


def test_the_lines_of_a_run_fit_the_terminal(screen):
    """Plan folded under itself, figures at the right edge, words over two lines where they must be."""
    play = Player(screen)
    play.plan(
        step("x", arguments={"title": "A title that is rather long for sixty columns", "text": "and a text"}),
        step("reply()", "reply", None),
    )
    play.done("a", 1, "note with a message that is too long to stand beside the figures")
    play.end()
    assert screen.lines == [
        '  plan   1  addNote(title="A title that is rather long for',
        '            sixty columns", text="and a text")',
        "         2  reply",
        "  ✓  1  note with a message that is too long to stand beside",
        "        the figures                           4 ms  undoable",
    ]
    assert max(map(cells, screen.lines)) <= 60
    assert "\x1b[32m✓" in screen.text


def test_wide_characters_count_two_columns(screen):
    """The right edge stays straight."""
    play = Player(screen)
    play.plan(step("x"))
    play.done("a", 1, "笔记「生日」")
    play.done("b", 1, "note")
    first, second = [line for line in screen.lines if "✓" in line]
    assert cells(first) == cells(second) == 60


def test_no_colour_and_dumb_terminals_get_none(screen, monkeypatch):
    """Words and signs say everything."""
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            play = Player(screen)
            play.plan(step("x"))
            play.done("a", 1, "note")
            assert "\x1b[3" not in screen.text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_without_the_signs_gets_words(encoding):
    """Each as wide as the widest, so that the columns stand."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    play = Player(stream)
    play.done("a", 1, "note 漢 added")
    play(EventType.CALL_FAILED, call="b", tool="addTask", error={"message": "No.", "next_move": ""})
    stream.seek(0)
    done, failed = stream.buffer.getvalue().decode(encoding).splitlines()
    assert done.startswith("  ok      1  note \\u6f22 added")
    assert failed.startswith("  failed     addTask: No.")


def test_fanned_out_calls_name_their_own_number(screen):
    """`--call` takes the call's number, which is another than the step's from here on."""
    play = Player(screen)
    play.plan(step("x"))
    play.done("a", 1, "tagged", ordinal=3)
    assert screen.lines[-1].endswith("undoable (call 3)")


def test_every_way_a_call_can_end_has_a_line(screen):
    """Refused, failed, interrupted, unknown, declined, merged, unresolved."""
    play = Player(screen)
    play.plan(step("a"), step("b"), step("c"))
    error = {"code": "denied", "message": "Denied.", "next_move": "Do without."}
    start = {"tool": "addNote", "step": 1, "arguments": {"title": "x"}, "effect": "write"}
    play(EventType.CALL_REFUSED, call="a", error=error, **start)
    play(EventType.APPROVAL_NEEDED, call="b", **{**start, "step": 2})
    play(EventType.APPROVAL_DECLINED, call="b", actor="person:me")
    play(EventType.CALL_INTENDED, call="c", **start)
    play(EventType.CALL_INTERRUPTED, call="c", tool="addNote")
    play(EventType.CALL_UNKNOWN, call="c", tool="addNote")
    play.done("d", 3, "note", merged_into=1)
    play(EventType.STEP_UNRESOLVED, step=3, text="think", reason="it takes a model")
    play(EventType.NOTICE, text="a key was dropped")
    play(EventType.NOTICE)
    text = " ".join(plain(screen.text).split())
    assert '✗ 1 addNote(title="x"): Denied. Do without.' in text
    assert '! 2 addNote(title="x"): you declined it' in text
    assert '? 1 addNote(title="x"): interrupted; it had no effect' in text
    assert "whether it had its effect is not known" in text
    assert "✓ 3 note (asked for twice, done once)" in text
    assert "✗ 3 think: it takes a model" in text
    assert "· a key was dropped" in text


def test_memory_has_a_line_and_no_number(screen):
    """It comes before the plan's steps."""
    play = Player(screen)
    play.plan(step("searchMemory topic='food'", "memory", None), step("x"))
    play(EventType.MEMORY_READ, topic="food", hits=2)
    assert screen.lines[0] == "  plan   ·  searchMemory topic='food'"
    assert screen.lines[1] == "         1  addNote()"
    assert screen.lines[2] == "  ✓     2 memories about food"


def test_a_plan_that_failed_says_so(screen):
    """With the reason's code."""
    play = Player(screen)
    play.plan(failed="timeout")
    assert screen.lines == ["  No plan could be made (timeout)."]


def test_steps_that_were_left_are_told_at_the_end(screen):
    """Only of a run that ended."""
    play = Player(screen)
    play.plan(step("a"), step("look around", "prose", None), step("r", "reply", None))
    play.done("a", 1, "note")
    play.end(status="needs_approval")
    assert "not done" not in screen.text
    play.end()
    assert screen.lines[-1] == "  !  2  look around: not done"


def test_events_that_were_shown_are_not_shown_again(screen):
    """A resumed run tells all of them; live ones have no number and always count."""
    play = Player(screen)
    event = Event("run", 1, EventType.NOTICE, {"text": "once"})
    play.renderer.show(event)
    play.renderer.show(event)
    assert screen.text.count("once") == 1


def test_tokens_are_streamed_and_folded(screen):
    """As they come, indented, at the width of the terminal."""
    play = Player(screen)
    for piece in ["I noted Anna's birth", "day on Sunday, 3 May, and added a ta", "sk for the day before."]:
        play(EventType.TOKEN, text=piece)
    play.end(reply="I noted Anna's birthday on Sunday, 3 May, and added a task for the day before.")
    assert screen.lines == [
        "  I noted Anna's birthday on Sunday, 3 May, and added a task",
        "  for the day before.",
    ]


def test_a_reply_that_is_not_what_was_streamed_follows_it(screen):
    """The stream broke off, and the plain answer counts."""
    play = Player(screen)
    play(EventType.TOKEN, text="I was about to")
    play.end(reply="note added")
    assert screen.lines == ["  I was about to", "  note added"]


def test_a_reply_that_was_never_streamed_is_shown(screen):
    """A resumed run has it from the journal."""
    play = Player(screen)
    play.end(reply="Hello.\n- a\n  - b")
    assert screen.lines == ["  Hello.", "  - a", "    - b"]


def test_without_an_answer_nothing_of_it_is_shown(screen):
    """With --json the result holds it."""
    play = Player(screen, answer=False)
    play(EventType.TOKEN, text="Hel")
    play.end(reply="Hello.")
    assert screen.text == ""


def test_a_stopped_run_leaves_whole_lines(screen):
    """The half answer ends its line."""
    play = Player(screen)
    play(EventType.TOKEN, text="half an ans")
    play.renderer.stop()
    play.renderer.stop()
    assert screen.text == "  half an ans\n"


# --- waiting -----------------------------------------------------------------------------------------------------


def until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_waiting_shows_what_for_how_long_and_how_to_stop(screen):
    """Kept up to date while nothing happens, taken away by the next line, and back after it."""
    play = Player(screen)
    play(EventType.RUN_CREATED, goal="x")
    until(lambda: "planning… 0 s, Ctrl-C stops" in plain(screen.text))
    play(EventType.NOTICE, text="still here")
    until(lambda: plain(screen.text).rindex("planning…") > plain(screen.text).index("still here"))
    play.renderer.stop()
    shown = screen.text
    time.sleep(0.3)
    assert screen.text == shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("planning…")


def test_quick_work_shows_no_status(screen):
    """What ends at once writes nothing of the kind."""
    play = Player(screen)
    play(EventType.RUN_CREATED, goal="x")
    play.renderer.stop()
    assert screen.text == ""


def test_the_status_follows_the_run(screen, monkeypatch):
    """Planning, a step, filling one in, answering, and what a download tells."""
    seen: list[str] = []
    monkeypatch.setattr(Out, "wait_for", lambda self, what: seen.append(what) if what else None)
    play = Player(screen)
    play.renderer.begin()
    play(EventType.RUN_CREATED, goal="x")
    play.plan(step("addNote()"), step("b", concrete=False))
    play(EventType.STEP_STARTED, step=1, text="addNote()")
    play.done("a", 1, "note")
    play(EventType.STEP_STARTED, step=2, text="b")
    play.done("b", 2, "note")
    play(EventType.PROGRESS, what="weights", done=1, total=4)
    play(EventType.PROGRESS, what="weights", done=1, total=0)
    assert seen == [
        "starting…",
        "planning…",
        "working…",
        "step 1: addNote()…",
        "working…",
        "filling in step 2…",
        "answering…",
        "weights 25 %",
        "weights",
    ]


def test_a_dumb_terminal_gets_one_plain_line(screen, monkeypatch):
    """Nothing is overwritten where nothing can be."""
    monkeypatch.setenv("TERM", "dumb")
    out = on(screen)
    out.wait_for("planning…")
    until(lambda: screen.text != "")
    out.wait_for("")
    assert screen.text == "  planning… 0 s, Ctrl-C stops\n"


def test_quiet_and_pipes_get_no_status(screen, monkeypatch):
    """Nobody sees it."""
    monkeypatch.setattr(out_module, "STATUS_DELAY", 0.0)
    out = on(screen, quiet=True)
    out.wait_for("planning…")
    out.note("a note")
    out.wait_for("")
    assert screen.text == ""


# --- pieces ------------------------------------------------------------------------------------------------------


def pieces(lines: Sequence[Sequence[tuple[str, str]]]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def test_figures_move_below_words_that_fill_the_line(screen):
    """Nothing is cut off."""
    channel = on(screen).err
    line = StepLine(channel)("done", 1, "x" * 52, right_words(Texts("en"), ms=3, undoable=True))
    assert pieces(line) == ["  ✓  1  " + "x" * 52, " " * 46 + "3 ms  undoable"]


def test_a_plan_in_a_pipe_is_not_folded():
    """A line stays a line, however long."""
    channel = on(io.StringIO()).err
    (line,) = pieces(plan_lines(channel, Texts("en"), [step("x", arguments={"title": "y" * 300})]))
    assert len(line) > 300


def test_parts_are_joined_as_far_as_they_fit(screen):
    """None is broken inside."""
    channel = on(screen).err
    assert joined(["a" * 30, "b" * 20, "c" * 20], channel, "·") == ["a" * 30 + " · " + "b" * 20, "c" * 20]


def test_a_stream_drops_the_space_before_the_first_word():
    """Models like to begin with a blank."""
    written: list[str] = []
    stream = Stream(written.append, 20)
    stream.feed("  \n ")
    stream.feed(" Hello  there")
    stream.end()
    assert "".join(written) == "  Hello  there\n"
