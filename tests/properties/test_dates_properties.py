"""Dates: any text is read or refused, and what is written in ISO comes back."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from surefoot.errors import ToolError
from surefoot.tools.dates import Moment, resolve_date
from surefoot.tools.dates.relative import hanging_on, is_length, kept, moved, names_half_of_day
from surefoot.tools.dates.words import FOLDER, LANGUAGES, language

NOW = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)
ZONES = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC", "Australia/Lord_Howe"]
)
CODES = st.sampled_from([*LANGUAGES, "en-GB"])
TAGS = st.one_of(
    CODES, st.sampled_from(["", "it", "pt-BR", "xx", "zh_Hant", "-", "deutsch"]), st.text(max_size=4)
)
TABLE = Path(__file__).parents[1] / "data" / "dates.toml"


def _words() -> list[str]:
    found: set[str] = set()
    for code in LANGUAGES:
        own = language(code)
        for table in (own.days, own.units, own.numbers, own.months, own.weekdays):
            found |= set(table)
    return sorted(found)


def _literals() -> list[str]:
    """What the patterns of all languages are made of: `veille du`, `before`, `la semaine`."""
    found: set[str] = set()
    for code in LANGUAGES:
        data = tomllib.loads((FOLDER / f"{code}.toml").read_text("utf-8"))
        for texts in (
            *data["patterns"].values(),
            data["clock"]["patterns"],
            data["fillers"],
            [*data["rewrite"]],
        ):
            for text in texts:
                plain = re.sub(r"\?P<\w+>|\?[:=!]|\{\w+\}|\[.*?\]|\\.|[?*+^$]", "", text)
                found |= {part.strip() for part in re.split(r"[()|]", plain) if part.strip()}
    return sorted(found)


def _said() -> list[str]:
    """Every text of the table of what people say."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    rows = [texts for name, texts in table.items() if name in LANGUAGES]
    rows += [texts for name in table.keys() - {*LANGUAGES} for texts in table[name].values()]
    return sorted({text for texts in rows for text in texts})


PIECES = st.one_of(
    st.sampled_from(_literals()),
    st.sampled_from(_words()),
    st.sampled_from(
        [
            "in",
            "next",
            "the",
            "at",
            "am",
            "um",
            "vor",
            "before",
            "end of",
            "の",
            "月",
            "日",
            "बजे",
            "h",
            "pm",
            ".",
            "/",
            "-",
            ":",
            "()",
            "'",
        ]
    ),
    st.integers(-5, 10**9).map(str),
    st.text(max_size=3),
)
SENTENCES = st.lists(PIECES, max_size=7).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda gap: gap.join(parts))
)


def read(text: str, zone: str = "Europe/Berlin", code: str = "en", now: datetime = NOW) -> Moment | None:
    try:
        return resolve_date(text, now, zone, code)
    except ToolError:
        return None


def _moved(text: str, old: Moment, tag: str) -> Moment | None:
    try:
        return moved(text, old, "Europe/Berlin", tag, is_end=True)
    except ToolError:
        return None


@given(st.one_of(st.text(), SENTENCES), ZONES, CODES)
@example("0000-00-00", "UTC", "en")
@example("9999-12-31", "UTC", "en")
@example("0001-01-01", "Asia/Kolkata", "en")
@example("in 99999 years", "UTC", "en")
@example("²²", "UTC", "en")
def test_any_text_is_read_or_refused(text: str, zone: str, code: str):
    """Nothing else happens, and what is read is whole."""
    moment = read(text, zone, code)
    if moment is not None:
        assert moment.first <= moment.last
        assert moment.day <= moment.last_day
        assert moment.display
        assert moment.first.tzinfo is not None


@given(st.one_of(SENTENCES, st.sampled_from(_said())), st.one_of(st.just(""), SENTENCES), TAGS)
@example("la veille du marathon", "", "fr")
@example("5月3日の前日", "", "en")
@example("vor 99999999 Stunden", "", "de")
@example("en 0 minutos", "", "es")
def test_nothing_but_a_tool_error_comes_out(text: str, more: str, tag: str):
    """Whatever is said, alone or behind something else, in any language tag, as a date, a move or an end."""
    said = f"{text} {more}".strip()
    read(said, code=tag)
    assert all(len(way) == 3 for way in hanging_on(said, tag))
    assert names_half_of_day(said) in {True, False}
    assert is_length(said, tag) in {True, False}
    assert kept(said, tag).text is not None
    for base in ("2026-12-10", "2026-12-10 15:30", "9999-12-29"):
        old = resolve_date(base, NOW, "Europe/Berlin", "en")
        found = _moved(said, old, tag)
        assert found is None or found.first <= found.last


@given(st.dates(min_value=date(1, 1, 2), max_value=date(9999, 12, 29)), ZONES, CODES)
def test_iso_days_come_back(day: date, zone: str, code: str):
    """In every zone and language, to the letter."""
    moment = read(day.isoformat(), zone, code)
    assert moment is not None
    assert moment.iso == day.isoformat()
    again = read(moment.iso, zone, code)
    assert again == moment


@given(st.datetimes(min_value=datetime(1975, 1, 1), max_value=datetime(2100, 1, 1)), ZONES, CODES)  # noqa: DTZ001
def test_iso_moments_come_back(local: datetime, zone: str, code: str):
    """As the same moment; a local time that does not exist becomes the first after the gap."""
    local = local.replace(microsecond=0)
    moment = read(local.isoformat(sep=" "), zone, code)
    assert moment is not None
    assert moment.first.astimezone(UTC) == moment.first
    shown = moment.first.replace(tzinfo=None)
    assert shown == local or local < shown <= local + timedelta(hours=25)
    again = read(moment.iso, zone, code)
    assert again is not None
    assert again.first == moment.first


@given(st.dates(min_value=date(2000, 1, 1), max_value=date(2400, 1, 1)), CODES)
def test_what_is_shown_can_be_read(day: date, code: str):
    """A date as the person is shown it means the same day when it is said again."""
    shown = read(day.isoformat(), code=code)
    assert shown is not None
    said = read(shown.display, code=code)
    assert said is not None
    assert said.day == day


@given(st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)), ZONES)  # noqa: DTZ001
def test_weekdays_lie_ahead(local: datetime, zone: str):
    """`Friday` is one to seven days away, whenever it is said."""
    now = local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    moment = read("Friday", zone, now=now)
    assert moment is not None
    today = now.astimezone(ZoneInfo(zone)).date()
    assert moment.day.weekday() == 4
    assert 1 <= (moment.day - today).days <= 7
