"""`surefoot show RUN --messages`: what was said to models, as a conversation."""

from __future__ import annotations

import pytest

from surefoot.cli.conversation import SYSTEM_WIDTH, answers_only, as_json, conversation_lines, shortened
from surefoot.cli.out import Channel
from surefoot.cli.texts import LANGUAGES, Texts
from surefoot.journal.types import ModelCall, Run
from surefoot.models.types import Completion, Message, ToolCall

from .support import BIRTHDAY

RUN = "0123456789abcdef"
LONG = "You plan with great care.\n" * 40
SECRET = "hunter2-hunter2"


@pytest.fixture
def noted(cli):
    """A run that was planned and answered."""
    cli.answers(BIRTHDAY, "I noted it.", always="Hm.")
    cli("ask", "note Anna's birthday")
    return cli


def keep(cli, *calls: tuple[str, list[Message], Completion]) -> None:
    """A run with these model calls, as the journal keeps them."""

    async def write(journal):
        await journal.create_run(Run(RUN, "go"))
        for key, messages, answer in calls:
            entry = ModelCall(RUN, key, key, "scripted:model", answer.to_dict())
            await journal.add_model_call(entry, messages=[message.to_dict() for message in messages])

    cli.journal(write)


TWO_ROUNDS = (
    (
        "round.1",
        [Message("system", LONG), Message("user", "find tea\nand milk")],
        Completion(
            "I look.", (ToolCall("c1", "find", {"q": "tea", "n": 2}), ToolCall("c2", "find", {"q": "milk"}))
        ),
    ),
    (
        "round.2",
        [
            Message("tool", '{"success": true}', tool_call_id="c1", name="find"),
            Message("tool", "x", tool_call_id="c2"),
        ],
        Completion("There is tea."),
    ),
)


def test_a_conversation_in_a_pipe_is_plain_and_whole(cli):
    """Model call by model call: who said what, calls as they are written in a plan, lines as they were."""
    keep(cli, *TWO_ROUNDS)
    ran = cli("show", "last", "--messages")
    assert ran.code == 0
    head, _, body = ran.out.partition("\n\n")
    assert head.splitlines()[1] == "  go"
    short = "You plan with great care. " * 7
    assert body == (
        "  round.1\n"
        f"    system  {short[: SYSTEM_WIDTH - 1].rstrip()}… (1040 characters)\n"
        "    person  find tea\n"
        "            and milk\n"
        "    model   I look.\n"
        '            find(n=2, q="tea")\n'
        '            find(q="milk")\n'
        "\n"
        "  round.2\n"
        '    tool    find: {"success": true}\n'
        "    tool    x\n"
        "    model   There is tea.\n"
    )
    assert "surefoot show 0123 --messages --json has them whole" in ran.err


def test_the_same_in_json_is_whole(cli):
    """`{"messages": [{"call", "role", ...}]}`, every text as it was sent."""
    keep(cli, *TWO_ROUNDS)
    found = cli("show", "last", "--messages", "--json").json
    assert list(found) == ["messages"]
    wanted = []
    for key, messages, answer in TWO_ROUNDS:
        said = Message("assistant", answer.text, answer.tool_calls)
        wanted += [{"call": key, **message.to_dict()} for message in (*messages, said)]
    assert found["messages"] == wanted
    assert found["messages"][0]["content"] == LONG


def test_a_run_of_the_assistant_shows_what_its_models_were_asked(noted):
    """The planner's prompt with the request, its plan; the question for a reply, the reply."""
    said = noted("show", "--messages", "--json").json["messages"]
    keys = list(dict.fromkeys(message["call"] for message in said))
    assert keys == ["plan", "reply"]
    assert said[0]["role"] == "system"
    assert any("note Anna's birthday" in message["content"] for message in said if message["role"] == "user")
    plan = [message for message in said if message["call"] == "plan"][-1]
    assert [call["name"] for call in plan["tool_calls"]] == ["addNote", "addTask", "listTasks"]
    assert said[-1] == {"call": "reply", "role": "assistant", "content": "I noted it."}
    assert "I noted it." in noted("show", "--messages").out


def test_in_a_terminal_lines_fit_and_hang_under_their_speaker(cli):
    """Folded at its width; in a pipe they stay whole."""

    class Narrow(Channel):
        width = 40

    said = [("plan", Message("user", "one two three four five six seven eight nine ten " * 3).to_dict())]
    lines = [
        "".join(text for text, _ in line)
        for line in conversation_lines(Narrow(Quiet(), Texts("en")), Texts("en"), said)
    ]
    assert len(lines) > 4
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith("            ") for line in lines[2:])


class Quiet:
    """A stream that nobody sees."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_said_it_has_a_word_in_each_language(cli, monkeypatch, language):
    """Also what is said about it."""
    texts = Texts(language)
    assert all(texts.has(f"role.{role}") for role in ("system", "user", "assistant", "tool"))
    monkeypatch.setenv("SUREFOOT_LANGUAGE", language)
    keep(cli, *TWO_ROUNDS)
    ran = cli("show", "--messages")
    assert f"    {texts('role.assistant')}" in ran.out
    assert texts("show.shortened", run="0123") in ran.err


def test_a_run_of_before_says_that_only_answers_were_kept(cli):
    """Plainly, and shows them."""
    keep(cli, ("plan", [], Completion("", (ToolCall("c", "find", {}),))), ("reply", [], Completion("old")))
    ran = cli("show", "--messages")
    assert ran.code == 0
    assert "    model   find()\n" in ran.out
    assert "An older version made this run" in ran.err
    assert [message["call"] for message in cli("show", "--messages", "--json").json["messages"]] == [
        "plan",
        "reply",
    ]


def test_a_run_without_a_model_says_so(noted):
    """An undo asks nobody."""
    noted("undo")
    ran = noted("show", "--messages")
    assert (ran.code, "No model was asked" in ran.err) == (0, True)
    assert noted("show", "--messages", "--json").json == {"messages": []}


def test_no_run_of_that_name(cli):
    """As everywhere."""
    assert cli("show", "abcd", "--messages").code == 2


@pytest.mark.parametrize(
    "text", ["\x1b[2J\x1b]0;owned\x07", "\u202egnirts", "a\rb", "\x9b31m", "line\u2028other", "\ud800"]
)
def test_what_a_model_or_tool_wrote_cannot_steer_the_terminal(cli, text):
    """In texts, names and arguments: written out."""
    messages = [
        Message("user", text),
        Message("tool", text, tool_call_id="c", name=text),
        Message("system", text),
        Message("system", text + LONG),
    ]
    keep(
        cli,
        (
            f"round{text}".replace("\ud800", ""),
            messages,
            Completion(text, (ToolCall("c", text, {text: text}),)),
        ),
    )
    out = cli("show", "--messages").out
    assert not set(text) & set("\x1b\x07\u202e\r\x9b\u2028") & set(out)
    assert out.count("\n") < 20


def test_no_secret_is_shown(cli):
    """Neither in what was kept before it was known as one."""
    keep(cli, ("plan", [Message("user", f"use {SECRET}")], Completion(f"it is {SECRET}")))
    from surefoot import redaction

    with redaction.secrets(SECRET):
        shown = [cli("show", "--messages"), cli("show", "--messages", "--json")]
    assert all(SECRET not in ran.out and "[secret]" in ran.out for ran in shown)


def test_what_is_empty_is_seen_as_such():
    """An answer of nothing is two quotation marks; one that only calls has no empty line."""
    channel, texts = Channel(Quiet(), Texts("en")), Texts("en")
    said = [
        ("a", {"role": "assistant", "content": ""}),
        (
            "a",
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]},
        ),
        ("a", {"role": "user", "content": "x\n\ny"}),
        ("a", {"role": "oracle", "content": "z"}),
    ]
    lines = ["".join(text for text, _ in line) for line in conversation_lines(channel, texts, said)]
    assert lines == [
        "  a",
        '    model   ""',
        "    model   f()",
        "    person  x",
        "",
        "            y",
        "    oracle  z",
    ]


def test_when_something_is_left_out():
    """Only long system texts are; a run of before has nothing but answers."""
    short, long = ("a", {"role": "system", "content": "x"}), ("a", {"role": "system", "content": LONG})
    user, answer = ("a", {"role": "user", "content": LONG}), ("a", {"role": "assistant", "content": ""})
    assert shortened([long])
    assert not shortened([short, user, answer])
    assert answers_only([answer, ("b", {"role": "assistant", "content": ""})])
    assert not answers_only([user, answer])
    assert as_json([]) == {"messages": []}
