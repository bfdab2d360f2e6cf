"""`surefoot undo` and `redo`."""

from __future__ import annotations

import re

import pytest

from surefoot import Effect, tool
from surefoot.cli import app

from .support import BIRTHDAY, plan


@pytest.fixture
def noted(cli):
    """A run that made a note and a task."""
    cli.answers(BIRTHDAY, "I noted it.", always="Hm.")
    cli("ask", "note Anna's birthday")
    return cli


def titles(cli, kind: str) -> list[str]:
    return [row["title"] for row in cli(kind, "list", "--json").json]


def test_preview_shows_what_would_be_taken_back_and_changes_nothing(noted):
    """Newest first, in the words of the calls."""
    ran = noted("undo", "last", "--preview")
    assert ran.code == 0
    head, second, first = ran.out.splitlines()
    assert re.fullmatch(r'  run [0-9a-f]{4}, .* 09:00: "note Anna\'s birthday"', head) or "run " in head
    assert second == '  ↶  2  would take back: task "Buy a present" due Sat 2 May 2026'
    assert first == '  ↶  1  would take back: note "Anna\'s birthday" added'
    assert "Nothing was changed. surefoot undo" in ran.err
    assert titles(noted, "notes") == ["Anna's birthday"]


def test_undo_without_a_name_takes_back_the_last_request(noted):
    """And says how to make it again."""
    ran = noted("undo")
    assert ran.code == 0
    assert "  ↶  2  taken back: task" in ran.out
    assert re.search(r"2 changes taken back\. surefoot redo [0-9a-f]{4} makes them again\.", ran.err)
    assert titles(noted, "notes") == titles(noted, "tasks") == []


def test_undo_twice_is_already_done(noted):
    """`last` still means the request, not the undo."""
    noted("undo")
    ran = noted("undo")
    assert ran.code == 0
    assert "it is as it was before" in ran.out
    assert "0 changes taken back." in ran.err
    assert "makes them again" not in ran.err


def test_redo_makes_it_again_under_its_own_words(noted):
    """The undo's own calls are shown as the calls that they took back."""
    noted("undo")
    ran = noted("redo")
    assert ran.code == 0
    assert ran.out.splitlines()[1:] == [
        '  ↶  1  made again: note "Anna\'s birthday" added',
        '  ↶  2  made again: task "Buy a present" due Sat 2 May 2026',
    ]
    assert re.search(r"2 changes made again\. surefoot undo [0-9a-f]{4} takes them back\.", ran.err)
    assert titles(noted, "tasks") == ["Buy a present"]


def test_one_call_alone(noted):
    """--call takes the number that is shown."""
    ran = noted("undo", "last", "--call", "1")
    assert (ran.code, titles(noted, "notes"), titles(noted, "tasks")) == (0, [], ["Buy a present"])
    assert "partly undone" in noted("runs").out
    assert noted("undo", "last", "--call", "9").code == 2


def test_a_later_edit_is_a_conflict_until_it_is_forced(noted):
    """What somebody changed since is left alone, shown, and exit 1."""
    noted.answers(plan(("updateNote", {"note": "Anna's birthday", "text": "4 May"})), "Changed.")
    first = noted("runs", "--json").json[-1]["short"]
    noted("ask", "Anna's birthday is on 4 May after all")
    for arguments in (("--preview",), ()):
        ran = noted("undo", first, *arguments)
        assert ran.code == 1
        assert '!  1  note "Anna\'s birthday" added: changed since, left alone. --force' in ran.out
    assert titles(noted, "notes") == ["Anna's birthday"]
    assert noted("undo", first, "--force").code == 0
    assert titles(noted, "notes") == []


def test_what_cannot_be_taken_back_is_said(cli):
    """An external call has no undo."""

    @tool(effect=Effect.EXTERNAL)
    def publish(text: str) -> str:
        """Publish."""
        return f"published {text}"

    cli.tools = (publish,)
    cli.answers(plan(("publish", {"text": "x"})), "Published.")
    cli("ask", "publish x please")
    cli("approve", "last")
    ran = cli("undo")
    assert ran.code == 1
    assert "cannot be taken back: its effect is external" in ran.out


def test_a_run_that_changed_nothing(cli):
    """There is nothing to take back, which is fine."""
    cli.answers("reply()", "Hello.")
    cli("ask", "hello there")
    ran = cli("undo")
    assert (ran.code, "It changed nothing" in ran.out) == (0, True)


def test_undo_and_redo_in_json(noted):
    """For programs: verdict and reason of each call."""
    ran = noted("undo", "--json")
    assert [item["verdict"] for item in ran.json["items"]] == ["take_back", "take_back"]
    assert ran.json["target"].startswith(ran.json["short"])
    assert noted("redo", "--json").json["complete"]
    assert noted("redo", "--json").code == 2


@pytest.mark.parametrize("name", ["zzzz", "00000000", "no such run"])
def test_an_unknown_run_is_not_found(noted, name):
    """Exit 2, with the name in the message."""
    ran = noted("undo", name)
    assert ran.code == 2
    assert name in ran.err
    assert "error  not_found" in ran.err or "error  input" in ran.err


def test_nothing_was_run_yet(cli):
    """`last` of nothing."""
    assert cli("undo").code == 2
    assert cli("redo").code == 2
    assert cli("show").code == 2


def test_ctrl_c_in_an_undo_says_how_to_finish_it(noted, monkeypatch):
    """The same command again."""
    import asyncio
    import os
    import signal

    from surefoot import Assistant

    async def slow(self, *_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

    with monkeypatch.context() as patch:
        patch.setattr(Assistant, "undo", slow)
        ran = noted("undo")
    assert ran.code == 130
    assert "The same command again finishes it." in ran.err
    assert noted("undo").code == 0


def test_call_numbers_start_at_one(cli):
    """A usage error, told as our errors are."""
    ran = cli("undo", "last", "--call", "0")
    assert ran.code == 2
    assert "error  usage:" in ran.err
    assert "surefoot undo --help shows how." in ran.err
    assert app(["undo", "--call", "x"], standalone_mode=False) == 2
