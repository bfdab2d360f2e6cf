"""The real command in a real terminal: what is shown, asked and interrupted."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from .support import BIRTHDAY, STEPS, Terminal, called, environment, model_server, plan, run, said
from .test_processes import wait_until_asked

CHAT = "/v1/chat/completions"


def ask_first(server, **more: str) -> dict[str, str]:
    """Tasks are added only after a person agreed."""
    return environment(server, SUREFOOT_POLICY='{"addTask": "confirm"}', **more)


def answers():
    return called(BIRTHDAY), said(
        "I noted Anna's birthday on Sunday, 3 May, ", "and added a task for the day before."
    )


def test_the_first_run_explains_itself_once():
    """In three sentences, then never again."""
    with model_server(*answers(), *answers()).running() as server:
        env = environment(server)
        with Terminal(["ask", "note Anna's birthday please"], env) as first:
            assert first.end() == 0
        with Terminal(["ask", "note Anna's birthday please"], env) as second:
            assert second.end() == 0
    assert "surefoot doctor shows what works here" in " ".join(first.text.split())
    assert "surefoot doctor" not in second.text


def test_a_run_in_a_terminal_has_colour_and_fits():
    """Signs in colour, lines of 60 columns, the answer folded."""
    with (
        model_server(*answers()).running() as server,
        Terminal(["ask", "note Anna's birthday please"], environment(server, COLUMNS="60")) as seen,
    ):
        assert seen.end() == 0
    assert b"\x1b[32m" in seen.raw
    lines = [line for line in seen.text.splitlines() if "Ctrl-C stops" not in line]
    assert max(map(len, lines)) <= 60
    assert "  I noted Anna's birthday on Sunday, 3 May, and added a task" in seen.text


def test_waiting_is_shown_and_ctrl_c_stops():
    """Within half a second it says what for and how to stop; the first Ctrl-C ends it cleanly."""
    gate = threading.Event()
    held = called(BIRTHDAY)
    held = type(held)(held.status, held.chunks, held.headers, hold=gate)
    with model_server(held).running() as server:
        env = environment(server)
        with Terminal(["ask", "note Anna's birthday please"], env) as terminal:
            terminal.expect("planning… 0 s, Ctrl-C stops")
            terminal.expect("planning… 1 s")
            terminal.type("\x03")
            terminal.expect("Stopped. Nothing was changed.")
            assert terminal.end() == 130
            gate.set()
            assert json.loads(run(["runs", "--json"], env).stdout)[0]["status"] == "cancelled"
    assert terminal.raw.count(b"\x1b[?25h") >= terminal.raw.count(b"\x1b[?25l")


def test_a_second_ctrl_c_leaves_at_once():
    """Also when cleaning up hangs; the terminal is left in order."""
    script = (
        "import asyncio, sys\n"
        "from surefoot.cli import failures, session\n"
        "async def stubborn():\n"
        "    while True:\n"
        "        try:\n"
        "            print('ready', flush=True); await asyncio.sleep(60)\n"
        "        except asyncio.CancelledError:\n"
        "            print('cleaning', flush=True)\n"
        "asyncio.run(session.interruptible(stubborn()))\n"
    )
    with Terminal([], environment(None), program=["-c", script]) as terminal:
        terminal.expect("ready")
        terminal.type("\x03")
        terminal.expect("cleaning")
        terminal.type("\x03")
        assert terminal.end() == 130
        assert b"\x1b[?25h" in terminal.raw


@pytest.mark.parametrize(
    ("typed", "code"), [("y\r", 0), ("yes\r", 0), ("Y\r", 0), ("\r", 1), ("n\r", 1), ("maybe\r", 1)]
)
def test_agreement_is_asked_once_and_enter_means_no(typed, code):
    """Exactly the tool, its effect and every argument; then the run goes on."""
    with model_server(*answers()).running() as server:
        env = ask_first(server)
        with Terminal(["ask", "note Anna's birthday please"], env) as terminal:
            terminal.expect("addTask waits for you")
            terminal.expect("effect: changes your data, can be undone")
            terminal.expect('title: "Buy a present"')
            terminal.expect('due: "2 May"')
            terminal.expect("Run exactly this? [y/N]")
            terminal.type(typed)
            terminal.expect("task for the day before.")
            assert terminal.end() == code
            tasks = json.loads(run(["tasks", "list", "--json"], env).stdout)
            assert len(tasks) == (code == 0)
            assert len(server.bodies(CHAT)) == 2
    assert terminal.text.count("[y/N]") == 1
    assert terminal.text.count("plan   1") == 1


def test_what_was_typed_before_the_question_is_no_answer():
    """A key pressed too early must not agree to something nobody has seen."""
    gate = threading.Event()
    held = called(plan(("addTask", {"title": "x"})))
    held = type(held)(held.status, held.chunks, held.headers, hold=gate)
    with (
        model_server(held, said("Done.")).running() as server,
        Terminal(["ask", "add that task please"], ask_first(server)) as terminal,
    ):
        terminal.expect("planning…")
        terminal.type("y\r")
        terminal.expect("planning… 1 s")
        gate.set()
        terminal.expect("[y/N]")
        terminal.type("\r")
        assert terminal.end() == 1


def test_german_agreement():
    """`j` is yes."""
    with (
        model_server(*answers()).running() as server,
        Terminal(
            ["ask", "note Anna's birthday please"], ask_first(server, SUREFOOT_LANGUAGE="de")
        ) as terminal,
    ):
        terminal.expect("Genau das ausführen? [j/N]")
        terminal.type("j\r")
        terminal.expect("umkehrbar")
        assert terminal.end() == 0


@pytest.mark.parametrize(("typed", "code"), [("\x04", 5), ("\x03", 130)])
def test_a_question_left_open_leaves_the_run_waiting(typed, code):
    """Ctrl-D and Ctrl-C decide nothing; the commands for later are shown."""
    with model_server(*answers()).running() as server:
        env = ask_first(server)
        with Terminal(["ask", "note Anna's birthday please"], env) as terminal:
            terminal.expect("[y/N]")
            terminal.type(typed)
            terminal.expect("surefoot approve ")
            assert terminal.end() == code
            assert json.loads(run(["runs", "--json"], env).stdout)[0]["status"] == "needs_approval"
            assert run(["approve", "last"], env).returncode == 0


def test_nothing_hides_in_what_is_agreed_to():
    """A turned writing direction and a line break are written out."""
    calls = plan(("addTask", {"title": "pay\u202e001\nnow"}))
    with (
        model_server(called(calls), said("Done.")).running() as server,
        Terminal(["ask", "add that task please"], ask_first(server)) as terminal,
    ):
        terminal.expect('title: "pay\\u202e001\\nnow"')
        terminal.expect("[y/N]")
        terminal.type("\r")
        assert terminal.end() == 1


def test_a_conversation_with_history_and_completion():
    """Requests, commands, completion of a command with Tab, Ctrl-C, Ctrl-D."""
    with model_server(*answers()).running() as server:
        env = environment(server)
        with Terminal(["chat"], env) as terminal:
            terminal.expect("/help lists the commands")
            terminal.expect("\n>")
            terminal.type("note Anna's birthday please\r")
            terminal.expect("takes back 2 changes")
            terminal.expect("\n>")
            terminal.type("/und")
            terminal.expect("/undo")
            terminal.type("\t\r")
            terminal.expect("taken back: note")
            terminal.expect("\n>")
            terminal.type("\x03")
            terminal.expect("Ctrl-D leaves.")
            terminal.expect("\n>")
            terminal.type("/notes\r")
            terminal.expect("No notes.")
            terminal.expect("\n>")
            terminal.type("\x04")
            terminal.expect("Good-bye.")
            assert terminal.end() == 0
    history = Path(env["SUREFOOT_DATA_DIR"]) / "chat_history"
    assert "+note Anna's birthday please" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o077 == 0


def test_ctrl_c_in_a_conversation_stops_the_run_and_not_the_talk():
    """The next question is answered."""
    gate = threading.Event()
    held = said("too ", "late", hold=gate, hold_after=1)
    with (
        model_server(said("reply()"), held, said("reply()"), said("Here I am.")).running() as server,
        Terminal(["chat"], environment(server)) as terminal,
    ):
        terminal.expect("/help lists the commands")
        terminal.expect("\n>")
        terminal.type("tell me something\r")
        wait_until_asked(server, CHAT, 2)
        terminal.expect("too")
        terminal.type("\x03")
        terminal.expect("Stopped. Nothing was changed.")
        gate.set()
        terminal.expect("\n>")
        terminal.type("and now please\r")
        terminal.expect("Here I am.")
        terminal.expect("\n>")
        terminal.type("\x04")
        assert terminal.end() == 0


def test_a_dumb_terminal_without_colour():
    """No control sequences at all."""
    with (
        model_server(*answers()).running() as server,
        Terminal(
            ["ask", "note Anna's birthday please"], environment(server, TERM="dumb", NO_COLOR="1")
        ) as terminal,
    ):
        assert terminal.end() == 0
    assert not STEPS.search(terminal.raw.decode().replace("\r", ""))
    assert "✓  1  note" in terminal.text
