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
from typing import Literal
from zoneinfo import ZoneInfo

from firmware.findings import Anchor
from firmware.gps.dates import believable_date, is_carried
from firmware.readings import Fix, RtcTime

GPS_ERROR_S = 0.5
"""RMC's time is that of the solution; it is read some tenths of a second later."""

DRIFT_S_PER_S = 20e-6
"""A Pi's crystal: 20 parts in a million, 1.7 s a day."""

STEP_S = 1.0
"""A date that moves by more than this is anchored anew, and does not agree with the ones before."""

ANCHOR_S = 600.0
"""How often a date is anchored anew: the crystal's drift stays small, and each segment of a journal
has an anchor of its own."""

NO_STEP_S = 0.5
"""A date that moves by no more is taken as it comes, as nearly always."""

AGREED = 5
"""So many dates of the satellites in a row that agree are worth setting the battery clock by."""

CONFLICT_S = 60.0
"""The battery clock and the satellites further apart than this are in conflict."""


@dataclass(slots=True)
class Timekeeper:
    """Keeps the pin; told the readings, asked for the date.

    `rtc_ahead_s` is by how much the battery clock was ahead of the satellites when both were last
    heard; absent while they were not.
    """

    floor: date
    source: Literal["gps", "rtc", "none"] = "none"
    rtc_ahead_s: float | None = None
    _agreeing: int = 0
    _anchored: tuple[str, float] | None = None
    _step_s: float | None = None
    _pinned_utc: datetime | None = None
    _pinned_s: float = 0.0
    _error_s: float = 0.0
    _asked_s: float = 0.0  # when the date was asked for last, for it is asked for again at once
    _asked_utc: datetime | None = None

    def take_fix(self, fix: Fix, mono_s: float) -> bool:
        """Pins the date of a fix; one without a date that can be carried on leaves it as it is.

        Whether the date is new, or has moved by over a second.
        """
        utc = fix.utc
        if utc is None or not is_carried(utc.date()):
            return False
        step_s = self._step_to(utc, mono_s)
        if step_s is not None and (abs(step_s) > NO_STEP_S or self.source == "rtc"):
            step_s = round(step_s, 6)  # a date has no less
            if self.source == "rtc":
                self.rtc_ahead_s = -step_s
            self._note_step(step_s)
        self._agreeing += 1
        self._pin(utc, mono_s, GPS_ERROR_S, "gps")
        return step_s is None or abs(step_s) > STEP_S

    def take_rtc(self, rtc: RtcTime, mono_s: float) -> bool:
        """Pins the battery clock's date where no satellite has given one; returns as `take_fix`."""
        day = rtc.utc.date()
        if not is_carried(day):
            return False
        step_s = self._step_to(rtc.utc, mono_s)
        if step_s is not None:
            step_s = round(step_s, 6)
        if self.source == "gps":
            self.rtc_ahead_s = step_s
            return False
        if believable_date(day, self.floor) != day:
            return False
        self._pin(rtc.utc, mono_s, rtc.error_s, "rtc")
        return step_s is None or abs(step_s) > STEP_S

    @property
    def is_agreed(self) -> bool:
        """Whether the satellites' date has agreed with itself often enough to set a clock by."""
        return self._agreeing >= AGREED

    def anchor(self) -> Anchor | None:
        """The date anchored, where its source has changed, it has stepped, or ten minutes passed
        since the last one; told once."""
        if self._anchored is not None:
            source, mono_s = self._anchored
            has_stepped = self._step_s is not None
            is_due = self._pinned_s >= mono_s + ANCHOR_S
            if source == self.source and not has_stepped and not is_due:
                return None
        self._anchored = (self.source, self._pinned_s)
        step_s, self._step_s = self._step_s, None
        if self._pinned_utc is None:
            return Anchor(self.source, self._pinned_s)
        growth_ppm = DRIFT_S_PER_S * 1e6
        return Anchor(
            self.source, self._pinned_s, self._pinned_utc, self._error_s, growth_ppm, step_s
        )

    def utc(self, at_s: float) -> datetime | None:
        """The date at a monotonic instant; None while there is none."""
        if self._pinned_utc is None:
            return None
        if at_s != self._asked_s:
            self._asked_s = at_s
            self._asked_utc = self._pinned_utc + timedelta(seconds=at_s - self._pinned_s)
        return self._asked_utc

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

    def _step_to(self, utc: datetime, mono_s: float) -> float | None:
        """By how many seconds a date is ahead of the pinned one; None while there is none."""
        if self._pinned_utc is None:
            return None
        return (utc - self._pinned_utc).total_seconds() - (mono_s - self._pinned_s)

    def _note_step(self, step_s: float) -> None:
        if abs(step_s) > STEP_S:
            self._step_s = step_s
            self._agreeing = 0

    def _pin(
        self, utc: datetime, mono_s: float, error_s: float, source: Literal["gps", "rtc"]
    ) -> None:
        self._pinned_utc, self._pinned_s = self._asked_utc, self._asked_s = utc, mono_s
        self._error_s, self.source = error_s, source
