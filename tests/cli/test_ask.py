"""`surefoot ask` in this process: what it shows, where, and what it returns."""

from __future__ import annotations

import io
import json
import re

import pytest

from surefoot import Effect, ToolCall, tool
from surefoot.cli import session
from surefoot.errors import ModelNotFoundError, ProviderUnavailableError
from surefoot.models.types import Usage

from .support import BIRTHDAY, plan


def test_a_request_shows_plan_steps_reply_and_the_way_back(cli):
    """Data on standard output, everything else on standard error, nothing coloured in a pipe."""
    cli.answers(BIRTHDAY, "I noted it.", usage=Usage(200, 190, 6))
    ran = cli("ask", "Anna's birthday is on 3 May: note it, add a task, what else is due?")
    assert (ran.code, ran.out) == (0, "I noted it.\n")
    assert "\x1b" not in ran.err
    lines = ran.err.splitlines()
    assert lines[:4] == [
        '  plan   1  addNote(title="Anna\'s birthday", text="3 May")',
        '         2  addTask(title="Buy a present", due="2 May")',
        '         3  listTasks(until="3 May")',
        "         4  reply",
    ]
    assert re.fullmatch(r"  ✓  1  note \"Anna's birthday\" added +\d+ ms  undoable", lines[4])
    assert re.fullmatch(r'  ✓  2  task "Buy a present" due Sat 2 May 2026 +\d+ ms  undoable', lines[5])
    assert re.fullmatch(r"  ✓  3  1 task +\d+ ms", lines[6])
    summary = r"  2 model calls · 412 tokens \(380 from cache\) · [\d.]+ s · surefoot undo [0-9a-f]{4} takes back 2 changes"
    assert re.fullmatch(summary, lines[-1])
    assert not re.search("time.{3}out", ran.err)


def test_json_is_one_object_with_the_result_and_the_short_id(cli):
    """With --json standard output holds one JSON object and nothing else."""
    cli.answers(BIRTHDAY, "I noted it.")
    ran = cli("ask", "--json", "note Anna's birthday")
    assert ran.code == 0
    assert ran.json["reply"] == "I noted it."
    assert ran.json["run"].startswith(ran.json["short"])
    assert [call["tool"] for call in ran.json["calls"]] == ["addNote", "addTask", "listTasks"]
    assert [step["kind"] for step in ran.json["steps"]] == ["tool", "tool", "tool", "reply"]


def test_quiet_shows_only_what_was_asked_for(cli):
    """--quiet may stand anywhere."""
    cli.answers(BIRTHDAY, "I noted it.")
    ran = cli("ask", "note Anna's birthday", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "I noted it.\n", "")


def test_words_need_no_quotes(cli):
    """The words of the arguments are one request."""
    model = cli.answers("reply()", "Hello.")
    assert cli("ask", "say", "hello").code == 0
    assert "say hello" in model.requests[0].messages[-1].content


def test_the_model_is_the_one_that_is_named(cli):
    """--model goes to the one place where the assistant is made."""
    cli.answers("reply()", "Hello.")
    cli("ask", "hello there", "--model", "ollama:some")
    assert cli.asked_for == ["ollama:some"]


def test_a_failed_step_is_told_and_the_run_is_incomplete(cli):
    """The cross, the tool's own words, the next move; exit 1."""
    cli.answers(plan(("completeTask", {"task": "nothing like it"})), "There is no such task.")
    ran = cli("ask", "complete the task nothing like it")
    assert ran.code == 1
    assert '✗  1  completeTask(task="nothing like it"): There is no task' in ran.err


def test_a_step_in_prose_is_shown_and_left_to_the_model_that_answers(cli):
    """Nothing is left out silently; what the model calls for it is shown like any other call."""
    cli.answers(
        "1. addNote(title='x')\n2. think about it deeply\n3. reply()",
        ToolCall("a", "addNote", {"title": "y"}),
        "Done.",
    )
    ran = cli("ask", "note x and think about it")
    assert ran.code == 0
    assert "2  think about it deeply" in ran.err
    assert ran.err.count("note") >= 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelNotFoundError('Ollama has no model "llama9".', "Pull it with: ollama pull llama9"), 3),
        (ProviderUnavailableError("Nobody answers.", "Start it."), 3),
    ],
)
def test_a_model_that_cannot_be_used_is_an_error_with_a_next_move(cli, error, code):
    """`error  code: message`, under it what to do, and no traceback."""
    cli.answers(always=lambda _: error)
    ran = cli("ask", "hello there")
    assert ran.code == code
    assert f"error  {error.code}: {error.message}\n         {error.next_move}\n" in ran.err
    assert "Traceback" not in ran.err


def test_a_missing_model_is_told_before_anything_else(cli, monkeypatch):
    """Opening the assistant may fail as well."""

    def fails(*_, **__):
        raise ModelNotFoundError("There is no provider 'olama'.", "Did you mean 'ollama:x'?")

    monkeypatch.setattr(session, "open_assistant", fails)
    ran = cli("ask", "hello", "--model", "olama:x")
    assert (ran.code, ran.out) == (3, "")
    assert "error  model_not_found: There is no provider 'olama'." in ran.err


def test_debug_shows_the_traceback_and_stands_anywhere(cli, monkeypatch):
    """Without it a fault of ours is one sentence."""

    def broken(*_, **__):
        raise RuntimeError("wires crossed")

    monkeypatch.setattr(session, "open_assistant", broken)
    ran = cli("ask", "hello")
    assert ran.code == 1
    assert "error  unexpected: RuntimeError: wires crossed" in ran.err
    assert "Traceback" not in ran.err
    assert "--debug" in ran.err
    for arguments in (("ask", "hello", "--debug"), ("--debug", "ask", "hello")):
        ran = cli(*arguments)
        assert "Traceback (most recent call last)" in ran.err
        assert "wires crossed" in ran.err


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_request_is_refused(cli, text):
    """Before any model is asked."""
    ran = cli("ask", text)
    assert (ran.code, cli.model.requests) == (2, [])
    assert "error  input: The request is empty." in ran.err


def test_a_request_that_is_far_too_long_is_refused_with_the_numbers(cli):
    """And says where long texts go."""
    ran = cli("ask", "word " * 50_000)
    assert ran.code == 2
    assert "249,999 characters; 200,000 are allowed" in ran.err


def standard_input(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize("data", [b"note  Anna", b"\xef\xbb\xbfnote  Anna\n", b"\nnote  Anna\n\n"])
def test_a_request_from_standard_input(cli, monkeypatch, data):
    """`-` reads it; a byte-order mark and space around it do not count, space inside does."""
    model = cli.answers("reply()", "Hello.")
    standard_input(monkeypatch, data)
    assert cli("ask", "-").code == 0
    assert "note  Anna" in model.requests[0].messages[-1].content
    assert "\ufeff" not in model.requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"ab\x00c", "NUL byte at character 3"),
        (b"\x00", "NUL byte at character 1"),
        (b"gr\xfc\xdfe", "byte 3 is 0xfc"),
        (b"\xff\xfen\x00o\x00", "byte 1 is 0xff"),
        (b"cut \xe6\xbc", "byte 5 is 0xe6"),
    ],
)
def test_standard_input_that_is_no_text_is_unreadable(cli, monkeypatch, data, what):
    """The message names the place; exit 6."""
    standard_input(monkeypatch, data)
    ran = cli("ask", "-")
    assert ran.code == 6
    assert what in ran.err


def test_an_argument_that_is_no_utf8_is_unreadable(cli):
    """Python hands its bytes on as lone surrogates."""
    ran = cli("ask", b"gr\xfc\xdfe".decode("utf-8", "surrogateescape"))
    assert ran.code == 6
    assert "no valid UTF-8 at character 3 (0xdcfc)" in ran.err


def test_an_empty_standard_input_is_an_empty_request(cli, monkeypatch):
    """Nothing came, so nothing is asked."""
    standard_input(monkeypatch, b"")
    assert "The request is empty" in cli("ask", "-").err
    monkeypatch.setattr("sys.stdin", None)
    assert "The request is empty" in cli("ask", "-").err


def test_the_limit_that_stopped_a_run_is_named(cli, monkeypatch):
    """Which limit, and how to go on; exit 4."""
    monkeypatch.setenv("SUREFOOT_LIMITS", '{"writes": 1}')
    cli.answers(BIRTHDAY, "I noted it.")
    ran = cli("ask", "note Anna's birthday and a task")
    assert ran.code == 4
    assert "Stopped by the limit on writes. Raise limits.writes" in ran.err


def test_a_reply_cannot_steer_the_terminal(cli):
    """What a model writes is text, also in a pipe that ends in one."""
    cli.answers("reply()", "red \x1b[31m alert \x9b2J \u202e gnp.exe\nnext\tline")
    assert cli("ask", "hello there").out == "red \\x1b[31m alert \\x9b2J \\u202e gnp.exe\nnext\tline\n"


def test_a_tools_words_cannot_steer_the_terminal(cli):
    """Neither a title in a result nor one in an argument."""
    cli.answers(plan(("addNote", {"title": "a\x1b]0;owned\x07b"})), "Done.")
    ran = cli("ask", "note it please")
    assert "\x1b" not in ran.err
    assert "\x07" not in ran.err
    assert "\\x1b]0;owned" in ran.err


# --- a person's agreement, without a terminal --------------------------------------------------------------------


@tool(effect=Effect.EXTERNAL)
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"sent to {to}: {text}"


MAIL = plan(("send_mail", {"to": "sam@example.com", "text": "the list"}))


def test_without_a_terminal_a_waiting_call_is_shown_with_the_commands(cli):
    """Exactly what would be sent, and to whom; nothing was run; exit 5."""
    cli.tools = (send_mail,)
    cli.answers(MAIL, "Sent.")
    ran = cli("ask", "mail Sam the list")
    assert ran.code == 5
    assert "send_mail waits for you; nothing of it was run:" in ran.err
    assert '    to: "sam@example.com"\n    text: "the list"\n' in ran.err
    short = re.search(r"surefoot approve ([0-9a-f]{4,}) runs it", ran.err)[1]
    assert f"surefoot decline {short} goes on without it" in ran.err
    assert cli("show", "--json").json["calls"][0]["status"] == "waiting"


def test_approve_runs_exactly_that_call(cli):
    """Then the run goes on to its answer."""
    cli.tools = (send_mail,)
    cli.answers(MAIL, "Sent.")
    cli("ask", "mail Sam the list")
    ran = cli("approve", "last")
    assert (ran.code, ran.out) == (0, "Sent.\n")
    assert "✓  1  sent to sam@example.com: the list" in ran.err
    assert cli("show", "--json").json["status"] == "done"


def test_decline_goes_on_without_it(cli):
    """The run ends incomplete, and says why."""
    cli.tools = (send_mail,)
    model = cli.answers(MAIL, "I did not send it.")
    cli("ask", "mail Sam the list")
    ran = cli("decline", "last", "--call", "1")
    assert (ran.code, ran.out) == (1, "I did not send it.\n")
    assert "you declined it" in ran.err
    assert "declined" in model.requests[-1].messages[-1].content


def test_a_decision_needs_something_that_waits(cli):
    """A wrong call number, a finished run, an unknown run: each its own words."""
    cli.tools = (send_mail,)
    cli.answers(MAIL, "Sent.")
    cli("ask", "mail Sam the list")
    ran = cli("approve", "last", "--call", "7")
    assert ran.code == 2
    assert "has no waiting call 7" in ran.err
    assert "resume" not in cli("resume", "last").out
    assert "waits for you to agree to call 1 (send_mail)" in cli("resume", "last").err
    cli("approve", "last")
    assert "has no waiting call" in cli("approve", "last").err
    assert cli("approve", "ffff").code == 2


def test_cancel_ends_a_run_that_waits(cli):
    """It never goes on afterwards; what it did stays, with the way back."""
    cli.tools = (send_mail,)
    cli.answers(plan(("addNote", {"title": "x"}), ("send_mail", {"to": "a", "text": "b"})), "Sent.")
    cli("ask", "note x and mail it")
    ran = cli("cancel", "last")
    assert ran.code == 0
    assert re.search(
        r"Run [0-9a-f]{4} is cancelled\. surefoot undo [0-9a-f]{4} takes back 1 change\.", ran.out
    )
    assert "is cancelled" in cli("cancel", "last").err
    assert cli("approve", "last").code == 2
    assert cli("cancel", "last", "--json").code == 2


def test_cancel_in_json(cli):
    """The same for a program."""
    cli.tools = (send_mail,)
    cli.answers(MAIL, "Sent.")
    cli("ask", "mail it")
    ran = cli("cancel", "last", "--json")
    assert (ran.json["status"], ran.json["undoable"]) == ("cancelled", 0)


def test_one_of_two_waiting_calls_leaves_the_other_waiting(cli, monkeypatch):
    """Agreeing to one is not agreeing to both."""
    monkeypatch.setenv("SUREFOOT_POLICY", json.dumps({"listTasks": "confirm"}))
    cli.answers(plan(("listTasks", {"status": "open"}), ("listTasks", {"status": "done"})), "Nothing.")
    assert cli("ask", "what is open and what is done?").code == 5
    ran = cli("approve", "last", "--call", "1")
    assert ran.code == 5
    assert re.search(r"listTasks \(call 2\) waits as well: surefoot approve [0-9a-f]{4} --call 2", ran.err)
    assert cli("approve", "last", "--call", "2").code == 0
