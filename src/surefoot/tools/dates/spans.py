"""Days and spans of days inside a text that holds no time of day."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from surefoot.tools.dates import figures
from surefoot.tools.dates.moment import Refused, Span
from surefoot.tools.dates.words import Language, others_for

WEEK = 7
SATURDAY = 5
LEAP_SPAN = 9
"""Years within which every date comes at least once: 29 February may be away eight years."""
MAX_NESTING = 3
"""`two days before the end of next month` has three levels; deeper is no date any more."""
MAX_COUNT = 100_000

Groups = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Today:
    """What a date is seen from: the day, the language's words, the order of figures."""

    day: date
    words: Language
    order: str
    depth: int = 0


def without_fillers(text: str, words: Language, *, both: bool = False) -> str:
    """The text without words before it that carry no date (`on`, `am`, `le`); with `both`, also behind it.

    Behind it they are only of no weight where a time of day was cut out: `two days from` is no date.
    """
    while True:
        if words.edges.first.fullmatch(f"{text} "):
            return ""
        bare = words.edges.first.sub("", text).strip()
        bare = words.edges.around.sub("", bare).strip() if both or not words.spaced else bare
        if bare == text:
            return text
        text = bare


def without_asides(text: str, words: Language) -> str:
    """The text without `please`, `rather`, `instead` at its ends."""
    while True:
        bare = words.edges.closing.sub("", words.edges.opening.sub("", text)).strip()
        if bare == text or not bare:
            return text
        text = bare


def read_span(text: str, today: Today) -> Span | None:
    """The days a folded text means; None where it means none.

    Raises:
        Refused: it says a day that does not exist, or contradicts itself.
    """
    for form in dict.fromkeys((text, without_fillers(text, today.words))):
        found = _read(form, today)
        if found is not None:
            return found
    return None


def _read(text: str, today: Today) -> Span | None:
    found = stated(text, today)
    if found is not None:
        return found
    for kind, pattern in today.words.rules:
        rule = _RULES.get(kind)
        match = pattern.fullmatch(text) if rule else None
        if rule is not None and match is not None:
            found = rule(match.groupdict(), today)
            if found is not None:
                return found
    return _named_day(text, today)


def _named_day(text: str, today: Today) -> Span | None:
    """A weekday beside a date: both must agree."""
    for form in today.words.named:
        match = form.fullmatch(text)
        found = stated(without_fillers(match["rest"], today.words, both=True), today) if match else None
        if match is not None and found is not None and found.is_day:
            return _agreed(found, _weekday(match.groupdict(), today), match["weekday"])
    return None


def stated(text: str, today: Today) -> Span | None:
    """A day that says which one it is; `Monday in a week` counts from the Monday, and is not read here."""
    if text in today.words.days:
        return Span.day(today.day + timedelta(days=today.words.days[text]))
    found = figures.read(text, today.day, today.order)
    if found is not None:
        return found
    for kind in _STATED:
        for pattern in today.words.by_kind.get(kind, ()):
            match = pattern.fullmatch(text)
            if match is not None:
                return _RULES[kind](match.groupdict(), today)
    return None


_STATED = ("month_day", "day_only", "day_next_month")


def _agreed(found: Span, weekday: int, word: str) -> Span:
    if found.first.weekday() != weekday:
        raise Refused(f"{found.first.isoformat()} is not a {word.strip('()')}")
    return found


def inner(text: str, today: Today) -> Span | None:
    """A date inside a date; a date that was copied there may be of another language (`dos días antes del 22 Aug`)."""
    if today.depth >= MAX_NESTING:
        return None
    deeper = replace(today, depth=today.depth + 1)
    found = read_span(text.strip(), deeper)
    if found is not None or today.depth:
        return found
    others = others_for(text, today.words.code)
    return next(
        (one for words in others if (one := read_span(text.strip(), replace(deeper, words=words)))), None
    )


# --- counting ------------------------------------------------------------------------------------------------


def _count(found: Groups, today: Today) -> int | None:
    text = found.get("n")
    if not text:
        return None
    number = today.words.number(text)
    if number is None or number > MAX_COUNT:
        raise Refused(f"{text!r} is too far away")
    return number


def shifted(day: date, number: int, unit: str) -> date | None:
    """The day that many units later; None where the unit is shorter than a day. Months end where the shorter ends."""
    if unit in {"day", "week", "fortnight"}:
        return day + timedelta(days=number * {"day": 1, "week": WEEK, "fortnight": 2 * WEEK}[unit])
    if unit not in {"month", "year"}:
        return None
    months = day.year * 12 + day.month - 1 + number * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _from_today(found: Groups, today: Today, sign: int) -> Span | None:
    number = _count(found, today)
    day = shifted(today.day, sign * (1 if number is None else number), _unit(found, today))
    return None if day is None else Span.day(day)


def _from_date(found: Groups, today: Today, sign: int) -> Span | None:
    """`two days before 3 May`; `the week before 3 May`, without a number, is that whole week."""
    base = inner(found["rest"] or "", today)
    if base is None:
        return None
    number = _count(found, today)
    unit = _unit(found, today) if found.get("unit") else "day"
    day = shifted(base.first if sign < 0 else base.last, sign * (1 if number is None else number), unit)
    if day is None:
        return None
    return Span.day(day) if number is not None or unit == "day" else period(day, unit, 0)


def _unit(found: Groups, today: Today) -> str:
    return today.words.units[re.sub(r"\s+", " ", found["unit"] or "")]


# --- periods -------------------------------------------------------------------------------------------------


def period(day: date, unit: str, number: int) -> Span | None:
    """The day, week (from Monday), weekend, month or year around a day, or that many later."""
    if unit == "day":
        return Span.day(day + timedelta(days=number))
    if unit in {"week", "weekend"}:
        monday = day + timedelta(days=number * WEEK - day.weekday())
        first = monday + timedelta(days=SATURDAY if unit == "weekend" else 0)
        return Span(first, monday + timedelta(days=WEEK - 1))
    if unit == "month":
        first = shifted(day.replace(day=1), number, "month") or day
        return Span(first, first.replace(day=monthrange(first.year, first.month)[1]))
    if unit == "year":
        return Span(date(day.year + number, 1, 1), date(day.year + number, 12, 31))
    return None


def _edge(found: Groups, today: Today, *, end: bool) -> Span | None:
    text = found["rest"] or ""
    unit = today.words.units.get(text)
    span = period(today.day, unit, 0) if unit else inner(text, today)
    if span is None:
        return None
    return Span.day(span.last if end else span.first)


def _week_of(found: Groups, today: Today) -> Span | None:
    span = inner(found["rest"] or "", today)
    return None if span is None else period(span.first, "week", 0)


def _that_week(found: Groups, today: Today) -> Span | None:
    """`That week 9 June`: the week of a day that says itself which it is."""
    text = without_fillers(found["rest"] or "", today.words)
    span = stated(text, today) or _named_day(text, today)
    return period(span.first, "week", 0) if span is not None and span.is_day else None


def _day_of(found: Groups, today: Today) -> Span | None:
    span = inner(found["rest"] or "", today)
    return span if span is not None and span.is_day else None


def _hanging(_found: Groups, _today: Today) -> Span | None:
    raise Refused("it counts from another date, which is not said")


# --- weekdays, days, months ----------------------------------------------------------------------------------


def _weekday(found: Groups, today: Today) -> int:
    return today.words.weekdays[re.sub(r"\s+", " ", found["weekday"] or "")]


def _coming(found: Groups, today: Today) -> Span:
    """The next such day; on the day itself it is the one a week later, because that day is called today."""
    ahead = (_weekday(found, today) - today.day.weekday() - 1) % WEEK + 1
    return Span.day(today.day + timedelta(days=ahead))


def _coming_plus(found: Groups, today: Today) -> Span | None:
    """`Freitag in einer Woche`: counted from the coming Friday, or from today."""
    text = found.get("day")
    base = today.day + timedelta(days=today.words.days[text]) if text else _coming(found, today).first
    number = _count(found, today)
    day = shifted(base, 1 if number is None else number, _unit(found, today))
    return None if day is None else Span.day(day)


def _weekday_day(found: Groups, today: Today) -> Span | None:
    span = _day_only(found, today)
    return span and _agreed(span, _weekday(found, today), found["weekday"] or "")


def _past(found: Groups, today: Today) -> Span:
    back = (today.day.weekday() - _weekday(found, today) - 1) % WEEK + 1
    return Span.day(today.day - timedelta(days=back))


def _of_week(found: Groups, today: Today, weeks: int) -> Span:
    """The day of a calendar week: this one, or the next."""
    monday = today.day - timedelta(days=today.day.weekday())
    return Span.day(monday + timedelta(days=weeks * WEEK + _weekday(found, today)))


def _month_day(found: Groups, today: Today) -> Span:
    month = today.words.months[re.sub(r"\s+", " ", found["month"] or "")] + 1
    return Span.day(
        figures.day_of(found.get("y"), month, today.words.number(found["d"] or "") or 0, today.day)
    )


def _month(found: Groups, today: Today) -> Span | None:
    """A month by name: this year's until it is over, then the next."""
    month = today.words.months[re.sub(r"\s+", " ", found["month"] or "")] + 1
    year = int(found["y"] or 0) if found.get("y") else today.day.year + (month < today.day.month)
    return period(figures.real_date(year, month, 1), "month", 0)


def _next_month(found: Groups, today: Today) -> Span | None:
    """`next May`: the first May that has not begun."""
    month = today.words.months[re.sub(r"\s+", " ", found["month"] or "")] + 1
    return period(date(today.day.year + (month <= today.day.month), month, 1), "month", 0)


def _day_only(found: Groups, today: Today) -> Span | None:
    """`the 3rd`: the next day of that number."""
    number = today.words.number(found["d"] or "") or 0
    for months in range(LEAP_SPAN):
        span = period(today.day, "month", months)
        if span and 1 <= number <= span.last.day and span.first.replace(day=number) >= today.day:
            return Span.day(span.first.replace(day=number))
    raise Refused(f"no month has a day {number}")


def _day_next_month(found: Groups, today: Today) -> Span | None:
    span = period(today.day, "month", 1)
    number = today.words.number(found["d"] or "") or 0
    return None if span is None else Span.day(figures.real_date(span.first.year, span.first.month, number))


_RULES: dict[str, Callable[[Groups, Today], Span | None]] = {
    "follows": _hanging,
    "precedes": _hanging,
    "day_of": _day_of,
    "weekday_plus": _coming_plus,
    "weekday_day": _weekday_day,
    "amount": lambda found, today: _from_today(found, today, 1),
    "in": lambda found, today: _from_today(found, today, 1),
    "ago": lambda found, today: _from_today(found, today, -1),
    "later": lambda found, today: _from_today(found, today, 1),
    "earlier": lambda found, today: _from_today(found, today, -1),
    "before": lambda found, today: _from_date(found, today, -1),
    "after": lambda found, today: _from_date(found, today, 1),
    "weekday_coming": _coming,
    "weekday_this": lambda found, today: _of_week(found, today, 0),
    "weekday_next": lambda found, today: _of_week(found, today, 1),
    "weekday_last": _past,
    "this": lambda found, today: period(today.day, _unit(found, today), 0),
    "after_next": lambda found, today: period(today.day, _unit(found, today), 2),
    "next": lambda found, today: period(today.day, _unit(found, today), 1),
    "last": lambda found, today: period(today.day, _unit(found, today), -1),
    "end": lambda found, today: _edge(found, today, end=True),
    "start": lambda found, today: _edge(found, today, end=False),
    "week_of": _week_of,
    "that_week": _that_week,
    "month_day": _month_day,
    "month": _month,
    "month_next": _next_month,
    "day_only": _day_only,
    "day_next_month": _day_next_month,
}
