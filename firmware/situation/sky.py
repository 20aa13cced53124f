"""Whether it is dark: the sun at the sled's place, and the light that a sensor sees.

The sun's answer is computed once a minute, after 5 km, and at the very instant it changes. The
light counts as insufficient once it stayed below a level for 30 s, and as enough again once it
stayed above a higher one for as long, so that neither a lamp that passes nor a tree flips it. The
light of the sled's own head lamp is left out for as long as that is lit (`OwnLight`).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from firmware.readings import Light, Missing
from firmware.rules.base import CLOCK_SLACK_S, Dark
from firmware.sun import Darkness, hours_of_darkness

RECHECK_S = 60.0
MOVED_DEG = 0.045
"""5 km of latitude."""

LAMP_LUX = 50.0
"""The head lamp is lit from here on, at its own sensor."""

BEFORE_S = 0.4
"""So long before the lamp is seen lit its light may have reached the ambient sensor: both are read
four times a second."""

WITHIN_S = 1.0
"""Within so long after it the ambient light has taken the step, if the lamp reaches it at all."""

BEAM_SHARE = 0.25
"""The head lamp that changes by more than this was switched to its other beam."""


@dataclass(slots=True)
class OwnLight:
    """How much of the ambient light is the sled's own head lamp's.

    What came in one step with the lamp is its own. Of a lamp that was lit before it was seen off,
    only the most is known: neither more than falls on its own sensor, nor than the least ambient
    light since. In hours of darkness that least is taken for its own, for there is little else.
    With its other beam its own light is so many times as much. `is_known` is false while the most
    alone is.
    """

    lux: float = 0.0
    is_known: bool = True
    _on_s: float | None = None
    _head_lux: float = 0.0
    _is_begun: bool = False
    _seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=8))

    def take_head(self, lux: float, at_s: float) -> None:
        """The light at the head lamp's own sensor."""
        if lux < LAMP_LUX:
            self.lux, self.is_known, self._on_s, self._is_begun = 0.0, True, None, True
        elif self._on_s is None:
            self._on_s, self._head_lux = at_s, lux
            self.lux, self.is_known = (0.0, True) if self._is_begun and self._seen else (lux, False)
        elif abs(lux - self._head_lux) > BEAM_SHARE * self._head_lux:
            self.lux *= lux / self._head_lux
            self._head_lux = lux

    def take_ambient(self, lux: float, at_s: float, *, is_dark: bool) -> None:
        """The ambient light, the lamp's own in it; `is_dark` in hours of darkness."""
        self._seen.append((at_s, lux))
        if self._on_s is None:
            return
        if not self.is_known or is_dark:
            self.lux = min(self.lux, lux)
            self.is_known = self.is_known or is_dark
        if self._is_begun and at_s <= self._on_s + WITHIN_S:
            before = [seen for seen_s, seen in self._seen if seen_s <= self._on_s - BEFORE_S]
            if before:
                self.lux, self.is_known = max(0.0, lux - before[-1]), True

    def lose_ambient(self) -> None:
        """The ambient light is not seen: what came before it is no measure of what comes after."""
        self._seen.clear()


@dataclass(slots=True)
class Sky:
    """Told places, dates and ambient light; asked for darkness.

    By the sun that begins `offset_min` after sunset and ends as long before sunrise: 30 in
    Wisconsin, 0 where a law says "sunset to sunrise".
    """

    dark_lux: float
    light_lux: float
    dwell_s: float
    offset_min: int = 30
    _place: tuple[float, float] | None = None
    _asked_place: tuple[float, float] | None = None
    _by_sun: bool | None = None
    _recheck_s: float = math.inf
    _is_dim: bool | None = None
    _turning_to: bool | None = None
    _turns_s: float = math.inf
    _own: OwnLight = field(default_factory=OwnLight)
    _answer: Dark = field(default_factory=lambda: Dark(None, None))

    def take_place(self, lat_deg: float, lon_deg: float) -> None:
        """The sled's place; it stays the last one known while a fix is lost."""
        self._place = (lat_deg, lon_deg)

    def take_head(self, light: Light | Missing, at_s: float) -> None:
        """The light at the head lamp, which may fall on the ambient sensor too."""
        if not isinstance(light, Missing):  # a lamp that is not seen is neither on nor off
            self._own.take_head(light.lux, at_s)

    def take_ambient(self, light: Light | Missing, at_s: float) -> None:
        """The light from the sky. A missing reading ends all knowledge of it."""
        if isinstance(light, Missing):
            self._is_dim = self._turning_to = None
            self._turns_s = math.inf
            self._own.lose_ambient()
            return
        own = self._own
        own.take_ambient(light.lux, at_s, is_dark=self._by_sun is True)
        sky_lux = max(0.0, light.lux - own.lux)  # the least that it can be
        seen = self._is_dim  # between the two levels nothing is said anew
        if (sky_lux if own.is_known else light.lux) < self.dark_lux:
            seen = True
        elif sky_lux > self.light_lux:
            seen = False
        if seen == self._is_dim:
            self._turning_to, self._turns_s = None, math.inf
        elif seen != self._turning_to:
            self._turning_to, self._turns_s = seen, at_s + self.dwell_s

    def judge(self, utc: datetime | None, at_s: float, clock_error_s: float = 0.0) -> Dark:
        """Whether it is dark now; pure but for the cached answer of the sun.

        It is not sure where the clock's error reaches over dusk or dawn.
        """
        if at_s >= self._turns_s:
            self._is_dim, self._turning_to, self._turns_s = self._turning_to, None, math.inf
        if self._place is None or utc is None:
            self._by_sun, self._recheck_s = None, math.inf
            return Dark(None, self._is_dim, self._what_lacks(utc))
        place, asked = self._place, self._asked_place
        if (
            self._by_sun is None
            or at_s >= self._recheck_s
            or asked is None
            or not -MOVED_DEG <= place[0] - asked[0] <= MOVED_DEG
            or not -MOVED_DEG <= place[1] - asked[1] <= MOVED_DEG
        ):
            sun = self._darkness(place, utc)
            until_s = (sun.until_utc - utc) / timedelta(seconds=1)
            self._by_sun = sun.is_dark
            self._asked_place = place
            self._recheck_s = at_s + min(RECHECK_S, max(until_s, 0.001))
        is_sure = True
        if clock_error_s > CLOCK_SLACK_S:
            error = timedelta(seconds=clock_error_s)
            is_sure = all(
                self._darkness(place, moment).is_dark is self._by_sun
                for moment in (utc - error, utc + error)
            )
        last = self._answer
        is_same = last.by_sun is self._by_sun and last.by_light is self._is_dim
        if not is_same or last.is_sure is not is_sure:
            self._answer = Dark(self._by_sun, self._is_dim, is_sure=is_sure)
        return self._answer

    def due_s(self) -> float:
        """The instant at which darkness must be judged again."""
        return min(self._recheck_s, self._turns_s)

    def forget_sun(self) -> None:
        """Asks the sun anew at the next judgement, after the date itself has changed."""
        self._by_sun = None

    def _darkness(self, place: tuple[float, float], utc: datetime) -> Darkness:
        return hours_of_darkness(*place, utc, self.offset_min, self.offset_min)

    def _what_lacks(self, utc: datetime | None) -> str:
        if self._place is None:
            return "no GPS fix yet: not known whether it is dark"
        return "no date yet: not known whether it is dark" if utc is None else ""
