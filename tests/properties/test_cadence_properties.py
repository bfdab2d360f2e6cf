"""What holds for every cadence, zone and time."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from surefoot.missions.cadence import Cadence, next_occurrence, occurrences
from surefoot.missions.said import read, write

ZONES = (
    "Europe/Berlin", "US/Pacific", "America/Santiago", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata",
    "Pacific/Apia", "America/Nuuk", "Africa/Casablanca", "America/Havana", "Pacific/Kwajalein", "Antarctica/Troll",
)  # fmt: skip

zones = st.sampled_from(ZONES)
minutes = st.integers(0, 1439)
CRONS = (
    "*/10 * * * *",
    "30 2 * * *",
    "0 * * * *",
    "15 0,23 * * 1-5",
    "0 0 1 * *",
    "59 23 L * *",
    "5 4 * * SUN#2",
)
cadences = st.one_of(
    st.builds(Cadence, st.just("daily"), minute=minutes),
    st.builds(Cadence, st.just("interval"), minutes=st.integers(7, 3000)),
    st.builds(
        Cadence, st.just("weekly"), minute=minutes, days=st.lists(st.integers(0, 6), min_size=1).map(tuple)
    ),
    st.builds(Cadence, st.just("cron"), cron=st.sampled_from(CRONS)),
)
starts = st.datetimes(datetime(1990, 1, 1), datetime(2037, 1, 1)).map(lambda one: one.replace(tzinfo=UTC))  # noqa: DTZ001
ALL = 100_000


@given(zones, minutes, starts, st.integers(1, 400))
@example("America/Santiago", 0, datetime(2026, 9, 1, tzinfo=UTC), 14)
@example("Pacific/Apia", 450, datetime(2011, 12, 20, tzinfo=UTC), 30)
@example("Pacific/Kwajalein", 450, datetime(1993, 8, 15, tzinfo=UTC), 30)
def test_every_local_day_has_exactly_one_daily_occurrence(zone: str, minute: int, start: datetime, days: int):
    """Counted by looking at the local date every quarter of an hour."""
    end = start + timedelta(days=days)
    local = ZoneInfo(zone)
    there = {(start + timedelta(minutes=15 * n)).astimezone(local).date() for n in range(days * 96)}
    whole = sorted(there)[2:-2]  # at the ends a day may be there in part
    found = occurrences(Cadence("daily", minute=minute), zone, start, end, most=ALL)
    keys = [one.key for one in found]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if key in {day.isoformat() for day in whole}] == [
        day.isoformat() for day in whole
    ]
    wanted = time(minute // 60, minute % 60)
    for one in found:
        shows = one.moment.astimezone(local)
        assert (shows.date().isoformat(), shows.time()) >= (one.key, wanted)


@given(cadences, zones, starts, st.integers(0, 40 * 86_400), st.floats(0, 1))
@example(Cadence("cron", cron="*/10 * * * *"), "Europe/Berlin", datetime(2026, 3, 29, tzinfo=UTC), 7_200, 0.5)
@example(
    Cadence("cron", cron="0 * * * *"),
    "Australia/Lord_Howe",
    datetime(2026, 10, 3, 15, tzinfo=UTC),
    7_200,
    0.4,
)
def test_a_time_split_anywhere_gives_the_same(
    cadence: Cadence, zone: str, start: datetime, seconds: int, part: float
):
    """Whoever asks, and how often: the same occurrences, in order, no key twice, none outside."""
    end = start + timedelta(seconds=seconds)
    middle = start + timedelta(seconds=seconds * part)
    whole = occurrences(cadence, zone, start, end, most=ALL)
    assert (
        occurrences(cadence, zone, start, middle, most=ALL)
        + occurrences(cadence, zone, middle, end, most=ALL)
        == whole
    )
    assert len({one.key for one in whole}) == len({one.moment for one in whole}) == len(whole)
    assert whole == sorted(whole)
    assert all(start < one.moment <= end for one in whole)


@given(cadences, zones, starts)
def test_the_next_one_is_the_first_of_what_comes(cadence: Cadence, zone: str, start: datetime):
    """And walking from one to the next leaves none out."""
    walked, after = [], start
    for _ in range(5):
        one = next_occurrence(cadence, zone, after)
        assert one is not None
        walked.append(one)
        after = one.moment
    assert walked == occurrences(cadence, zone, start, after, most=ALL)


@given(cadences)
def test_every_cadence_survives_words_and_json(cadence: Cadence):
    """What is shown can be typed again."""
    assert read(write(cadence)) == Cadence.from_dict(cadence.to_dict())
    assert Cadence.from_dict(cadence.to_dict()) == cadence
