"""Text as the command line shows it, for any text."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from surefoot.cli.live import Stream
from surefoot.cli.shown import cells, cut, folded, prose, visible

TEXTS = st.text(st.characters())
CALM = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]))


@given(TEXTS)
def test_nothing_that_steers_a_terminal_is_ever_shown(text):
    """Whatever comes, no control character is left, in prose none but line ends and tabs."""
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in visible(text))
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t" for char in prose(text))
    visible(text).encode("utf-8")


@given(CALM, st.integers(2, 60))
def test_no_line_is_wider_than_it_may_be(text, width):
    """Nor is anything lost but spaces."""
    lines = folded(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert cells(cut(text, width)) <= width


@given(CALM, st.integers(10, 60), st.integers(1, 9))
def test_a_stream_keeps_its_width_and_every_word(text, width, size):
    """However it is cut into pieces."""
    written: list[str] = []
    stream = Stream(written.append, width)
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    assert stream.end() == text.strip()
    lines = "".join(written).split("\n")
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(written).split()) == "".join(text.split())
