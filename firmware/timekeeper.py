"""The best date the unit has: whose it is, how far off it may be, and never the system's word.

A date is pinned to an instant of the monotonic clock and carried on from there, so a step of any
other clock moves nothing. GPS wins over the battery clock, and the battery clock is believed only
from the floor to ten years above it. Before either there is no date.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from firmware.dates import believable_date
from firmware.readings import Fix, RtcTime

GPS_ERROR_S = 0.5
"""RMC's time is that of the solution; it is read some tenths of a second later."""

DRIFT_S_PER_S = 20e-6
"""A Pi's crystal: 20 parts in a million, 1.7 s a day."""


@dataclass(slots=True)
class Timekeeper:
    """Keeps the pin; told the readings, asked for the date."""

    floor: date
    source: str = "none"
    _pinned_utc: datetime | None = None
    _pinned_s: float = 0.0
    _error_s: float = 0.0

    def take_fix(self, fix: Fix, mono_s: float) -> None:
        """Pins the date of a fix; a fix without a date leaves the pin where it is."""
        if fix.utc is not None:
            self._pin(fix.utc, mono_s, GPS_ERROR_S, "gps")

    def take_rtc(self, rtc: RtcTime, mono_s: float) -> None:
        """Pins the battery clock's date where no satellite has given one."""
        day = rtc.utc.date()
        if self.source != "gps" and believable_date(day, self.floor) == day:
            self._pin(rtc.utc, mono_s, rtc.error_s, "rtc")

    def utc(self, at_s: float) -> datetime | None:
        """The date at a monotonic instant; None while there is none."""
        if self._pinned_utc is None:
            return None
        return self._pinned_utc + timedelta(seconds=at_s - self._pinned_s)

    def error_s(self, at_s: float) -> float | None:
        """How far off the date may be, in seconds; grows with the crystal's drift."""
        if self._pinned_utc is None:
            return None
        return self._error_s + DRIFT_S_PER_S * abs(at_s - self._pinned_s)

    def next_turn_s(self, times: Iterable[time], zone: ZoneInfo, at_s: float) -> float:
        """The next instant after `at_s` at which civil time comes to one of these times of day.

        Infinite while there is no date. An hour that is told twice in autumn comes twice.
        """
        utc = self.utc(at_s)
        if utc is None:
            return math.inf
        today = utc.astimezone(zone).date()
        turns = (
            datetime.combine(today + timedelta(days=days), at, zone).replace(fold=fold)
            for at in times
            for days in (0, 1)
            for fold in (0, 1)
        )
        left_s = ((turn.astimezone(UTC) - utc) / timedelta(seconds=1) for turn in turns)
        return at_s + min((left for left in left_s if left > 0.0), default=math.inf)

    def _pin(self, utc: datetime, mono_s: float, error_s: float, source: str) -> None:
        self._pinned_utc, self._pinned_s = utc, mono_s
        self._error_s, self.source = error_s, source
