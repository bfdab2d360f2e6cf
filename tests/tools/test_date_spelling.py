"""Names of days and months with one letter wrong are read; right words and doubtful ones are left as they are."""

from __future__ import annotations

import pytest

from surefoot.errors import ToolError
from surefoot.tools.dates import resolve_date
from surefoot.tools.dates.spelling import corrected
from surefoot.tools.dates.words import LANGUAGES, language

from .harness import NOW, ZONE


def day(text: str, tag: str) -> str:
    return resolve_date(text, NOW, ZONE, tag).iso[:16]


@pytest.mark.parametrize(
    ("tag", "text", "meant"),
    [
        ("en", "thurday", "thursday"),
        ("en", "on Wendesday at 5pm", "on wednesday at 5pm"),
        ("en", "septmber 3", "september 3"),
        ("en", "tomorow evening", "tomorrow evening"),
        ("en-GB", "3 Janaury", "3 january"),
        ("de", "Donerstag um 8", "donnerstag um 8"),
        ("de", "am 3. Dezmber", "am 3. dezember"),
        ("de", "Freytag", "freitag"),
        ("de-AT", "Mittwcoh", "mittwoch"),
        ("fr", "vendrdi à midi", "vendredi a midi"),
        ("fr", "le 3 septemre", "le 3 septembre"),
        ("fr", "dimanchhe", "dimanche"),
        ("es", "miercols", "miercoles"),
        ("es", "el 3 de novienbre", "el 3 de noviembre"),
        ("es", "domigno", "domingo"),
    ],
)
def test_one_wrong_letter_is_put_right(tag: str, text: str, meant: str) -> None:
    """One is missing, too many, another, or two are swapped; the date is the one of the right name."""
    assert corrected(text, tag) == meant
    assert day(text, tag) == day(meant, tag)


@pytest.mark.parametrize(
    ("tag", "text"),
    [("en", "donerstag"), ("de", "thurday"), ("fr", "miercols"), ("hi", "septmber 3"), ("it", "vendrdi")],
)
def test_the_text_need_not_be_in_the_persons_language(tag: str, text: str) -> None:
    """The other languages are looked through behind the person's own."""
    assert corrected(text, tag)
    assert day(text, tag)


@pytest.mark.parametrize("tag", [*LANGUAGES, "it", "en-US"])
def test_a_right_word_is_never_changed(tag: str) -> None:
    """No word of any of the languages, whatever the person's: `october` is not made `octobre`."""
    changed = {
        word: corrected(word, tag)
        for code in LANGUAGES
        for word in language(code).known
        if corrected(word, tag)
    }
    assert changed == {}


@pytest.mark.parametrize(
    ("tag", "text", "meant"),
    [
        ("en", "thurday 3 december", "thursday 3 december"),
        ("de", "Thurday 3 October", "thursday 3 october"),
        ("fr", "sonntag oder donerstag", "sonntag oder donnerstag"),
    ],
)
def test_beside_a_wrong_word_the_right_ones_stay(tag: str, text: str, meant: str) -> None:
    """Only the wrong one is changed, also where another language has a name one letter away."""
    assert corrected(text, tag) == meant


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "sonday"),  # Sunday or Monday
        ("en", "frday"),  # too short to be sure
        ("en", "wensday"),  # two letters
        ("en", "the plumber"),
        ("de", "donnertags"),
        ("fr", "marrdi"),  # mardi is too short to be sure of
        ("es", "lunnes"),
        ("zh", "明天天"),
        ("en", ""),
        ("en", "3"),
    ],
)
def test_what_may_be_two_names_or_none_is_left(tag: str, text: str) -> None:
    """It is refused, not guessed."""
    assert corrected(text, tag) == ""
    with pytest.raises(ToolError):
        resolve_date(text, NOW, ZONE, tag)


@pytest.mark.parametrize("text", ["thurday 1 december 2026", "thurday or friday nonsense"])
def test_what_is_still_no_date_is_refused(text: str) -> None:
    """A weekday that the day is not, and a text that says none; the message shows what the person wrote."""
    with pytest.raises(ToolError, match="thurday"):
        resolve_date(text, NOW, ZONE, "en")


@pytest.mark.parametrize(
    ("tag", "text", "meant"),
    [
        ("en", "thursday", "2026-12-03"),
        ("de", "Donnerstag", "2026-12-03"),
        ("fr", "jeudi", "2026-12-03"),
        ("es", "jueves", "2026-12-03"),
        ("hi", "गुरुवार", "2026-12-03"),
        ("zh", "星期四", "2026-12-03"),
        ("ja", "木曜日", "2026-12-03"),
    ],
)
def test_right_dates_read_as_before(tag: str, text: str, meant: str) -> None:
    """In all seven languages; nothing there to be put right."""
    assert day(text, tag) == meant
    assert corrected(text, tag) == ""


def test_the_date_keeps_the_persons_words() -> None:
    """What was read is shown beside what was written."""
    moment = resolve_date("Thurday", NOW, ZONE, "en")
    assert (moment.text, moment.display) == ("Thurday", "Thu 3 Dec 2026")
