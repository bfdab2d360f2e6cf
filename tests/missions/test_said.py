"""Cadences in a person's words, English and German."""

from __future__ import annotations

import pytest

from surefoot.errors import InputError
from surefoot.missions.cadence import Cadence
from surefoot.missions.said import read, write

WEEK = Cadence("weekly", days=(0, 3), minute=18 * 60)


@pytest.mark.parametrize(
    ("text", "cadence"),
    [
        ("manual", Cadence()),
        ("von Hand", Cadence()),
        ("daily 07:30", Cadence("daily", minute=450)),
        ("Daily at 7:30", Cadence("daily", minute=450)),
        ("every day 0:00", Cadence("daily")),
        ("täglich um 7 Uhr", Cadence("daily", minute=420)),
        ("jeden Tag 23:59", Cadence("daily", minute=1439)),
        ("weekly mon,thu 18:00", WEEK),
        ("weekly thu, monday at 18:00", WEEK),
        ("weekly mon and thu 18:00", WEEK),
        ("wöchentlich mo und do um 18 Uhr", WEEK),
        ("wöchentlich montags,donnerstags 18:00", WEEK),
        ("every 30 minutes", Cadence("interval", minutes=30)),
        ("every hour", Cadence("interval", minutes=60)),
        ("every 2 days", Cadence("interval", minutes=2880)),
        ("alle 30 Minuten", Cadence("interval", minutes=30)),
        ("jede Stunde", Cadence("interval", minutes=60)),
        ("every 90min", Cadence("interval", minutes=90)),
        ('cron "0 9 * * 1-5"', Cadence("cron", cron="0 9 * * 1-5")),
        ("cron 0 9 * * mon-fri", Cadence("cron", cron="0 9 * * mon-fri")),
    ],
)
def test_words_are_read(text: str, cadence: Cadence):
    """And what is written back is read as the same."""
    assert read(text) == cadence
    assert read(write(cadence)) == cadence


@pytest.mark.parametrize(
    "text",
    [
        "", "sometimes", "daily", "daily 24:00", "daily 7:61", "daily 7:3", "dailyish 07:30", "weekly 18:00", "weekly mon",
        "weekly someday 18:00", "every", "every 0 minutes", "every 30 fortnights", "every -5 minutes", "manual 07:30",
        "every 99999999999 minutes", "cron", "cron 1 2 3", "alle Tage mal",
    ],
)  # fmt: skip
def test_other_words_are_refused(text: str):
    """With what was said, and with forms that work."""
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.next_move


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (1, "every minute"),
        (60, "every hour"),
        (1440, "every 1 day"),
        (90, "every 90 minutes"),
        (120, "every 2 hours"),
    ],
)
def test_intervals_are_written_in_the_largest_unit(minutes: int, words: str):
    """`every day` would be the daily cadence, which keeps to the clock."""
    cadence = Cadence("interval", minutes=minutes)
    assert write(cadence) == words
    assert read(words) == cadence
