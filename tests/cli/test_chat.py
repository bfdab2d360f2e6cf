"""`surefoot chat` without a terminal, its completion, and the keeping of the planner's prompt."""

from __future__ import annotations

import io

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from surefoot.cli.commands.chat import completer
from surefoot.errors import ProviderUnavailableError
from surefoot.models.types import Capabilities

from .support import BIRTHDAY


@pytest.fixture
def says(monkeypatch):
    """Gives the command line these lines to read."""

    def lines(*given: str) -> None:
        text = "".join(f"{line}\n" for line in given)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return lines


def test_lines_are_requests_of_one_dialogue(cli, says):
    """What was said before is read again."""
    model = cli.answers("reply()", "Hello Anna.", "reply()", "Anna.")
    says("I am Anna", "", "who am I?")
    ran = cli("chat")
    assert (ran.code, ran.out) == (0, "Hello Anna.\nAnna.\n")
    assert any("Hello Anna." in message.content for message in model.requests[-1].messages)


def test_continue_goes_on_with_the_last_dialogue(cli, says):
    """In another process."""
    cli.answers("reply()", "Hello Anna.")
    says("I am Anna")
    cli("chat")
    model = cli.answers("reply()", "Anna.")
    says("who am I?")
    assert cli("chat", "--continue").code == 0
    assert any("Hello Anna." in message.content for message in model.requests[-1].messages)
    model = cli.answers("reply()", "Who knows.")
    says("who am I?")
    cli("chat")
    assert not any("Hello Anna." in message.content for message in model.requests[-1].messages)


def test_commands_work_inside(cli, says):
    """Undo, redo, show, lists, help; quit leaves what follows."""
    cli.answers(BIRTHDAY, "Noted.")
    says(
        "note Anna's birthday",
        "/notes",
        "/tasks",
        "/calendar",
        "/undo",
        "/redo last",
        "/runs",
        "/show",
        "/help",
        "/quit",
        "x",
    )
    ran = cli("chat")
    assert ran.code == 0
    for words in (
        "  Anna's birthday  3 May\n",
        "  Buy a present  due Sat 2 May",
        "taken back: note",
        "made again: note",
        "undo of",
        "redo of",
        "/undo [RUN]",
    ):
        assert words in ran.out
    assert "No events." in ran.err


def test_what_goes_wrong_ends_the_line_and_not_the_chat(cli, says):
    """Each error is told; the exit code is the last line's."""
    error = ProviderUnavailableError("Nobody answers.")
    cli.answers(error, error, "reply()", "Hello.")
    says("/bogus", "/undo nothing", "first try", "second try")
    ran = cli("chat")
    assert (ran.code, ran.out) == (0, "Hello.\n")
    assert "There is no command /bogus" in ran.err
    assert "error  not_found" in ran.err or "error  input" in ran.err
    says("/bogus")
    assert cli("chat").code == 2


def test_a_model_that_is_not_there_shows_before_the_first_question(cli, says, monkeypatch):
    """Not after the person has typed one."""
    monkeypatch.setenv("SUREFOOT_MODEL", "olama:x")
    cli.model = None
    says("hello")
    ran = cli("chat")
    assert ran.code == 3
    assert "Did you mean 'ollama:x'?" in ran.err


def test_no_standard_input_at_all(cli, monkeypatch):
    """Then there is nothing to do."""
    monkeypatch.setattr("sys.stdin", None)
    assert cli("chat").code == 0


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/u", ["/undo"]),
        ("/", ["/undo", "/redo", "/show", "/runs", "/notes", "/tasks", "/calendar", "/help", "/quit"]),
        ("/undo ", ["last", "7f3a", "7e00"]),
        ("/show 7", ["7f3a", "7e00"]),
        ("/show 7f3a x", []),
        ("/runs ", []),
        ("note", []),
        ("undo ", []),
        ("", []),
    ],
)
def test_completion(typed, offered):
    """Commands at the start, runs behind the commands that take one, nothing in a request."""
    found = completer(lambda: ["last", "7f3a", "7e00"]).get_completions(Document(typed), CompleteEvent())
    assert [one.text for one in found] == offered


LOCAL = Capabilities(tools=True, grammar=True, encoding="own", local=True)


def test_chat_warms_a_local_model_first(cli, says):
    """While the person is still thinking, before anything is asked."""
    model = cli.answers(capabilities=LOCAL)
    says("/quit")
    assert cli("chat").code == 0
    assert "plan" in {request.purpose for request, _ in model.warmed}
    assert model.requests == []
