"""Whether it is dark: the sun at the sled's place, and the light that a sensor sees.

The sun's answer is computed once a minute, after 5 km, and at the very instant it changes. The
light counts as insufficient once it stayed below a level for 30 s, and as enough again once it
stayed above a higher one for as long, so that neither a lamp that passes nor a tree flips it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from firmware.readings import Light, Missing
from firmware.rules.base import Dark
from firmware.sun import hours_of_darkness

RECHECK_S = 60.0
MOVED_DEG = 0.045
"""5 km of latitude."""


@dataclass(slots=True)
class Sky:
    """Told places, dates and ambient light; asked for darkness."""

    dark_lux: float
    light_lux: float
    dwell_s: float
    _place: tuple[float, float] | None = None
    _asked_place: tuple[float, float] | None = None
    _by_sun: bool | None = None
    _recheck_s: float = math.inf
    _is_dim: bool | None = None
    _turning_to: bool | None = None
    _turns_s: float = math.inf

    def take_place(self, lat_deg: float, lon_deg: float) -> None:
        """The sled's place; it stays the last one known while a fix is lost."""
        self._place = (lat_deg, lon_deg)

    def take_ambient(self, light: Light | Missing, at_s: float) -> None:
        """The light from the sky. A missing reading ends all knowledge of it."""
        if isinstance(light, Missing):
            self._is_dim = self._turning_to = None
            self._turns_s = math.inf
            return
        seen = self._is_dim  # between the two levels nothing is said anew
        if light.lux < self.dark_lux:
            seen = True
        elif light.lux > self.light_lux:
            seen = False
        if seen == self._is_dim:
            self._turning_to, self._turns_s = None, math.inf
        elif seen != self._turning_to:
            self._turning_to, self._turns_s = seen, at_s + self.dwell_s

    def judge(self, utc: datetime | None, at_s: float) -> Dark:
        """Whether it is dark now; pure but for the cached answer of the sun."""
        if at_s >= self._turns_s:
            self._is_dim, self._turning_to, self._turns_s = self._turning_to, None, math.inf
        if self._place is None or utc is None:
            self._by_sun, self._recheck_s = None, math.inf
            return Dark(None, self._is_dim, self._what_lacks(utc))
        if self._by_sun is None or at_s >= self._recheck_s or self._has_moved(self._place):
            sun = hours_of_darkness(*self._place, utc)
            until_s = (sun.until_utc - utc) / timedelta(seconds=1)
            self._by_sun = sun.is_dark
            self._asked_place = self._place
            self._recheck_s = at_s + min(RECHECK_S, max(until_s, 0.001))
        return Dark(self._by_sun, self._is_dim)

    def due_s(self) -> float:
        """The instant at which darkness must be judged again."""
        return min(self._recheck_s, self._turns_s)

    def forget_sun(self) -> None:
        """Asks the sun anew at the next judgement, after the date itself has changed."""
        self._by_sun = None

    def _has_moved(self, place: tuple[float, float]) -> bool:
        asked = self._asked_place
        return asked is None or max(abs(place[0] - asked[0]), abs(place[1] - asked[1])) > MOVED_DEG

    def _what_lacks(self, utc: datetime | None) -> str:
        if self._place is None:
            return "no GPS fix yet: not known whether it is dark"
        return "no date yet: not known whether it is dark" if utc is None else ""
