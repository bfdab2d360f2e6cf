"""A start and an end that stand in one text."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from surefoot.planning.dates_said import DatesSaid
from surefoot.planning.spans_said import two_times

MONDAY = datetime(2026, 5, 4, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


def found(language, value):
    dates = DatesSaid(value, MONDAY, language)
    return two_times(value, dates.is_clock, dates.is_one_day)


@pytest.mark.parametrize(
    ("language", "value", "start", "end"),
    [
        ("en", "the 14th 2 to 4pm", "the 14th 2:00", "4pm"),
        ("en", "from 10 to 11:30 am on friday", "on friday 10:00", "11:30 am"),
        ("en", "friday between 9am and noon", "friday 9am", "noon"),
        ("de", "Dienstag von 15 bis 16 Uhr", "Dienstag 15:00", "16 Uhr"),
        ("de", "morgen 14-16 Uhr", "morgen 14:00", "16 Uhr"),
        ("fr", "mardi de 14h à 16h", "mardi 14h", "16h"),
        ("es", "lunes de 9 a 10 y media", "lunes 9:00", "a las 10 y media"),
        ("en", "9 to 10", "9:00", "10:00"),
    ],
)
def test_two_times_are_a_start_and_an_end(language, value, start, end):
    """Joined by a mark or a word, the day in front or behind."""
    assert found(language, value) == (start, end)


@pytest.mark.parametrize(
    ("language", "value"),
    [
        ("en", "friday"),
        ("en", "to the mill"),
        ("en", "14 to 16 May"),
        ("en", "friday to monday"),
        ("fr", "vendredi à 9h"),
        ("de", "9 bis Freitag"),
        ("en", "room 3 to 4pm"),
        ("en", "9 to on friday"),
    ],
)
def test_what_says_one_time_or_days_is_no_such_text(language, value):
    """A month is no day, and what stands around has to be one."""
    assert found(language, value) is None
