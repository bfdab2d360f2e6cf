"""Which dates stand in a request, and how far each reaches. Found by reading, so that a model need not be exact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from surefoot.tools.dates import Moment

REACH: Final = 9
"""Words on each side of one that may belong to the date: `on Friday the 3rd of May at a quarter past nine`."""
_WORD: Final = re.compile(r"\S+")
_EDGES: Final = ",;:!?¡¿()[]{}\"'“”„«»…."
_SENTENCE: Final = re.compile(r"[!?\n;]|[^\W\d]{2}\.(?:\s|$)")
"""Ends a sentence between two words; a full stop behind a figure or a single letter (`3 p.m.`) does not."""
_BARE: Final = re.compile(r"\d{1,2}\.?")
"""A figure that may as well count something: no date begins or ends with one that the model did not copy."""
_DAY_AND_HOUR: Final = re.compile(r"(?P<day>\D.*?)\s+(?P<hour>\d{1,2})")
_GREETING: Final = re.compile(
    r"\b(?:guten?|sch[öo]nen|good|bon(?:ne)?|buen[oa]s?)[ -]+"
    r"(?:morgen|abend|nachmittag|tag|nacht|morning|evening|afternoon|night|matin|soir[ée]e?|apr[eè]s-midi|journ[ée]e|nuit|tardes?|d[ií]as?|noches?)\b",
    re.IGNORECASE,
)
"""Words of greetings that would be dates elsewhere: `Guten Morgen`, `buenas tardes`."""
SHORT: Final = 2
"""Letters of a short form of a weekday (`So`, `Di`); in small letters it is mostly another word."""
GAP: Final = 3
"""Words left out between two words of a date that was copied in pieces."""
_ARTICLES: Final = frozenset({"a", "an", "ein", "eine", "einen", "einem", "einer"})
"""Read as one where an hour stands; added behind a date they belong to what follows: `on Friday at a café`."""
MOST_DAYS: Final = 31
"""Of a span that are looked at one by one: a month."""
MOST_WORDS: Final = 80
"""Of a request that are looked through for days."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Words `first` to `last`, both included."""

    first: int
    last: int

    @property
    def words(self) -> range:
        return range(self.first, self.last + 1)


class DatesSaid:
    """The dates of one text.

    Args:
        said: what the person said.
        now: the run's clock, in the person's zone.
        language: the person's.
    """

    def __init__(self, said: str, now: datetime, language: str) -> None:
        self._said = said
        self._now = now
        self._language = language
        self._words = list(_WORD.finditer(said))
        self._cores = [match.group().strip(_EDGES).casefold() for match in self._words]
        self._read: dict[_Place, Moment | None] = {}
        greetings = [match.span() for match in _GREETING.finditer(said)]
        self._greeted = {
            at for at, word in enumerate(self._words) if any(a <= word.start() < b for a, b in greetings)
        }

    def whole(self, value: str) -> str:
        """The longest date around a value that stands in the text once, where that says more; else the value."""
        place = self._find(value)
        if place is None:
            return value
        own = self._meaning(place)
        longer = [one for one in self._around(place) if self._meaning(one) not in {None, own}]
        longest = max(longer, key=lambda one: len(one.words), default=None)
        return value if longest is None else self._text(self._shortest_like(longest, place))

    def _shortest_like(self, longest: _Place, place: _Place) -> _Place:
        """The same date without the words around it that say nothing."""
        wanted = self._meaning(longest)
        alike = [
            _Place(first, last)
            for first in range(longest.first, place.first + 1)
            for last in range(place.last, longest.last + 1)
            if self._meaning(_Place(first, last)) == wanted
        ]
        return min(alike, key=lambda one: len(one.words), default=longest)

    def part(self, value: str) -> str:
        """The longest part of a value that is a date; empty where none is."""
        words = value.split()
        parts = [
            " ".join(words[first:last])
            for first in range(len(words))
            for last in range(first + 1, len(words) + 1)
            if last - first < len(words)
        ]
        parts = [one for one in parts if not _BARE.fullmatch(one.strip(_EDGES))]
        return next((one for one in sorted(parts, key=len, reverse=True) if self.read(one) is not None), "")

    def bridged(self, value: str) -> str:
        """The date of a value whose words stand in the text with a few between them that were left out; else empty.

        "Donnerstag 11" of "Donnerstag erst um 11" is "Donnerstag um 11".
        """
        place = self._spread(value)
        if place is None:
            return ""
        wanted = {word.strip(_EDGES).casefold() for word in value.split()}
        words = [
            (core, self._text(_Place(at, at)))
            for at, core in zip(place.words, self._cores[place.first : place.last + 1], strict=True)
        ]
        extra = [at for at, (core, _) in enumerate(words) if core not in wanted]
        for size in range(len(extra), -1, -1):
            for kept in combinations(extra, size):
                text = " ".join(word for at, (_, word) in enumerate(words) if at not in extra or at in kept)
                if self.read(text) is not None:
                    return text
        return ""

    def _spread(self, value: str) -> _Place | None:
        """Where the words of a value stand in order, with at most `GAP` others between two of them."""
        cores = [word.strip(_EDGES).casefold() for word in value.split()]
        for first in range(len(self._cores) if len(cores) > 1 else 0):
            at, left = first, list(cores)
            while left and self._cores[at] == left[0]:
                left.pop(0)
                near = range(at + 1, min(at + GAP + 2, len(self._cores)))
                following = next((n for n in near if left and self._cores[n] == left[0]), None)
                if following is None or self._crosses(at, following):
                    break
                at = following
            if not left:
                return _Place(first, at)
        return None

    def at_hour(self, value: str) -> str:
        """A day with a bare figure behind it, as that hour of the day; else empty."""
        found = _DAY_AND_HOUR.fullmatch(value.strip())
        text = f"{found['day']} {found['hour']}:00" if found else ""
        return text if found and self.is_day(found["day"]) and self.read(text) is not None else ""

    def hanging(self, value: str) -> str:
        """A date that hangs on something around the end of a value ("two hours before the flight"); else empty."""
        from surefoot.tools.dates.relative import FIRST_WORDS

        words = value.split()
        for first in range(len(words)):
            place = self._find(" ".join(words[first:]))
            if place is None:
                continue
            starts = range(max(0, place.first - FIRST_WORDS), place.first + 1)
            texts = [
                self._text(_Place(start, place.last))
                for start in starts
                if not self._crosses(start, place.first)
            ]
            return next((text for text in texts if self._hangs(text)), "")
        return ""

    def _crosses(self, first: int, last: int) -> bool:
        return any(self._ends(at) for at in range(first, last))

    def _hangs(self, text: str) -> bool:
        from surefoot.tools.dates.relative import hanging_on

        return next(hanging_on(text, self._language), None) is not None

    def is_day(self, value: str) -> bool:
        """It is a day, or days."""
        moment = self.read(value)
        return moment is not None and moment.is_day

    def is_one_day(self, value: str) -> bool:
        """It is a day, and not several."""
        moment = self.read(value)
        return moment is not None and moment.is_day and moment.day == moment.last_day

    def is_clock(self, value: str) -> bool:
        """It is a time of day without a day."""
        times = (self._now.replace(hour=hour, minute=59 * (hour > 0)) for hour in (0, 23))
        early, late = (self._resolved(value, now) for now in times)
        return early is not None and late is not None and not early.is_day and early.day != late.day

    def is_date(self, value: str) -> bool:
        """It can be read, or it hangs on something that has a date ("the day before the flight")."""
        return self.read(value) is not None or self._hangs(value)

    def has_day(self, text: str) -> bool:
        """The name of a weekday or a month stands in it, or a word such as "tomorrow"."""
        from surefoot.tools.dates.words import names_day

        return names_day(text)

    def is_date_word(self, value: str) -> bool:
        """A figure stands in it, so that it was meant as a date all the same."""
        return any(sign.isdigit() for sign in value)

    def word_before(self, value: str) -> str:
        """The word in front of a value that stands in the text once; empty where there is none."""
        place = self._find(value)
        return self._cores[place.first - 1] if place and place.first > 0 else ""

    def read(self, text: str) -> Moment | None:
        """What a text means as a date; None where it is none."""
        return self._resolved(text, self._now)

    def days(self, used: Iterable[str] = (), *, part: str = "") -> frozenset[date]:
        """Every day that a date of the text covers, spans of up to a month day by day.

        Args:
            used: values of the plan; a date that one of them was copied from is left out.
            part: only the dates of this part of the text that name a weekday, a month, or say "tomorrow".
        """
        from surefoot.tools.dates.words import names_day

        taken, inside = self._taken(used), self._inside(part)
        found = [
            days
            for place, days in self._days.items()
            if taken.isdisjoint(place.words)
            and (not part or (inside.issuperset(place.words) and names_day(self._text(place))))
        ]
        return frozenset().union(*found)

    def is_used(self, part: str, values: Iterable[str]) -> bool:
        """A value was copied from this part of the text."""
        inside = self._inside(part)
        places = [place for value in values if (place := self._find(value))]
        return any(inside.issuperset(place.words) for place in places)

    def _inside(self, part: str) -> set[int]:
        """Places of the words of a part."""
        start = self._said.find(part)
        return {at for at, word in enumerate(self._words) if start <= word.start() < start + len(part)}

    def _taken(self, used: Iterable[str]) -> set[int]:
        """Places of words that were copied into a value."""
        written = {word.strip(_EDGES).casefold() for value in used for word in value.split()}
        return {at for at, core in enumerate(self._cores) if core in written}

    @cached_property
    def _days(self) -> dict[_Place, frozenset[date]]:
        found: dict[_Place, frozenset[date]] = {}
        for place in self._all():
            moment = self._moment(place)
            if moment is not None and self._names_day(place, moment):
                length = min((moment.last_day - moment.day).days, MOST_DAYS - 1)
                days = frozenset(moment.day + timedelta(days=n) for n in range(length + 1))
                # "May" in "the 8th of May" is no date of its own; "Friday" in "Friday to Monday" may be one
                if all(days <= longer for outer, longer in found.items() if place.last <= outer.last):
                    found[place] = days
        return found

    def _names_day(self, place: _Place, moment: Moment) -> bool:
        """It is no clock time alone, which means another day in the evening than in the morning; "so" is no Sunday."""
        text = self._text(place)
        if len(text) <= SHORT and text.islower():
            return False
        return moment.is_day or not self.is_clock(self._text(place))

    def _all(self) -> Iterator[_Place]:
        """The longest date from each word on."""
        for first in range(min(len(self._words), MOST_WORDS)):
            last = first
            while last + 1 < len(self._words) and last - first + 1 < REACH and not self._ends(last):
                last += 1
            for stop in range(last, first - 1, -1):
                place = _Place(first, stop)
                is_count = stop == first and self._bare(first)
                if not is_count and self._moment(place) is not None:
                    yield place
                    break

    def _find(self, value: str) -> _Place | None:
        cores = [word.strip(_EDGES).casefold() for word in value.split()]
        size = len(cores)
        found = [at for at in range(len(self._cores) - size + 1) if self._cores[at : at + size] == cores]
        return _Place(found[0], found[0] + size - 1) if size and len(found) == 1 else None

    def _around(self, place: _Place) -> Iterator[_Place]:
        first, last = place.first, place.last
        while first > 0 and place.first - first < REACH and not self._ends(first - 1):
            first -= 1
        while last + 1 < len(self._words) and last - place.last < REACH and not self._ends(last):
            last += 1
        for start in range(first, place.first + 1):
            for stop in range(last, place.last - 1, -1):
                added = {start, stop} - set(place.words)
                cut_off = stop > place.last and self._cores[stop] in _ARTICLES
                if added and not cut_off and not any(self._bare(at) for at in added):
                    yield _Place(start, stop)

    def _bare(self, at: int) -> bool:
        return _BARE.fullmatch(self._cores[at]) is not None

    def _ends(self, at: int) -> bool:
        """A sentence ends behind this word."""
        following = self._words[at + 1]
        tail = max(self._words[at].start(), self._words[at].end() - 3)
        return bool(_SENTENCE.search(self._said[tail : following.start()]))

    def _meaning(self, place: _Place) -> tuple[date, date, bool] | None:
        """What a date means, whatever its words; "two weeks" is also a move, where "in two weeks" is a date only."""
        from surefoot.tools.dates.relative import is_length

        moment = self._moment(place)
        if moment is None:
            return None
        return moment.value, moment.last_day, is_length(self._text(place), self._language)

    def _moment(self, place: _Place) -> Moment | None:
        if not self._greeted.isdisjoint(place.words):
            return None
        if place not in self._read:
            self._read[place] = self._resolved(self._text(place), self._now)
        return self._read[place]

    def _resolved(self, text: str, now: datetime) -> Moment | None:
        from surefoot.errors import ToolError
        from surefoot.tools.dates import resolve_date
        from surefoot.tools.dates.relative import moved

        zone = str(now.tzinfo)
        try:
            return resolve_date(text, now, zone, self._language)
        except ToolError:
            pass
        tomorrow = resolve_date((now + timedelta(days=1)).isoformat(), now, zone, self._language)
        try:
            return moved(text, tomorrow, zone, self._language)
        except ToolError:
            return None

    def _text(self, place: _Place) -> str:
        text = self._said[self._words[place.first].start() : self._words[place.last].end()]
        return text.strip(_EDGES)
