"""When a mission runs: every kind of cadence, and clock changes in six zones minute by minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from surefoot.errors import InputError
from surefoot.missions.cadence import (
    MOST,
    Cadence,
    Occurrence,
    first_moment,
    next_occurrence,
    occurrences,
    zone_of,
)

HOUR = timedelta(hours=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def shown(zone: str, found: list[Occurrence]) -> list[tuple[str, str]]:
    return [(one.key, f"{one.moment.astimezone(ZoneInfo(zone)):%d %H:%M %z}") for one in found]


DAYS = [
    ("Europe/Berlin", "2026-03-29", 2 * 60 + 30, "29 03:00 +0200"),
    ("Europe/Berlin", "2026-10-25", 2 * 60 + 30, "25 02:30 +0200"),
    ("US/Pacific", "2026-03-08", 0, "08 00:00 -0800"),
    ("US/Pacific", "2026-11-01", 0, "01 00:00 -0700"),
    ("US/Pacific", "2026-11-01", 90, "01 01:30 -0700"),
    ("America/Santiago", "2026-09-06", 0, "06 01:00 -0300"),
    ("America/Santiago", "2026-04-04", 23 * 60 + 30, "04 23:30 -0300"),
    ("America/Sao_Paulo", "2018-11-04", 15, "04 01:00 -0200"),
    ("Australia/Lord_Howe", "2026-10-04", 2 * 60 + 15, "04 02:30 +1100"),
    ("Australia/Lord_Howe", "2026-04-05", 1 * 60 + 45, "05 01:45 +1100"),
    ("Asia/Kolkata", "2026-03-29", 2 * 60 + 30, "29 02:30 +0530"),
    ("Pacific/Apia", "2011-12-31", 0, "31 00:00 +1400"),
    ("America/Nuuk", "2024-03-30", 23 * 60 + 30, "31 00:00 -0100"),
]


@pytest.mark.parametrize(("zone", "day", "minute", "moment"), DAYS)
def test_clock_changes_minute_by_minute(zone: str, day: str, minute: int, moment: str):
    """A tick each minute over three days: every local day once, a gap at the first moment after, a twice-time first."""
    middle = datetime.combine(date.fromisoformat(day), time(12), tzinfo=ZoneInfo(zone)).astimezone(UTC)
    tick, end = middle - timedelta(hours=40), middle + timedelta(hours=40)
    cadence, found = Cadence("daily", minute=minute), []
    while tick < end:
        found += occurrences(cadence, zone, tick, tick + timedelta(minutes=1))
        tick += timedelta(minutes=1)
    keys = [one.key for one in found]
    assert len(keys) == len(set(keys))
    assert dict(shown(zone, found))[day] == moment
    assert found == occurrences(cadence, zone, middle - timedelta(hours=40), end)


def clock_of(zone: str, start: datetime, minutes: int):
    """What a clock on the wall shows, minute by minute."""
    for number in range(minutes):
        moment = start + timedelta(minutes=number)
        yield moment, moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata"])
def test_a_time_on_the_wall_is_its_first_showing(zone: str):
    """Simulated apart from the code: the first minute at which the wall shows this time or a later one."""
    start = at("2026-09-01T00:00+00:00") if zone != "Europe/Berlin" else at("2026-03-28T00:00+00:00")
    wall = list(clock_of(zone, start, 3 * 24 * 60 if zone == "Europe/Berlin" else 7 * 24 * 60))
    for local in {
        shows.replace(hour=hour, minute=minute)
        for _, shows in wall[1440:2880]
        for hour in (0, 1, 2, 3)
        for minute in (0, 15, 45)
    }:
        first = next(moment for moment, shows in wall if shows >= local)
        assert first_moment(local, ZoneInfo(zone)) == first


def test_a_day_that_a_zone_left_out_has_no_occurrence():
    """Samoa had no 30 December 2011: not daily, not on its weekday, not by cron."""
    after, until = at("2011-12-28T12:00-10:00"), at("2012-01-01T12:00+14:00")
    for cadence in (Cadence("daily", minute=450), Cadence("cron", cron="30 7 * * *")):
        keys = [one.key[:10] for one in occurrences(cadence, "Pacific/Apia", after, until)]
        assert keys == ["2011-12-29", "2011-12-31", "2012-01-01"]
    friday = Cadence("weekly", days=(4,), minute=450)
    assert [one.key for one in occurrences(friday, "Pacific/Apia", after, until + timedelta(days=7))] == [
        "2012-01-06"
    ]


def test_times_of_a_gap_are_one_run_and_times_that_come_twice_too():
    """Every ten minutes by cron: six times of the lost hour are one, the second hour of the two runs nothing."""
    cadence = Cadence("cron", cron="*/10 * * * *")
    gap = occurrences(cadence, "Europe/Berlin", at("2026-03-29T00:45+00:00"), at("2026-03-29T01:10+00:00"))
    assert shown("Europe/Berlin", gap) == [
        ("2026-03-29T01:50", "29 01:50 +0100"),
        ("2026-03-29T02:00", "29 03:00 +0200"),
        ("2026-03-29T03:10", "29 03:10 +0200"),
    ]
    twice = occurrences(cadence, "Europe/Berlin", at("2026-10-25T00:30+00:00"), at("2026-10-25T02:00+00:00"))
    assert [one.key[-5:] for one in twice] == ["02:40", "02:50", "03:00"]


def test_an_interval_takes_no_notice_of_clocks():
    """Every 30 minutes is every 30 minutes; two who ask at odd seconds get the same."""
    cadence = Cadence("interval", minutes=30)
    found = occurrences(
        cadence, "Europe/Berlin", at("2026-03-29T00:10:07+00:00"), at("2026-03-29T02:00+00:00")
    )
    assert [one.key for one in found] == [
        "2026-03-29T00:30Z",
        "2026-03-29T01:00Z",
        "2026-03-29T01:30Z",
        "2026-03-29T02:00Z",
    ]
    again = occurrences(cadence, "US/Pacific", at("2026-03-29T00:29:59+00:00"), at("2026-03-29T02:00+00:00"))
    assert again == found
    odd = occurrences(
        Cadence("interval", minutes=7), "UTC", at("1969-12-31T23:50+00:00"), at("1970-01-01T00:07+00:00")
    )
    assert [one.key for one in odd] == ["1969-12-31T23:53Z", "1970-01-01T00:00Z", "1970-01-01T00:07Z"]


def test_weekly_by_hand_and_yearly():
    """Weekdays of the local week; nothing by hand; what is rare is found, too."""
    weekly = Cadence("weekly", days=(3, 0, 3), minute=18 * 60)
    assert weekly.days == (0, 3)
    found = occurrences(weekly, "Europe/Berlin", at("2026-04-27T18:00+02:00"), at("2026-05-04T18:00+02:00"))
    assert [one.key for one in found] == ["2026-04-30", "2026-05-04"]
    assert next_occurrence(Cadence(), "UTC", at("2026-04-27T18:00+02:00")) is None
    assert occurrences(Cadence(), "UTC", at("2026-04-27T18:00+02:00"), at("2036-04-27T18:00+02:00")) == []
    leap = next_occurrence(Cadence("cron", cron="0 0 29 2 *"), "UTC", at("2026-01-01T00:00+00:00"))
    assert leap is not None
    assert leap.key == "2028-02-29T00:00"
    workdays = next_occurrence(Cadence("cron", cron="0 9 * * MON-FRI"), "UTC", at("2026-05-01T09:00+00:00"))
    assert workdays is not None
    assert workdays.key == "2026-05-04T09:00"


def test_a_long_time_costs_no_more_than_what_is_asked_for():
    """Half a century of minutes: the first thousand, and from there on the next."""
    cadence, start, end = (
        Cadence("interval", minutes=1),
        at("2000-01-01T00:00+00:00"),
        at("2050-01-01T00:00+00:00"),
    )
    found = occurrences(cadence, "UTC", start, end)
    assert len(found) == MOST
    assert occurrences(cadence, "UTC", found[-1].moment, end, most=1)[0].moment == found[
        -1
    ].moment + timedelta(minutes=1)
    assert occurrences(cadence, "UTC", end, start) == []
    assert occurrences(cadence, "UTC", start, end, most=0) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "hourly"}, "'hourly'"),
        ({"kind": "interval"}, "0 minutes"),
        ({"kind": "interval", "minutes": -5}, "-5 minutes"),
        ({"kind": "interval", "minutes": True}, "True minutes"),
        ({"kind": "interval", "minutes": 0.5}, "0.5 minutes"),
        ({"kind": "interval", "minutes": 10**9}, "1000000000 minutes"),
        ({"kind": "daily", "minute": 1440}, "1440"),
        ({"kind": "daily", "minute": -1}, "-1"),
        ({"kind": "daily", "days": (1,)}, "no days"),
        ({"kind": "weekly", "minute": 5}, "no weekdays"),
        ({"kind": "weekly", "days": (7,)}, "[7]"),
        ({"kind": "manual", "minute": 5}, "no minute"),
        ({"kind": "cron", "cron": "* * * *"}, "4 fields"),
        ({"kind": "cron", "cron": "0 0 30 2 *"}, "0 0 30 2 *"),
        ({"kind": "cron", "cron": "0 0 * 2 MON#6"}, "MON#6"),
        ({"kind": "cron", "cron": "61 * * * *"}, "Bad minute"),
        ({"kind": "cron", "cron": "* * * * 1L/2"}, "1L/2"),
        ({"kind": "cron", "cron": "0" + ",0" * 200 + " * * * *"}, "at most"),
    ],
)
def test_what_is_no_cadence_is_refused(fields: dict, words: str):
    """The message names the value, the next move says what is right."""
    with pytest.raises(InputError) as caught:
        Cadence(**fields)
    assert words in caught.value.message
    assert caught.value.next_move


def test_times_without_a_zone_and_zones_that_are_none_are_refused():
    """An offset guessed is an hour wrong."""
    with pytest.raises(InputError, match="no zone"):
        occurrences(Cadence("daily"), "UTC", datetime(2026, 1, 1), at("2026-01-02T00:00+00:00"))  # noqa: DTZ001
    for name in ("Berlin", "", " ", "../etc/passwd", "Europe", 7):
        with pytest.raises(InputError, match="time zone"):
            zone_of(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cadence",
    [
        Cadence(),
        Cadence("interval", minutes=5),
        Cadence("daily", minute=0),
        Cadence("weekly", days=(0, 6), minute=1439),
        Cadence("cron", cron="*/5 9-17 * * 1-5"),
    ],
)
def test_json_both_ways(cadence: Cadence):
    """Only what belongs to the kind stands in it."""
    assert Cadence.from_dict(cadence.to_dict()) == cadence
    assert "cron" not in Cadence("daily").to_dict()


@pytest.mark.parametrize(
    "data",
    ["daily", {"kind": "daily", "hour": 7}, {"kind": "weekly", "days": "mon"}, {"kind": "weekly", "days": 3}],
)
def test_json_that_is_no_cadence(data: object):
    """What another program wrote is checked like what a person writes."""
    with pytest.raises(InputError):
        Cadence.from_dict(data)  # type: ignore[arg-type]
