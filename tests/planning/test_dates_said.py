"""Dates are read in the request itself, as far as they reach."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from surefoot.planning.dates_said import MOST_DAYS, MOST_WORDS, DatesSaid

MONDAY = datetime(2026, 5, 4, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
TODAY, TOMORROW, FRIDAY = date(2026, 5, 4), date(2026, 5, 5), date(2026, 5, 8)


def said(text: str, language: str = "en", now: datetime = MONDAY) -> DatesSaid:
    return DatesSaid(text, now, language)


@pytest.mark.parametrize(
    ("language", "text", "value", "whole"),
    [
        ("en", "dentist on Friday at nine please", "Friday", "Friday at nine"),
        ("en", "at nine on Friday, then lunch", "nine", "at nine on Friday"),
        ("en", "please do it tomorrow morning, will you", "TOMORROW", "tomorrow morning"),
        ("en", "call them on May 3 at noon", "noon", "May 3 at noon"),
        ("en", "make it half an hour later please", "hour later", "half an hour later"),
        ("en", "it (Friday at nine) is fixed", "Friday", "Friday at nine"),
        ("de", "Zahnarzt am Freitag um Viertel nach neun bitte", "Freitag", "Freitag um Viertel nach neun"),
        ("de", "Übung für Müßiggänger: übermorgen um zwölf!", "übermorgen", "übermorgen um zwölf"),
        ("fr", "dentiste vendredi à neuf heures et quart", "vendredi", "vendredi à neuf heures et quart"),
        ("fr", "le goûter de Zoé, demain à midi", "midi", "demain à midi"),
        ("es", "dentista el viernes a las nueve y media", "viernes", "viernes a las nueve y media"),
        ("es", "¡mañana a las ocho, no lo olvides!", "mañana", "mañana a las ocho"),
        ("ja", "歯医者 明日 午後3時", "明日", "明日 午後3時"),
        ("en", "move it in two weeks", "two weeks", "in two weeks"),
        ("en", "move it by two weeks", "two weeks", "two weeks"),
        ("de", "verschieb es in zwei Wochen", "zwei Wochen", "in zwei Wochen"),
        ("de", "verschieb es um zwei Wochen", "zwei Wochen", "zwei Wochen"),
        ("fr", "dans deux semaines, le dentiste", "deux semaines", "dans deux semaines"),
    ],
)
def test_a_date_is_as_long_as_it_was_said(language, text, value, whole):
    """The words around a copied one belong to it when they say more."""
    assert said(text, language).whole(value) == whole


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "see Friday. At nine I sleep", "Friday"),
        ("en", "see Friday! At nine I sleep", "Friday"),
        ("en", "Friday\nat nine I sleep", "Friday"),
        ("en", "Friday or Friday at nine", "Friday"),
        ("en", "buy 3 apples tomorrow", "tomorrow"),
        ("en", "tomorrow 3 apples", "tomorrow"),
        ("en", "call on Friday", "Friday"),
        ("en", "what else", "else"),
        ("en", "what else", "Friday"),
        ("en", "Friday at nine", ""),
        ("en", "", "Friday"),
        ("de", "Freitag. Um neun schlafe ich", "Freitag"),
        ("es", "el viernes. A las nueve duermo", "viernes"),
        ("fr", "vendredi. À neuf heures je dors", "vendredi"),
    ],
)
def test_a_date_stays_as_it_is_when_nothing_around_it_says_more(language, text, value):
    """Another sentence, a figure that counts something, a word said twice or not at all."""
    assert said(text, language).whole(value) == value


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("en", "lunch on Friday at a café", "Friday"),
        ("en", "lunch on Friday at an inn", "Friday"),
        ("de", "Freitag um eine Pizza kümmern", "Freitag"),
        ("de", "Freitag um einen Kuchen bitten", "Freitag"),
        ("fr", "vendredi à un concert", "vendredi"),
        ("es", "viernes a una cena", "viernes"),
    ],
)
def test_an_article_behind_a_day_is_no_clock_time(language, text, value):
    """Read as one o'clock, "at a" would say more than the day."""
    assert said(text, language).whole(value) == value


@pytest.mark.parametrize("value", ["Friday", "3 p.m."])
def test_a_full_stop_of_an_abbreviated_half_of_the_day_ends_no_sentence(value):
    """One letter is no last word of a sentence."""
    assert said("dentist at 3 p.m. on Friday").whole(value) == "3 p.m. on Friday"


def test_a_full_stop_of_the_spanish_half_of_the_day_ends_no_sentence():
    """There it is written with a space."""
    assert said("cita a las 3 p. m. el viernes", "es").whole("viernes") == "3 p. m. el viernes"


def test_a_date_of_many_words_is_not_cut():
    """Cut at "at a", it would be one o'clock."""
    text = "put it on Friday the 8th of May at a quarter past nine please"
    assert said(text).whole("Friday") == "Friday the 8th of May at a quarter past nine"
    assert said(text).read(said(text).whole("Friday")).iso == "2026-05-08T09:15:00+02:00"


@pytest.mark.parametrize(
    ("language", "value", "part"),
    [
        ("en", "the report on friday", "on friday"),
        ("en", "Friday at 9 with Tom", "Friday at 9"),
        ("de", "Bericht bis Freitag", "bis Freitag"),
        ("fr", "rapport pour vendredi", "pour vendredi"),
        ("es", "informe el viernes", "el viernes"),
        ("en", "3 apples", ""),
        ("en", "friday", ""),
        ("en", "nothing at all", ""),
        ("en", "", ""),
    ],
)
def test_the_part_that_is_a_date_is_found_in_a_value(language, value, part):
    """The longest one that is not the whole; a bare figure is none."""
    assert said("", language).part(value) == part


@pytest.mark.parametrize(
    ("language", "text", "value", "hanging"),
    [
        ("en", "two hours before the flight", "the flight", "two hours before the flight"),
        ("en", "pack. two hours before the flight", "pack the flight", "two hours before the flight"),
        ("de", "Zwei Tage vor der Hochzeit packen", "Hochzeit", "Zwei Tage vor der Hochzeit"),
        ("fr", "deux jours avant le mariage", "mariage", "deux jours avant le mariage"),
        ("es", "dos días antes de la boda", "boda", "dos días antes de la boda"),
        ("en", "two hours before. the flight", "the flight", ""),
        ("en", "the flight", "the flight", ""),
        ("en", "the flight", "nothing", ""),
        ("en", "the flight", "", ""),
    ],
)
def test_what_a_thing_hangs_on_is_found_around_its_name(language, text, value, hanging):
    """A small model copies "the flight" alone."""
    assert said(text, language).hanging(value) == hanging


@pytest.mark.parametrize(
    ("value", "is_day", "is_clock", "is_date", "has_figure"),
    [
        ("friday", True, False, True, False),
        ("this week", True, False, True, False),
        ("5 may", True, False, True, True),
        ("noon", False, True, True, False),
        ("3pm", False, True, True, True),
        ("9:30", False, True, True, True),
        ("friday 3pm", False, False, True, True),
        ("the day before the flight", False, False, True, False),
        ("room 3", False, False, False, True),
        ("room ३", False, False, False, True),
        ("milk", False, False, False, False),
        ("", False, False, False, False),
    ],
)
def test_days_and_clock_times_are_told_apart(value, is_day, is_clock, is_date, has_figure):
    """A clock time is another moment in the evening than in the morning."""
    dates = said("")
    found = (dates.is_day(value), dates.is_clock(value), dates.is_date(value), dates.is_date_word(value))
    assert found == (is_day, is_clock, is_date, has_figure)


@pytest.mark.parametrize("hour", [0, 9, 23])
def test_the_hour_of_the_request_does_not_matter_for_what_is_a_clock_time(hour):
    """Noon is one before and after noon, at any hour."""
    dates = said("", now=MONDAY.replace(hour=hour))
    assert dates.is_clock("noon")
    assert dates.is_clock("00:30")
    assert not dates.is_clock("friday")


def test_what_counts_from_another_date_can_be_read():
    """It is counted from the same time tomorrow."""
    assert said("").read("the day after").first == MONDAY + timedelta(days=2)
    assert said("").read("milk") is None
    assert said("").read("99999999 days later") is None
    assert said("", now=datetime(9999, 12, 30, 9, tzinfo=UTC)).read("9999 days later") is None


@pytest.mark.parametrize(
    ("part", "values", "used"),
    [
        ("call Ann tomorrow", ["TOMORROW"], True),
        ("call Ann tomorrow", ["friday"], False),
        ("call Ann tomorrow", ["friday", "Ann, tomorrow"], True),
        ("paint on Friday", ["tomorrow. paint"], False),
        ("paint on Friday", ["Thursday", ""], False),
        ("paint on Friday", [], False),
    ],
)
def test_a_part_is_used_when_a_value_was_copied_from_it(part, values, used):
    """The whole value stands in it, and nowhere else."""
    assert said("call Ann tomorrow. paint on Friday!").is_used(part, values) is used


@pytest.mark.parametrize(
    ("text", "value", "word"),
    [
        ("it lasts Until noon", "noon", "until"),
        ("noon", "noon", ""),
        ("noon, or rather: noon", "noon", ""),
        ("no", "noon", ""),
    ],
)
def test_the_word_before_a_value_is_found(text, value, word):
    """Of a value that stands there once."""
    assert said(text).word_before(value) == word


@pytest.mark.parametrize(
    ("language", "text", "used", "days"),
    [
        ("en", "what was due today is done", [], {TODAY}),
        ("en", "move friday to monday", ["monday"], {FRIDAY}),
        ("en", "move Friday to tomorrow, at nine", ["TOMORROW"], {FRIDAY}),
        ("en", "tonight at nine", [], {TODAY}),
        ("en", "at nine", [], set()),
        ("en", "everything of 3 is done", [], set()),
        ("en", "", [], set()),
        ("de", "Alles von heute auf morgen", ["morgen"], {TODAY}),
        ("en", "the one of Friday the 8th of May", [], {FRIDAY}),
        ("en", "8 May is done", [], {FRIDAY}),
        ("en", "from the 8th of May to tomorrow", ["tomorrow"], {FRIDAY}),
        ("de", "Was am 8. Mai fällig ist", [], {FRIDAY}),
        ("fr", "ce qui est pour le 8 mai", [], {FRIDAY}),
        ("es", "lo del 8 de mayo", [], {FRIDAY}),
        ("fr", "tout ce qui est pour demain", [], {TOMORROW}),
        ("es", "lo de mañana y el viernes", [], {TOMORROW, FRIDAY}),
    ],
)
def test_the_days_of_a_request_are_those_it_names(language, text, used, days):
    """Without those that a step sets, and without the day that a clock time happens to be on."""
    assert said(text, language).days(used) == days


def test_a_span_is_looked_at_day_by_day_up_to_a_month():
    """A week has seven days; of a year the first month is enough."""
    assert len(said("everything of this week").days()) == 7
    assert len(said("everything of this month").days()) == 31
    assert len(said("everything of this year").days()) == MOST_DAYS


@pytest.mark.parametrize(("before", "found"), [(MOST_WORDS - 1, {TODAY}), (MOST_WORDS, set())])
def test_a_long_request_is_looked_through_to_a_limit(before, found):
    """Its dates stand in its first words."""
    assert said("so " * before + "today").days() == found


@pytest.mark.parametrize(
    ("part", "used", "days"),
    [
        ("paint on Friday", (), {FRIDAY}),
        ("paint on Friday", ("friday",), set()),
        ("call Ann tomorrow", (), {TOMORROW}),
        ("and more at nine", (), set()),
    ],
)
def test_the_days_of_a_part_are_those_that_stand_in_it(part, used, days):
    """Only such as name a day, and that no value was copied from."""
    dates = said("call Ann tomorrow. paint on Friday, and more at nine")
    assert dates.days(used, part=part) == days
