"""Dates of languages that have no file here, by dateparser."""

from __future__ import annotations

from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from surefoot.tools.dates.moment import Span
from surefoot.tools.dates.spans import period
from surefoot.tools.dates.zones import localise


def by_dateparser(text: str, now: datetime, code: str, order: str) -> Span | datetime | None:
    """What dateparser reads in this one language; None where it reads nothing or does not know the language."""
    from dateparser.date import DateDataParser

    settings = {
        "PREFER_DATES_FROM": "future",
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "DATE_ORDER": order,
        "RETURN_TIME_AS_PERIOD": True,
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    try:
        data = DateDataParser(languages=[code], settings=settings).get_date_data(text)
    except ValueError:
        return None
    if data.date_obj is None:
        return None
    if data.period == "time":
        return localise(data.date_obj.replace(tzinfo=None), cast("ZoneInfo", now.tzinfo))
    return period(data.date_obj.date(), str(data.period), 0)
