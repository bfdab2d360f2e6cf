"""Secrets at the sinks: the forms of a value, who knows it, and how long."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from contextvars import copy_context
from urllib.parse import quote, quote_plus, urlencode

import pytest

from surefoot.redaction import (
    MASK,
    RedactingFormatter,
    forms,
    redact,
    redact_json,
    register,
    secrets,
    unfinished,
)


@pytest.mark.parametrize(
    "secret", ["p@ss", "pa ss/word?", 'q"uote', "back\\slash", "Grüße!", "密碼-123", "a&b=c+d"]
)
@pytest.mark.parametrize(
    "write",
    [
        lambda s: s,
        lambda s: quote(s, safe=""),
        quote,
        quote_plus,
        lambda s: quote(s, safe="").lower() if s.islower() else quote(s, safe=""),
        lambda s: urlencode({"password": s}),
        json.dumps,
        lambda s: json.dumps({"typed": [s]}, ensure_ascii=False),
    ],
)
def test_a_secret_on_the_page_is_masked_however_it_is_written(secret, write):
    """Typed and echoed, URL-encoded or inside JSON: the value and its encoded forms are gone."""
    with secrets(secret):
        seen = redact(f"<p>{write(secret)}</p>")
    assert MASK in seen
    assert not any(form in seen for form in forms(secret))


@pytest.mark.parametrize(
    "written", ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4111.1111.1111.1111"]
)
@pytest.mark.parametrize("given", ["4111111111111111", "4111 1111 1111 1111"])
def test_a_card_number_is_masked_however_it_is_grouped(given, written):
    """Blanks, hyphens and dots between the digits do not hide it."""
    with secrets(given):
        assert redact(f"card {written}, thanks") == f"card {MASK}, thanks"


@pytest.mark.parametrize("text", ["12 34 5", "1 2345", "12.345"])
def test_a_short_number_is_not_looked_for_in_groups(text):
    """Five digits, spread, are common in ordinary text."""
    with secrets("12345"):
        assert redact(text) == text
        assert redact("pin 12345") == f"pin {MASK}"


@pytest.mark.parametrize("value", ["", " ", "a", "1", "ab", "  a  "])
def test_a_value_too_short_to_hide_anything_is_left_alone(value):
    """Masking every "1" would destroy the text."""
    with secrets(value):
        assert redact("a 1 ab   a  ") == "a 1 ab   a  "


def test_the_longest_secret_wins():
    """A secret that begins with another leaves no rest behind, numbers among them."""
    with secrets("hunter", "hunter22", "123456", "123456-abc", "1234567"):
        assert redact("hunter22 hunter") == f"{MASK} {MASK}"
        assert redact("123456-abc 12 34 56 7") == f"{MASK} {MASK}"


def test_overlapping_secrets_leave_no_part_of_either():
    """Two values that share letters in the text are masked together."""
    with secrets("abcdef", "defghi"):
        assert "ghi" not in redact("abcdefghi")


def test_json_keeps_its_shape():
    """Keys, nested texts and numbers are masked; everything else stays what it is."""
    value = {"p@ss": [1, None, True, 2.5, {"x": "my p@ss"}], "n": 123456, "f": 123456.5, "t": ("p@ss",)}
    with secrets("p@ss", "123456"):
        assert redact_json(value) == {
            MASK: [1, None, True, 2.5, {"x": f"my {MASK}"}],
            "n": MASK,
            "f": MASK,
            "t": [MASK],
        }


def test_without_secrets_nothing_is_touched():
    """The common case costs nothing: the same object comes back."""
    value = {"a": ("b",)}
    assert redact_json(value) is value
    assert redact("p@ss") == "p@ss"


def test_secrets_are_forgotten_behind_the_block():
    """A `with` block ends what it began, also by an exception."""
    with pytest.raises(ZeroDivisionError), secrets("p@ss"):
        _ = 1 / 0
    assert redact("p@ss") == "p@ss"


async def test_two_at_once_do_not_mix_their_secrets_and_a_child_inherits():
    """A task knows what its parent knew when it began, and nothing of its sibling."""

    async def person(own: str, other: str) -> tuple[str, str]:
        register(own)
        await asyncio.sleep(0)
        in_thread = await asyncio.to_thread(redact, f"{own} {other} shared")
        return await asyncio.create_task(_child(f"{own} {other} shared")), in_thread

    with secrets("shared"):
        one, two = await asyncio.gather(person("alpha", "beta"), person("beta", "alpha"))
    assert one == (f"{MASK} beta {MASK}",) * 2
    assert two == (f"{MASK} alpha {MASK}",) * 2
    assert redact("alpha beta shared") == "alpha beta shared"


async def _child(text: str) -> str:
    return redact(text)


def test_a_bare_thread_knows_nothing_and_a_copied_context_everything():
    """Who starts a thread of their own hands the context over."""
    seen: list[str] = []
    with secrets("p@ss"):
        for target in (lambda: seen.append(redact("p@ss")), copy_context().run):
            args = (lambda: seen.append(redact("p@ss")),) if target.__name__ == "run" else ()
            thread = threading.Thread(target=target, args=args)
            thread.start()
            thread.join()
    assert seen == ["p@ss", MASK]


def test_register_adds_to_what_is_known():
    """Registered values are masked beside those of the block, until the context ends."""

    def inside() -> str:
        register("p@ss", "x")
        with secrets("word1"):
            return redact("p@ss word1 x")

    assert copy_context().run(inside) == f"{MASK} {MASK} x"
    assert redact("p@ss") == "p@ss"


def test_the_log_line_is_masked_with_its_arguments_and_traceback():
    """What a formatter writes holds no secret, wherever it came from."""
    try:
        raise ValueError("bad password p@ss")
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, "f.py", 1, "typed %s", ("p@ss",), sys.exc_info())
    with secrets("p@ss"):
        line = RedactingFormatter("%(message)s").format(record)
    assert line.startswith(f"typed {MASK}\nTraceback")
    assert "p@ss" not in line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hello", "hello"),
        ("my hun", "my"),
        ("my hunter2", "my"),
        ("my hunter22 is", "my hunter22 is"),
        ("my hunter22 is h", "my hunter22 is"),
        ("card 4111 1", "card"),
        ("card 4111-1111-1111-1111 ok", "card 4111-1111-1111-1111 ok"),
        ("hunter", ""),
        ("my hunter22ab", "my"),
    ],
)
def test_the_end_of_a_stream_that_may_begin_a_secret_waits(text, shown):
    """What could still become a secret is kept until the next piece has come; a whole one may be masked now."""
    with secrets("hunter22", "22abz", "4111111111111111"):
        assert text[: unfinished(text)].rstrip() == shown


def test_without_secrets_no_stream_waits():
    """The common case: every piece is shown as it comes."""
    assert unfinished("hunter") == len("hunter")
