"""What a person types is looked through for secrets before journal and prompt: planted ones are searched for everywhere."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from prompt_toolkit.history import History

from cli.support import environment, run
from models.servers import LoopbackServer
from surefoot import ScriptedModel
from surefoot.cli.commands.chat import history
from surefoot.cli.requests import read_plan, request_text
from surefoot.events import EventType
from surefoot.models.types import Message
from surefoot.redaction import MASK, RedactingFormatter, redact

from .support import assistant, plan, titles

CARD, IBAN, PASSWORD = "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "hunter-2-zwei"
ASKED = f"note my card {CARD}, the IBAN {IBAN}, and that my password is {PASSWORD}"
FORMS = tuple(
    {form for value in (CARD, IBAN, PASSWORD) for form in (value, value.replace(" ", ""), quote_plus(value))}
)
SAID_BACK = {"title": "Card", "text": f"{CARD.replace(' ', '')} / {IBAN.replace(' ', '')} / {PASSWORD}"}


def assert_absent(sink: str, content: bytes | str) -> None:
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    for form in FORMS:
        assert form not in text, f"{sink} holds {form!r}"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that any library logs, at the lowest level, written by our formatter."""
    text, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(text)
    handler.setFormatter(RedactingFormatter("%(name)s %(message)s"))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield text
    root.setLevel(level)
    root.removeHandler(handler)


def prompts(model: ScriptedModel) -> str:
    return "\n".join(message.content for request in model.requests for message in request.messages)


async def test_a_request_leaves_its_secrets_nowhere(isolated: Path, log: io.StringIO):
    """Events, prompts, the result, log lines, and the bytes of every file, also where the model says them back."""
    model = ScriptedModel(plan(("addNote", SAID_BACK)), f"Noted {CARD}.", always="Hm.")
    async with assistant(model) as opened:
        handle = opened.ask(ASKED)
        told = [event.to_dict() async for event in handle]
        result = await handle
        assert_absent("the events", json.dumps(told, ensure_ascii=False))
        assert_absent("the result", json.dumps(result.to_dict(), ensure_ascii=False))
        assert await titles(opened, "notes") == ["Card"]
    assert model.requests
    assert MASK in prompts(model)
    assert_absent("a prompt", prompts(model))
    assert_absent("the log", log.getvalue())
    files = [path for path in isolated.rglob("*") if path.is_file()]
    assert any(path.name == "surefoot.db" for path in files)
    for path in files:
        assert_absent(path.name, path.read_bytes())


async def test_the_person_is_told_what_was_masked():
    """A notice of the run names the kinds; a request without secrets has none."""
    async with assistant(ScriptedModel(always="reply()")) as opened:
        notices = [e.data["text"] async for e in opened.ask(ASKED) if e.type is EventType.NOTICE]
        assert "(card, account, password)" in notices[0]
        plain = [e.data["text"] async for e in opened.ask("hello there you") if e.type is EventType.NOTICE]
        assert not any("masked" in text for text in plain)


async def test_the_next_turn_of_the_talk_does_not_know_them_either(isolated: Path):
    """What is read again of a conversation was masked when it was kept."""
    async with assistant(ScriptedModel(always="reply()")) as opened:
        await opened.ask(ASKED)
        dialogue = opened.dialogue
    model = ScriptedModel("reply()", "Hello.", always="Hm.")

    async def later() -> None:
        async with assistant(model, dialogue=dialogue) as opened:
            await opened.ask("what did I just tell you to note?")

    await later()
    assert_absent("a prompt", prompts(model))
    assert any(MASK in message.content for request in model.requests for message in request.messages)


async def test_two_people_at_once_do_not_mask_each_others_words():
    """Found values count for the context that asked."""
    seen = copy_context().run(redact, CARD)
    assert seen == CARD
    assert Message("user", CARD).content == CARD


def test_the_history_of_chat_is_kept_without_them(tmp_path: Path):
    """The line is written the moment it is typed, before anybody reads it."""
    file = tmp_path / "history"
    kept: History = history(str(file))
    kept.store_string(ASKED)
    assert MASK in file.read_text()
    assert_absent("the history", file.read_bytes())


def test_the_command_line_masks_what_it_reads(monkeypatch, tmp_path: Path):
    """Requests and written plans, from arguments, standard input and files."""
    assert copy_context().run(lambda: redact(request_text(ASKED.split(" ")))).count(MASK) == 3
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ASKED.encode())))
    assert copy_context().run(lambda: redact(request_text(["-"]))).count(MASK) == 3
    file = tmp_path / "plan.txt"
    file.write_text(f'addNote(title="Card", text="{CARD}")')
    assert copy_context().run(lambda: redact(read_plan(str(file)))).count(MASK) == 1
    assert CARD in redact(CARD)


def test_the_commands_leave_them_nowhere(isolated: Path):
    """Real processes: `ask` against a server that is not there, `plan --from`, `show`; streams and files."""
    with LoopbackServer().running() as server:
        env = environment(server)
        written = isolated / "plan.txt"
        written.write_text(f'addNote(title="Card", text="{CARD}")')
        done = [
            run(["ask", "--debug", ASKED], env),
            run(["plan", ASKED], env),
            run(["plan", "--from", str(written)], env),
            run(["chat"], env, input=ASKED.encode() + b"\n"),
            run(["show", "last", "--json"], env),
        ]
        for seen in server.seen:
            assert_absent("a prompt", json.dumps(seen.body, ensure_ascii=False))
    written.unlink()
    for one in done:
        assert_absent("standard output", one.stdout)
        assert_absent("standard error", one.stderr)
    assert MASK.encode() in done[2].stdout
    for path in isolated.rglob("*"):
        if path.is_file():
            assert_absent(path.name, path.read_bytes())
