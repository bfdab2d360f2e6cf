"""What happens where a person sits at a terminal, in this process: welcome, agreement, Ctrl-C, conversation."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from surefoot import Effect, tool
from surefoot.cli import failures, main, session
from surefoot.cli.out import Channel, Out
from surefoot.cli.texts import Texts
from surefoot.journal.types import CallStatus
from surefoot.settings import load_settings

from .support import BIRTHDAY, Screen, plan


@tool(effect=Effect.EXTERNAL)
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


MAIL = plan(("send_mail", {"to": "sam@example.com", "text": "the list"}))


@pytest.fixture
def mail(cli):
    """A run that will wait."""
    cli.tools = (send_mail,)
    cli.answers(MAIL, "All right.", always="reply()")
    return cli


# --- the first run -----------------------------------------------------------------------------------------------


def test_the_welcome_is_said_once_and_only_to_a_person(cli):
    """Not in a pipe, not with --quiet; the note of it lies with the data."""
    cli.answers(always="reply()")
    assert "Surefoot plans" not in cli("ask", "hello there").err
    assert "Surefoot plans" not in cli.at_terminal("ask", "hello there", "--quiet").out
    first, second = (cli.at_terminal("ask", "hello there").out for _ in range(2))
    assert "Surefoot plans what you ask" in first
    assert "Surefoot plans" not in second
    assert json.loads((load_settings().data_dir / "seen.json").read_text(encoding="utf-8")) == {"welcome": 1}


def test_a_data_folder_that_cannot_be_written_is_no_reason_to_fall_over(cli, monkeypatch, tmp_path):
    """What needs it tells it."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SUREFOOT_DATA_DIR", str(tmp_path / "file"))
    cli.answers(always="reply()")
    ran = cli.at_terminal("ask", "hello there")
    assert ran.code != 0
    assert "Surefoot plans" in ran.out
    assert "Traceback" not in ran.out


# --- agreement ---------------------------------------------------------------------------------------------------


def test_yes_runs_exactly_what_was_shown(mail):
    """Tool, effect, every argument; then the run goes on in the same breath."""
    ran = mail.at_terminal("ask", "mail Sam the list", typed=["y\n"])
    assert ran.code == 0
    assert "send_mail waits for you" in ran.out
    assert "effect: acts outside, cannot be taken back" in ran.out
    assert '    to: "sam@example.com"\n    text: "the list"\n' in ran.out
    assert "Run exactly this? [y/N]" in ran.out
    assert "✓  1  sent to sam@example.com" in ran.out
    assert ran.out.count("plan   1") == 1


@pytest.mark.parametrize("typed", ["\n", "n\n", "yess\n", "да\n"])
def test_everything_else_means_no(mail, typed):
    """Enter above all."""
    ran = mail.at_terminal("ask", "mail Sam the list", typed=[typed])
    assert ran.code == 1
    assert "you declined it" in ran.out
    assert "sent to" not in ran.out


@pytest.mark.parametrize(("typed", "code"), [([], 5), ([KeyboardInterrupt()], 130)])
def test_no_answer_is_no_decision(mail, typed, code):
    """The run waits on."""
    ran = mail.at_terminal("ask", "mail Sam the list", typed=typed)
    assert ran.code == code
    assert "surefoot approve" in ran.out
    assert mail("runs", "--json").json[0]["status"] == "needs_approval"


def test_an_answer_that_is_no_text_means_no(mail):
    """A terminal may send anything."""
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert mail.at_terminal("ask", "mail Sam the list", typed=[broken]).code == 1


def test_json_never_asks(mail):
    """A program cannot be asked."""
    ran = mail.at_terminal("ask", "--json", "mail Sam the list", typed=["y\n"])
    assert ran.code == 5
    assert "[y/N]" not in ran.out


def test_a_long_argument_is_folded_and_whole(mail):
    """Nothing of what is agreed to is left out."""
    text = " ".join(f"word{number}" for number in range(60))
    mail.answers(plan(("send_mail", {"to": "a", "text": text})), "Fine.")
    shown = mail.at_terminal("ask", "mail all the words").out
    assert text in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


# --- Ctrl-C ------------------------------------------------------------------------------------------------------


def press(times: int = 1) -> None:
    """As the terminal does it."""
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_cancels_the_run(cli):
    """What was done stays, with the way back; exit 130; afterwards Ctrl-C is Python's again."""
    before = signal.getsignal(signal.SIGINT)

    async def slow(request):
        press()
        await asyncio.sleep(60)
        return "too late"

    cli.answers(BIRTHDAY, slow)
    ran = cli.at_terminal("ask", "note Anna's birthday")
    assert ran.code == 130
    assert "Stopped. What was done stays. surefoot undo" in ran.out
    assert cli("runs", "--json").json[0]["status"] == "cancelled"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_before_anything_was_done(cli):
    """Says that nothing changed."""

    async def slow(request):
        press()
        await asyncio.sleep(60)
        return "too late"

    cli.answers(slow)
    ran = cli("ask", "note Anna's birthday")
    assert (ran.code, ran.out) == (130, "")
    assert "Stopped. Nothing was changed." in ran.err


def test_ctrl_c_before_there_is_a_run(cli, monkeypatch):
    """Nothing to say about it but that."""
    from surefoot import Assistant

    async def slow(self):
        press()
        await asyncio.sleep(60)

    monkeypatch.setattr(Assistant, "journal", slow)
    ran = cli("ask", "note Anna's birthday")
    assert ran.code == 130
    assert "Stopped. Nothing was changed." in ran.err


def test_a_second_ctrl_c_leaves_hard(monkeypatch):
    """At once, with the cursor shown again."""
    left: list[int] = []
    screen = Screen()
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setattr("sys.stderr", screen)

    async def stubborn():
        press(2)
        await asyncio.sleep(0)
        await asyncio.sleep(60)

    with pytest.raises(failures.Interrupted):
        asyncio.run(session.interruptible(stubborn()))
    assert left == [130]
    assert "\x1b[?25h" in screen.text


def test_a_cancel_that_is_no_ctrl_c_stays_a_cancel():
    """It belongs to whoever cancelled."""

    async def run():
        task = asyncio.ensure_future(session.interruptible(asyncio.sleep(60)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_work_outside_the_main_thread_leaves_signals_alone():
    """They cannot be set there."""
    from concurrent.futures import ThreadPoolExecutor

    async def three():
        return 3

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(session.interruptible(three()))).result() == 3


def test_ctrl_c_while_python_starts(monkeypatch):
    """Before there is anything to stop."""

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.cli.root.app", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130


def test_version_and_nothing_at_all(cli):
    """What is installed; and the commands, for who names none."""
    first, second = cli("--version").out.splitlines()
    assert first.startswith("surefoot ")
    assert second.startswith("Python ")
    assert cli("--version").code == 0
    ran = cli()
    assert (ran.code, "Commands:" in ran.out) == (0, True)


def test_the_version_names_a_missing_engine(cli, monkeypatch):
    """It is an extra."""
    from importlib import metadata

    def found(name):
        if name != "surefoot":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", found)
    assert "xllamacpp is not installed" in cli("--version").out


def test_every_way_to_leave_has_its_code():
    """Ctrl-C, a refusal to go on, a plain return."""
    screen = Screen()
    out = Out(Texts("en"), stdout=screen, stderr=screen)

    def raises(error: BaseException):
        def work():
            raise error

        return work

    import typer

    assert failures.guarded(out, raises(KeyboardInterrupt())) == 130
    assert "Stopped." in screen.text
    assert failures.guarded(out, raises(failures.Interrupted())) == 130
    assert failures.guarded(out, raises(typer.Exit(3))) == 3
    assert failures.guarded(out, raises(typer.Abort())) == 1
    assert failures.guarded(out, lambda: None) == 0
    assert failures.guarded(out, raises(RuntimeError())) == 1
    assert "unexpected: RuntimeError\n" in screen.text


# --- pipes that close, streams that are closed -------------------------------------------------------------------


def test_a_channel_whose_reader_is_gone_goes_on_quietly():
    """What is written afterwards goes nowhere."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as stream:
        channel = Channel(stream, Texts("en"))
        channel.write("one")
        channel.write("two")
    channel.write("three")


def test_an_unknown_encoding_shows_nothing_special():
    """A stream may have none."""
    stream = Screen()
    stream.encoding = "no-such-encoding"
    assert not Channel(stream, Texts("en")).can_show("✓")


# --- a conversation ----------------------------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch):
    """Types into the prompt of a conversation."""
    monkeypatch.setattr("prompt_toolkit.output.create_output", lambda *_, **__: DummyOutput())
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def test_a_conversation_at_a_terminal(cli, typed):
    """Hello, a request, Ctrl-C at the prompt, a command, Ctrl-D; the words are kept for next time."""
    cli.answers(BIRTHDAY, "Noted.")
    typed.send_text("note Anna's birthday\r")
    typed.send_text("\x03")
    typed.send_text("/undo\r")
    typed.send_text("   \r")
    typed.send_text("\x04")
    ran = cli.at_terminal("chat")
    assert ran.code == 0
    for words in ("Type what you want.", "  Noted.", "Ctrl-D leaves.", "taken back: note", "Good-bye."):
        assert words in ran.out
    history = load_settings().data_dir / "chat_history"
    assert "+note Anna's birthday" in history.read_text(encoding="utf-8")
    assert history.stat().st_mode & 0o077 == 0


def test_ctrl_c_in_a_run_of_a_conversation_ends_the_run(cli, typed):
    """And not the conversation."""

    async def slow(request):
        press()
        await asyncio.sleep(60)
        return "too late"

    cli.answers("reply()", slow, "reply()", "Here.")
    for line in ("first question\r", "second question\r", "/quit\r"):
        typed.send_text(line)
    ran = cli.at_terminal("chat")
    assert ran.code == 0
    assert ran.out.index("Stopped. Nothing was changed.") < ran.out.index("  Here.")


# --- what a narrow terminal shows --------------------------------------------------------------------------------


def test_lists_fit_a_narrow_terminal(cli, monkeypatch):
    """Long titles are cut, long texts go below."""
    monkeypatch.setenv("COLUMNS", "60")
    cli.answers(
        plan(
            ("addNote", {"title": "A title " * 8, "text": "A text " * 12, "tags": ["red"]}),
            ("addTask", {"title": "Buy " * 12, "due": "tomorrow"}),
        ),
        "Noted.",
        always="Hm.",
    )
    cli("ask", "note a long title and a text please")
    for arguments in (
        ("notes", "list"),
        ("tasks", "list"),
        ("runs",),
        ("show",),
        ("tools",),
        ("undo", "--preview"),
        ("models", "list"),
        ("doctor",),
    ):
        shown = cli.at_terminal(*arguments).out
        wide = [
            line for line in shown.splitlines() if len(line) > 60 and " " in line.strip() and "/" not in line
        ]
        assert not wide, (arguments, wide)


def test_a_plan_folds_in_a_narrow_terminal(cli, monkeypatch):
    """Steps and reasons alike."""
    monkeypatch.setenv("COLUMNS", "50")
    cli.answers(BIRTHDAY)
    shown = cli.at_terminal("plan", "note Anna's birthday").out
    lines = [line for line in shown.splitlines() if "Ctrl-C" not in line]
    assert max(map(len, lines)) <= 50
    assert "why" in shown


def test_show_says_how_to_decide(mail):
    """A waiting call is shown as waiting, with both commands."""
    mail("ask", "mail Sam the list")
    ran = mail("show")
    assert "waits for you" in ran.out
    assert "surefoot approve" in ran.err


def test_every_status_of_a_call_has_words_and_a_mark():
    """In both languages."""
    from surefoot.cli.steps import MARKS
    from surefoot.cli.texts import LANGUAGES

    assert set(MARKS) == {str(status) for status in CallStatus}
    for language in LANGUAGES:
        assert all(Texts(language)(f"call_status.{status}") for status in CallStatus)
