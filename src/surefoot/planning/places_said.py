"""The new place of an appointment, where it was said and a small model left it out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_BEFORE: Final = (
    r"(?:in|at|to|into|auf|im|ins|bei|beim|nach|zum|zur|à|au|aux|dans|chez|en|a|al)\s+"
    r"(?:(?:the|der|die|das|dem|den|dr\.|le|la|les|el|los|las)\s+|l['’])?"
)
_NAME: Final = r"[A-ZÄÖÜÀÂÉÈÊÎÔÁÍÓÚÑ][\w'’&.-]*"
_NUMBERED: Final = (
    r"(?:room|raum|zimmer|saal|halle|salle|sala|aula|gate|studio|building|gebäude|bâtiment|edificio)"
    r"\s+\w*\d\w*"
)
_PLACE: Final = re.compile(
    rf"(?<![\w'’])(?i:{_BEFORE})"
    rf"(?P<place>(?i:{_NUMBERED})|{_NAME}(?:\s+(?:(?:de|del|du|des|la|of|am|an der|im)\s+)?(?:{_NAME}|\d+\w*)){{0,3}})"
)


def new_place(said: str, title: str, is_date: Callable[[str], bool]) -> str:
    """The one place that a text says behind `in`, `auf`, `à`, other than words of the title and dates; else empty.

    Args:
        said: the part of a request that is about one appointment.
        title: what the appointment is called.
        is_date: a text can be read as a date, or names a day.
    """
    own = {word.casefold() for word in re.findall(r"\w+", title)}
    found = [match["place"].rstrip(".,;:!?") for match in _PLACE.finditer(said)]
    places = [one for one in found if not own & set(re.findall(r"\w+", one.casefold())) and not is_date(one)]
    return places[0] if len(places) == 1 else ""
