"""Text as it is shown: nothing hidden, nothing wider than it may be."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from surefoot.cli.sentences import (
    call_words,
    error_words,
    ms_words,
    numbered,
    result_words,
    seconds_words,
    size_words,
    step_words,
)
from surefoot.cli.shown import cells, cut, folded, one_line, prose, visible
from surefoot.cli.texts import Texts
from surefoot.cli.times import Times


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Grüße 漢字 🙂", "Grüße 漢字 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2028b", "a\\u2028b"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("lone \ud800 half", "lone \\ud800 half"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown):
    """Controls, turns of direction, zero widths, halves of pairs; joiners that words need stay."""
    assert visible(text) == shown


def test_prose_keeps_its_lines():
    """Line ends and tabs stay, in one form."""
    assert prose("a\r\nb\tc\x1bd") == "a\nb\tc\\x1bd"


def test_a_line_is_one_line():
    """Space of any kind is one space."""
    assert one_line(" a\n\n b\t c ") == "a b c"
    assert one_line("a long title", 6) == "a lon…"


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字漢字", 5, "漢字…"),
        ("漢字漢字", 4, "漢…"),
        ("", 1, ""),
        ("ab", 1, "…"),
    ],
)
def test_cut_counts_columns(text, width, kept):
    """A wide character takes two."""
    assert cut(text, width) == kept
    assert cells(kept) <= width


def test_folded_breaks_between_words():
    """Indents of a line stay, spaces at a break go."""
    assert folded("one two  three", 7) == ["one two", "three"]
    assert folded("  - an item", 20) == ["  - an item"]
    assert folded("a\n\nb", 5) == ["a", "", "b"]
    assert folded("", 5) == [""]


def test_folded_breaks_inside_where_it_must():
    """Long words by columns, wide writing anywhere."""
    assert folded("abcdefgh", 3) == ["abc", "def", "gh"]
    assert folded("漢字漢字漢", 4) == ["漢字", "漢字", "漢"]
    assert folded("ab 漢字", 4) == ["ab", "漢字"]


def test_arguments_are_shown_whole_and_as_they_are():
    """As JSON, with everything that hides written out."""
    assert call_words("send", {"to": "a\u202eb", "n": 1, "tags": ["x"], "no": None}) == (
        'send(to="a\\u202eb", n=1, tags=["x"], no=null)'
    )


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"message": "3 tasks", "tasks": []}, "3 tasks"),
        ({"message": 3}, '{"message": 3}'),
        ([1, 2], "2 items"),
        ([1], "1 item"),
        (None, "done"),
        ("", "done"),
        (0, "0"),
        (False, "false"),
        ("two\nlines", "two lines"),
        ({"a": "x" * 500}, '{"a": "' + "x" * 192 + "…"),
    ],
)
def test_results_in_words(result, words):
    """Their own sentence, else how many, else the value; 0 and false are values."""
    assert result_words(Texts("en"), result) == words


def test_errors_in_words():
    """What and what to do, on one line; none is nothing."""
    assert error_words({"message": "No.", "next_move": "Do\nthis."}) == "No. Do this."
    assert error_words(None) == ""


def test_steps_are_numbered_as_events_number_them():
    """Memory comes before the plan."""
    steps = [{"kind": kind} for kind in ("memory", "tool", "reply")]
    assert [number for number, _ in numbered(steps)] == [0, 1, 2]


def test_a_step_whose_arguments_could_not_be_read_is_shown_as_it_was_written():
    """Half a call is never shown as a whole one."""
    step = {
        "text": "addNote(title=",
        "kind": "tool",
        "tool": "addNote",
        "arguments": {},
        "placeholders": [],
        "concrete": False,
    }
    assert step_words(step) == "addNote(title="
    assert step_words({**step, "concrete": True}) == "addNote()"
    assert step_words({**step, "kind": "reply", "tool": None}) == "reply"


def test_durations_and_sizes():
    """Each in the unit that reads well."""
    assert [ms_words(ms) for ms in (0.2, 4, 999, 1500)] == ["0 ms", "4 ms", "999 ms", "1.5 s"]
    assert [seconds_words(s) for s in (0.04, 9.1, 125)] == ["0.0 s", "9.1 s", "2 min 5 s"]
    assert [size_words(n) for n in (10, 2_000, 940e6, 1.12e9)] == ["10 B", "2 kB", "940 MB", "1.1 GB"]


# --- times -------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 5, 3, 22, 30, tzinfo=UTC)


def times(language: str = "en", zone: str = "Europe/Berlin") -> Times:
    return Times(Texts(language), zone, lambda: NOW)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (datetime(2026, 5, 3, 22, 2, tzinfo=UTC), "today 00:02"),
        (datetime(2026, 5, 3, 21, 59, tzinfo=UTC), "yesterday 23:59"),
        (datetime(2026, 5, 2, 12, 0, tzinfo=UTC), "Sat 2 May 14:00"),
        (datetime(2025, 12, 31, 23, 30, tzinfo=UTC), "Thu 1 Jan 00:30"),
        (datetime(2025, 12, 31, 22, 30, tzinfo=UTC), "Wed 31 Dec 2025 23:30"),
        (None, ""),
    ],
)
def test_moments_stand_in_the_persons_zone(when, words):
    """Today and yesterday by the person's midnight; the year where it is another one."""
    assert times().moment(when) == words


def test_moments_in_german():
    """With a full stop behind the day."""
    assert times("de").moment(datetime(2026, 5, 2, 12, 0, tzinfo=UTC)) == "Sa 2. Mai 14:00"
    assert times("de").day(date(2027, 3, 1)) == "Mo 1. März 2027"


def test_days_and_moments_as_the_kits_store_them():
    """A day belongs to no zone; a moment is shown in the person's."""
    assert times().stored("2026-05-02") == "Sat 2 May"
    assert times().stored("2026-05-02T17:00:00+00:00") == "Sat 2 May 19:00"
    assert times().stored("2026-05-02T17:00") == "Sat 2 May 17:00"
    assert times().stored("") == times().stored(None) == ""
