"""Which day it is, by a receiver that may be wrong about it by decades."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from firmware.gps.epochs import elapsed_s

WEEKS_1024 = timedelta(weeks=1024)
"""The GPS week counts to 1,023 and begins anew (IS-GPS-200, section 20.3.3.3.1.1)."""

TEN_YEARS = timedelta(days=3653)
FIRST, LAST = date(1980, 1, 6), date(2100, 12, 31)
"""The days of GPS time, and as far on as anyone rides this. Beyond, sums overflow Python's dates
and MCAP's nanoseconds: such a day is no day."""

AGREEING_DATES = 3
SAME_S = 3600.0


def is_carried(day: date) -> bool:
    """Whether a day is one that the unit reckons with, be it true or false."""
    return FIRST <= day <= LAST


def believable_date(day: date, floor: date) -> date | None:
    """The day that a receiver means: one below the floor is moved up by 1,024 or 2,048 weeks to
    the first one above it; none where that, or the day itself, is over ten years past the floor."""
    for turns in range(3):
        try:
            moved = day + turns * WEEKS_1024
        except OverflowError:
            return None
        if moved >= floor:
            return moved if moved - floor <= TEN_YEARS else None
    return None


class Dates:
    """Believes a date once `agreeing` epochs in a row agree on it; one wild date changes nothing.

    With `is_trusting` any date is believed, as in a recording; else it must be believable above
    `floor`. An epoch without a date stays without one. `snapped` is what the receiver says and
    what is taken for it, where these are 1,024 or 2,048 weeks apart.
    """

    def __init__(self, floor: date, is_trusting: bool, agreeing: int) -> None:
        self._floor = floor
        self._is_trusting = is_trusting
        self._agreeing = agreeing
        self.snapped: tuple[date, date] | None = None
        self._said: date | None = None
        self._midnight: datetime | None = None
        self._known: datetime | None = None
        self._known_s = 0.0
        self._rival: datetime | None = None
        self._rival_s = 0.0
        self._votes = 0

    def utc(self, day: date | None, time_s: float | None) -> datetime | None:
        """The instant of an epoch by the day that its receiver says and its time of day."""
        if day is None or time_s is None:
            return None
        if day != self._said:
            self._said = day
            meant = day if self._is_trusting else believable_date(day, self._floor)
            if meant is not None and not is_carried(meant):
                meant = None
            self.snapped = None if meant is None or meant == day else (day, meant)
            self._midnight = (
                None if meant is None else datetime(meant.year, meant.month, meant.day, tzinfo=UTC)
            )
        if self._midnight is None:
            return self._expected(time_s)
        try:
            claimed = self._midnight + timedelta(seconds=time_s)
        except OverflowError:
            return None
        if self._known is None:
            votes = self._vote(claimed, time_s)
            return self._learn(claimed, time_s) if votes >= self._agreeing else None
        gap_s = elapsed_s(self._known_s, time_s)
        if abs((claimed - self._known).total_seconds() - gap_s) < SAME_S:
            return self._learn(claimed, time_s)
        votes = self._vote(claimed, time_s)
        if votes >= AGREEING_DATES:
            return self._learn(claimed, time_s)
        expected = self._expected(time_s)
        if expected is None:
            # The time of day has jumped too: another recording, or a receiver that began anew.
            self._known = None
            return self._learn(claimed, time_s) if votes >= self._agreeing else None
        return expected

    def _expected(self, time_s: float) -> datetime | None:
        """The instant by the date known so far, where the time of day goes on from there."""
        if self._known is None:
            return None
        gap_s = elapsed_s(self._known_s, time_s)
        if not 0.0 <= gap_s <= 60.0:
            return None
        self._known, self._known_s = self._known + timedelta(seconds=gap_s), time_s
        return self._known

    def _vote(self, claimed: datetime, time_s: float) -> int:
        agrees = self._rival is not None and (
            abs((claimed - self._rival).total_seconds() - elapsed_s(self._rival_s, time_s)) < SAME_S
        )
        self._votes = self._votes + 1 if agrees else 1
        self._rival, self._rival_s = claimed, time_s
        return self._votes

    def _learn(self, claimed: datetime, time_s: float) -> datetime:
        self._known, self._known_s = claimed, time_s
        return claimed
