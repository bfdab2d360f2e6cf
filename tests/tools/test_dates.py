"""Dates as people say them: seven languages, orders of figures, clock times, changes of the clocks, ranges."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from surefoot.errors import ToolError
from surefoot.tools.dates import Moment, resolve_date, resolve_range
from surefoot.tools.dates.words import han, order_of
from surefoot.tools.dates.zones import start_of

NOW = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)
"""A Monday, 18:30 in Berlin."""


def said(text: str, language: str = "en", zone: str = "Europe/Berlin", now: datetime = NOW) -> Moment:
    return resolve_date(text, now, zone, language)


def span(moment: Moment) -> str:
    return f"{moment.day}/{moment.last_day}"


ENGLISH = {
    "2026-12-24": "2026-12-24",
    "20261224": "2026-12-24",
    "2026/12/24": "2026-12-24",
    "2026-12-24T17:00": "2026-12-24T17:00:00+01:00",
    "2026-12-24 17:00:30": "2026-12-24T17:00:30+01:00",
    "2026-12-24T17:00:00Z": "2026-12-24T18:00:00+01:00",
    "2026-12-24T17:00+05:30": "2026-12-24T12:30:00+01:00",
    "today": "2026-11-30",
    "tomorrow": "2026-12-01",
    "the day after tomorrow": "2026-12-02",
    "yesterday": "2026-11-29",
    "the day before yesterday": "2026-11-28",
    "now": "2026-11-30T18:30:00+01:00",
    "3 May": "2027-05-03",
    "May 3": "2027-05-03",
    "May 3rd": "2027-05-03",
    "3rd of May": "2027-05-03",
    "the 3rd of May, 2028": "2028-05-03",
    "Dec. 24": "2026-12-24",
    "24 Dec 2026": "2026-12-24",
    "2027 May 3": "2027-05-03",
    "30 November": "2026-11-30",
    "29 November": "2027-11-29",
    "Feb 29": "2028-02-29",
    "3.5.": "2027-05-03",
    "3.5.2028": "2028-05-03",
    "3. 5. 28": "2028-05-03",
    "Friday": "2026-12-04",
    "on Friday": "2026-12-04",
    "by Fri": "2026-12-04",
    "this Friday": "2026-12-04",
    "Monday": "2026-12-07",
    "next Friday": "2026-12-11",
    "Friday next week": "2026-12-11",
    "next week on Friday": "2026-12-11",
    "Friday of this week": "2026-12-04",
    "last Friday": "2026-11-27",
    "last Monday": "2026-11-23",
    "in two weeks": "2026-12-14",
    "in 2 weeks' time": "2026-12-14",
    "in a fortnight": "2026-12-14",
    "in 3 days": "2026-12-03",
    "in a month": "2026-12-30",
    "in 3 months": "2027-02-28",
    "in a year": "2027-11-30",
    "10 days from now": "2026-12-10",
    "two days ago": "2026-11-28",
    "a month ago": "2026-10-30",
    "the day before 3 May": "2027-05-02",
    "the day after May 3": "2027-05-04",
    "two days before 3 May": "2027-05-01",
    "a week after next Friday": "2026-12-18",
    "the day before the end of next month": "2026-12-30",
    "end of the month": "2026-11-30",
    "end of next week": "2026-12-13",
    "the beginning of next month": "2026-12-01",
    "the 3rd": "2026-12-03",
    "31st": "2026-12-31",
    "the 5th of next month": "2026-12-05",
    "Thursday, 24 December": "2026-12-24",
    "24 December (Thursday)": "2026-12-24",
    "Tuesday, tomorrow": "2026-12-01",
    "in 30 minutes": "2026-11-30T19:00:00+01:00",
    "in half an hour": "2026-11-30T19:00:00+01:00",
    "in an hour": "2026-11-30T19:30:00+01:00",
    "2 hours ago": "2026-11-30T16:30:00+01:00",
    "tomorrow at 5pm": "2026-12-01T17:00:00+01:00",
    "5 p.m. tomorrow": "2026-12-01T17:00:00+01:00",
    "next Friday at noon": "2026-12-11T12:00:00+01:00",
    "3 May at 14:30": "2027-05-03T14:30:00+02:00",
    "3 May 2027 9:05:07 am": "2027-05-03T09:05:07+02:00",
    "tomorrow morning": "2026-12-01T09:00:00+01:00",
    "tomorrow evening at 8": "2026-12-01T20:00:00+01:00",
    "tomorrow at 9 in the morning": "2026-12-01T09:00:00+01:00",
    "tonight": "2026-11-30T20:00:00+01:00",
    "tonight at 12": "2026-12-01T00:00:00+01:00",
    "midnight": "2026-12-01T00:00:00+01:00",
    "17:00": "2026-12-01T17:00:00+01:00",
    "19:00": "2026-11-30T19:00:00+01:00",
    "today at 9:00": "2026-11-30T09:00:00+01:00",
    "half past 3": "2026-12-01T15:30:00+01:00",
    "quarter to five": "2026-12-01T16:45:00+01:00",
    "quarter past 10": "2026-12-01T10:15:00+01:00",
    "at 5": "2026-12-01T17:00:00+01:00",
    "at 5 o'clock": "2026-12-01T17:00:00+01:00",
    "at 05:00": "2026-12-01T05:00:00+01:00",
    "at 11": "2026-12-01T11:00:00+01:00",
    "24:00": "2026-12-01T00:00:00+01:00",
    "at 10 at night": "2026-11-30T22:00:00+01:00",
    "tomorrow at 2 at night": "2026-12-01T02:00:00+01:00",
    "“Tomorrow”": "2026-12-01",
}
GERMAN = {
    "morgen um 17 Uhr": "2026-12-01T17:00:00+01:00",
    "am 3. Mai um 14 Uhr": "2027-05-03T14:00:00+02:00",
    "3. Mai": "2027-05-03",
    "3.Mai 2028": "2028-05-03",
    "3.5.": "2027-05-03",
    "den 24.12.": "2026-12-24",
    "am 3.": "2026-12-03",
    "am 5. des nächsten Monats": "2026-12-05",
    "nächsten Freitag": "2026-12-11",
    "kommenden Freitag": "2026-12-04",
    "So": "2026-12-06",
    "letzten Montag": "2026-11-23",
    "in zwei Wochen": "2026-12-14",
    "vor drei Tagen": "2026-11-27",
    "übermorgen": "2026-12-02",
    "der Tag vor dem 3. Mai": "2027-05-02",
    "zwei Tage nach dem 3. Mai": "2027-05-05",
    "Ende des Monats": "2026-11-30",
    "halb drei": "2026-12-01T14:30:00+01:00",
    "viertel vor fünf": "2026-12-01T16:45:00+01:00",
    "14 Uhr 30": "2026-12-01T14:30:00+01:00",
    "um 14.30 Uhr": "2026-12-01T14:30:00+01:00",
    "um 5": "2026-12-01T05:00:00+01:00",
    "heute Abend": "2026-11-30T18:00:00+01:00",
    "morgen früh": "2026-12-01T09:00:00+01:00",
    "heute um Mitternacht": "2026-12-01T00:00:00+01:00",
    "morgen abends um 8": "2026-12-01T20:00:00+01:00",
    "in einer halben Stunde": "2026-11-30T19:00:00+01:00",
    "bis Freitag": "2026-12-04",
    "tomorrow at 5pm": "2026-12-01T17:00:00+01:00",
}
FRENCH = {
    "demain à 17h30": "2026-12-01T17:30:00+01:00",
    "le 3 mai": "2027-05-03",
    "1er mai 2027": "2027-05-01",
    "vendredi prochain": "2026-12-04",
    "lundi de la semaine prochaine": "2026-12-07",
    "dans deux semaines": "2026-12-14",
    "il y a 3 jours": "2026-11-27",
    "après-demain": "2026-12-02",
    "aujourd'hui": "2026-11-30",
    "ce soir": "2026-11-30T18:00:00+01:00",
    "midi et demi": "2026-12-01T12:30:00+01:00",
    "à 9 heures et quart": "2026-12-01T09:15:00+01:00",
    "8 heures du soir": "2026-11-30T20:00:00+01:00",
    "la veille du 3 mai": "2027-05-02",
    "fin du mois": "2026-11-30",
    "dans une demi-heure": "2026-11-30T19:00:00+01:00",
}
SPANISH = {
    "mañana a las 5 de la tarde": "2026-12-01T17:00:00+01:00",
    "mañana por la mañana": "2026-12-01T09:00:00+01:00",
    "pasado mañana": "2026-12-02",
    "el 3 de mayo de 2027": "2027-05-03",
    "el próximo viernes": "2026-12-04",
    "en dos semanas": "2026-12-14",
    "hace dos días": "2026-11-28",
    "a las 5 y media": "2026-12-01T17:30:00+01:00",
    "a las 17:30": "2026-12-01T17:30:00+01:00",
    "a las 10 de la noche": "2026-11-30T22:00:00+01:00",
    "el día antes del 3 de mayo": "2027-05-02",
    "fin de mes": "2026-11-30",
}
HINDI = {
    "कल": "2026-12-01",
    "परसों": "2026-12-02",
    "बीता कल": "2026-11-29",
    "कल शाम 5 बजे": "2026-12-01T17:00:00+01:00",
    "३ मई २०२८": "2028-05-03",
    "अगले शुक्रवार": "2026-12-11",
    "दो हफ्ते में": "2026-12-14",
    "साढ़े तीन बजे": "2026-12-01T15:30:00+01:00",
    "सुबह 9 बजे": "2026-12-01T09:00:00+01:00",
    "3 मई से एक दिन पहले": "2027-05-02",
    "15 तारीख": "2026-12-15",
}
CHINESE = {
    "明天": "2026-12-01",
    "后天": "2026-12-02",
    "5月3日": "2027-05-03",
    "2028年5月3日": "2028-05-03",
    "三月十五号": "2027-03-15",
    "十二月二十四日": "2026-12-24",
    "下周五": "2026-12-11",
    "周五": "2026-12-04",
    "这周五": "2026-12-04",
    "两周后": "2026-12-14",
    "三天前": "2026-11-27",
    "明天下午3点": "2026-12-01T15:00:00+01:00",
    "下午三点半": "2026-12-01T15:30:00+01:00",
    "明晚8点": "2026-12-01T20:00:00+01:00",
    "中午12点": "2026-12-01T12:00:00+01:00",
    "5月3日前一天": "2027-05-02",
    "半小时后": "2026-11-30T19:00:00+01:00",
    "月底": "2026-11-30",
}
JAPANESE = {
    "明日": "2026-12-01",
    "あさって": "2026-12-02",
    "5月3日": "2027-05-03",
    "５月３日": "2027-05-03",
    "5月3日(月)": "2027-05-03",
    "来週の金曜日": "2026-12-11",
    "金曜日": "2026-12-04",
    "2週間後": "2026-12-14",
    "三日後": "2026-12-03",
    "明日の午後3時": "2026-12-01T15:00:00+01:00",
    "15時30分": "2026-12-01T15:30:00+01:00",
    "今夜8時": "2026-11-30T20:00:00+01:00",
    "5月3日の前日": "2027-05-02",
    "来月の5日": "2026-12-05",
}
ALL = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "hi": HINDI, "zh": CHINESE, "ja": JAPANESE}
CASES = [(code, text, iso) for code, texts in ALL.items() for text, iso in texts.items()]


@pytest.mark.parametrize(("language", "text", "iso"), CASES)
def test_what_people_say(language: str, text: str, iso: str):
    """Each in its own language, the future preferred."""
    moment = said(text, language)
    assert moment.iso == iso
    assert moment.text == text
    assert moment.is_day is (len(iso) == 10)


@pytest.mark.parametrize(
    ("language", "text", "iso"), [case for case in CASES if len(case[1]) >= 5 and case[0] != "en"]
)
def test_a_text_in_another_language_is_read_too(language: str, text: str, iso: str):
    """The interface's language need not be the person's: it means the same, or is refused; never something else."""
    try:
        moment = said(text, "en-GB")
    except ToolError:
        return
    assert moment.iso == iso


@pytest.mark.parametrize(
    ("language", "text", "days"),
    [
        ("en", "this week", "2026-11-30/2026-12-06"),
        ("en", "next week", "2026-12-07/2026-12-13"),
        ("en", "last week", "2026-11-23/2026-11-29"),
        ("en", "this weekend", "2026-12-05/2026-12-06"),
        ("en", "next weekend", "2026-12-12/2026-12-13"),
        ("en", "next month", "2026-12-01/2026-12-31"),
        ("en", "this year", "2026-01-01/2026-12-31"),
        ("en", "next day", "2026-12-01/2026-12-01"),
        ("en", "week of 3 May", "2027-05-03/2027-05-09"),
        ("en", "the week before 3 May", "2027-04-26/2027-05-02"),
        ("en", "May", "2027-05-01/2027-05-31"),
        ("en", "December", "2026-12-01/2026-12-31"),
        ("en", "November", "2026-11-01/2026-11-30"),
        ("en", "next November", "2027-11-01/2027-11-30"),
        ("en", "May 2028", "2028-05-01/2028-05-31"),
        ("en", "2028", "2028-01-01/2028-12-31"),
        ("en", "2028-02", "2028-02-01/2028-02-29"),
        ("en", "2/2028", "2028-02-01/2028-02-29"),
        ("en", "2026-W50", "2026-12-07/2026-12-13"),
        ("en", "2026-W50-2", "2026-12-08/2026-12-08"),
        ("de", "nächste Woche", "2026-12-07/2026-12-13"),
        ("de", "am Wochenende", "2026-12-05/2026-12-06"),
        ("fr", "la semaine prochaine", "2026-12-07/2026-12-13"),
        ("fr", "le mois prochain", "2026-12-01/2026-12-31"),
        ("es", "este fin de semana", "2026-12-05/2026-12-06"),
        ("hi", "इस सप्ताह", "2026-11-30/2026-12-06"),
        ("zh", "本周", "2026-11-30/2026-12-06"),
        ("zh", "下个月", "2026-12-01/2026-12-31"),
        ("ja", "今週", "2026-11-30/2026-12-06"),
        ("ja", "週末", "2026-12-05/2026-12-06"),
    ],
)
def test_spans(language: str, text: str, days: str):
    """A week begins on Monday; a span has a first and a last day."""
    assert span(said(text, language)) == days


@pytest.mark.parametrize(
    ("language", "iso"),
    [
        ("en", "2027-01-02"),
        ("en_US", "2027-01-02"),
        ("en-GB", "2027-02-01"),
        ("de", "2027-02-01"),
        ("fr", "2027-02-01"),
        ("ja", "2027-01-02"),
        ("fr-CA", "2027-01-02"),
        ("sw", "2027-02-01"),
        ("ko", "2027-01-02"),
        ("", "2027-01-02"),
    ],
)
def test_ambiguous_figures_follow_the_language(language: str, iso: str):
    """01/02 is never guessed at: the order is the language's, or its region's."""
    assert said("01/02", language).iso == iso
    assert said("01/02/2027", language).iso == iso


@pytest.mark.parametrize(
    ("text", "language", "iso"),
    [
        ("13/02", "en", "2027-02-13"),
        ("02/13", "de", "2027-02-13"),
        ("5.3", "ja", "2027-05-03"),
        ("5.3", "de", "2027-03-05"),
        ("13-02-27", "en", "2027-02-13"),
    ],
)
def test_only_one_order_makes_a_date(text: str, language: str, iso: str):
    """Where one reading is no date, the other is meant; dots put the day first outside East Asia."""
    assert said(text, language).iso == iso


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("12 AM", "00:00"),
        ("12:30 am", "00:30"),
        ("12:30 pm", "12:30"),
        ("12pm", "12:00"),
        ("12 noon", "12:00"),
        ("12:00 noon", "12:00"),
        ("0:10am", "00:10"),
        ("1 at lunchtime", "13:00"),
        ("13:00 pm", "13:00"),
        ("11:59 p.m.", "23:59"),
        ("12 midnight", "00:00"),
    ],
)
def test_clock_times(text: str, clock: str):
    """Twelve is the hour that is read wrong most often."""
    if text == "1 at lunchtime":
        text = "tomorrow lunchtime at 1"
    assert f"{said(text).value:%H:%M}" == clock


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("13am", "'13am' has no such hour"),
        ("25:00", "there is no time '25:00'"),
        ("tomorrow at 10:75", "there is no time"),
        ("Feb 30", "no year has a day 30"),
        ("31.2.", "no year has a day 31"),
        ("2026-02-29", "there is no day 2026-02-29"),
        ("2026-02-29T10:00", "there is no such day or time"),
        ("2026-13", "there is no day"),
        ("2026-W60", "there is no week"),
        ("30/30/2027", "there is no day"),
        ("Sunday 3 May", "2027-05-03 is not a sunday"),
        ("5月3日(日)", "2027-05-03 is not a 日"),
        ("the 32nd", "no month has a day 32"),
        ("in 999999 days", "too far away"),
        ("in 3 hours before 3 May", ""),
        ("2 hours before 3 May", ""),
        ("this hour", ""),
        ("in 9999 years", "outside the calendar"),
        ("30 February at 5pm", "no year has a day 30"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(text: str, reason: str):
    """A date that does not exist, or contradicts itself, is never moved to one that does."""
    with pytest.raises(ToolError) as caught:
        said(text, "ja" if "月" in text else "en")
    assert reason in caught.value.message
    assert text in caught.value.message


@pytest.mark.parametrize(
    "text",
    ["", "  ", "soon", "asap", "so", "di", "the day before", "that week", "3", "tomorrow 9", "next week at 5pm", "99", "price < 5", "x" * 500,
     "Monday in a week", "1/2 or 2/1", "12:00-13:00", "\ud800", "day before day before day before day before day before 3 May"],
)  # fmt: skip
def test_what_cannot_be_read_shows_what_can(text: str):
    """No guess is made; the message names the text and gives forms that work."""
    with pytest.raises(ToolError) as caught:
        said(text)
    assert "cannot be read" in caught.value.message
    for form in (
        caught.value.next_move.removeprefix("Write it like one of these: ").removesuffix(".").split(", ")
    ):
        assert said(form)


@pytest.mark.parametrize(
    ("zone", "text", "iso"),
    [
        ("Europe/Berlin", "2027-03-28 02:30", "2027-03-28T03:00:00+02:00"),
        ("Europe/Berlin", "28 March 2027 at 2:15 am", "2027-03-28T03:00:00+02:00"),
        ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25T02:30:00+02:00"),
        ("America/New_York", "2027-03-14 02:30", "2027-03-14T03:00:00-04:00"),
        ("Australia/Lord_Howe", "2027-10-03 02:10", "2027-10-03T02:30:00+11:00"),
        ("US/Pacific", "tomorrow at 5pm", "2026-12-01T17:00:00-08:00"),
        ("Asia/Kolkata", "tomorrow at 5pm", "2026-12-01T17:00:00+05:30"),
        ("Asia/Tokyo", "today", "2026-12-01"),
        ("Pacific/Kiritimati", "today", "2026-12-01"),
    ],
)
def test_zones_and_changes_of_the_clocks(zone: str, text: str, iso: str):
    """In a gap it is the first moment after it; of a time that comes twice, the first; the day is the zone's."""
    assert said(text, zone=zone).iso == iso


def test_counting_hours_over_a_change_of_the_clocks():
    """Hours are true hours, days are days of the calendar."""
    now = datetime(2027, 3, 27, 23, 0, tzinfo=UTC)
    assert said("in 2 hours", now=now).iso == "2027-03-28T03:00:00+02:00"
    assert said("tomorrow", now=now).iso == "2027-03-29"


def test_a_day_that_begins_late():
    """Midnight is left out in some zones, in some years."""
    begins = start_of(date(2024, 9, 8), ZoneInfo("America/Santiago"))
    assert begins.isoformat() == "2024-09-08T01:00:00-03:00"
    found = said("2024-09-08", zone="America/Santiago")
    assert found.first == begins
    assert (found.last - found.first).total_seconds() == 23 * 3600


def test_unknown_zones():
    """A zone that does not exist is named."""
    with pytest.raises(ToolError, match="'Mars/Olympus' is no time zone"):
        said("today", zone="Mars/Olympus")


@pytest.mark.parametrize(
    ("language", "text", "shown"),
    [
        ("en", "2026-05-03", "Sun 3 May 2026"),
        ("en", "2026-05-03 17:00", "Sun 3 May 2026, 17:00"),
        ("en", "2026-05-03 17:00:05", "Sun 3 May 2026, 17:00:05"),
        ("en", "this week", "Mon 30 Nov 2026 – Sun 6 Dec 2026"),
        ("de", "2026-05-03", "So 3. Mai 2026"),
        ("fr", "2026-05-03", "dim. 3 mai 2026"),
        ("es", "2026-05-03", "dom 3 may 2026"),
        ("hi", "2026-05-03", "रवि 3 मई 2026"),
        ("zh", "2026-05-03", "2026年5月3日（周日）"),
        ("ja", "2026-05-03", "2026年5月3日(日)"),
        ("nl", "2026-05-03", "Sun 3 May 2026"),
    ],
)
def test_display(language: str, text: str, shown: str):
    """What the person is shown, in the person's language."""
    assert said(text, language).display == shown


@pytest.mark.parametrize(
    ("language", "text", "iso"),
    [
        ("it", "domani", "2026-12-01"),
        ("it", "3 maggio", "2027-05-03"),
        ("it", "domani alle 17:00", "2026-12-01T17:00:00+01:00"),
        ("pt-BR", "amanhã às 17:00", "2026-12-01T17:00:00+01:00"),
        ("ru", "3 мая", "2027-05-03"),
        ("ru", "tomorrow at 5pm", "2026-12-01T17:00:00+01:00"),
    ],
)
def test_other_languages_by_dateparser(language: str, text: str, iso: str):
    """Languages without a file here."""
    assert said(text, language).iso == iso


@pytest.mark.parametrize(("language", "text"), [("it", "boh"), ("tlh", "wa'leS"), ("en", "domani")])
def test_other_languages_have_limits(language: str, text: str):
    """What dateparser does not read, a language it does not know, and one the person does not speak."""
    with pytest.raises(ToolError):
        said(text, language)


def test_ranges():
    """Each end open or not; the last day is included."""
    assert resolve_range(None, "", NOW, "Europe/Berlin", "en") == (None, None)
    since, until = resolve_range("tomorrow", "this week", NOW, "Europe/Berlin", "en")
    assert since is not None
    assert until is not None
    assert since.first.isoformat() == "2026-12-01T00:00:00+01:00"
    assert until.last.isoformat() == "2026-12-07T00:00:00+01:00"


def test_since_in_the_past_when_until_says_so():
    """`Since 1 November, until 30 November` on the 30th means this November."""
    since, until = resolve_range("1 November", "30 November", NOW, "Europe/Berlin", "en")
    assert since is not None
    assert until is not None
    assert (since.iso, until.iso) == ("2026-11-01", "2026-11-30")


@pytest.mark.parametrize(
    ("since", "until"),
    [("2027-05-03", "2027-05-01"), ("tomorrow at 5pm", "tomorrow at 4pm"), ("2027-05-03", "0001-01-02")],
)
def test_a_range_that_ends_before_it_begins(since: str, until: str):
    """It would be empty, and the person should know."""
    with pytest.raises(ToolError, match="before it begins"):
        resolve_range(since, until, NOW, "Europe/Berlin", "en")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("三", 3),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("三十一", 31),
        ("廿三", 23),
        ("百", 100),
        ("二百五十", 250),
        ("二〇二七", 2027),
        ("", None),
        ("a", None),
    ],
)
def test_han_numerals(text: str, number: int | None):
    """Written numbers of Chinese and Japanese."""
    assert han(text) == number


def test_orders():
    """The order of figures for every tag, known or not."""
    assert [order_of(tag) for tag in ("en", "EN_gb", "de-AT", "hu", "xx", "")] == [
        "MDY",
        "DMY",
        "DMY",
        "YMD",
        "DMY",
        "MDY",
    ]


def test_frozen_now():
    """The same text means the same all through a run, whatever the real clock says."""
    later = datetime(2030, 1, 1, 12, tzinfo=UTC)
    assert said("tomorrow", now=later).iso == "2030-01-02"
    assert said("tomorrow", now=later) == said("tomorrow", now=later)
