"""Moments as a person reads them, in the person's zone and language."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from surefoot.cli.texts import Texts


class Times:
    """Writes moments: `today 14:02`, `Mon 3 May 14:02`, with the year where it is another one."""

    def __init__(
        self, texts: Texts, zone: str, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._texts = texts
        self._zone = ZoneInfo(zone)
        self._clock = clock

    def moment(self, when: datetime | None) -> str:
        """Day and time; empty for None."""
        if when is None:
            return ""
        local = when.astimezone(self._zone)
        return self._texts("time.moment", day=self._near(local.date()), time=self.time(when))

    def time(self, when: datetime) -> str:
        """The time of day."""
        return f"{when.astimezone(self._zone):%H:%M}"

    def stored(self, text: str | None) -> str:
        """A moment or a day as the kits store it: `2026-05-03` or ISO 8601 with an offset."""
        if not text:
            return ""
        if len(text) == len("2026-05-03"):
            return self.day(date.fromisoformat(text))
        when = datetime.fromisoformat(text)
        local = when if when.tzinfo is None else when.astimezone(self._zone)
        return self._texts("time.moment", day=self.day(local.date()), time=f"{local:%H:%M}")

    def day(self, day: date) -> str:
        """A day with its weekday; the year where it is not this one."""
        key = "time.day" if day.year == self._today().year else "time.day_of_year"
        return self._texts(
            key,
            weekday=self._texts(f"time.weekday.{day.isoweekday()}"),
            day=day.day,
            month=self._texts(f"time.month.{day.month}"),
            year=day.year,
        )

    def _near(self, day: date) -> str:
        today = self._today()
        if day == today:
            return self._texts("time.today")
        return self._texts("time.yesterday") if day == today - timedelta(days=1) else self.day(day)

    def _today(self) -> date:
        return self._clock().astimezone(self._zone).date()
