"""Secrets at the sinks: the forms of a value, who knows it, and how long."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
import threading
import time
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


@pytest.mark.parametrize("number", [4.111111111111111e18, 1e300])
def test_a_large_float_is_looked_at_in_full(number):
    """`4.111e+18` has the digits of a number all the same."""
    with secrets(f"{number:.0f}"):
        assert redact_json({"n": number}) == {"n": MASK}
        assert redact_json({"n": 2e30}) == {"n": 2e30}


@pytest.mark.parametrize("moment", ["2026-12-01T02:02:02+00:00", "2026-12-01T00:00:00.202123Z"])
def test_a_short_secret_does_not_destroy_the_clock(moment):
    """A CVV of 202 is in every year of the decade; what the clock says is nobody's secret. In a text it is masked."""
    with secrets("202", "123"):
        assert redact_json({"now": moment}) == {"now": moment}
        assert MASK in redact(moment)
        assert MASK in redact_json([f"at {moment}"])[0]
    with secrets("12-01T0"):
        assert MASK in redact_json([moment])[0]


@pytest.mark.parametrize(
    "written",
    [
        "DE89 3704 0044 0532 0130 00",
        "de89370400440532013000",
        "DE89-3704-0044-0532-0130-00",
        "DE89%203704%200044%200532%200130%2000",
        "DE89+3704+0044+0532+0130+00",
        "DE89\\u00a03704 0044 0532 0130 00",
        "DE89 3704 0044\n        0532 0130 00",
        "xDE893704004405320130009",
    ],
)
@pytest.mark.parametrize("given", ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00"])
def test_an_account_number_is_masked_however_it_is_grouped(given, written):
    """Letters count as digits do: an IBAN has both."""
    with secrets(given):
        seen = redact(f"to {written}, thanks")
    assert MASK in seen
    assert "3704" not in seen
    assert "0130" not in seen


@pytest.mark.parametrize(
    "written", ["correct horse battery", "correct\n    horse battery", "correct  horse\tbattery"]
)
def test_a_passphrase_is_masked_over_line_ends(written):
    """Text is folded and put on one line on its way; blanks of any kind are one."""
    with secrets("correct  horse battery"):
        assert redact(f"it is {written}!") == f"it is {MASK}!"


@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
def test_a_value_in_base64_is_masked_wherever_it_begins(before):
    """As in a header of basic authentication: three ways, by what stands before it; both alphabets."""
    with secrets("hunter22-secret>?"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            assert MASK in redact(f"Basic {encode(f'{before}hunter22-secret>?!'.encode()).decode()}")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a&b<c", "a&amp;b&lt;c"),
        ("it's", "it&#x27;s"),
        ("it's", "it&#39;s"),
        ("Zo\u00eb!", "Zoe\u0308!"),
        ("a/b/c", "a\\/b\\/c"),
        ("pa\nss", "pa\\nss"),
        ("gr\u00fc\u00df", "gr\\u00FC\\u00DF"),
        ("a'b(c)", "a'b(c)"),
        ("p'a ss!", "p'a%20ss!"),
    ],
)
def test_escaped_by_pages_and_programs(value, written):
    """HTML, PHP's JSON, capitals in escapes, JavaScript's URL encoding, accents in two signs."""
    with secrets(value):
        assert redact(f"<{written}>") == f"<{MASK}>"


@pytest.mark.parametrize(
    "text",
    [
        "4" + " " * 50_000 + "1",
        "4 " * 50_000,
        "4111 1111 1111 111 " * 5_000,
        "DE89 " * 20_000,
        "correct " * 20_000,
        "correct" + " " * 100_000,
    ],
)
def test_no_text_takes_for_ever_to_mask(text):
    """Blanks and halves of numbers without end: a moment, not minutes."""
    began = time.process_time()
    with secrets("4111111111111111", "DE89370400440532013000", "correct horse battery"):
        redact(text)
        unfinished(text)
    assert time.process_time() - began < 20


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


def test_a_key_that_is_no_text_stays_what_it_is():
    """Only one that holds a secret becomes its mask: otherwise what is no JSON would pass for it."""
    with secrets("4111111111111111"):
        assert redact_json({1: "a", "b": 2, None: 3}) == {1: "a", "b": 2, None: 3}
        assert redact_json({4111111111111111: "a"}) == {MASK: "a"}
